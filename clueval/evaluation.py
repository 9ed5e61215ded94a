"""The evaluation: pairs gold with predicted, checks that they are the same text, and counts.

Files of the column formats are compared passage by passage, raw; everything else goes document by document
through the metrics. Both ways give the same counts, and the second is the model for the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

from clueval.agreement import SIDES, Comparison, compare, compare_all
from clueval.counting import Tally
from clueval.decoding import Decoder
from clueval.exceptions import TextMismatch, UsageError
from clueval.filters import ID, Filter, parse_where
from clueval.merging import MERGED, with_merged
from clueval.metric import Metric, Side
from clueval.metrics import METRICS, metric_named
from clueval.passages import ROWS, Passage
from clueval.reading import (
    LayerColumns,
    ReadOptions,
    Source,
    columns_of_side,
    layer_names,
    pairs_of,
    same_documents,
    source_of,
)
from clueval.results import Result, Signature
from clueval.same_text import ADVICE, require_same_text
from clueval.sources import Progress, blocks
from clueval.spans import DEFAULT_LAYER, Document
from clueval.units import to_characters
from clueval.version import __version__

WITHOUT_VALUE = "(none)"
"""The group of the documents that lack the metadata of a break-down."""

Documents = Iterable[Document]


@dataclass(slots=True)
class Totals:
    """Everything counted so far; adds up in any order."""

    documents: int = 0
    tokens: int = 0
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(self, metric: str, sequence: str, tally: Tally) -> None:
        self.tallies.setdefault((metric, sequence), Tally()).update(tally)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be counted: metrics, sequences with their layers, filters, break-downs."""

    metrics: tuple[Metric, ...]
    merge: bool
    where: Filter
    by: tuple[str, ...]
    unit: str | None = None


class Evaluation:
    """One evaluation while it runs."""

    def __init__(self, plan: Plan, layers: Iterable[str]) -> None:
        self.plan = plan
        self.layers = list(layers)
        self.total = Totals()
        self.groups: dict[str, dict[str, Totals]] = {key: {} for key in plan.by}
        self.repaired = dict.fromkeys(SIDES, 0)
        self.units: set[str] = set()
        self._known_metadata: set[str] = set()
        self._known_values: dict[str, set[str]] = {key: set() for key, _ in plan.where.conditions}

    @property
    def counts_fair_alone(self) -> bool:
        """Whether there is nothing to do but the metric `fair` over everything."""
        plan = self.plan
        return not (plan.merge or plan.where or plan.by or plan.unit) and [m.name for m in plan.metrics] == [
            "fair"
        ]

    def see_layers(self, layers: Iterable[str]) -> None:
        """Take in layers that documents bring along."""
        self.layers.extend(layer for layer in layers if layer not in self.layers)

    # Documents

    def count_documents(self, gold: Document, predicted: Document) -> None:
        """Check and count one pair of documents."""
        require_same_text(gold, predicted)
        if self.plan.unit == "character":
            gold, predicted = to_characters(gold), to_characters(predicted)
        self.see_layers([*gold.layers, *predicted.layers])
        receivers = self.receivers(gold.id, gold.metadata, begins=True, tokens=_positions(gold, predicted))
        self.units.add(gold.unit)
        if receivers:
            for sequence, own, other in self._sides(gold, predicted):
                for metric in self.plan.metrics:
                    tally = metric.count(own, other)
                    for totals in receivers:
                        totals.add(metric.name, sequence, tally)

    def _sides(self, gold: Document, predicted: Document) -> Iterator[tuple[str, Side, Side]]:
        """The two sides of every sequence."""
        spans_filter = self.plan.where.on_layers(self.layers)
        for key, _ in spans_filter.conditions:
            for document in (gold, predicted):
                labels = (span.by_layer.get(key) for span in document.layers.get(key, ()))
                self._known_values[key].update(filter(None, labels))
        sources = [with_merged(document) if self.plan.merge else document for document in (gold, predicted)]
        for sequence in [MERGED] if self.plan.merge else self.layers:
            sides = []
            for document, source in zip((gold, predicted), sources, strict=True):
                spans = source.layers.get(sequence, ())
                counted = spans_filter.counted(spans, document) if spans_filter else None
                sides.append(Side(spans, counted, source, source.tags.get(sequence)))
            yield sequence, sides[0], sides[1]

    # Passages

    def count_passages(
        self, pairs: Sequence[tuple[Passage, Passage]], decoders: Mapping[tuple[str, str], Decoder]
    ) -> None:
        """Check and count pairs of raw passages, together if their counts go to the same place."""
        self.units.add("token")
        if not self.plan.by and not self.plan.where:
            for gold, _ in pairs:
                receivers = self.receivers(gold.document, gold.metadata, gold.begins, gold.tokens)
            self._add(compare_all(pairs, decoders, self.plan.merge), receivers)
            return
        for gold, predicted in pairs:
            receivers = self.receivers(gold.document, gold.metadata, gold.begins, gold.tokens)
            self._add(compare(gold, predicted, decoders, self.plan.merge), receivers)

    def _add(self, comparisons: Mapping[str, Comparison], receivers: Sequence[Totals]) -> None:
        for sequence, comparison in comparisons.items() if receivers else ():
            for metric in self.plan.metrics:
                tally = _tally(metric, comparison)
                for totals in receivers:
                    totals.add(metric.name, sequence, tally)

    # Both

    def receivers(
        self, document: str, metadata: Mapping[str, str], begins: bool, tokens: int
    ) -> list[Totals]:
        """Where the counts of a document go: the total and its groups, or nowhere if it is filtered out."""
        self._known_metadata.update(metadata)
        for key, _ in self.plan.where.on_documents(self.layers).conditions:
            value = {ID: document, **metadata}.get(key)
            if value is not None:
                self._known_values[key].add(value)
        if not self.plan.where.on_documents(self.layers).lets_through(document, metadata):
            return []
        receivers = [self.total]
        for key in self.plan.by:
            value = document if key == ID else metadata.get(key, WITHOUT_VALUE)
            receivers.append(self.groups[key].setdefault(value, Totals()))
        for totals in receivers:
            totals.documents += begins
            totals.tokens += tokens
        return receivers

    def result(self, signature: Signature) -> Result:
        self._require_known_keys()
        self._require_known_values()
        scores = self._scores(self.total)
        for metric in self.plan.metrics:
            _require_known_labels(metric, scores[metric.name])
        return Result(
            self.total.documents,
            self.total.tokens,
            self.repaired,
            scores,
            signature,
            {
                key: {
                    value: {
                        "documents": totals.documents,
                        "tokens": totals.tokens,
                        "metrics": self._scores(totals),
                    }
                    for value, totals in sorted(values.items())
                }
                for key, values in self.groups.items()
            }
            if self.groups
            else None,
        )

    def _scores(self, totals: Totals) -> dict[str, dict[str, Any]]:
        sequences = {MERGED: self.layers} if self.plan.merge else {layer: [layer] for layer in self.layers}
        return {
            metric.name: {
                sequence: metric.scores(totals.tallies.get((metric.name, sequence), Tally()), layers)
                for sequence, layers in sequences.items()
            }
            for metric in self.plan.metrics
        }

    def _require_known_keys(self) -> None:
        asked = [key for key, _ in self.plan.where.on_documents(self.layers).conditions]
        for key in (*asked, *self.plan.by):
            if key != ID and key not in self._known_metadata:
                known = ", ".join(sorted(self._known_metadata | {ID}))
                raise UsageError(
                    f"no layer and no document's metadata is called {key!r}"
                    if key in asked
                    else f"no document's metadata is called {key!r}",
                    advice=f"layers: {', '.join(self.layers)}; metadata: {known}",
                )

    def _require_known_values(self) -> None:
        for key, wanted in self.plan.where.conditions:
            for value in sorted(wanted - self._known_values[key]):
                some = sorted(self._known_values[key])[:10]
                raise UsageError(
                    f"nothing has {key}={value}", advice=f"there are {', '.join(some) or 'no values'}"
                )


def _require_known_labels(metric: Metric, sequences: Mapping[str, Any]) -> None:
    """A label that a metric is to look at must occur."""
    for label in getattr(metric, "labels", ()):
        if not any(label in report["per_label"] for report in sequences.values()):
            raise UsageError(f"no span is labelled {label!r}", advice=f"a setting of metric {metric.name}")


def _tally(metric: Metric, comparison: Comparison) -> Tally:
    """What a metric counts in two passages: what agrees, and what is left over."""
    tally = metric.count_agreed(comparison.agreed, comparison.equal)
    own_tags, other_tags = comparison.tags or (None, None)
    if comparison.gold or comparison.predicted or own_tags:
        gold, predicted = Side(comparison.gold, tags=own_tags), Side(comparison.predicted, tags=other_tags)
        tally.update(metric.count(gold, predicted))
    return tally


def _positions(gold: Document, predicted: Document) -> int:
    """How many positions the text has; 0 where neither side brings its text."""
    for document in (gold, predicted):
        if document.end is not None:
            return document.end - document.start
    return 0


def evaluate(
    gold: str | Path | Documents,
    predicted: str | Path | Documents | None = None,
    *,
    metrics: Sequence[str | Metric] | str = ("levels",),
    layers: LayerColumns | None = None,
    merge: bool = False,
    where: Iterable[str] | Mapping[str, Any] = (),
    by: str | Iterable[str] = (),
    input: str | None = None,
    token: int | None = None,
    token_id: int | None = None,
    scheme: str | None = None,
    invalid: str = "conlleval",
    document_tag: str = "text",
    sentence_tag: str = "s",
    text: str | Path | None = None,
    ignore_punct: bool = True,
    unit: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name) or two iterables of documents in the
            same order; or one file that has both, and None.
        metrics: names of metrics (see `clueval.metrics.METRICS`) or metrics.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column, of a single file the last two.
        merge: merge all layers into one sequence, `merged`, and score that.
        where: conditions ``KEY=VALUE`` on layers or metadata; `clueval.filters` says what is counted.
        by: metadata, or ``document``, to break the scores down by.
        input, token, token_id, scheme, invalid, document_tag, sentence_tag, text, ignore_punct: as in
            `clueval.read`.
        unit: ``character`` to count the positions of tokens in characters, token texts joined by blanks.
        progress: is called with the number of bytes read, again and again.

    Returns the `Result`. One pass; held in memory are one document or passage of each side and the counts.
    Raises `CluevalError` for wrong use or input, `TextMismatch` where the two sides differ in their text.
    """
    if unit not in (None, "token", "character"):
        raise UsageError(f"unknown unit {unit!r}", advice="token or character")
    plan = Plan(
        _metrics(metrics), merge, parse_where(where), (by,) if isinstance(by, str) else tuple(by), unit
    )
    if isinstance(gold, str | Path):
        if predicted is not None and not isinstance(predicted, str | Path):
            raise UsageError("gold is a path and predicted is not", advice="give two paths or two iterables")
        options = [
            ReadOptions(
                columns_of_side(layers, side, predicted is None),
                input,
                token,
                token_id,
                scheme,
                invalid,
                document_tag,
                sentence_tag,
                None if text is None else Path(text),
                ignore_punct,
            )
            for side in range(2)
        ]
        evaluation = Evaluation(plan, [] if layers is None else layer_names(layers))
        _count_files(
            evaluation, Path(gold), Path(gold if predicted is None else predicted), options, progress
        )
        choices = {"scheme": scheme or "auto", "invalid": invalid}
    else:
        if predicted is None or isinstance(predicted, str | Path):
            raise UsageError(
                "gold is an iterable and predicted is not", advice="give two paths or two iterables"
            )
        evaluation = Evaluation(plan, [])
        for own, other in same_documents(gold, predicted):
            evaluation.count_documents(own, other)
            evaluation.repaired["gold"] += own.repaired
            evaluation.repaired["predicted"] += other.repaired
        choices = {"scheme": "documents", "invalid": "documents"}
    return evaluation.result(_signature(plan, choices, evaluation.units))


def _metrics(names: Sequence[str | Metric] | str) -> tuple[Metric, ...]:
    chosen: list[Metric] = []
    for name in names.split(",") if isinstance(names, str) else names:
        chosen.append(metric_named(name) if isinstance(name, str) else name)
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def _count_files(
    evaluation: Evaluation,
    gold: Path,
    predicted: Path,
    options: Sequence[ReadOptions],
    progress: Progress | None,
) -> None:
    for name, own_path, other_path in pairs_of(gold, predicted):
        own = source_of(own_path, options[0], name=name, progress=progress)
        other = source_of(other_path, options[1], name=name, progress=progress)
        spans_wanted = bool(evaluation.plan.where.on_layers(evaluation.layers or layer_names(None)))
        if (
            own.has_passages
            and other.has_passages
            and not spans_wanted
            and evaluation.plan.unit != "character"
        ):
            _count_passages(evaluation, own, other)
        elif evaluation.counts_fair_alone and {own.format, other.format} <= {"fair-spans", "conll2000"}:
            _count_fair_files(evaluation, own, other)
        else:
            for pair in _document_pairs(own, other):
                evaluation.count_documents(*pair)
                for side, document in zip(SIDES, pair, strict=True):
                    evaluation.repaired[side] += document.repaired


def _count_passages(evaluation: Evaluation, own: Source, other: Source) -> None:
    names = layer_names(own.options.layers)
    evaluation.see_layers(names)
    decoders = {(side, layer): own.options.decoder() for side in SIDES for layer in names}
    waiting: list[tuple[Passage, Passage]] = []
    tokens = 0
    for gold, predicted in zip_longest(own.passages(), other.passages()):
        if gold is None or predicted is None:
            evaluation.count_passages(waiting, decoders)
            raise _ends_early(gold, predicted, own, other)
        waiting.append((gold, predicted))
        tokens += gold.tokens
        if tokens >= ROWS or len(waiting) >= ROWS:
            evaluation.count_passages(waiting, decoders)
            waiting, tokens = [], 0
    if waiting:
        evaluation.count_passages(waiting, decoders)
    for (side, _), decoder in decoders.items():
        evaluation.repaired[side] += decoder.repaired()


def _count_fair_files(evaluation: Evaluation, own: Source, other: Source) -> None:
    from clueval.fair_files import run_blocks
    from clueval.metrics.fair import Fair

    (metric,) = evaluation.plan.metrics
    assert isinstance(metric, Fair)
    run = run_blocks(
        blocks(own.path, own.progress),
        blocks(other.path, other.progress),
        metric,
        target_file=str(own.path),
        system_file=str(other.path),
        ignore_punct=own.options.ignore_punct,
    )
    evaluation.see_layers([DEFAULT_LAYER])
    evaluation.units.add("token")
    evaluation.total.documents += run.sentences
    evaluation.total.add(metric.name, DEFAULT_LAYER, run.tally)
    for side, repaired in zip(SIDES, run.repaired, strict=True):
        evaluation.repaired[side] += repaired


def _document_pairs(own: Source, other: Source) -> Iterator[tuple[Document, Document]]:
    for gold, predicted in zip_longest(own.documents(), other.documents()):
        if gold is None or predicted is None:
            raise _ends_early(gold, predicted, own, other)
        yield gold, predicted


def _ends_early(
    gold: Passage | Document | None, predicted: Passage | Document | None, own: Source, other: Source
) -> TextMismatch:
    longer, shorter, extra = (other, own, predicted) if gold is None else (own, other, gold)
    assert extra is not None
    name = extra.document if isinstance(extra, Passage) else extra.id
    return TextMismatch(
        f"the file ends where {longer.path} goes on with document {name!r}",
        file=str(shorter.path),
        advice=ADVICE,
    )


def _signature(plan: Plan, choices: Mapping[str, str], units: Iterable[str]) -> Signature:
    """The choices behind a result."""
    settings = {}
    for metric in plan.metrics:
        values = {f.name: getattr(metric, f.name) for f in fields(metric)}  # type: ignore[arg-type]
        settings[metric.name] = ",".join(f"{key}={_plain(value)}" for key, value in values.items())
    return Signature(
        {
            "metrics": "+".join(
                f"{name}({setting})" if setting else name for name, setting in settings.items()
            ),
            "unit": "+".join(sorted(units)) or "token",
            **choices,
            "merge": "yes" if plan.merge else "no",
            "where": str(plan.where) or "all",
            "zero": "0/0=0",
            "text": "equal",
            "version": __version__,
        }
    )


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "/".join(f"{key}={_plain(part)}" for key, part in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return "/".join(map(str, value)) or "none"
    if value is None:
        return "default"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
