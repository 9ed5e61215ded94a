"""The words of a document that count, one after the other, and names of runs of them.

Mentions may lie in each other, so that all their words together can be far more than the document has. The words
in the middle of a long mention are therefore not copied: a name stands for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import compress

from clueval.metrics.masking.flags import Flags

LONG = 64
"""More words than these between the first and the last word of a mention are named."""

Name = tuple[int, int, int]
"""The name of a run: its length, and the names of the two runs that it begins and ends with."""


class RunNames:
    """Names of runs of items: runs have the same name if, and only if, their items are equal.

    Row k has a number for every run of 2**k items. A run of another length is named by the two runs of such a
    length, which may overlap, at its ends (Karp, Miller and Rosenberg 1972). A row costs O(n).
    """

    def __init__(self, items: Sequence[Hashable]) -> None:
        self._numbers: list[dict[Hashable, int]] = []
        self._rows: list[list[int]] = []
        self._items = items

    def of(self, start: int, end: int) -> Name:
        """Return the name of a run that is not empty.

        >>> names = RunNames("abcabcab")
        >>> names.of(0, 5) == names.of(3, 8), names.of(0, 5) == names.of(1, 6)
        (True, False)
        """
        row = (end - start).bit_length() - 1
        self._number_runs(row)
        return end - start, self._rows[row][start], self._rows[row][end - (1 << row)]

    def of_items(self, items: Sequence[Hashable]) -> Name:
        """Return the name of items that may be no run; equal items have the same name. Costs O(n log n).

        >>> names = RunNames("abcabcab")
        >>> names.of_items("bcab") == names.of(1, 5)
        True
        """
        last = len(items).bit_length() - 1
        self._number_runs(last)
        numbers = self._numbered(0, items)
        for row in range(1, last + 1):
            numbers = self._numbered(row, _halves(numbers, row))
        return len(items), numbers[0], numbers[-1]

    def _number_runs(self, row: int) -> None:
        """Number the runs of the lengths up to this row."""
        for number in range(len(self._rows), row + 1):
            self._numbers.append({})
            keys = _halves(self._rows[-1], number) if number else self._items
            self._rows.append(self._numbered(number, keys))

    def _numbered(self, row: int, keys: Iterable[Hashable]) -> list[int]:
        numbers = self._numbers[row]
        return [numbers.setdefault(key, len(numbers)) for key in keys]


def _halves(numbers: Sequence[int], row: int) -> Iterable[tuple[int, int]]:
    """Yield the numbers of both halves of each run of 2**row items, from those of all runs of half the length."""
    return zip(numbers, numbers[1 << (row - 1) :], strict=False)


class CountedWords:
    """The words that count, by position; `flags` are set for them among all words, `spelled`."""

    def __init__(self, spelled: Sequence[str], flags: Flags) -> None:
        self._spelled = spelled
        self._flags = flags

    def before(self, word: int) -> int:
        """Return how many words before a word count."""
        return self._flags.between(0, word)

    @cached_property
    def spelled(self) -> list[str]:
        return list(compress(self._spelled, self._flags.bytes))

    @cached_property
    def names(self) -> RunNames:
        return RunNames(self.spelled)

    @cached_property
    def folded_names(self) -> RunNames:
        """The names of the words in lower case."""
        return RunNames([word.casefold() for word in self.spelled])
