"""Sets of tokens as *runs*, whose number does not depend on the length of a span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise

Runs = list[tuple[int, int]]
"""A set of positions as sorted, disjoint half-open ranges."""

_FAR = 1 << 62


def runs_of(tokens: frozenset[int]) -> Runs:
    """Return the runs of a token set.

    >>> runs_of(frozenset({1, 2, 5}))
    [(1, 3), (5, 6)]
    """
    runs: Runs = []
    for token in sorted(tokens):
        if runs and runs[-1][1] == token:
            runs[-1] = (runs[-1][0], token + 1)
        else:
            runs.append((token, token + 1))
    return runs


def subtract(runs: Runs, gone: Runs) -> None:
    """Remove positions in place; each run of `gone` must lie inside one of `runs`.

    >>> runs = [(0, 9)]
    >>> subtract(runs, [(2, 4), (8, 9)])
    >>> runs
    [(0, 2), (4, 8)]
    """
    for start, end in gone:
        i = bisect_left(runs, (start, _FAR)) - 1
        first, last = runs[i]
        runs[i : i + 1] = [piece for piece in ((first, start), (end, last)) if piece[0] < piece[1]]


def longest_hole(runs: Runs) -> tuple[int, int]:
    """Return the longest stretch between two runs, or an empty one if there is only one run.

    >>> longest_hole([(0, 2), (3, 4), (8, 9)]), longest_hole([(0, 2)])
    ((4, 8), (2, 2))
    """
    holes = [(end, start) for (_, end), (start, _) in pairwise(runs)]
    return max(holes, key=lambda hole: hole[1] - hole[0], default=(runs[0][1], runs[0][1]))


def size_of(runs: Iterable[tuple[int, int]]) -> int:
    """Return the number of positions.

    >>> size_of([(0, 2), (4, 8)])
    6
    """
    return sum([end - start for start, end in runs])
