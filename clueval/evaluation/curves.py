"""Precision-recall curves: the scores of a metric if only predicted spans with a score of at least t are kept.

The thresholds t of the metric ``exact`` are all scores that occur, counted in one pass; those of other metrics are a
grid, and each document is counted at each threshold. *Average precision* is the sum, from the highest threshold down,
of precision times the gain in recall over the highest recall before; for ``exact``, where recall never falls, that is
scikit-learn's `average_precision_score`, with spans that were never predicted as positives without a score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clueval.core.span import Span
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.plan import Plan
from clueval.evaluation.result import result_of
from clueval.evaluation.score_path import headline_rates
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally, f_measure, rate
from clueval.first.metrics.exact import Exact
from clueval.first.metrics.gate import Gate
from clueval.first.metrics.gate.thresholds import GRIDS
from clueval.first.metrics.metric import Side
from clueval.spans.document import Document
from clueval.transforms.counted_spans import score_of

if TYPE_CHECKING:
    from clueval.transforms.group import Group

Point = dict[str, float]
Entry = dict[str, Any]


class Curves:
    """An observer that counts the metrics of a plan at each threshold; `reports` puts the curves into reports.

    `thresholds` are the thresholds of the metrics; None: all scores for ``exact``, eleven from 0 to 1 for others.
    """

    name = "curves"

    def __init__(self, plan: Plan, feature: str, thresholds: Sequence[float] | None) -> None:
        self._feature = feature
        alone = plan._replace(transforms=(), observers=(), by=(), resample_by=None)
        self._exact = [
            metric
            for metric in plan.metrics
            if isinstance(metric, Exact)
            and metric.min_overlap is None
            and thresholds is None
            and not plan.merge
        ]
        others = tuple(
            metric for metric in plan.metrics if metric not in self._exact and metric.name != "gate"
        )
        self._sides = Evaluation(alone._replace(metrics=tuple(self._exact)), ())
        grid = GRIDS["11"] if thresholds is None else thresholds
        self._at = {t: Evaluation(alone._replace(metrics=others), ()) for t in grid if others}
        self._steps: dict[str, Counter[tuple[Any, ...]]] = {}

    def see(self, group: Group) -> None:
        document = group.predicted
        if self._exact:
            self._sides.see_layers([*group.gold.layers, *document.layers])
            for sequence, gold, predicted in self._sides.sides(group.gold, document):
                self._count_exact(sequence, gold, predicted, document)
            if group.unplaced is not None:
                for sequence, _, lost in self._sides.sides(
                    replace(group.gold, layers={}, tags={}), group.unplaced
                ):
                    self._count_exact(sequence, Side(()), lost, document)
        for threshold, evaluation in self._at.items():
            lost_spans = None if group.unplaced is None else self._kept(group.unplaced, threshold)
            evaluation.count_documents(group.gold, self._kept(document, threshold), lost_spans)

    def _kept(self, document: Document, threshold: float) -> Document:
        layers = {
            layer: [span for span in spans if score_of(span, self._feature, document) >= threshold]
            for layer, spans in document.layers.items()
        }
        return replace(document, layers=layers, tags={})

    def _count_exact(self, sequence: str, gold: Side, predicted: Side, document: Document) -> None:
        """Count, for each score, the spans that are predicted and those that become correct at it."""
        steps = self._steps.setdefault(sequence, Counter())
        counted_gold, counted = _counted(gold), _counted(predicted)
        wanted = {_key(span) for span in gold.spans}
        entered: dict[tuple[Any, ...], float] = {}
        for span in predicted.spans:
            score = score_of(span, self._feature, document)
            entered[_key(span)] = max(score, entered.get(_key(span), -math.inf))
        for key in counted_gold:
            steps["gold", key[2]] += 1
        for key, score in entered.items():
            if key in counted:
                steps[score, "predicted", key[2]] += 1
                steps[score, "tp_predicted", key[2]] += key in wanted
            steps[score, "tp_gold", key[2]] += key in counted_gold

    def section(self) -> Mapping[str, Any]:
        return {}

    def include(self, other: Curves) -> None:
        """Add the counts of another observer with the same settings."""
        for sequence, steps in other._steps.items():
            self._steps.setdefault(sequence, Counter()).update(steps)
        for threshold, evaluation in self._at.items():
            evaluation.include(other._at[threshold].counts())

    def reports(self, reports: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """Return the reports, by metric and sequence, with ``curve`` and ``average_precision``, also of each label."""
        found = {name: dict(by) for name, by in reports.items()}
        for metric in self._exact:
            for sequence, report in found[metric.name].items():
                points = _points(self._steps.get(sequence, Counter()))
                found[metric.name][sequence] = _with_curves(report, ("micro",), points)
        at = {t: result_of(evaluation, Signature({})).metrics for t, evaluation in self._at.items()}
        for name, by in found.items() if at else ():
            if any(metric.name == name for metric in self._exact) or name == "gate":
                continue
            for sequence, report in by.items():
                place = micro_path(name, sequence, report)
                points = _grid_points({t: each[name].get(sequence, {}) for t, each in at.items()}, place)
                found[name][sequence] = _with_curves(report, place, points)
        return found


def with_curves(plan: Plan, feature: str, thresholds: Sequence[float] | None) -> Plan:
    """Return the plan with an observer for the curves; the metric ``gate`` has curves of its own.

    Raises `UsageError` for a metric without micro averages.
    """
    metrics = []
    for metric in plan.metrics:
        if isinstance(metric, Gate) and metric.score_feature is None:
            metric = replace(
                metric, score_feature=feature, thresholds=None if thresholds is None else tuple(thresholds)
            )
        elif not isinstance(metric, Gate):
            micro_path(metric.name, "x", metric.scores(Tally(), ["x"]))
        metrics.append(metric)
    plan = plan._replace(metrics=tuple(metrics))
    return plan._replace(observers=(*plan.observers, Curves(plan, feature, thresholds)))


def micro_path(metric: str, sequence: str, report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the path of the headline's micro average. Raises `UsageError` for a metric without one."""
    paths = headline_rates(sequence, report)
    if not paths or paths[0][-2:] not in (("micro", "precision"), ("1", "precision")):
        raise UsageError(
            f"metric {metric!r} has no micro average",
            advice="use exact, levels, partial, strings or coverage",
        )
    return paths[0][:-1]


def _key(span: Span) -> tuple[Any, ...]:
    return span.start, span.end, span.label, span.parts


def _counted(side: Side) -> set[tuple[Any, ...]]:
    spans = zip(side.spans, side.counted or [True] * len(side.spans), strict=True)
    return {_key(span) for span, counts in spans if counts}


def _points(steps: Mapping[tuple[Any, ...], int]) -> dict[str | None, list[Point]]:
    """Return the points of the curve, rising, of each label and, under None, of all labels."""
    gold: Counter[str | None] = Counter()
    by_score: dict[str | None, dict[float, Counter[str]]] = {None: {}}
    for key, number in steps.items():
        for label in (None, key[-1]):
            if len(key) == 2:
                gold[label] += number
                by_score.setdefault(label, {})
            else:
                by_score.setdefault(label, {}).setdefault(key[0], Counter())[key[1]] += number
    return {label: list(_curve(gold[label], scores))[::-1] for label, scores in by_score.items()}


def _curve(gold: int, by_score: Mapping[float, Counter[str]]) -> Iterator[Point]:
    """Yield the points from the highest threshold down."""
    sums: Counter[str] = Counter()
    for score in sorted(by_score, reverse=True):
        sums.update(by_score[score])
        yield _point(score, rate(sums["tp_predicted"], sums["predicted"]), rate(sums["tp_gold"], gold))


def _point(threshold: float, precision: float, recall: float) -> Point:
    return {
        "threshold": threshold,
        "precision": precision,
        "recall": recall,
        "f1": f_measure(precision, recall),
    }


def _grid_points(
    reports: Mapping[float, Mapping[str, Any]], place: tuple[str, ...]
) -> dict[str | None, list[Point]]:
    found: dict[str | None, list[Point]] = {None: []}
    for threshold, report in sorted(reports.items()):
        section: Any = report
        for name in place[:-1]:
            section = section.get(name, {})
        entries = {None: section.get(place[-1], {}), **section.get("per_label", {})}
        for label, entry in entries.items():
            point = _point(threshold, entry.get("precision", 0.0), entry.get("recall", 0.0))
            found.setdefault(label, []).append(point | {"f1": entry.get("f1", point["f1"])})
    return found


def average_precision(points: Iterable[Mapping[str, float]]) -> float:
    """Return the area under the steps of a curve; see the module.

    >>> average_precision([{"threshold": 0.9, "precision": 1.0, "recall": 0.5}])
    0.5
    """
    highest = 0.0
    steps = []
    for point in sorted(points, key=lambda point: -point["threshold"]):
        if point["recall"] > highest:
            steps.append((point["recall"] - highest) * point["precision"])
            highest = point["recall"]
    return math.fsum(steps)


def _with_curves(
    report: Mapping[str, Any], place: tuple[str, ...], points: Mapping[str | None, Sequence[Point]]
) -> Entry:
    """Return the report with the curve, and its section ``per_label`` with those of the labels."""

    def curve(label: str | None) -> Entry:
        found = points.get(label, [])
        return {"curve": list(found), "average_precision": average_precision(found)}

    def labelled(section: Mapping[str, Any], path: tuple[str, ...]) -> Entry:
        if path:
            return {**section, path[0]: labelled(section[path[0]], path[1:])}
        if "per_label" not in section:
            return dict(section)
        per_label = {label: {**entry, **curve(label)} for label, entry in section["per_label"].items()}
        return {**section, "per_label": per_label}

    return {**labelled(report, place[:-1]), **curve(None)}
