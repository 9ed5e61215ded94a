"""Precision-recall curves: the scores of a metric if only predicted spans with a score of at least t are kept.

The thresholds t of the metric ``exact`` are all scores that occur, counted in one pass; those of other metrics are a
grid, and each document is counted at each threshold. *Average precision* is the sum, from the highest threshold down,
of precision times the gain in recall over the highest recall before; for ``exact``, where recall never falls, that is
scikit-learn's `average_precision_score`, with spans that were never predicted as positives without a score.

A curve is a metric of documents beside the one whose curve it is: a threshold leaves out spans before layers are merged
and cases are found, so a case, which may fall apart at some threshold, is too late. Its tally is added at once, like
those of other metrics of documents, and needs nothing else in the bag.

>>> from clueval.core.document import Document
>>> from clueval.core.span import Span
>>> spans = [Span(start, start + 1, "A", {"p": score}) for start, score in ((0, 0.9), (6, 0.8), (2, 0.5))]
>>> pair = Pair(Document("d", {"x": [Span(0, 1, "A"), Span(2, 3, "A"), Span(4, 5, "A")]}), Document("d", {"x": spans}))
>>> curve = Curve(Exact(), "p")
>>> report = curve.scores(curve.count_documents([pair], "x", {}), ["x"])
>>> round(report["average_precision"], 4), [(each["threshold"], each["recall"]) for each in report["curve"][1:]]
(0.5556, [(0.8, 0.3333333333333333), (0.9, 0.3333333333333333)])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, ClassVar

from clueval.core.case import CaseOfKey, LabelledRange, Where, keys_of, labelled_range, which_count
from clueval.core.document import Pair
from clueval.core.exact import Exact
from clueval.core.merging import with_merged
from clueval.core.metric import RATES, AnyMetric, Counts, DocumentMetric, Tally, f_measure, rate, score_of
from clueval.core.span import NOTHING
from clueval.files.errors import UsageError
from clueval.statistics.distributions import average_precision

GRID = tuple(number / 10 for number in range(11))
"""The thresholds of metrics that are not counted at all scores, if none are given."""

Point = dict[str, float]
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Curve(DocumentMetric):
    """The curve of a metric with micro averages.

    Its tally has the keys ``(threshold, *key)`` for each key of the metric's tally; for ``exact`` at all scores
    ``("gold", label)`` and ``(score, count, label)``: the spans that are predicted or become correct at a score, and
    as ``"repeated"`` those that are equal to one with a higher score.

    Attributes:
        metric: the metric whose curve it is.
        feature: the feature of predicted spans that has their score.
        thresholds: the thresholds; None: all scores for ``exact``, `GRID` for others.
        merge: whether all layers are counted as one sequence.

    Raises `UsageError` for a metric without micro averages.
    """

    merges: ClassVar[bool] = True

    metric: AnyMetric
    feature: str
    thresholds: tuple[float, ...] | None = None
    merge: bool = False

    def __post_init__(self) -> None:
        if not has_curve(self.metric, merge=self.merge):
            raise UsageError(
                f"metric {self.metric.name!r} has no micro average",
                advice="use exact, levels, partial, strings or coverage",
            )

    @property
    def name(self) -> str:  # type: ignore[override]  # it is that of the metric
        return f"{self.metric.name}.curve"

    @property
    def same_text(self) -> bool:  # type: ignore[override]  # as the metric says
        return self.metric.same_text

    def choices(self, total: Tally) -> Mapping[str, str]:
        """Return the feature with the scores, and the thresholds that were given."""
        choices = {"score-feature": self.feature}
        if self.thresholds is not None:
            choices["thresholds"] = ",".join(map(str, sorted({*self.thresholds})))
        return choices

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text. Raises `UsageError` for a predicted span without a score."""
        tally = Tally()
        if self._at_all_scores:
            for pair in pairs:
                tally.update(self._steps(pair, sequence, where))
            return tally
        scored = [
            {
                layer: [(score_of(span, self.feature, pair.predicted), span) for span in spans]
                for layer, spans in pair.predicted.layers.items()
            }
            for pair in pairs
        ]
        for threshold in self.thresholds or GRID:
            visible = []
            for pair, layers in zip(pairs, scored, strict=True):
                kept = {
                    layer: [span for score, span in spans if score >= threshold]
                    for layer, spans in layers.items()
                }
                visible.append(replace(pair, predicted=replace(pair.predicted, layers=kept, tags=NOTHING)))
            for key, number in self._counts_of_pairs(visible, sequence, where).items():
                tally[threshold, *key] += number
        return tally

    @property
    def _at_all_scores(self) -> bool:
        is_exact = isinstance(self.metric, Exact) and self.metric.min_overlap is None
        return is_exact and self.thresholds is None and not self.merge

    def _counts_of_pairs(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        metric = self.metric
        if hasattr(metric, "count_documents"):
            if self.merge:
                pairs = [
                    replace(pair, gold=with_merged(pair.gold), predicted=with_merged(pair.predicted))
                    for pair in pairs
                ]
            return metric.count_documents(pairs, sequence, where)
        tally = Tally()
        for pair in pairs:
            layers = list(pair.gold.layers) if self.merge else [sequence]
            for column in keys_of(pair.sides, layers, merge=self.merge, where=where, reads=metric.reads):
                for key in column.keys:
                    tally.update(metric.count(CaseOfKey(key, column.sequence)))
        return tally

    def _steps(self, pair: Pair, sequence: str, where: Where) -> Tally:
        """Return, for each score, the spans that are predicted and those that become correct at it."""
        tally = Tally()
        gold, predicted = (side.layers.get(sequence, ()) for side in pair.sides)
        counted_gold, counted_predicted = (
            set(compress(map(labelled_range, spans), which_count(spans, side, where)))
            for spans, side in zip((gold, predicted), pair.sides, strict=True)
        )
        wanted = set(map(labelled_range, gold))
        entered: dict[LabelledRange, float] = {}
        for span in predicted:
            score, key = score_of(span, self.feature, pair.predicted), labelled_range(span)
            if key in entered:
                tally[min(score, entered[key]), "repeated", span.label] += 1
            entered[key] = max(score, entered.get(key, score))
        for key in counted_gold:
            tally["gold", key[2]] += 1
        for key, score in entered.items():
            if key in counted_predicted:
                tally[score, "predicted", key[2]] += 1
                tally[score, "tp_predicted", key[2]] += key in wanted
            tally[score, "tp_gold", key[2]] += key in counted_gold
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> Report:
        """Return ``curve`` and ``average_precision``, also of each label in ``per_label``."""
        points = _points(total) if self._at_all_scores else self._grid_points(total, layers)
        everything = _report(points.pop(None, []))
        return {**everything, "per_label": {label: _report(of_label) for label, of_label in points.items()}}

    def with_curves(self, report: Mapping[str, Any], curves: Report, layers: Sequence[str]) -> Report:
        """Return a report of the metric with the curves, those of labels in their entries."""
        *place, _ = self._micro_in(report, layers)
        per_label = curves["per_label"]
        thresholds = () if self._at_all_scores else [point["threshold"] for point in curves["curve"]]
        without_spans = _report([_point(threshold, _NO_SPANS) for threshold in thresholds])

        def labelled(section: Mapping[str, Any], path: Sequence[str]) -> Report:
            if path:
                return {**section, path[0]: labelled(section[path[0]], path[1:])}
            if "per_label" not in section:
                return dict(section)
            entries = {
                label: {**entry, **per_label.get(label, without_spans)}
                for label, entry in section["per_label"].items()
            }
            return {**section, "per_label": entries}

        of_all = {name: value for name, value in curves.items() if name != "per_label"}
        return {**labelled(report, place), **of_all}

    def _micro_in(self, report: Mapping[str, Any], layers: Sequence[str]) -> list[str]:
        """Return the keys of the micro average in a report of the metric."""
        return _keys_at(report, next(_micro_paths(self.metric, layers, self.merge)))

    def _grid_points(self, total: Tally, layers: Sequence[str]) -> dict[str | None, list[Point]]:
        """Return the points at all thresholds; where a label has no span, its rates are 0/0."""
        sections: dict[float, dict[str | None, Any]] = {}
        for threshold in sorted(self.thresholds or GRID):
            at = Tally({key[1:]: number for key, number in total.items() if key[0] == threshold})
            section: Any = self.metric.scores(at, layers)
            *place, last = self._micro_in(section, layers)
            for name in place:
                section = section[name]
            sections[threshold] = {None: section[last], **section.get("per_label", {})}
        labels = dict.fromkeys(label for section in sections.values() for label in section)
        return {
            label: [
                _point(threshold, section.get(label, _NO_SPANS)) for threshold, section in sections.items()
            ]
            for label in labels
        }


def has_curve(metric: AnyMetric, *, merge: bool) -> bool:
    """Return whether a metric has a micro average, whose curve can be drawn."""
    return any(_micro_paths(metric, ["x"], merge))


def _micro_paths(metric: AnyMetric, layers: Sequence[str], merge: bool) -> Iterator[str]:
    """Yield the paths of micro averages of all spans; of layers that are merged not that of one of them."""
    for path in metric.headlines(Tally(), layers):
        if (path.endswith("micro") or path == "unlabelled.1") and not (
            merge and path.startswith("labelled.")
        ):
            yield path


_NO_SPANS = Counts().report()


def _point(threshold: float, rates: Mapping[str, float]) -> Point:
    return {"threshold": threshold, **{name: rates[name] for name in RATES}}


def _report(points: Sequence[Point]) -> Report:
    area = average_precision((point["threshold"], point["precision"], point["recall"]) for point in points)
    return {"curve": list(points), "average_precision": area}


def _points(steps: Tally) -> dict[str | None, list[Point]]:
    """Return the points of the curve at all scores, rising, of each label and, under None, of all labels."""
    gold: Counter[str | None] = Counter()
    by_score: dict[str | None, dict[float, Counter[str]]] = {None: {}}
    for key, number in steps.items():
        for label in (None, key[-1]):
            scores = by_score.setdefault(label, {})
            if len(key) == 2:
                gold[label] += number
            else:
                scores.setdefault(key[0], Counter())[key[1]] += number
    points: dict[str | None, list[Point]] = {}
    for label, scores in by_score.items():
        sums: Counter[str] = Counter()
        falling = []
        for score in sorted(scores, reverse=True):
            sums.update(scores[score])
            precision = rate(sums["tp_predicted"], sums["predicted"])
            recall = rate(sums["tp_gold"], gold[label])
            f1 = f_measure(precision, recall)
            falling.append({"threshold": score, "precision": precision, "recall": recall, "f1": f1})
        points[label] = falling[::-1]
    return points


def _keys_at(report: Mapping[str, Any], path: str) -> list[str]:
    """Return the keys of a path, some of which may have full stops themselves.

    >>> _keys_at({"labelled": {"a.b": {"1": {"micro": {}}}}}, "labelled.a.b.1.micro")
    ['labelled', 'a.b', '1', 'micro']
    """
    if path in report:
        return [path]
    for key, inner in report.items():
        if path.startswith(f"{key}.") and isinstance(inner, Mapping):
            rest = path.removeprefix(f"{key}.")
            if keys := _keys_at(inner, rest):
                return [key, *keys]
    return []
