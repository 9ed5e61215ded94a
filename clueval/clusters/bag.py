"""Rows of tags as text, and the clusters of rows with their numbers of occurrences.

No span goes on over a row that is O for all sides and layers. So the counts of a corpus are the sum of the counts of
the runs of other rows, its *clusters*, and equal clusters have equal counts: each is counted at most once for each
power of two in its number of occurrences, and its counts are multiplied (`clueval.evaluation.row_clusters`).

A row has the tags of all sides, in some layers, at one position, and the length of the token there: in characters if
positions are characters, else 1. Each different row is one character, and a row that is outside every span a blank. So
a text is split into clusters at the speed of `str.split`, and equal clusters are equal strings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, TypeVar

from clueval.files.errors import FormatError
from clueval.tagging.schemes import OUTSIDE

Cluster = TypeVar("Cluster", bound=Hashable)

Row = tuple[int | str, ...]
"""The length of a token, and its tags: those of the first side, one for each layer, then those of the next side."""

BLANK = " "
"""The character of a row that is outside every span."""

FIRST = 0x3000
"""The code point before the first that is used; no white space follows it."""

MOST = 0x110000 - 0x800 - FIRST
"""The number of characters from `FIRST` on that are no surrogates."""

_TOGETHER = 1 << 12
"""The number of clusters that are examined together."""

_FEW = 1 << 9
"""The number of clusters that are repeated as often as they occur, which takes less time than several calls."""


class RowCharacters(dict[Row, str]):
    """The character of each row, which is made when it is looked up first; `rows` are the rows by character.

    `columns` is the number of tags in a row. `check` is called with each tag of a new row, and may raise an error.
    Raises `FormatError` if there are more than `MOST` different rows.

    >>> characters = RowCharacters(2)
    >>> text = "".join(map(characters.__getitem__, [(1, "B-PER", "O"), (1, "O", "O"), (1, "B-PER", "O")]))
    >>> text[1], text[0] == text[2], characters.rows[text[0]]
    (' ', True, (1, 'B-PER', 'O'))
    """

    def __init__(self, columns: int, check: Callable[[Any], object] | None = None) -> None:
        self._check = check
        self._outside = (OUTSIDE,) * columns
        self.rows: dict[str, Row] = {BLANK: (1, *self._outside)}

    def __missing__(self, row: Row) -> str:
        tags = row[1:]
        if self._check is not None:
            for tag in tags:
                self._check(tag)
        if tags == self._outside:
            character = BLANK
        else:
            if len(self.rows) == MOST:
                raise FormatError(
                    f"a sentence has more than {MOST - 1:,} different combinations of tags",
                    advice="shorten it",
                )
            number = len(self.rows) + FIRST
            character = chr(number if number < 0xD800 else number + 0x800)  # no surrogates
        self[row] = character
        self.rows.setdefault(character, row)
        return character

    def columns_of(self, clusters: Iterable[str]) -> list[tuple[Any, ...]]:
        """Return the lengths, and then each column of tags, of clusters with a row of O after each."""
        rows = map(self.rows.__getitem__, BLANK.join([*clusters, ""]))
        return list(zip(*rows, strict=True))


class _SameTags(dict[str, str]):
    """The character of each tag that all sides have, where there is one layer."""

    def __init__(self, characters: RowCharacters, sides: int) -> None:
        self._characters, self._sides = characters, sides

    def __missing__(self, tag: str) -> str:
        character = self[tag] = self._characters[(1, *(tag,) * self._sides)]
        return character


class Bag:
    """The clusters of rows that were added, of some sides and layers, and how often each occurs.

    `check` is called with each tag of a new row, and may raise an error. Holds the different rows and clusters.

    >>> bag = Bag(sides=2, layers=1)
    >>> bag.add(bag.text([(1, "B-A", "B-A"), (1, "O", "O"), (1, "B-A", "B-A"), (1, "B-A", "O")]))
    >>> [bag.characters.columns_of([cluster])[2] for cluster in bag.take()]
    [('B-A', 'O'), ('B-A', 'O', 'O')]
    """

    def __init__(self, sides: int, layers: int, check: Callable[[Any], object] | None = None) -> None:
        self._sides, self._layers = sides, layers
        self._counter: Counter[str] = Counter()
        self._open: list[str] = []  # the cluster that the next rows may continue
        self.characters = RowCharacters(sides * layers, check)
        self._same = _SameTags(self.characters, sides)

    def text(self, rows: Iterable[Row]) -> str:
        """Return the characters of rows."""
        return "".join(map(self.characters.__getitem__, rows))

    def text_of_same(self, columns: Sequence[Sequence[str]]) -> str:
        """Return the characters of rows in which all sides have the same tags, given those of each layer."""
        if self._layers == 1:
            return "".join(map(self._same.__getitem__, columns[0]))
        return self.text(zip(repeat(1), *[*columns] * self._sides, strict=False))

    def add(self, text: str) -> None:
        """Add the characters of rows, which continue those that were added last."""
        end = text.rfind(BLANK) + 1
        if not end:
            self._open.append(text)
            return
        self._counter.update("".join([*self._open, text[:end]]).split())
        self._open = [text[end:]]

    @property
    def size(self) -> int:
        """The number of different clusters, or that of different rows if it is greater."""
        return max(len(self._counter), len(self.characters))

    @property
    def is_open(self) -> bool:
        """Whether the next rows may continue a cluster."""
        return any(self._open)

    def take(self, *, ends: bool = True) -> Counter[str]:
        """Remove and return the clusters; unless the text `ends`, not one that the next rows may continue."""
        if ends:
            self._counter.update("".join(self._open).split())
            self._open = []
        found, self._counter = self._counter, Counter()
        return found


def by_power(clusters: Counter[Cluster]) -> Iterator[tuple[int, Sequence[Cluster]]]:
    """Yield each power of two with some clusters that have it in their multiplicity, in parts of limited size.

    So all clusters can be counted in some twenty calls, each of many clusters together, whose counts are multiplied.
    Where all occurrences together are few, they are yielded one by one, to be counted in one call.

    >>> list(by_power(Counter("ab" * 400)))
    [(16, ['a', 'b']), (128, ['a', 'b']), (256, ['a', 'b'])]
    >>> list(by_power(Counter("aab")))
    [(1, ['a', 'a', 'b'])]
    """
    if clusters.total() <= _FEW:
        if clusters:
            yield 1, list(clusters.elements())
        return
    found: dict[int, list[Cluster]] = {}
    for cluster, times in clusters.items():
        while times:
            power = times & -times
            found.setdefault(power, []).append(cluster)
            times -= power
    for power, some in sorted(found.items()):
        for start in range(0, len(some), _TOGETHER):
            yield power, some[start : start + _TOGETHER]
