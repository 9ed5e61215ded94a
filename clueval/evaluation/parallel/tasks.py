"""Tasks: what a worker counts at a time.

A task is some whole pairs of files, or a part of a large pair (see `clueval.evaluation.parallel.cuts`). It holds
paths, ranges of bytes and options, no text. Its outcome is sent back pickled. A part depends on the rest of its file in
these points:

* layout: the first token line of a file determines it. Each part is sent back with its layout, and the layouts
  of all parts must be the same;
* metadata of elements around documents (VRT): if metadata is needed, a part with such an element is a problem;
* numbers of documents without an id: if ids are needed, a part after the first in which an id is missing is a
  problem;
* scheme: if ill-formed tags are discarded, the first tags of a file determine it, and the file is not cut;
* metadata in comments (CoNLL): if metadata is needed, the file is not cut;
* names of columns in comments (CoNLL-U): the file is not cut;
* rows of JSON: if ids are needed, the file is not cut, because rows without an id are known by their numbers; a part
  with annotation sets, or with tags, is a problem.

A worker may run on another machine, with another file or none under the same path, so it checks the sizes of the
files first.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.observer import WorkerObserver
from clueval.evaluation.parallel.cuts import Heads, PartPair, cut, cut_lines, holds_json_lines
from clueval.evaluation.parallel.work import FilePair, Work, finish, size_of
from clueval.evaluation.totals import PartialCounts
from clueval.exceptions import CluevalError
from clueval.formats.columns.layout import Layout
from clueval.formats.format import EVERY_SET
from clueval.reading.layers import layer_names
from clueval.reading.pairing import source_pairs
from clueval.reading.source import Source
from clueval.spans.filters import ID
from clueval.spans.span import DEFAULT_LAYER
from clueval.textfiles import BLOCK, Part
from clueval.version import __version__


@dataclass(frozen=True, slots=True)
class Task:
    """Some pairs of files, or one part of a pair.

    Attributes:
        first: the number of the first pair, from 0, among all pairs.
        sizes: the sizes of the files in bytes, gold and predicted in turn.
        size: the number of bytes to count.
        part: the bytes of gold and of predicted; None for whole pairs.
        of_rows: whether the parts are lines of JSON, which have no layout and no tags.
        last: whether it is the last part of its pair.
    """

    work: Work
    first: int
    pairs: tuple[FilePair, ...]
    sizes: tuple[int, ...]
    size: int
    part: PartPair | None = None
    last: bool = True
    of_rows: bool = False

    def __str__(self) -> str:
        """The files and bytes to count, for messages."""
        gold, *others = dict.fromkeys(map(str, _paths(self.pairs[:1])))
        if self.part is not None:
            (start, stop), (other_start, other_stop) = self.part
            also = "".join(f" and bytes {other_start:,} to {other_stop:,} of {other}" for other in others)
            return f"bytes {start:,} to {stop:,} of {gold}{also}"
        more = f" and {len(self.pairs) - 1} more, up to {self.pairs[-1][1]}" if len(self.pairs) > 1 else ""
        return " with ".join((gold, *others)) + more

    def paths(self) -> list[Path]:
        """All its files, gold and predicted in turn."""
        return list(_paths(self.pairs))

    def changed_files(self) -> Iterator[ChangedFile]:
        """The files that are missing here, or have another size than in the process that made the task."""
        for path, size in zip(_paths(self.pairs), self.sizes, strict=True):
            if size_of(path) != size:
                yield ChangedFile(path, size_of(path) if path.exists() else None)


class ChangedFile(NamedTuple):
    """A file that a worker sees with another size than this process; the size in bytes, None if it is missing."""

    path: Path
    size: int | None


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The counts of a task, or its problem; for a part of a pair of files also the layouts of both sides.

    `seen` has what each observer has seen. `changed_file` is set if the problem is that the worker sees another file.
    """

    counts: PartialCounts | None = None
    layouts: tuple[Layout | None, Layout | None] = (None, None)
    problem: str = ""
    changed_file: ChangedFile | None = None
    seen: Sequence[Any] = ()


class Tasks:
    """The tasks in order, each made when it is requested.

    If the number of a pair is added to `not_cut`, no more parts of this pair are made.
    """

    def __init__(self, work: Work, pairs: Sequence[FilePair], size: int) -> None:
        self.work, self.pairs = work, pairs
        self._plan = deepcopy(work.plan)  # its observers have seen nothing
        self.not_cut: set[int] = set()
        self._size = size
        self._evaluation = work.evaluation()

    def __iter__(self) -> Iterator[Task]:
        waiting: list[int] = []
        weight = 0
        for number, (_, gold, predicted) in enumerate(self.pairs):
            size = size_of(gold) + size_of(predicted)
            parts = self._parts(number, size)
            if waiting and (len(parts) > 1 or weight + size > self._size):
                yield self._whole(waiting, weight)
                waiting, weight = [], 0
            if len(parts) > 1:
                yield from self._in_parts(number, parts)
            else:
                waiting.append(number)
                weight += size
        if waiting:
            yield self._whole(waiting, weight)

    def _whole(self, numbers: Sequence[int], size: int) -> Task:
        pairs = tuple(self._absolute(number) for number in numbers)
        return Task(self._work_with_absolute_paths(), numbers[0], pairs, _sizes_of(pairs), size)

    def _in_parts(self, number: int, parts: Sequence[PartPair]) -> Iterator[Task]:
        work = self._work_with_absolute_paths()
        pairs = (self._absolute(number),)
        sizes, of_rows = _sizes_of(pairs), work.options[0].format_at(pairs[0][1]).rows is not None
        for part in parts:
            if number in self.not_cut:
                return
            size = sum(stop - start for start, stop in part)
            yield Task(work, number, pairs, sizes, size, part, part == parts[-1], of_rows)

    def _work_with_absolute_paths(self) -> Work:
        """The work for processes with another working directory."""
        gold, predicted = (
            replace(each, text=None if each.text_path is None else each.text_path.absolute())
            for each in self.work.options
        )
        return self.work._replace(options=(gold, predicted), plan=self._plan)

    def _absolute(self, number: int) -> FilePair:
        name, gold, predicted = self.pairs[number]
        return name, gold.absolute(), predicted.absolute()

    def _parts(self, number: int, size: int) -> list[PartPair]:
        """The parts of a pair of files; none if it is small or must not be cut."""
        if size < 2 * self._size:
            return []
        try:
            ((gold, predicted),) = source_pairs([self.pairs[number]], self.work.options, None)
            if gold.format != predicted.format or _is_packed(gold.path) or _is_packed(predicted.path):
                return []
            if gold.form.rows is not None:
                return self._parts_of_rows(gold, predicted, size // self._size)
            in_columns = gold.token_lines is not None and predicted.token_lines is not None
            if not (in_columns and gold.form.has_columns and self._may_be_cut(gold.format)):
                return []
            heads = tuple(Heads(source.format, source.options.columns()) for source in (gold, predicted))
            return cut(gold.path, predicted.path, (heads[0], heads[1]), size // self._size)
        except (CluevalError, OSError):  # counting the pair raises the same error
            return []

    def _parts_of_rows(self, gold: Source, predicted: Source, number: int) -> list[PartPair]:
        """The parts of two files of rows; none if ids are needed, or if rows are not lines."""
        if any(options.annotation_set == EVERY_SET for options in self.work.options):
            return []
        if ID in _metadata_keys(self.work) or not gold.form.rows.independent or self.work.single:
            return []
        files = gold.path, predicted.path
        return cut_lines(*files, number) if all(map(holds_json_lines, files)) else []

    def _may_be_cut(self, form: str) -> bool:
        """Whether parts of a file in this format can be counted; see the module."""
        plan = self.work.plan
        if plan.where.on_layers(self._evaluation.layers or [DEFAULT_LAYER]) or plan.needs_documents:
            return False
        options = self.work.options[0]
        scheme_from_first_tags = not options.reads_leniently and options.scheme is None
        same_tags = options.document_tag == options.sentence_tag
        comments = form == "conll" and bool(_metadata_keys(self.work) - {ID})
        return not (scheme_from_first_tags or same_tags or comments)


def _metadata_keys(work: Work) -> set[str]:
    return work.plan.metadata_keys(work.layers or layer_names(None))


def _is_packed(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(2) == b"\x1f\x8b"
    except OSError:  # counting the file raises the same error
        return False


def carry_out(task: Task) -> tuple[str, bytes]:
    """Carry out a task and return the version of this package and the pickled outcome; an error is its `problem`."""
    try:
        outcome = pickle.dumps(_outcome(task))
    except Exception as error:  # what a user's metric or observer has made
        outcome = pickle.dumps(TaskOutcome(problem=_problem(error)))
    return __version__, outcome


def _outcome(task: Task) -> TaskOutcome:
    try:
        changed_file = next(task.changed_files(), None)
        if changed_file is not None:
            return TaskOutcome(problem="a worker sees another file", changed_file=changed_file)
        # threads share a plan, and an observer must see one task only
        evaluation = task.work._replace(plan=deepcopy(task.work.plan)).evaluation()
        if task.part is None:
            task.work.count_here(evaluation, task.pairs)
            return TaskOutcome(evaluation.counts(), seen=_seen_in(evaluation))
        return _count_part(task, evaluation, task.part)
    except (Exception, SystemExit) as error:
        return TaskOutcome(problem=_problem(error))


def _problem(error: BaseException) -> str:
    try:
        message = str(error)[:_LONGEST]
    except Exception:  # `str` may fail for an error of a user's metric
        message = "it has no message"
    return f"{type(error).__name__}: {message}"


_LONGEST = 500
"""The greatest length of the message of a problem, in characters."""


def _count_part(task: Task, evaluation: Evaluation, part: PartPair) -> TaskOutcome:
    work = task.work
    needs_metadata = bool(_metadata_keys(work) - {ID})
    sources = []
    for source, bytes_ in zip(next(source_pairs(task.pairs, work.options, None)), part, strict=True):
        options = replace(source.options, part=bytes_)
        if needs_metadata and _has_attributes_outside(source.path, bytes_, options.document_tag):
            return TaskOutcome(problem="elements with attributes stand around documents")
        sources.append(replace(source, options=options))
    end = work.count_pair(evaluation, *sources)
    if end is None and not task.of_rows:
        return TaskOutcome(problem="documents of a part must be counted one by one")
    if end is None:
        finish(evaluation)
        return TaskOutcome(evaluation.counts())
    if evaluation.total.tokens and None in end.layouts:
        return TaskOutcome(problem="the layout of a part is not known")
    evaluation.add_spans(end)
    counts = evaluation.counts()._replace(decoders=end.decoders)
    return TaskOutcome(counts, end.layouts, seen=_seen_in(evaluation))


def _seen_in(evaluation: Evaluation) -> list[Any]:
    """What each observer has seen."""
    return [each.sent() for each in evaluation.plan.observers if isinstance(each, WorkerObserver)]


def _has_attributes_outside(path: Path, part: Part, document_tag: str) -> bool:
    """Whether a line between the documents of a VRT file has attributes, which are metadata of documents."""
    tag = re.escape(document_tag.encode())
    closing_tag = re.compile(rb"\n<(?:/" + tag + rb"|" + tag + rb"[^\n]*/>)")
    opening = re.compile(rb"\n<" + tag + rb"[\s/>]")
    outside = True
    for block in _line_blocks(path, part):
        position = 0
        while position < len(block):
            if not outside:
                found = closing_tag.search(block, position)
                if found is None:
                    break
                position = found.end()
            else:
                head = opening.search(block, position)
                stop = len(block) if head is None else head.start()
                if any(map(_has_attributes, block[position:stop].split(b"\n"))):
                    return True
                position = stop
            outside = not outside if position < len(block) else outside
    return False


def _has_attributes(line: bytes) -> bool:
    return b"=" in line and not line.startswith((b"<?", b"<!--"))


def _line_blocks(path: Path, part: Part) -> Iterator[bytes]:
    """The lines of a part in blocks; each line has its line end before it."""
    rest = b"\n"
    with path.open("rb") as raw:
        raw.seek(part[0])
        left = part[1] - part[0]
        while data := raw.read(min(BLOCK, left)):
            left -= len(data)
            lines, end, tail = (rest + data).rpartition(b"\n")
            yield lines + end
            rest = end + tail
    yield rest


def _paths(pairs: Iterable[FilePair]) -> Iterator[Path]:
    """All files, gold and predicted in turn."""
    return (path for _, *both in pairs for path in both)


def _sizes_of(pairs: Iterable[FilePair]) -> tuple[int, ...]:
    return tuple(map(size_of, _paths(pairs)))
