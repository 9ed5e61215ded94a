"""Tasks: what is counted in one go, elsewhere, when counting is shared out.

A task is some whole pairs of files, or a part of a large pair (see `clueval.evaluation.parallel.cuts`); it
carries paths, ranges of bytes and options, never text. What comes back are counts, as JSON (see
`clueval.evaluation.parallel.outcomes`). What a part cannot know is looked after here:

* the layout, told from the first token line of a file: the layout of a part comes back with its counts;
* the elements around documents, which give them metadata: where metadata is asked for, nothing with
  attributes may stand between the documents of a part;
* the numbers of documents without an id: where ids are asked for, all documents of a later part must have
one;
* the scheme of the tags, told from the first ones if ill-formed tags are to be discarded: then nothing is
cut;
* in CoNLL files, metadata, which stands in comments anywhere: where it is asked for nothing is cut.

Whoever counts a task may be on another machine and see no file under its path, or an old copy: it looks at
the sizes of the files first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.parallel.cuts import Heads, PartPair, cut
from clueval.evaluation.parallel.outcomes import Strange, TaskOutcome, written
from clueval.evaluation.parallel.plain_counts import Expected, NotPlain
from clueval.evaluation.parallel.work import FilePair, Work, size_of
from clueval.exceptions import CluevalError
from clueval.reading.layers import layer_names
from clueval.reading.pairing import source_pairs
from clueval.spans.filters import ID
from clueval.textfiles import BLOCK, Part


@dataclass(frozen=True, slots=True)
class Task:
    """Pairs of files, by their first number among all; or one part of one, of which `last` is the last one.

    `sizes` are those of all the files, gold and predicted in turn, in bytes; `size` is what is to be counted.
    """

    work: Work
    first: int
    pairs: tuple[FilePair, ...]
    sizes: tuple[int, ...]
    size: int
    part: PartPair | None = None
    last: bool = True

    def __str__(self) -> str:
        """What is counted, for messages."""
        gold, *others = dict.fromkeys(map(str, _paths(self.pairs[:1])))
        if self.part is not None:
            (start, stop), (other_start, other_stop) = self.part
            also = "".join(f" and bytes {other_start:,} to {other_stop:,} of {other}" for other in others)
            return f"bytes {start:,} to {stop:,} of {gold}{also}"
        more = f" and {len(self.pairs) - 1} more, up to {self.pairs[-1][1]}" if len(self.pairs) > 1 else ""
        return " with ".join((gold, *others)) + more

    def expected(self) -> Expected:
        """What its counts can be."""
        work, options = self.work, self.work.options[0]
        if self.part is None:
            return Expected(work.plan, work.layers, self._is_possible)
        names = tuple(layer_names(options.layers))
        return Expected(work.plan, work.layers, self._is_possible, names, options.decoder)

    def _is_possible(self, number: int) -> bool:
        """Whether there can be so many documents, positions, spans or tags: each takes a byte, unless packed."""
        return number <= self.size + len(self.sizes) or number <= self._most

    @property
    def _most(self) -> int:
        """The most that there can be, texts in other files and packed files among it; a part has neither."""
        if self.part is not None:
            return self.size
        texts = [path for options in self.work.options if (path := options.text_path) is not None]
        beside = [path.with_name(path.name.removesuffix(".gz")).with_suffix(".vrt") for path in self.paths()]
        files = {*self.paths(), *beside, *texts}
        return sum(size_of(path) * (_PACKED if _is_packed(path) else 1) for path in files)

    def paths(self) -> list[Path]:
        """All its files, gold and predicted in turn."""
        return list(_paths(self.pairs))

    def strange_files(self) -> Iterator[Strange]:
        """The files that are not here, or are of another size than where the task was made."""
        for path, size in zip(_paths(self.pairs), self.sizes, strict=True):
            if size_of(path) != size:
                yield Strange(path, size_of(path) if path.exists() else None)


class Tasks:
    """The tasks, in order, each made when it is asked for; of pairs that are `given_up` there are no more."""

    def __init__(self, work: Work, pairs: Sequence[FilePair], size: int) -> None:
        self.work, self.pairs = work, pairs
        self.given_up: set[int] = set()
        self._size = size
        self._evaluation = work.evaluation()

    def __iter__(self) -> Iterator[Task]:
        waiting: list[int] = []
        weight = 0
        for number, (_, own, other) in enumerate(self.pairs):
            size = size_of(own) + size_of(other)
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
        return Task(self._travelling(), numbers[0], pairs, _sizes_of(pairs), size)

    def _in_parts(self, number: int, parts: Sequence[PartPair]) -> Iterator[Task]:
        work = self._travelling()
        pairs = (self._absolute(number),)
        sizes = _sizes_of(pairs)
        for part in parts:
            if number in self.given_up:
                return
            size = sum(stop - start for start, stop in part)
            yield Task(work, number, pairs, sizes, size, part, part == parts[-1])

    def _travelling(self) -> Work:
        """The work for whoever starts elsewhere."""
        own, other = (
            replace(each, text=None if each.text_path is None else each.text_path.absolute())
            for each in self.work.options
        )
        return self.work._replace(options=(own, other))

    def _absolute(self, number: int) -> FilePair:
        name, own, other = self.pairs[number]
        return name, own.absolute(), other.absolute()

    def _parts(self, number: int, size: int) -> list[PartPair]:
        """The parts of a pair of files; none if it is small, or is to stay whole."""
        if size < 2 * self._size:
            return []
        try:
            ((own, other),) = source_pairs([self.pairs[number]], self.work.options, None)
            if own.token_lines is None or own.format != other.format or not self._may_be_cut(own.format):
                return []
            if any(_is_packed(source.path) for source in (own, other)):
                return []
            heads = Heads(own.format, own.options.columns()), Heads(other.format, other.options.columns())
            return cut(own.path, other.path, heads, size // self._size)
        except (CluevalError, OSError):  # whoever counts the pair will say what is wrong
            return []

    def _may_be_cut(self, form: str) -> bool:
        """Whether parts of a file in this format can know all that is needed."""
        options = self.work.options
        scheme_from_first_tags = not options[0].reads_leniently and options[0].scheme is None
        same_tags = options[0].document_tag == options[0].sentence_tag
        comments = form == "conll" and self._wants_metadata()
        return self._counts_lines() and not (scheme_from_first_tags or same_tags or comments)

    def _counts_lines(self) -> bool:
        return not (self._evaluation.leaves_out_spans or self.work.plan.needs_documents)

    def _wants_metadata(self) -> bool:
        return bool(_metadata_keys(self.work) - {ID})


def _metadata_keys(work: Work) -> set[str]:
    return work.plan.metadata_keys(work.layers or layer_names(None))


_PACKED = 1_032
"""How many bytes a byte of a gzip file can hold at most."""


def _is_packed(path: Path) -> bool:
    try:
        with path.open("rb") as raw:
            return raw.read(2) == b"\x1f\x8b"
    except OSError:  # counting it will report that
        return False


def carry_out(task: Task) -> bytes:
    """Count what a task names. Its errors come back as `TaskOutcome.problem`, for the caller to find out better."""
    outcome = _outcome(task)
    try:
        return written(outcome)
    except NotPlain as error:
        return written(TaskOutcome(problem=str(error)))


def _outcome(task: Task) -> TaskOutcome:
    try:
        strange = next(task.strange_files(), None)
        if strange is not None:
            return TaskOutcome(problem="a worker sees another file", strange=strange)
        evaluation = task.work.evaluation()
        if task.part is None:
            task.work.count_here(evaluation, task.pairs)
            return TaskOutcome(evaluation.found())
        return _count_part(task, evaluation, task.part)
    except (Exception, SystemExit) as error:
        return TaskOutcome(problem=f"{type(error).__name__}: {_said(error)}")


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error of a metric that is not ours may not even have a text
        return "it cannot say what is wrong"


def _count_part(task: Task, evaluation: Evaluation, part: PartPair) -> TaskOutcome:
    work = task.work
    wanted = _metadata_keys(work)
    sources = []
    for source, bytes_ in zip(next(source_pairs(task.pairs, work.options, None)), part, strict=True):
        options = replace(source.options, part=bytes_)
        if wanted - {ID} and _has_surroundings(source.path, bytes_, options.document_tag):
            return TaskOutcome(problem="elements with attributes stand around documents")
        sources.append(replace(source, options=options))
    end = work.count_pair(evaluation, *sources)
    assert end is not None  # documents are not cut
    if evaluation.total.tokens and None in end.layouts:
        return TaskOutcome(problem="the layout of a part is not known")
    evaluation.add_spans(end)
    return TaskOutcome(evaluation.found()._replace(decoders=end.decoders), end.layouts)


def _has_surroundings(path: Path, part: Part, document_tag: str) -> bool:
    """Whether anything with attributes stands between the documents of a VRT file.

    What is around a document gives it metadata. Costs a search through the bytes, line ends of documents only.
    """
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
    """Whole lines in blocks, a line end before each."""
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
