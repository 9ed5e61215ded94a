"""Lockstep that keeps documents apart: each document of a regular stretch has its own tag runs, and its own counts.

Pieces are cut where documents begin. The counts of a tag run, cut where no span crosses, are computed once, when it
first occurs; the counts of a document are the sum over its tag runs. Lines that are no whole sentences are read as
passages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

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


_Labels = tuple[tuple[str, str | None], ...]
"""The label of a span in each layer."""

Tallies = dict[tuple[str, str], Tally]


class _RunCounts(NamedTuple):
    """The counts of a tag run: the labels of the parts that are the same on both sides, and the tallies of the others.

    `disputed` is the number of positions of the others; each metric has a tally, if there are any.
    """

    labels: tuple[tuple[_Labels, int], ...]
    disputed: int = 0
    tallies: Sequence[Tally] = ()


class RunTallies:
    """The counts of metrics in tag runs, each computed once, after it is cut where no span crosses.

    Holds up to `most` tag runs of each sequence.
    """

    def __init__(self, metrics: Sequence[Metric], decoders: Decoders, merge: bool, most: int) -> None:
        self._metrics, self._decoders, self._merge, self._most = metrics, decoders, merge, most
        self._known: defaultdict[str, dict[str, _RunCounts]] = defaultdict(dict)
        self._alphabets: list[Alphabet] = []  # those with which these tag runs are written
        self._keys: dict[
            tuple[Any, ...], tuple[Any, ...]
        ] = {}  # of tallies: each once, not once per document

    def of(self, part: DocumentPart) -> Tallies:
        """Return the counts of a part by metric and sequence."""
        found: Tallies = {}
        alphabets = [counted.alphabet for counted in part.runs]
        is_new = list(map(id, alphabets)) != list(map(id, self._alphabets))
        if is_new or max(map(len, self._known.values()), default=0) > self._most:
            self._known.clear()
            self._keys.clear()
            self._alphabets = alphabets
        for counted in part.runs:
            sequence = MERGED if self._merge else counted.layers[0]
            for metric, tally in zip(self._metrics, self._of_sequence(part, counted, sequence), strict=True):
                found[metric.name, sequence] = tally
        return found

    def _of_sequence(self, part: DocumentPart, counted: TagRuns, sequence: str) -> list[Tally]:
        known = self._known[sequence]
        sums: dict[_Labels, int] = {}
        disputed = []
        equal = part.tokens
        for run, times in counted.counts.items():
            found = known[run] if run in known else self._of_run(counted, run, sequence)
            for labels, number in found.labels:
                sums[labels] = sums.get(labels, 0) + number * times
            if found.disputed:
                equal -= found.disputed * times
                disputed.append((found.tallies, times))
        agreed = {Frozen(labels): number for labels, number in sums.items()}
        return [
            _added(
                self._shared(metric.count_agreed(agreed, equal)),
                [(tallies[number], n) for tallies, n in disputed],
            )
            for number, metric in enumerate(self._metrics)
        ]

    def _shared(self, tally: Tally) -> Tally:
        """The tally with keys that are shared by the tallies of all documents."""
        return Tally({self._keys.setdefault(key, key): number for key, number in tally.items()})

    def _of_run(self, counted: TagRuns, run: str, sequence: str) -> _RunCounts:
        """The counts of a tag run: the sum of its parts."""
        known, parts = self._known[sequence], counted.cut(run)
        for part in parts:
            if part not in known:
                known[part] = self._counted(counted, part, sequence)
        if run not in known:
            found = list(map(known.__getitem__, parts))
            disputed = [each.tallies for each in found if each.disputed]
            known[run] = _RunCounts(
                tuple(chain.from_iterable(each.labels for each in found)),
                sum(each.disputed for each in found),
                [_added(Tally(), [(tally, 1) for tally in of]) for of in zip(*disputed, strict=True)],
            )
        return known[run]

    def _counted(self, counted: TagRuns, run: str, sequence: str) -> _RunCounts:
        """The counts of a tag run that is not cut."""
        nothing = {layer: list[str]() for layer in counted.layers}
        gold, predicted = counted.sides_of(run)
        if gold != predicted:
            comparison = self._compared(Columns(len(run), nothing, (gold, predicted)), sequence)
            tallies = [count_comparison(metric, comparison) for metric in self._metrics]
            return _RunCounts((), len(run), tallies)
        if self._merge:
            merged = self._compared(Columns(0, gold, (nothing, nothing)), sequence).agreed
            return _RunCounts(tuple((tuple(labels.items()), n) for labels, n in merged.items()))
        tags = gold[sequence]
        found = self._decoders[SIDES[0], sequence].labels(tags, Seams(tags))  # both sides read tags alike
        return _RunCounts(tuple((((sequence, label),), n) for label, n in found.items()))

    def _compared(self, columns: Columns, sequence: str) -> ComparedSequence:
        return compare_columns(columns, self._decoders, self._merge)[sequence]


def _added(tally: Tally, more: Sequence[tuple[Mapping[tuple[object, ...], int], int]]) -> Tally:
    for other, times in more:
        for key, number in other.items():
            tally[key] += number * times
    return tally
