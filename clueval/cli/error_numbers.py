"""The lines of ``clueval errors`` on how many errors were found, and which were not listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from clueval.cli.printing import remark
from clueval.findings.choice import Choice
from clueval.findings.observer import KeptRows
from clueval.findings.places import places
from clueval.findings.table import Finding


def remark_errors(rows: KeptRows[Finding], counted: Mapping[str, int] | None = None, level: int = 1) -> None:
    """Print how many errors were shown, and how many the scores of the level count if these are more."""
    shown: Counter[str] = Counter()
    number = 0
    for place in places(rows):
        number += 1
        shown.update(finding.side or "gold" for finding in place.findings)
    words = f"{many(len(rows), 'error')} in {many(number, 'place')}"
    if counted is None or sum(counted.values()) == len(rows):
        remark(f"{words}: {_by_side(shown)}" if rows else words)
        return
    remark(f"{words} shown; level {level} counts {many(sum(counted.values()), 'error')}: {_by_side(counted)}")


def remark_wrong_labels(reports: Iterable[Mapping[str, Any]], choice: Choice) -> None:
    """Print how many spans have only a wrong label, and are therefore not listed without --labelled."""
    for report in reports:
        found = report["unlabelled"][str(choice.level)]
        for layer, levels in report["labelled"].items():
            right = levels[str(choice.level)]["micro"]
            number = sum(found[f"tp_{side}"] - right[f"tp_{side}"] for side in choice.sides)
            if number:
                what = (
                    f"{number:,} span{'s have' if number > 1 else ' has'} only a wrong label in layer {layer}"
                )
                remark(f"not listed: {what} (--labelled {layer} lists them, too)")


def many(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> many(1, "error"), many(2000, "error")
    ('1 error', '2,000 errors')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _by_side(counts: Mapping[str, int]) -> str:
    parts = {"gold": "not found", "predicted": "wrong"}
    return ", ".join(
        f"{many(counts[side], f'{side} span')} {end}" for side, end in parts.items() if counts.get(side)
    )
