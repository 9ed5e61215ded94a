"""The conventions, and their rows: the scores, when a span is correct, and why a number differs from the first row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clueval.metrics.metric import Rates


class Convention(NamedTuple):
    """A convention: its key in a report, its name, the metric behind it, and when it counts a span as correct."""

    key: str
    name: str
    metric: str
    counts: str


_LEVELS = {
    1: "the same span on the other side",
    2: "the same span or one that covers it",
    3: "the same span, one that covers it, or adjacent spans that fill it exactly",
    4: "the same span, one that covers it, or adjacent spans that cover it",
}

CONVENTIONS = (
    Convention("conlleval", "conlleval", "tags", "same start, end and label; tags are repaired"),
    Convention(
        "seqeval",
        "seqeval, default",
        "tags",
        "as conlleval: same start, end and label; tags are repaired",
    ),
    Convention(
        "seqeval_strict",
        "seqeval, strict",
        "tags",
        "same start, end and label, of spans whose tags are complete and well-formed in the scheme",
    ),
    Convention("exact_unlabelled", "exact, unlabelled", "muc", "same start and end, whatever the label"),
    *(
        Convention(f"levels_{level}_unlabelled", f"CLUEval level {level}, unlabelled", "levels", counts)
        for level, counts in _LEVELS.items()
    ),
    *(
        Convention(
            f"levels_{level}_labelled",
            f"CLUEval level {level}, labelled",
            "levels",
            f"{counts}; and the same label",
        )
        for level, counts in _LEVELS.items()
    ),
    Convention("muc_strict", "MUC strict", "muc", "same start, end and label; pairs one to one"),
    Convention("muc_exact", "MUC exact", "muc", "same start and end, whatever the label; pairs one to one"),
    Convention(
        "muc_partial", "MUC partial", "muc", "same start and end; an overlap counts half, whatever the label"
    ),
    Convention("muc_type", "MUC type", "muc", "same label and an overlap; pairs one to one"),
    Convention(
        "fair_fair",
        "FairEval fair",
        "fair",
        "same start, end and label; a span with a wrong label, boundary or both is one error, not two",
    ),
    Convention(
        "partial",
        "loio",
        "partial",
        "same label; an overlap counts for its share of the longer span, times the factor",
    ),
    Convention(
        "gate_strict", "GATE strict", "gate", "same start, end and label; 0/0 is 1 if both sides are empty"
    ),
    Convention(
        "gate_lenient", "GATE lenient", "gate", "same label and an overlap; 0/0 is 1 if both sides are empty"
    ),
)
"""The conventions, in the order of the table."""


def convention_row(
    convention: Convention, rates: Rates | None, note: str | None, refused: int = 0, gaps: int = 0
) -> dict[str, Any]:
    """Return the row of a convention; in `refused` documents it is not defined, in some because of `gaps`."""
    if refused:
        rates = None
        note = f"not defined here: {refused} document{'s have' if refused > 1 else ' has'} spans that overlap"
        note += " or have no length" if convention.metric == "tags" else ""
        note += " or have gaps" if gaps else ""
    precision, recall, f1 = rates or (None, None, None)
    return {
        "convention": convention.name,
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "counts": convention.counts,
        "note": note,
    }


_IGNORES_LABELS = "labels are ignored"
_COVERED = "a span counts if one span covers it"
_TILED = "a span counts if one span covers it or adjacent spans fill it exactly"
_STUCK_OUT = "a span counts if one span or adjacent spans cover it"
_TOUCHED = "an overlap with the same label counts"
_REASONS = {
    "exact_unlabelled": _IGNORES_LABELS,
    "levels_1_unlabelled": _IGNORES_LABELS,
    "levels_2_unlabelled": f"{_IGNORES_LABELS}, and {_COVERED}",
    "levels_3_unlabelled": f"{_IGNORES_LABELS}, and {_TILED}",
    "levels_4_unlabelled": f"{_IGNORES_LABELS}, and {_STUCK_OUT}",
    "levels_2_labelled": _COVERED,
    "levels_3_labelled": _TILED,
    "levels_4_labelled": _STUCK_OUT,
    "muc_exact": _IGNORES_LABELS,
    "muc_partial": f"{_IGNORES_LABELS}, and an overlap counts half",
    "muc_type": _TOUCHED,
    "fair_fair": "a span with a wrong label or boundary is one error, not a missed and a spurious span",
    "partial": "an overlap with the same label counts in part",
    "gate_strict": "0/0 is 1 if both sides are empty",
    "gate_lenient": _TOUCHED,
}
"""Why the numbers of a convention differ from those of conlleval."""

_OTHERWISE = "invalid tags are treated in another way (--invalid)"


def with_differences(
    rows: Mapping[str, Mapping[str, Any]], repaired: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    """Return the rows with ``differs``: by how many points of F1 each differs from the first, and why.

    `repaired` is the number of repaired tags of each side, which seqeval's strict mode drops.
    """
    first = next(iter(rows.values()), None)
    return {key: {**row, "differs": _difference(key, row, first, repaired)} for key, row in rows.items()}


def _difference(
    key: str, row: Mapping[str, Any], first: Mapping[str, Any] | None, repaired: Mapping[str, int]
) -> str | None:
    rates = ("precision", "recall", "f1")
    if first is None or row["f1"] is None or first["f1"] is None:
        return None
    if [row[rate] for rate in rates] == [first[rate] for rate in rates]:
        return None
    points = 100 * (row["f1"] - first["f1"])
    reason = _REASONS.get(key, _OTHERWISE)
    if key == "seqeval_strict":
        sides = [side for side, number in repaired.items() if number]
        reason = f"invalid tags in {' and '.join(sides) or 'one side'} are dropped"
    return f"{points:+.2f} points of F1: {reason}"
