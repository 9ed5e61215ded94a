"""Pairs of adjacent tags: how often each occurs, and where spans begin and end.

In the lenient reading, a tag and the tag before it determine whether a span ends between them and whether one
begins. So each distinct pair of adjacent tags is examined once, and the result is looked up for each
position, which is several times faster than examining every tag.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import compress, count, pairwise
from typing import Any, TypeVar

from clueval.spans.flat import Flat
from clueval.tagging.schemes import OUTSIDE, continues, split_tag

Name = TypeVar("Name", bound=Hashable)

Neighbours = Counter[tuple[str, str]]
"""How often a tag (second) follows a tag (first); the ends of sentences are O."""

FEW = 16
"""Numbers below this have at most four bits, so a pair of them fits in a byte."""


SHORT = 64
"""In lists of fewer tags, pairs are counted one by one, which takes less time for a few of them."""


def flat(sentences: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all sentences in one list, with an O after each sentence."""
    tags: list[Any] = []
    extend, append = tags.extend, tags.append
    for sentence in sentences:
        extend(sentence)
        append(OUTSIDE)
    return tags


class Numbers(dict[Name, int]):
    """Numbers names from 0, in the order in which they are first looked up.

    >>> numbers = Numbers({"O": 0})
    >>> numbers["B-PER"], numbers["O"], numbers["B-PER"]
    (1, 0, 1)
    """

    def __missing__(self, name: Name) -> int:
        self[name] = number = len(self)
        return number


class Pairs:
    """The pairs of adjacent numbers in a list of numbers below `bound`.

    >>> pairs = Pairs([0, 1, 0, 1], bound=2)
    >>> sorted(pairs.count().items())
    [((0, 1), 2), ((1, 0), 1)]
    >>> list(pairs.each(lambda before, here: before))
    [0, 1, 0]
    """

    __slots__ = ("_bytes", "_different", "_numbers")

    def __init__(self, numbers: Sequence[int], bound: int) -> None:
        self._numbers = numbers
        self._bytes: bytes | None = None
        self._different: set[int] = set()
        if bound <= FEW:
            text = bytes(numbers)
            before, here = int.from_bytes(text[:-1]), int.from_bytes(text[1:])
            self._bytes = (before << 4 | here).to_bytes(max(len(text) - 1, 0))  # all pairs at once
            self._different = set(self._bytes)

    def count(self) -> Mapping[tuple[int, int], int]:
        """Return how often each pair occurs."""
        if self._bytes is None:
            return Counter(pairwise(self._numbers))
        return {divmod(pair, FEW): self._bytes.count(pair) for pair in self._different}

    def each(self, of: Callable[[int, int], int]) -> bytes:
        """Return the result of `of`, a number below 256, for each pair in order."""
        if self._bytes is None:
            return bytes(map(_Answers(of).__getitem__, pairwise(self._numbers)))
        table = bytearray(256)
        for pair in self._different:
            table[pair] = of(*divmod(pair, FEW))
        return self._bytes.translate(table)


class _Answers(dict[tuple[int, int], int]):
    """The results of a function of two numbers, which is called once for each distinct pair."""

    def __init__(self, of: Callable[[int, int], int]) -> None:
        self._of = of

    def __missing__(self, pair: tuple[int, int]) -> int:
        self[pair] = answer = self._of(*pair)
        return answer


class Seams:
    """The pairs of adjacent tags in a list; an O is assumed before the first tag and after the last.

    >>> seams = Seams(["B-PER", "I-PER", "O", "I-LOC"])
    >>> seams.neighbours["O", "I-LOC"]
    1
    """

    __slots__ = ("_numbered", "_tags", "neighbours")

    def __init__(self, tags: Sequence[str]) -> None:
        self._tags = tags
        self._numbered: tuple[list[str], Pairs] | None = None
        self.neighbours: Neighbours
        if len(tags) < SHORT:
            self.neighbours = Counter(pairwise((OUTSIDE, *tags, OUTSIDE)))
            return
        names, pairs = self._numbers()
        self.neighbours = Counter(
            {(names[before], names[here]): n for (before, here), n in pairs.count().items()}
        )

    def _numbers(self) -> tuple[list[str], Pairs]:
        """Return the different tags, and the pairs of their numbers in this list."""
        if self._numbered is None:
            numbers = Numbers({OUTSIDE: 0})
            numbered = [0, *map(numbers.__getitem__, self._tags), 0]
            self._numbered = list(numbers), Pairs(numbered, len(numbers))
        return self._numbered

    def chunks(self, layer: str) -> Flat:
        """Return the spans in the lenient reading, as `clueval.tagging.decoder.decode` does.

        >>> Seams(["B-PER", "I-PER", "O", "I-LOC"]).chunks("entity").ends
        [2, 4]
        """
        names, pairs = self._numbers()
        marks = pairs.each(lambda before, here: _between(names[before], names[here]))
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
    """Return whether a span ends between two adjacent tags, another begins, both or neither."""
    if before == OUTSIDE:
        return _NOTHING if tag == OUTSIDE else _BEGINS
    if tag == OUTSIDE:
        return _ENDS
    return _NOTHING if continues(before, tag) else _BOTH
