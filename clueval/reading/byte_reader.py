"""Reads two column files of one format in step as bytes: only lines that differ or are in spans are decoded.

Both files are cut at the ends of sentences, or of documents without sentences, into *pieces*. The recogniser of the
format decides from gold alone whether pieces are regular; then only their hunks are split into fields. All other lines
are read by the reader of the format, as passages.

Lines that differ may differ in their tags only. Each becomes one line with the tags of both sides, here with a ``|``
between them; the other lines have the same tags on both sides::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y    f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O      f/O  g/O
    joined      a/O  b/B-X  c/O  d/B-Y  e/I-Y|O  f/O  g/O

A *hunk* is a run of joined lines that are in a span of either side, here b, and d with e. Only hunks are decoded, with
a line that is outside after each.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress, count, pairwise, repeat
from operator import ne, not_
from typing import Any, NamedTuple

from clueval.core.tags import OUTSIDE
from clueval.files.opening import decoded, is_utf8, raw_blocks
from clueval.formats.column_format import ColumnFormat, Columns, Layout
from clueval.formats.columns import have_width
from clueval.formats.options import FormatOptions
from clueval.reading.clusters import RowCharacters, Unusual
from clueval.reading.passages import SIZES, NamedDocument, Passage, PassageReader, Sizes
from clueval.reading.source import Source

AHEAD = 1 << 17
"""The reading stops when one side is this many passages ahead: the files are not parallel."""


class Stretch(NamedTuple):
    """Regular lines of one document, or of several if documents are not told apart."""

    begins: Sequence[Mapping[str, str]]  # the metadata of the documents that begin here
    tokens: int  # the number of tokens
    # the fields of the lines in spans, one line after the other (see `find_hunks`)
    fields: list[bytes]
    layout: Layout  # the layout of both files
    document: NamedDocument | None  # the document, if documents are told apart
    sentences: Sequence[int] = ()  # the numbers of tokens of the sentences, if these are told apart
    # the numbers of the sentences, in the order in which they are marked in `fields`
    order: Sequence[int] = ()
    characters: int = 0  # the number of characters of the tokens, if these are counted
    # then, whether tokens of the document before, and of each that begins here, are in the stretch
    have_tokens: Sequence[bool] = ()


def reads_bytes(gold: Source, predicted: Source, sizes: Sizes = SIZES) -> bool:
    """Whether a recogniser knows the format of both files, and their columns have the same uses."""
    return (
        gold.form is predicted.form
        and gold.form.name in REGULAR
        and isinstance(gold.form, ColumnFormat)
        and not gold.form.sentence_end
        and _uses(gold.options) == _uses(predicted.options)
        and gold.options.token_id is None
        and gold.options.document_column is None
        and not gold.options.meta
        and min(gold.options.max_line, gold.options.max_sentence) >= 4 * sizes.block
        and all(gold.form.columns(source.file, source.options) == Columns() for source in (gold, predicted))
    )


def _uses(options: FormatOptions) -> tuple[Any, ...]:
    layers = None if options.layers is None else tuple(options.layers.items())
    return layers, options.token, options.document_tag, options.sentence_tag


class _ByteFile:
    """One file: the bytes that wait, and the recogniser, which has the reader of the format."""

    def __init__(self, source: Source, sizes: Sizes) -> None:
        self.path, self._block = source.path, sizes.block
        self.reader = PassageReader(source, sizes)
        self.recogniser: Recogniser = REGULAR[source.form.name](self.reader, source.options)
        self._data = raw_blocks(source.path, source.file.progress, size=self._block)
        self.waiting = b""
        self.ended = False

    def read(self) -> None:
        """Read until a block waits, or to the end; CRLF becomes LF, and a missing last line end is added."""
        while not self.ended and len(self.waiting) < self._block:
            data = next(self._data, b"")
            self.ended = not data
            self.waiting += data
        if b"\r" in self.waiting:  # searching for one byte is many times faster than for two
            self.waiting = self.waiting.replace(b"\r\n", b"\n")
            if b"\r" in (self.waiting if self.ended else self.waiting[:-1]):
                raise Unusual("a carriage return without a line feed")
        if self.ended and self.waiting and not self.waiting.endswith(b"\n"):
            self.waiting += b"\n"


class ByteReader:
    """Iterates over the stretches and the pairs of passages of two files for which `reads_bytes` holds.

    With `by_document`, each stretch is of one document; with `by_sentence`, it tells sentences apart, too. With
    `in_characters`, which excludes `by_document`, it has the tokens of its fields, the number of its characters, and
    which documents have some. Holds some blocks, and passages of one side that wait for the other. Raises `Unusual` for
    files that differ in more than tags, and the errors of the reader of the format.
    """

    def __init__(
        self,
        gold: Source,
        predicted: Source,
        *,
        by_document: bool,
        by_sentence: bool = False,
        in_characters: bool = False,
        sizes: Sizes = SIZES,
    ) -> None:
        self._files = _ByteFile(gold, sizes), _ByteFile(predicted, sizes)
        self.readers = [file.reader for file in self._files]
        self._by_document, self._by_sentence, self._in_characters = by_document, by_sentence, in_characters
        self._block = sizes.block
        self._most_pieces = 1  # pieces at a time; few before the layout is known
        self._passages: tuple[deque[Passage], deque[Passage]] = (deque(), deque())

    def __iter__(self) -> Iterator[Stretch | tuple[Passage, Passage]]:
        while any(self._read()):
            end, sides = self._next()
            stretches = self._stretches(end, *sides) if end else []
            for file, pieces in zip(self._files, sides, strict=True):
                if stretches:
                    documents = sum(len(stretch.begins) for stretch in stretches)
                    file.reader.pass_over(documents, stretches[-1].document)
                elif data := end.join([*pieces, b""]) if end else pieces[0]:
                    file.reader.feed(1, decoded(data, file.path, 1))
            yield from self._pairs()
            if stretches and any(self._passages):
                raise Unusual("one side has sentences that the other lacks")
            yield from stretches
        for file in self._files:
            file.reader.finish()
        yield from self._pairs()
        if any(self._passages):
            raise Unusual("one side ends early")

    def _read(self) -> list[bytes]:
        for file in self._files:
            file.read()
        return [file.waiting for file in self._files]

    def _next(self) -> tuple[bytes, list[list[bytes]]]:
        """Take the next pieces of both sides, and the end of each; if none has ended, whole lines, and no end."""
        for end in self._files[0].recogniser.ends:
            sides = [file.waiting.split(end) for file in self._files]
            number = min(self._most_pieces, *(len(pieces) - 1 for pieces in sides))
            if number:
                self._most_pieces *= 2
                for file, pieces in zip(self._files, sides, strict=True):
                    file.waiting = end.join(pieces[number:])
                    del pieces[number:]
                return end, sides
        return b"", self._lines()

    def _lines(self) -> list[list[bytes]]:
        """Take the same number of lines of both sides, or everything at the end."""
        if all(file.ended for file in self._files):
            remainders = [[file.waiting] for file in self._files]
            for file in self._files:
                file.waiting = b""
            return remainders
        sides = [file.waiting.split(b"\n") for file in self._files]
        number = min(len(lines) - 1 for lines in sides)
        if not number:
            raise Unusual("a line is long, or one side ends early")
        for file, lines in zip(self._files, sides, strict=True):
            file.waiting = b"\n".join(lines[number:])
        return [[b"\n".join([*lines[:number], b""])] for lines in sides]

    def _pairs(self) -> Iterator[tuple[Passage, Passage]]:
        gold, predicted = self._passages
        for file, passages in zip(self._files, self._passages, strict=True):
            passages.extend(file.reader.take())
        while gold and predicted:
            yield gold.popleft(), predicted.popleft()
        if max(len(gold), len(predicted)) > AHEAD:
            raise Unusual("one side falls behind")

    def _stretches(self, end: bytes, gold: list[bytes], predicted: list[bytes]) -> list[Stretch]:
        """The stretches of the pieces of both sides; none if they are irregular."""
        gold_file, predicted_file = self._files
        layout = gold_file.reader.layout
        if layout is None or layout != predicted_file.reader.layout or not is_plain(layout):
            return []
        heads = gold_file.recogniser.heads(end, gold)
        marks = {head.piece for head in heads} if gold_file.recogniser.heads_are_marks else set()
        if any(gold[mark] != predicted[mark] for mark in marks):
            return []
        if not all(file.recogniser.takes(end, len(heads)) for file in self._files):
            return []
        starts = [0, *(head.piece for head in heads), len(gold)] if self._by_document else [0, len(gold)]
        documents: list[NamedDocument | None] = [None]
        if self._by_document:
            documents = [gold_file.reader.current]
            for number, head in enumerate(heads, gold_file.reader.begun + 1):
                documents.append(gold_file.reader.named(head.id, head.metadata, number))
        stretches = []
        for number, document in enumerate(documents):
            start, stop = starts[number : number + 2]
            if self._by_document and number == 0 and start == stop:
                continue
            places = [place for place in range(start, stop) if place not in marks]
            golds = list(map(gold.__getitem__, places))
            tokens = gold_file.recogniser.regular(end, golds) if golds else 0
            predictions = list(map(predicted.__getitem__, places))
            if tokens is None:
                return []
            fields = find_hunks(
                golds, predictions, end, layout, marked=self._by_sentence, with_tokens=self._in_characters
            )
            if fields is None:
                return []
            begun = (heads[number - 1 : number] if number else []) if self._by_document else heads
            begins = [head.metadata for head in begun]
            stretch = Stretch(begins, tokens, fields, layout, document)
            separator = layout.separator.encode()
            if self._in_characters:
                lines = gold_file.recogniser.token_lines(end, golds)
                if gold_file.reader.form.entities is not None and b"&" in lines:
                    return []
                ends = [0, *(head.piece for head in heads), len(gold)]
                stretch = stretch._replace(
                    characters=_characters(lines, layout),
                    have_tokens=[
                        any(separator in gold[place] for place in range(first, past) if place not in marks)
                        for first, past in pairwise(ends)
                    ],
                )
            if self._by_sentence:
                differs, per_line = list(map(ne, golds, predictions)), layout.width - 1
                stretch = stretch._replace(
                    sentences=[piece.count(separator) // per_line for piece in golds],
                    order=sorted(range(len(golds)), key=differs.__getitem__),
                )
            stretches.append(stretch)
        return stretches


def _characters(lines: bytes, layout: Layout) -> int:
    """The number of characters of the tokens in lines."""
    separator = layout.separator.encode()
    if layout.width == 1 + len(layout.layers):  # most lines have no other columns, and no tags
        lines = lines.replace((separator + OUTSIDE.encode()) * len(layout.layers) + b"\n", b"")
    return len(re.sub(separator + rb"[^\n]*\n", b"", lines).decode())


# Hunks

BOTH = b"\0"
"""Separates a gold and a predicted tag; a tag without it is that of both sides."""

MARK = b"\0"
"""The tag of a line before a sentence; no line of a file is so."""

BEFORE_SENTENCE = "\n"
"""The character of a line of `MARK`."""


def is_plain(layout: Layout) -> bool:
    """Whether the token is in the first column, and the columns of all layers are adjacent."""
    columns = sorted(_columns(layout))
    return layout.token == 0 and columns == list(range(columns[0], columns[0] + len(columns)))


def _columns(layout: Layout) -> list[int]:
    """Return the columns of the layers, which are no keys of pairs where files are read as bytes."""
    return [column for column in layout.layers.values() if isinstance(column, int)]


def find_hunks(
    gold: Sequence[bytes],
    predicted: Sequence[bytes],
    end: bytes,
    layout: Layout,
    *,
    marked: bool,
    with_tokens: bool,
) -> list[bytes] | None:
    """The fields of the lines in spans of two lists of sentences, of which those of gold are regular.

    If they are `marked`, a line of `MARK` comes before each sentence; those that are equal on both sides come first.
    Without `with_tokens`, the first token of a hunk is left out, which is faster. None if they differ in more than
    tags.
    """
    differs = list(map(ne, gold, predicted))
    if marked:
        mark = layout.separator.encode().join([MARK] * layout.width) + b"\n"
        gold, predicted = ([mark + text for text in side] for side in (gold, predicted))
    lines, predicted_lines = (end.join(compress(side, differs)).split(b"\n") for side in (gold, predicted))
    if len(lines) != len(predicted_lines):
        return None
    numbers = list(compress(count(), map(ne, lines, predicted_lines)))
    golds, predictions = (
        b"\n".join([*map(side.__getitem__, numbers), b""]) for side in (lines, predicted_lines)
    )
    joined = _with_both_tags(golds, predictions, layout)
    if joined is None:
        return None
    for number, line in zip(numbers, joined, strict=True):
        lines[number] = line
    same = end.join(compress(gold, map(not_, differs)))
    # the runs of lines in spans, with an O in place of the fields before the tags of the first line, or with these
    columns = _columns(layout)
    before, layers, after = min(columns), len(columns), layout.width - 1 - max(columns)
    runs = _runs(layout.separator, before, layers, after, with_tokens).findall(
        b"\n".join([b"", same, b"", *lines, b""])
    )
    start = b"" if with_tokens else layout.separator.join(["O"] * before).encode()
    border = layout.separator.join([OUTSIDE] * layout.width).encode() + b"\n"
    return _fields(start + (border + start).join(runs) + border if runs else b"", layout)


def _fields(text: bytes, layout: Layout) -> list[bytes]:
    separator = layout.separator.encode()
    fields = text.replace(b"\n", separator).split(separator)
    fields.pop()
    return fields


def _with_both_tags(gold: bytes, predicted: bytes, layout: Layout) -> Iterable[bytes] | None:
    """The lines with the tags of both sides; None unless all are token lines with the same tokens."""
    is_irregular = b"\0" in predicted or not is_utf8(predicted)
    if is_irregular or not (fits(gold, layout) and fits(predicted, layout)):
        return None
    fields, predicted_fields = _fields(gold, layout), _fields(predicted, layout)
    width = layout.width
    if fields[layout.token :: width] != predicted_fields[layout.token :: width]:
        return None
    for column in _columns(layout):
        tags = zip(fields[column::width], predicted_fields[column::width], strict=True)
        fields[column::width] = [
            gold_tag if gold_tag == predicted_tag else gold_tag + BOTH + predicted_tag
            for gold_tag, predicted_tag in tags
        ]
    return map(layout.separator.encode().join, zip(*[iter(fields)] * width, strict=True))


def fits(text: bytes, layout: Layout) -> bool:
    """Whether every line has the layout's number of fields and a token in the first one."""
    separator = layout.separator.encode()
    return have_width(text, layout) and not text.startswith(separator) and b"\n" + separator not in text


@lru_cache
def _runs(separator: str, before: int, layers: int, after: int, with_tokens: bool) -> re.Pattern[bytes]:
    """A pattern for a run of lines in spans, from the separator before the first tags, which is found fast.

    With `with_tokens`, for the whole lines after a line end.
    """
    field = rf"[^{separator}\n]*+"
    more, rest = f"{separator}{field}" * (layers - 1), f"{separator}{field}" * after + "\n"
    tags = f"(?!O{f'{separator}O' * (layers - 1)}{rest}){field}{more}{rest}"
    line = f"{f'{field}{separator}' * before}{tags}"
    pattern = f"\n({line}(?>(?:{line})*))" if with_tokens else f"{separator}{tags}(?>(?:{line})*)"
    return re.compile(pattern.encode())


class TagCharacters(dict[bytes | tuple[int, bytes], str]):
    """The character of the tags of a line in some layers, as `find_hunks` returns them, with separators between.

    Where positions are characters, the length of the token stands before the tags.
    """

    def __init__(
        self, characters: RowCharacters, separator: str, *, decode: Callable[[str], str] | None
    ) -> None:
        self.characters = characters
        self._separator, self._read = separator.encode(), decode or str

    def __missing__(self, key: bytes | tuple[int, bytes]) -> str:
        length, tags = key if isinstance(key, tuple) else (1, key)
        if tags.startswith(MARK) and not tags.strip(MARK + self._separator):
            self[key] = BEFORE_SENTENCE
            return BEFORE_SENTENCE
        sides = [field.split(BOTH) for field in tags.split(self._separator)]
        row = [self._read(tag[side].decode()) for side in (0, -1) for tag in sides]
        character = self[key] = self.characters[length, *row]
        return character


# Recognisers of regular pieces of one file, which follow what its reader has read so far. Pieces end with one of
# `ends`, the end of a sentence or of a document, and are passed without these ends. They have no carriage returns.

_NO_VRT_SKELETON = bytes(byte for byte in range(256) if byte not in b"\t\n<")


def _between(document_tag: str, sentence_tag: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns for the tags between two sentences, also of two documents, and between two documents without."""
    from clueval.formats.xml_text import NAME  # CoNLL does not need it

    attributes = rb'(?>(?: %s="[^"<>\n\t]*+")*)' % NAME.encode()
    document, sentence = (re.escape(tag.encode()) for tag in (document_tag, sentence_tag))
    documents = rb"/%s>\n<%s%s>\n" % (document, document, attributes)
    sentences = rb"/%s>\n<(?:%s<)?%s%s>\n" % (sentence, documents, sentence, attributes)
    return re.compile(rb"<(?<=\n<)" + sentences), re.compile(rb"<(?<=\n<)" + documents)


class DocumentHead(NamedTuple):
    """The beginning of a document in pieces of a file: the number of the piece, and what it says."""

    piece: int
    id: str | None
    metadata: Mapping[str, str]


class VrtRecogniser:
    """Recognises regular pieces of a VRT file."""

    heads_are_marks = False

    def __init__(self, reader: PassageReader, options: FormatOptions) -> None:
        self.reader = reader
        tags = options.sentence_tag, options.document_tag
        self.ends = tuple(f"</{tag}>\n".encode() for tag in tags)
        self._between = _between(options.document_tag, options.sentence_tag)

    def heads(self, end: bytes, pieces: Sequence[bytes]) -> list[DocumentHead]:
        """The start tags; between sentences, one follows the end tag of the document before."""
        from clueval.formats.xml_text import attributes  # CoNLL does not need it

        before = b"" if end == self.ends[1] else self.ends[1]
        heads = []
        for number in compress(count(), map(bytes.startswith, pieces, repeat(before))):
            line = pieces[number][len(before) : pieces[number].find(b"\n", len(before))]
            tag_attributes = attributes(line.decode(errors="replace"))
            metadata = {**self.reader.state.attributes_around, **tag_attributes}
            heads.append(DocumentHead(number, tag_attributes.get("id"), metadata))
        return heads

    def takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces in which this number of documents begin are allowed here."""
        if self.reader.in_sentence or bool(self.reader.state.sentence):
            return False
        if end == self.ends[0]:
            return self.reader.is_open and (bool(self.reader.state.document) or not documents)
        return not (self.reader.is_open or bool(self.reader.state.document))

    def regular(self, end: bytes, pieces: Sequence[bytes]) -> int | None:
        """The contents of pieces, each from one end to the next; None if they are irregular.

        In regular pieces every line is a token line or an XML tag, and the XML tags are those between two sentences,
        or between two documents without sentences. The skeleton has a tab or a ``<`` and a line end for each line.
        """
        layout = self.reader.layout
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
        between = self._between[self.ends.index(end)].findall(text)
        fits = len(between) == len(pieces) and b"".join(between).count(b"\n") == tags
        return tokens if fits else None

    def token_lines(self, end: bytes, pieces: Sequence[bytes]) -> bytes:
        """The lines of the tokens in regular pieces."""
        return self._between[self.ends.index(end)].sub(b"", b"".join((b"\n", end, end.join(pieces))))[1:]


_DOCSTART = b"-DOCSTART-"
_MARK = rb"-DOCSTART-(?:[\t ][^\n]*)?"


class ConllRecogniser:
    """Recognises regular pieces of a CoNLL-like file."""

    heads_are_marks = True
    ends: tuple[bytes, ...] = (b"\n\n",)

    def __init__(self, reader: PassageReader, options: FormatOptions) -> None:
        self.reader = reader

    def heads(self, end: bytes, pieces: Sequence[bytes]) -> list[DocumentHead]:
        """The ``-DOCSTART-`` lines, which have neither an id nor metadata."""
        return [
            DocumentHead(number, None, {})
            for number, text in enumerate(pieces)
            if text.startswith(_DOCSTART) and re.fullmatch(_MARK, text)
        ]

    def takes(self, end: bytes, documents: int) -> bool:
        """Whether regular pieces are allowed here."""
        return self.reader.is_open and not self.reader.in_sentence

    def regular(self, end: bytes, pieces: Sequence[bytes]) -> int | None:
        """The contents of pieces, without the line ends after them; None if they are irregular.

        In regular pieces every line is a token line.
        """
        layout = self.reader.layout
        text = b"\n".join((b"", *pieces, b""))
        if layout is None or b"\0" in text or not fits(text[1:], layout):
            return None
        if (b" " in text and b"\n " in text) or (b"#" in text and b"\n#" in text):
            return None
        return text.count(b"\n") - 1 if _DOCSTART not in text and is_utf8(text) else None

    def token_lines(self, end: bytes, pieces: Sequence[bytes]) -> bytes:
        """The lines of the tokens in regular pieces."""
        return b"\n".join([*pieces, b""])


Recogniser = VrtRecogniser | ConllRecogniser

REGULAR: dict[str, type[Recogniser]] = {"vrt": VrtRecogniser, "conll": ConllRecogniser}
"""The recogniser of each format that has one, by the name of the format; other formats are read as passages."""
