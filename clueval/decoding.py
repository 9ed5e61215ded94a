"""From passages to spans: the tags of a file decoded, and documents built of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

from clueval.exceptions import FormatError, TagError, UsageError
from clueval.flat import Flat
from clueval.neighbours import Neighbours, Seams
from clueval.passages import Passage, Table, parsed, unescape
from clueval.spans import Document, Frozen, Sentence, Span
from clueval.tagging import (
    INVALID,
    OUTSIDE,
    Chunk,
    count_illegal,
    decode,
    decode_strictly,
    first_illegal,
    ill_formed,
    scheme_called,
    scheme_of,
    split_tag,
)


class BadTag(Exception):
    """A tag that must be refused: the tag if it is bad anywhere, its index if it is bad where it stands."""

    def __init__(self, problem: str, advice: str | None, *, tag: str | None = None, index: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.advice, self.tag, self.index = problem, advice, tag, index


class Decoder:
    """Decodes the tags of one layer of one file, and counts what is ill-formed in it.

    The tags come as lists in which sentences are separated by an O. A scheme that is not named is recognised from
    all tags of the file when it ends, which is soon enough to count the ill-formed ones. If they are to be
    discarded or refused, it has to be named; without it, all tags are read leniently.
    """

    def __init__(self, scheme: str | None, invalid: str) -> None:
        if invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
            )
        self._scheme = None if scheme is None else scheme_called(scheme)
        self._invalid = invalid
        self._neighbours: Neighbours = Counter()

    @property
    def reads_neighbours(self) -> bool:
        """Whether tags are always read by the lenient rule, which looks at neighbours only."""
        return self._invalid == "conlleval"

    @property
    def neighbours(self) -> Neighbours:
        """How often each two tags stand next to each other in what was taken in; pairs that do not, left out."""
        return +self._neighbours

    def accept(self, tags: Sequence[str], found: Neighbours, times: int = 1) -> None:
        """Take in, so many times, tags whose neighbours are `found`. Raises `BadTag` for one outside the scheme."""
        try:
            for _, tag in found:
                split_tag(tag)
            if self._scheme is not None:
                count_illegal(found, self._scheme)
        except TagError as error:
            raise BadTag(error.problem, error.advice, tag=self._first_outside(tags)) from None
        self._neighbours.update(
            found if times == 1 else {pair: number * times for pair, number in found.items()}
        )

    def include(self, other: Decoder) -> None:
        """Take in what the decoder of another part of the file has taken in."""
        self._neighbours.update(other._neighbours)

    def join(self, pairs: Iterable[tuple[str, str]], times: Iterable[int]) -> None:
        """Take note of tags that stand next to each other, so many times, though each was taken in apart."""
        for (before, tag), number in zip(pairs, times, strict=True):
            self._neighbours[before, tag] += number
            self._neighbours[before, OUTSIDE] -= number
            self._neighbours[OUTSIDE, tag] -= number

    def _first_outside(self, tags: Sequence[str]) -> str | None:
        """The first tag that is none, or is none of the scheme's."""
        for tag in tags:
            try:
                split_tag(tag)
                if self._scheme is not None:
                    count_illegal({(OUTSIDE, tag): 1}, self._scheme)
            except TagError:
                return tag
        return None

    def columns(self, layer: str, tags: Sequence[str], seams: Seams) -> Flat:
        """`chunks` as columns."""
        if self._is_read_leniently(seams.neighbours):
            return seams.chunks(layer)
        chunks = list(self.chunks(tags, seams.neighbours))
        starts, ends, labels = (
            (list(column) for column in zip(*chunks, strict=True)) if chunks else ([], [], [])
        )
        return Flat.of_tags(layer, starts, ends, labels)

    def _is_read_leniently(self, found: Neighbours) -> bool:
        return self.reads_neighbours or self._scheme is None or not count_illegal(found, self._scheme)

    def chunks(self, tags: Sequence[str], found: Neighbours) -> Iterable[Chunk]:
        """The spans of a list of tags whose neighbours are `found`. Raises `BadTag` if they are ill-formed."""
        if self._is_read_leniently(found):
            return decode(tags)
        assert self._scheme is not None
        if self._invalid == "error":
            index = first_illegal(tags, self._scheme)
            assert index is not None
            raise BadTag(ill_formed(tags, index, self._scheme), None, index=index)
        return decode_strictly(tags, self._scheme)

    def scheme(self) -> str | None:
        """The scheme: as it was named, or recognised from the tags so far; None if there is no tag but O."""
        return self._scheme or scheme_of(+self._neighbours)

    def repaired(self, found: Neighbours | None = None) -> int:
        """How many tags are ill-formed (conlleval mends them): of those found, or of the whole file so far."""
        scheme = self.scheme()
        return 0 if scheme is None else count_illegal(+self._neighbours if found is None else found, scheme)


def located(error: BadTag, passage: Passage, layer: str) -> FormatError:
    """The error for a bad tag of a passage, with its line.

    A tag that is bad in itself is looked for; one that is ill-formed where it stands is found by its index in
    the tags of the whole passage, a border after each sentence.
    """
    sentence, row = _place(error, passage, layer)
    return TagError(
        error.problem,
        file=passage.file,
        line=passage.line_of(sentence, row),
        document=passage.document if passage.named else None,
        advice=error.advice or f"layer {layer!r}; --invalid says what becomes of ill-formed tags",
    )


def _place(error: BadTag, passage: Passage, layer: str) -> tuple[int, int]:
    """The sentence and row of a bad tag."""
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


@dataclass(slots=True)
class FileTags:
    """The decoders of a file by layer, and whether they have taken in all of it."""

    decoders: Mapping[str, Decoder]
    ended: bool = False


class Transitions(NamedTuple):
    """Which tags follow each other in a document, by layer, and the file that it is part of."""

    file: FileTags
    neighbours: Mapping[str, Neighbours]


def documents(
    passages: Iterable[Passage],
    decoders: Mapping[str, Decoder],
    sentence_id: Callable[[str], str | None],
) -> Iterator[Document]:
    """The passages of a file as documents. Held in memory: one document.

    `decoders` has the decoder of each layer. A document without tokens has all layers, too, and no spans in them.
    """
    file = FileTags(decoders)
    ordinal = 0

    def number(passage: Passage) -> int:
        nonlocal ordinal
        ordinal += passage.begins
        return ordinal

    for _, parts in groupby(passages, key=number):
        yield _document(list(parts), file, sentence_id)
    file.ended = True


def _document(
    passages: Sequence[Passage],
    file: FileTags,
    sentence_id: Callable[[str], str | None],
) -> Document:
    first = passages[0]
    tokens: list[str] = []
    token_ids: list[str] = []
    tags: dict[str, list[str]] = {}
    layers: dict[str, list[Span]] = {name: [] for name in file.decoders}
    neighbours: dict[str, Neighbours] = {name: Counter() for name in file.decoders}
    sentences: list[Sentence] = []
    lines: list[int] = []
    repaired = 0
    for passage in passages:
        if passage.layout is None:
            continue
        borders = _borders(passage)
        tables = parsed(passage)
        tokens += _without(borders, chain.from_iterable(table.tokens() for table in tables))
        token_ids += _without(borders, chain.from_iterable(table.token_ids() or () for table in tables))
        for layer, _ in passage.layout.layers:
            decoder = file.decoders[layer]
            column = _column(tables, layer)
            try:
                found = Seams(column).neighbours
                decoder.accept(column, found)
                chunks = list(decoder.chunks(column, found))
            except BadTag as error:
                raise located(error, passage, layer) from None
            repaired += decoder.repaired(found)
            neighbours[layer].update(found)
            tags.setdefault(layer, []).extend(_without(borders, column))
            layers[layer].extend(_spans(chunks, layer, passage, borders))
        sentences += _sentences(passage, borders, sentence_id)
        lines += passage.lines()
    if len(set(token_ids)) != len(token_ids):
        raise next(repeated_ids(passages))
    return Document(
        first.document,
        Frozen(layers),
        tokens=tokens,
        start=first.start,
        token_ids=token_ids or None,
        sentences=sentences,
        metadata=first.metadata,
        tags=Frozen(tags),
        repaired=repaired,
        transitions=Transitions(file, neighbours),
        lines=lines,
        file=first.file,
    )


def recognised_schemes(passages: Iterable[Passage], layers: Iterable[str]) -> dict[str, str | None]:
    """The scheme of each layer of a file, recognised from all its tags; None where there is no tag but O.

    Raises `FormatError` and `TagError` for what cannot be read, and `TagError` for tags of two schemes.
    """
    decoders = {layer: Decoder(None, "conlleval") for layer in layers}
    file = None
    for passage in passages:
        file = passage.file
        tables = parsed(passage)
        for layer, decoder in decoders.items() if tables else ():
            column = _column(tables, layer)
            try:
                decoder.accept(column, Seams(column).neighbours)
            except BadTag as error:
                raise located(error, passage, layer) from None
    try:
        return {layer: decoder.scheme() for layer, decoder in decoders.items()}
    except TagError as error:
        error.file = error.file or file
        raise


def _column(tables: Iterable[Table], layer: str) -> list[str]:
    """The tags of a layer, borders included."""
    return list(chain.from_iterable(table.tags()[layer] for table in tables))


def _borders(passage: Passage) -> list[int]:
    """The indices of the borders in the columns of a passage's tables, ascending."""
    borders, index = [], -1
    for sentence in passage.sentences:
        index += sentence.count("\n") + 1
        borders.append(index)
    return borders


def _without(borders: Sequence[int], column: Iterable[str]) -> Iterator[str]:
    values = list(column)
    previous = 0
    for border in borders if values else ():
        yield from values[previous:border]
        previous = border + 1


def _spans(chunks: Iterable[Chunk], layer: str, passage: Passage, borders: Sequence[int]) -> Iterator[Span]:
    """Chunks, counted with borders, as spans in corpus positions."""
    passed = 0
    known: dict[str, Frozen] = {}
    for start, end, label in chunks:
        labels = known.get(label) or known.setdefault(label, Frozen({layer: label}))
        while passed < len(borders) and borders[passed] < start:
            passed += 1
        shift = passage.start - passed
        yield Span(start + shift, end + shift, labels)


def _sentences(
    passage: Passage, borders: Sequence[int], sentence_id: Callable[[str], str | None]
) -> Iterator[Sentence]:
    start = passage.start
    for number, (border, head) in enumerate(zip(borders, passage.heads, strict=True)):
        end = passage.start + border - number
        yield Sentence(start, end, sentence_id(head))
        start = end


def repeated_ids(passages: Iterable[Passage]) -> Iterator[FormatError]:
    """The token ids of a document that occur again, as errors to raise or to list."""
    seen: dict[str, int] = {}
    for passage in passages:
        if passage.layout is None or passage.layout.token_id is None:
            continue
        for (_, _, fields), line in zip(passage.rows(), passage.lines(), strict=True):
            token_id = fields[passage.layout.token_id]
            if seen.setdefault(token_id, line) != line:
                yield FormatError(
                    f"token id {token_id!r} stands in line {seen[token_id]} already",
                    file=passage.file,
                    line=line,
                    document=passage.document if passage.named else None,
                    advice="token ids are unique within a document",
                )
