"""Tags to spans: decodes sequences of tags by scheme and by treatment of ill-formed tags; see `schemes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clueval.exceptions import TagError, UsageError
from clueval.tagging.schemes import (
    INVALID,
    OUTSIDE,
    _fits,
    continues,
    detect_scheme,
    first_illegal,
    ill_formed,
    scheme_called,
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


def count_starts(neighbours: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Return how many spans of each label begin, by the lenient rule; `neighbours` counts (tag, next tag).

    The lenient rule depends on adjacent tags only, so their counts are enough.

    >>> from itertools import pairwise
    >>> count_starts(Counter(pairwise(["O", "B-PER", "I-PER", "O", "I-LOC"])))
    Counter({'PER': 1, 'LOC': 1})
    """
    starts: Counter[str] = Counter()
    for (previous, tag), n in neighbours.items():
        if tag != OUTSIDE and not continues(previous, tag):
            starts[split_tag(tag)[1]] += n
    return starts


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
