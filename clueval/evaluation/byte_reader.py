"""Reads two column files of one format in step as bytes: only lines that differ or are in spans are decoded.

Both files are cut at the ends of sentences, or of documents without sentences, into *pieces*. The recogniser of the
format decides from gold alone whether pieces are regular; then only their hunks are split into fields (`byte_rows`).
All other lines are read by the reader of the format, as passages. Any error makes the caller read passages alone, whose
errors name the place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from clueval.evaluation.byte_rows import find_hunks, is_plain
from clueval.evaluation.regular_bytes import REGULAR, Recogniser
from clueval.exceptions import FormatError
from clueval.formats.columns.builder import NamedDocument
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.textfiles import decoded, raw_blocks, refuse

AHEAD = 1 << 17
"""The reading stops when one side is this many passages ahead: the files are not parallel."""


class Stretch(NamedTuple):
    """Regular lines of one document, or of several if documents are not told apart.

    Attributes:
        documents: the number of documents that begin here.
        tokens: the number of tokens.
        fields: the fields of the lines in spans, one line after the other (see `byte_rows.find_hunks`).
        layout: the layout of both files.
        document: the document, if documents are told apart.
    """

    documents: int
    tokens: int
    fields: list[bytes]
    layout: Layout
    document: NamedDocument | None = None


def reads_bytes(gold: Source, predicted: Source) -> bool:
    """Whether a recogniser knows the format, and spans depend only on their own tags and the adjacent ones, in the
    same way on both sides."""
    decoders = [source.options.decoder() for source in (gold, predicted)]
    options = gold.options
    return (
        gold.format == predicted.format
        and gold.format in REGULAR
        and options.named is None
        and options.token_id is None
        and options.has_columns_of(predicted.options)
        and decoders[0].reads_neighbours
        and decoders[0].treatment == decoders[1].treatment
        and not options.columns().describes_documents
        and min(options.max_line, options.max_sentence) >= 4 * options.sizes.block
    )


class _ByteFile:
    """One file: the bytes that wait, and the recogniser, which has the reader of the format."""

    def __init__(self, source: Source) -> None:
        assert source.token_lines is not None
        options = source.options.columns()
        self.path, self._block = source.path, options.sizes.block
        self.reader = source.token_lines.reader(str(source.path), options, source.name, refuse)
        self.recogniser: Recogniser = REGULAR[source.format](self.reader, options)
        self._data = raw_blocks(source.path, source.progress, options.part, self._block)
        self.waiting = b""
        self.ended = False

    @property
    def layout(self) -> Layout | None:
        """The layout; None until the first token line is read."""
        layout: Layout | None = self.reader.builder.layout
        return layout

    def read(self) -> None:
        """Read until a block waits, or to the end; CRLF becomes LF, and a missing last line end is added."""
        while not self.ended and len(self.waiting) < self._block:
            data = next(self._data, b"")
            self.ended = not data
            self.waiting += data
        if b"\r" in self.waiting:  # searching for one byte is many times faster than for two
            self.waiting = self.waiting.replace(b"\r\n", b"\n")
            if b"\r" in (self.waiting if self.ended else self.waiting[:-1]):
                raise FormatError("a carriage return without a line feed", file=str(self.path))
        if self.ended and self.waiting and not self.waiting.endswith(b"\n"):
            self.waiting += b"\n"

    def feed(self, data: bytes) -> None:
        """Give lines to the format's reader."""
        if data:
            self.reader.feed(1, decoded(data, self.path, 1))


class ByteReader:
    """Iterates over the stretches and the pairs of passages of two files for which `reads_bytes` holds.

    With `by_document`, each stretch is of one document. Holds some blocks, and passages of one side that wait for the
    other. Raises a `CluevalError` for wrong or unusual input.
    """

    def __init__(self, gold: Source, predicted: Source, *, by_document: bool) -> None:
        self._files = _ByteFile(gold), _ByteFile(predicted)
        self._by_document = by_document
        self._block = gold.options.sizes.block
        self._most = 1  # pieces at a time; few before the layout is known
        self._passages: tuple[deque[Passage], deque[Passage]] = (deque(), deque())

    def __iter__(self) -> Iterator[Stretch | tuple[Passage, Passage]]:
        while any(self._read()):
            end, sides = self._next()
            stretches = self._stretches(end, *sides) if end else []
            for file, pieces in zip(self._files, sides, strict=True):
                if stretches:
                    documents = sum(each.documents for each in stretches)
                    file.reader.builder.pass_over(documents, stretches[-1].document)
                elif end:
                    file.feed(end.join([*pieces, b""]))
                else:
                    file.feed(pieces[0])
            yield from self._pairs()
            if stretches and any(self._passages):
                raise FormatError(
                    "one side has sentences that the other lacks", file=str(self._files[0].path)
                )
            yield from stretches
        for file in self._files:
            file.reader.finish()
        yield from self._pairs()
        if any(self._passages):
            raise FormatError("one side ends early", file=str(self._files[0].path))

    def _read(self) -> list[bytes]:
        """Read both files on; return what waits."""
        for file in self._files:
            file.read()
        return [file.waiting for file in self._files]

    def _next(self) -> tuple[bytes, list[list[bytes]]]:
        """Take the next pieces of both sides, and the end of each; if none has ended, whole lines, and no end."""
        for end in self._files[0].recogniser.ends:
            sides = [file.waiting.split(end) for file in self._files]
            number = min(self._most, *(len(pieces) - 1 for pieces in sides))
            if number:
                self._most *= 2
                for file, pieces in zip(self._files, sides, strict=True):
                    file.waiting = end.join(pieces[number:])
                    del pieces[number:]
                return end, sides
        return b"", self._lines()

    def _lines(self) -> list[list[bytes]]:
        """Take the same number of lines of both sides, or everything at the end."""
        if all(file.ended for file in self._files):
            found = [[file.waiting] for file in self._files]
            for file in self._files:
                file.waiting = b""
            return found
        sides = [file.waiting.split(b"\n") for file in self._files]
        number = min(len(lines) - 1 for lines in sides)
        if not number:
            raise FormatError("a line is long, or one side ends early", file=str(self._files[0].path))
        for file, lines in zip(self._files, sides, strict=True):
            file.waiting = b"\n".join(lines[number:])
        return [[b"\n".join([*lines[:number], b""])] for lines in sides]

    def _pairs(self) -> Iterator[tuple[Passage, Passage]]:
        """Take the passages that both sides have."""
        gold, predicted = self._passages
        for file, passages in zip(self._files, self._passages, strict=True):
            passages.extend(file.reader.builder.take())
        while gold and predicted:
            yield gold.popleft(), predicted.popleft()
        if max(len(gold), len(predicted)) > AHEAD:
            raise FormatError("one side falls behind", file=str(self._files[0].path))

    def _stretches(self, end: bytes, gold: list[bytes], predicted: list[bytes]) -> list[Stretch]:
        """The stretches of the pieces of both sides; none if they are irregular."""
        own, other = self._files
        layout = own.layout
        if layout is None or layout != other.layout or not is_plain(layout):
            return []
        heads = own.recogniser.heads(end, gold)
        marks = {head.piece for head in heads if head.is_mark}
        if any(gold[mark] != predicted[mark] for mark in marks):
            return []
        if not all(file.recogniser.takes(end, len(heads)) for file in self._files):
            return []
        starts = [0, *(head.piece for head in heads), len(gold)] if self._by_document else [0, len(gold)]
        documents: list[NamedDocument | None] = [None]
        if self._by_document:
            documents = [own.reader.builder.current, *own.reader.builder.next_documents(heads)]
        found = []
        for number, document in enumerate(documents):
            start, stop = starts[number : number + 2]
            if self._by_document and number == 0 and start == stop:
                continue
            places = [place for place in range(start, stop) if place not in marks]
            golds = list(map(gold.__getitem__, places))
            tokens = own.recogniser.regular(end, golds) if golds else 0
            predictions = list(map(predicted.__getitem__, places))
            fields = None if tokens is None else find_hunks(golds, predictions, end, layout)
            if tokens is None or fields is None:
                return []
            begins = int(number > 0) if self._by_document else len(heads)
            found.append(Stretch(begins, tokens, fields, layout, document))
        return found
