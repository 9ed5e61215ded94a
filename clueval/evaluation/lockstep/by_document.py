"""Lockstep that keeps documents apart: each document of a regular stretch has its own tag runs, and its own counts.

Pieces are cut where documents begin. The counts of a tag run, cut where no span crosses, are computed once, when it
first occurs; the counts of a document are the sum over its tag runs. Lines that are no whole sentences are read as
passages.
"""

from __future__ import annotations

from clueval.evaluation.lockstep.hunks import find_hunks
from clueval.evaluation.lockstep.reader import DocumentPart, FilePieces, Lockstep, Stretch
from clueval.evaluation.lockstep.regular import Regular
from clueval.formats.columns.builder import NamedDocument


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
