"""Lockstep that keeps documents apart: each document of a regular stretch has its own tag runs, and its own counts.

Pieces are cut where documents begin. The counts of a tag run are computed once, when it first occurs; the counts of a
document are the sum over its tag runs. Lines that are no whole sentences are read as passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from clueval.evaluation.lockstep.columns import Columns, Tags
from clueval.evaluation.lockstep.compare import Decoders, compare_columns
from clueval.evaluation.lockstep.hunks import Relations, find_differences
from clueval.evaluation.lockstep.reader import FilePieces, Lockstep
from clueval.evaluation.lockstep.regular import Regular
from clueval.evaluation.lockstep.stretch import DocumentPart, Stretch
from clueval.evaluation.lockstep.tag_runs import CountedRuns, TagRuns
from clueval.formats.columns.builder import NamedDocument
from clueval.metrics.compared_counts import count_comparison
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.spans.compared import SIDES, ComparedSequence
from clueval.spans.span import MERGED, Frozen
from clueval.tagging.transitions import Seams

_MOST_RELATIONS = 1 << 15


class DocumentLockstep(Lockstep):
    """Reads two files of one column format, documents apart: stretches have parts."""

    @cached_property
    def _relations(self) -> Relations:
        """How adjacent lines of these files are related, so far."""
        return Relations(self._layout)

    def _stretch(self, pieces: FilePieces) -> Stretch | None:
        """The stretch of the pieces of both sides; None if they are irregular, or lines."""
        parts = self._parts(pieces)
        if not parts:
            return None
        for part in parts:
            self._tag_runs().include(part.runs)
        tokens = sum(part.tokens for part in parts)
        self._tokens += tokens
        return Stretch(sum(part.begins for part in parts), tokens, self._due_columns(), parts)

    def _open_stretch(self, pieces: FilePieces) -> None:
        """Nothing: lines into or out of which a span goes on are read as passages."""

    def _parts(self, pieces: FilePieces) -> list[DocumentPart]:
        """The parts of regular pieces; none if they are irregular or not allowed here."""
        end, gold, predicted = pieces[:3]
        if end == b"\n" or len(gold) != len(predicted) or None in self.layouts:
            return []
        recogniser = self._files[0].recogniser
        heads = recogniser.heads(end, gold)
        builder = recogniser.reader.builder
        if not self._takes(end, len(heads)):
            return []
        documents = [builder.current, *builder.next_documents(heads)]
        starts = [0, *(head.piece for head in heads)]
        found = []
        for number, document in enumerate(documents):
            start, stop = starts[number], [*starts, len(gold)][number + 1]
            marks = int(number > 0 and heads[number - 1].is_mark)
            if gold[start : start + marks] != predicted[start : start + marks]:
                return []
            if number == 0 and start == stop:
                continue
            sides = [side[start + marks : stop] for side in (gold, predicted)]
            part = None if document is None else self._part(number > 0, document, end, *sides)
            if part is None:
                return []
            found.append(part)
        return found

    def _part(
        self, begins: bool, document: NamedDocument, end: bytes, gold: list[bytes], predicted: list[bytes]
    ) -> DocumentPart | None:
        runs = TagRuns(self._layout, self._merge, self._sizes)
        found = self._recognised(end, gold) if gold else Regular(0, 0)
        if found is None:
            return None
        if len(self._relations) > _MOST_RELATIONS:
            self._relations.clear()
        if gold and not find_differences(gold, predicted, end, self._layout, runs, self._relations):
            return None
        return DocumentPart(begins, document, found.tokens, runs)


_Labels = tuple[tuple[tuple[tuple[str, str | None], ...], int], ...]
"""The labels of spans by layer, and how many spans have them."""

Tallies = dict[tuple[str, str], Tally]


class RunTallies:
    """The counts of metrics in tag runs, each computed once.

    Holds up to `most` tag runs of each kind.
    """

    def __init__(self, metrics: Sequence[Metric], decoders: Decoders, merge: bool, most: int) -> None:
        self._metrics, self._decoders, self._merge, self._most = metrics, decoders, merge, most
        self._labels: dict[tuple[tuple[str, ...], bytes], _Labels] = {}
        self._disputed: dict[tuple[tuple[str, ...], bytes, bytes], tuple[int, list[Tally]]] = {}

    def of(self, part: DocumentPart) -> Tallies:
        """Return the counts of a part by metric and sequence."""
        found: Tallies = {}
        if max(len(self._labels), len(self._disputed)) > self._most:
            self._labels.clear()
            self._disputed.clear()
        for counted in part.runs.counted():
            sequence = MERGED if self._merge else counted.layers[0]
            for metric, tally in zip(self._metrics, self._of_sequence(part, counted, sequence), strict=True):
                found[metric.name, sequence] = tally
        return found

    def _of_sequence(self, part: DocumentPart, counted: CountedRuns, sequence: str) -> list[Tally]:
        agreed = self._agreed(part, counted, sequence)
        known = []
        equal = part.tokens
        for (gold, predicted), times in counted.disputed.items():
            key = counted.layers, gold, predicted
            if key not in self._disputed:
                tags = [part.runs.tags_of(counted.layers, run) for run in (gold, predicted)]
                tokens = gold.count(b"\n") + 1
                columns = Columns(tokens, _no_tags(counted.layers), (tags[0], tags[1]))
                comparison = self._compared(columns, sequence)
                tallies = [count_comparison(metric, comparison) for metric in self._metrics]
                self._disputed[key] = tokens, tallies
            tokens, tallies = self._disputed[key]
            equal -= tokens * times
            known.append((tallies, times))
        return [
            _added(metric.count_agreed(agreed, equal), [(tallies[place], times) for tallies, times in known])
            for place, metric in enumerate(self._metrics)
        ]

    def _agreed(self, part: DocumentPart, counted: CountedRuns, sequence: str) -> Counter[Frozen]:
        """The labels of the spans in tag runs that are the same on both sides."""
        by_labels = Counter[_Labels]()
        for run, times in counted.same.items():
            place = counted.layers, run
            if place not in self._labels:
                self._labels[place] = tuple(self._labels_of(part, counted.layers, run, sequence))
            by_labels[self._labels[place]] += times
        sums: dict[tuple[tuple[str, str | None], ...], int] = {}
        for labels, times in by_labels.items():
            for layers, number in labels:
                sums[layers] = sums.get(layers, 0) + number * times
        return Counter({Frozen(layers): number for layers, number in sums.items()})

    def _labels_of(
        self, part: DocumentPart, layers: tuple[str, ...], run: bytes, sequence: str
    ) -> Iterable[tuple[tuple[tuple[str, str | None], ...], int]]:
        """The labels of the spans of a tag run, and how many spans have them."""
        if self._merge:
            nothing = _no_tags(layers)
            columns = Columns(0, part.runs.tags_of(layers, run), (nothing, nothing))
            compared = self._compared(columns, sequence)
            return ((tuple(labels.items()), number) for labels, number in compared.agreed.items())
        tags = part.runs.tags_of(layers, run)[sequence]
        found = self._decoders[SIDES[0], sequence].labels(tags, Seams(tags))  # both sides read tags alike
        return ((((sequence, label),), number) for label, number in found.items())

    def _compared(self, columns: Columns, sequence: str) -> ComparedSequence:
        return compare_columns(columns, self._decoders, self._merge)[sequence]


def _no_tags(layers: Iterable[str]) -> Tags:
    return {layer: [] for layer in layers}


def _added(tally: Tally, more: Sequence[tuple[Mapping[tuple[object, ...], int], int]]) -> Tally:
    for other, times in more:
        for key, number in other.items():
            tally[key] += number * times
    return tally
