"""Sums of the parts of two results, apart from their counts."""

from __future__ import annotations

from collections.abc import Mapping

from clueval.evaluation.inputs import add_passed_over, no_inputs, passed_over
from clueval.evaluation.signature import Signature
from clueval.metrics.counting import Tally
from clueval.transforms.preparation import added


def joined_signature(first: Signature, second: Signature, schemes: str) -> Signature:
    """A signature with both values of choices that differ; `schemes` is the scheme unless a side has documents."""
    both = {
        key: " and ".join(value for value in pair if value is not None)
        for key, pair in first.differences(second).items()
    }
    if "scheme" in both and "documents" not in (first.choices.get("scheme"), second.choices.get("scheme")):
        both["scheme"] = schemes
    return Signature({**first.choices, **both})


def added_changes(
    first: Mapping[str, Tally] | None, second: Mapping[str, Tally] | None
) -> Mapping[str, Tally] | None:
    """The numbers of changes by transforms in both corpora together."""
    if first is None and second is None:
        return None
    both = first or {}, second or {}
    return {
        name: added(both[0].get(name, {}), both[1].get(name, {}))
        for name in dict.fromkeys([*both[0], *both[1]])
    }


def summed_passed_over(
    first: Mapping[str, Mapping[str, int]], second: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """What the formats of both results did not read, by side and kind."""
    total = no_inputs()
    for each in (first, second):
        for side, numbers in each.items():
            add_passed_over(total, side, numbers)
    return passed_over(total)
