"""The decoder of a layer: decodes the tags of a file column by column, and counts what it meets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from clueval.exceptions import TagError, UsageError
from clueval.spans.flat import Flat
from clueval.tagging.decoding import Chunk, count_starts, decode, decode_strictly
from clueval.tagging.schemes import (
    INVALID,
    OUTSIDE,
    count_illegal,
    first_illegal,
    ill_formed,
    scheme_called,
    scheme_of,
    split_tag,
)
from clueval.tagging.transitions import Neighbours, Seams


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
        self._dropped = 0  # spans of the lenient rule that were discarded

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
        self._dropped += other._dropped

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
        spans = list(decode_strictly(tags, self._scheme))
        self._dropped += count_starts(found).total() - len(spans)
        return spans

    def scheme(self) -> str | None:
        """The scheme: as it was named, or recognised from the tags so far; None if there is no tag but O."""
        return self._scheme or scheme_of(+self._neighbours)

    def spans(self) -> int:
        """How many spans have been decoded so far."""
        return count_starts(self.neighbours).total() - self._dropped

    def repaired(self, found: Neighbours | None = None) -> int:
        """How many tags are ill-formed (conlleval mends them): of those found, or of the whole file so far."""
        scheme = self.scheme()
        return 0 if scheme is None else count_illegal(+self._neighbours if found is None else found, scheme)
