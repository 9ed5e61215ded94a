"""Recognisers of regular pieces: sentences of plain token lines, recognised by their bytes, without decoding.

A format without a recogniser in `REGULAR` is read as passages. No reader of a format is named here: a recogniser is
found by the name of the format, and is given its reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import compress, count, repeat
from typing import Any, Protocol

from clueval.evaluation.byte_rows import fits
from clueval.formats.columns.builder import DocumentHead
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.markup import NAME
from clueval.formats.columns.token_lines import LineReader
from clueval.textfiles import is_utf8


class Recogniser(Protocol):
    """Recognises regular pieces of one file, which follow what its reader has read so far.

    Pieces end with one of `ends`, the end of a sentence or of a document, and are passed without these ends. They have
    no carriage returns.
    """

    ends: tuple[bytes, ...]

    @property
    def reader(self) -> LineReader:
        """The reader of this file."""

    def regular(self, end: bytes, pieces: Sequence[bytes]) -> int | None:
        """The number of tokens of pieces; None if they are irregular."""

    def heads(self, end: bytes, pieces: Sequence[bytes]) -> list[DocumentHead]:
        """The heads of the documents that begin in regular pieces."""

    def takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces in which this number of documents begin are allowed here."""


_NO_VRT_SKELETON = bytes(byte for byte in range(256) if byte not in b"\t\n<")


def _between(document_tag: str, sentence_tag: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns for the lines between two sentences, and between two documents without sentences.

    These are an end tag and a start tag; between sentences of two documents, the tags of both elements.
    """
    attributes = rb'(?: %s="[^"<>\n\t]*+")*+' % NAME.encode()
    document, sentence = (re.escape(tag.encode()) for tag in (document_tag, sentence_tag))
    documents = rb"/%s>\n<%s%s>\n" % (document, document, attributes)
    sentences = rb"/%s>\n<(?:%s<)?%s%s>\n" % (sentence, documents, sentence, attributes)
    return re.compile(rb"<(?<=\n<)" + sentences), re.compile(rb"<(?<=\n<)" + documents)


class VrtRecogniser:
    """Recognises regular pieces of a VRT file."""

    def __init__(self, reader: Any, options: ColumnOptions) -> None:
        self.reader = reader
        tags = options.sentence_tag, options.document_tag
        self.ends = tuple(f"</{tag}>\n".encode() for tag in tags)
        self._between = _between(options.document_tag, options.sentence_tag)

    def heads(self, end: bytes, pieces: Sequence[bytes]) -> list[DocumentHead]:
        """The start tags; between sentences, one follows the end tag of the document before."""
        before = b"" if end == self.ends[1] else self.ends[1]
        found = []
        for number in compress(count(), map(bytes.startswith, pieces, repeat(before))):
            line = pieces[number][len(before) : pieces[number].find(b"\n", len(before))]
            found.append(DocumentHead(number, False, *self.reader.document_of(line.decode(errors="replace"))))
        return found

    def takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces in which this number of documents begin are allowed here."""
        if self.reader.builder.in_sentence or self.reader.in_sentence_element:
            return False
        if end == self.ends[0]:
            return self.reader.builder.in_document and (self.reader.in_document_element or not documents)
        return not (self.reader.builder.in_document or self.reader.in_document_element)

    def regular(self, end: bytes, pieces: Sequence[bytes]) -> int | None:
        """The contents of pieces, each from one end to the next; None if they are irregular.

        In regular pieces every line is a token line or an XML tag, and the XML tags are those between two sentences,
        or between two documents without sentences. The skeleton has a tab or a ``<`` and a line end for each line.
        """
        layout = self.reader.builder.layout
        text = b"".join((b"\n", end, end.join(pieces)))
        if layout is None or not text.endswith(b"\n") or b"\0" in text:
            return None
        skeleton = text.translate(None, _NO_VRT_SKELETON)[1:]
        if layout.width > 2:
            skeleton = skeleton.replace(b"\t" * (layout.width - 1) + b"\n", b">\n")
        kinds, line_ends = skeleton[::2], skeleton[1::2]
        tokens, tags = kinds.count(b"\t" if layout.width == 2 else b">"), kinds.count(b"<")
        if tokens + tags != len(kinds) or line_ends != b"\n" * len(kinds) or b"\n\t" in text:
            return None
        if not is_utf8(text):
            return None
        found = self._between[self.ends.index(end)].findall(text)
        fits = len(found) == len(pieces) and b"".join(found).count(b"\n") == tags
        return tokens if fits else None


_DOCSTART = b"-DOCSTART-"
_MARK = rb"-DOCSTART-(?:[\t ][^\n]*)?"


class ConllRecogniser:
    """Recognises regular pieces of a CoNLL-like file."""

    def __init__(self, reader: LineReader, options: ColumnOptions) -> None:
        self.reader = reader
        self.ends: tuple[bytes, ...] = (b"\n\n",)

    def heads(self, end: bytes, pieces: Sequence[bytes]) -> list[DocumentHead]:
        """The ``-DOCSTART-`` lines, which have neither an id nor metadata."""
        marks = (number for number, text in enumerate(pieces) if text.startswith(_DOCSTART))
        return [
            DocumentHead(number, True, None, {}) for number in marks if re.fullmatch(_MARK, pieces[number])
        ]

    def takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces are allowed here."""
        return self.reader.builder.in_document and not self.reader.builder.in_sentence

    def regular(self, end: bytes, pieces: Sequence[bytes]) -> int | None:
        """The contents of pieces, without the line ends after them; None if they are irregular.

        In regular pieces every line is a token line.
        """
        layout = self.reader.builder.layout
        text = b"\n".join((b"", *pieces, b""))
        if layout is None or b"\0" in text or not fits(text[1:], layout):
            return None
        if (b" " in text and b"\n " in text) or (b"#" in text and b"\n#" in text):
            return None
        return text.count(b"\n") - 1 if _DOCSTART not in text and is_utf8(text) else None


REGULAR: dict[str, Callable[[LineReader, ColumnOptions], Recogniser]] = {
    "vrt": VrtRecogniser,
    "conll": ConllRecogniser,
}
"""The recogniser of each format that has one, by the name of the format."""
