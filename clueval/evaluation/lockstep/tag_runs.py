"""Tag runs: the tags between two positions that are outside every span on both sides, with their multiplicity.

Spans of different tag runs do not overlap, so the counts of a metric in a text are the sum over its tag runs, each
with its multiplicity; and even a large corpus has few different tag runs. Each pair of a gold and a predicted tag is
written as one character, and a pair that is outside on both sides as a blank, so that Python finds and counts the tag
runs at the speed of C. By hand::

    gold        O  B-X  I-X  O  B-Y  O  B-X  I-X      a: B-X and B-X
    predicted   O  B-X  O    O  B-Y  O  B-X  O        b: I-X and O
    characters     a    b       c       a    b        c: B-Y and B-Y

The tag runs are ``ab``, two times, and ``c``, once. To be compared, they are joined in groups, one for each power of
two: a tag run is in the group of each power of two in its multiplicity. So there are as many groups as the greatest
multiplicity has bits, not one for each multiplicity. Tags of tag runs that are the same on both sides are kept once.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_
from typing import NamedTuple

from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.tagging.schemes import OUTSIDE

Pair = tuple[Sequence[str], Sequence[str]]
"""A gold and a predicted tag in each of some layers."""

Tags = dict[str, list[str]]
"""The tags of each layer, with an O between sentences, or between tag runs."""


@dataclass(slots=True)
class Columns:
    """The tags of two parallel texts: those of lines that are the same once, those of disputed lines for each side.

    `tokens` is the number of positions of the texts, with those outside every span; `times` is the multiplicity of
    everything here.
    """

    tokens: int
    same: Tags
    disputed: tuple[Tags, Tags]
    times: int = 1


class Rows(NamedTuple):
    """The fields of token lines, one row after the other."""

    fields: list[bytes]
    layout: Layout

    @classmethod
    def of(cls, text: bytes, layout: Layout) -> Rows:
        """The rows of a text in which each line has the fields of the layout and a line end."""
        separator = layout.separator.encode()
        fields = text.replace(b"\n", separator).split(separator)
        fields.pop()
        return cls(fields, layout)

    def column(self, number: int) -> list[bytes]:
        """A column; columns are numbered from 0."""
        return self.fields[number :: self.layout.width]

    def tags(self, layers: tuple[str, ...]) -> list[bytes]:
        """The tags of each row in some layers, with separators between them."""
        columns = [self.column(number) for name, number in self.layout.layers if name in layers]
        if len(columns) == 1:
            return columns[0]
        return list(map(self.layout.separator.encode().join, zip(*columns, strict=True)))


BOTH = b"\0"
"""Separates a gold and a predicted tag; a tag without it is that of both sides."""


class Alphabet(dict[bytes, str]):
    """One character for each pair of a gold and a predicted tag; character number n means ``pairs[n]``."""

    def __init__(self, layers: tuple[str, ...], layout: Layout) -> None:
        self._layout = layout
        outside = layout.separator.join(OUTSIDE for _ in layers).encode()
        self[outside] = " "
        self._outside = self._read(outside)
        self.pairs: list[Pair] = []

    def __missing__(self, tags: bytes) -> str:
        while chr(len(self.pairs)).isspace():
            self.pairs.append(self._outside)
        self[tags] = character = chr(len(self.pairs))
        self.pairs.append(self._read(tags))
        return character

    def _read(self, tags: bytes) -> Pair:
        """The gold and the predicted tags of a position."""
        read = unescape if self._layout.entities else str
        sides = [each.split(BOTH) for each in tags.split(self._layout.separator.encode())]
        gold, predicted = (tuple(read(sys.intern(tag[side].decode())) for tag in sides) for side in (0, -1))
        return gold, predicted


class TagRuns:
    """The multiplicity of each tag run of one layer, or of several layers together."""

    def __init__(
        self,
        layers: tuple[str, ...],
        layout: Layout,
        sizes: Sizes = SIZES,
        alphabet: Alphabet | None = None,
    ) -> None:
        self.layers, self._layout, self._sizes = layers, layout, sizes
        self.alphabet = Alphabet(layers, layout) if alphabet is None else alphabet
        self.counts: Counter[str] = Counter()
        self._tags = 0  # an upper limit for all tag runs

    def empty(self) -> TagRuns:
        """No tag runs of the same layers; they are written with the same characters."""
        return TagRuns(self.layers, self._layout, self._sizes, self.alphabet)

    @property
    def are_many(self) -> bool:
        """Whether there are enough tag runs that they should be taken."""
        most = self._sizes
        return self._tags > most.run_tags or max(len(self.counts), len(self.alphabet)) > most.runs

    def add(self, rows: Rows) -> None:
        """Add the tag runs of token lines."""
        text = "".join(map(self.alphabet.__getitem__, rows.tags(self.layers)))
        self._tags += len(text)
        self.counts.update(text.split())

    def include(self, other: TagRuns) -> None:
        """Add tag runs that are written with the same characters."""
        self._tags += other._tags
        self.counts.update(other.counts)

    def sides_of(self, run: str) -> tuple[Tags, Tags]:
        """The gold and the predicted tags of a tag run."""
        found = [self.alphabet.pairs[ord(character)] for character in run]
        gold, predicted = (
            {layer: [pair[side][place] for pair in found] for place, layer in enumerate(self.layers)}
            for side in (0, 1)
        )
        return gold, predicted

    def _check(self, tokens: int) -> None:
        """Check what holds at any time; `tokens` is the number of all tokens in the text."""
        assert all(times > 0 for times in self.counts.values())
        assert all(run and " " not in run for run in self.counts)
        assert set("".join(self.counts)) <= set(self.alphabet.values())
        assert sum(len(run) * times for run, times in self.counts.items()) <= min(tokens, self._tags)

    def take(self, tokens: int) -> Iterator[Columns]:
        """Remove all tag runs and yield them in columns; `tokens` is the number of all tokens in the text."""
        yield from columns_of(self.counts, self.alphabet.pairs, self.layers, tokens)
        self.counts.clear()
        self._tags = 0
        if len(self.alphabet) > self._sizes.runs:
            self.alphabet = Alphabet(self.layers, self._layout)


def columns_of(
    counts: Mapping[str, int], pairs: Sequence[Pair], layers: tuple[str, ...], tokens: int
) -> Iterator[Columns]:
    """Yield tag runs in columns, those of the same power of two together, with an O between them.

    Character number n means ``pairs[n]``. The last columns have the positions of the text that are the same on both
    sides; the text has `tokens` positions.
    """
    equal = {chr(number) for number, (gold, predicted) in enumerate(pairs) if gold == predicted}
    names = [
        {
            layer: {chr(number): pair[side][place] for number, pair in enumerate(pairs)} | {" ": OUTSIDE}
            for place, layer in enumerate(layers)
        }
        for side in (0, 1)
    ]
    for times, group in _by_power(counts).items():
        is_same = list(map(equal.issuperset, group))
        same = _tags(" ".join(compress(group, is_same)), names[0])
        disputed = " ".join(compress(group, map(not_, is_same)))
        here = len(disputed) - disputed.count(" ")
        tokens -= here * times
        yield Columns(here, same, (_tags(disputed, names[0]), _tags(disputed, names[1])), times)
    yield Columns(tokens, _tags("", names[0]), (_tags("", names[0]), _tags("", names[1])))


def _tags(text: str, names: Mapping[str, Mapping[str, str]]) -> Tags:
    return {layer: [*map(of_layer.__getitem__, text)] for layer, of_layer in names.items()}


def _by_power(counts: Mapping[str, int]) -> dict[int, list[str]]:
    """The tag runs of each power of two in their multiplicity.

    >>> _by_power({"ab": 3, "c": 1})
    {1: ['ab', 'c'], 2: ['ab']}
    """
    found: defaultdict[int, list[str]] = defaultdict(list)
    for run, times in counts.items():
        while times:
            power = times & -times
            found[power].append(run)
            times -= power
    return dict(found)
