"""Patterns of tags: what stands between two places that no span crosses, and how often it does.

Spans of different patterns do not overlap, so whatever a metric counts in a text is the sum over its
patterns, each as often as it occurs; and even a large corpus has few different ones. Patterns that stand the
same on both sides are kept once, those that differ in pairs. To be compared they are put one after the other
again: once all those that occur an odd number of times, then those in whose number of times there is a 2, a 4,
and so on::

    B-PER I-PER    3 times          once:   B-PER I-PER O B-LOC
    B-LOC          1 time           twice:  B-PER I-PER
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from clueval.agreement import SIDES, Columns, Tags
from clueval.passages import Layout, unescape
from clueval.tagging import OUTSIDE

BORDER = b"\0"
"""The tag, in every layer, of the line after a pattern; no file has it."""

MANY = 1 << 15
LARGE = 1 << 24
"""So many different patterns, or so many bytes, are enough to be counted: memory must not grow."""


@dataclass(slots=True)
class _Counted:
    """The patterns of some layers, each as the lines of its tags, one line for each position, as in the file."""

    layers: tuple[str, ...]
    same: Counter[bytes] = field(default_factory=Counter)
    disputed: Counter[tuple[bytes, bytes]] = field(default_factory=Counter)


Touching = tuple[bytes, bytes, bytes, bytes]
"""The tags of two lines between which two patterns part though spans touch: of gold before and here, of predicted."""


class Patterns:
    """How often each pattern occurs, layer by layer, or in all layers together if they are to be merged."""

    def __init__(self, layout: Layout, merge: bool) -> None:
        self._layout = layout
        names = tuple(name for name, _ in layout.layers)
        self._names = names
        self._touching: Counter[Touching] = Counter()
        self._bytes = 0  # at most, of all patterns
        self._counted = [_Counted(names)] if merge else [_Counted((name,)) for name in names]

    @property
    def are_many(self) -> bool:
        """Whether there are so many that it is time to count them."""
        sizes = (len(counted.same) + len(counted.disputed) for counted in self._counted)
        return self._bytes > LARGE or len(self._touching) + max(sizes) > MANY

    def add_same(self, text: bytes) -> None:
        """Take in token lines that are the same on both sides, and after each pattern a line of `BORDER`."""
        self._bytes += len(text)
        for counted, patterns in zip(self._counted, self._patterns(text), strict=True):
            counted.same.update(patterns)

    def add_disputed(self, gold: bytes, predicted: bytes) -> None:
        """Take in parallel token lines, and after each pattern a line of `BORDER`."""
        self._bytes += len(gold) + len(predicted)
        sides = self._patterns(gold), self._patterns(predicted)
        for counted, own, other in zip(self._counted, *sides, strict=True):
            counted.disputed.update(zip(own, other, strict=True))

    def add_pairs(self, gold: bytes, predicted: bytes) -> None:
        """Take in the parallel tags of one layer, a line each, with a line of `BORDER` between patterns.

        Patterns that are outside on both sides, or one line of `BORDER`, are passed over.
        """
        self._bytes += len(gold) + len(predicted)
        (counted,) = self._counted
        own, other = (text.split(b"\n%s\n" % BORDER) for text in (gold, predicted))
        counted.disputed.update(zip(own, other, strict=True))
        for nothing in (OUTSIDE.encode(), BORDER):
            counted.disputed.pop((nothing, nothing), None)

    def add_touching(self, lines: Iterable[Touching]) -> None:
        """Take in where patterns part though spans touch: their tags are neighbours all the same."""
        self._touching.update(lines)

    def _patterns(self, text: bytes) -> Iterator[list[bytes]]:
        """The patterns in a text of those layers that are counted together."""
        if not text:
            yield from ([] for _ in self._counted)
            return
        separator, width = self._layout.separator.encode(), self._layout.width
        flat = text.replace(b"\n", separator).split(separator)
        columns = {name: flat[column:-1:width] for name, column in self._layout.layers}
        for counted in self._counted:
            tags = [columns[name] for name in counted.layers]
            lines = tags[0] if len(tags) == 1 else list(map(separator.join, zip(*tags, strict=True)))
            border = separator.join([BORDER] * len(tags))
            yield b"\n".join([*lines, b""]).split(b"\n%s\n" % border)[:-1]

    def take(self, tokens: int) -> Iterator[Columns]:
        """Everything counted, once, to be compared; `tokens` are all that there were."""
        touching = self._take_touching()
        self._bytes = 0
        for counted in self._counted:
            by_power: dict[int, tuple[list[bytes], list[tuple[bytes, bytes]]]] = {}
            for same, times in counted.same.items():
                for power in _powers(times):
                    by_power.setdefault(power, ([], []))[0].append(same)
            for disputed, times in counted.disputed.items():
                for power in _powers(times):
                    by_power.setdefault(power, ([], []))[1].append(disputed)
            known = 0
            for power, (alike, unlike) in sorted(by_power.items()):
                columns = self._columns(counted.layers, power, alike, unlike)
                known += power * columns.tokens
                yield columns
            rest = self._columns(counted.layers, 1, [], [], tokens - known)
            rest.touching = {place: touching[place] for place in touching if place[1] in counted.layers}
            yield rest
            counted.same.clear()
            counted.disputed.clear()

    def _take_touching(self) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
        """The neighbours that patterns part, by side and layer, once."""
        found = {(side, layer): Counter[tuple[str, str]]() for side in SIDES for layer in self._names}
        order = [name for name, _ in sorted(self._layout.layers, key=itemgetter(1))]
        for lines, times in self._touching.items():
            tags = [self._tags(line.decode()) for line in lines]
            for side, before, here in zip(SIDES, tags[::2], tags[1::2], strict=True):
                for layer, pair in zip(order, zip(before, here, strict=False), strict=False):
                    if OUTSIDE not in pair:
                        found[side, layer][pair] += times
        self._touching.clear()
        return found

    def _columns(
        self,
        layers: tuple[str, ...],
        times: int,
        same: list[bytes],
        disputed: list[tuple[bytes, bytes]],
        more: int = 0,
    ) -> Columns:
        """Patterns one after the other, an O after each; `more` are positions that are outside on both sides."""
        sides = [[own for own, _ in disputed], [other for _, other in disputed]]
        tokens = sum(own.count(b"\n") + 1 for own in sides[0])
        tags = [self._split(layers, patterns) for patterns in (same, *sides)]
        return Columns(tokens + more, tags[0], (tags[1], tags[2]), times)

    def _split(self, layers: tuple[str, ...], patterns: list[bytes]) -> Tags:
        separator = self._layout.separator
        outside = separator.join(OUTSIDE * len(layers))
        text = f"\n{outside}\n".encode().join(patterns).decode()
        lines = text.split("\n") if patterns else []
        columns = [lines]
        if len(layers) > 1:
            fields = [line.split(separator) for line in lines]
            columns = [[each[number] for each in fields] for number in range(len(layers))]
        if self._layout.entities and "&" in text:
            columns = [list(map(unescape, column)) for column in columns]
        return dict(zip(layers, columns, strict=True))

    def _tags(self, line: str) -> list[str]:
        """The tags that stand side by side in a line of tags."""
        tags = line.split(self._layout.separator)
        return list(map(unescape, tags)) if self._layout.entities and "&" in line else tags


def _powers(number: int) -> Iterator[int]:
    """The powers of two that add up to a number.

    >>> list(_powers(11))
    [1, 2, 8]
    """
    while number:
        power = number & -number
        yield power
        number -= power
