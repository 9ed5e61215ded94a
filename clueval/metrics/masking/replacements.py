"""Replacements: what stands in the place of protected mentions, and whether each entity has one of its own.

The replacement of a mention is the placeholder of the predicted span that covers most of its characters (the
earliest of equals), or the label of that span where the predicted side has spans and no placeholders.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import itemgetter

from clueval.metrics.masking.exposure import Examination, Judged, Mask
from clueval.metrics.masking.mention import Mention
from clueval.metrics.masking.weights import Range, Ranges
from clueval.spans.limits import require_few_pairs
from clueval.spans.ranges import intersect


class Masks:
    """The masks of a document by position; `length` is the number of characters of a range of positions."""

    def __init__(self, masks: Sequence[Mask], length: Callable[[int, int], int]) -> None:
        self._length = length
        self._masks = sorted(masks, key=itemgetter(0, 1))  # by positions and label
        self._places = [(mask.ranges[0][0], mask.ranges[-1][1]) for mask in self._masks]
        self._have_gaps = any(len(mask.ranges) > 1 for mask in self._masks)
        self._mentions = self._compared = 0
        self.alone: dict[Ranges, Mask] = {}
        """If none overlaps another, a mask on the very positions of a mention is the only one."""
        if all(end <= start for (_, end), (start, _) in pairwise(self._places)):
            self.alone = {mask.ranges: mask for mask in masks if mask.ranges[0][0] < mask.ranges[-1][1]}

    def on(self, mention: Mention) -> Mask | None:
        """Return the mask with most characters of a mention, the earliest of equals, in O(log n) without gaps.

        With gaps, the masks around the mention are compared one by one; too many of them raise `LimitError`.
        """
        if not self._have_gaps and len(mention.ranges) == 1:
            place = self._largest.of(*mention.ranges[0])
            return None if place is None else self._masks[bisect_left(self._places, place)]
        self._mentions += 1
        best, most = None, 0
        for mask in self._touching(mention.start, mention.end):
            self._compared += 1
            require_few_pairs(self._compared, self._mentions + len(self._masks))
            shared = sum([self._length(*one) for one in intersect(mask.ranges, mention.ranges)])
            if shared > most:
                best, most = mask, shared
            if (mask.ranges[0][0], mask.ranges[-1][1]) == (mention.start, mention.end):
                break
        return best

    @cached_property
    def _largest(self) -> LargestShares:
        return LargestShares(self._places, self._length)

    @cached_property
    def _reach(self) -> list[int]:
        return list(accumulate((end for _, end in self._places), max))

    def _touching(self, start: int, end: int) -> Iterator[Mask]:
        """Yield the masks that may share a character with ``[start, end)``, by position."""
        for number in range(bisect_right(self._reach, start), len(self._masks)):
            if self._places[number][0] >= end:
                return
            yield self._masks[number]


def _label(mask: Mask, mention: Mention) -> str:
    """Return what stands for a mention in a mask: the parts of it that share a character, if there are several."""
    parts = [label for start, end, label in mask.parts if intersect(((start, end),), mention.ranges)]
    return " ".join(parts) or mask.label


def replacements_of(examination: Examination) -> Iterator[tuple[str, Judged, str]]:
    """Yield every protected mention that is counted, with its annotator and its replacement."""
    masks = Masks(examination.masks, examination.text.length)
    for name, found in examination.judged.items():
        for one in found:
            if one.exposed or not one.mention.counted:
                continue
            mask = masks.alone.get(one.mention.ranges) or masks.on(one.mention)
            if mask is not None:
                yield name, one, _label(mask, one.mention) if mask.parts else mask.label


def consistency_of(examination: Examination) -> Mapping[str, int]:
    """Return the numbers of entities with several protected mentions, of those with several replacements among
    them, and of replacements that several entities share."""
    rows: dict[str, list[tuple[int, str]]] = {name: [] for name in examination.judged}
    for name, one, replacement in replacements_of(examination):
        rows[name].append((one.mention.entity, replacement))
    found: Counter[str] = Counter()
    for pairs in rows.values():
        different = {*pairs}
        for field, values in (
            ("entities", [entity for entity, _ in pairs]),
            ("several", [entity for entity, _ in different]),
            ("shared", [replacement for _, replacement in different]),
        ):
            found[field] += sum([number > 1 for number in Counter(values).values()])
    return found


class LargestShares:
    """Ranges, sorted by start and end, to find the one that shares most characters with a given range in O(log n).

    A range that lies in another one never shares more than that one does. Without such ranges, starts and ends both
    ascend, so that the ranges that share characters with a given one stand side by side: first those that begin before
    it, then those that lie in it, of which the longest is looked up, then those that end after it. `length` is the
    number of characters of a range.
    """

    def __init__(self, ranges: Sequence[Range], length: Callable[[int, int], int]) -> None:
        self._length = length
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in ranges:
            if self._starts and self._starts[-1] == start:
                self._starts.pop()
                self._ends.pop()
            if not self._ends or end > self._ends[-1]:
                self._starts.append(start)
                self._ends.append(end)

    @cached_property
    def _longest(self) -> _Longest:
        return _Longest(list(map(self._length, self._starts, self._ends)))

    def of(self, start: int, end: int) -> Range | None:
        """Return the first of the ranges that share most with ``[start, end)``, as the lowest start and end possible.

        The range itself is the first one from there on. None if no range shares a character.
        """
        best, most = 0, 0
        for number in self._candidates(start, end):
            first, past = max(start, self._starts[number]), min(end, self._ends[number])
            shared = self._length(first, past) if first < past else 0
            if shared > most:
                best, most = number, shared
        if not most:
            return None
        return self._starts[best], min(end, self._ends[best])

    def _candidates(self, start: int, end: int) -> Iterator[int]:
        """Yield, by position, the ranges among which the one with the largest share is."""
        inside = bisect_right(self._starts, start)
        beyond = max(inside, bisect_right(self._ends, end))
        if inside:  # of those that hold the whole, the first; else the one that reaches farthest
            yield min(bisect_left(self._ends, end), inside - 1)
        if inside < beyond:
            yield self._longest.between(inside, beyond)
        if beyond < len(self._starts):
            yield beyond


class _Longest:
    """Finds the first of the largest among adjacent numbers; row k has it for every 2**k of them."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = lengths
        self._rows = [list(range(len(lengths)))]

    def between(self, first: int, past: int) -> int:
        """Return the place of the largest number in a range that is not empty."""
        row = (past - first).bit_length() - 1
        while len(self._rows) <= row:
            last, half = self._rows[-1], 1 << (len(self._rows) - 1)
            self._rows.append([self._larger(*pair) for pair in zip(last, last[half:], strict=False)])
        return self._larger(self._rows[row][first], self._rows[row][past - (1 << row)])

    def _larger(self, one: int, other: int) -> int:
        return other if self._lengths[other] > self._lengths[one] else one
