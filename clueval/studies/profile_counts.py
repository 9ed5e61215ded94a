"""Counts the spans of each bucket in the pass that scores: an observer of the evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.evaluation.curves import micro_path
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import count_sides
from clueval.exceptions import UsageError
from clueval.findings.page_profile import PageProfile, WrongSpan
from clueval.findings.span_values import (
    BUCKETS,
    SpanOfSide,
    Value,
    Words,
    bucket_of,
    depths_of,
    equal_buckets,
    in_order,
    range_name,
)
from clueval.metrics.counting import Counts, Tally
from clueval.metrics.exact import Exact
from clueval.metrics.metric import Metric, Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.limits import require_short_texts

if TYPE_CHECKING:
    from clueval.transforms.group import Group

FEW = 20
"""A bucket with fewer gold or predicted spans than this is marked."""

Feature = Callable[[SpanOfSide], Value]
_COUNTS = ("gold", "predicted", "tp_gold", "tp_predicted")


class ProfileCounts:
    """An observer that counts spans by the values of features; `number` asks for that many buckets of equal size."""

    name: ClassVar[str] = "profile"

    def __init__(
        self, metric: Metric, features: Mapping[str, Feature], number: int | None, merge: bool, where: Filter
    ) -> None:
        self._metric, self._features, self._number = metric, features, number
        micro_path(metric.name, "x", metric.scores(Tally(), ["x"]))
        if metric.needs.every_span is not None or not metric.needs.places:
            raise UsageError(
                f"metric {metric.name!r} cannot count buckets alone", advice="use exact or levels"
            )
        self._sides = Evaluation(Plan((metric,), merge, where, ()), ())
        self._is_exact = isinstance(metric, Exact) and metric.min_overlap is None
        self._tallies: dict[tuple[str, str, Value], Counter[str]] = {}
        self._sequences: dict[str, None] = {}
        self.wrong: dict[WrongSpan, list[str]] | None = None
        """If set, the buckets of each span that has no equal span on the other side."""

    def see(self, group: Group) -> None:
        self._sides.see_layers([*group.gold.layers, *group.predicted.layers])
        words = Words(group.gold), Words(group.predicted)
        for sequence, gold, predicted in self._sides.sides(group.gold, group.predicted):
            self._count(sequence, (gold, predicted), words)
        if group.unplaced is not None:
            nothing = replace(group.gold, layers={}, tags={})
            for sequence, _, lost in self._sides.sides(nothing, group.unplaced):
                gold = Side((), document=Document(group.gold.id, {}), sequence=sequence)
                self._count(sequence, (gold, lost), (words[0], Words(group.unplaced)))

    def _count(self, sequence: str, sides: tuple[Side, Side], words: tuple[Words, Words]) -> None:
        self._sequences[sequence] = None
        values = [self._values(side, own) for side, own in zip(sides, words, strict=True)]
        if self._is_exact:
            self._count_exact(sequence, sides, values)
            return
        for feature in self._features:
            own, other = values[0][feature], values[1][feature]
            for value in dict.fromkeys([*own, *other]):
                counted = (
                    side._replace(counted=_only(side, each, value))
                    for side, each in zip(sides, (own, other), strict=True)
                )
                report = self._metric.scores(count_sides(self._metric, *counted), [sequence])
                entry: Any = report
                for name in micro_path(self._metric.name, sequence, report):
                    entry = entry[name]
                self._add(sequence, feature, value, {name: entry[name] for name in _COUNTS})

    def _count_exact(
        self, sequence: str, sides: tuple[Side, Side], values: Sequence[Mapping[str, Sequence[Value]]]
    ) -> None:
        keys = [[(span.start, span.end, span.label, span.parts) for span in side.spans] for side in sides]
        both = set(keys[0]) & set(keys[1])
        for number, side in enumerate(("gold", "predicted")):
            counted = sides[number].counted
            places = {
                key: place for place, key in enumerate(keys[number]) if counted is None or counted[place]
            }
            right = [place for key, place in places.items() if key in both]
            for feature, of_spans in values[number].items():
                for name, chosen in ((side, places.values()), (f"tp_{side}", right)):
                    for value, times in Counter(map(of_spans.__getitem__, chosen)).items():
                        self._add(sequence, feature, value, {name: times})
            if self.wrong is not None and (document := sides[number].document) is not None:
                for key, place in places.items():
                    if key not in both:
                        named = [str(of_spans[place]) for of_spans in values[number].values()]
                        self.wrong[document.id, side, sequence, key[0], key[1], key[2]] = named

    def _add(self, sequence: str, feature: str, value: Value, numbers: Mapping[str, float]) -> None:
        key = sequence, feature, value
        if key not in self._tallies:
            self._tallies[key] = Counter()
        tally = self._tallies[key]
        for name, number in numbers.items():
            tally[name] += number  # type: ignore[assignment]  # partial matches count fractions

    def _values(self, side: Side, words: Words) -> dict[str, list[Value]]:
        require_short_texts(sum(map(len, side.spans)), words.document)
        depths = depths_of(side.spans) if "depth" in self._features else {}
        spans = [SpanOfSide(span, words, depths) for span in side.spans]
        return {
            name: [self._early(name, value_of(each)) for each in spans]
            for name, value_of in self._features.items()
        }

    def _early(self, feature: str, value: Value) -> Value:
        """Return the name of the bucket, unless values are sorted into buckets at the end."""
        return value if self._number is not None and feature in BUCKETS else bucket_of(feature, value)

    def include(self, other: ProfileCounts) -> None:
        """Add the counts of another observer with the same settings."""
        self._sequences |= other._sequences
        for key, tally in other._tallies.items():
            self._tallies.setdefault(key, Counter()).update(tally)

    def section(self) -> dict[str, Any]:
        """Return the entries of the buckets, by metric, sequence and feature."""
        sequences = {
            sequence: {feature: self._entries(sequence, feature) for feature in self._features}
            for sequence in self._sequences
        }
        return {self._metric.name: sequences}

    def for_page(self) -> PageProfile:
        """Return what the page of errors shows."""
        return PageProfile(self.section(), list(self._features), self.wrong or {})

    def _entries(self, sequence: str, feature: str) -> list[dict[str, Any]]:
        found: dict[Value, Counter[str]] = {
            key[2]: tally for key, tally in self._tallies.items() if key[:2] == (sequence, feature)
        }
        if self._number is not None and feature in BUCKETS:
            buckets = _by_equal_size(found, self._number)
        else:
            buckets = [(str(name), found[name]) for name in in_order(feature, map(str, found))]
        return [_entry(name, tally) for name, tally in buckets]


def _only(side: Side, values: Sequence[Value], value: Value) -> list[bool]:
    counted = side.counted or [True] * len(values)
    return [counts and each == value for counts, each in zip(counted, values, strict=True)]


def _by_equal_size(found: Mapping[Value, Counter[str]], number: int) -> list[tuple[str, Counter[str]]]:
    """Return buckets of about equal size of the values that are numbers, and the others as they are."""
    numbers = {value: tally for value, tally in found.items() if not isinstance(value, str)}
    values = [value for value, tally in numbers.items() for _ in range(tally["gold"] + tally["predicted"])]
    buckets = []
    for least, greatest in equal_buckets(values, number):
        tally: Counter[str] = Counter()
        for value, own in numbers.items():
            if least <= value <= greatest:
                tally.update(own)
        buckets.append((range_name(least, greatest), tally))
    return buckets + sorted((name, tally) for name, tally in found.items() if isinstance(name, str))


def _entry(name: str, tally: Mapping[str, float]) -> dict[str, Any]:
    counts = Counts(*(tally.get(each, 0) for each in _COUNTS))
    return {"bucket": name, **counts.report(), "few": min(counts.gold, counts.predicted) < FEW}
