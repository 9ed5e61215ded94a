"""One evaluation while it runs: what is to be counted, and what has been.

Pairs of documents go through the metrics one by one. Where texts have been compared already, only what is left
over goes through them (`clueval.spans.compared`). Both ways give the same counts, and the first is the model for
the second. Where texts may differ (`Plan.align`, metric `noisy`), predicted spans are first projected onto
the gold text; those without a place on it count as predicted spans that nothing in gold supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from clueval.evaluation.inputs import Inputs, add_layer, include, no_inputs, reported
from clueval.evaluation.lockstep import FileEnd, FileReading
from clueval.evaluation.observer import AddingObserver, sections_of
from clueval.evaluation.plan import Plan
from clueval.evaluation.preparation import Preparation
from clueval.evaluation.repairs import RepairCount
from clueval.evaluation.result import Counted, Result, Unprojected
from clueval.evaluation.seen_names import Known
from clueval.evaluation.signature import Signature
from clueval.evaluation.totals import Found, Totals
from clueval.exceptions import CluevalError, OverlapError, UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side, refuse_filter, sequences_of
from clueval.reading.same_text import require_same_text
from clueval.spans.compared import SIDES, Compared, Comparison
from clueval.spans.document import Document, in_layer
from clueval.spans.filters import ID
from clueval.spans.merging import with_merged
from clueval.spans.span import DEFAULT_LAYER, MERGED, making_many
from clueval.transforms.characters import to_characters
from clueval.transforms.group import Group

WITHOUT_VALUE = "(none)"
"""The group of the documents that lack the metadata of a break-down."""


class Evaluation:
    """One evaluation while it runs."""

    def __init__(self, plan: Plan, layers: Iterable[str]) -> None:
        self.plan = plan
        self._frames: dict[str, int] = {
            metric.needs.within: 0 for metric in plan.metrics if metric.needs.within is not None
        }
        self.layers = [layer for layer in layers if layer not in self._frames]
        self.total = Totals()
        self.groups: dict[str, dict[str, Totals]] = {key: {} for key in plan.by}
        self.repaired = dict.fromkeys(SIDES, 0)
        self.repairs = {side: RepairCount() for side in SIDES}
        self.inputs = no_inputs()
        self.units: set[str] = set()
        self.treatments: set[str] = set()
        self.text = "aligned" if plan.texts_may_differ else "equal"
        self.unprojected: list[Unprojected] = []
        self._preparation = Preparation(plan.transforms)
        self._known = Known(plan.where)
        self._begun = self._grown = False
        self._refuse_filters()

    def _refuse_filters(self) -> None:
        """Raise `UsageError` for a filter on a layer that a metric cannot have."""
        for metric in self.plan.metrics if self.plan.where.on_layers(self.layers) else ():
            refuse_filter(metric)

    def see_layers(self, layers: Iterable[str]) -> None:
        """Take in layers that documents bring along, but for those within which a metric counts."""
        known = len(self.layers)
        self.layers.extend(
            layer for layer in layers if layer not in self.layers and layer not in self._frames
        )
        self._grown |= self._begun and len(self.layers) > known
        self._begun = True
        if len(self.layers) > known:
            self._refuse_filters()

    @property
    def leaves_out_spans(self) -> bool:
        """Whether a filter leaves spans out of the count, which takes whole documents."""
        return bool(self.plan.where.on_layers(self.layers or [DEFAULT_LAYER]))

    # Documents

    def count_group(self, group: Group) -> None:
        """Prepare, check and count the documents of a group; observers see it unless a filter leaves it out."""
        before = self.total.documents
        prepared = self._preparation(group)
        self.count_documents(prepared.gold, prepared.predicted)
        self.count_read(group.gold, group.predicted)
        if self.total.documents > before:
            for observer in self.plan.observers:
                observer.see(prepared)

    def count_documents(self, gold: Document, predicted: Document) -> None:
        """Check and count one pair of documents."""
        if not self.plan.texts_may_differ:
            require_same_text(gold, predicted)
            if gold.end is None or predicted.end is None:
                self.text = "absent"  # there was nothing to compare
        if self.plan.unit == "character":
            gold, predicted = to_characters(gold), to_characters(predicted)
        self.see_layers([*gold.layers, *predicted.layers])
        for frame in self._frames:
            self._frames[frame] += len(gold.layers.get(frame, ())) + len(predicted.layers.get(frame, ()))
        receivers = self.receivers(gold.id, gold.metadata, documents=1, tokens=_positions(gold, predicted))
        self.units.add(gold.unit)
        if not receivers:
            return
        self._known.see_labels((gold, predicted), self.plan.where.on_layers(self.layers))
        as_it_is = [
            metric for metric in self.plan.metrics if self.plan.align is None or not metric.needs.same_text
        ]
        projected = [metric for metric in self.plan.metrics if metric not in as_it_is]
        if as_it_is:
            self._count(self._sides(gold, predicted), as_it_is, receivers)
            self._count_whole(gold, predicted, as_it_is, receivers)
        if projected:
            self._count_projected(gold, predicted, projected, receivers)

    def count_read(self, gold: Document, predicted: Document) -> None:
        """Count the spans of a pair of documents as they were read, and the tags that were repaired."""
        for side, document in zip(SIDES, (gold, predicted), strict=True):
            self.repairs[side].add(document)
            for layer, spans in document.layers.items():
                add_layer(self.inputs, side, layer, spans=len(spans))

    def repaired_tags(self) -> dict[str, int]:
        """The repaired tags of each side, however they were counted."""
        return {side: number + self.repairs[side].total() for side, number in self.repaired.items()}

    def read(self) -> Inputs:
        """What was read of each side."""
        return reported(self._inputs_so_far(), self.layers, self._frames)

    def _inputs_so_far(self) -> Inputs:
        """What was read, with the columns and schemes of tags where documents come from files."""
        found = no_inputs()
        include(found, self.inputs)
        for side, repairs in self.repairs.items():
            for layer, source, scheme in repairs.layers() if found[side]["files"] else ():
                add_layer(found, side, layer, source, scheme)
        return found

    def _count(
        self, sides: Iterable[tuple[str, Side, Side]], metrics: Sequence[Metric], receivers: Sequence[Totals]
    ) -> None:
        for sequence, own, other in sides:
            for metric in metrics:
                if metric.needs.whole is None:
                    _add(receivers, metric.name, sequence, _count(metric, own, other))

    def _count_whole(
        self, gold: Document, predicted: Document, metrics: Sequence[Metric], receivers: Sequence[Totals]
    ) -> None:
        """Count with the metrics that take all layers of a document together."""
        for metric in metrics:
            sequence = metric.needs.whole
            if sequence is not None:
                sides = (Side((), document=document, sequence=sequence) for document in (gold, predicted))
                _add(receivers, metric.name, sequence, _count(metric, *sides))

    def _count_projected(
        self, gold: Document, predicted: Document, metrics: Sequence[Metric], receivers: Sequence[Totals]
    ) -> None:
        """Count with the predicted spans moved onto the gold text."""
        from clueval.transforms.projection import project

        assert self.plan.align is not None
        projection = project(*map(self._sequenced, (gold, predicted)), max_cells=self.plan.align)
        self._count(self._sides(gold, predicted, projection.document), metrics, receivers)
        self._count_whole(gold, projection.document, metrics, receivers)
        self.unprojected += [Unprojected(gold.id, span) for span in projection.unprojected]
        # Every lost span is counted for itself, against a text of which there is no position.
        nothing = Side((), document=Document(gold.id, dict.fromkeys(self._frames, ()), file=gold.file))
        for sequence in self._sequences():
            lost = (Side([span], document=predicted) for span in projection.lost.get(sequence, ()))
            self._count(((sequence, nothing, side) for side in lost), metrics, receivers)

    def _sequences(self) -> list[str]:
        return [MERGED] if self.plan.merge else self.layers

    def _sides(
        self, gold: Document, predicted: Document, projected: Document | None = None
    ) -> Iterator[tuple[str, Side, Side]]:
        """The two sides of every sequence; `projected` has the predicted spans as they are to be counted."""
        spans_filter = self.plan.where.on_layers(self.layers)
        if spans_filter and self.plan.align is not None:
            raise UsageError(
                "a filter on a layer does not go with projection", advice="filter documents only"
            )
        sources = [self._sequenced(gold), projected or self._sequenced(predicted)]
        for sequence in self._sequences():
            sides = []
            for document, source in zip((gold, predicted), sources, strict=True):
                spans = source.layers.get(sequence, ())
                if not self.plan.merge and sequence == MERGED:  # a layer of the documents that is called so
                    spans = in_layer(sequence, spans)
                counted = spans_filter.counted(spans, document) if spans_filter else None
                sides.append(Side(spans, counted, source, source.tags.get(sequence), sequence))
            yield sequence, sides[0], sides[1]

    def _sequenced(self, document: Document) -> Document:
        """The document with the sequences that are counted as its layers."""
        return with_merged(document) if self.plan.merge else document

    # What has been compared

    def count_reading(self, reading: FileReading) -> FileEnd:
        """Count a reading, apart, and add it when it has ended.

        If it raises, what was counted of it is dropped, and the same is read and counted again in a way that
        says what is wrong and where.
        """
        self.see_layers(reading.layers)
        try:
            apart = self._counted(reading)
        except CluevalError:
            if reading.again is None:
                raise
            return self.count_reading(reading.again)
        self.include(apart.found())
        return reading.end

    def _counted(self, reading: FileReading) -> Evaluation:
        """An evaluation of nothing but this."""
        apart = Evaluation(self.plan, self.layers)
        for _ in map(apart.count_compared, reading):  # which keeps no value while the next is made
            pass
        return apart

    def count_compared(self, compared: Compared) -> None:
        """Count what the two sides have in common, and what is left over."""
        self.units.add("token")
        if not compared.has_text:
            self.text = "absent"
        receivers = self.receivers(compared.document, compared.metadata, compared.documents, compared.tokens)
        for sequence, comparison in compared.sequences.items() if receivers else ():
            for metric in self.plan.metrics:
                _add(receivers, metric.name, sequence, _tally(metric, comparison))
        for (name, sequence), tally in compared.tallies.items():
            _add(receivers, name, sequence, tally)

    def add_repaired(self, repaired: Mapping[str, int]) -> None:
        """Add repaired tags of each side, which are known when their texts have ended."""
        for side, number in repaired.items():
            self.repaired[side] += number

    def add_spans(self, end: FileEnd) -> None:
        """Add the spans of each layer in two files, or in parts of them, and their columns."""
        for (side, layer), (source, spans) in end.spans().items():
            add_layer(self.inputs, side, layer, source, spans=spans)

    def add_tags(self, end: FileEnd) -> None:
        """Add what is told from all tags of two files: their schemes, and which of them were repaired."""
        self.add_repaired(end.repaired())
        for (side, layer), scheme in end.schemes().items():
            add_layer(self.inputs, side, layer, scheme=scheme)

    # Both

    def receivers(
        self, document: str, metadata: Mapping[str, str], documents: int, tokens: int
    ) -> list[Totals]:
        """Where the counts of a document go: the total and its groups, or nowhere if it is filtered out.

        `documents` and `tokens` are how many there are more.
        """
        receivers = [self.total]
        if self.plan.where or self.plan.by:
            on_documents = self.plan.where.on_documents(self.layers)
            self._known.see(document, metadata, on_documents)
            if not on_documents.lets_through(document, metadata):
                return []
        for key in self.plan.by:
            value = document if key == ID else metadata.get(key, WITHOUT_VALUE)
            receivers.append(self.groups[key].setdefault(value, Totals()))
        for totals in receivers:
            totals.documents += documents
            totals.tokens += tokens
        return receivers

    def found(self) -> Found:
        """Everything counted, for another evaluation of the same plan to `include`."""
        return Found(
            self.layers if self._begun else None,
            self._grown,
            self.total,
            self.groups,
            self.repaired_tags(),
            self.units,
            self.treatments,
            self.text,
            self.unprojected,
            self._known,
            self._frames,
            None,  # the tags of a part are known to what has read it
            self._preparation.changed(),
            self._inputs_so_far(),
        )

    def fits(self, found: Found) -> bool:
        """Whether the same would have been counted here, after what has been counted here already.

        A layer that turned up before counts in all later documents, also in those that have no spans in it.
        """
        if not self._begun or found.layers is None:
            return True
        return not found.grown and set(found.layers) == set(self.layers)

    def include(self, found: Found) -> None:
        """Add what was counted elsewhere."""
        if found.layers is not None:
            self.see_layers(found.layers)
        self.total.include(found.total)
        for key, values in found.groups.items():
            own = self.groups[key]
            for value, totals in values.items():
                if value in own:
                    own[value].include(totals)
                else:
                    own[value] = totals
        self.add_repaired(found.repaired)
        self.units |= found.units
        self.treatments |= found.treatments
        if found.text == "absent":
            self.text = found.text
        self.unprojected += found.unprojected
        self._known.include(found.known)
        for frame, number in found.frames.items():
            self._frames[frame] += number
        self._preparation.include(found.prepared)
        include(self.inputs, found.inputs)

    def result(self, signature: Signature) -> Result:
        self._known.require_all(self.plan.by, self.layers)
        for frame, number in self._frames.items():
            if self.total.documents and not number:
                raise UsageError(
                    f"no annotation is in {frame!r}, within which is to be counted",
                    advice="check its spelling",
                )
        scores = self._scores(self.total)
        for metric in self.plan.metrics:
            metric.check(self._tally_of(metric))
        return Result(
            self.total.documents,
            self.total.tokens,
            self.repaired_tags(),
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
            self.unprojected if self.plan.align is not None else None,
            Counted(self.plan.metrics, self.total.tallies, self._layers_of_sequences()),
            self.plan.metrics,
            self._preparation.changed() if self.plan.transforms else None,
            sections_of(self.plan.observers),
            [deepcopy(each) for each in self.plan.observers if isinstance(each, AddingObserver)],
            self.read(),
        )

    def choices(self) -> dict[str, str]:
        """What metrics say of the sums of their counts, for the signature."""
        found: dict[str, str] = {}
        for metric in self.plan.metrics:
            if metric.needs.choices is not None:
                found |= metric.needs.choices(self._tally_of(metric))
        return found

    def _tally_of(self, metric: Metric) -> Tally:
        """What a metric counted in all sequences together."""
        total: Tally = Tally()
        for (name, _), tally in self.total.tallies.items():
            if name == metric.name:
                total.update(tally)
        return total

    def _layers_of_sequences(self) -> dict[str, list[str]]:
        return {MERGED: self.layers} if self.plan.merge else {layer: [layer] for layer in self.layers}

    def _scores(self, totals: Totals) -> dict[str, dict[str, Any]]:
        sequences = self._layers_of_sequences()
        return {
            metric.name: {
                sequence: metric.scores(totals.tallies.get((metric.name, sequence), Tally()), layers)
                for sequence, layers in sequences_of(metric, sequences, self.total.tallies).items()
            }
            for metric in self.plan.metrics
        }


def _count(metric: Metric, gold: Side, predicted: Side) -> Tally:
    """What a metric counts; an error about the spans says where they were read."""
    try:
        return metric.count(gold, predicted)
    except OverlapError as error:
        if error.file is None and gold.document is not None:
            error.file = gold.document.file
        raise


def _add(receivers: Iterable[Totals], metric: str, sequence: str, tally: Tally) -> None:
    for totals in receivers:
        totals.add(metric, sequence, tally)


def _tally(metric: Metric, comparison: Comparison) -> Tally:
    """What a metric counts in two texts: what agrees, and what is left over."""
    tally = metric.count_agreed(comparison.agreed, comparison.equal)
    own_tags, other_tags = comparison.tags or (None, None)
    if comparison.gold or comparison.predicted or own_tags:
        gold, predicted = Side(comparison.gold, tags=own_tags), Side(comparison.predicted, tags=other_tags)
        with making_many(len(comparison.gold) + len(comparison.predicted)):
            tally.update(metric.count(gold, predicted))
    if comparison.times > 1:
        return Tally({key: number * comparison.times for key, number in tally.items()})
    return tally


def _positions(gold: Document, predicted: Document) -> int:
    """How many positions the text has; 0 where neither side brings its text."""
    for document in (gold, predicted):
        if document.end is not None:
            return document.end - document.start
    return 0
