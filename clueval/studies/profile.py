"""`profile`: which spans go wrong, by their length, casing, place, and what training data has of them.

Gold spans go to buckets by their own value, which gives recall; predicted spans by theirs, which gives precision. So
the supports of the buckets of a feature add up to those of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, count, pairwise
from typing import TYPE_CHECKING, Any

from clueval.core.case import Case, Located
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric, Metric, require_countable, split_metrics
from clueval.core.span import MERGED, NO_LABEL, SIDES, Span
from clueval.core.tally import Counts, Tally
from clueval.files.errors import CluevalError, UsageError
from clueval.files.limits import require_short_texts
from clueval.reports.language import phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Rate, Table, shown
from clueval.studies.errors import Pairs
from clueval.studies.errors_view import facts_of
from clueval.studies.span_values import (
    BUCKETS,
    FEATURES,
    SpanInText,
    TextWords,
    Value,
    bucket_of,
    depths_of,
    equal_buckets,
    in_order,
    lower,
    range_name,
)
from clueval.studies.wrong import Choice, Search, rereadable

if TYPE_CHECKING:
    from clueval.results.result import Result

FEW = 20
"""A bucket with fewer gold or predicted spans than this is marked."""

TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""

Feature = Callable[[SpanInText], Value]

_RATES = ("precision", "recall", "f1")


class Profile(Report):
    """The scores of spans by the values of their features.

    Args:
        pairs: the pairs of all texts, as they are counted; or a function that returns them.
        features: the names of features; None: all that can be computed.
        train: the training data, for the features in `TRAINED`: documents, or a function that returns them.
        metric: a metric that counts cases and has a micro average.
        buckets: sort numbers into this many buckets of about equal size, instead of fixed ones.
        layers: the layers in their order; further ones follow as they occur.
        merge, where: as in `Choice`.
        scored: returns the result of the metric on the same texts; None: there is no signature.
        title: what was compared.

    Raises `UsageError` for unknown features, for a metric that cannot count single spans, and the errors of metrics.

    >>> from clueval import profile
    >>> rows = profile([["B-PER", "B-LOC"]], [["B-PER", "O"]], feature=["label"]).rows()
    >>> [(row["bucket"], row["recall"]) for row in rows]
    [('LOC', 0.0), ('PER', 1.0)]
    """

    def __init__(
        self,
        pairs: Pairs,
        features: Sequence[str] | None = None,
        *,
        train: Iterable[Document] | Callable[[], Iterable[Document]] | None = None,
        metric: AnyMetric = Exact(),  # noqa: B008  # it cannot be changed
        buckets: int | None = None,
        layers: Sequence[str] = (),
        merge: bool = False,
        where: Mapping[str, frozenset[str]] | None = None,
        scored: Callable[[], Result] | None = None,
        title: str = "",
    ) -> None:
        if buckets is not None and buckets < 1:
            raise UsageError(f"buckets must be from 1, not {buckets}")
        self._title, self._scored = title, scored
        self.metric = _checked(metric)
        trained = None if train is None else TrainingSpans(rereadable(train))
        self._features = _features_called(features, trained)
        self._pairs, self._number = rereadable(pairs), buckets
        self._choice, self._layers = Choice(merge=merge, where=where or {}), layers

    @cached_property
    def result(self) -> Result | None:
        """The result of the metric; None if there are no scores."""
        return None if self._scored is None else self._scored()

    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read, in the language of the context
        return self._title or phrase("Profile")

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores."""
        return "" if self.result is None else str(self.result.signature)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self.data()

    @cached_property
    def entries(self) -> Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]:
        """The entries of the buckets by sequence and feature: bucket, rates, counts, and whether they are few."""
        search, counts = (
            Search(self._choice, self._layers),
            _Counts(self.metric, self._features, self._number),
        )
        for pair in self._pairs():
            counts.see(pair, search)
        return {
            sequence: {feature: counts.entries(sequence, feature) for feature in self._features}
            for sequence in counts.sequences
        }

    def facts(self) -> Iterable[str]:
        return [] if self.result is None else facts_of(self.result.documents, self.result.tokens)

    def data(self) -> Iterator[Mapping[str, Any]]:
        for sequence, features in self.entries.items():
            for feature, buckets in features.items():
                for entry in buckets:
                    yield {"metric": self.metric.name, "sequence": sequence, "feature": feature, **entry}

    def scores(self) -> dict[str, float]:
        """Return the rates by metric, sequence, feature and bucket, as ``exact.entity.length.1.f1``."""
        return {
            ".".join((row["metric"], row["sequence"], row["feature"], row["bucket"], rate)): row[rate]
            for row in self.data()
            for rate in _RATES
        }

    def verdict(self) -> str:
        """Return the bucket with the lowest F1 of each sequence, of those that are not few."""
        found = []
        for sequence, features in self.entries.items():
            rates = [
                (entry["f1"], feature, entry["bucket"])
                for feature, buckets in features.items()
                for entry in buckets
                if not entry["few"]
            ]
            if rates:
                f1, feature, bucket = min(rates)
                said = phrase("lowest F1: {bucket}", bucket=f"{feature} {bucket} ({shown(Rate(f1))})")
                found.append(said if len(self.entries) == 1 else f"{sequence}: {said}")
        return "; ".join(found)

    def tables(self) -> Iterator[Table]:
        """Yield a table for each feature; an asterisk marks buckets with few spans."""
        header = [phrase("precision"), phrase("recall"), "F1", phrase("gold"), phrase("predicted"), ""]
        for sequence, features in self.entries.items():
            for feature, buckets in features.items():
                rows: list[list[Cell]] = [
                    [
                        entry["bucket"],
                        *(Rate(entry[rate]) for rate in _RATES),
                        *(entry[side] for side in SIDES),
                        phrase("* under {n}|* under {n}", n=FEW) if entry["few"] else "",
                    ]
                    for entry in buckets
                ]
                title = phrase("{layer}: by {feature}", layer=sequence, feature=feature)
                yield Table(title, [feature, *header], rows)

    def first_tables(self, tables: Iterable[Table]) -> Iterator[Table]:
        """Yield the tables of one or two features; of more, one of the buckets of each sequence with the lowest F1."""
        if len(self._features) <= 2:
            yield from tables
            return
        header = ["", phrase("precision"), phrase("recall"), "F1", phrase("gold"), phrase("predicted")]
        for sequence, features in self.entries.items():
            named_buckets = [
                (f"{feature} {entry['bucket']}", entry)
                for feature, buckets in features.items()
                for entry in buckets
            ]
            large = [pair for pair in named_buckets if not pair[1]["few"]] or named_buckets
            rows: list[list[Cell]] = [
                [name, *(Rate(entry[rate]) for rate in _RATES), *(entry[side] for side in SIDES)]
                for name, entry in sorted(large, key=lambda pair: pair[1]["f1"] or 0.0)
            ]
            title = phrase("{layer}: large buckets, the lowest F1 first", layer=sequence)
            yield Table(title, header, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores, and the entries by metric, sequence and feature. Rates are fractions."""
        scores = {} if self.result is None else self.result.to_dict()
        return {**scores, "profile": {self.metric.name: self.entries}}


def _checked(metric: AnyMetric) -> Metric:
    """Return the metric if it counts the spans of a bucket alone. Raises `UsageError` otherwise."""
    of_cases, _ = split_metrics([metric])
    headline = next(iter(metric.headlines(Tally(), ["x"])), "")
    if not headline.endswith("micro") or not of_cases or metric.filters is not None or not metric.places:
        advice = "use exact, levels or partial"
        raise UsageError(f"metric {metric.name!r} cannot count buckets alone", advice=advice)
    return of_cases[0]


def _features_called(names: Sequence[str] | None, trained: TrainingSpans | None) -> dict[str, Feature]:
    known: dict[str, Feature] = {**FEATURES, **(trained.features if trained is not None else {})}
    for name in names or ():
        if name not in known and name in TRAINED:
            raise UsageError(f"feature {name!r} needs training data", advice="add train='FILE'")
        if name not in known:
            advice = f"one of {', '.join((*FEATURES, *TRAINED))}"
            raise UsageError(f"there is no feature {name!r}", advice=advice)
    return known if names is None else {name: known[name] for name in names}


class _Counts:
    """Counts spans by sequence, feature and bucket; with a number of buckets, by value."""

    def __init__(self, metric: Metric, features: Mapping[str, Feature], number: int | None) -> None:
        self._metric, self._features, self._number = metric, features, number
        self._is_exact = isinstance(metric, Exact) and metric.min_overlap is None
        self._tallies: defaultdict[tuple[str, str, Value], Tally] = defaultdict(Tally)
        self.sequences: dict[str, None] = {}

    def see(self, pair: Pair, search: Search) -> None:
        """Count the spans of a pair."""
        words = [TextWords(side) for side in pair.sides]
        of_sequences: dict[str, list[Located]] = {}
        for found in search.cases(pair):
            of_sequences.setdefault(found.sequence, []).append(found)
        self.sequences |= dict.fromkeys(search.sequences)
        for sequence, cases in of_sequences.items():
            values: dict[int, list[Value]] = {}
            for side in range(len(SIDES)):
                spans = [span for case in cases for span in case.sides[side] or ()]
                require_short_texts(sum(map(len, spans)), **pair.sides[side].in_errors)
                values |= self._values(spans, words[side])
            if self._is_exact:
                self._count_exact(sequence, cases, values)
                continue
            for found in cases:
                self._count(pair, sequence, found, values)

    def _values(self, spans: Sequence[Span], words: TextWords) -> dict[int, list[Value]]:
        """Return the values of all features of each span, by its `id`."""
        depths = depths_of(spans)
        found = {}
        for span in spans:
            each = SpanInText(span, words, depths)
            found[id(span)] = [self._early(name, value(each)) for name, value in self._features.items()]
        return found

    def _early(self, feature: str, value: Value) -> Value:
        """Return the name of the bucket, unless values are sorted into buckets at the end."""
        return value if self._number is not None and feature in BUCKETS else bucket_of(feature, value)

    def _count_exact(
        self, sequence: str, cases: Iterable[Located], values: Mapping[int, Sequence[Value]]
    ) -> None:
        """Count the spans of a sequence, of equal ones of a side one."""
        found: dict[str, list[Sequence[Value]]] = {f"{tp}{side}": [] for side in SIDES for tp in ("", "tp_")}
        for each in cases:
            case = Case(each.sides, each.counted)
            keys = [
                [(span.start, span.end, span.label, span.parts) for span in side or ()] for side in each.sides
            ]
            both = {*keys[0]} & {*keys[1]}
            for side, name in enumerate(SIDES):
                for key, span in {keys[side][number]: span for number, span in case.counting(side)}.items():
                    found[name].append(values[id(span)])
                    if key in both:
                        found[f"tp_{name}"].append(values[id(span)])
        for name, rows in found.items():
            for feature, column in zip(self._features, zip(*rows, strict=True), strict=bool(rows)):
                for value, times in Counter(column).items():
                    self._tallies[sequence, feature, value][name, NO_LABEL] += times  # all labels together

    def _count(
        self, pair: Pair, sequence: str, found: Located, values: Mapping[int, Sequence[Value]]
    ) -> None:
        case = Case(found.sides, found.counted)
        try:
            require_countable(self._metric, case)
            for number, feature in enumerate(self._features):
                of_sides = [[values[id(span)][number] for span in side or ()] for side in found.sides]
                for value in dict.fromkeys(chain.from_iterable(of_sides)):
                    only = tuple(
                        tuple(each == value and (flags is None or flags[n]) for n, each in enumerate(of_side))
                        for of_side, flags in zip(of_sides, found.counted, strict=True)
                    )
                    tally = self._metric.count(Case(found.sides, only))
                    self._tallies[sequence, feature, value].update(tally)
        except CluevalError as error:
            error.document, error.file = pair.first.id, error.file or pair.first.file
            raise

    def entries(self, sequence: str, feature: str) -> list[dict[str, Any]]:
        """Return the entries of the buckets of a feature, in order."""
        found = {key[2]: tally for key, tally in self._tallies.items() if key[:2] == (sequence, feature)}
        if self._number is not None and feature in BUCKETS:
            buckets = self._by_equal_size(sequence, found, self._number)
        else:
            buckets = [(str(name), found[name]) for name in in_order(feature, map(str, found))]
        named = ((name, self._micro(sequence, tally)) for name, tally in buckets)
        return [
            {"bucket": name, **counts.report(), "few": min(counts.gold, counts.predicted) < FEW}
            for name, counts in named
        ]

    def _micro(self, sequence: str, tally: Tally) -> Counts:
        """Return the counts of the headline; those of levels have no labels if layers are merged."""
        layers = [] if sequence == MERGED else [sequence]
        return next(iter(self._metric.headlines(tally, layers).values()))

    def _by_equal_size(
        self, sequence: str, found: Mapping[Value, Tally], number: int
    ) -> list[tuple[str, Tally]]:
        """Return buckets of about equal size of the values that are numbers, and the others as they are."""
        numbers = {value: tally for value, tally in found.items() if not isinstance(value, str)}
        sizes = {value: self._micro(sequence, tally) for value, tally in numbers.items()}
        values = [
            value for value, counts in sizes.items() for _ in range(int(counts.gold + counts.predicted))
        ]
        buckets = []
        for least, greatest in equal_buckets(values, number):
            tally = Tally()
            for value, own in numbers.items():
                if least <= value <= greatest:
                    tally.update(own)
            buckets.append((range_name(least, greatest), tally))
        return buckets + sorted(
            ((name, tally) for name, tally in found.items() if isinstance(name, str)),
            key=lambda each: each[0],
        )


def all_features() -> Sequence[str]:
    """Return the names of all features."""
    return (*FEATURES, *TRAINED)


Text = tuple[str, ...]


class TrainingSpans:
    """The spans of training data: how often a text was a span, with which labels, and how often it was none.

    Texts are compared as sequences of words in lower case. `documents` are read twice, because occurrences of all texts
    are counted. Memory holds one document, and the texts of the spans.
    """

    def __init__(self, documents: Callable[[], Iterable[Document]]) -> None:
        self._labels: defaultdict[Text, Counter[str]] = defaultdict(Counter)
        for document in documents():
            words = TextWords(document)
            for span in chain.from_iterable(document.layers.values()):
                self._labels[lower(words.of(span))][span.label] += 1
        self._words = {word for text in self._labels for word in text}
        self._occurrences = self._counted(documents())

    def _counted(self, documents: Iterable[Document]) -> Counter[Text]:
        """Return how often each text occurs in the words of documents."""
        alone = {known[0] for known in self._labels if len(known) == 1}
        sizes: dict[tuple[str, str], set[int]] = {}
        for first, second, *others in (known for known in self._labels if len(known) > 1):
            sizes.setdefault((first, second), set()).add(len(others) + 2)
        found: Counter[Text] = Counter()
        for document in documents:
            words = lower(TextWords(document).all())
            found.update((word,) for word in filter(alone.__contains__, words))
            found.update(self._texts_in(words, sizes))
        return found

    def _texts_in(self, words: Text, sizes: Mapping[tuple[str, str], Iterable[int]]) -> Iterator[Text]:
        """Yield the texts of several words; `sizes` has their sizes by their first two words."""
        for at in compress(count(), map(sizes.__contains__, pairwise(words))):
            for size in sizes[words[at], words[at + 1]]:
                found = words[at : at + size]
                if found in self._labels and len(found) == size:
                    yield found

    def frequency(self, each: SpanInText) -> Value:
        """How often the text was a span."""
        return self._labels.get(each.lower, Counter[str]()).total()

    def seen(self, each: SpanInText) -> Value:
        """Whether the text was a span with this label, with another one, or all its words were in spans."""
        text = each.lower
        if text in self._labels:
            return "text and label" if each.span.label in self._labels[text] else "other label"
        return "tokens" if text and self._words.issuperset(text) else "none"

    def consistency(self, each: SpanInText) -> Value:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        text = each.lower
        spans = self._labels.get(text, Counter[str]())[each.span.label]
        return min(1.0, spans / max(1, self._occurrences[text])) if spans else 0

    @property
    def features(self) -> Mapping[str, Feature]:
        return {"frequency": self.frequency, "seen": self.seen, "consistency": self.consistency}
