"""Tasks: what a worker counts at a time, and the addition of the counts that it returns.

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
* rows of JSON: if ids are needed, as by observers and for texts that are aligned, the file is not cut, because rows
  without an id are known by their numbers; a part with annotation sets, or with tags, is a problem.

Counts are added in the order of the tasks. A pair of files is counted again in this process, as a whole, if a
task has failed, if the parts have different layouts, or if a layer first occurs in the middle. So an error is
the one that a single process raises, with its file and line, and a wrong cut costs time but changes no number.

A worker may run on another machine, with another file or none under the same path, so it checks the sizes of the
files first. If it sees other files than this process, or has another version of this package, `WorkerLost` is raised.
"""

from __future__ import annotations

import pickle
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from clueval.core.span import DEFAULT_LAYER, SIDES
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.observer import WorkerObserver
from clueval.evaluation.parallel.cuts import Heads, PartPair, cut, cut_lines, holds_json_lines
from clueval.evaluation.parallel.work import FilePair, Work, finish, size_of
from clueval.evaluation.units.unit import SENTENCE
from clueval.files.errors import CluevalError, WorkerLost
from clueval.formats.format import EVERY_SET
from clueval.reading.pairing import source_pairs
from clueval.reading.source import Source
from clueval.second.reading.options import layer_names
from clueval.spans.filters import ID
from clueval.textfiles import Part, Progress, whole_lines
from clueval.version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


@dataclass(frozen=True, slots=True)
class Task:
    """Some pairs of files, or one part of a pair.

    Attributes:
        work: the pickled `Work`.
        first: the number of the first pair, from 0, among all pairs.
        sizes: the sizes of the files in bytes, gold and predicted in turn.
        part: the bytes of gold and of predicted; None for whole pairs.
    """

    work: bytes
    first: int
    pairs: tuple[FilePair, ...]
    sizes: tuple[int, ...]
    part: PartPair | None = None

    @property
    def size(self) -> int:
        """The number of bytes to count."""
        return sum(self.sizes) if self.part is None else sum(stop - start for start, stop in self.part)

    @property
    def is_last(self) -> bool:
        """Whether no further part of its pair follows."""
        return self.part is None or tuple(stop for _, stop in self.part) == self.sizes

    def __str__(self) -> str:
        """The files and bytes to count, for messages."""
        gold, *others = dict.fromkeys(map(str, _paths(self.pairs[:1])))
        if self.part is not None:
            (start, stop), (other_start, other_stop) = self.part
            also = "".join(f" and bytes {other_start:,} to {other_stop:,} of {other}" for other in others)
            return f"bytes {start:,} to {stop:,} of {gold}{also}"
        more = f" and {len(self.pairs) - 1} more, up to {self.pairs[-1][1]}" if len(self.pairs) > 1 else ""
        return " with ".join((gold, *others)) + more

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
    """The counts of a task, or its problem; for a part of a pair of files also its end.

    `seen` has what each observer has seen. `changed_file` is set if the problem is that the worker sees another file.
    """

    counts: Evaluation | None = None
    end: FileEnd | None = None
    problem: str = ""
    changed_file: ChangedFile | None = None
    seen: Sequence[Any] = ()


def pickled(work: Work) -> bytes | None:
    """The work for processes with another working directory; None if it cannot be sent to other processes."""
    gold, predicted = (
        replace(each, text=None if each.text_path is None else each.text_path.absolute())
        for each in work.options
    )
    try:
        return pickle.dumps(work._replace(options=(gold, predicted)))
    except Exception:  # a user's metric may raise any error
        return None


class Tasks:
    """The tasks in order, each made when it is requested; `sent` is the pickled work.

    If the number of a pair is added to `not_cut`, no more parts of this pair are made.
    """

    def __init__(self, work: Work, sent: bytes, pairs: Sequence[FilePair], size: int) -> None:
        self.work, self.pairs = work, pairs
        self.not_cut: set[int] = set()
        self._sent, self._size = sent, size

    def __iter__(self) -> Iterator[Task]:
        waiting: list[int] = []
        weight = 0
        for number, (_, gold, predicted) in enumerate(self.pairs):
            size = size_of(gold) + size_of(predicted)
            parts = self._parts(number, size)
            if waiting and (len(parts) > 1 or weight + size > self._size):
                yield self._whole(waiting)
                waiting, weight = [], 0
            if len(parts) > 1:
                yield from self._in_parts(number, parts)
            else:
                waiting.append(number)
                weight += size
        if waiting:
            yield self._whole(waiting)

    def _whole(self, numbers: Sequence[int]) -> Task:
        pairs = tuple(map(self._absolute, numbers))
        return Task(self._sent, numbers[0], pairs, tuple(map(size_of, _paths(pairs))))

    def _in_parts(self, number: int, parts: Sequence[PartPair]) -> Iterator[Task]:
        pairs = (self._absolute(number),)
        sizes = tuple(stop for _, stop in parts[-1])  # those that the parts were made of
        for part in parts:
            if number in self.not_cut:
                return
            yield Task(self._sent, number, pairs, sizes, part)

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
                can_be_cut = self._rows_can_be_cut(gold, predicted)
                return cut_lines(gold.path, predicted.path, size // self._size) if can_be_cut else []
            if not all(map(self._columns_can_be_cut, (gold, predicted))):
                return []
            heads = tuple(Heads(source.format, source.options.columns()) for source in (gold, predicted))
            return cut(gold.path, predicted.path, (heads[0], heads[1]), size // self._size)
        except (CluevalError, OSError):  # counting the pair raises the same error
            return []

    def _rows_can_be_cut(self, gold: Source, predicted: Source) -> bool:
        """Whether parts of two files of rows can be counted: no ids are needed, and rows are lines."""
        plan = self.work.plan
        needs_ids = ID in _metadata_keys(self.work) or plan.align is not None or plan.observers
        every_set = any(options.annotation_set == EVERY_SET for options in self.work.options)
        if needs_ids or every_set or self.work.single or not gold.form.rows.independent:
            return False
        return all(map(holds_json_lines, (gold.path, predicted.path)))

    def _columns_can_be_cut(self, source: Source) -> bool:
        """Whether parts of a file with columns can be counted; see the module."""
        if source.token_lines is None or not source.form.has_columns:
            return False
        plan, layers = self.work.plan, self.work.evaluation().layers or [DEFAULT_LAYER]
        if plan.unit == "character" or plan.resample_by == SENTENCE or plan.where.on_layers(layers):
            return False
        if not plan.counts_clusters(layers, in_columns=True):
            return False
        options = source.options
        scheme_from_first_tags = not options.reads_leniently and options.scheme is None
        same_tags = options.document_tag == options.sentence_tag
        comments = source.format == "conll" and bool(_metadata_keys(self.work) - {ID})
        return not (scheme_from_first_tags or same_tags or comments)


def _metadata_keys(work: Work) -> set[str]:
    return work.plan.metadata_keys(work.layers or layer_names(None))


def _is_packed(path: Path) -> bool:
    with path.open("rb") as raw:
        return raw.read(2) == b"\x1f\x8b"


def _paths(pairs: Iterable[FilePair]) -> Iterator[Path]:
    """All files, gold and predicted in turn."""
    return (path for _, *both in pairs for path in both)


# In the worker


def carry_out(task: Task) -> tuple[str, bytes]:
    """Carry out a task and return the version of this package and the pickled outcome; an error is its `problem`."""
    try:
        outcome = pickle.dumps(_outcome(task))
    except (Exception, SystemExit) as error:  # also of what a user's metric or observer has made
        outcome = pickle.dumps(TaskOutcome(problem=_problem(error)))
    return __version__, outcome


def _outcome(task: Task) -> TaskOutcome:
    changed_file = next(task.changed_files(), None)
    if changed_file is not None:
        return TaskOutcome(problem="a worker sees another file", changed_file=changed_file)
    work: Work = pickle.loads(task.work)  # its observers have seen nothing, and no other thread has them
    evaluation = work.evaluation()
    if task.part is not None:
        return _count_part(work, evaluation, task.pairs, task.part)
    work.count_here(evaluation, task.pairs)
    return TaskOutcome(evaluation.counts(), seen=_seen_in(evaluation))


def _problem(error: BaseException) -> str:
    try:
        message = str(error)[:_LONGEST]
    except Exception:  # `str` may fail for an error of a user's metric
        message = "it has no message"
    return f"{type(error).__name__}: {message}"


_LONGEST = 500
"""The greatest length of the message of a problem, in characters."""


def _count_part(work: Work, evaluation: Evaluation, pairs: Sequence[FilePair], part: PartPair) -> TaskOutcome:
    needs_metadata = bool(_metadata_keys(work) - {ID})
    sources = []
    for source, bytes_ in zip(next(source_pairs(pairs, work.options, None)), part, strict=True):
        options = replace(source.options, part=bytes_)
        if needs_metadata and _has_attributes_outside(source.path, bytes_, options.document_tag):
            return TaskOutcome(problem="elements with attributes stand around documents")
        sources.append(replace(source, options=options))
    end = work.count_pair(evaluation, *sources)
    finish(evaluation)
    if end is None and sources[0].form.rows is None:
        return TaskOutcome(problem="documents of a part must be counted one by one")
    if evaluation.unprojected:
        return TaskOutcome(problem="spans without a place are listed with the numbers of their rows")
    if end is None:
        return TaskOutcome(evaluation.counts())
    if evaluation.total.tokens and None in end.layouts:
        return TaskOutcome(problem="the layout of a part is not known")
    evaluation.add_spans(end)
    return TaskOutcome(evaluation.counts(), end, seen=_seen_in(evaluation))


def _worker_observers(evaluation: Evaluation) -> list[WorkerObserver]:
    return [each for each in evaluation.plan.observers if isinstance(each, WorkerObserver)]


def _seen_in(evaluation: Evaluation) -> list[Any]:
    """What each observer has seen."""
    return [each.sent() for each in _worker_observers(evaluation)]


def _has_attributes_outside(path: Path, part: Part, document_tag: str) -> bool:
    """Whether a line between the documents of a VRT file has attributes, which are metadata of documents."""
    tag = re.escape(document_tag.encode())
    closing_tag = re.compile(rb"\n<(?:/" + tag + rb"|" + tag + rb"[^\n]*/>)")
    opening = re.compile(rb"\n<" + tag + rb"[\s/>]")
    outside = True
    for block in whole_lines(path, None, part):
        data, position = b"\n" + block, 0
        while position < len(data):
            edge = (opening if outside else closing_tag).search(data, position)
            stop = len(data) if edge is None else edge.start() if outside else edge.end()
            if outside and any(map(_has_attributes, data[position:stop].split(b"\n"))):
                return True
            position, outside = stop, outside == (edge is None)
    return False


def _has_attributes(line: bytes) -> bool:
    return b"=" in line and not line.startswith((b"<?", b"<!--"))


# In this process


class Gathering:
    """Adds the counts of tasks to an evaluation, in the order of the tasks."""

    def __init__(
        self,
        evaluation: Evaluation,
        tasks: Tasks,
        progress: Progress | None,
        remark: Callable[[str], object],
    ) -> None:
        self._evaluation, self._tasks = evaluation, tasks
        self._progress, self._remark = progress, remark
        self._times_read = 2 if all(gold == predicted for _, gold, predicted in tasks.pairs) else 1
        self._parts: list[TaskOutcome] = []
        self._reported = 0  # bytes of the parts of the current pair

    def gather(self, executor: Executor, tasks: Iterable[Task], window: int) -> None:
        """Carry out all tasks, at most `window` at a time; after an error, cancel those that have not begun."""
        with closing(in_order(executor, carry_out, tasks, window)) as answers:  # type: ignore[type-var]
            for task, answer in answers:
                outcome = _opened(*answer)
                if outcome.changed_file is not None:
                    _require_as_sent(task, outcome.changed_file)
                if task.part is None:
                    self._add_whole(task, outcome)
                elif task.first not in self._tasks.not_cut:
                    self._add_part(task, outcome)

    def _report_progress(self, size: int) -> None:
        """Report bytes of both sides; those of a file with both sides count once."""
        if self._progress is not None:
            self._progress(size // self._times_read)

    def _add_whole(self, task: Task, outcome: TaskOutcome) -> None:
        if outcome.counts is not None and self._evaluation.fits(outcome.counts):
            self._include(outcome)
        else:
            self._count_here(task, outcome.problem or "other layers than before")
        self._report_progress(task.size)

    def _add_part(self, task: Task, outcome: TaskOutcome) -> None:
        self._parts.append(outcome)
        problem = outcome.problem or _misfit(self._parts)
        if problem:
            self._tasks.not_cut.add(task.first)
            self._count_here(task, problem)
            self._report_progress(sum(task.sizes) - self._reported)
        else:
            self._report_progress(task.size)
            self._reported += task.size
            if task.is_last:
                self._include_parts()
        if problem or task.is_last:
            self._parts, self._reported = [], 0

    def _include(self, outcome: TaskOutcome) -> None:
        assert outcome.counts is not None
        for observer, value in zip(_worker_observers(self._evaluation), outcome.seen, strict=True):
            observer.join(value)
        self._evaluation.include(outcome.counts)

    def _include_parts(self) -> None:
        """Add the parts of one pair; the tags of all parts together determine which tags were repaired."""
        decoders = {
            (side, layer): options.decoder()
            for side, options in zip(SIDES, self._tasks.work.options, strict=True)
            for layer in layer_names(options.layers)
        }
        for part in self._parts:
            self._include(part)
            for key, decoder in part.end.decoders.items() if part.end is not None else ():
                decoders[key].include(decoder)
        self._evaluation.add_tags(FileEnd((None, None), decoders))

    def _count_here(self, task: Task, problem: str) -> None:
        pairs = self._tasks.pairs[task.first : task.first + len(task.pairs)]
        what = str(pairs[0][1]) if len(pairs) == 1 else f"{pairs[0][1]} and {len(pairs) - 1} more"
        shown = "".join(character if character.isprintable() else " " for character in problem)
        self._remark(f"{what}: counted again as a whole, in this process ({shown})")
        self._tasks.work.count_here(self._evaluation, pairs)


def _misfit(parts: Sequence[TaskOutcome]) -> str:
    """Why the parts do not have the layout of one file on each side; empty if they do."""
    layouts = zip(*(part.end.layouts for part in parts if part.end is not None), strict=True)
    several = any(len(set(of_side) - {None}) > 1 for of_side in layouts)
    return "its lines do not have the same columns everywhere" if several else ""


def _opened(version: str, outcome: bytes) -> TaskOutcome:
    """The outcome that a worker has sent. Raises `WorkerLost` if it has another version of this package."""
    if version != __version__:
        raise WorkerLost(
            f"a worker has clueval {version[:40]}, and this is clueval {__version__}",
            advice="install the same version everywhere",
        )
    found: TaskOutcome = pickle.loads(outcome)
    return found


def _require_as_sent(task: Task, changed_file: ChangedFile) -> None:
    """Raise `WorkerLost` if a worker sees another file than this process, unless the file has changed here, too."""
    if next(task.changed_files(), None) is not None:
        return
    here = size_of(changed_file.path)
    what = f"has no such file; here it has {here} bytes"
    if changed_file.size is not None:
        what = f"has another file there, of {changed_file.size} bytes; here it has {here}"
    raise WorkerLost(
        f"a worker {what}",
        file=str(changed_file.path),
        advice="all machines must see the same files under the same paths",
    )


# Executors: any object with the `submit` of `concurrent.futures.Executor`

_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


def in_order(
    executor: Executor, function: Callable[[_Given], _Found], tasks: Iterable[_Given], window: int
) -> Iterator[tuple[_Given, _Found]]:
    """Yield each task with the value that `function` returns for it, in the order of the tasks.

    At most `window` tasks are submitted and not yet yielded; each is taken from `tasks` only when it can be submitted.
    Closing the iterator cancels the tasks that have not begun. `function` must not raise errors, so every error comes
    from the executor and is raised as `WorkerLost`.
    """
    waiting: deque[tuple[_Given, Future[_Found]]] = deque()
    cancel = True
    try:
        for task in tasks:
            waiting.append((task, _submitted(executor, function, task)))
            if len(waiting) >= window:
                yield _returned(*waiting.popleft())
        while waiting:
            yield _returned(*waiting.popleft())
    except WorkerLost as error:
        cancel = not _is_broken(error.__cause__)
        raise
    finally:
        # a broken pool of processes sets its error on all futures, and fails if one is cancelled
        for _, future in waiting if cancel else ():
            future.cancel()


def _is_broken(error: BaseException | None) -> bool:
    from concurrent.futures import BrokenExecutor

    return isinstance(error, BrokenExecutor)


def _submitted(executor: Executor, function: Callable[[_Given], _Found], task: _Given) -> Future[_Found]:
    try:
        return executor.submit(function, task)
    except Exception as error:
        raise _lost(error, task) from error


def _returned(task: _Given, future: Future[_Found]) -> tuple[_Given, _Found]:
    try:
        return task, future.result()
    except WorkerLost:
        raise
    except BaseException as error:  # asyncio's CancelledError, which some executors raise, is no Exception
        if isinstance(error, Exception) or _is_cancelled(error):
            raise _lost(error, task) from error
        raise


def _is_cancelled(error: BaseException) -> bool:
    return type(error).__name__.endswith("CancelledError")  # several packages have such a class


def _lost(error: BaseException, task: object) -> WorkerLost:
    if _is_broken(error):
        return WorkerLost(
            "a worker process has ended, killed or out of memory, and the executor has stopped; not counted: "
            f"{task} and all later tasks",
            advice="count with fewer processes",
        )
    if _is_cancelled(error):
        return WorkerLost(
            "the executor has cancelled a task: it was stopped, or its scheduler has ended",
            advice="start the executor or its scheduler again",
        )
    message = " ".join(str(error).split())[:300]
    return WorkerLost(
        f"the executor could not carry out a task: {type(error).__name__}{': ' if message else ''}{message}; "
        f"not counted: {task}",
        advice="look at its workers",
    )
