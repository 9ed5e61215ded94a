"""Lockstep that keeps documents apart: each document of a regular stretch has its own tag runs, and its own counts.

Pieces are cut where documents begin. The counts of a tag run, cut where no span crosses, are computed once, when it
first occurs; the counts of a document are the sum over its tag runs. Lines that are no whole sentences are read as
passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clueval.evaluation.lockstep.compare import Decoders, compare_columns
from clueval.evaluation.lockstep.hunks import find_hunks
from clueval.evaluation.lockstep.reader import DocumentPart, FilePieces, Lockstep, Stretch
from clueval.evaluation.lockstep.regular import Regular
from clueval.evaluation.lockstep.tag_runs import Alphabet, Columns, TagRuns
from clueval.formats.columns.builder import NamedDocument
from clueval.metrics.compared_counts import count_comparison
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.spans.compared import SIDES, ComparedSequence
from clueval.spans.span import MERGED, Frozen
from clueval.tagging.transitions import Seams


class DocumentLockstep(Lockstep):
    """Reads two files of one column format, documents apart: stretches have parts."""

    def _stretch(self, pieces: FilePieces) -> Stretch | None:
        """The stretch of the pieces of both sides; None if they are irregular, or lines."""
        parts = self._parts(pieces)
        if not parts:
            return None
        for part in parts:
            for runs, of_part in zip(self._runs, part.runs, strict=True):
                runs.include(of_part)
        tokens = sum(part.tokens for part in parts)
        self._tokens += tokens
        return Stretch(sum(part.begins for part in parts), tokens, self._due_columns(), parts)

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
        found = self._recognised(end, gold) if gold else Regular(0, 0)
        if found is None:
            return None
        rows = find_hunks(gold, predicted, end, self._layout)
        if rows is None:
            return None
        runs = [of_file.empty() for of_file in self._runs]
        for each in runs:
            each.add(rows)
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
        self._labels: dict[tuple[tuple[str, ...], str], _Labels] = {}
        self._disputed: dict[tuple[tuple[str, ...], str], list[Tally]] = {}
        self._cut: dict[tuple[tuple[str, ...], str], list[str]] = {}
        self._alphabets: list[Alphabet] = []  # those with which these tag runs are written

    def of(self, part: DocumentPart) -> Tallies:
        """Return the counts of a part by metric and sequence."""
        found: Tallies = {}
        alphabets = [counted.alphabet for counted in part.runs]
        is_new = list(map(id, alphabets)) != list(map(id, self._alphabets))
        if is_new or max(len(self._labels), len(self._disputed), len(self._cut)) > self._most:
            for known in (self._labels, self._disputed, self._cut):
                known.clear()
            self._alphabets = alphabets
        for counted in part.runs:
            sequence = MERGED if self._merge else counted.layers[0]
            for metric, tally in zip(self._metrics, self._of_sequence(part, counted, sequence), strict=True):
                found[metric.name, sequence] = tally
        return found

    def _of_sequence(self, part: DocumentPart, counted: TagRuns, sequence: str) -> list[Tally]:
        runs = Counter[str]()
        for run, times in counted.counts.items():
            place = counted.layers, run
            if place not in self._cut:
                self._cut[place] = counted.cut(run)
            for piece in self._cut[place]:
                runs[piece] += times
        by_labels = Counter[_Labels]()
        disputed = []
        equal = part.tokens
        for run, times in runs.items():
            place = counted.layers, run
            if place not in self._labels and place not in self._disputed:
                self._count(counted, run, sequence)
            if place in self._labels:
                by_labels[self._labels[place]] += times
            else:
                equal -= len(run) * times
                disputed.append((self._disputed[place], times))
        agreed = _sum(by_labels)
        return [
            _added(metric.count_agreed(agreed, equal), [(tallies[number], n) for tallies, n in disputed])
            for number, metric in enumerate(self._metrics)
        ]

    def _count(self, counted: TagRuns, run: str, sequence: str) -> None:
        """Compute the labels of a tag run that is the same on both sides, or the counts of another."""
        layers, nothing = counted.layers, {layer: list[str]() for layer in counted.layers}
        gold, predicted = counted.sides_of(run)
        if gold != predicted:
            comparison = self._compared(Columns(len(run), nothing, (gold, predicted)), sequence)
            self._disputed[layers, run] = [count_comparison(metric, comparison) for metric in self._metrics]
        elif self._merge:
            merged = self._compared(Columns(0, gold, (nothing, nothing)), sequence).agreed
            self._labels[layers, run] = tuple((tuple(labels.items()), n) for labels, n in merged.items())
        else:
            tags = gold[sequence]
            found = self._decoders[SIDES[0], sequence].labels(tags, Seams(tags))  # both sides read tags alike
            self._labels[layers, run] = tuple((((sequence, label),), n) for label, n in found.items())

    def _compared(self, columns: Columns, sequence: str) -> ComparedSequence:
        return compare_columns(columns, self._decoders, self._merge)[sequence]


def _sum(by_labels: Counter[_Labels]) -> Counter[Frozen]:
    """The sum of labels with their multiplicity."""
    sums: dict[tuple[tuple[str, str | None], ...], int] = {}
    for labels, times in by_labels.items():
        for layers, number in labels:
            sums[layers] = sums.get(layers, 0) + number * times
    return Counter({Frozen(layers): number for layers, number in sums.items()})


def _added(tally: Tally, more: Sequence[tuple[Mapping[tuple[object, ...], int], int]]) -> Tally:
    for other, times in more:
        for key, number in other.items():
            tally[key] += number * times
    return tally
