"""Profiles: which spans go wrong, by their length, casing, place, and what training data has of them.

Gold spans go to buckets by their own value, which gives recall; predicted spans by theirs, which gives precision. So
the supports of the buckets of a feature add up to those of the whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, count, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

from clueval.arguments import checked_call, require_instance, require_kind
from clueval.evaluation.plan import chosen_metrics
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.findings.span_values import FEATURES, SpanOfSide, Value, Words, lower
from clueval.first.metrics.metric import Metric
from clueval.reading.read_options import ReadOptions, columns_of_sides, with_columns_of_tags
from clueval.reading.source import source_of
from clueval.reports.report import Data, Report
from clueval.reports.table import Cell, Rate, Table
from clueval.second.formats.options import Reading
from clueval.second.reading.options import InputSide, LayerColumns, readings_of
from clueval.second.results.options import Counting
from clueval.spans.document import Document
from clueval.spans.filters import parse_where
from clueval.studies.profile_counts import FEW, Feature, ProfileCounts
from clueval.transforms.group import names_of, sha8


@dataclass(frozen=True, slots=True)
class Profile(Report):
    """A profile: a sequence of rows, one for each bucket.

    Attributes:
        result: the result of the evaluation; its section ``profile`` has the buckets.
    """

    _named_by: ClassVar[Sequence[str]] = ("metric", "sequence", "feature", "bucket")
    _title: ClassVar[str] = "Profile"

    result: Result

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return len(self.rows())

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.rows()[number]

    def to_dict(self) -> dict[str, Any]:
        """Return the result with its section ``profile``."""
        return self.result.to_dict()

    def tables(self) -> Iterator[Table]:
        """Yield a table for each feature; an asterisk marks buckets with few spans."""
        for metric, sequence, feature, entries in self._buckets():
            header = [feature, "precision", "recall", "f1", "gold", "predicted", ""]
            rows: list[list[Cell | Rate]] = [
                [
                    entry["bucket"],
                    *(Rate(entry[rate]) for rate in ("precision", "recall", "f1")),
                    entry["gold"],
                    entry["predicted"],
                    f"* under {FEW}" if entry["few"] else "",
                ]
                for entry in entries
            ]
            yield Table(f"{metric}, {sequence}: by {feature}", header, rows)

    def _buckets(self) -> Iterator[tuple[str, str, str, list[dict[str, Any]]]]:
        """Yield the metric, the sequence, the feature, and its buckets."""
        for metric, sequences in self.result.sections["profile"].items():
            for sequence, features in sequences.items():
                for feature, entries in features.items():
                    yield metric, sequence, feature, entries

    def _data(self) -> Data:
        rows = [
            {"metric": metric, "sequence": sequence, "feature": feature, **entry}
            for metric, sequence, feature, entries in self._buckets()
            for entry in entries
        ]
        return Data(list(rows[0]) if rows else self._named_by, rows)


@checked_call
def profile(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    feature: str | Iterable[str] | None = None,
    train: str | Path | Iterable[Document] | None = None,
    metric: str | Metric = "exact",
    buckets: int | None = None,
    layers: LayerColumns | None = None,
    **options: Any,
) -> Profile:
    """Score gold and predicted spans by buckets of their features.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        feature: names of features, separated by commas or in a list; None: all that can be computed.
        train: the training data, for ``frequency``, ``seen`` and ``consistency``: a file, which is read like gold, or a
            list of documents.
        metric: the metric, which must have micro averages.
        buckets: sort numbers into this many buckets of about equal size, instead of fixed ones.
        options: other options of `clueval.score`.

    Returns a `Profile`. Raises `UsageError` for unknown features, and the errors of `clueval.score`.
    """
    require_kind(buckets, "int | None", "buckets")
    if buckets is not None and buckets < 1:
        raise UsageError(f"buckets must be from 1, not {buckets}")
    for name in ("metrics", "observers"):
        if name in options:
            raise UsageError(f"profile has no option {name!r}", advice="use score")
    (chosen,) = chosen_metrics([metric])
    trained, sha = _training(train, layers, options)
    features = _features(feature, trained)
    counting = options.get("counting", Counting())
    require_instance(counting, Counting, "counting")
    merge, where = (options.get(name, getattr(counting, name)) for name in ("merge", "where"))
    observer = ProfileCounts(chosen, features, buckets, merge, parse_where(where))
    result = score(gold, predicted, metrics=[chosen], layers=layers, observers=[observer], **options)
    if sha is not None:
        result = replace(result, signature=Signature({**result.signature.choices, "train": sha}))
    return Profile(result)


def page_counts(feature: str | None, merge: bool, where: Any) -> ProfileCounts:
    """Return an observer for the bars of the page of errors, which keeps the buckets of wrong spans."""
    (metric,) = chosen_metrics("exact")
    counts = ProfileCounts(metric, _features(feature, None), None, merge, parse_where(where))
    counts.wrong = {}
    return counts


def _features(given: str | Iterable[str] | None, trained: TrainingSpans | None) -> dict[str, Feature]:
    known: dict[str, Feature] = {**FEATURES, **(trained.features if trained is not None else {})}
    if given is None:
        return known
    found = {}
    for name in names_of(given, "feature"):
        if name not in known:
            if name in TRAINED:
                raise UsageError(f"feature {name!r} needs training data", advice="add train='FILE'")
            raise UsageError(
                f"there is no feature {name!r}", advice=f"one of {', '.join((*FEATURES, *TRAINED))}"
            )
        found[name] = known[name]
    return found


def _training(
    train: Any, layers: LayerColumns | None, options: Mapping[str, Any]
) -> tuple[TrainingSpans | None, str | None]:
    """Return the training spans and a hash of the file; None and None without training data."""
    if train is None:
        return None, None
    if not isinstance(train, str | Path):
        documents = list(train)
        if not all(isinstance(each, Document) for each in documents):
            raise UsageError(
                "train must be a file or a list of documents", advice="clueval.read returns them"
            )
        return TrainingSpans(lambda: documents), "documents"
    reading = readings_of(options.get("reading", Reading()), _of_reading(options))[0]
    path = Path(train)
    (side,) = with_columns_of_tags(
        columns_of_sides([ReadOptions.of(reading)], layers, single=False), [[path]]
    )
    return TrainingSpans(source_of(path, side).documents), sha8(path.read_bytes())


def _of_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in Reading.__dataclass_fields__}


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
            words = Words(document)
            for span in chain.from_iterable(document.layers.values()):
                self._labels[lower(words.of(span))][span.label] += 1
        self._words = {word for text in self._labels for word in text}
        self._occurrences = self._counted(documents())

    def __deepcopy__(self, _: Any) -> Self:
        """Return this object, which nothing changes."""
        return self

    def _counted(self, documents: Iterable[Document]) -> Counter[Text]:
        """Return how often each text occurs in the words of documents."""
        alone = {known[0] for known in self._labels if len(known) == 1}
        sizes: dict[tuple[str, str], set[int]] = {}
        for first, second, *others in (known for known in self._labels if len(known) > 1):
            sizes.setdefault((first, second), set()).add(len(others) + 2)
        found: Counter[Text] = Counter()
        for document in documents:
            words = lower(Words(document).all())
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

    def frequency(self, each: SpanOfSide) -> Value:
        """How often the text was a span."""
        return self._labels.get(each.lower, Counter[str]()).total()

    def seen(self, each: SpanOfSide) -> Value:
        """Whether the text was a span with this label, with another one, or all its words were in spans."""
        text = each.lower
        if text in self._labels:
            return "text and label" if each.span.label in self._labels[text] else "other label"
        return "tokens" if text and self._words.issuperset(text) else "none"

    def consistency(self, each: SpanOfSide) -> Value:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        text = each.lower
        spans = self._labels.get(text, Counter[str]())[each.span.label]
        return min(1.0, spans / max(1, self._occurrences[text])) if spans else 0

    @property
    def features(self) -> Mapping[str, Callable[[SpanOfSide], Value]]:
        return {"frequency": self.frequency, "seen": self.seen, "consistency": self.consistency}


TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""
