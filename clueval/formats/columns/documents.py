"""From passages to spans: decodes the tags of a file and builds documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, count, groupby, repeat
from operator import add, sub
from typing import NamedTuple, overload

from clueval.exceptions import FormatError, TagError
from clueval.formats.columns.columns import MANY, Columns, parsed
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.limits import MAX_DOCUMENT, document_too_long
from clueval.spans.document import Document, MissingId, Sentence
from clueval.spans.flat import Flat
from clueval.spans.span import Frozen, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import Neighbours, neighbours_of


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

    __slots__ = ("_passages", "_ranges", "_starts")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages: Sequence[Passage] | None = passages
        self._ranges: list[range] = []
        self._starts = [0]  # the number of the first token of each range, and the number of all tokens

    def _counted(self) -> list[range]:
        """The numbers as ranges of consecutive ones."""
        if self._passages is not None:
            self._ranges = [each for passage in self._passages for each in passage.line_ranges() if each]
            self._starts += accumulate(map(len, self._ranges))
            self._passages = None
        return self._ranges

    def __len__(self) -> int:
        self._counted()
        return self._starts[-1]

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> list[int]: ...

    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            return self._between(*place.indices(len(self)))
        self._counted()
        number = place if 0 <= place < self._starts[-1] else range(self._starts[-1])[place]
        of_range = bisect_right(self._starts, number) - 1
        return self._ranges[of_range][number - self._starts[of_range]]

    def _between(self, start: int, stop: int, step: int) -> list[int]:
        """The numbers of a slice; costs no more than these have ranges."""
        if step != 1:
            return [self[place] for place in range(start, stop, step)]
        found: list[int] = []
        of_range = bisect_right(self._starts, start) - 1
        while start < stop:
            first = self._starts[of_range]
            found += self._ranges[of_range][start - first : stop - first]
            of_range += 1
            start = self._starts[of_range]
        return found

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._counted())

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
