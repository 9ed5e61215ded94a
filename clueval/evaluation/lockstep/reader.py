"""Reads two column files in parallel, as bytes, and decodes only lines that differ or are in spans.

Most of a corpus is regular: sentences of token lines only, with the same tokens on both sides. Both files are cut
into pieces at the ends of sentences, or of documents without sentences, or else between two lines that no span
crosses. The recogniser of the format decides, from gold alone, whether a piece is regular, and counts its documents
and tokens (`Regular`). FilePieces with the same bytes on both sides are not decoded line by line; for the others see
`clueval.evaluation.lockstep.hunks`. If spans leave no place to cut, the tags of all lines become one *open* tag run,
until a span or the sentence ends.

Irregular pieces are read by the readers of the formats, as passages. Any error here makes the caller start again
with passages alone, whose errors name the place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.lockstep.columns import Columns
from clueval.evaluation.lockstep.hunks import (
    CROSSING,
    TOUCHING,
    Relations,
    extend,
    find_differences,
    is_plain,
    tags_in,
)
from clueval.evaluation.lockstep.regular import Recogniser, Regular
from clueval.evaluation.lockstep.stretch import Stretch
from clueval.evaluation.lockstep.tag_runs import TagRuns, Touching
from clueval.evaluation.lockstep.token_ids import TokenIds
from clueval.exceptions import FormatError
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

    def end_of_sentence(self) -> int | None:
        """The position of the line that ends the current sentence, or of the end; None if neither is read yet."""
        lines = self.recogniser.end_lines
        if self.waiting.startswith(lines):
            return 0
        found = [place + 1 for line in lines if (place := self.waiting.find(b"\n" + line)) >= 0]
        return min(found, default=len(self.waiting) if self.ended else None)

    def feed(self, data: bytes) -> None:
        """Give lines to the format's reader."""
        if data:
            self.reader.feed(1, decoded(data, self.path, 1))


class FilePieces(NamedTuple):
    """FilePieces of both sides, which have the same number if the files are parallel.

    If the pieces are lines, a span may go on from the lines before to them (`goes_on_from_before`), or from them to
    the lines that follow (`goes_on`).
    """

    end: bytes
    gold: list[bytes]
    predicted: list[bytes]
    goes_on_from_before: bool = False
    goes_on: bool = False


class Lockstep:
    """Reads two files of one column format; see the module.

    Holds two or three blocks, or the longest line, the tag runs, and the open tag run.
    """

    def __init__(self, gold: File, predicted: File, merge: bool) -> None:
        self._options, self._sizes = gold.options, gold.options.sizes
        self._unended = (0, 0)  # lines and bytes since the last end of a sentence
        self._files = (gold, predicted)
        self._merge = merge
        self._tags: TagRuns | None = None
        self._tokens = 0  # of these tag runs
        self._ids: TokenIds | None = None
        self._passages: tuple[deque[Passage], deque[Passage]] = (deque(), deque())
        self._most = 1  # pieces at a time; few before the layout is known
        self._goes_on = True  # a span may go on from the last pieces to the next
        self._open: int | None = None  # tokens of the open tag run; None if there is none
        self._seam: tuple[bool, Touching] | None = None  # after the last piece, if spans touch there

    @property
    def layouts(self) -> tuple[Layout | None, Layout | None]:
        """The layouts of the two files; None until the first token line is read."""
        gold, predicted = (file.reader.builder.layout for file in self._files)
        return gold, predicted

    def __iter__(self) -> Iterator[Stretch | tuple[Passage, Passage]]:
        """Yield stretches and pairs of passages, in order. Raises a `CluevalError` for wrong or unusual input."""
        while True:
            for file in self._files:
                file.read(self._sizes.block // 2 + 1)
            if not any(file.waiting for file in self._files):
                break
            seam, self._seam = self._seam, None
            is_known = None not in self.layouts
            pieces = self._next()
            self._require_short_sentences(pieces)
            crosses = pieces.goes_on_from_before or pieces.goes_on
            stretch = self._open_stretch(pieces) if crosses else self._stretch(pieces)
            for file, of_side in zip(self._files, (pieces.gold, pieces.predicted), strict=True):
                if stretch is not None:
                    file.reader.builder.pass_over(stretch.documents, stretch.last)
                    continue
                file.feed(pieces.end.join([*of_side, b""]) if of_side else b"")
            if not is_known and None not in self.layouts:
                self._begin_again()
            if seam is not None and (seam[0] or stretch is not None):
                self._tag_runs().add_touching([seam[1]])
            if self._seam is not None:
                self._seam = (stretch is not None, self._seam[1])
            yield from self._pairs()
            if stretch is not None:
                if self._layout.token_id is not None:
                    self._see_ids(pieces)
                yield stretch
        self._close()
        for file in self._files:
            file.reader.finish()
        yield from self._pairs()
        if any(self._passages):
            raise FormatError("one side ends early", file=str(self._files[0].path))
        yield Stretch(0, 0, self._columns())

    def _begin_again(self) -> None:
        """Put the lines that determined the layout back into the buffer, unless their sentence has ended."""
        for file in self._files:
            file.waiting = file.reader.builder.withdraw().encode() + file.waiting
        self._goes_on = False

    def _next(self) -> FilePieces:
        """Take the next pieces: whole sentences, or else whole documents, or else lines."""
        for end in self._files[0].recogniser.ends if self._open is None else ():
            gold, predicted = (file.waiting.split(end) for file in self._files)
            number = min(len(gold) - 1, len(predicted) - 1, self._most)
            if number:
                self._most *= 2
                self._goes_on = False
                for file, pieces in zip(self._files, (gold, predicted), strict=True):
                    file.waiting = end.join(pieces[number:])
                    del pieces[number:]
                return FilePieces(end, gold, predicted)
        return self._lines()

    def _require_short_sentences(self, pieces: FilePieces) -> None:
        """Raise `FormatError` if a sentence is nearly too long; reading passages decides whether it is."""
        if pieces.end != b"\n":
            self._unended = (0, 0)
            return
        lines, size = self._unended
        lines += max(len(pieces.gold), len(pieces.predicted))
        size += max(sum(map(len, pieces.gold)), sum(map(len, pieces.predicted)))
        self._unended = lines, size + lines
        most, block = LINES_IN_SENTENCE * self._options.max_line, self._sizes.block
        if lines > self._options.max_sentence - block or self._unended[1] > most - block:
            raise FormatError("perhaps a sentence that is too long", file=str(self._files[0].path))

    def _lines(self) -> FilePieces:
        """Take lines of both sides up to a place that no span crosses, or all that wait.

        The lines of an open tag run end with the sentence at the latest.
        """
        stops = [None if self._open is None else file.end_of_sentence() for file in self._files]
        gold, predicted = (
            file.waiting[:stop].split(b"\n") for file, stop in zip(self._files, stops, strict=True)
        )
        lines = min(len(gold), len(predicted)) - 1
        cut, before = self._cut(gold, predicted, lines), self._goes_on
        ended = all(file.ended for file in self._files)
        self._goes_on = cut is None and (None in stops or len(gold) != len(predicted))
        if cut is None and not ended:
            cut = lines if None not in self.layouts else min(lines, self._most)
            self._most *= 2
        taken: list[list[bytes]] = []
        for file, found, stop in zip(self._files, (gold, predicted), stops, strict=True):
            here = cut or len(found) - 1
            taken.append(found[:here])
            rest = b"" if stop is None else file.waiting[stop:]
            file.waiting = b"\n".join(found[here:]) + rest
        return FilePieces(b"\n", taken[0], taken[1], before, self._goes_on and not ended)

    def _cut(self, gold: Sequence[bytes], predicted: Sequence[bytes], lines: int) -> int | None:
        """A line that no span crosses into; the first one if a span may go on from before, else the last; or None."""
        layout, predicted_layout = self.layouts
        if layout is None or layout != predicted_layout or all(file.ended for file in self._files):
            return None
        tags_of, relations = tags_in(layout), Relations(layout)
        look, look_on = self._sizes.look, self._sizes.look_on
        order = range(1, min(lines, look_on)) if self._goes_on else range(lines - 1, max(lines - look, 0), -1)
        for line in order:
            seam = (
                tags_of(gold[line - 1]),
                tags_of(gold[line]),
                tags_of(predicted[line - 1]),
                tags_of(predicted[line]),
            )
            found = relations[seam[:2]] | relations[seam[2:]]
            if found != CROSSING and b"" not in seam:  # an XML tag between tokens need not end a sentence
                self._seam = (False, seam) if found == TOUCHING else None
                return line
        return None

    def _pairs(self) -> Iterator[tuple[Passage, Passage]]:
        """Take the passages that both sides have."""
        gold, predicted = self._passages
        for file, passages in zip(self._files, self._passages, strict=True):
            passages.extend(file.reader.builder.take())
        while gold and predicted:
            if gold[0].layout is not None and gold[0].layout.token_id is not None:
                texts = ["".join(gold[0].sentences).encode()]
                self._token_ids().see([b"", *texts] if gold[0].begins else texts)
            yield gold.popleft(), predicted.popleft()
        if max(len(gold), len(predicted)) > self._sizes.ahead:
            raise FormatError("one side falls behind", file=str(self._files[0].path))

    def _stretch(self, pieces: FilePieces) -> Stretch | None:
        """The stretch of the pieces of both sides; None if they are irregular."""
        other_marks = self._files[1].recogniser.marks
        end, gold, predicted = pieces[:3]
        marks = self._marks(pieces)
        if marks:
            if marks != other_marks(predicted) or any(gold[mark] != predicted[mark] for mark in marks):
                return None
            gold, predicted = _without(gold, marks), _without(predicted, marks)
        found = self._regular(end, gold, len(marks)) if len(gold) == len(predicted) else None
        if found is None or not find_differences(gold, predicted, end, self._layout, self._tag_runs()):
            return None
        self._tokens += found.tokens
        return Stretch(found.documents, found.tokens, self._due_columns())

    def _regular(self, end: bytes, gold: list[bytes], marks: int) -> Regular | None:
        """The contents of pieces of gold, with the documents of `marks`; None if irregular or not allowed here."""
        found = self._recognised(end, gold)
        if found is None:
            return None
        documents = marks + found.documents
        return Regular(documents, found.tokens) if self._takes(end, documents) else None

    def _recognised(self, end: bytes, gold: list[bytes]) -> Regular | None:
        """The contents of pieces of gold; None if they are irregular."""
        layout, predicted_layout = self.layouts
        if layout is None or layout != predicted_layout or not is_plain(layout):
            return None
        return self._files[0].recogniser.regular(end, gold)

    def _takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces in which this number of documents begin are allowed here, on both sides."""
        return all(file.recogniser.takes(end, documents) for file in self._files)

    def _open_stretch(self, pieces: FilePieces) -> Stretch | None:
        """The stretch of lines that a span crosses into or out of; None if they are irregular.

        Raises `FormatError` for irregular lines after regular ones in the open tag run.
        """
        if pieces.goes_on_from_before and self._open is None:
            return None
        tokens = self._extend(pieces)
        if tokens is None:
            if self._open is None:
                return None
            raise FormatError("a span goes on into irregular lines", file=str(self._files[0].path))
        self._open = (self._open or 0) + tokens
        if not pieces.goes_on:
            self._close()
        return Stretch(0, tokens, self._due_columns())

    def _close(self) -> None:
        """Close the open tag run, if there is one."""
        if self._open is not None:
            self._tag_runs().close()
            self._tokens += self._open
            self._open = None
            self._most = 1  # the end of a sentence goes to the format's reader

    def _extend(self, pieces: FilePieces) -> int | None:
        """Add lines to the open tag run and return their tokens; None if irregular, or not only tags differ."""
        gold, predicted = pieces.gold, pieces.predicted
        if not gold and not predicted:
            return 0
        found = self._regular(pieces.end, gold, 0)
        if found is None or not extend(gold, predicted, self._layout, self._tag_runs()):
            return None
        return found.tokens

    @property
    def _layout(self) -> Layout:
        """The layout of both files, which must be known."""
        layout = self._files[0].reader.builder.layout
        assert layout is not None
        return layout

    def _see_ids(self, pieces: FilePieces) -> None:
        """Record the token ids of gold, which are equal to those of predicted."""
        lines = self._files[0].recogniser.by_document(pieces.end, pieces.gold, self._marks(pieces))
        self._token_ids().see(lines)

    def _marks(self, pieces: FilePieces) -> list[int]:
        """The numbers of the pieces of gold that mark the beginning of a document; lines never do."""
        return [] if pieces.end == b"\n" else self._files[0].recogniser.marks(pieces.gold)

    def _token_ids(self) -> TokenIds:
        if self._ids is None:
            self._ids = TokenIds(self._layout, str(self._files[0].path))
        return self._ids

    def _tag_runs(self) -> TagRuns:
        if self._tags is None:
            self._tags = TagRuns(self._layout, self._merge, self._sizes)
        return self._tags

    def _due_columns(self) -> Sequence[Columns]:
        """Take the columns of all tag runs, if these are many."""
        return self._columns() if self._tag_runs().are_many else ()

    def _columns(self) -> Sequence[Columns]:
        """Take the columns of all tag runs."""
        tokens, self._tokens = self._tokens, 0
        return list(self._tags.take(tokens)) if self._tags else ()


def _without(sentences: list[bytes], marks: list[int]) -> list[bytes]:
    marked = set(marks)
    return [sentence for number, sentence in enumerate(sentences) if number not in marked]
