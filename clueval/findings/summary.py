"""The summary of a page of errors: for each layer the headline, what is lost between levels 1 and 4, and the labels.

Every span is in one of four parts: *right* (an exact match with the right label, level 1), *boundary* (the label is
right at level 4, the span differs), *label* (matched at level 4 with another label), and *missed* or *spurious* (not
matched at level 4, partial overlaps among them). The parts of a side add up to its spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from clueval.findings.choice import SIDES, Choice
from clueval.metrics.tables import LEVEL_NAMES
from clueval.reports.cutting import cut_label
from clueval.reports.matrices import how_many
from clueval.reports.table import Rate
from clueval.reports.text import shown
from clueval.spans.match_classes import UNMATCHED

PARTS = ("right", "boundary", "label", "missed")

MEANINGS = {
    "right": "same boundaries, same label",
    "boundary": "right label, other boundaries",
    "label": "wrong label",
    "missed": "not matched, even at level 4",
}

MOST_LABELS = 40
"""The number of labels of which the summary shows bars; the worst ones."""


def summaries(report: Mapping[str, Any], choice: Choice) -> Iterator[dict[str, Any]]:
    """Yield the summary of each layer of each sequence that the metrics ``levels`` and ``confusion`` counted."""
    if "levels" not in report["metrics"]:
        return
    for sequence, layers in report["metrics"].get("confusion", {}).items():
        levels = report["metrics"]["levels"][sequence]
        for layer, of_layer in layers.items():
            labelled = levels["labelled"][layer][str(choice.level)]
            parts: dict[str, dict[str, Counter[str]]] = {
                side: lost(of_layer["levels"], side) for side in SIDES
            }
            rows = _labels(labelled["per_label"], parts)
            yield {
                "title": cut_label(layer if layer == sequence else f"{layer} ({sequence})"),
                "headline": list(_headline(levels, labelled, layer, choice)),
                "sides": [_side(side, sum(parts[side].values(), Counter())) for side in SIDES],
                "per_label": labelled["per_label"],
                "labels": rows[:MOST_LABELS],
                "labels_title": f"Labels, worst first, level {choice.level}"
                + how_many(min(len(rows), MOST_LABELS), len(rows)),
            }


def lost(levels: Mapping[str, Any], side: str) -> dict[str, Counter[str]]:
    """Return for each label how many spans of a side are in each part, from a report of metric ``confusion``.

    >>> strict = {"found": {"A": {"A": 2}}, "unlabelled": {"A": 0}, "missed": {"A": 4}}
    >>> loose = {"found": {"A": {"A": 3, "B": 1}}, "unlabelled": {"A": 0}, "missed": {"A": 2}}
    >>> dict(lost({"1": {"gold": strict}, "4": {"gold": loose}}, "gold")["A"])
    {'right': 2, 'boundary': 1, 'label': 1, 'missed': 2}
    """
    strict, loose = levels["1"][side], levels["4"][side]
    found = {}
    for label, others in loose["found"].items():
        right = strict["found"][label].get(label, 0)
        good = others.get(label, 0)
        parts = (right, good - right, sum(others.values()) - good + loose["unlabelled"][label])
        found[label] = Counter(dict(zip(PARTS, (*parts, loose[UNMATCHED[side]][label]), strict=True)))
    return found


def _headline(
    levels: Mapping[str, Any], labelled: Mapping[str, Any], layer: str, choice: Choice
) -> Iterator[dict[str, Any]]:
    """Yield the figures of a layer: with its labels, and of the boundaries alone."""
    name = LEVEL_NAMES[str(choice.level)].lstrip("1234 +")
    for title, rates, is_chosen in (
        ("boundaries", levels["unlabelled"][str(choice.level)], choice.labelled is None),
        ("boundaries and labels", labelled["micro"], choice.labelled == layer),
    ):
        figures = [(key, shown(Rate(rates[key.lower()]))) for key in ("F1", "Precision", "Recall")]
        yield {"title": f"{title}, level {choice.level} ({name})", "figures": figures, "chosen": is_chosen}


def _side(side: str, parts: Counter[str]) -> dict[str, Any]:
    whole = sum(parts.values())
    return {"caption": f"{whole:,} {side} span{'' if whole == 1 else 's'}", **_bar(side, parts)}


def _bar(side: str, parts: Counter[str]) -> dict[str, Any]:
    names = {**{part: part for part in PARTS}, "missed": UNMATCHED[side]}
    named = [{"css": f"part-{part}", "name": names[part], "n": parts[part]} for part in PARTS if parts[part]]
    return {"parts": named, "spoken": ", ".join(f"{part['n']:,} {part['name']}" for part in named) or "none"}


def _labels(
    per_label: Mapping[str, Mapping[str, Any]], parts: Mapping[str, Mapping[str, Counter[str]]]
) -> list[dict[str, Any]]:
    """Return a row for each label, the one with the lowest F1 first, of equal ones the most frequent."""
    most = max((sum(counts.values()) for counts in parts["gold"].values()), default=0)
    worst = sorted(
        per_label, key=lambda label: (_low(per_label[label]["f1"]), -per_label[label]["gold"], label)
    )
    rows = []
    for label in worst:
        counts = parts["gold"].get(label, Counter())
        rates = per_label[label]
        rows.append(
            {
                "label": cut_label(label),
                "width": 100 * sum(counts.values()) / most if most else 0,
                "figures": [shown(Rate(rates[key])) for key in ("precision", "recall", "f1")],
                "gold": rates["gold"],
                "predicted": rates["predicted"],
                **_bar("gold", counts),
            }
        )
    return rows


def _low(f1: float | None) -> float:
    return 2.0 if f1 is None else f1
