"""Neighbouring tags: which tag follows which, how often, and what happens where.

In the lenient reading a tag and the one before it say whether a span ends between them and whether one begins. So a
list of tags is looked at as its pairs of neighbours: each pair is asked about once, and the answers are read off
place by place, several times faster than going from tag to tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import compress, count, pairwise
from typing import TypeVar

from clueval.spans.flat import Flat
from clueval.tagging.schemes import OUTSIDE, continues, split_tag

Name = TypeVar("Name", bound=Hashable)

Neighbours = Counter[tuple[str, str]]
"""How often a tag (second) follows a tag (first); the ends of sentences are O."""

FEW = 16
"""Numbers below this have four bits, and a pair of them fits in a byte."""


class Numbers(dict[Name, int]):
    """Gives each name that it is asked for a number, in the order in which they come.

    >>> numbers = Numbers({"O": 0})
    >>> numbers["B-PER"], numbers["O"], numbers["B-PER"]
    (1, 0, 1)
    """

    def __missing__(self, name: Name) -> int:
        self[name] = number = len(self)
        return number


class Pairs:
    """The pairs of neighbours in a list of numbers below `bound`: how often each occurs, and what holds of them.

    >>> pairs = Pairs([0, 1, 0, 1], bound=2)
    >>> sorted(pairs.count().items())
    [((0, 1), 2), ((1, 0), 1)]
    >>> list(pairs.each(lambda before, here: before))
    [0, 1, 0]
    """

    __slots__ = ("_bytes", "_numbers")

    def __init__(self, numbers: Sequence[int], bound: int) -> None:
        self._numbers = numbers
        self._bytes: bytes | None = None
        if bound <= FEW:
            text = bytes(numbers)
            before, here = int.from_bytes(text[:-1]), int.from_bytes(text[1:])
            self._bytes = (before << 4 | here).to_bytes(max(len(text) - 1, 0))  # all pairs at once

    def count(self) -> Mapping[tuple[int, int], int]:
        """How often each pair occurs."""
        if self._bytes is None:
            return Counter(pairwise(self._numbers))
        return {divmod(pair, FEW): self._bytes.count(pair) for pair in set(self._bytes)}

    def each(self, of: Callable[[int, int], int]) -> bytes:
        """What a function of two neighbours gives, a number below 256, for one pair after the other."""
        if self._bytes is None:
            return bytes(map(_Answers(of).__getitem__, pairwise(self._numbers)))
        table = bytearray(256)
        for pair in set(self._bytes):
            table[pair] = of(*divmod(pair, FEW))
        return self._bytes.translate(table)


class _Answers(dict[tuple[int, int], int]):
    """What a function gives, asked once for each pair."""

    def __init__(self, of: Callable[[int, int], int]) -> None:
        self._of = of

    def __missing__(self, pair: tuple[int, int]) -> int:
        self[pair] = answer = self._of(*pair)
        return answer


class Seams:
    """The places between the tags of a list; those before the first and after the last, too, where O is beyond.

    >>> seams = Seams(["B-PER", "I-PER", "O", "I-LOC"])
    >>> seams.neighbours["O", "I-LOC"]
    1
    """

    __slots__ = ("_names", "_pairs", "_tags", "neighbours")

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = tags
        numbers = Numbers({OUTSIDE: 0})
        numbered = [0, *map(numbers.__getitem__, tags), 0]
        self._names = list(numbers)
        self._pairs = Pairs(numbered, len(numbers))
        self.neighbours: Neighbours = Counter(
            {(self._names[before], self._names[here]): n for (before, here), n in self._pairs.count().items()}
        )

    def chunks(self, layer: str) -> Flat:
        """The spans in the lenient reading: those of `clueval.tagging.decoding.decode`.

        >>> Seams(["B-PER", "I-PER", "O", "I-LOC"]).chunks("entity").ends
        [2, 4]
        """
        names = self._names
        marks = self._pairs.each(lambda before, here: _between(names[before], names[here]))
        starts = list(compress(count(), marks.translate(_WHERE_ONE_BEGINS)))
        labels = {tag: split_tag(tag)[1] for tag in names}
        return Flat.of_tags(
            layer,
            starts,
            list(compress(count(), marks.translate(_WHERE_ONE_ENDS))),
            [labels[tag] for tag in map(self._tags.__getitem__, starts)],
        )


_NOTHING, _BEGINS, _ENDS, _BOTH = range(4)
_WHERE_ONE_BEGINS = bytes((0, 1, 0, 1)).ljust(256, b"\0")
_WHERE_ONE_ENDS = bytes((0, 0, 1, 1)).ljust(256, b"\0")


def _between(before: str, tag: str) -> int:
    """What happens between two neighbouring tags: does one span end there, does another begin?"""
    if before == OUTSIDE:
        return _NOTHING if tag == OUTSIDE else _BEGINS
    if tag == OUTSIDE:
        return _ENDS
    return _NOTHING if continues(before, tag) else _BOTH
