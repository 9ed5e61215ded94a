"""The tokens of a text in ranges that may lie in each other, without a look at each token of each range."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from clueval.metrics.masking.weights import Range


class TextTokens:
    """The tokens of a text: the runs of characters that match a pattern such as ``\\w+``."""

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        places = [match.span() for match in pattern.finditer(text)]
        self._starts = [start for start, _ in places]
        self._ends = [end for _, end in places]

    def within(self, ranges: Iterable[Range]) -> Iterator[tuple[Range, int]]:
        """Yield the tokens in the ranges, or the parts of tokens, and in how many of the ranges each is."""
        changes: Counter[int] = Counter()
        parts: Counter[Range] = Counter()
        for start, end in ranges:
            first, past = bisect_right(self._ends, start), bisect_left(self._starts, end)
            if start >= end or first >= past:
                continue
            whole = range(first + (self._starts[first] < start), past - (self._ends[past - 1] > end))
            for token in {first, past - 1}.difference(whole[:1], whole[-1:]):
                parts[max(start, self._starts[token]), min(end, self._ends[token])] += 1
            if whole:
                changes[whole.start] += 1
                changes[whole.stop] -= 1
        yield from parts.items()
        number = 0
        for first, past in pairwise(sorted(changes)):
            number += changes[first]
            for token in range(first, past) if number else ():
                yield (self._starts[token], self._ends[token]), number
