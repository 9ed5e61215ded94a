"""Rows of any number of parallel column files as text: sentences that are equal on all sides are split once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from itertools import accumulate, chain, compress, zip_longest
from operator import methodcaller, ne, not_, or_
from typing import NamedTuple

from clueval.core.tags import OUTSIDE
from clueval.formats.column_format import Layout
from clueval.reading.clusters import Unusual
from clueval.reading.passages import MANY, Passage, PassageReader, SentenceColumns, columns_of

Passages = Sequence[Passage]
"""The passage of each side."""


class PassageRows(NamedTuple):
    """A passage of each side, and where its rows are in `Rows.columns` and in `Rows.same`, with a row of O each."""

    passages: Passages
    differing: slice
    same: slice

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each sentence."""
        return list(map(LINES, self.passages[0].sentences))


class Rows(NamedTuple):
    """The rows of some passages, with a row of O after each sentence.

    Attributes:
        parts: the passages.
        columns: the columns of each side in the sentences whose lines differ; none if there are no such sentences.
        same: the columns of the other sentences, whose lines are the same on all sides; none if there are none.
    """

    parts: Sequence[PassageRows]
    columns: Sequence[SentenceColumns]
    same: Sequence[SentenceColumns]


LINES = methodcaller("count", "\n")


def passages_in_step(readers: Sequence[PassageReader]) -> Iterator[Passages]:
    """Yield the passages of all sides. Raises `Unusual` if one side has more."""
    for passages in zip_longest(*(reader.passages() for reader in readers)):
        if None in passages:
            raise Unusual("one side ends early")
        yield passages


def require_parallel(passages: Passages) -> None:
    """Raise `Unusual` for passages of different documents, and for different numbers of sentences."""
    first, *others = passages
    names = {each.document for each in passages if each.named}
    if len(names) > 1 or any(each.begins != first.begins for each in others):
        raise Unusual("different documents")
    if any(len(each.sentences) != len(first.sentences) for each in others):
        raise Unusual("different numbers of sentences")


class RowSplitter:
    """Splits parallel passages into rows, as many passages together as are given.

    If rows must stay `in_order`, all sentences are treated as if they differed. Raises `Unusual` for lines that do not
    fit, for different texts, and for token ids that occur again in a document.
    """

    def __init__(self, readers: Sequence[PassageReader], *, in_order: bool) -> None:
        self._in_order = in_order
        self._readers = readers
        self._ids = [_DocumentIds() for _ in readers]

    def split(self, groups: Sequence[Passages]) -> Rows:
        """Return the rows of parallel passages; those with token ids come alone."""
        differ = [[True] * len(each[0].sentences) if self._in_order else _differing(each) for each in groups]
        sentences = [_chosen(side, differ) for side in zip(*groups, strict=True)]
        equal = _chosen([passages[0] for passages in groups], [map(not_, each) for each in differ])
        lengths = list(map(LINES, sentences[0]))
        if any(list(map(LINES, other)) != lengths for other in sentences[1:]):
            raise Unusual("sentences of different lengths")
        layouts = [
            next((each.layout for each in side if each.layout), None) for side in zip(*groups, strict=True)
        ]
        columns = [
            _columns(each, layout, reader)
            for each, layout, reader in zip(sentences, layouts, self._readers, strict=True)
            if each
        ]
        same = [_columns(equal, layouts[0], self._readers[0])] if equal else []
        if any(each.tokens != columns[0].tokens for each in columns[1:]):
            raise Unusual("different tokens")
        self._require_ids(groups[-1], columns, same)
        return Rows(list(_parts(groups, differ, lengths, list(map(LINES, equal)))), columns, same)

    def _require_ids(
        self, passages: Passages, columns: Sequence[SentenceColumns], same: Sequence[SentenceColumns]
    ) -> None:
        """Raise `Unusual` for different token ids, and for those that occur again in their document."""
        ids = [each.token_ids for each in columns if each.token_ids]
        if any(each != ids[0] for each in ids[1:]):
            raise Unusual("different token ids")
        for number, (known, passage) in enumerate(zip(self._ids, passages, strict=True)):
            of_same = same[0].token_ids if same else []
            of_side = columns[number].token_ids if columns else []
            known.see(passage, of_same + of_side)


class _DocumentIds:
    """The token ids of the current document of a file."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._has_outside = False

    def see(self, passage: Passage, ids: Sequence[str]) -> None:
        """Add the ids of a passage, in which the id of a border is O. Raises `Unusual` for one that has occurred."""
        if passage.begins:
            self._seen.clear()
            self._has_outside = False
        if not ids:
            return
        known = len(self._seen)
        self._seen.update(ids)
        self._seen.discard(OUTSIDE)
        if ids.count(OUTSIDE) > len(passage.sentences):  # the id of a token is O, too
            known -= not self._has_outside
            self._has_outside = True
        if len(self._seen) - known != passage.tokens:
            raise Unusual("a token id occurs again")


def have_ids(passages: Passages) -> bool:
    """Return whether passages have token ids, which are split alone."""
    return any(each.layout is not None and each.layout.token_id is not None for each in passages)


def _differing(passages: Passages) -> list[bool]:
    """Return for each sentence whether its lines are different on some sides."""
    first, *others = passages
    if any(each.layout != first.layout for each in others):
        return [True] * len(first.sentences)
    if all(each.sentences == first.sentences for each in others):
        return [False] * len(first.sentences)
    return list(reduce(partial(map, or_), (map(ne, first.sentences, each.sentences) for each in others)))


def _chosen(passages: Iterable[Passage], chosen: Iterable[Iterable[bool]]) -> list[str]:
    """Return the sentences of passages for which there is True."""
    pairs = zip(passages, chosen, strict=True)
    return list(chain.from_iterable(compress(passage.sentences, of_passage) for passage, of_passage in pairs))


def _columns(sentences: Sequence[str], layout: Layout | None, reader: PassageReader) -> SentenceColumns:
    """Return the columns of sentences, with an O for each border. Raises `Unusual` for a line that does not fit."""
    assert layout is not None  # a file with a sentence has one
    try:
        return columns_of(sentences, layout, reader.values, are_many=sum(map(LINES, sentences)) > MANY)
    except ValueError as error:  # a line does not fit
        raise Unusual("a line does not fit") from error


def _parts(
    groups: Sequence[Passages], differ: Sequence[Sequence[bool]], differing: list[int], same: list[int]
) -> Iterator[PassageRows]:
    """Yield the parts; `differing` and `same` have the numbers of rows of the sentences, without those of O."""
    ends = [list(accumulate([size + 1 for size in sizes], initial=0)) for sizes in (differing, same)]
    done = [0, 0]
    for passages, found in zip(groups, differ, strict=True):
        number = sum(found)
        past = [done[0] + number, done[1] + len(found) - number]
        slices = [slice(of[a], of[b]) for of, a, b in zip(ends, done, past, strict=True)]
        yield PassageRows(passages, *slices)
        done = past
