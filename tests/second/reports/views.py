"""Two views that prove the page, made from results of the first edition: errors, and errors of two systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import clueval
from clueval.findings.choice import Choice
from clueval.findings.places import ErrorPlace, places
from clueval.findings.systems import SharedPlace, shared_places, shared_states
from clueval.findings.table import REASONS, Finding, joined
from clueval.reading.options import Reading
from clueval.reading.trios import trios
from clueval.second.reports.language import phrase
from clueval.second.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place
from clueval.second.reports.report import Report
from clueval.second.reports.table import Cell, Find, Part, Rate, Shares, Table, shown

GERMAN = Path(__file__).parents[3] / "clueval" / "samples" / "german"
GOLD, PREDICTED = GERMAN / "gold.vrt", GERMAN / "predicted.vrt"
LAYERS = {"entity": 2, "risk": 3}
ALL_REASONS = ("right", *REASONS)


@dataclass
class View(Report):
    """A report of values."""

    title: str = "Errors"
    signature: str = "metric:exact"
    kinds: Sequence[MarkKind] = (MarkKind("above", "", "gold"), MarkKind("below", "", "predicted"))
    facets: Sequence[Facet] = ()
    choices: Sequence[tuple[str, str]] = ()
    store: str = ""
    given: Sequence[Mapping[str, str | int]] = ()
    said: str = ""
    about: Sequence[str] = ()
    shown_tables: Sequence[Table] = ()
    listed: Sequence[Place] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "verdict": self.said,
            "places": len(self.listed),
            "signature": self.signature,
        }

    def verdict(self) -> str:
        return self.said

    def facts(self) -> Iterable[str]:
        return self.about

    def tables(self) -> Iterable[Table]:
        return self.shown_tables

    def places(self) -> Iterator[Place]:
        return iter(self.listed)


FACETS = (
    Facet("reason", "Reason", True, ALL_REASONS),
    Facet("label", "Label", True),
    Facet("layer", "Layer", True),
    Facet("side", "Side", False, ("gold", "predicted")),
    Facet("found", "Found as"),
    Facet("document", "Document"),
)
STATE = Facet("state", "Wrong in", True)


def words(finding: Finding) -> str:
    """What is wrong with a span, in a reader's words."""
    if finding.reason not in ("boundary", "boundary+label"):
        return {"label": "other label", "missed": "missed", "spurious": "spurious"}[finding.reason]
    others = finding.other_ranges
    is_gold = finding.side == "gold"
    if len(others) > 1:
        return "cut in two" if is_gold else "joins several"
    (start, end), *_ = others
    inside = finding.start <= start and end <= finding.end
    around = start <= finding.start and finding.end <= end
    short = inside if is_gold else around
    found = "too short" if short else "too long" if inside or around else "shifted"
    label = "" if finding.reason == "boundary" else ", other label"
    return ("predicted " if is_gold else "") + found + label


def line_of(finding: Finding, *more: str) -> Line:
    ids = [each for each in (finding.first_token_id, finding.last_token_id) if each]
    note = [
        f"{finding.unit} {finding.start}–{finding.end}",
        f"id {'–'.join(dict.fromkeys(ids))}" if ids else "",
        f"line {finding.line}" if finding.line else "",
        "" if finding.kind == finding.reason else f"({finding.kind})",
    ]
    label, found = joined(finding.labels), joined(finding.found) or None
    values = (finding.reason, label, finding.sequence, finding.side, found, finding.document, *more)
    kind = 0 if finding.side == "gold" else 1
    return Line(words(finding), values, kind, label, finding.text, " · ".join(filter(None, note)))


class Shape:
    """The text of a place, and where its positions begin in it."""

    def __init__(self, found: Sequence[Finding]) -> None:
        context = max((each.context for each in found), key=lambda each: sum(each.lengths))
        self.context, self.first, self.joiner = context, context.start, len(context.joiner)
        units = context.tokens or "".join(piece.text for piece in context.pieces)
        self.text = context.joiner.join(units)
        self.starts = [0]
        for unit in units:
            self.starts.append(self.starts[-1] + len(unit) + self.joiner)

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The characters of half-open positions."""
        start, end = (min(max(each - self.first, 0), len(self.starts) - 1) for each in (start, end))
        return self.starts[start], max(self.starts[start], self.starts[end] - self.joiner)

    def marked(self, marks: Iterable[Mark]) -> MarkedText:
        return MarkedText(self.text, sorted(marks), (self.context.cut_before, self.context.cut_after))


def columns(finding: Finding, text: MarkedText) -> dict[str, Any]:
    """The row of a finding: the columns of the first edition's tables."""
    others = range(len(finding.other_labels))
    return {
        "context": [text],
        "side": finding.side,
        "class": finding.kind,
        "reason": finding.reason,
        "label": joined(finding.labels),
        "text": finding.text,
        "span_start": finding.start,
        "span_end_inclusive": finding.end,
        "first_token_id": finding.first_token_id,
        "last_token_id": finding.last_token_id,
        "other_text": " | ".join(finding.other_texts[n] for n in others),
        "other_label": " | ".join(joined(finding.other_labels[n]) for n in others),
        "other_start": finding.other_start,
        "other_end_inclusive": finding.other_end,
    }


def error_place(place: ErrorPlace) -> Place:
    shape = Shape(place.findings)
    marks: dict[tuple[int, int, int, str], str] = {}
    for finding in place.findings:
        own = 0 if finding.side == "gold" else 1
        for (start, last), labels in zip(finding.other_ranges, finding.other_labels, strict=True):
            marks.setdefault((1 - own, *shape.range(start, last + 1), joined(labels)), "")
        key = (own, *shape.range(finding.start, finding.end + 1), joined(finding.labels))
        note = f"{finding.sequence} · {finding.unit} {finding.start}–{finding.end} · {finding.reason}"
        marks[key] = f"{note} ({finding.kind})"
    text = shape.marked(Mark(*key, bool(note), note) for key, note in marks.items())
    document, layer, start, end, spans = place.in_decisions
    rows = [columns(finding, text) for finding in place.findings]
    return Place(
        (document, layer, start, end), spans, [text], [line_of(each) for each in place.findings], rows
    )


def tables_of_labels(content: Mapping[str, Any], listed: Sequence[Place]) -> Iterator[Table]:
    """The tables by label, worst first: the bars of gold by reason, the rates, the numbers."""
    counts = Counter(line.values[:4] for place in listed for line in place.lines)
    errors: Counter[tuple[str, str]] = Counter()
    for (_, label, layer, _), n in counts.items():
        errors[str(layer), str(label)] += n

    def bar(layer: str, labels: Iterable[str], side: str, right: int) -> Shares:
        find = {"layer": layer, "side": side}
        own = [*labels]
        if len(own) == 1:
            find["label"] = own[0]
        reasons = [each for each in REASONS if each != ("spurious" if side == "gold" else "missed")]
        parts = [
            Part(
                sum(counts[reason, label, layer, side] for label in own),
                phrase(reason),
                {"reason": reason} | find,
            )
            for reason in reasons
        ]
        return Shares([Part(right, phrase("right"), {}), *parts])

    for layer, exact in content["metrics"]["exact"].items():
        labels, micro = exact["per_label"], exact["micro"]
        head = [Rate(micro[name]) for name in ("precision", "recall", "f1")]
        both = {"layer": layer}
        rows: list[list[Cell]] = [
            [
                "gold",
                bar(layer, labels, "gold", micro["tp_gold"]),
                "",
                head[1],
                "",
                micro["gold"],
                Find(micro["fn"], both | {"side": "gold"}),
            ],
            [
                "predicted",
                bar(layer, labels, "predicted", micro["tp_predicted"]),
                head[0],
                "",
                head[2],
                micro["predicted"],
                Find(micro["fp"], both | {"side": "predicted"}),
            ],
        ]
        for label, one in sorted(labels.items(), key=lambda each: (each[1]["f1"] or 0, each[0])):
            find = both | {"label": label}
            rates = [Rate(one[name]) for name in ("precision", "recall", "f1")]
            number = errors[layer, label]
            rows.append(
                [
                    Find(label, find),
                    bar(layer, [label], "gold", one["tp_gold"]),
                    *rates,
                    one["gold"],
                    Find(number, find),
                ]
            )
        yield Table(f"{layer}: exact", ["", "spans", "P", "R", "F1", "number", "errors"], rows)


def errors_view(gold: Path = GOLD, predicted: Path = PREDICTED, layers: Mapping[str, int] = LAYERS) -> View:
    result = clueval.score(gold, predicted, metrics="exact", layers=layers)
    content = result.to_dict()
    listed = [error_place(each) for each in places(clueval.errors(gold, predicted, layers=layers))]
    layer, exact = next(iter(content["metrics"]["exact"].items()))
    reasons = Counter(line.values[0] for place in listed for line in place.lines if line.values[2] == layer)
    most, number = reasons.most_common(1)[0]
    frequent = {label: one["f1"] for label, one in exact["per_label"].items() if one["gold"] >= 20}
    weakest = min(frequent, key=lambda label: frequent[label])
    said = (
        f"{layer}: F1 {shown(Rate(exact['micro']['f1']))}: of {sum(reasons.values())} errors {number} are "
        f"{most}; weakest label: {weakest} ({shown(Rate(frequent[weakest]))})"
    )
    return View(
        f"{predicted.name} against {gold.name}",
        str(content["signature"]),
        facets=FACETS,
        choices=(
            ("predicted", "predicted is right"),
            ("gold", "gold is right"),
            ("both", "both are right"),
            ("none", "neither is right"),
            ("unclear", "unclear"),
        ),
        store=f"errors.html Errors: {gold.name}, {predicted.name}",
        said=said,
        about=[
            f"{content['documents']} documents",
            f"{content['tokens']:,} positions",
            "1 repaired tag in predicted",
        ],
        shown_tables=[*tables_of_labels(content, listed), *confusion(listed)],
        listed=listed,
    )


def confusion(listed: Sequence[Place]) -> Iterator[Table]:
    """Which label spans of gold were found with, where the range is right."""
    pairs: dict[str, Counter[tuple[str, str]]] = {}
    for place in listed:
        for line in place.lines:
            reason, label, layer, side, found, *_ = line.values
            if side == "gold" and reason == "label":
                pairs.setdefault(str(layer), Counter())[str(label), str(found)] += 1
    for layer, counts in pairs.items():
        names = sorted({found for _, found in counts})
        rows = [
            [
                label,
                *(
                    Find(
                        counts[label, name],
                        {"side": "gold", "reason": "label", "layer": layer, "label": label, "found": name},
                        counts[label, name] / max(counts.values()),
                    )
                    for name in names
                ),
            ]
            for label in sorted({label for label, _ in counts})
        ]
        yield Table(f"{layer}: gold label, found as", ["", *names], rows, is_folded=True)


def third_system(folder: Path) -> Path:
    """Gold in the first half of each sentence pair, else predicted."""
    halves = zip(*(side.read_text(encoding="utf-8").split("</s>") for side in (GOLD, PREDICTED)), strict=True)
    path = folder / "third.vrt"
    path.write_text("</s>".join(pair[n % 2] for n, pair in enumerate(halves)), encoding="utf-8")
    return path


def shared_place(place: SharedPlace) -> Place:
    shape = Shape(place.findings)
    wrong = {
        (0 if error.finding.side == "gold" else n, each.start, each.end + 1)
        for error in place.errors
        for n, each in enumerate(error.by, 1)
        if each
    }
    marks = [
        Mark(row, *shape.range(span.start, span.end), span.label, (row, span.start, span.end) in wrong)
        for row, span in place.spans
    ]
    document, layer, start, end, spans = place.in_decisions
    lines = [
        line_of(each.finding, each.state)._replace(words=f"{each.state}: {words(each.finding)}")
        for each in place.errors
    ]
    return Place((document, layer, start, end), spans, [shape.marked(marks)], lines)


def two_systems_view(folder: Path) -> View:
    third = third_system(folder)
    sides = {"gold": str(GOLD), "A": str(PREDICTED), "B": str(third)}
    states = shared_states("A", "B")
    found = shared_places(trios(sides, LAYERS, Reading(), {}), Choice(), states)
    listed = [shared_place(place) for place in found]
    results = [
        clueval.score(GOLD, each, metrics="exact", layers=LAYERS).to_dict() for each in (PREDICTED, third)
    ]
    f1 = [result["metrics"]["exact"]["entity"]["micro"]["f1"] for result in results]
    counts = Counter((line.values[3], line.values[-1]) for place in listed for line in place.lines)
    by_state = Table(
        "errors by system",
        ["", *states.meanings],
        [
            [side, *(Find(counts[side, state], {"side": side, "state": state}) for state in states.meanings)]
            for side in ("gold", "predicted")
        ],
    )
    return View(
        "A (predicted.vrt) and B (third.vrt) against gold.vrt",
        str(results[0]["signature"]),
        (MarkKind("above", "", "gold"), MarkKind("below", "A", "A"), MarkKind("below", "B", "B")),
        (*FACETS, STATE),
        (
            ("gold", "gold is right"),
            ("A", "A is right"),
            ("B", "B is right"),
            ("none", "none is right"),
            ("unclear", "unclear"),
        ),
        "errors_of_two.html A and B",
        said=f"entity: F1 {shown(Rate(f1[0]))} → {shown(Rate(f1[1]))}",
        about=["5 documents"],
        shown_tables=[by_state],
        listed=listed,
    )
