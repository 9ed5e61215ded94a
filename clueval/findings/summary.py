"""The summary of a page of errors: for each layer the headline, the parts of the spans of each side, and the labels.

Every span is *right* (a span of the other side has the same range and label), or it has one of the reasons of
`clueval.findings.table`, whatever the level. These parts of a side add up to its spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from clueval.findings.choice import SIDES, Choice, ReasonKey, reports_of
from clueval.findings.table import REASONS
from clueval.first.metrics.tables import LEVEL_NAMES
from clueval.reports.language import numeral, phrase
from clueval.reports.table import Rate, cut_label, how_many
from clueval.reports.text import shown
from clueval.spans.match_classes import UNMATCHED

RIGHT = "right"
PARTS = (RIGHT, *REASONS)

MEANINGS = {
    RIGHT: "same range, same label",
    "label": "same range, another label",
    "boundary": "same label, another range",
    "boundary+label": "another range, another label",
    "missed": "gold span that overlaps no predicted span",
    "spurious": "predicted span that overlaps no gold span",
}

MOST_LABELS = 40
"""The number of labels of which the summary shows bars; the worst ones."""


def summaries(
    report: Mapping[str, Any], choice: Choice, counts: Mapping[ReasonKey, int]
) -> Iterator[dict[str, Any]]:
    """Yield the summary of each layer of each sequence that the metric of the choice counted.

    `counts` has the numbers of `clueval.findings.choice.findings`.
    """
    for sequence, of_sequence in reports_of(report["metrics"], choice).items():
        for layer in of_sequence["labelled"] if choice.by_levels else (None,):
            rates, strict = of_sequence, of_sequence
            if layer is not None:
                rates, strict = (of_sequence["labelled"][layer][str(n)] for n in (choice.at_level, 1))
            parts: dict[str, dict[str, Counter[str]]] = {
                side: _parts(strict["per_label"], counts, (sequence, layer, side)) for side in SIDES
            }
            rows = _labels(rates["per_label"], parts)
            at = phrase("level {level}", level=choice.at_level) if choice.by_levels else phrase("exact")
            yield {
                "title": cut_label(sequence if layer in (None, sequence) else f"{layer} ({sequence})"),
                "headline": list(_headline(of_sequence, layer, choice)),
                "sides": [_side(side, sum(parts[side].values(), Counter())) for side in SIDES],
                "per_label": rates["per_label"],
                "labels": rows[:MOST_LABELS],
                "labels_title": phrase("Labels, worst first, {at}", at=at)
                + how_many(min(len(rows), MOST_LABELS), len(rows)),
            }


def _parts(
    per_label: Mapping[str, Mapping[str, Any]],
    counts: Mapping[ReasonKey, int],
    place: tuple[str, str | None, str],
) -> dict[str, Counter[str]]:
    """Return for each label how many spans of a side are in each part, given the report on exact matches."""
    side = place[-1]
    found = {}
    for label, numbers in per_label.items():
        parts = Counter({RIGHT: int(numbers[f"tp_{side}"])})
        found[label] = parts
        parts[UNMATCHED[side]] = int(numbers[side]) - parts[RIGHT]
    for (*where, label, reason, _), number in counts.items():
        if tuple(where) == place and reason != UNMATCHED[side]:
            found[label][reason] += number
            found[label][UNMATCHED[side]] -= number
    return found


def _headline(report: Mapping[str, Any], layer: str | None, choice: Choice) -> Iterator[dict[str, Any]]:
    """Yield the figures of metric exact, or those of a level: of the boundaries alone, and with labels."""
    if layer is None:
        yield _figures(phrase("exact: same start, end and label"), report["micro"], True)
        return
    level = str(choice.at_level)
    named = {"level": level, "name": phrase(LEVEL_NAMES[level].lstrip("1234 +"))}
    title = phrase("boundaries, level {level} ({name})", **named)
    yield _figures(title, report["unlabelled"][level], choice.labelled is None)
    title = phrase("boundaries and labels, level {level} ({name})", **named)
    yield _figures(title, report["labelled"][layer][level]["micro"], choice.labelled == layer)


def _figures(title: str, rates: Mapping[str, Any], is_chosen: bool) -> dict[str, Any]:
    figures = [(key, shown(Rate(rates[key.lower()]))) for key in ("F1", "Precision", "Recall")]
    figures.append(("Errors", numeral(int(rates["fn"] + rates["fp"]))))
    return {"title": title, "figures": figures, "chosen": is_chosen}


def _side(side: str, parts: Counter[str]) -> dict[str, Any]:
    caption = "{n} gold span|{n} gold spans" if side == "gold" else "{n} predicted span|{n} predicted spans"
    return {"caption": phrase(caption, n=sum(parts.values())), **_bar(side, parts)}


def _bar(side: str, parts: Counter[str]) -> dict[str, Any]:
    named = [{"name": part, "n": parts[part]} for part in PARTS if parts[part]]
    spoken = ", ".join(f"{numeral(parts[part])} {phrase(part)}" for part in PARTS if parts[part])
    return {"parts": named, "spoken": spoken or phrase("none")}


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
