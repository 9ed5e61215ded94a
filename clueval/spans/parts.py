"""The parts of a discontinuous span: ranges of positions, in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clueval.exceptions import SpanError

Ranges = tuple[tuple[int, int], ...]
"""Half-open ranges of positions."""


def checked_parts(parts: Sequence[tuple[int, int]], start: int, end: int, line: int | None) -> Ranges | None:
    """Return the parts as tuples, None for a single one. Raises `SpanError` unless they fit ``[start, end)``."""
    ranges = tuple((first, last) for first, last in parts)
    if any(type(place) is not int for part in ranges for place in part):
        raise SpanError(f"positions must be integers, not {ranges!r}", line=line)
    if not ranges or ranges[0][0] != start or ranges[-1][1] != end:
        raise SpanError(
            f"the parts of span [{start},{end}) do not reach from its start to its end", line=line
        )
    if len(ranges) == 1:
        return None
    for first, last in ranges:
        if first >= last:
            raise SpanError(f"the part [{first},{last}) of span [{start},{end}) is empty", line=line)
    for (_, before), (first, last) in pairwise(ranges):
        if first < before:
            raise SpanError(
                f"the part [{first},{last}) of span [{start},{end}) overlaps the part before it", line=line
            )
    return ranges
