"""Tags to spans: decodes sequences of tags by scheme and by treatment of ill-formed tags; see `schemes`.

The decoder of a layer decodes the tags of a file list by list, and counts the pairs of adjacent tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clueval.files.errors import TagError, UsageError
from clueval.spans.flat import Flat
from clueval.tagging.schemes import (
    BOUNDED,
    INVALID,
    OUTSIDE,
    Neighbours,
    _fits,
    continues,
    count_illegal,
    detect_scheme,
    first_illegal,
    ill_formed,
    scheme_called,
    scheme_of,
    split_tag,
)

Chunk = tuple[int, int, str]
"""A decoded span as a tuple, for speed: start, end (half-open), label."""


def decode(tags: Iterable[str]) -> Iterator[Chunk]:
    """Yield the spans of one sequence in the lenient (conlleval) reading, in order.

    >>> list(decode(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]))
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    """
    start = position = 0
    previous = OUTSIDE
    for position, tag in enumerate(tags):
        if tag == OUTSIDE:
            if previous != OUTSIDE:
                yield start, position, split_tag(previous)[1]
        elif previous == OUTSIDE:
            split_tag(tag)
            start = position
        elif not continues(previous, tag):
            yield start, position, split_tag(previous)[1]
            start = position
        previous = tag
    if previous != OUTSIDE:
        yield start, position + 1, split_tag(previous)[1]


def decode_strictly(tags: Sequence[str], scheme: str) -> Iterator[Chunk]:
    """Yield the complete, well-formed spans of one sequence, in order, as in seqeval's strict mode.

    >>> list(decode_strictly(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"], "BIO"))
    [(0, 2, 'PER'), (4, 5, 'LOC')]
    """
    parts = [split_tag(tag) for tag in tags]
    parts.append((OUTSIDE, ""))
    previous = (OUTSIDE, "")
    position = 0
    while position < len(parts):
        if _fits(scheme, "starts", previous, parts[position]):
            start = position
            position += 1
            while position < len(parts) and _fits(scheme, "inside", parts[position - 1], parts[position]):
                position += 1
            if _fits(scheme, "ends", parts[position - 1], parts[position]):
                yield start, position, parts[start][1]
        else:
            position += 1
        previous = parts[position - 1]


def _number_of_starts(neighbours: Mapping[tuple[str, str], int]) -> int:
    return sum(
        n for (previous, tag), n in neighbours.items() if tag != OUTSIDE and not continues(previous, tag)
    )


def decode_tags(tags: Sequence[str], scheme: str | None = None, invalid: str = "conlleval") -> list[Chunk]:
    """Return the spans of one sequence of tags as (start, end, label), half-open, in order.

    If `scheme` is None, it is detected from these tags. `invalid` is the treatment of ill-formed tags. Raises
    `TagError` for a tag outside the scheme and, if `invalid` is ``error``, for the first ill-formed tag;
    `UsageError` for an unknown scheme or treatment.

    >>> decode_tags(["O", "I-PER", "I-PER"], "BIO", invalid="discard")
    []
    """
    if invalid not in INVALID:
        raise UsageError(
            f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
        )
    scheme = detect_scheme(tags) if scheme is None else scheme_called(scheme)
    if scheme is None:
        return []
    wrong = first_illegal(tags, scheme)
    if wrong is None or invalid == "conlleval":
        return list(decode(tags))
    if invalid == "discard":
        return list(decode_strictly(tags, scheme))
    raise TagError(ill_formed(tags, wrong, scheme))


class BadTag(Exception):
    """A tag must be refused: `tag` if it is invalid anywhere, `index` if it is invalid in this position."""

    def __init__(self, problem: str, advice: str | None, *, tag: str | None = None, index: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.advice, self.tag, self.index = problem, advice, tag, index


class Decoder:
    """Decodes the tags of one layer of one file, and counts ill-formed tags.

    The tags come as lists in which an O separates the sentences. If `scheme` is None, the scheme is
    recognised from all tags of the file, and ill-formed tags are counted at the end of the file. To discard
    or refuse ill-formed tags (`invalid` is ``discard`` or ``error``), the scheme must be named; otherwise all
    tags are read leniently. `file` names the file in errors about all its tags.
    """

    def __init__(self, scheme: str | None, invalid: str, file: str | None = None) -> None:
        if invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
            )
        self._scheme = None if scheme is None else scheme_called(scheme)
        self._invalid = invalid
        self._file = file
        self._neighbours: Neighbours = Counter()
        self._known: tuple[str | None] | None = None  # the scheme of the pairs so far
        self._dropped = 0  # spans of the lenient rule that were discarded

    @property
    def reads_neighbours(self) -> bool:
        """Whether no span depends on tags before or after the span of the lenient rule that contains it."""
        return self._invalid == "conlleval" or (self._invalid == "discard" and self._scheme in BOUNDED)

    @property
    def treatment(self) -> tuple[str, str | None]:
        """Which spans the decoder returns: the treatment of ill-formed tags, and the scheme if it depends on it."""
        return self._invalid, None if self._invalid == "conlleval" else self._scheme

    @property
    def named_scheme(self) -> str | None:
        """The scheme that was named; None: it is recognised from the tags."""
        return self._scheme

    @property
    def neighbours(self) -> Neighbours:
        """How often each pair of adjacent tags occurs in the accepted tags, without pairs of count 0."""
        return +self._neighbours

    def accept(self, tags: Sequence[str], found: Neighbours, times: int = 1) -> None:
        """Count `tags` `times` times; `found` are their pairs of adjacent tags.

        Raises `BadTag` for a tag outside the scheme.
        """
        try:
            for _, tag in found:
                split_tag(tag)
            if self._scheme is not None:
                count_illegal(found, self._scheme)
        except TagError as error:
            raise BadTag(error.problem, error.advice, tag=self._first_outside(tags)) from None
        if not found.keys() <= self._neighbours.keys():
            self._known = None
        self._neighbours.update(
            found if times == 1 else {pair: number * times for pair, number in found.items()}
        )

    def include(self, other: Decoder) -> None:
        """Add the counts of `other`, the decoder of another part of the file."""
        self._known = None
        self._neighbours.update(other._neighbours)
        self._dropped += other._dropped

    def _first_outside(self, tags: Sequence[str]) -> str | None:
        """Return the first text that is not a tag, or not a tag of the scheme."""
        for tag in tags:
            try:
                split_tag(tag)
                if self._scheme is not None:
                    count_illegal({(OUTSIDE, tag): 1}, self._scheme)
            except TagError:
                return tag
        return None

    def columns(self, layer: str, tags: Sequence[str], pairs: Neighbours, times: int = 1) -> Flat:
        """Return what `chunks` does, as a flat sequence of spans of `layer`. Raises `BadTag`."""
        found = list(self.chunks(tags, pairs, times))
        starts, ends, labels = map(list, zip(*found, strict=True)) if found else ([], [], [])
        return Flat.of_tags(layer, starts, ends, labels)

    def chunks(self, tags: Sequence[str], found: Neighbours, times: int = 1) -> Iterable[Chunk]:
        """Return the spans of `tags`, which occur `times` times and whose pairs of adjacent tags are `found`.

        Raises `BadTag` for ill-formed tags if `invalid` is ``error``.
        """
        if self._invalid == "conlleval" or self._scheme is None or not count_illegal(found, self._scheme):
            return decode(tags)
        if self._invalid == "error":
            index = first_illegal(tags, self._scheme)
            assert index is not None
            raise BadTag(ill_formed(tags, index, self._scheme), None, index=index)
        spans = list(decode_strictly(tags, self._scheme))
        self._dropped += (_number_of_starts(found) - len(spans)) * times
        return spans

    def scheme(self) -> str | None:
        """Return the named scheme, or the scheme recognised from the tags so far; None if all tags are O.

        Raises `TagError` for tags of two schemes.
        """
        if self._known is None:
            try:
                self._known = (self._scheme or scheme_of(self._neighbours),)
            except TagError as error:
                error.file = self._file
                raise
        return self._known[0]

    def spans(self) -> int:
        """How many spans have been decoded so far."""
        return _number_of_starts(self._neighbours) - self._dropped

    def repaired(self, found: Neighbours | None = None) -> int:
        """Return the number of ill-formed tags, which conlleval repairs, in `found` or in the file so far."""
        scheme = self.scheme()
        return 0 if scheme is None else count_illegal(self._neighbours if found is None else found, scheme)
