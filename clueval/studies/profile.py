"""`profile`: which spans go wrong, by their length, casing, place, and what training data has of them.

Gold spans go to buckets by their own value, which gives recall; predicted spans by theirs, which gives precision. So
the supports of the buckets of a feature add up to those of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from clueval.core.case import Case, labelled_range
from clueval.core.document import Document, Pair, require_short_texts
from clueval.core.exact import Exact
from clueval.core.located import EqualCases, Located
from clueval.core.metric import RATES, AnyMetric, Counts, Metric, Tally, require_countable, split_metrics
from clueval.core.span import MERGED, NO_LABEL, SIDES
from clueval.files.errors import CluevalError, UsageError
from clueval.files.opening import sha256_of
from clueval.files.options import checked_call, refuse_unknown, require_kind
from clueval.formats.options import LayerColumns
from clueval.metrics import only_metric
from clueval.reading import InputSide
from clueval.reading.paths import as_path, files_of
from clueval.reading.read import read
from clueval.reports.language import phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Rate, Table, shown
from clueval.results.pairs import Pairs, pairs_of
from clueval.results.result import Result
from clueval.results.signature import Signature
from clueval.results.summary import mended
from clueval.studies.errors.search import Choice, Search
from clueval.studies.errors.study import OF_SCORE, result_of
from clueval.studies.span_values import (
    ALL_FEATURES,
    BUCKETS,
    FEATURES,
    TRAINED,
    Feature,
    SpansInText,
    TextWords,
    TrainingSpans,
    Value,
    bucket_of,
    depths_of,
    equal_buckets,
    in_order,
    range_name,
)
from clueval.transforms.changes import EachSpan, names_of

FEW = 20
"""A bucket with fewer gold or predicted spans than this is marked."""

Entry = Mapping[str, Any]
"""A bucket: its name, its rates and counts, and whether its spans are few."""


class Profile(Report):
    """The scores of spans by the values of their features; see `clueval.profile`.

    `pairs` are those of all texts, as they are counted; `train` returns the documents of the training data, and
    `train_choices` are what the signature says of these.

    >>> from clueval import profile
    >>> rows = profile([["B-PER", "B-LOC"]], [["B-PER", "O"]], feature=["label"]).rows()
    >>> [(row["bucket"], row["recall"]) for row in rows]
    [('LOC', 0.0), ('PER', 1.0)]
    """

    named_by: ClassVar[Sequence[str]] = ("metric", "sequence", "feature", "bucket")

    def __init__(
        self,
        pairs: Pairs,
        features: Sequence[str] | None,
        *,
        train: Callable[[], Iterable[Document]] | None,
        train_choices: Mapping[str, str],
        metric: AnyMetric,
        buckets: int | None,
    ) -> None:
        if buckets is not None and buckets < 1:
            raise UsageError(f"buckets must be from 1, not {buckets}")
        of_cases, _ = split_metrics([metric])
        headline = next(iter(metric.headlines(Tally(), ["x"])), "")
        if not (headline.endswith("micro") and of_cases and metric.places) or metric.filters is not None:
            advice = "use exact or levels"
            raise UsageError(f"metric {metric.name!r} cannot count buckets alone", advice=advice)
        self.metric = of_cases[0]
        available = dict(FEATURES)
        if train is not None:
            available |= TrainingSpans(train, is_merged=pairs.plan.merge).features
        for name in features or ():
            if name not in available and name in TRAINED:
                raise UsageError(f"feature {name!r} needs training data", advice="add train='FILE'")
            if name not in available:
                from clueval.files.names import one_of  # only for names that do not exist

                raise UsageError(f"there is no feature {name!r}", advice=one_of(name, ALL_FEATURES))
        self._features = available if features is None else {name: available[name] for name in features}
        self._pairs, self._number, self._train_choices = pairs, buckets, train_choices

    @cached_property
    def result(self) -> Result:
        """The result of the metric."""
        result = result_of(self._pairs)
        return replace(result, signature=Signature({**result.signature.choices, **self._train_choices}))

    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read, in the language of the context
        return phrase("Profile")

    @property
    def signature(self) -> str:  # type: ignore[override]  # it is only read
        """The signature of the scores."""
        return str(self.result.signature)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self.data()

    @cached_property
    def entries(self) -> Mapping[str, Mapping[str, Sequence[Entry]]]:
        """The entries of the buckets by sequence and feature."""
        plan = self._pairs.plan
        search = Search(Choice(merge=plan.merge, where=plan.where), self._pairs.layers)
        counts = _Counts(self.metric, self._features, self._number)
        for (pair,) in self._pairs.texts(with_tags=False):
            counts.see(pair, search)
        return {
            sequence: {feature: list(counts.entries(sequence, feature)) for feature in self._features}
            for sequence in counts.sequences
        }

    def facts(self) -> Iterable[str]:
        result = self.result
        return [*result.facts(), *mended(result.repaired_tags, result.prepared)]

    def data(self) -> Iterator[Mapping[str, Any]]:
        for sequence, features in self.entries.items():
            for feature, buckets in features.items():
                for entry in buckets:
                    yield {"metric": self.metric.name, "sequence": sequence, "feature": feature, **entry}

    def _large(self) -> Iterator[tuple[str, list[tuple[str, Entry]], bool]]:
        """Yield of each sequence the buckets that are not few, by feature and name; all, and False, if all are few."""
        for sequence, features in self.entries.items():
            every = [
                (f"{phrase(name)} {_bucket(name, entry)}", entry)
                for name, buckets in features.items()
                for entry in buckets
            ]
            large = [(name, entry) for name, entry in every if not entry["few"]]
            yield sequence, large or every, bool(large)

    def verdict(self) -> str:
        """Return the bucket with the lowest F1 of each sequence, of those that are not few."""
        verdicts = []
        for sequence, buckets, are_large in self._large():
            if are_large:
                name, entry = min(buckets, key=lambda bucket: (bucket[1]["f1"], bucket[0]))
                verdict = phrase(
                    "lowest F1 with at least {least} spans: {bucket}",
                    least=FEW,
                    bucket=f"{name} ({shown(Rate(entry['f1']))})",
                )
                verdicts.append(verdict if len(self.entries) == 1 else f"{sequence}: {verdict}")
        return "; ".join(verdicts)

    def tables(self) -> Iterator[Table]:
        """Yield a table for each feature; an asterisk marks buckets with few spans."""
        for sequence, features in self.entries.items():
            for feature, buckets in features.items():
                rows = []
                for entry in buckets:
                    few = phrase("* under {n}|* under {n}", n=FEW) if entry["few"] else ""
                    rows.append([*_row(_bucket(feature, entry), entry), few])
                title = phrase("{layer}: by {feature}", layer=sequence, feature=phrase(feature))
                yield Table(title, [phrase(feature), *_header(), ""], rows)

    def first_tables(self, tables: Iterable[Table]) -> Iterator[Table]:
        """Yield the tables of one or two features; of more, one of the buckets of each sequence with the lowest F1."""
        if len(self._features) <= 2:
            yield from tables
            return
        for sequence, buckets, _ in self._large():
            buckets.sort(key=lambda bucket: bucket[1]["f1"] or 0.0)
            title = phrase("{layer}: large buckets, the lowest F1 first", layer=sequence)
            yield Table(title, ["", *_header()], [_row(name, entry) for name, entry in buckets])

    def content(self) -> dict[str, Any]:
        """Return the scores, and the entries by metric, sequence and feature. Rates are fractions."""
        return {**self.result.content(), "profile": {self.metric.name: self.entries}}


def _bucket(feature: str, entry: Entry) -> str:
    name: str = entry["bucket"]
    return name if feature == "label" else phrase(name)


def _header() -> list[str]:
    return [phrase("precision"), phrase("recall"), "F1", phrase("gold"), phrase("predicted")]


def _row(name: str, entry: Entry) -> list[Cell]:
    return [name, *(Rate(entry[rate]) for rate in RATES), *(entry[side] for side in SIDES)]


class _Counts:
    """Counts spans by sequence, feature and bucket; with a number of buckets, by value."""

    def __init__(self, metric: Metric, features: Mapping[str, Feature], number: int | None) -> None:
        self._metric, self._features, self._number = metric, features, number
        self._is_exact = isinstance(metric, Exact) and metric.min_overlap is None
        self._tallies: defaultdict[tuple[str, str, Value], Tally] = defaultdict(Tally)
        self.sequences: dict[str, None] = {}

    def see(self, pair: Pair, search: Search) -> None:
        """Count the spans of a pair."""
        equal: list[EqualCases] | None = [] if self._is_exact and not search.choice.where else None
        cases: dict[str, list[Located]] = {}
        for located_case in search.cases([pair], equal):
            cases.setdefault(located_case.sequence, []).append(located_case)
        pairs = {each.sequence: each.spans() for each in equal or ()}  # spans of which both sides have one
        self.sequences |= dict.fromkeys(search.sequences)
        texts = [TextWords(side) for side in pair.sides]
        for sequence in self.sequences:
            on_both, of_sequence = pairs.get(sequence, ()), cases.get(sequence, ())
            in_cases = [
                [span for case in of_sequence for span in case.sides[side] or ()]
                for side in range(len(SIDES))
            ]
            for document, spans in zip(pair.sides, in_cases, strict=True):
                require_short_texts(sum(map(len, chain(on_both, spans))), document)
            depths = [depths_of([*on_both, *spans]) for spans in in_cases]
            columns = [
                self._values(SpansInText(spans, text, of_side[len(on_both) :]))
                for spans, text, of_side in zip(in_cases, texts, depths, strict=True)
            ]
            if self._is_exact:
                of_both = [
                    SpansInText(on_both, text, of_side[: len(on_both)])
                    for text, of_side in zip(texts, depths, strict=True)
                ]
                self._count_on_both(sequence, of_both)
                self._count_exact(sequence, of_sequence, columns)
                continue
            rows = {
                id(span): row
                for spans, of_side in zip(in_cases, columns, strict=True)
                for span, row in zip(spans, zip(*of_side, strict=True), strict=True)
            }
            for located_case in of_sequence:
                self._count(pair, sequence, located_case, rows)

    def _values(self, spans: SpansInText) -> list[list[Value]]:
        """Return the values of each feature."""
        return [list(values_of(spans)) for values_of in self._features.values()]

    def _bucket(self, feature: str, value: Value) -> Value:
        """Return the name of the bucket, unless values are sorted into buckets at the end."""
        return value if self._number is not None and feature in BUCKETS else bucket_of(feature, value)

    def _add(self, sequence: str, columns: Iterable[Iterable[Value]], names: Iterable[str]) -> None:
        """Count spans under some names, given the values of each feature."""
        for feature, column in zip(self._features, columns, strict=True):
            for value, times in Counter(column).items():
                tally = self._tallies[sequence, feature, self._bucket(feature, value)]
                for name in names:
                    tally[name, NO_LABEL] += times

    def _count_on_both(self, sequence: str, sides: Sequence[SpansInText]) -> None:
        """Count spans of which both sides have one; their values are computed once if they are equal."""
        of_names: list[tuple[str, ...]] = [(side, f"tp_{side}") for side in SIDES]
        if sides[0].have_values_of(sides[1]):
            of_names, sides = [of_names[0] + of_names[1]], sides[:1]
        for names, spans in zip(of_names, sides, strict=True):
            self._add(sequence, self._values(spans), names)

    def _count_exact(
        self, sequence: str, cases: Iterable[Located], columns: Sequence[Sequence[list[Value]]]
    ) -> None:
        """Count the spans of cases, of equal ones of a side one."""
        every, right = ([list[int]() for _ in SIDES] for _ in range(2))
        ends = [0 for _ in SIDES]
        for case in cases:
            keys = [list(map(labelled_range, side or ())) for side in case.sides]
            both = {*keys[0]} & {*keys[1]}
            for side, (of_side, flags) in enumerate(zip(keys, case.counted, strict=True)):
                numbers = range(ends[side], ends[side] + len(of_side))
                counted = zip(of_side, numbers, flags or (True,) * len(of_side), strict=True)
                number_of = {key: number for key, number, counts in counted if counts}
                every[side] += number_of.values()
                right[side] += [number for key, number in number_of.items() if key in both]
                ends[side] = numbers.stop
        for side, name in enumerate(SIDES):
            for what, places in ((name, every[side]), (f"tp_{name}", right[side])):
                chosen = ([column[place] for place in places] for column in columns[side])
                self._add(sequence, chosen, [what])

    def _count(self, pair: Pair, sequence: str, case: Located, values: Mapping[int, Sequence[Value]]) -> None:
        try:
            require_countable(self._metric, Case(case.sides, case.counted))
            for number, feature in enumerate(self._features):
                of_sides = [
                    [self._bucket(feature, values[id(span)][number]) for span in side or ()]
                    for side in case.sides
                ]
                for value in dict.fromkeys(chain.from_iterable(of_sides)):
                    only = tuple(
                        tuple(
                            bucket == value and (flags is None or flags[n])
                            for n, bucket in enumerate(of_side)
                        )
                        for of_side, flags in zip(of_sides, case.counted, strict=True)
                    )
                    tally = self._metric.count(Case(case.sides, only))
                    self._tallies[sequence, feature, value].update(tally)
        except CluevalError as error:
            error.document, error.file = pair.first.id, error.file or pair.first.file
            raise

    def entries(self, sequence: str, feature: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of the buckets of a feature, in order."""
        tallies = {key[2]: tally for key, tally in self._tallies.items() if key[:2] == (sequence, feature)}
        if self._number is not None and feature in BUCKETS:
            buckets = self._by_equal_size(sequence, tallies, self._number)
        else:
            buckets = [(str(name), tallies[name]) for name in in_order(feature, map(str, tallies))]
        for name, tally in buckets:
            counts = self._micro(sequence, tally)
            yield {"bucket": name, **counts.report(), "few": min(counts.gold, counts.predicted) < FEW}

    def _micro(self, sequence: str, tally: Tally) -> Counts:
        """Return the counts of the headline; those of levels have no labels if layers are merged."""
        layers = [] if sequence == MERGED else [sequence]
        return next(iter(self._metric.headlines(tally, layers).values()))

    def _by_equal_size(
        self, sequence: str, tallies: Mapping[Value, Tally], number: int
    ) -> list[tuple[str, Tally]]:
        """Return buckets of about equal size of the values that are numbers, then the others by name."""
        numbers = {value: tally for value, tally in tallies.items() if not isinstance(value, str)}
        values: list[float] = []
        for value, tally in numbers.items():
            counts = self._micro(sequence, tally)
            values += [value] * int(counts.gold + counts.predicted)
        buckets = []
        for least, greatest in equal_buckets(values, number):
            whole = Tally()
            for value, tally in numbers.items():
                if least <= value <= greatest:
                    whole.update(tally)
            buckets.append((range_name(least, greatest), whole))
        names = sorted(name for name in tallies if isinstance(name, str))
        return buckets + [(name, tallies[name]) for name in names]


# The function


@checked_call
def profile(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    feature: str | Iterable[str] | None = None,
    train: str | Path | Iterable[Document] | None = None,
    metric: str | AnyMetric = "exact",
    buckets: int | None = None,
    layers: LayerColumns | None = None,
    **options: Any,
) -> Profile:
    """Score gold and predicted spans by buckets of their features.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        feature: names of features, separated by commas or in a list; None: all that can be computed.
        train: the training data, for ``frequency``, ``seen`` and ``consistency``: a path, which is read like gold, or a
            list of documents. Options that rename labels, change ranges or merge layers change them as gold.
        metric: the metric, which must have micro averages.
        buckets: sort numbers into this many buckets of about equal size, instead of fixed ones.
        options: as for `clueval.errors`, those of `clueval.score`.

    Returns a `Profile`. Raises `UsageError` for unknown features, and the errors of `clueval.score`.

    >>> rows = profile([["B-PER", "B-LOC"]], [["B-PER", "O"]], feature=["label"]).rows()
    >>> [(row["bucket"], row["recall"]) for row in rows]
    [('LOC', 0.0), ('PER', 1.0)]
    """
    refuse_unknown(options, ["feature", "train", "metric", "buckets", "layers", *OF_SCORE], "profile")
    require_kind(buckets, "int | None", "buckets")
    chosen = only_metric(metric, "a profile")
    pairs = pairs_of(gold, predicted, metrics=chosen, layers=layers, caller="profile", **options)
    documents, train_choices = _training(train, layers, pairs)
    return Profile(
        pairs,
        None if feature is None else names_of(feature, "feature"),
        train=documents,
        train_choices=train_choices,
        metric=chosen,
        buckets=buckets,
    )


def _training(
    train: Any, layers: LayerColumns | None, pairs: Pairs
) -> tuple[Callable[[], Iterable[Document]] | None, dict[str, str]]:
    """Return what reads the training data, and what the signature says of them."""
    if train is None:
        return None, {}
    if isinstance(train, str | PathLike):
        path = as_path(train)
        of_gold = {
            name: source[0] if isinstance(source, tuple) else source
            for name, source in (layers or {}).items()
        }
        how = partial(read, path, layers=of_gold or None, reading=pairs.groups[0].readings[0])
        choices = {"train": sha256_of(file for _, file in files_of(path))[:8]}
        return partial(_as_gold, how, pairs), choices
    documents = list(train)
    if not all(isinstance(document, Document) for document in documents):
        raise UsageError("train must be a file or a list of documents", advice="clueval.read returns them")
    return partial(_as_gold, partial(iter, documents), pairs), {"train": "documents"}


def _as_gold(documents: Callable[[], Iterable[Document]], pairs: Pairs) -> Iterator[Document]:
    """Yield training documents with the labels and ranges that spans of gold get, and with layers merged as there."""
    from clueval.core.merging import with_merged  # few profiles change spans
    from clueval.transforms.characters import InCharacters

    steps = [step for step in pairs.plan.steps if isinstance(step, EachSpan | InCharacters)]
    for document in documents():
        if steps:
            changed: Sequence[Pair] = [Pair(document, replace(document, layers={}, tags={}))]
            for step in steps:
                changed = step(changed)
            document = changed[0].gold
        yield with_merged(document, pairs.layers) if pairs.plan.merge else document
