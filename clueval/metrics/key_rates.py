"""How rates of a report follow from the counts of a tally, for intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class KeyRates(NamedTuple):
    """Rates at one place of a report, and the keys of the tally from whose counts they follow.

    `function` is given a column for each key, with its count in each of some corpora, and returns a column for each
    rate.
    """

    path: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]
    rates: tuple[str, ...]
    function: Callable[..., list[list[float | None]]]


class SummedKeyRates(NamedTuple):
    """Rates at one place of a report that follow from sums over parts of the tally, such as labels.

    Each part has its keys, and a function that is given their columns, as that of `KeyRates`, and returns columns to be
    added to those of the other parts. `function` is given the columns of sums, and returns a column for each rate.
    """

    path: tuple[str, ...]
    parts: Sequence[tuple[Sequence[tuple[Any, ...]], Callable[..., list[list[Any]]]]]
    rates: tuple[str, ...]
    function: Callable[..., list[list[float | None]]]
