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

Before, tag runs are cut where no span crosses, because short ones are more often equal: ``ba`` would be cut into ``b``
and ``a``, since B-X begins a span on both sides. Two adjacent tags between which there is a cut are a *seam*.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, filterfalse, pairwise
from operator import not_
from typing import NamedTuple

from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.spans.compared import SIDES
from clueval.tagging.schemes import OUTSIDE, continues
from clueval.tagging.transitions import Neighbours

Pair = tuple[Sequence[str], Sequence[str]]
"""A gold and a predicted tag in each of some layers."""

Tags = dict[str, list[str]]
"""The tags of each layer, with an O between sentences, or between tag runs."""


@dataclass(slots=True)
class Columns:
    """The tags of two parallel texts: those of lines that are the same once, those of disputed lines for each side.

    `tokens` is the number of positions of the texts, with those outside every span; `times` is the multiplicity of
    everything here. `seams` has by side and layer how often tags are adjacent in the text, less how
    often they are in columns, where this differs.
    """

    tokens: int
    same: Tags
    disputed: tuple[Tags, Tags]
    times: int = 1
    seams: Mapping[tuple[str, str], Neighbours] = field(default_factory=dict)


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


class _Cuts(dict[tuple[str, str], str]):
    """The second of two adjacent characters, with a blank before it if no span crosses from the first."""

    def __init__(self, pairs: Mapping[str, Pair]) -> None:
        self._pairs = pairs

    def __missing__(self, characters: tuple[str, str]) -> str:
        sides = zip(*map(self._pairs.__getitem__, characters), strict=True)
        crosses = any(any(map(continues, *side)) for side in sides)
        self[characters] = cut = characters[1] if crosses else f" {characters[1]}"
        return cut


class Alphabet(dict[bytes, str]):
    """One character for each pair of a gold and a predicted tag.

    `pairs` has the meaning of each character, `cuts` where text in these characters is cut.
    """

    def __init__(self, layers: tuple[str, ...], layout: Layout) -> None:
        self._layout = layout
        outside = layout.separator.join(OUTSIDE for _ in layers).encode()
        self[outside] = " "
        self.pairs = {" ": self._read(outside)}
        self.cuts = _Cuts(self.pairs)
        self._unused = filterfalse(str.isspace, map(chr, count()))

    def __missing__(self, tags: bytes) -> str:
        self[tags] = character = next(self._unused)
        self.pairs[character] = self._read(tags)
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
        self, layers: tuple[str, ...], layout: Layout, sizes: Sizes = SIZES, alphabet: Alphabet | None = None
    ) -> None:
        self.layers, self._layout, self._sizes = layers, layout, sizes
        self.alphabet = Alphabet(layers, layout) if alphabet is None else alphabet
        self.counts: Counter[str] = Counter()
        self._seams: Counter[tuple[str, str]] = Counter()
        self._tags = 0  # an upper limit for the different tag runs

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
        text = self._characters(rows)
        self.counts.update(text.split())
        self._see(len(text))

    def add_seam(self, seam: Rows) -> None:
        """Count two lines as adjacent that are not so in the lines of any `add`."""
        self._seams.update(pairwise(self._characters(seam)[:2]))

    def crossed(self, seam: Rows) -> bool:
        """Whether a span crosses from a line to the next."""
        return any(len(self.alphabet.cuts[pair]) == 1 for pair in pairwise(self._characters(seam)[:2]))

    def _characters(self, rows: Rows) -> str:
        return "".join(map(self.alphabet.__getitem__, rows.tags(self.layers)))

    def include(self, other: TagRuns) -> None:
        """Add tag runs that are written with the same characters."""
        self.counts.update(other.counts)
        self._see(other._tags)

    def _see(self, tags: int) -> None:
        """Add to the upper limit; if there may be too many tags, set it to their number."""
        self._tags += tags
        if self._tags > self._sizes.run_tags:
            self._tags = sum(map(len, self.counts))

    def sides_of(self, run: str) -> tuple[Tags, Tags]:
        """The gold and the predicted tags of a tag run."""
        found = [self.alphabet.pairs[character] for character in run]
        gold, predicted = (
            {layer: [pair[side][place] for pair in found] for place, layer in enumerate(self.layers)}
            for side in (0, 1)
        )
        return gold, predicted

    def cut(self, run: str) -> list[str]:
        """Cut a tag run where no span crosses."""
        return "".join(map(self.alphabet.cuts.__getitem__, pairwise(f" {run}"))).split()

    def _check(self, tokens: int) -> None:
        """Check what holds at any time; `tokens` is the number of all tokens in the text."""
        assert all(times > 0 for times in self.counts.values())
        assert all(run and " " not in run for run in self.counts)
        assert set("".join(self.counts)) <= set(self.alphabet.values())
        assert sum(len(run) * times for run, times in self.counts.items()) <= tokens
        assert sum(map(len, self.counts)) <= self._tags

    def take(self, tokens: int) -> Iterator[Columns]:
        """Remove all tag runs and yield them in columns; `tokens` is the number of all tokens in the text."""
        *columns, rest = columns_of(self._cut(), self.alphabet.pairs, self.layers, tokens)
        yield from columns
        rest.seams = self._neighbours()
        yield rest
        self.counts.clear()
        self._seams.clear()
        self._tags = 0
        self.alphabet.cuts.clear()  # there may be more pairs than characters
        if len(self.alphabet) > self._sizes.runs:
            self.alphabet = Alphabet(self.layers, self._layout)

    def _cut(self) -> Counter[str]:
        """The tag runs, cut where no span crosses; adds the seams."""
        counts: Counter[str] = Counter()
        cuts = self.alphabet.cuts
        for times, runs in _by_power(self.counts).items():
            text = " ".join(["", *runs])
            pairs = Counter(pairwise(text))
            self._seams.update({pair: n * times for pair, n in pairs.items() if len(cuts[pair]) > 1})
            for run, n in Counter("".join(map(cuts.__getitem__, pairwise(text))).split()).items():
                counts[run] += n * times
        return counts

    def _neighbours(self) -> dict[tuple[str, str], Neighbours]:
        """The pairs of adjacent tags at seams by side and layer, less those in columns, which have an O there."""
        found: defaultdict[tuple[str, str], Neighbours] = defaultdict(Counter)
        for pair, n in self._seams.items():
            for side, befores, heres in zip(SIDES, *map(self.alphabet.pairs.__getitem__, pair), strict=True):
                for layer, before, here in zip(self.layers, befores, heres, strict=True):
                    found[side, layer][before, here] += n
                    found[side, layer][before, OUTSIDE] -= n
                    found[side, layer][OUTSIDE, here] -= n
        return found


def columns_of(
    counts: Mapping[str, int], pairs: Mapping[str, Pair], layers: tuple[str, ...], tokens: int
) -> Iterator[Columns]:
    """Yield tag runs in columns, those of the same power of two together, with an O between them.

    `pairs` has the meaning of each character. The last columns have the positions of the text that are the same on both
    sides; the text has `tokens` positions.
    """
    equal = {character for character, (gold, predicted) in pairs.items() if gold == predicted}
    names = [
        {
            layer: {character: pair[side][place] for character, pair in pairs.items()}
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
