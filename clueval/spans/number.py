"""Numbers in features of spans, which some formats write as text."""

from __future__ import annotations

import math


def number_of(value: object) -> float | None:
    """Return a number, also one that is written as a string, if it is finite, otherwise None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and "_" in value:  # only Python reads underscores in numbers
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
