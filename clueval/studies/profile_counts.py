"""Counts the spans of each bucket in the pass that scores: an observer of the evaluation.

In column files, spans are found by their clusters (`clueval.clusters`), and a value is computed once for spans that
have the same text, and once for spans that have the same place in a sentence of the same length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.clusters.places import Clusters
from clueval.core.span import SIDES, Span
from clueval.evaluation.curves import micro_path
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import count_sides, sequences_in
from clueval.files.errors import UsageError
from clueval.findings.choice import Choice
from clueval.findings.page_profile import PageProfile, WrongSpan
from clueval.findings.span_values import (
    BUCKETS,
    POSITION,
    SpanOfSide,
    Value,
    Words,
    bucket_of,
    depths_of,
    equal_buckets,
    in_order,
    range_name,
)
from clueval.findings.stream import within_sentences
from clueval.first.metrics.counting import Counts, Tally
from clueval.first.metrics.exact import Exact
from clueval.first.metrics.metric import Metric, Side
from clueval.second.reading.options import layer_names
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.limits import require_short_texts

if TYPE_CHECKING:
    from clueval.clusters.rows import ParallelRows
    from clueval.reading.source import Source
    from clueval.transforms.group import Group

FEW = 20
"""A bucket with fewer gold or predicted spans than this is marked."""

Feature = Callable[[SpanOfSide], Value]
_COUNTS = ("gold", "predicted", "tp_gold", "tp_predicted")
_MOST = 1 << 14
"""The number of texts and places of spans that are held, approximately."""


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
        self._clusters: Clusters[tuple[int, int, int]] | None = None
        self._layers: list[str] = []
        self._kinds: dict[tuple[str, str, int, tuple[str, ...]], int] = {}
        self._texts: Counter[tuple[Any, ...]] = Counter()  # a kind, then words
        self._places: Counter[tuple[int, int, int]] = (
            Counter()
        )  # a kind, a position, the length of the sentence

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
        for side, own, of_side, judged in zip(SIDES, values, sides, _judged(sides), strict=True):
            right = [place for place, is_right in judged.items() if is_right]
            for feature, of_spans in own.items():
                for name, chosen in ((side, judged), (f"tp_{side}", right)):
                    for value, times in Counter(map(of_spans.__getitem__, chosen)).items():
                        self._add(sequence, feature, value, {name: times})
            if self.wrong is not None and (document := of_side.document) is not None:
                for place, is_right in judged.items():
                    if not is_right:
                        span, named = of_side.spans[place], [str(each[place]) for each in own.values()]
                        self.wrong[document.id, side, sequence, span.start, span.end, span.label] = named

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

    # Column files

    def reads_rows(self, gold: Source, predicted: Source) -> bool:
        self._clusters = Clusters((gold, predicted), self._examine)
        self._layers = layer_names(gold.options.layers)
        return self._is_exact and self.wrong is None and within_sentences(gold, predicted, Choice())

    def _examine(self, documents: Sequence[Document]) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """Yield the spans of clusters: the number of a kind, start and end. Equal spans of both sides are one."""
        gold, predicted = documents
        for sequence, *sides in self._sides.sides(gold, predicted):
            found: dict[tuple[int, int, str, int], list[str]] = {}
            for name, side, judged in zip(SIDES, sides, _judged(sides), strict=True):
                spans = list(side.spans)
                depths = depths_of(spans)
                for place, is_right in judged.items():
                    span = spans[place]
                    key = span.start, span.end, span.label, depths[id(span)]
                    found.setdefault(key, []).extend([name, f"tp_{name}"] if is_right else [name])
            for (start, end, label, depth), counts in found.items():
                kind = sequence, label, depth, tuple(counts)
                yield start, (self._kinds.setdefault(kind, len(self._kinds)), start, end)

    def see_rows(self, rows: ParallelRows) -> None:
        assert self._clusters is not None
        gold, names = rows.parts[0].passages[0], self._layers
        if not self._sides.plan.where.on_documents(names).lets_through(gold.document, gold.metadata):
            return
        self._sides.see_layers(names)
        self._sequences |= dict.fromkeys(sequences_in(self._sides.plan, self._sides.layers))
        texts: list[tuple[Any, ...]] = []
        places = []
        for found, tokens, by, begin, size in self._clusters.everywhere(rows):
            for kind, start, end in found:
                texts.append((kind, *tokens[start + by : end + by]))
                places.append((kind, start + by - begin, size))
        self._texts.update(texts)
        self._places.update(places)
        if len(self._texts) + len(self._places) > _MOST:
            self._settle()

    def _settle(self) -> None:
        """Count the spans of column files that have been seen."""
        kinds = list(self._kinds)
        words = Words(Document("", {}, tokens=["x"]))
        own_span = lru_cache(lambda kind, size: Span(0, size, kinds[kind][1]))
        spans = []
        for (kind, *text), times in self._texts.items():
            span = own_span(kind, len(text))
            spans.append((kind, SpanOfSide(span, words, {id(span): kinds[kind][2]}, text), times))
        found: Counter[tuple[str, int, Value]] = Counter()
        for name, value_of in self._features.items():
            if name != POSITION:
                for kind, each, times in spans:
                    found[name, kind, value_of(each)] += times
                continue
            for (kind, first, size), times in self._places.items():
                found[name, kind, first / size] += times
        for (name, kind, value), times in found.items():
            sequence, _, _, counts = kinds[kind]
            self._add(sequence, name, self._early(name, value), dict.fromkeys(counts, times))
        self._texts.clear()
        self._places.clear()

    def include(self, other: ProfileCounts) -> None:
        """Add the counts of another observer with the same settings."""
        for each in (self, other):
            each._settle()
        self._sequences |= other._sequences
        for key, tally in other._tallies.items():
            self._tallies.setdefault(key, Counter()).update(tally)

    def section(self) -> dict[str, Any]:
        """Return the entries of the buckets, by metric, sequence and feature."""
        self._settle()
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


def _judged(sides: Sequence[Side]) -> Iterator[dict[int, bool]]:
    """Yield which spans of each side count, of equal ones one, by index, and whether the other side has its equal."""
    keys = [[(span.start, span.end, span.label, span.parts) for span in side.spans] for side in sides]
    both = set(keys[0]) & set(keys[1])
    for side, of_side in zip(sides, keys, strict=True):
        counted = side.counted
        places = {key: place for place, key in enumerate(of_side) if counted is None or counted[place]}
        yield {place: key in both for key, place in places.items()}


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
