"""The lines of ``clueval errors`` on how many errors were found, and which were not listed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from clueval.cli.printing import remark
from clueval.evaluation.result import Result
from clueval.findings.choice import Choice, in_words
from clueval.findings.places import ErrorPlace
from clueval.findings.table import REASONS
from clueval.reports.cutting import cut_label
from clueval.visible import visible


class ErrorNumbers:
    """How many errors were shown, at how many places."""

    def __init__(self) -> None:
        self.errors = self.places = 0
        self._by_side, self._by_kind, self._by_reason = Counter[str](), Counter[str](), Counter[str]()

    def see(self, places: Iterable[ErrorPlace]) -> None:
        """Count the errors at these places."""
        for place in places:
            self.places += 1
            self.errors += len(place.findings)
            for finding in place.findings:
                self._by_side[finding.side or "gold"] += 1
                self._by_kind[finding.kind] += 1
                self._by_reason[finding.reason] += 1

    def remark(self, counted: Mapping[str, int] | None = None, choice: Choice | None = None) -> None:
        """Print the numbers, and how many errors the scores count if these are more; then what `choice` lists.

        FairEval's errors, which are pairs of spans, are not `counted` by side, but by type.
        """
        words = f"{many(self.errors, 'error')} in {many(self.places, 'place')}"
        if counted is None or choice is None:
            kinds = ", ".join(f"{number:,} {kind}" for kind, number in self._by_kind.most_common())
            remark(f"{words}: {kinds}" if kinds else words)
            return
        if sum(counted.values()) == self.errors:
            remark(f"{words}: {_by_side(self._by_side)}" if self.errors else words)
        else:
            number = many(sum(counted.values()), "error")
            metric = f"level {choice.at_level}" if choice.by_levels else "metric exact"
            remark(f"{words} shown; {metric} counts {number}: {_by_side(counted)}")
        if self.errors:
            found = (f"{self._by_reason[name]:,} {name}" for name in REASONS if self._by_reason[name])
            remark(f"reasons: {', '.join(found)}")
        remark(f"listed: {in_words(choice)}")


def remark_wrong_labels(reports: Iterable[Mapping[str, Any]], choice: Choice) -> None:
    """Print how many spans have only a wrong label, and are therefore not listed without --labelled."""
    for report in reports:
        found = report["unlabelled"][str(choice.at_level)]
        for layer, levels in report["labelled"].items():
            right = levels[str(choice.at_level)]["micro"]
            number = sum(found[f"tp_{side}"] - right[f"tp_{side}"] for side in choice.sides)
            if number:
                what = (
                    f"{number:,} span{'s have' if number > 1 else ' has'} only a wrong label in layer {layer}"
                )
                remark(f"not listed: {what} (--labelled {layer} lists them, too)")


def remark_one_sided(result: Result, filters: Iterable[str]) -> None:
    """Print which layers only one side has, what is therefore listed, and how to compare them; `filters`: of layers."""
    sides = {side: found["layers"] for side, found in result.inputs.items()}
    for layer in sides.get("gold", ()):
        numbers = {side: layers[layer]["spans"] for side, layers in sides.items()}
        for side, other in (("gold", "predicted"), ("predicted", "gold")):
            if not numbers[side] or numbers[other]:
                continue
            name, listed = cut_label(visible(layer)), "missed" if side == "gold" else "spurious"
            remark(
                f"layer {name}: {other} has no spans, so every {side} span of this layer is listed as {listed}; "
                f"to compare several layers of gold with one of predicted, give each as --layer NAME=GOLD:PREDICTED "
                f"with the same PREDICTED"
            )
            if layer in filters:
                remark(f"filter {name}: {other} has no such labels, so no {other} span is counted")


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
