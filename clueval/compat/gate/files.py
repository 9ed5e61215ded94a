"""The files that users of GATE's plugin Evaluation expect: its TSV, and documents with indicator annotations.

Both are made by observers of the documents that an evaluation counts, group by group.

In contrast to the original, the macro rows of the TSV have all columns and are named as macro rows,
indicators do not change the annotations they are made from, and no file is overwritten.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from clueval.compat.gate.table import Counted, header, list_lines, tagging_lines
from clueval.exceptions import FileError, UsageError
from clueval.formats import all_formats
from clueval.formats.opened import Opened
from clueval.metrics.counting import Tally
from clueval.metrics.gate import Gate, Outcome, disambiguation_curve
from clueval.metrics.gate.list_evaluation import ListEvaluation, Lists
from clueval.metrics.metric import Side
from clueval.reading.read_options import ReadOptions
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Span
from clueval.transforms.group import Group
from clueval.writing import whole_file


class GateTable:
    """An observer that makes GATE's TSV of 31 columns. Holds the counts of each document.

    >>> table = GateTable(Gate(), "Response")
    >>> document = Document("d", {"label": [Span(0, 3, "Person")]}, text="Ada", unit="character")
    >>> table.see(Group(document, document))
    >>> [line.split("\\t")[2:9] for line in table.lines()][-1]
    ['[doc:all:micro]', 'Response', 'Person', 'score', 'NaN', '1.0', '1.0']
    """

    name: ClassVar[str] = "table"

    def __init__(
        self, metric: Gate, response_set: str = "", reference_set: str = "", evaluation: str = ""
    ) -> None:
        self._metric = metric
        self._plain = replace(metric, score_feature=None, thresholds=None)
        self._names = {
            "response_set": response_set,
            "reference_set": reference_set,
            "evaluation": evaluation,
        }
        self._counted: list[Counted] = []

    def see(self, group: Group) -> None:
        """Count a document: gold, predicted and, if there is one, the reference."""
        gold, predicted, *reference = _sides(group)
        older = self._plain.count(gold, reference[0]) if reference else None
        self._counted.append((group.gold.id, self._metric.count(gold, predicted), older))

    def section(self) -> dict[str, Any]:
        """Return nothing: the output is a file."""
        return {}

    def lines(self) -> Iterator[str]:
        """Yield the lines, the header first."""
        return tagging_lines(self._metric, self._counted, **self._names)


class GateListTable:
    """An observer that makes the rows of candidate lists, with the same columns, after `BestCandidates`; see
    `clueval.compat.gate.table.list_lines`."""

    name: ClassVar[str] = "table"

    def __init__(self, metric: Gate, lists: Lists, response_set: str = "", evaluation: str = "") -> None:
        self._evaluation = ListEvaluation(metric, lists)
        self._best = Tally()
        self._kind = self._evaluation.type
        self._place = {"evaluation": evaluation, "set_name": response_set, "annotation_type": self._kind}
        self._rows: list[str] = []

    def see(self, group: Group) -> None:
        """Count a document: the best candidates, and the lists that they are from."""
        gold, best, _ = _sides(group)
        metric = self._evaluation.best_metric
        tally = metric.count(gold, best)
        self._best.update(tally)
        rows = [(float("nan"), metric.counts(tally, self._kind))]
        ranks = disambiguation_curve([self._evaluation.add(group.gold, group.further[-1])])
        place = {**self._place, "document": group.gold.id}
        self._rows += [
            *list_lines("list-best", rows, **place),
            *list_lines("list-disamb-best", ranks[:1], **place),
        ]

    def section(self) -> dict[str, Any]:
        """Return nothing: the output is a file."""
        return {}

    def lines(self) -> Iterator[str]:
        """Yield the lines, the header first: documents, the best of all, by score, by rank, disambiguation."""
        whole = self._evaluation
        yield header()
        yield from self._rows
        best = whole.best_metric.counts(self._best, self._kind)
        yield from list_lines("list-best", [(float("nan"), best)], **self._place)
        yield from list_lines("list-score", whole.by_score(), **self._place)
        yield from list_lines("list-rank", whole.by_rank(), **self._place)
        yield from list_lines("list-disamb", whole.disambiguation(), **self._place)


class IndicatorWriter:
    """An observer that writes copies of the predicted files with indicator annotations in sets of their own.

    ``PREFIX_Res`` has the outcome of the response, ``PREFIX_Ref`` of the reference, ``PREFIX_Diff`` the
    changes. Everything else in a file is unchanged. Each file is written when its document is counted.
    """

    name: ClassVar[str] = "indicators"

    def __init__(self, metric: Gate, folder: Path, prefix: str) -> None:
        if not prefix:
            raise UsageError("the prefix of indicator sets is empty", advice="the sets are PREFIX_Res, ...")
        self._metric = replace(metric, score_feature=None, thresholds=None)
        self._folder, self._prefix = folder, prefix
        self.written: set[Path] = set()

    def see(self, group: Group) -> None:
        """Write the file of a document.

        Raises `UsageError` for a format without annotation sets and for a set that already exists,
        `FileError` for a file that already exists or cannot be written.
        """
        gold, predicted, *reference = _sides(group)
        after = self._metric.outcome(gold, predicted)
        added: dict[str, Sequence[Span]] = {f"{self._prefix}_Res": after.indicators()}
        if reference:
            before: Outcome = self._metric.outcome(gold, reference[0])
            found, *_ = self._metric.against(gold, predicted, reference[0])
            added[f"{self._prefix}_Ref"] = before.indicators()
            added[f"{self._prefix}_Diff"] = [change.annotation() for change in found]
        self._write(group.predicted, added)

    def section(self) -> dict[str, Any]:
        """Return nothing: the output is files."""
        return {}

    def _write(self, document: Document, added: Mapping[str, Sequence[Span]]) -> None:
        if document.file is None:
            raise UsageError(
                "indicators are added to files, and this document is not from a file",
                document=document.id,
                advice="give predicted as files",
            )
        path = Path(document.file)
        text = _with_sets(path, added)
        # the id of a document in a folder is its relative path; of two single files it is not
        relative = Path(document.id)
        inside = path.parts[-len(relative.parts) :] == relative.parts and ".." not in relative.parts
        target = self._folder / (relative if inside and not relative.is_absolute() else path.name)
        if target.exists():
            raise FileError(
                "already exists and cannot be overwritten", file=str(target), advice="name another folder"
            )
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: not a possible name for a folder
            reason = getattr(error, "strerror", None) or "check its name"
            raise FileError(f"the folder cannot be made: {reason}", file=str(target.parent)) from error
        with whole_file(target) as output:
            output.write(text)
        self.written.add(target)


def _with_sets(path: Path, added: Mapping[str, Sequence[Span]]) -> str:
    """Return the content of a file with further annotation sets."""
    opened = Opened(path, sys.maxsize, sys.maxsize)  # without limits, since it has been read before
    form = ReadOptions(max_line=opened.max_line).format_at(path)
    if form.add_sets is not None:
        return form.add_sets(opened, added)
    formats = [form.name for form in all_formats() if form.add_sets is not None]
    raise UsageError(
        f"indicators cannot be written into the format {form.name}",
        file=str(path),
        advice=f"only into {' and '.join(formats)}",
    )


def _sides(group: Group) -> list[Side]:
    return [
        Side(document.layers.get(DEFAULT_LAYER, ()), document=document)
        for document in (group.gold, group.predicted, *group.further)
    ]
