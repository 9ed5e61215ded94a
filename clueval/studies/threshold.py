"""Chooses a threshold for the scores of predicted spans on one corpus (dev), to be used on another one (test).

The best threshold of a curve is the one with the highest F1, or with the highest precision of those whose recall is
high enough, or the reverse; of equal ones the higher threshold. A score of the corpus on which a threshold was chosen
is too high, so `clueval.score` refuses to use it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from clueval.core.metric import EPSILON, RATES, AnyMetric
from clueval.files.errors import UsageError
from clueval.files.options import checked_call, require_kind
from clueval.formats.options import Reading, readings_of
from clueval.metrics import only_metric
from clueval.reading import InputSide
from clueval.reports.language import numeral, phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Dot, Rate, Table, shown
from clueval.results.score import score, sha256_of_gold
from clueval.results.summary import counted, summary
from clueval.results.tables import named
from clueval.version import __version__

_MEASURE = re.compile(r"f1|(precision)@(recall)>=(.+)|(recall)@(precision)>=(.+)")
_COLUMNS = ("threshold", *RATES)

Point = Mapping[str, float]


class NoThreshold(UsageError):
    """No threshold meets the condition, or predicted has no scores.

    >>> from clueval import threshold
    >>> text = {"text": "Ada met Bob", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.9}]}
    >>> threshold([{**text, "spans": []}], [text], score_feature="score", maximise="recall@precision>=0.5")
    Traceback (most recent call last):
    clueval.studies.threshold.NoThreshold: no threshold of layer 'label' meets recall@precision>=0.5 (ask for ...
    """


class Measure(NamedTuple):
    """What is maximised, and the condition: a rate that must be at least a number; `text` is as it was given."""

    text: str
    rate: str = "f1"
    other: str = "f1"
    least: float = 0.0

    @classmethod
    def of(cls, text: str) -> Measure:
        """Return the measure of a text. Raises `UsageError` for another text.

        >>> Measure.of("precision@recall>=0.95").other
        'recall'
        """
        require_kind(text, "str", "maximise")
        match = _MEASURE.fullmatch(text)
        parts = [part for part in match.groups() if part is not None] if match else []
        try:
            measure = cls(text, parts[0], parts[1], float(parts[2])) if parts else cls(text)
        except ValueError:
            match = None
        if match is None or not 0 <= measure.least <= 1:
            advice = "f1, precision@recall>=0.95 or recall@precision>=0.9"
            raise UsageError(f"{text!r} cannot be maximised", advice=advice)
        return measure

    def best(self, curve: Sequence[Point], subject: str) -> Point:
        """Return the best point of a curve. Raises `NoThreshold`; `subject` says of what the curve is.

        Rates that have the same twelve decimals are equal; of equal rates, the higher threshold is taken.
        """
        if not curve:
            raise NoThreshold(f"{subject} has no scores", advice="predicted must have spans with scores")
        meets = [point for point in curve if point[self.other] >= self.least - EPSILON]
        if not meets:
            raise NoThreshold(f"no threshold of {subject} meets {self.text}", advice="ask for a lower value")
        return max(meets, key=lambda point: (round(point[self.rate], 12), point["threshold"]))


@dataclass(frozen=True, slots=True, repr=False)
class Threshold(Report):
    """A threshold that was chosen, or one for each label.

    Attributes:
        chosen: the points of the curves: of all labels together under None, or of each label.
        curves: the curves from which they were chosen, in the same way.
        about: the other entries of `to_dict`: ``score_feature``, ``metric``, ``measure``, ``signature``, and
            ``gold_sha256``, which tells gold apart (None if it could be read only once, or one file had both sides).
        report: the result on which it was chosen, as `Result.to_dict` returns it.

    >>> gold = [{"text": "Ada met Bob", "spans": [(0, 3, "PER")]}]
    >>> spans = [{"start": 0, "end": 3, "label": "PER", "score": 0.9}, {"start": 4, "end": 7, "label": "A", "score": 0}]
    >>> threshold(gold, [{"text": "Ada met Bob", "spans": spans}], score_feature="score").rows()[0]["threshold"]
    0.9
    """

    named_by: ClassVar[Sequence[str]] = ("label",)

    chosen: Mapping[str | None, Point]
    curves: Mapping[str | None, Mapping[str, Any]]
    about: Mapping[str, Any]
    report: Mapping[str, Any] = field(repr=False)

    @property
    def title(self) -> str:  # type: ignore[override]  # it is in the language of the context
        """What was chosen, and by what."""
        feature, measure = self.about["score_feature"], self.about["measure"]
        return phrase("threshold of {feature}: best {measure}", feature=feature, measure=measure)

    @property
    def signature(self) -> str:  # type: ignore[override]
        """The signature of the result on which it was chosen."""
        return str(self.about["signature"])

    @property
    def threshold(self) -> float | dict[str, float]:
        """The threshold, or a dictionary of those of the labels."""
        threshold: float | dict[str, float] = self._by_label("threshold")
        return threshold

    def _by_label(self, name: str) -> Any:
        if None in self.chosen:
            return self.chosen[None][name]
        return {label: point[name] for label, point in self.chosen.items()}

    def content(self) -> dict[str, Any]:
        """Return the content of the file."""
        rates = {name: self._by_label(name) for name in RATES}
        return {"clueval": __version__, "threshold": self.threshold, **self.about, **rates}

    def verdict(self) -> str:
        """Return the threshold with its rates; of several, the least and the greatest one."""
        points = list(self.chosen.values())
        least, greatest = (numeral(end(point["threshold"] for point in points), ".6g") for end in (min, max))
        if len(points) > 1:
            return phrase(
                "threshold of {n} label: {least}|thresholds of {n} labels: from {least} to {greatest}",
                n=len(points),
                least=least,
                greatest=greatest,
            )
        rates = {name: shown(Rate(points[0][name])) for name in RATES}
        return phrase(
            "F1 {f1} at the threshold {least} (precision {precision}, recall {recall})", least=least, **rates
        )

    def facts(self) -> Iterator[str]:
        """The numbers of documents and positions."""
        return counted(self.report["documents"], self.report["tokens"])

    def remarks(self) -> Iterator[str]:
        """What was read of each layer."""
        return summary(self.report)

    def tables(self) -> Iterator[Table]:
        """The thresholds, then each curve, from the highest threshold down."""
        rows: list[list[Cell]] = [
            [phrase("all") if None in self.chosen else label, numeral(least, ".6g"), *map(Rate, rates)]
            for label, least, *rates in (row.values() for row in self.data())
        ]
        yield Table(self.title, named(name.replace("_", " ") for name in self.columns()), rows)

    def drawn_tables(self) -> Iterator[Table]:
        """The tables, and the curves as dots, for a page."""
        yield from self.tables()
        for label, curve in self.curves.items():
            rows: list[list[Cell]] = []
            for point in reversed(curve["curve"]):
                least, precision, recall, f1 = (point[name] for name in _COLUMNS)
                dot = Dot(f1, is_baseline=least == self.chosen[label]["threshold"])
                rows.append([numeral(least, ".6g"), Rate(precision), Rate(recall), dot])
            title = phrase("Curve: {label}", label=phrase("all labels") if label is None else label)
            yield Table(title, named(_COLUMNS), rows, is_folded=len(self.curves) > 1)

    def columns(self) -> Sequence[str]:
        """The names of the columns of `rows`."""
        return ("label", *_COLUMNS, "average_precision")

    def data(self) -> Iterator[dict[str, Any]]:
        """A row for each threshold, as fractions."""
        for label, point in self.chosen.items():
            values = label or "all", *(point[name] for name in _COLUMNS)
            yield dict(zip(self.columns(), (*values, self.curves[label]["average_precision"]), strict=True))


@checked_call
def threshold(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    score_feature: str,
    metric: str | AnyMetric = "exact",
    maximise: str = "f1",
    per_label: bool = False,
    **options: Any,
) -> Threshold:
    """Choose the best threshold for the scores of predicted spans.

    Args:
        gold, predicted: as in `clueval.score`: the corpus on which to choose, not the one to report.
        score_feature: the feature of predicted spans with their scores.
        metric: the metric, which must have micro averages.
        maximise: ``f1``, ``precision@recall>=X`` or ``recall@precision>=X``.
        per_label: choose a threshold for each label.
        options: other options of `clueval.score`.

    The JSON that `Threshold.write` writes is for ``clueval.score(..., min_score=FILE)``. Raises
    `NoThreshold`, a `UsageError`, if no threshold meets the condition, and the errors of `clueval.score`.

    >>> gold = [{"text": "Ada met Bob", "spans": [(0, 3, "PER")]}]
    >>> spans = [{"start": 0, "end": 3, "label": "PER", "score": 0.9}, {"start": 4, "end": 7, "label": "A", "score": 0}]
    >>> threshold(gold, [{"text": "Ada met Bob", "spans": spans}], score_feature="score").rows()[0]["threshold"]
    0.9
    """
    require_kind(score_feature, "str", "score_feature")
    measure = Measure.of(maximise)
    for name in ("metrics", "min_score"):
        if name in options:
            raise UsageError(f"threshold has no option {name!r}", advice="use score")
    metrics = only_metric(metric, "a threshold")
    reading, *_ = readings_of(options.get("reading", Reading()), options)
    result = score(gold, predicted, metrics=metrics, score_feature=score_feature, **options)
    ((name, sequences),) = result.metrics.items()
    if len(sequences) != 1 or "curve" not in next(iter(sequences.values()), {}):
        names = ", ".join(sequences) or "none"
        raise UsageError(
            f"a threshold needs a metric with a curve, and exactly one layer; there are: {names}",
            advice="name one layer, and another metric than gate",
        )
    ((sequence, report),) = sequences.items()
    curves: dict[str | None, Mapping[str, Any]] = _curves_by_label(report) if per_label else {None: report}
    chosen = {
        label: measure.best(entry["curve"], f"layer {sequence!r}" if label is None else f"label {label!r}")
        for label, entry in curves.items()
    }
    if not chosen:
        raise NoThreshold(f"layer {sequence!r} has no scores", advice="predicted must have spans with scores")
    facts = {
        "score_feature": score_feature,
        "metric": name,
        "measure": maximise,
        "signature": str(result.signature),
        "gold_sha256": None if predicted is None else sha256_of_gold(gold, reading, options.get("layers")),
    }
    return Threshold(chosen, curves, facts, result.to_dict())


def _curves_by_label(report: Mapping[str, Any]) -> dict[str | None, Mapping[str, Any]]:
    """Return the entries of the labels that have a curve and predicted spans, wherever they are in a report."""
    curves: dict[str | None, Mapping[str, Any]] = {}
    for name, value in report.items():
        if name == "per_label" and not curves:
            curves = {
                label: entry for label, entry in value.items() if "curve" in entry and entry.get("predicted")
            }
        elif isinstance(value, Mapping) and not curves:
            curves = _curves_by_label(value)
    return curves
