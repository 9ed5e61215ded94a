"""Which leaks may be among the first, while documents come in any order."""

from __future__ import annotations

from typing import Any

from clueval.metrics.masking.mention import Risk
from clueval.studies.masking.leak import Order

MOST_LEAKS = 2000
"""How many leaks, and string leaks, a page shows; the table (TSV) has all."""


class FirstPlaces:
    """Keeps the sort keys that may be among the first `most`, and some more.

    >>> first = FirstPlaces(1)
    >>> [first.may_have(key) for key in (5, 3, 4, 2)]
    [True, True, False, True]
    """

    def __init__(self, most: int = MOST_LEAKS, keys: list[Any] | None = None) -> None:
        self._most = most
        self._keys = [] if keys is None else sorted(keys)[:most]
        self._last: Any = self._keys[-1] if len(self._keys) == most else None

    def may_have(self, key: Any) -> bool:
        """Return whether a key may be among the first, and keep it if so."""
        if self._last is not None and key > self._last:
            return False
        self._keys.append(key)
        if len(self._keys) >= 2 * self._most:
            self._keys.sort()
            del self._keys[self._most :]
            self._last = self._keys[-1]
        return True

    def copy(self) -> FirstPlaces:
        return FirstPlaces(self._most, self._keys)


class ShownLeaks:
    """Says of leaks and string leaks, each once, whether a page may show them."""

    def __init__(self, risk: Risk) -> None:
        self.risk = risk
        self._leaks, self._strings = FirstPlaces(), FirstPlaces()

    def copy(self) -> ShownLeaks:
        """Return one that has been asked the same."""
        found = ShownLeaks(self.risk)
        found._leaks, found._strings = self._leaks.copy(), self._strings.copy()
        return found

    def has_leak(self, order: Order) -> bool:
        return self._leaks.may_have(order)

    def has_string(self, document: str, start: int, end: int) -> bool:
        return self._strings.may_have((document, start, end))
