"""What users of GATE's plugin Evaluation expect beside the scores: files, the changes from a reference, and a page.

The files are its TSV and documents with indicator annotations, made by observers of the documents that an evaluation
counts, group by group. In contrast to the original, the macro rows of the TSV have all columns and are named as macro
rows, indicators do not change the annotations they are made from, and no file is overwritten.

The changes from a reference, usually an older run of the same system, are a part of the metric's report: the measures
of the reference, what the response has more or less of each count and rate, the targets that both, one or none got
right (strict, lenient) with McNemar's exact test, the number of changes, and up to `MOST_CHANGES` changes with their
contexts. In a context brackets show which side has marked a piece, as in the error tables: ``[-the target that
changed-]``, ``{+responses+}``, ``[=both=]``; for a spurious response ``[-the response-]``, ``{+targets+}``. If the
spans of the other side overlap one another only the span itself is marked. Source: the change indicators and
contingency tables of the plugin; see `clueval.first.metrics.gate.outcomes`.

The web page loads nothing else: no network, no other file, no script. It has the score tables, for every type and
over all, the precision-recall curve over the score thresholds as a drawing (SVG) with its average precision, the
changes from a reference, and the evaluation of candidate lists. Strict is a full line and lenient a dashed one.
`clueval.reports.page` describes why text from the corpus cannot become markup.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from clueval.compat.gate.table import Counted, header, list_lines, tagging_lines
from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import FileError, OverlapError, UsageError
from clueval.files.writing import whole_file
from clueval.findings.context import Context
from clueval.findings.table import Finding, error_table
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate import (
    Change,
    Contingency,
    Gate,
    Outcome,
    changes,
    changes_of_targets,
    contingency,
    disambiguation_curve,
    macro_report,
)
from clueval.first.metrics.gate.list_evaluation import ListEvaluation, Lists
from clueval.first.metrics.metric import Side
from clueval.first.metrics.tables import gate
from clueval.formats import all_formats
from clueval.formats.opened import Opened
from clueval.reading.read_options import ReadOptions
from clueval.reading.same_text import require_same_text
from clueval.reports.curve import FRAME, Dot, Line, Picture, dot
from clueval.reports.language import phrase
from clueval.reports.page import ShownTable, assets, environment
from clueval.spans.document import Document
from clueval.transforms.group import Group

_BRACKETS: dict[str, tuple[str, str]] = {
    "both": ("[=", "=]"),
    "own": ("[-", "-]"),
    "other": ("{+", "+}"),
    "neither": ("", ""),
}


class _ObserverOfFiles:
    def section(self) -> dict[str, Any]:
        """Return nothing: the output is files."""
        return {}


class GateTable(_ObserverOfFiles):
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

    def lines(self) -> Iterator[str]:
        """Yield the lines, the header first."""
        return tagging_lines(self._metric, self._counted, **self._names)


class GateListTable(_ObserverOfFiles):
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


class IndicatorWriter(_ObserverOfFiles):
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
            found = changes(before, after, self._metric.features)
            added[f"{self._prefix}_Ref"] = before.indicators()
            added[f"{self._prefix}_Diff"] = [change.annotation() for change in found]
        self._write(group.predicted, added)

    def _write(self, document: Document, added: Mapping[str, Sequence[Span]]) -> None:
        if document.file is None:
            raise UsageError(
                "indicators are added to files, and this document is not from a file",
                document=document.id,
                advice="give predicted as files",
            )
        path = Path(document.file)
        text = _with_sets(path, added)
        # the id of a document in a folder is its relative path without ending; of two single files it is not
        relative = Path(document.id).parent / path.name
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


BETTER, WORSE, NEITHER = "+", "-", "+-"

_NAMES = {BETTER: "better", WORSE: "worse", NEITHER: "neither"}

_WINDOW = 60
"""The number of positions shown before and after a changed span in a document without sentences."""


MOST_CHANGES = 100_000
"""The number of changes that a report lists; it counts all."""


class AgainstReference:
    """An observer that compares with a reference, `Group.further`; `reference_set` is the name of the
    reference.

    Holds the counts and the first `most` changes, which the report lists; ``changes_left_out`` is the number
    of the others.
    """

    name: ClassVar[str] = "reference"

    def __init__(self, metric: Gate, reference_set: str, most: int = MOST_CHANGES) -> None:
        self._metric = replace(metric, score_feature=None, thresholds=None)
        self._set = reference_set
        self._total, self._predicted = Tally(), Tally()
        self._tables: dict[str | None, tuple[Contingency, Contingency]] = {}
        self._most = most
        self._signs: Counter[str] = Counter()
        self._changes: list[dict[str, Any]] = []

    def see(self, group: Group) -> None:
        """Count one document. Raises `TextMismatch` if the reference has another text."""
        gold, predicted, (reference,) = group.gold, group.predicted, group.further
        require_same_text(gold, reference)
        own, other, older = (
            Side(document.layers.get(DEFAULT_LAYER, ()), document=document)
            for document in (gold, predicted, reference)
        )
        metric = self._metric
        before, after = metric.outcome(own, older), metric.outcome(own, other)
        tables = contingency([target for target, _ in after.targets], before, after)
        self._count(None, tables)
        counted, of_predicted = metric.count(own, older), metric.count(own, other)
        self._total.update(counted)
        self._predicted.update(of_predicted)
        kinds = metric.types_of(counted + of_predicted)
        for kind in kinds:
            if len(kinds) > 1 or metric.containing is not None:
                sides = metric.outcome(own, older, kind), metric.outcome(own, other, kind)
                tables = contingency([target for target, _ in sides[1].targets], *sides)
            self._count(kind, tables)
        found = changes_of_targets(before, after)
        self._signs.update(change.sign for change in found)
        if listed := found[: self._most - len(self._changes)]:
            self._changes.extend(change_rows(listed, after, gold, predicted))

    def _count(self, kind: str | None, tables: Sequence[Contingency]) -> None:
        before = self._tables.get(kind, (Contingency(), Contingency()))
        self._tables[kind] = (before[0] + tables[0], before[1] + tables[1])

    def section(self) -> dict[str, Any]:
        """Return the report; see the module's docstring. Without documents all counts are zero."""
        own = self._scores(self._total, self._metric.types_of(self._total))
        empty = (Contingency(), Contingency())
        by_type = {
            str(name): pair for name, pair in sorted(self._tables.items(), key=str) if name is not None
        }
        return {
            "set": self._set,
            **own,
            "differences": self._differences(),
            "contingency": {
                "all": _report(self._tables.get(None, empty)),
                "per_type": {name: _report(pair) for name, pair in by_type.items()},
                "warning": WARNING,
            },
            "change_counts": {name: self._signs[sign] for sign, name in _NAMES.items()},
            "changes": self._changes,
            "changes_left_out": self._signs.total() - len(self._changes),
        }

    def _scores(self, total: Tally, types: Iterable[str]) -> dict[str, Any]:
        counts = {name: self._metric.counts(total, name) for name in types}
        beta = self._metric.beta
        return {
            "all": self._metric.counts(total).report(beta),
            "per_type": {name: own.report(beta) for name, own in counts.items()},
            "macro": macro_report(counts.values(), beta),
        }

    def _differences(self) -> dict[str, Any]:
        """Return all counts and rates of the response less those of the reference; by type, for those of either."""
        sides = self._predicted, self._total
        after, before = (self._scores(side, self._metric.types_of(side)) for side in sides)
        types = self._metric.types_of(Counter[Any](self._predicted | self._total))
        every = [self._scores(side, types)["per_type"] for side in sides]
        return {
            "all": _less(after["all"], before["all"]),
            "per_type": {name: _less(every[0][name], every[1][name]) for name in types},
            "macro": _less(after["macro"], before["macro"]),
        }


def _less(response: Mapping[str, float], reference: Mapping[str, float]) -> dict[str, float]:
    return {name: number - reference[name] for name, number in response.items()}


WARNING = (
    "McNemar's test takes spans for independent; spans of one document are not, so its p is too small "
    "(clueval compare tests documents)"
)


def _report(tables: tuple[Contingency, Contingency]) -> dict[str, Any]:
    return {"strict": tables[0].report(), "lenient": tables[1].report()}


def change_rows(
    changes: Sequence[Change], response: Outcome, gold: Document, predicted: Document
) -> Iterator[dict[str, Any]]:
    """Yield every change as plain values: place, type, both groups, the sign, the text, its context.

    The responses are marked in the context of a target, the targets in that of a spurious response, unless they
    overlap one another.
    """
    responses = [*(pair.response for pair in response.pairs), *response.spurious]
    targets = [target for target, _ in response.targets]
    of_targets = [change for change in changes if "SL" not in (change.before, change.after)]
    others = changes[len(of_targets) :]
    for listed, own, other, marked in (
        (of_targets, gold, predicted, responses),
        (others, predicted, gold, targets),
    ):
        rows = _with_contexts([change.span for change in listed], own, other, marked)
        yield from map(_row, listed, rows)


def _with_contexts(
    spans: Sequence[Span], own: Document, other: Document, marked: Sequence[Span]
) -> list[Finding]:
    window = None if own.sentences or other.sentences else _WINDOW
    around = replace(
        other, layers={DEFAULT_LAYER: sorted(marked, key=lambda span: (span.start, span.end))}, tags={}
    )
    unmarked = replace(other, layers={DEFAULT_LAYER: ()}, tags={})
    try:
        return list(error_table(spans, own, around, layer=DEFAULT_LAYER, window=window))
    except OverlapError:
        return list(error_table(spans, own, unmarked, layer=DEFAULT_LAYER, window=window))


def _row(change: Change, row: Finding) -> dict[str, Any]:
    return {
        "document": row.document,
        "id": change.span.id,
        "label": change.span.label,
        "start": change.span.start,
        "end_exclusive": change.span.end,
        "before": change.before,
        "after": change.after,
        "change": change.sign,
        "text": row.text,
        "context": bracketed(row.context),
    }


def bracketed(context: Context) -> str:
    """Return a context in one line of text, with brackets around the marked pieces."""
    pieces = []
    for piece in context.pieces:
        left, right = _BRACKETS[piece.mark]
        pieces.append(f"{left}{piece.text}{right}")
    before, after = ("… " if context.cut_before else ""), (" …" if context.cut_after else "")
    return before + context.joiner.join(pieces) + after


KINDS = ("strict", "lenient")


def render(report: Mapping[str, Any], *, title: str | None = None) -> str:
    """Return the page as a string.

    `report` is the output of `Result.to_dict` for an evaluation with metric ``gate``. Raises `UsageError` if
    it lacks the metric, `MissingExtra` without Jinja2.
    """
    if "gate" not in report["metrics"]:
        raise UsageError("the report lacks the metric 'gate'", advice="evaluate with metrics=['gate']")
    jinja = environment()
    return jinja.get_template("gate.html").render(
        title=title or phrase("GATE's evaluation"),
        report=report,
        pictures=list(pictures(report["metrics"]["gate"])),
        main_tables=list(_tables(report["metrics"], "")),
        more_tables=list(_tables_of_groups(report)),
        **assets("curve"),
        frame=FRAME,
    )


def _tables(metrics: Mapping[str, Any], where: str) -> Iterator[ShownTable]:
    for sequence, report in metrics["gate"].items():
        for table in gate(f"{where}gate, {sequence}", report):
            yield ShownTable.of(table, (phrase("all"),))


def _tables_of_groups(report: Mapping[str, Any]) -> Iterator[ShownTable]:
    """Yield the tables of each metadata value by which the report is broken down."""
    for key, groups in report.get("by", {}).items():
        for value, group in groups.items():
            yield from _tables(group["metrics"], f"{key} {value}: ")


def pictures(sequences: Mapping[str, Any]) -> Iterator[Picture]:
    """Yield the curves of every sequence that has scores, and of its candidate lists."""
    for sequence, report in sequences.items():
        curves = {
            f"{sequence}: {phrase('responses by their score')}": (
                report["thresholds"],
                report.get("average_precision", {}),
            ),
            f"{sequence}: {phrase('candidate lists by score')}": (
                report.get("lists", {}).get("by_score", {}),
                {},
            ),
        }
        for name, (thresholds, average) in curves.items():
            lines = tuple(
                Line(kind, phrase(kind), tuple(_dots(thresholds, kind)), average.get(kind)) for kind in KINDS
            )
            if lines[0].dots:
                yield Picture(name, lines)


def _dots(thresholds: Mapping[str, Any], kind: str) -> Iterator[Dot]:
    """Yield the points of a curve, from the highest threshold down, without infinity."""
    for name in sorted((each for each in thresholds if math.isfinite(float(each))), key=float, reverse=True):
        precision, recall = (thresholds[name][f"{what}_{kind}"] for what in ("precision", "recall"))
        yield dot(name, precision, recall)
