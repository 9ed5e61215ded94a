"""Counting: the loop over a corpus that puts its cases into a bag.

`count` takes the documents text by text, as pairs or as groups of more sides, and a plan. `Plan` says what is counted;
`Step` is what changes pairs before they are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.bag import NO_LAYER, Bag, Bounds
from clueval.core.case import Key, Keys, keys_of, other_key, presence
from clueval.core.document import ID, Document, Notes, Pair, Text, metadata_with_id
from clueval.core.metric import (
    AnyMetric,
    Tally,
    added,
    features_read,
    keeping_metrics,
    require_no_gaps,
    split_metrics,
)
from clueval.core.span import MERGED, NOTHING, SIDES
from clueval.files.errors import CluevalError, LimitError, UsageError

if TYPE_CHECKING:
    from clueval.core.located import TextParts

DOCUMENT, SENTENCE, EITHER = "document", "sentence", "document or sentence"
"""What units may be. `EITHER`: documents; sentences if documents are fewer than `FEW_DOCUMENTS`."""

FEW_DOCUMENTS = 10

ALTERNATIVES, LOCATED, UNIT = "alternatives", "located", "unit"
"""The names of steps: one chooses among alternatives, those of the second name give answers of a language model places
in the text, and the last one converts positions and notes nothing."""

WITHOUT_VALUE = "(none)"
"""The value of documents that lack the metadata of a break-down or of a unit."""


class Step:
    """A transform, a choice among golds, an alignment: from all pairs of one text to those that count.

    A subclass is a frozen dataclass of its settings; a step keeps no state. With `is_of_labels`, it needs no documents,
    see `clueval.transforms.changes.EachLabel`. With `comes_first`, it gives both sides one text, places answers, or
    adds what the options of other steps are about.
    """

    is_of_labels: ClassVar[bool] = False
    comes_first: ClassVar[bool] = False

    @property
    def signature(self) -> tuple[str, str]:
        """The name of the step and its choice, for the signature."""
        raise NotImplementedError

    @property
    def zeros(self) -> Sequence[tuple[str, ...]]:
        """The notes that are reported though they are 0."""
        return ()

    def __call__(self, pairs: Sequence[Any]) -> Sequence[Any]:
        """Return the pairs that count, each with what was changed in its notes; groups for a step that takes them."""
        raise NotImplementedError

    def check(self, notes: Notes) -> Iterable[str]:
        """Yield warnings, given the sum of all notes; raise `UsageError` for a choice that never applied."""
        return ()


class DocumentPlace(NamedTuple):
    """A place: the values of the break-downs, and the unit, which is a document, a sentence of it, or a value.

    `waits` names the conditions of the filter that are neither metadata of the document nor layers so far. The document
    counts if these turn out to be layers, whose labels its spans lack; otherwise it lacks the metadata. `repeat` is the
    number of the document among those with its id, from 1.
    """

    values: tuple[str, ...] = ()
    name: str | None = None
    sentence: int | None = None
    waits: tuple[str, ...] = ()
    repeat: int = 1


@dataclass(frozen=True, eq=False, repr=False)
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

        Raises `UsageError` if they are asked for and the texts of the sides may differ.
        """
        aligning = [metric.name for metric in self.metrics if not metric.same_text]
        if self.align is not None:
            problem = "sentences cannot be units if the texts of the two sides may differ"
        elif any(step.signature[0] == LOCATED for step in self.steps):
            problem = "answers are placed in whole documents, so sentences cannot be units"
        elif aligning:
            problem = f"metric {aligning[0]!r} aligns whole documents, so sentences cannot be units"
        else:
            return self.units in (SENTENCE, EITHER)
        if self.units == SENTENCE:
            raise UsageError(problem, advice="resample by document")
        return False

    @property
    def frames(self) -> frozenset[str]:
        """The layers within which a metric counts; they are no sequences."""
        layers = {metric.within for metric in self.metrics}
        return frozenset(name for name in layers if name is not None)

    def place(self, metadata: Mapping[str, str], layers: Sequence[str]) -> DocumentPlace:
        """Return the place of what is counted in a document with this id and metadata, given the layers so far."""
        values = tuple(metadata.get(key, WITHOUT_VALUE) for key in self.by)
        waits = tuple(key for key in self.where if key not in layers and key not in metadata)
        if self.units is None:
            return DocumentPlace(values, waits=waits)
        is_document = self.units in (DOCUMENT, SENTENCE, EITHER)
        name = metadata[ID] if is_document else metadata.get(self.units, WITHOUT_VALUE)
        return DocumentPlace(values, name, waits=waits)

    def takes(self, metadata: Mapping[str, str], layers: Sequence[str]) -> bool:
        """Return whether metadata meet the conditions on those that there are; others may be on layers."""
        return all(
            key in layers or key not in metadata or metadata[key] in values
            for key, values in self.where.items()
        )

    def require_filters(self, layers: Iterable[str]) -> None:
        """Raise `UsageError` if conditions are on one of these layers, and spans cannot be left out of the count."""
        if not any(layer in self.where for layer in layers):
            return
        if self.align is not None:
            raise UsageError(
                "a filter on a layer cannot be used when texts are aligned", advice="filter documents only"
            )
        for metric in self.metrics:
            if metric.filters is not None:
                problem = f"metric {metric.name!r} cannot leave spans out of the count"
                raise UsageError(f"{problem}, as a filter on a layer asks for", advice=metric.filters)

    def on_spans(self, metadata: Mapping[str, str], layers: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """Return the conditions that select spans of a document. Raises `UsageError` if a metric takes none."""
        if not self.where:
            return NOTHING
        self.require_filters(layers)
        return {key: labels for key, labels in self.where.items() if key in layers or key not in metadata}


def count(
    texts: Iterable[Sequence[Text]],
    plan: Plan,
    layers: Sequence[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008  # it cannot be changed
) -> Bag:
    """Count a corpus, given as the pairs of each text: one, or one for each of several golds; or one group.

    The bag notes what was read of each text, and the steps of the plan change its pairs. A text whose metadata do not
    meet the filter adds nothing. Of the others, the bag gets what metrics of documents count, and the keys of cases, at
    the place of the text or of its sentences. Memory holds one text, and the bag. Raises the errors of metrics and
    steps, with the document.
    """
    frames = plan.frames
    bag = Bag(plan.metrics, [layer for layer in layers if layer not in frames], bounds)
    in_sentences = plan.counts_sentences
    documents = 0
    ids: Counter[str] = Counter()
    for pairs in texts:
        bag.read.add(zip(plan.sides, pairs[0].sides, strict=True), plan.where)
        for step in plan.steps:
            pairs = changed(step, pairs)
        text, first = pairs[0], pairs[0].first  # of several golds, the one that counts
        bag.read.units.add(first.unit)
        bag.read.without_text += any(side is not None and side.end is None for side in text.sides)
        aligned = pairs if plan.align is None else changed(plan.align, pairs)
        sides = [side for pair in aligned for side in pair.sides if side is not None]
        bag.see_layers(layer for side in sides for layer in side.layers if layer not in frames)
        metadata = metadata_with_id(first)
        if plan.takes(metadata, bag.layers):
            place = plan.place(metadata, bag.layers)
            if place.name == first.id:
                ids[first.id] += 1
                place = place._replace(repeat=ids[first.id])
            documents += not place.waits
            if in_sentences and documents == FEW_DOCUMENTS and plan.units == EITHER:
                bag, in_sentences = in_documents(bag), False
            parts = None
            if in_sentences:
                from clueval.core.located import TextParts  # few plans count sentences

                parts = TextParts(aligned)
            tallies = _count_documents(bag, plan, pairs, aligned, parts)
            if tallies is None:
                bag, in_sentences, parts = in_documents(bag), False, None
                tallies = _count_documents(bag, plan, pairs, aligned) or []
            for number, sequence, name, tally in tallies:
                bag.add_tally(place._replace(sentence=number), sequence, name, tally)
            for pair in aligned:
                _count_cases(bag, plan, place, pair, None if pair.beside else parts)
                bag.read.add_counted(pair, plan.where)
        if bag.is_full:
            bag.fold()
        for pair in aligned:
            bag.notes.update(pair.notes)
    return bag


def changed(step: Step, pairs: Sequence[Text]) -> Sequence[Text]:
    """Return the pairs that a step makes. Raises its errors; a `LimitError` with the document."""
    try:
        return step(pairs)
    except LimitError as error:
        document, of_first = _with_most_spans(pairs[0]), pairs[0].first.file
        error.document, error.file = error.document or document.id, error.file or document.file or of_first
        raise


def _with_most_spans(text: Text) -> Document:
    """Return the document of the side that is probably the one beyond a limit."""
    documents = [document for document in text.sides if document is not None]
    return max(documents, key=lambda document: sum(map(len, document.layers.values())))


def decided(bag: Bag) -> Bag:
    """Return the bag without the documents that lack metadata which the filter names; see `DocumentPlace.waits`."""
    layers = {*bag.layers}
    return bag.grouped(lambda place: place._replace(waits=()) if layers.issuperset(place.waits) else None)


def sequences_of(bag: Bag, plan: Plan) -> list[str]:
    """Return the sequences that are counted: the layers, or all of them merged."""
    return [MERGED] if plan.merge else list(bag.layers)


def in_documents(bag: Bag) -> Bag:
    """Return a bag whose places are sentences with documents as its places."""
    return bag.grouped(lambda place: place._replace(sentence=None))


def sum_of_parts(bags: Iterable[Bag], units: str | None) -> Bag:
    """Return the sum of the bags of the parts of a corpus, which has one, as if it was counted at once.

    Documents that have the same id are numbered across parts. Sentences are units, if they may be, until the tenth
    document.
    """
    total: Bag | None = None
    repeats: dict[str | None, int] = {}  # how many documents have an id
    documents = 0
    for bag in bags:
        if units in (DOCUMENT, SENTENCE, EITHER):
            bag = _with_repeats(bag, repeats)
        before = documents
        documents += sum(number for place, number in bag.documents.items() if not place.waits)
        if units == EITHER and documents >= FEW_DOCUMENTS:
            bag = in_documents(bag)
            if total is not None and before < FEW_DOCUMENTS:
                total = in_documents(total)
        if total is None:
            total = bag
        else:
            total.include(bag)
    assert total is not None
    return total


def _with_repeats(bag: Bag, repeats: dict[str | None, int]) -> Bag:
    """Return the bag with the numbers that its documents have among all those that have their id; note these."""
    before = dict(repeats)
    for place in bag.documents:
        repeats[place.name] = max(before.get(place.name, 0) + place.repeat, repeats.get(place.name, 0))
    if before.keys().isdisjoint(place.name for place in bag.documents):
        return bag
    return bag.grouped(lambda place: place._replace(repeat=before.get(place.name, 0) + place.repeat))


# Metrics of cases


def _count_cases(bag: Bag, plan: Plan, place: DocumentPlace, pair: Text, parts: TextParts | None) -> None:
    """Put the cases of a pair into the bag, by part of its text, and let metrics that keep no cases count."""
    where, reads = plan.on_spans(metadata_with_id(pair.first), bag.layers), features_read(plan.metrics)
    present = presence(pair.sides)
    sides: Sequence[Document | None] = pair.sides
    if isinstance(pair, Pair) and pair.beside:  # its cases have no positions in the text
        sides = [replace(side, tokens=None, text=None, token_ids=None, tags=NOTHING) for side in pair.sides]
    of_text = list(keys_of(sides, bag.layers, merge=plan.merge, where=where, reads=reads))
    cut = [(place, of_text, pair.positions)]
    if parts is not None:
        cut = [
            (place._replace(sentence=part.number), keys, part.positions)
            for part, keys in zip(parts, parts.cut_keys(of_text), strict=True)
        ]
    documents = int(not pair.beside)
    for part_place, by_sequence, positions in cut:
        bag.add_text(part_place, positions, documents, present)
        documents = 0
        row: dict[int, int] = {}
        for keys in by_sequence:
            for key in bag.add_keys(keys.sequence, keys.keys, row):
                _require_countable(bag, plan, pair, keys, key)
            bag.add_keys(keys.sequence, [other_key(present)] * len(keys.others), row)
        bag.add_occurrences([part_place], row)
    for metric in split_metrics(plan.metrics)[0]:
        if metric.keeps:
            continue
        from clueval.core.located import count_in_place, located  # most metrics keep their cases

        for case in located(pair.sides, bag.layers, merge=plan.merge, where=where, reads=metric.reads):
            (tally,) = count_in_place([metric], case, pair)
            if parts is not None:
                place = place._replace(sentence=parts.at(case.first).number)
            bag.add_tally(place, case.sequence, metric.name, tally)


def _require_countable(bag: Bag, plan: Plan, pair: Text, keys: Keys, key: Key) -> None:
    """Raise an error, with document and line, for a case that a metric cannot count; `key` is new in the corpus."""
    try:
        bag.check(keys.sequence, key)
    except CluevalError:  # once more, with the positions of the document
        from clueval.core.located import count_in_place, located  # not needed for numbers

        first, _ = keys.ranges[keys.keys.index(key)]
        metrics = keeping_metrics(plan.metrics)
        where = plan.on_spans(metadata_with_id(pair.first), bag.layers)
        for candidate in located(pair.sides, bag.layers, merge=plan.merge, where=where):
            if (candidate.sequence, candidate.first) == (keys.sequence, first):
                count_in_place(metrics, candidate, pair)
        raise


# Metrics of documents

_Tallies = list[tuple[int | None, str, str, Tally]]
"""Tallies with the numbers of the first sentences of their parts, their sequences, and the names of the metrics."""


def _count_documents(
    bag: Bag, plan: Plan, pairs: Sequence[Any], aligned: Sequence[Any], parts: TextParts | None = None
) -> _Tallies | None:
    """Return what metrics that need documents count in the pairs of a text, or in its parts.

    Returns None if what a metric counts in the parts is not what it counts in the whole, as of metrics that compare all
    mentions of a document; raises `UsageError` if sentences are asked for.
    """
    of_text = _tallies(bag, plan, pairs, aligned)
    if not (parts and of_text):
        return of_text
    beside = [pair for pair in aligned if pair.beside]
    pieces = [list(parts.cut_pair(pair)) for pair in aligned if not pair.beside]
    texts = [(part.number, [of_pair[index] for of_pair in pieces]) for index, part in enumerate(parts)]
    if len(parts) == 1 and not beside:
        return [(texts[0][0], *tally) for _, *tally in of_text]  # type: ignore[misc]  # of three values
    by_part = [_tallies(bag, plan, text, text, number) for number, text in texts]
    if beside:
        by_part.append(_tallies(bag, plan, beside, beside))
    for index, (_, _, name, tally) in enumerate(of_text):
        if added((tallies[index][3], 1) for tallies in by_part) == tally:
            continue
        if plan.units == SENTENCE:
            raise UsageError(
                f"metric {name!r} does not count sentences one by one: their counts do not add up",
                advice="resample by document",
                **pairs[0].first.in_errors,
            )
        return None
    return list(chain.from_iterable(by_part))


def _tallies(
    bag: Bag, plan: Plan, pairs: Sequence[Any], aligned: Sequence[Any], number: int | None = None
) -> _Tallies:
    """Return what metrics that need documents count in pairs. Layers that are merged are one layer of them."""
    first: Document = pairs[0].first
    tallies: _Tallies = []
    for metric in split_metrics(plan.metrics)[1]:
        where = plan.on_spans(metadata_with_id(first), bag.layers)
        texts = aligned if metric.same_text else pairs
        if plan.merge and not metric.whole:
            texts = [_with_layers(pair, bag.layers, merge=not metric.merges) for pair in texts]
        for sequence in [metric.whole] if metric.whole else sequences_of(bag, plan):
            try:
                if not metric.gaps:
                    for side in [side for pair in texts for side in pair.sides]:
                        require_no_gaps(metric, side.layers.get(sequence, ()))
                tally = metric.count_documents(texts, sequence, where)
            except CluevalError as error:
                if error.document is None:
                    document = _with_most_spans(pairs[0]) if isinstance(error, LimitError) else first
                    error.document, error.file = document.id, error.file or document.file
                raise
            tallies.append((number, sequence, metric.name, tally))
        if not plan.merge and not metric.whole:
            with suppress(CluevalError):  # it is raised for the layers that there are
                tally = metric.count_documents(texts, NO_LAYER, where)
                tallies.append((number, NO_LAYER, metric.name, tally))
    return tallies


def _with_layers(pair: Any, layers: Sequence[str], *, merge: bool) -> Any:
    """Return a pair whose documents have the same layers, in the order of `layers`; `merge`: merged into one."""
    from clueval.core.merging import with_merged  # most corpora are not merged

    names = [name for name in layers if any(name in side.layers for side in pair.sides)]
    gold, predicted = (
        replace(side, layers={name: side.layers.get(name, ()) for name in names}) for side in pair.sides
    )
    if merge:
        gold, predicted = with_merged(gold), with_merged(predicted)
    return replace(pair, gold=gold, predicted=predicted)
