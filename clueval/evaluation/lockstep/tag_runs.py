"""Tag runs: the tags between two places that no span crosses, with their multiplicity.

Spans of different tag runs do not overlap, so the counts of a metric in a text are the sum over its tag runs, each
with its multiplicity; and even a large corpus has few different tag runs. Tag runs that are the same on both sides
are kept once, others in pairs. To be compared, they are joined in groups, one for each power of two: a tag run is in
the group of each power of two in its multiplicity. So there are as many groups as the greatest multiplicity has bits,
not one for each multiplicity::

    B-PER I-PER    3 times          once:   B-PER I-PER O B-LOC
    B-LOC          1 time           twice:  B-PER I-PER
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from sys import intern
from typing import NamedTuple, TypeVar

from clueval.evaluation.lockstep.columns import Columns, Tags
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.spans.compared import SIDES
from clueval.tagging.schemes import OUTSIDE
from clueval.tagging.transitions import Numbers

Run = TypeVar("Run")

BORDER = b"\0"
"""The tag, in every layer, of the line after a tag run; no file has it."""


class Rows(NamedTuple):
    """The fields of token lines, one row after the other, and the number of bytes of the lines."""

    fields: list[bytes]
    size: int

    @classmethod
    def of(cls, text: bytes, layout: Layout) -> Rows:
        """The rows of a text in which each line has the fields of the layout and a line end."""
        separator = layout.separator.encode()
        fields = text.replace(b"\n", separator).split(separator)
        fields.pop()
        return cls(fields, len(text))


class CountedRuns:
    """The tag runs of some layers, each as lines of tags, one line for each position, as in the file."""

    def __init__(self, layers: tuple[str, ...]) -> None:
        self.layers = layers
        self.same: Counter[bytes] = Counter()
        self.disputed: Counter[tuple[bytes, bytes]] = Counter()
        self.open: tuple[list[bytes], list[bytes]] = ([], [])


class _Group(NamedTuple):
    """Tag runs to compare together."""

    same: list[bytes]
    disputed: list[tuple[bytes, bytes]]
    cells: list[tuple[bytes, bytes]]


Touching = tuple[bytes, bytes, bytes, bytes]
"""The tags of the two lines at a seam: gold before and after it, predicted before and after it."""


class TagRuns:
    """The multiplicity of each tag run, by layer, or in all layers together if they are merged."""

    def __init__(self, layout: Layout, merge: bool, sizes: Sizes = SIZES) -> None:
        self._layout, self._sizes = layout, sizes
        names = tuple(name for name, _ in layout.layers)
        self._names = names
        self._touching: Counter[Touching] = Counter()
        self._bytes = 0  # an upper limit for all tag runs
        self._counted = [CountedRuns(names)] if merge else [CountedRuns((name,)) for name in names]
        self._cells: Counter[tuple[bytes, bytes]] = Counter()
        self.numbers: Numbers[bytes] = Numbers()
        self._reset_numbers()

    @property
    def are_many(self) -> bool:
        """Whether there are enough tag runs that they should be taken."""
        sizes = (len(counted.same) + len(counted.disputed) for counted in self._counted)
        most = self._sizes
        return self._bytes > most.run_bytes or len(self._touching) + len(self._cells) + max(sizes) > most.runs

    def add_same(self, rows: Rows) -> None:
        """Add token lines that are the same on both sides, with a line of `BORDER` after each tag run."""
        self._bytes += rows.size
        for counted, tag_runs in zip(self._counted, self._tag_runs(rows), strict=True):
            counted.same.update(tag_runs)

    def add_disputed(self, gold: Rows, predicted: Rows) -> None:
        """Add parallel token lines, with a line of `BORDER` after each tag run."""
        self._bytes += gold.size + predicted.size
        sides = self._tag_runs(gold), self._tag_runs(predicted)
        for counted, of_gold, of_predicted in zip(self._counted, *sides, strict=True):
            counted.disputed.update(zip(of_gold, of_predicted, strict=True))

    def add_cells(self, gold: Iterable[bytes], predicted: Iterable[bytes]) -> None:
        """Add tag runs of one layer in which each byte is the number of a tag in `numbers`.

        Single tags that are ``O`` or `BORDER` on both sides are ignored.
        """
        self._cells.update(zip(gold, predicted, strict=True))
        for tag in (OUTSIDE.encode(), BORDER):
            cell = bytes((self.numbers[tag],))
            self._cells.pop((cell, cell), None)

    def extend(self, gold: Rows, predicted: Rows) -> None:
        """Add parallel token lines to the open tag run."""
        self._bytes += gold.size + predicted.size
        for side, rows in enumerate((gold, predicted)):
            for counted, lines in zip(self._counted, self._lines(rows), strict=True):
                counted.open[side].append(b"\n".join(lines))

    def close(self) -> None:
        """End the open tag run."""
        for counted in self._counted:
            gold, predicted = (b"\n".join(parts) for parts in counted.open)
            if gold == predicted:
                counted.same[gold] += 1
            else:
                counted.disputed[gold, predicted] += 1
            counted.open = ([], [])

    def add_touching(self, lines: Iterable[Touching] | Mapping[Touching, int]) -> None:
        """Add seams between tag runs, with their multiplicity; their tags are adjacent in the text."""
        self._touching.update(lines)

    def counted(self) -> Sequence[CountedRuns]:
        """Return the tag runs of one layer after the other, or of merged layers together."""
        for cells, times in self._cells.items():
            gold, predicted = (b"\n".join(map(list(self.numbers).__getitem__, cell)) for cell in cells)
            if gold == predicted:
                self._counted[0].same[gold] += times
            else:
                self._counted[0].disputed[gold, predicted] += times
        self._cells.clear()
        return self._counted

    def include(self, other: TagRuns) -> None:
        """Add other tag runs of the same layers, of which none is open."""
        self._bytes += other._bytes
        self._touching.update(other._touching)
        for own, more in zip(self._counted, other.counted(), strict=True):
            own.same.update(more.same)
            own.disputed.update(more.disputed)

    def tags_of(self, layers: tuple[str, ...], run: bytes) -> Tags:
        """Return the tags of a tag run by layer."""
        return self._split(layers, [run])

    def _tag_runs(self, rows: Rows) -> Iterator[list[bytes]]:
        """The tag runs of the layers of each of `_counted`."""
        separator = self._layout.separator.encode()
        for counted, lines in zip(self._counted, self._lines(rows), strict=True):
            border = separator.join([BORDER] * len(counted.layers))
            yield b"\n".join([*lines, b""]).split(b"\n%s\n" % border)[:-1] if lines else []

    def _lines(self, rows: Rows) -> Iterator[list[bytes]]:
        """The lines of tags of the layers of each of `_counted`."""
        separator = self._layout.separator.encode()
        columns = {name: rows.fields[column :: self._layout.width] for name, column in self._layout.layers}
        for counted in self._counted:
            tags = [columns[name] for name in counted.layers]
            yield tags[0] if len(tags) == 1 else list(map(separator.join, zip(*tags, strict=True)))

    def take(self, tokens: int) -> Iterator[Columns]:
        """Remove all tag runs and yield them in columns; `tokens` is the number of all tokens added."""
        touching = self._take_touching()
        self._bytes = 0
        for counted in self._counted:
            known = 0
            by_power = [_by_power(each) for each in (counted.same, counted.disputed, self._cells)]
            for power in sorted(set[int]().union(*by_power)):
                group = _Group(*(of_kind.get(power, []) for of_kind in by_power))
                columns = self._columns(counted.layers, power, group)
                known += power * columns.tokens
                yield columns
            rest = self._columns(counted.layers, 1, _Group([], [], []), tokens - known)
            rest.touching = {place: touching[place] for place in touching if place[1] in counted.layers}
            yield rest
            counted.same.clear()
            counted.disputed.clear()
            self._cells.clear()
        self._reset_numbers()

    def _reset_numbers(self) -> None:
        self.numbers.clear()
        for name in (OUTSIDE.encode(), BORDER):
            self.numbers[name]

    def _take_touching(self) -> dict[tuple[str, str], Counter[tuple[str, str]]]:
        """Remove the seams and return their pairs of tags, by side and layer."""
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

    def _columns(self, layers: tuple[str, ...], times: int, group: _Group, more: int = 0) -> Columns:
        """Tag runs one after the other, with an O after each; `more` positions are outside spans on both sides."""
        tokens = sum(gold.count(b"\n") + 1 for gold, _ in group.disputed)
        sides = []
        for side in (0, 1):
            tags = self._split(layers, [pair[side] for pair in group.disputed])
            if group.cells:
                cells = b"\0".join([pair[side] for pair in group.cells])
                tags[layers[0]].append(OUTSIDE)
                tags[layers[0]] += self._named(cells)
            sides.append(tags)
        if group.cells:
            tokens += len(cells) + 1 - len(group.cells)
        return Columns(tokens + more, self._split(layers, group.same), (sides[0], sides[1]), times)

    def _named(self, cells: bytes) -> Iterator[str]:
        """The tags of cells."""
        names = [name.decode() for name in self.numbers]
        if self._layout.entities:
            names = list(map(unescape, names))
        return map(names.__getitem__, cells)

    def _split(self, layers: tuple[str, ...], tag_runs: list[bytes]) -> Tags:
        separator = self._layout.separator
        outside = separator.join(OUTSIDE * len(layers))
        text = f"\n{outside}\n".encode().join(tag_runs).decode()
        tags = (
            _interned_lines(
                text if len(layers) == 1 else text.replace(separator, "\n"), self._sizes.characters
            )
            if tag_runs
            else []
        )
        columns = [tags[number :: len(layers)] for number in range(len(layers))]
        if self._layout.entities and "&" in text:
            columns = [list(map(unescape, column)) for column in columns]
        return dict(zip(layers, columns, strict=True))

    def _tags(self, line: str) -> list[str]:
        """The tags in a line of tags."""
        tags = line.split(self._layout.separator)
        return list(map(unescape, tags)) if self._layout.entities and "&" in line else tags


def _interned_lines(text: str, characters: int) -> list[str]:
    """The lines of a text, interned; split some at a time, because a tag run may be as long as a corpus."""
    lines: list[str] = []
    start = 0
    while (stop := text.find("\n", start + characters)) >= 0:
        lines += map(intern, text[start:stop].split("\n"))
        start = stop + 1
    lines += map(intern, text[start:].split("\n"))
    return lines


def _by_power(counted: Counter[Run]) -> dict[int, list[Run]]:
    """The tag runs of each power of two in their multiplicity."""
    by_times: defaultdict[int, list[Run]] = defaultdict(list)
    for run, times in counted.items():
        by_times[times].append(run)
    by_power: defaultdict[int, list[Run]] = defaultdict(list)
    for times, tag_runs in by_times.items():
        for power in _powers(times):
            by_power[power] += tag_runs
    return by_power


def _powers(number: int) -> Iterator[int]:
    """The powers of two whose sum is a number.

    >>> list(_powers(11))
    [1, 2, 8]
    """
    while number:
        power = number & -number
        yield power
        number -= power
