"""One evaluation while it runs: its plan, and everything counted so far.

Metrics count pairs of documents one by one, or distinct clusters (`row_clusters`, `span_clusters`), whose counts
`Evaluation.count_part` adds. Both ways give the same counts; the first defines those of the second. With `Plan.align`,
predicted spans are first projected onto the gold text; those without a place on it count as spurious.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

from clueval.core.span import SIDES, Span
from clueval.evaluation.inputs import FileEnd, Inputs, add_layer, include, no_inputs, reported
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import (
    Compared,
    compared,
    count_sides,
    in_unit,
    positions_of,
    sides_of,
)
from clueval.evaluation.totals import (
    Totals,
    Unprojected,
    add_to,
    depth_sequence,
)
from clueval.evaluation.units.pieces import Pieces, require_sum, value_of
from clueval.evaluation.units.unit import SENTENCE
from clueval.evaluation.without_layers import counted_without_layer, places_without_spans, with_layers
from clueval.first.metrics.counting import Tally, add_tally
from clueval.first.metrics.metric import Metric, Side, refuse_filter
from clueval.spans.document import Document
from clueval.spans.filters import ID, SeenNames

if TYPE_CHECKING:
    from clueval.evaluation.repairs import RepairCount
    from clueval.transforms.applied import Preparation
    from clueval.transforms.group import Group


def _count(found: Iterable[Compared], receivers: Sequence[Totals]) -> None:
    for metric, sequence, gold, predicted in found:
        add_to(receivers, metric.name, sequence, count_sides(metric, gold, predicted))


class Evaluation:
    """One evaluation while it runs.

    Documents are counted by `count_group`, which prepares them and tells observers, and by `count_documents`, which
    does not. `count_part` adds counts of clusters. Both look for the totals that get the counts (`receivers`): those of
    everything, of groups, of units. `counts` and `include` carry everything from one evaluation to another.

    Attributes:
        layers: all layers that have occurred, in the order of their first occurrence.
        frames: the number of annotations in each layer within which a metric counts.
        repaired, repairs: the numbers of repaired tags that are known, and the tags of documents that are not settled.
        units: what positions are: tokens, characters.
        treatments: how ill-formed tags were treated.
        unprojected: the predicted spans without a place on the gold text.
        changes: the numbers of changes by each transform, by its name, in what `counts` returns.
        pieces: the counts by unit of resampling.
    """

    def __init__(self, plan: Plan, layers: Iterable[str]) -> None:
        self.plan = plan
        self.frames: dict[str, int] = {
            metric.needs.within: 0 for metric in plan.metrics if metric.needs.within is not None
        }
        self.layers = [layer for layer in layers if layer not in self.frames]
        self.total = Totals()
        self.groups: dict[str, dict[str, Totals]] = {key: {} for key in plan.by}
        self.repaired = Counter(dict.fromkeys(SIDES, 0))
        self.repairs: dict[str, RepairCount] = {}  # of documents, if there are any
        self.inputs = no_inputs()
        self.units: set[str] = set()
        self.treatments: set[str] = set()
        self.text = "aligned" if plan.texts_may_differ else "equal"
        self.unprojected: list[Unprojected] = []
        self.pieces = Pieces(plan.resample_by, plan.in_folders)
        self.unfinished: dict[str, Any] = {}  # what was read and waits to be counted (`span_clusters`)
        self.changes: Mapping[str, Tally] = {}
        self._preparation: Preparation | None = None
        self.seen_names = SeenNames(plan.where)
        self._undecided: dict[tuple[str, ...], Evaluation] = {}
        self._begun = self._grown = False
        self._refuse_filters(self.layers)

    def _refuse_filters(self, layers: Sequence[str]) -> None:
        """Raise `UsageError` if a filter on one of these layers is set and a metric must count every span."""
        for metric in self.plan.metrics if self.plan.where.on_layers(layers) else ():
            refuse_filter(metric)

    def see_layers(self, layers: Iterable[str]) -> None:
        """Add layers that documents have, except those within which a metric counts.

        Raises `UsageError`, and adds none, if a metric refuses a filter on one of them.
        """
        new = [
            layer for layer in dict.fromkeys(layers) if layer not in self.layers and layer not in self.frames
        ]
        if new:
            self._refuse_filters([*self.layers, *new])
            self.layers += new
            self._add_layers(self._all_totals(), new)
            self._include_decided()
        self._grown |= self._begun and bool(new)
        self._begun = True

    def _all_totals(self) -> Iterator[Totals]:
        """The totals of everything, of groups and of units."""
        yield self.total
        for values in self.groups.values():
            yield from values.values()
        for piece in self.pieces.listed:
            yield piece.totals

    def _add_layers(self, totals: Iterable[Totals], layers: Sequence[str]) -> None:
        """Count layers in documents that were counted without them."""
        if not self.plan.merge:
            for each in totals:
                each.tallies = with_layers(
                    self.plan.metrics, layers, each.tallies, each.without_layer, each.documents, each.tokens
                )

    # Documents

    @property
    def preparation(self) -> Preparation:
        """The transforms of the plan, and the numbers of their changes."""
        if self._preparation is None:
            from clueval.transforms.applied import (
                Preparation,  # clusters without transforms do not need it
            )

            self._preparation = Preparation(self.plan.transforms)
        return self._preparation

    @property
    def prepares(self) -> bool:
        """Whether there are transforms, or documents, whose alternatives are chosen without any."""
        return self._preparation is not None or bool(self.plan.transforms)

    def count_group(self, group: Group) -> None:
        """Prepare, check and count the documents of a group; observers see it unless a filter leaves it out."""
        before = self.total.documents
        prepared = self.preparation(group)
        evaluation = self._undecided_for(prepared) or self
        receivers = evaluation.count_documents(prepared.gold, prepared.predicted, prepared.unplaced)
        for depth, deepest, raised in self.preparation.by_depth() if receivers else ():
            counted = evaluation._counted_alone(raised)
            for (metric, sequence), tally in counted.tallies.items():
                add_to(receivers, metric, depth_sequence(sequence, depth, deepest), tally)
            for (metric, sequence), tally in counted.without_layer.items():
                for each in receivers:
                    add_tally(each.without_layer, (metric, depth_sequence(sequence, depth, deepest)), tally)
        self.count_read(group.gold, group.predicted)
        if self.total.documents > before:
            if lost := [span for of_side in prepared.lost for spans in of_side.values() for span in spans]:
                from clueval.evaluation.unplaced import lost_sides

                own = group.gold
                totals = self.receivers(own.id, own.metadata, documents=0, tokens=0)
                _count(lost_sides(self.plan, self.layers, prepared), totals)
                self._list_unplaced(own.id, lost)
            for observer in self.plan.observers:
                observer.see(prepared)

    def _undecided_for(self, group: Group) -> Evaluation | None:
        """The evaluation that counts a group for the case that later documents have layers that the filter names.

        None if it is decided: this document has the layers, or metadata of these names, or a metric refuses filters on
        layers.
        """
        self.see_layers([*group.gold.layers, *group.predicted.layers])
        conditions = self.plan.where.on_documents(self.layers).conditions
        names = tuple(key for key, _ in conditions if key != ID and key not in group.gold.metadata)
        if not names or any(metric.needs.every_span is not None for metric in self.plan.metrics):
            return None
        if names not in self._undecided:
            self._undecided[names] = Evaluation(self.plan, [*self.layers, *names])
        self._undecided[names].pieces.file = self.pieces.file
        self.seen_names.see(group.gold.id, group.gold.metadata, self.plan.where.on_documents(self.layers))
        return self._undecided[names]

    def _include_decided(self) -> None:
        """Include the documents for which all layers that the filter names have been seen."""
        for names in [names for names in self._undecided if set(names) <= set(self.layers)]:
            self.include(self._undecided.pop(names).counts())

    def count_documents(
        self, gold: Document, predicted: Document, unplaced: Document | None = None
    ) -> list[Totals]:
        """Check and count one pair of documents, and predicted spans without a place in the text.

        Returns the totals that count them.
        """
        if not self.plan.texts_may_differ:
            from clueval.reading.same_text import require_same_text  # clusters do not need it

            require_same_text(gold, predicted)
            if gold.end is None or predicted.end is None:
                self.text = "absent"
        gold, predicted = in_unit(self.plan.unit, gold, predicted)
        self.see_layers([*gold.layers, *predicted.layers])
        for frame in self.frames:
            self.frames[frame] += len(gold.layers.get(frame, ())) + len(predicted.layers.get(frame, ()))
        receivers = self.receivers(gold.id, gold.metadata, documents=1, tokens=positions_of(gold, predicted))
        self.units.add(gold.unit)
        if not receivers:
            return []
        self.seen_names.see_labels((gold, predicted), self.plan.where.on_layers(self.layers))
        metrics = [each for each in self.plan.metrics if unplaced is None or each.needs.places]
        on_gold_text = [each for each in metrics if self.plan.align is not None and each.needs.same_text]
        own_totals = [Totals()] if self.plan.resample_by == SENTENCE else []
        others = [metric for metric in metrics if metric not in on_gold_text]
        self._count_pair(gold, predicted, others, [*receivers, *own_totals])
        if own_totals:
            self._count_sentences(gold, predicted, own_totals[0])
        if on_gold_text:
            from clueval.evaluation.unplaced import projected_sides

            found, lost = projected_sides(self.plan, self.layers, self.frames, on_gold_text, gold, predicted)
            _count(found, receivers)
            self._list_unplaced(gold.id, lost)
        if unplaced is not None:
            unplaced = self._count_unplaced(gold, predicted, unplaced, receivers)
            self._list_unplaced(gold.id, chain(*unplaced.layers.values()))
        return receivers

    def _counted_alone(self, group: Group) -> Totals:
        """The counts of a group by all metrics, which nothing else includes."""
        totals, unplaced = Totals(), group.unplaced
        gold, predicted = in_unit(self.plan.unit, group.gold, group.predicted)
        metrics = [each for each in self.plan.metrics if unplaced is None or each.needs.places]
        self._count_pair(gold, predicted, metrics, [totals])
        if unplaced is not None:
            self._count_unplaced(gold, predicted, unplaced, [totals])
        if not self.plan.merge:
            totals.without_layer |= places_without_spans(metrics, 1, positions_of(gold, predicted))
        return totals

    def _count_unplaced(
        self, gold: Document, predicted: Document, unplaced: Document, receivers: Sequence[Totals]
    ) -> Document:
        """Count predicted spans without a place in the text, and return them in the unit that was chosen."""
        from clueval.evaluation.unplaced import unplaced_sides

        unplaced, _ = in_unit(self.plan.unit, unplaced, unplaced)
        _count(unplaced_sides(self.plan, self.layers, self.frames, gold, predicted, unplaced), receivers)
        return unplaced

    def _list_unplaced(self, document: str, spans: Iterable[Span]) -> None:
        self.unprojected += [Unprojected(document, span) for span in spans]

    def count_read(self, gold: Document, predicted: Document) -> None:
        """Count the spans of a pair of documents as they were read, and the tags that were repaired."""
        for side, document in zip(SIDES, (gold, predicted), strict=True):
            self._repairs_of(side).add(document)
            for layer, spans in document.layers.items():
                add_layer(self.inputs, side, layer, spans=len(spans))

    def _repairs_of(self, side: str) -> RepairCount:
        """The count of one side, which no other evaluation has."""
        if side not in self.repairs:
            from clueval.evaluation.repairs import RepairCount  # clusters do not need it

            self.repairs[side] = RepairCount()
        return self.repairs[side]

    def repaired_tags(self) -> dict[str, int]:
        """The number of repaired tags of each side."""
        of_documents = {side: each.total() for side, each in self.repairs.items()}
        return {side: number + of_documents.get(side, 0) for side, number in self.repaired.items()}

    def read(self) -> Inputs:
        """The inputs of each side, for the result."""
        return reported(self._inputs_so_far(), self.layers, self.frames)

    def _inputs_so_far(self) -> Inputs:
        """The inputs of each side, with the columns and schemes of tags if documents come from files."""
        of_tags = [
            (side, *layer)
            for side, repairs in self.repairs.items()
            for layer in (repairs.layers() if self.inputs[side]["files"] else ())
        ]
        if not of_tags:
            return self.inputs
        found = no_inputs()
        include(found, self.inputs)
        for side, layer, source, scheme in of_tags:
            add_layer(found, side, layer, source, scheme)
        return found

    def _count_pair(
        self, gold: Document, predicted: Document, metrics: Sequence[Metric], receivers: Sequence[Totals]
    ) -> None:
        """Count a pair of documents: every sequence, and all layers together with the metrics that take them so."""
        _count(compared(self.plan, self.layers, metrics, gold, predicted), receivers)
        if not self.plan.merge:
            is_filtered = bool(self.plan.where.on_layers(self.layers))
            for name, tally in counted_without_layer(metrics, gold, predicted, is_filtered):
                for totals in receivers:
                    add_tally(totals.without_layer, (name, ""), tally)

    def _count_sentences(self, gold: Document, predicted: Document, whole: Totals) -> None:
        """Count a pair of documents, counted as a whole already, once more in pieces that are units."""
        from clueval.evaluation.units.pieces import pieces_of

        values, first = self._values(gold.id, gold.metadata), len(self.pieces.listed)
        for number, *sides in pieces_of(gold, predicted):
            totals = self.pieces.totals_of(self.pieces.key(gold.id, sentence=number), values, begins=True)
            totals.documents, totals.tokens = int(number == 1), positions_of(*sides)
            self._count_pair(sides[0], sides[1], self.plan.metrics, [totals])
        require_sum(self.pieces.listed[first:], whole, gold.id)

    def _values(self, document: str, metadata: Mapping[str, str]) -> tuple[str, ...]:
        """The values of the break-downs."""
        return tuple(value_of(key, document, metadata) for key in self.plan.by)

    def sides(self, gold: Document, predicted: Document) -> Iterator[tuple[str, Side, Side]]:
        """The two sides of every sequence (`sides_of`)."""
        return sides_of(self.plan, self.layers, gold, predicted)

    # Clusters

    def count_apart(self, count: Callable[[Evaluation], FileEnd]) -> FileEnd:
        """Let `count` count two files in a separate evaluation, and include its counts when it returns.

        If it raises an error, its counts are dropped.
        """
        separate = Evaluation(self.plan, self.layers)
        separate.pieces.file = self.pieces.file
        end = count(separate)
        self.include(separate.counts())
        return end

    def count_part(
        self,
        tallies: Mapping[tuple[str, str], Tally],
        *,
        documents: int,
        tokens: int,
        document: str = "",
        metadata: Mapping[str, str] | None = None,
        unit: str = "token",
        sentence: int | None = None,
    ) -> None:
        """Add the counts by metric and sequence of a part of two equal texts, and those held back from parts before.

        `documents` is the number of documents that begin in this part, `tokens` its number of positions, and `unit`
        what these are. `document` and `metadata` are those of the document that has the part, if documents are told
        apart. `sentence` is the number, from 1, of the first sentence of the part in its document, if no span reaches
        out of the part and it is as short as can be.
        """
        self.units.add(unit)
        receivers = self.receivers(document, metadata or {}, documents, tokens, sentence)
        for (name, sequence), tally in tallies.items():
            add_to(receivers, name, sequence, tally)

    def add_spans(self, end: FileEnd) -> None:
        """Add the numbers of spans in each layer of two files, or of parts of them, and the columns."""
        for (side, layer), (source, spans) in end.spans().items():
            add_layer(self.inputs, side, layer, source, spans=spans)

    def add_tags(self, end: FileEnd) -> None:
        """Add the schemes and the numbers of repaired tags, which all tags of two files determine."""
        self.repaired.update(end.repaired())
        for (side, layer), scheme in end.schemes().items():
            add_layer(self.inputs, side, layer, scheme=scheme)

    def receivers(
        self,
        document: str,
        metadata: Mapping[str, str],
        documents: int,
        tokens: int,
        sentence: int | None = None,
    ) -> list[Totals]:
        """Begin to count a document: add `documents` and `tokens` to its totals, and return these.

        They are those of everything and of its groups; none if a filter leaves it out. `sentence`: its number.
        """
        receivers = [self.total]
        if self.plan.wants_single_documents:
            on_documents = self.plan.where.on_documents(self.layers)
            if sentence in (None, 1):
                self.seen_names.see(document, metadata, on_documents)
            if on_documents and not on_documents.lets_through(document, metadata):
                return []
        values = self._values(document, metadata)
        for key, value in zip(self.plan.by, values, strict=True):
            receivers.append(self.groups[key].setdefault(value, Totals()))
        by_sentence = self.plan.resample_by == SENTENCE
        if self.plan.resample_by is not None and (sentence is not None or not by_sentence):
            key = self.pieces.key(document, metadata, sentence if by_sentence else None)
            receivers.append(self.pieces.totals_of(key, values, begins=bool(documents) or by_sentence))
        for totals in receivers:
            totals.documents += documents
            totals.tokens += tokens
        return receivers

    def counts(self) -> Evaluation:
        """Everything counted, for another evaluation of the same plan to `include`, also in another process.

        What observers and transforms hold is left out; the numbers of changes are in `changes`.
        """
        found = copy(self)
        found.plan = self.plan._replace(observers=(), transforms=())
        found.changes = self.preparation.changed() if self.prepares else {}
        found._preparation = None
        return found

    def fits(self, counts: Evaluation) -> bool:
        """Whether this evaluation would have counted the same after its own documents.

        It would not if layers come in another order, because merged labels have theirs.
        """
        if not (self._begun and counts._begun):
            return True
        return not counts._grown and counts.layers == self.layers

    def include(self, counts: Evaluation) -> None:
        """Add the `counts` of another evaluation of the same plan, which must not change afterwards."""
        if counts._begun:
            self.see_layers(counts.layers)
        unseen = [layer for layer in self.layers if layer not in counts.layers]
        if unseen and counts.total.documents and not self.plan.merge:
            counts = deepcopy(counts)
            self._add_layers(counts._all_totals(), unseen)
        self.total.include(counts.total)
        for key, values in counts.groups.items():
            for value, totals in values.items():
                self.groups[key].setdefault(value, Totals()).include(totals)
        self.repaired.update(counts.repaired)
        for side, repairs in counts.repairs.items():
            self._repairs_of(side).include(repairs)
        self.units |= counts.units
        self.treatments |= counts.treatments
        if counts.text == "absent":
            self.text = counts.text
        self.unprojected += counts.unprojected
        self.seen_names.include(counts.seen_names)
        for frame, number in counts.frames.items():
            self.frames[frame] += number
        if counts.changes:
            self.preparation.include(counts.changes)
        include(self.inputs, counts.inputs)
        self.pieces.include(counts.pieces.listed)
        for names, undecided in counts._undecided.items():
            if names not in self._undecided:
                self._undecided[names] = Evaluation(self.plan, [*self.layers, *names])
            self._undecided[names].include(undecided)
        self._include_decided()
