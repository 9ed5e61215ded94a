"""Counting: the loop over a corpus that puts its cases into a bag.

`count` takes the documents text by text, as pairs or as groups of more sides, and a plan. `Plan` says what is counted;
`Step` is what changes pairs before they are counted.
"""

from __future__ import annotations

import gc
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from clueval.core.bag import Bag, Bounds, Place
from clueval.core.case import HEAD, Case, Key, Keys, Located, Where, case_of, keys_of, located, presence
from clueval.core.document import Document, Notes, Pair, Text
from clueval.core.merging import with_merged
from clueval.core.metric import AnyMetric, DocumentMetric, Metric, split_metrics
from clueval.core.overlap import first_clash, overlap_groups
from clueval.core.span import MERGED, NOTHING, SIDES, Span, name_of
from clueval.core.tally import Tally
from clueval.files.errors import CluevalError, LimitError, OverlapError, UsageError

DOCUMENT, SENTENCE, EITHER = "document", "sentence", "document or sentence"
"""What units may be. `EITHER`: documents; sentences if documents are fewer than `FEW_DOCUMENTS`."""

FEW_DOCUMENTS = 10

ID = "document"
"""The key for the id of a document in break-downs and filters."""

WITHOUT_VALUE = "(none)"
"""The value of documents that lack the metadata of a break-down or of a unit."""

MANY = 50_000
"""A text with this many spans is counted without the cyclic garbage collector."""

LARGE = 300
"""A case with more spans is counted where it is found, so that an error names the document; smaller ones meet no
limit."""


class Step(Protocol):
    """A transform, a choice among golds, an alignment: from all pairs of one text to those that count.

    Attributes:
        signature: its name and its choice in the signature.
        zeros: the notes that are reported though they are 0.
    """

    @property
    def signature(self) -> tuple[str, str]: ...
    @property
    def zeros(self) -> Sequence[tuple[str, ...]]: ...

    def __call__(self, pairs: Sequence[Any]) -> Sequence[Any]:
        """Return the pairs that count, each with what was changed in its notes; groups for a step that takes them."""
        ...

    def check(self, notes: Notes) -> Iterable[str]:
        """Yield warnings, given the sum of all notes; raise `UsageError` for a choice that never applied."""
        ...


def each(change: Callable[[Pair], Iterable[Pair]], pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that `change` makes of each pair."""
    return [changed for pair in pairs for changed in change(pair)]


def noted(pair: Text, notes: Mapping[tuple[str, ...], int]) -> Notes:
    """Return the notes of a pair with further ones."""
    return dict(Counter(pair.notes) + Counter(notes)) if notes else pair.notes


class Unit(NamedTuple):
    """A place: the values of the break-downs, and the unit, which is a document, a sentence of it, or a value.

    `waits` names the conditions of the filter that are neither metadata of the document nor layers so far. The document
    counts if these turn out to be layers, whose labels its spans lack; otherwise it lacks the metadata.
    """

    values: tuple[str, ...] = ()
    name: str | None = None
    sentence: int | None = None
    waits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What is counted.

    Attributes:
        metrics: what counts.
        merge: whether all layers are counted as one sequence.
        where: the values that count, by key: of a layer, its spans with these labels; of metadata, documents.
        by: the keys of metadata of the break-downs.
        units: what counts are kept by, for intervals, tests and saved results: `DOCUMENT`, `SENTENCE`, `EITHER`, a key
            of metadata, or None.
        steps: what changes the pairs of a text, in order.
        align: the step that places predicted spans on gold's text, for metrics that need the same text.
        sides: the names of the sides.
    """

    metrics: tuple[AnyMetric, ...]
    merge: bool = False
    where: Mapping[str, frozenset[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    units: str | None = None
    steps: tuple[Step, ...] = ()
    align: Step | None = None
    sides: tuple[str, ...] = SIDES

    @property
    def counts_sentences(self) -> bool:
        """Whether sentences are units, at least at first.

        Raises `UsageError` if they are asked for and a metric needs whole documents, or keeps no cases.
        """
        whole = [metric for metric in self.metrics if not getattr(metric, "keeps", False)]
        if self.units == SENTENCE and whole:
            raise UsageError(
                f"metric {whole[0].name!r} counts whole documents, so sentences cannot be units",
                advice="resample by document",
            )
        return self.units in (SENTENCE, EITHER) and not whole

    @property
    def reads(self) -> frozenset[str]:
        """The features of spans that the metrics read."""
        of_cases, _ = split_metrics(self.metrics)
        return frozenset().union(*(metric.reads for metric in of_cases if metric.keeps))

    @property
    def frames(self) -> frozenset[str]:
        """The layers within which a metric counts; they are no sequences."""
        found = {getattr(metric, "within", None) for metric in self.metrics}
        return frozenset(name for name in found if name is not None)

    def place(self, document: Document, layers: Sequence[str]) -> Unit:
        """Return the place of what is counted in a document, given the layers so far."""
        values = tuple(_value(key, document) for key in self.by)
        waits = tuple(key for key in self.where if key not in layers and not _has(key, document))
        if self.units is None:
            return Unit(values, waits=waits)
        name = document.id if self.units in (DOCUMENT, SENTENCE, EITHER) else _value(self.units, document)
        return Unit(values, name, waits=waits)

    def takes(self, document: Document, layers: Sequence[str]) -> bool:
        """Return whether a document meets the conditions on the metadata that it has; others may be on layers."""
        return all(
            key in layers or not _has(key, document) or _value(key, document) in values
            for key, values in self.where.items()
        )

    def on_spans(self, document: Document, layers: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the conditions that select spans of a document. Raises `UsageError` if a metric takes none."""
        if not self.where:
            return NOTHING
        for metric in self.metrics if any(key in layers for key in self.where) else ():
            if metric.filters is not None:
                raise UsageError(
                    f"metric {metric.name!r} cannot leave spans out of the count, as a filter on a layer asks for",
                    advice=metric.filters,
                    **document.in_errors,
                )
        return {key: labels for key, labels in self.where.items() if key in layers or not _has(key, document)}


def _has(key: str, document: Document) -> bool:
    return key == ID or key in document.metadata


def _value(key: str, document: Document) -> str:
    return document.id if key == ID else document.metadata.get(key, WITHOUT_VALUE)


def count(
    texts: Iterable[Sequence[Text]],
    plan: Plan,
    layers: Sequence[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
) -> Bag:
    """Count a corpus, given as the pairs of each text: one, or one for each of several golds; or one group.

    Memory holds one text, and the bag. Raises the errors of metrics and steps, with the document.
    """
    frames = plan.frames
    bag = Bag(plan.metrics, [layer for layer in layers if layer not in frames], bounds)
    in_sentences = plan.counts_sentences
    documents = 0
    for pairs in texts:
        first = pairs[0].first
        bag.read.add(zip(plan.sides, pairs[0].sides, strict=True), list(plan.where))
        for step in plan.steps:
            pairs = _changed(step, pairs)
        first = next((pair.first for pair in pairs), first)  # of several golds, the one that counts
        bag.read.units.add(first.unit)
        aligned = pairs if plan.align is None else _changed(plan.align, pairs)
        bag.see_layers(
            layer
            for pair in aligned
            for side in pair.sides
            if side is not None
            for layer in side.layers
            if layer not in frames
        )
        if plan.takes(first, bag.layers):
            documents += not plan.place(first, bag.layers).waits
            if documents == FEW_DOCUMENTS and plan.units == EITHER:
                bag, in_sentences = bag.grouped(_document_of), False
            with collector_paused(aligned):
                _count_documents(bag, plan, first, pairs, aligned)
                for pair in aligned:
                    _count_cases(bag, plan, pair, in_sentences)
        if bag.is_full:
            bag.fold()
        for pair in aligned:
            bag.notes.update(pair.notes)
    bag.close()
    return bag


def _changed(step: Step, pairs: Sequence[Text]) -> Sequence[Text]:
    """Return the pairs that a step makes. Raises its errors; a `LimitError` with the document."""
    try:
        return step(pairs)
    except LimitError as error:
        error.document, error.file = error.document or pairs[0].first.id, error.file or pairs[0].first.file
        raise


@contextmanager
def collector_paused(pairs: Sequence[Text]) -> Iterator[None]:
    """Pause the cyclic garbage collector while a text with many spans is counted.

    It looks at all objects again and again, which takes a third of the time, and finds nothing: no span, key or case is
    part of a cycle.
    """
    spans = sum(side.number_of_spans for pair in pairs for side in pair.sides if side is not None)
    pause = spans >= MANY and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


def decided(bag: Bag) -> Bag:
    """Return the bag without the documents that lack metadata which the filter names; see `Unit.waits`."""

    def of(place: Place) -> Place | None:
        assert isinstance(place, Unit)
        return None if {*place.waits} - {*bag.layers} else place._replace(waits=())

    return bag.grouped(of)


def sequences_of(bag: Bag, plan: Plan) -> list[str]:
    """Return the sequences that are counted: the layers, or all of them merged."""
    return [MERGED] if plan.merge else list(bag.layers)


def _document_of(place: Place) -> Place:
    assert isinstance(place, Unit)
    return place._replace(sentence=None)


def _count_cases(bag: Bag, plan: Plan, pair: Text, in_sentences: bool) -> None:
    """Put the cases of a pair into the bag, and let metrics that keep no cases count."""
    where = plan.on_spans(pair.first, bag.layers)
    place = plan.place(pair.first, bag.layers)
    sides = list(map(_without_text, pair.sides)) if pair.beside else pair.sides
    columns = list(keys_of(sides, bag.layers, merge=plan.merge, where=where, reads=plan.reads))
    documents = 0 if pair.beside else 1
    if in_sentences and not pair.beside:
        for number, positions, parts in by_sentence(pair, columns):
            _add(bag, plan, pair, place._replace(sentence=number), parts, positions, documents)
            documents = 0
    else:
        _add(bag, plan, pair, place, columns, pair.positions, documents)
    at_once = [metric for metric in split_metrics(plan.metrics)[0] if not metric.keeps]
    for metric in at_once:
        for found in located(pair.sides, bag.layers, merge=plan.merge, where=where, reads=metric.reads):
            (tally,) = _counted_where_found([metric], found, pair, True)
            bag.add_tally(place, found.sequence, metric.name, tally)


def _without_text(document: Document | None) -> Document | None:
    """Return a document that stands beside the text of its pair, so that its cases have no positions there."""
    if document is None:
        return None
    return replace(document, tokens=None, text=None, token_ids=None, tags=NOTHING)


def _add(
    bag: Bag, plan: Plan, pair: Text, place: Place, columns: Sequence[Keys], positions: int, documents: int
) -> None:
    present = presence(pair.sides)
    bag.add_text(place, positions, documents, present)
    for column in columns:
        for key in bag.add(place, column.sequence, column.keys):
            _require_countable(bag, plan, pair, column, key)
        bag.add_others(place, column.sequence, len(column.others), present)


def _count_documents(
    bag: Bag, plan: Plan, first: Document, pairs: Sequence[Any], aligned: Sequence[Any]
) -> None:
    """Let the metrics that need documents count the pairs of a text; layers that are merged are one layer of them."""
    where = plan.on_spans(first, bag.layers)
    for metric in split_metrics(plan.metrics)[1]:
        given = aligned if metric.same_text else pairs
        if plan.merge and not metric.whole:
            given = [_lined_up(pair, bag.layers) for pair in given]
            if not metric.merges:
                given = [
                    replace(pair, gold=with_merged(pair.gold), predicted=with_merged(pair.predicted))
                    for pair in given
                ]
        for sequence in [metric.whole] if metric.whole else sequences_of(bag, plan):
            try:
                _require_documents_countable(metric, given, sequence, where)
                tally = metric.count_documents(given, sequence, where)
            except CluevalError as error:
                if error.document is None:
                    error.document, error.file = first.id, error.file or first.file
                raise
            bag.add_tally(plan.place(first, bag.layers), sequence, metric.name, tally)


def _lined_up(pair: Pair, layers: Sequence[str]) -> Pair:
    """Return a pair whose documents have the same layers, in the order of `layers`."""
    names = [name for name in layers if any(name in side.layers for side in pair.sides)]
    gold, predicted = (
        replace(side, layers={name: side.layers.get(name, ()) for name in names}) for side in pair.sides
    )
    return replace(pair, gold=gold, predicted=predicted)


def by_sentence(pair: Text, columns: Sequence[Keys]) -> Iterator[tuple[int, int, list[Keys]]]:
    """Yield the parts of a pair between sentence ends that no case crosses.

    Each has the number, from 1, of its first sentence, its number of positions, and its keys. A document without
    sentences, or without its text, is one part.
    """
    text = next((side for side in pair.sides if side is not None and side.end is not None), pair.first)
    if text.end is None:
        yield 1, 0, list(columns)
        return
    cuts = _free_cuts(text, [range_ for column in columns for range_ in column.ranges])
    starts, ends = [text.start, *cuts], [sentence.end for sentence in text.sentences]
    for start, stop in zip(starts, [*cuts, text.end], strict=True):
        parts = []
        for sequence, keys, ranges, others in columns:
            first = bisect_left(ranges, (start,))
            past = len(ranges) if stop == text.end else bisect_left(ranges, (stop,))
            low, high = bisect_left(others, start), bisect_left(others, stop)
            parts.append(Keys(sequence, keys[first:past], ranges[first:past], others[low:high]))
        yield bisect_left(ends, start + 1) + 1, stop - start, parts


def _free_cuts(document: Document, ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the sentence ends within a document that no range crosses."""
    ends = {sentence.end for sentence in document.sentences}
    free, reach, place, ordered = [], document.start, 0, sorted(ranges)
    for cut in sorted(ends):
        while place < len(ordered) and ordered[place][0] < cut:
            reach = max(reach, ordered[place][1])
            place += 1
        if reach <= cut and document.start < cut < (document.end or 0):
            free.append(cut)
    return free


# Refusing what a metric cannot count


def _require_countable(bag: Bag, plan: Plan, pair: Text, column: Keys, key: Key) -> None:
    """Raise an error, with document and line, for a case that a metric cannot count; `key` is new in the corpus.

    A large case is counted, and the bag keeps the counts.
    """
    of_cases = [metric for metric in split_metrics(plan.metrics)[0] if metric.keeps]
    large = len(key) - HEAD > LARGE
    flat = any(metric.flat or metric.flat_labels for metric in of_cases)
    if not large and not flat and all(len(span) == 4 for span in key[HEAD:]):
        return
    try:
        case = case_of(key, column.sequence)
        tallies = _counted(of_cases, case, large)
    except CluevalError:  # once more, with the positions of the document
        first, _ = column.ranges[column.keys.index(key)]
        where = plan.on_spans(pair.first, bag.layers)
        for found in located(pair.sides, bag.layers, merge=plan.merge, where=where):
            if (found.sequence, found.first) == (column.sequence, first):
                _counted_where_found(of_cases, found, pair, large)
        raise
    if large:
        bag.keep_counts(column.sequence, key, tallies)


def _counted_where_found(metrics: Sequence[Metric], found: Located, pair: Text, count: bool) -> list[Tally]:
    """Do what `_counted` does with a case where it stands; an error names the document."""
    try:
        return _counted(metrics, Case(found.sides, found.counted), count)
    except CluevalError as error:
        error.document = pair.first.id
        error.file = error.file or pair.first.file
        raise error from None


def _counted(metrics: Sequence[Metric], case: Case, large: bool) -> list[Tally]:
    """Raise an error for a case that one of the metrics cannot count; count it if it is large."""
    for metric in metrics:
        require_countable(metric, case)
    return [metric.count(case) for metric in metrics] if large else []


def _require_documents_countable(
    metric: DocumentMetric, pairs: Sequence[Pair], sequence: str, where: Where
) -> None:
    """Raise `UsageError` for pairs that a metric cannot count in a sequence."""
    for pair in pairs:
        sides = () if metric.gaps else tuple(tuple(side.layers.get(sequence, ())) for side in pair.sides)
        require_countable(metric, Case(sides, ((),) if where else ()))


def require_countable(metric: AnyMetric, case: Case) -> None:
    """Raise `UsageError` or `OverlapError` for a case that a metric cannot count."""
    if getattr(metric, "flat_labels", False):
        for side, spans in zip(SIDES, case.sides, strict=True):
            _require_flat_labels(metric, side, spans or ())
    for spans in case.sides:
        for span in spans or ():
            if span.parts is not None and not metric.gaps:
                raise UsageError(
                    f"span {name_of(span)} has gaps, and metric {metric.name!r} cannot count such spans",
                    advice="exact, fair, gate, muc and partial can; or make each fragment a span with "
                    "fragments='split', or one span from start to end with fragments='hull'",
                )
        whole = [span for span in spans or () if span.parts is None]
        if getattr(metric, "flat", False) and (clash := first_clash(whole)) is not None:
            raise OverlapError(
                f"spans {name_of(clash[0])} and {name_of(clash[1])} of one sequence overlap",
                advice=f"metric {metric.name!r} cannot count such spans; exact, fair, gate and muc can",
            )


def _require_flat_labels(metric: AnyMetric, side: str, spans: Sequence[Span]) -> None:
    """Raise `OverlapError` for spans of one label that overlap."""
    by_label: dict[str, list[Span]] = {}
    for span in spans:
        by_label.setdefault(span.label, []).append(span)
    for of_label in by_label.values():
        groups = [] if first_clash(of_label) is None else overlap_groups(of_label)
        for first, *others in groups:
            one = of_label[first]
            other = next((of_label[each] for each in others if one.overlaps(of_label[each])), None)
            if other is not None:
                raise OverlapError(
                    f"{side} spans {name_of(one)} and {name_of(other)} overlap, which metric {metric.name!r} "
                    "forbids within a label",
                    line=other.line,
                    advice="correct them, or join them with Partial.glue; exact, fair, gate and muc count them",
                )
