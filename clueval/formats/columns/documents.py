"""From passages to spans: splits token lines into columns, decodes the tags of a file and builds documents."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, compress, count, groupby, repeat
from operator import add, sub
from sys import intern
from typing import NamedTuple, overload

from clueval.core.span import Frozen, Span
from clueval.files.errors import FormatError, TagError
from clueval.formats.columns.layout import SIZES, Layout, unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.limits import MAX_DOCUMENT, document_too_long
from clueval.spans.document import Document, MissingId, Sentence
from clueval.spans.flat import Flat
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import Neighbours, neighbours_of

_WITHIN_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""


class TokenTable:
    """Many token lines split into columns, with a border line, which has O in every field, between sentences.

    Raises `ValueError` if a line has another number of fields than the layout or an empty token; the caller
    finds the line with `misfits`, which needs the passage.
    """

    __slots__ = ("_flat", "_has_entities", "_layout", "_tokens", "rows")

    def __init__(self, text: str, layout: Layout) -> None:
        separator, width = layout.separator, layout.width
        self._layout = layout
        ends = text.encode(errors="surrogatepass").translate(None, _WITHIN_FIELDS[separator])
        self.rows = len(ends) // width
        if ends != (separator * (width - 1) + "\n").encode() * self.rows:
            raise ValueError
        self._flat = text.replace("\n", separator).split(separator)
        self._has_entities = layout.entities and "&" in text
        self._tokens = self.column(layout.token)
        if "" in self._tokens:
            raise ValueError

    def column(self, number: int) -> list[str]:
        """Return a column including borders; entities are decoded if the format has them."""
        stride = self._layout.width
        column = self._flat[number : self.rows * stride : stride]
        if self._has_entities:
            return [unescape(value) if "&" in value else value for value in column]
        return column

    def tokens(self) -> list[str]:
        return self._tokens

    def token_ids(self) -> list[str] | None:
        return None if self._layout.token_id is None else self.column(self._layout.token_id)

    def tags(self) -> dict[str, list[str]]:
        """Return the tags of each layer."""
        return {name: self.column(number) for name, number in self._layout.layers}


def tables(sentences: Sequence[str], layout: Layout) -> Iterator[TokenTable]:
    """Return the sentences as tables of some thousand lines, with a border after each sentence.

    A longer sentence is split into several tables, without a border between them.
    """
    return (TokenTable(text, layout) for text in _texts(sentences, layout.border))


def _texts(sentences: Sequence[str], border: str) -> Iterator[str]:
    """Yield the lines of sentences, about `SIZES.characters` together."""
    waiting: list[str] = []
    size = 0
    for number, sentence in enumerate(sentences, 1):
        waiting.append(sentence)
        size += len(sentence)
        if size > SIZES.characters or number == len(sentences):
            text, start = border.join([*waiting, ""]), 0
            while start < len(text):
                end = text.find("\n", start + 2 * SIZES.characters) + 1 or len(text)
                yield text[start:end]
                start = end
            waiting, size = [], 0


MANY = 20_000
"""Among more tokens than these, equal tokens and tags are one object, which takes time and saves memory."""


class Columns(NamedTuple):
    """The columns of sentences with borders; no ids if the layout has none."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]
    flags: list[str]

    @classmethod
    def of(cls, sentences: Sequence[str], layout: Layout, *, are_many: bool = False) -> Columns:
        """Split the lines of sentences, some thousand at a time; if tokens are many, equal ones are one object.

        Raises `ValueError` for a line that does not fit.
        """
        columns = cls([], [], {layer: [] for layer, _ in layout.layers}, [])
        for table in tables(sentences, layout):
            tokens = table.tokens()
            columns.tokens.extend(map(intern, tokens) if are_many else tokens)
            columns.token_ids.extend(table.token_ids() or ())
            if layout.misc is not None:
                columns.flags.extend(table.column(layout.misc))
            for layer, tags in table.tags().items():
                columns.tags[layer].extend(map(intern, tags) if are_many else tags)
        return columns


def parsed(passage: Passage) -> list[TokenTable]:
    """Return all sentences of a passage as tables. Raises `FormatError` for the first malformed line."""
    if passage.layout is None:
        return []
    try:
        return list(tables(passage.sentences, passage.layout))
    except ValueError:
        raise next(misfits(passage)) from None


def located(error: BadTag, passage: Passage, layer: str) -> FormatError:
    """Return the error for an invalid tag of a passage, with its line.

    A tag that is invalid anywhere is searched for; a tag that is ill-formed in its position is found by its
    index in the tags of the whole passage, which have a border after each sentence.
    """
    sentence, row = _place(error, passage, layer)
    is_made = passage.layout is not None and passage.layout.made
    return TagError(
        error.problem,
        file=passage.file,
        line=passage.line_of(sentence, row),
        document=passage.document if passage.named or is_made else None,
        advice=f"{error.advice}{'' if is_made else '; layers=... names the column of the tags'}"
        if error.advice
        else f"layer {layer!r}; invalid=... sets the treatment of ill-formed tags",
    )


def _place(error: BadTag, passage: Passage, layer: str) -> tuple[int, int]:
    """Return the sentence and the row of an invalid tag."""
    assert passage.layout is not None
    if error.tag is not None:
        column = dict(passage.layout.layers)[layer]
        for sentence, row, fields in passage.rows():
            if error.tag in (fields[column], unescape(fields[column])):
                return sentence, row
    index = error.index
    for sentence, text in enumerate(passage.sentences):
        rows = text.count("\n")
        if index <= rows:
            return sentence, min(index, rows - 1)
        index -= rows + 1
    raise AssertionError("the tag is not in the passage")


class FileTags:
    """The decoders of a file by layer, whether they have read the whole file, and its layout once it is known."""

    __slots__ = ("decoders", "ended", "layout")

    def __init__(self, decoders: Mapping[str, Decoder]) -> None:
        self.decoders = decoders
        self.ended = False
        self.layout: Layout | None = None


class TokenLineNumbers(Sequence[int]):
    """The line number of each token of a document; lines are counted when one is looked at."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return array("q", chain.from_iterable(passage.lines() for passage in self._passages))

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> list[int]: ...

    def __getitem__(self, place: int | slice) -> int | list[int]:
        return list(self._numbers[place]) if isinstance(place, slice) else self._numbers[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(list(self))


class Transitions(NamedTuple):
    """The pairs of adjacent tags in a document, by layer, and the tags of its file."""

    file: FileTags
    neighbours: Mapping[str, Neighbours]


def documents(
    passages: Iterable[Passage],
    decoders: Mapping[str, Decoder],
    sentence_id: Callable[[str], str | None],
    most: int = MAX_DOCUMENT,
    layers: Iterable[str] | None = None,
) -> Iterator[Document]:
    """Yield the documents of a file, given its passages. Memory holds one document.

    `decoders` has the decoder of each layer with tags; `layers` are the names of all layers, if there are others. A
    document without tokens has all layers, too, without spans. Raises `FormatError` for a document of more than `most`
    tokens, before it is parsed.
    """
    file = FileTags(decoders)
    for parts in by_document(passages, most):
        yield _document(parts, file, sentence_id, decoders if layers is None else layers)
    file.ended = True


def by_document(passages: Iterable[Passage], most: int) -> Iterator[list[Passage]]:
    """Yield the passages of each document. Raises `FormatError` for a document of more than `most` tokens."""
    ordinal = 0

    def number(passage: Passage) -> int:
        nonlocal ordinal
        ordinal += passage.begins
        return ordinal

    for _, parts in groupby(passages, key=number):
        yield list(_at_most(parts, most))


def _at_most(passages: Iterable[Passage], most: int) -> Iterator[Passage]:
    """Yield the passages of a document unchanged. Raises `FormatError` for one of more than `most` tokens."""
    tokens, line = 0, 0
    for passage in passages:
        line = line or next(passage.lines(), 0)
        tokens += passage.tokens
        if tokens > most:
            raise document_too_long(passage.file, line, most)
        yield passage


def _document(
    passages: Sequence[Passage],
    file: FileTags,
    sentence_id: Callable[[str], str | None],
    names: Iterable[str],
) -> Document:
    first = passages[0]
    tokens: list[str] = []
    token_ids: list[str] = []
    tags: dict[str, list[str]] = {}
    flags: list[str] = []
    layers: dict[str, list[Span]] = {name: [] for name in names}
    neighbours: dict[str, Neighbours] = {name: Counter() for name in file.decoders}
    sentences: list[Sentence] = []
    are_many = sum(passage.tokens for passage in passages) > MANY
    repaired = 0
    for passage in passages:
        if passage.layout is None:
            continue
        file.layout = passage.layout
        borders = _borders(passage)
        try:
            columns = Columns.of(passage.sentences, passage.layout, are_many=are_many)
        except ValueError:
            raise next(misfits(passage)) from None
        are_tokens = bytearray(b"\x01") * len(columns.tokens)
        for border in borders:
            are_tokens[border] = 0
        tokens += compress(columns.tokens, are_tokens)
        token_ids += compress(columns.token_ids, are_tokens)
        for layer, column in columns.tags.items():
            decoder = file.decoders[layer]
            try:
                pairs = neighbours_of(column)
                decoder.accept(column, pairs)
                found = decoder.columns(layer, column, pairs)
            except BadTag as error:
                raise located(error, passage, layer) from None
            repaired += decoder.repaired(pairs)
            neighbours[layer].update(pairs)
            tags.setdefault(layer, []).extend(compress(column, are_tokens))
            layers[layer].extend(_spans(found, passage, borders))
        for layer, some in passage.spans.items():
            layers[layer] += some
        of_passage = list(compress(columns.flags, are_tokens))
        flags += of_passage
        if passage.layout.misc is None or passage.layout.made:
            sentences += _sentences(passage, borders, sentence_id)
        else:
            sentences += _flagged_sentences(passage, of_passage)
    for layer in layers.keys() - file.decoders.keys():
        layers[layer].sort(key=lambda span: (span.start, -span.end))
    if len(set(token_ids)) != len(token_ids):
        raise next(repeated_ids(passages))
    return Document(
        first.document if first.named else MissingId(first.document),
        Frozen(layers),
        tokens=tokens,
        text=_joined(tokens, ["" if _has(flag, "NoSpaceAfter") else " " for flag in flags])
        if flags
        else None,
        start=first.start,
        token_ids=token_ids or None,
        sentences=sentences,
        metadata=first.metadata,
        tags=Frozen(tags),
        repaired=repaired,
        transitions=Transitions(file, neighbours),
        lines=TokenLineNumbers(passages),
        file=first.file,
    )


def _has(flags: str, flag: str) -> bool:
    return flag in flags and flag in flags.split("|")


def recognised_schemes(
    passages: Iterable[Passage], layers: Iterable[str], file: str
) -> dict[str, str | None]:
    """Return the scheme of each layer of a file, recognised from all its tags; None if all tags are O.

    Raises `FormatError` and `TagError` for lines and tags that cannot be read, and `TagError` for tags of two
    schemes.
    """
    decoders = {layer: Decoder(None, "conlleval", file) for layer in layers}
    for passage in passages:
        tables = parsed(passage)
        for layer, decoder in decoders.items() if tables else ():
            column = list(chain.from_iterable(table.tags()[layer] for table in tables))
            try:
                decoder.accept(column, neighbours_of(column))
            except BadTag as error:
                raise located(error, passage, layer) from None
    return {layer: decoder.scheme() for layer, decoder in decoders.items()}


def _borders(passage: Passage) -> list[int]:
    """Return the indices of the borders in the columns of a passage's tables, ascending."""
    return [past - 1 for past in accumulate([sentence.count("\n") + 1 for sentence in passage.sentences])]


def _spans(found: Flat, passage: Passage, borders: Sequence[int]) -> Iterator[Span]:
    """Yield spans in corpus positions, given spans whose positions include borders."""
    names, labels = found.keyed_labels()
    shifts = [passage.start - passed for passed in map(bisect_left, repeat(borders), found.starts)]
    return map(
        Span,
        map(add, found.starts, shifts),
        map(add, found.ends, shifts),
        map(labels.__getitem__, names),
    )


def _sentences(
    passage: Passage, borders: Sequence[int], sentence_id: Callable[[str], str | None]
) -> Iterator[Sentence]:
    ends = list(map(sub, borders, count(-passage.start)))
    return map(Sentence, [passage.start, *ends], ends, map(sentence_id, passage.heads))


def _flagged_sentences(passage: Passage, flags: Iterable[str]) -> Iterator[Sentence]:
    """Yield the sentences of a passage in which flags say after which tokens a sentence ends; none without a flag."""
    ends = [passage.start + number for number, flag in enumerate(flags, 1) if _has(flag, "EndOfSentence")]
    if ends and ends[-1] < passage.start + passage.tokens:
        ends.append(passage.start + passage.tokens)
    return (Sentence(start, end) for start, end in zip([passage.start, *ends], ends, strict=False))


def repeated_ids(passages: Iterable[Passage]) -> Iterator[FormatError]:
    """Yield an error for each repeated token id of a document, to raise or to list."""
    seen: dict[str, int] = {}
    for passage in passages:
        if passage.layout is None or passage.layout.token_id is None:
            continue
        for (_, _, fields), line in zip(passage.rows(), passage.lines(), strict=True):
            token_id = fields[passage.layout.token_id]
            if seen.setdefault(token_id, line) != line:
                yield FormatError(
                    f"token id {token_id!r} is already used in line {seen[token_id]}",
                    file=passage.file,
                    line=line,
                    document=passage.document if passage.named else None,
                    advice="token ids are unique within a document",
                )


def _joined(tokens: Sequence[str], spaces: Sequence[str]) -> str | None:
    """Return the text of tokens, given what follows each: a blank or nothing; None if a blank follows all.

    >>> _joined(["Ada", "."], ["", " "])
    'Ada.'
    """
    if "" not in spaces:
        return None
    return "".join(map("".join, zip(tokens, spaces, strict=True))).removesuffix(" ")
