"""Profiles: which spans go wrong, by their length, casing, place, and what training data has of them.

Gold spans go to buckets by their own value, which gives recall; predicted spans by theirs, which gives precision. So
the supports of the buckets of a feature add up to those of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

from clueval.clusters.places import Clusters
from clueval.clusters.rows import in_batches
from clueval.evaluation.options import Counting
from clueval.evaluation.plan import chosen_metrics
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.evaluation.signature import Signature
from clueval.exceptions import CluevalError, UsageError, checked_call, require_instance, require_kind
from clueval.findings.clusters import LineCheck
from clueval.findings.span_values import FEATURES, SpanOfSide, Value, Words, lower
from clueval.formats.columns.documents import TokenTable
from clueval.metrics.metric import Metric
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Reading, readings_of
from clueval.reading.read_options import ReadOptions, columns_of_sides
from clueval.reading.source import Source, source_of
from clueval.reports.report import Data, Report
from clueval.reports.table import Cell, Rate, Table
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
        for metric, sequences in self.result.sections["profile"].items():
            for sequence, features in sequences.items():
                for feature, entries in features.items():
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

    def _data(self) -> Data:
        rows = [
            {"metric": metric, "sequence": sequence, "feature": feature, **entry}
            for metric, sequences in self.result.sections["profile"].items()
            for sequence, features in sequences.items()
            for feature, entries in features.items()
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
        return TrainingSpans(TrainingDocuments(lambda: documents)), "documents"
    reading = readings_of(options.get("reading", Reading()), _of_reading(options))[0]
    (side,) = columns_of_sides([ReadOptions.of(reading)], layers, single=False)
    path = Path(train)
    return _trained(source_of(path, side)), sha8(path.read_bytes())


def _trained(source: Source) -> TrainingSpans:
    if source.token_lines is not None and source.options.decoder().reads_neighbours:
        try:
            return TrainingSpans(TrainingRows(source))
        except CluevalError:
            pass  # documents show where it is wrong
    return TrainingSpans(TrainingDocuments(source.documents))


def _of_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in Reading.__dataclass_fields__}


def all_features() -> Sequence[str]:
    """Return the names of all features."""
    return (*FEATURES, *TRAINED)


Text = tuple[str, ...]


class TrainingSpans:
    """The spans of training data: how often a text was a span, with which labels, and how often it was none.

    Texts are compared as sequences of words in lower case. Data are read twice, because occurrences of all texts are
    counted. Memory holds the texts of the spans.
    """

    def __init__(self, data: TrainingDocuments | TrainingRows) -> None:
        self._labels: dict[Text, dict[str, int]] = {}
        self._words: set[str] = set()
        for (label, *words), times in data.spans().items():
            text = lower(words)
            of_text = self._labels.setdefault(text, {})
            of_text[label] = of_text.get(label, 0) + times
            self._words.update(text)
        self._occurrences = self._counted(data.words())

    def __deepcopy__(self, _: Any) -> Self:
        """Return this object, which nothing changes."""
        return self

    def _counted(self, data: Iterable[tuple[bool, Sequence[str]]]) -> Counter[Text]:
        """Return how often each text occurs in the words of documents; a text may begin in one part of a document
        and end in the next."""
        alone = {known[0] for known in self._labels if len(known) == 1}
        longest = max(map(len, self._labels), default=0)
        sizes: dict[tuple[str, str], set[int]] = {}
        for first, second, *others in (known for known in self._labels if len(known) > 1):
            sizes.setdefault((first, second), set()).add(len(others) + 2)
        found: Counter[Text] = Counter()
        found_alone: Counter[str] = Counter()
        words: Text = ()
        for begins, part in chain(data, [(True, ())]):
            if begins:
                found.update(self._texts_in(words, len(words), sizes))
                words = ()
            new = lower(part)
            found_alone.update(filter(alone.__contains__, new))
            words += new
            past = max(0, len(words) - longest)
            found.update(self._texts_in(words, past, sizes))
            words = words[past:]
        found.update({(word,): times for word, times in found_alone.items()})
        return found

    def _texts_in(
        self, words: Text, past: int, sizes: Mapping[tuple[str, str], Iterable[int]]
    ) -> Iterator[Text]:
        """Yield the texts of several words that begin before `past`; `sizes` has their sizes by two words."""
        for at in compress(range(past), map(sizes.__contains__, pairwise(words))):
            for size in sizes[words[at], words[at + 1]]:
                found = words[at : at + size]
                if found in self._labels and len(found) == size:
                    yield found

    def frequency(self, each: SpanOfSide) -> Value:
        """How often the text was a span."""
        return sum(self._labels.get(each.lower, {}).values())

    def seen(self, each: SpanOfSide) -> Value:
        """Whether the text was a span with this label, with another one, or all its words were in spans."""
        text = each.lower
        if text in self._labels:
            return "text and label" if each.span.label in self._labels[text] else "other label"
        return "tokens" if text and self._words.issuperset(text) else "none"

    def consistency(self, each: SpanOfSide) -> Value:
        """The share of all occurrences of the text, spans or not, that were spans with this label."""
        text = each.lower
        spans = self._labels.get(text, {}).get(each.span.label, 0)
        return min(1.0, spans / max(1, self._occurrences[text])) if spans else 0

    @property
    def features(self) -> Mapping[str, Callable[[SpanOfSide], Value]]:
        return {"frequency": self.frequency, "seen": self.seen, "consistency": self.consistency}


LabelledText = tuple[str, ...]
"""A label, and the words of a span that has it."""


class TrainingDocuments:
    """Training data as documents."""

    def __init__(self, documents: Callable[[], Iterable[Document]]) -> None:
        self._documents = documents

    def spans(self) -> Counter[LabelledText]:
        """Return how often each text is a span with each label."""
        found: Counter[LabelledText] = Counter()
        for document in self._documents():
            words = Words(document)
            found.update(
                (span.label, *words.of(span)) for spans in document.layers.values() for span in spans
            )
        return found

    def words(self) -> Iterator[tuple[bool, Sequence[str]]]:
        """Yield the words of documents in parts, each with whether a document begins there."""
        for document in self._documents():
            yield True, Words(document).all()


class TrainingRows:
    """Training data as the rows of a column file. Its methods raise a `CluevalError` for wrong or unusual data."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def spans(self) -> Counter[LabelledText]:
        found: Counter[LabelledText] = Counter()
        clusters, check = Clusters([self._source], _spans_of), LineCheck([self._source])
        for rows in in_batches(([each] for each in self._source.passages()), self._source.options.sizes):
            check.see(rows)
            found.update(
                [
                    (label, *tokens[start + by : end + by])
                    for spans, tokens, by, _, _ in clusters.everywhere(rows)
                    for label, start, end in spans
                ]
            )
        check.end()
        return found

    def words(self) -> Iterator[tuple[bool, Sequence[str]]]:
        for passage in self._source.passages():
            text, layout = "".join(passage.sentences), passage.layout
            yield passage.begins, TokenTable(text, layout).tokens() if layout and text else []


def _spans_of(documents: Sequence[Document]) -> Iterator[tuple[int, tuple[str, int, int]]]:
    """Yield the labels, starts and ends of the spans of a document."""
    for spans in documents[0].layers.values():
        for span in spans:
            yield span.start, (span.label, span.start, span.end)


TRAINED = ("frequency", "seen", "consistency")
"""The features that need training data."""
