"""Reads two column files in parallel, as bytes, and decodes only lines that differ or are in spans.

Most of a corpus is regular: sentences of token lines only, with the same tokens on both sides. Both files are cut
into pieces at the ends of sentences, or of documents without sentences, or else between two lines that no span
crosses. The recogniser of the format decides, from gold alone, whether a piece is regular, and counts its documents
and tokens (`Regular`). Only the lines of hunks are decoded, see `clueval.evaluation.lockstep.hunks`.

Irregular pieces are read by the readers of the formats, as passages, and so are lines among which no cut is found.
Then a span may go on into the next pieces, which are lines up to the first cut::

    the lines before     pieces taken                          read                             the next ones
    end at a cut         whole sentences                       as a stretch if regular          begin at a cut
    end at a cut         lines up to the last cut              as a stretch if regular          begin at a cut
    end at a cut         lines without a cut                   as passages                      may be in a span
    may be in a span     whole sentences, or up to a cut       as passages                      begin at a cut
    may be in a span     lines without a cut                   as passages                      may be in a span

Any error here makes the caller start again with passages alone, whose errors name the place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.lockstep.hunks import find_hunks, is_plain
from clueval.evaluation.lockstep.regular import Recogniser, Regular
from clueval.evaluation.lockstep.tag_runs import Columns, Rows, TagRuns
from clueval.evaluation.lockstep.token_ids import TokenIds
from clueval.exceptions import FormatError
from clueval.formats.columns.builder import NamedDocument
from clueval.formats.columns.layout import ColumnOptions, Layout
from clueval.formats.columns.passages import Passage
from clueval.limits import LINES_IN_SENTENCE
from clueval.textfiles import decoded


class File:
    """One file: the bytes that wait to be processed, and the reader of the format."""

    def __init__(
        self, path: Path, data: Iterator[bytes], recogniser: Recogniser, options: ColumnOptions
    ) -> None:
        self.path, self._data, self.recogniser, self.options = path, data, recogniser, options
        self.reader = recogniser.reader
        self.waiting = b""
        self.ended = False

    def read(self, size: int) -> None:
        """Read until at least `size` bytes and a whole line wait, or to the end; adds a missing last line end."""
        pieces, length, has_line = [self.waiting], len(self.waiting), b"\n" in self.waiting
        while not self.ended and (length < size or not has_line):
            data = next(self._data, b"")
            self.ended = not data
            pieces.append(data)
            length += len(data)
            has_line = has_line or b"\n" in data
            if not has_line and length > self.options.max_line - self.options.sizes.block:
                raise FormatError("perhaps a line that is too long", file=str(self.path))
        if len(pieces) > 1:
            self.waiting = b"".join(pieces)
            if b"\r" in self.waiting:  # searching for one byte is many times faster than for two
                self.waiting = self.waiting.replace(b"\r\n", b"\n")
            if self.ended and self.waiting and not self.waiting.endswith(b"\n"):
                self.waiting += b"\n"

    def feed(self, data: bytes) -> None:
        """Give lines to the format's reader."""
        if data:
            self.reader.feed(1, decoded(data, self.path, 1))


class FilePieces(NamedTuple):
    """Pieces of both sides, which have the same number if the files are parallel.

    If the pieces are lines, a span may go on from the lines before to them, or from them to the next lines (`crossed`);
    if none does, `seam` is the part of the last line and the next one that is in spans.
    """

    end: bytes
    gold: list[bytes]
    predicted: list[bytes]
    crossed: bool = False
    seam: Rows | None = None


class _Sentence(NamedTuple):
    """The sentence that has not ended: its lines and bytes so far, and whether a span may go on from them."""

    lines: int = 0
    size: int = 0
    in_span: bool = False


class DocumentPart(NamedTuple):
    """Regular lines of one document: whether it begins here, its tokens here and their tag runs by layer."""

    begins: bool
    document: NamedDocument
    tokens: int
    runs: Sequence[TagRuns]


class Stretch(NamedTuple):
    """A regular stretch of two files: the number of documents that begin in it, and the number of its tokens.

    `columns` hold the tags of these tokens and of stretches before; they are empty until there are many tag runs.
    `parts` are the parts of the stretch, each of one document, if documents are kept apart.
    """

    documents: int
    tokens: int
    columns: Sequence[Columns] = ()
    parts: Sequence[DocumentPart] = ()


class Lockstep:
    """Reads two files of one column format; see the module.

    Holds two or three blocks, or the longest line, the tag runs, and passages of one side that wait for the other.
    """

    def __init__(self, gold: File, predicted: File, merge: bool) -> None:
        self._options, self._sizes = gold.options, gold.options.sizes
        self._files = (gold, predicted)
        self._merge = merge
        self._sentence = _Sentence(in_span=True)
        self._most = 1  # pieces at a time; few before the layout is known
        self._tokens = 0  # of these tag runs
        self._passages: tuple[deque[Passage], deque[Passage]] = (deque(), deque())

    @property
    def layouts(self) -> tuple[Layout | None, Layout | None]:
        """The layouts of the two files; None until the first token line is read."""
        gold, predicted = (file.reader.builder.layout for file in self._files)
        return gold, predicted

    def __iter__(self) -> Iterator[Stretch | tuple[Passage, Passage]]:
        """Yield stretches and pairs of passages, in order. Raises a `CluevalError` for wrong or unusual input."""
        seam, was_stretch = None, False
        while True:
            for file in self._files:
                file.read(self._sizes.block // 2 + 1)
            if not any(file.waiting for file in self._files):
                break
            pieces = self._next()
            stretch = None if pieces.crossed else self._stretch(pieces)
            for file, of_side in zip(self._files, (pieces.gold, pieces.predicted), strict=True):
                if stretch is not None:
                    last = stretch.parts[-1].document if stretch.parts else None
                    file.reader.builder.pass_over(stretch.documents, last)
                    continue
                file.feed(pieces.end.join([*of_side, b""]))
            if seam is not None and (was_stretch or stretch is not None):
                for runs in self._runs:
                    runs.add_seam(seam)
            seam, was_stretch = pieces.seam, stretch is not None
            yield from self._pairs()
            if stretch is not None:
                if self._layout.token_id is not None:
                    self._see_ids(pieces)
                yield stretch
        for file in self._files:
            file.reader.finish()
        yield from self._pairs()
        if any(self._passages):
            raise FormatError("one side ends early", file=str(self._files[0].path))
        yield Stretch(0, 0, self._columns())

    def _next(self) -> FilePieces:
        """Take the next pieces: whole sentences, or else whole documents, or else lines."""
        for end in self._files[0].recogniser.ends:
            gold, predicted = (file.waiting.split(end) for file in self._files)
            number = min(len(gold) - 1, len(predicted) - 1, self._most)
            if number:
                self._most *= 2
                self._sentence = _Sentence()
                for file, pieces in zip(self._files, (gold, predicted), strict=True):
                    file.waiting = end.join(pieces[number:])
                    del pieces[number:]
                return FilePieces(end, gold, predicted)
        return self._lines()

    def _lines(self) -> FilePieces:
        """Take lines of both sides up to a place that no span crosses, or all that wait.

        Raises `FormatError` if a sentence is nearly too long; reading passages decides whether it is.
        """
        gold, predicted = (file.waiting.split(b"\n") for file in self._files)
        lines = min(len(gold), len(predicted)) - 1
        (cut, seam), ended = self._cut(gold, predicted, lines), all(file.ended for file in self._files)
        crossed = self._sentence.in_span or (cut is None and not ended)
        in_span = cut is None
        if cut is None and not ended:
            cut = lines if None not in self.layouts else min(lines, self._most)
            self._most *= 2
        taken: list[list[bytes]] = []
        for file, found in zip(self._files, (gold, predicted), strict=True):
            here = cut or len(found) - 1
            taken.append(found[:here])
            file.waiting = b"\n".join(found[here:])
        lines, size = (max(map(of, taken)) for of in (len, lambda side: sum(map(len, side)) + len(side)))
        lines, size = lines + self._sentence.lines, size + self._sentence.size
        self._sentence = _Sentence(lines, size, in_span)
        most, block = LINES_IN_SENTENCE * self._options.max_line, self._sizes.block
        if lines > self._options.max_sentence - block or size > most - block:
            raise FormatError("perhaps a sentence that is too long", file=str(self._files[0].path))
        return FilePieces(b"\n", taken[0], taken[1], crossed, seam)

    def _cut(
        self, gold: Sequence[bytes], predicted: Sequence[bytes], lines: int
    ) -> tuple[int | None, Rows | None]:
        """A line that no span crosses into, and the part of it and the line before that is in spans.

        The first such line if a span may go on from before, else the last; None if there is none.
        """
        order = range(max(lines - self._sizes.look, 1), lines)[::-1]
        if self._sentence.in_span:
            order = range(1, min(lines, self._sizes.look_on))
        for line in () if all(file.ended for file in self._files) else order:
            own, other = (side[line - 1 : line + 1] for side in (gold, predicted))
            seam = find_hunks(own, other, b"\n", self._layout) if self._recognised(b"\n", own) else None
            if seam is not None and not any(runs.crossed(seam) for runs in self._runs):
                return line, seam
        return None, None

    def _pairs(self) -> Iterator[tuple[Passage, Passage]]:
        """Take the passages that both sides have."""
        gold, predicted = self._passages
        for file, passages in zip(self._files, self._passages, strict=True):
            passages.extend(file.reader.builder.take())
        while gold and predicted:
            if gold[0].layout is not None and gold[0].layout.token_id is not None:
                self._ids.see("".join(gold[0].sentences).encode(), gold[0].begins)
            yield gold.popleft(), predicted.popleft()
        if max(len(gold), len(predicted)) > self._sizes.ahead:
            raise FormatError("one side falls behind", file=str(self._files[0].path))

    def _stretch(self, pieces: FilePieces) -> Stretch | None:
        """The stretch of the pieces of both sides; None if they are irregular."""
        end, gold, predicted = pieces[:3]
        marks = [] if end == b"\n" else self._files[0].recogniser.marks(gold)  # lines mark no document
        if marks:
            others = self._files[1].recogniser.marks(predicted)
            if marks != others or any(gold[mark] != predicted[mark] for mark in marks):
                return None
            marked = set(marks)
            gold, predicted = (
                [piece for number, piece in enumerate(side) if number not in marked]
                for side in (gold, predicted)
            )
        found = self._recognised(end, gold) if len(gold) == len(predicted) else None
        if found is None or not self._takes(end, documents := len(marks) + found.documents):
            return None
        rows = find_hunks(gold, predicted, end, self._layout)
        if rows is None:
            return None
        for runs in self._runs:
            runs.add(rows)
        self._tokens += found.tokens
        return Stretch(documents, found.tokens, self._due_columns())

    def _recognised(self, end: bytes, gold: Sequence[bytes]) -> Regular | None:
        """The contents of pieces of gold; None if they are irregular."""
        layout, predicted_layout = self.layouts
        if layout is None or layout != predicted_layout or not is_plain(layout):
            return None
        return self._files[0].recogniser.regular(end, gold)

    def _takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces in which this number of documents begin are allowed here, on both sides."""
        return all(file.recogniser.takes(end, documents) for file in self._files)

    @property
    def _layout(self) -> Layout:
        """The layout of both files, which must be known."""
        layout = self._files[0].reader.builder.layout
        assert layout is not None
        return layout

    def _see_ids(self, pieces: FilePieces) -> None:
        """Record the token ids of gold, which are equal to those of predicted."""
        heads = self._files[0].recogniser.heads(pieces.end, pieces.gold)
        starts = [0, *(head.piece + head.is_mark for head in heads)]
        stops = [*(head.piece for head in heads), len(pieces.gold)]
        for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            self._ids.see(b"\n".join([*pieces.gold[start:stop], b""]), begins=number > 0)

    @cached_property
    def _ids(self) -> TokenIds:
        return TokenIds(self._layout, str(self._files[0].path))

    @cached_property
    def _runs(self) -> list[TagRuns]:
        """The tag runs of each layer, or of all layers together if they are merged."""
        names = tuple(name for name, _ in self._layout.layers)
        groups = [names] if self._merge else [(name,) for name in names]
        return [TagRuns(layers, self._layout, self._sizes) for layers in groups]

    def _check(self) -> None:
        """Check what holds after each item: a tag run occurs as often as it is in the tokens read."""
        for runs in self._runs if self.layouts[0] is not None else ():
            runs._check(self._tokens)

    def _due_columns(self) -> Sequence[Columns]:
        """Take the columns of all tag runs, if these are many."""
        return self._columns() if any(runs.are_many for runs in self._runs) else ()

    def _columns(self) -> Sequence[Columns]:
        """Take the columns of all tag runs."""
        tokens, self._tokens = self._tokens, 0
        return [columns for runs in (self._runs if self.layouts[0] else ()) for columns in runs.take(tokens)]
