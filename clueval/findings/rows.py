"""Findings as rows of plain cells: the columns that the TSV table and the spreadsheet share, and the TSV table.

There is a column for each metadata name of the first finding's document; further names of later
documents go into the column ``metadata``, so that nothing is lost although the rows are streamed; so do the fragments
of discontinuous spans. Merged
spans have a column for each layer in addition to their joined label.

In the TSV table, each marked piece of the context has a square before and after it::

    🟩 both sides    🟥 only the span in question    🟧 only the other side

so ``Frau 🟩Anna🟩 🟥Weiß🟥 wohnt`` is a span "Anna Weiß" of which the other side has "Anna" only. A piece ends
where any span ends: ``🟩Anna🟩 🟩Weiß🟩`` is one span on one side and two on the other. ``…`` shows where the
context is cut.

A cell that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-`` or ``@``) gets an
apostrophe before it, unless `raw` is set; tabs and line ends in a value always become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from clueval.findings.context import Context, Mark
from clueval.findings.table import Finding, joined
from clueval.reports.separated import guarded
from clueval.textfiles import cell

LONGEST_CELL = 32_767
"""The greatest number of characters in a cell, as in spreadsheets; the cell says how many more were cut off."""

LONGEST_OTHER = 2_000
"""The greatest number of characters of one overlapping span, because a long span is in many rows."""

BETWEEN = " | "
"""Separates the texts, and the labels, of several spans."""

FIRST = ("comment", "context")
"""The columns that a reader needs first; without decisions the comment is empty, for the reader."""

_OWN = ("side", "layer", "class", "reason", "label")
_PLACE = ("text", "start", "end_inclusive", "first_token_id", "last_token_id")
_OTHER = (
    "other_text",
    "other_label",
    "other_start",
    "other_end_inclusive",
    "other_first_token_id",
    "other_last_token_id",
)
_WHERE = ("document", "sentence", "file", "line")

Cell = str | int


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of a table of findings: the fixed ones, and those that depend on the first finding."""

    layers: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()

    @classmethod
    def of(cls, finding: Finding | None) -> RowColumns:
        if finding is None:
            return cls()
        layers = tuple(finding.labels) if len(finding.labels) > 1 else ()
        decided = () if finding.decision is None else ("choice", "reviewer")
        return cls(layers, tuple(key for key in finding.metadata if key != "id"), decided)

    @property
    def names(self) -> list[str]:
        """Return the header. First are the empty column for comments and the context."""
        own = [f"label {layer}" for layer in self.layers]
        other = [f"other_label {layer}" for layer in self.layers]
        return [
            *FIRST,
            *self.decided,
            *_OWN,
            *own,
            *_PLACE,
            *_OTHER,
            *other,
            *_WHERE,
            *self.metadata,
            "metadata",
        ]

    def cells(self, finding: Finding) -> list[Cell]:
        """Return a row without the columns `FIRST`. Positions are integers, everything else is text."""
        others = finding.other_labels
        return [
            *self._decision(finding),
            finding.side or "",
            finding.sequence,
            finding.kind,
            finding.reason,
            joined(finding.labels),
            *[finding.labels.get(layer) or "" for layer in self.layers],
            finding.text,
            finding.start,
            finding.end,
            finding.first_token_id or "",
            finding.last_token_id or "",
            BETWEEN.join([shortened(text, LONGEST_OTHER) for text in finding.other_texts]),
            BETWEEN.join(map(joined, others)),
            _number(finding.other_start),
            _number(finding.other_end),
            finding.other_first_token_id or "",
            finding.other_last_token_id or "",
            *[BETWEEN.join([labels.get(layer) or "" for labels in others]) for layer in self.layers],
            finding.document,
            BETWEEN.join(finding.sentences),
            finding.file or "",
            _number(finding.line),
            *[finding.metadata.get(key, "") for key in self.metadata],
            _pairs(self._rest(finding)),
        ]

    def row(self, finding: Finding) -> dict[str, Cell]:
        """Return a whole row, with the columns `FIRST`, by the names of its columns."""
        return dict(
            zip(self.names, [comment(finding), marked(finding.context), *self.cells(finding)], strict=True)
        )

    def _decision(self, finding: Finding) -> Sequence[str]:
        decision = finding.decision
        return () if decision is None or not self.decided else (decision.shown, decision.reviewer)

    def _rest(self, finding: Finding) -> Mapping[str, str]:
        """Return what is in no column: fragments, and metadata that the first document does not have."""
        if not finding.metadata and finding.fragments is None and not any(finding.other_fragments):
            return finding.metadata
        metadata = {
            key: value
            for key, value in finding.metadata.items()
            if key not in self.metadata and (key, value) != ("id", finding.document)
        }
        return metadata | _fragments(finding)


def _fragments(finding: Finding) -> dict[str, str]:
    """Return the fragments of discontinuous spans, as tables of spans have them."""
    if finding.fragments is None and not any(finding.other_fragments):
        return {}
    found = {"fragments": [finding.fragments], "other_fragments": list(finding.other_fragments)}
    return {
        name: BETWEEN.join(
            ";".join(f"{first}-{last}" for first, last in each) if each is not None else "" for each in ranges
        )
        for name, ranges in found.items()
        if any(each is not None for each in ranges)
    }


def comment(finding: Finding) -> str:
    """Return the comments on the place of an error, if decisions were read."""
    return "" if finding.decision is None else finding.decision.comment


def _number(value: int | None) -> Cell:
    return "" if value is None else value


def _pairs(values: Mapping[str, str]) -> str:
    return "; ".join(f"{key}={value}" for key, value in values.items())


def shortened(text: str, longest: int = LONGEST_CELL) -> str:
    """Return a text that fits into a cell; a longer one is cut and ends with the number of characters cut
    off.

    >>> shortened("abcdefghijklmnopqrstuvwxyz", 24)
    'abcd [… 22 more chars …]'
    """
    if len(text) <= longest:
        return text
    space = longest
    while True:  # the remark grows with the number in it, by a digit at most
        remark = f" [… {len(text) - space} more chars …]"
        if space + len(remark) <= longest:
            return text[:space] + remark
        space -= space + len(remark) - longest


def split_first(findings: Iterable[Finding]) -> tuple[RowColumns, Iterable[Finding]]:
    """Return the columns that the first finding determines, and all findings."""
    stream = iter(findings)
    first = next(stream, None)
    return RowColumns.of(first), stream if first is None else chain([first], stream)


SQUARES: dict[Mark, str] = {"both": "🟩", "own": "🟥", "other": "🟧", "neither": ""}


_PERHAPS_FORMULA = re.compile("(?:^|\t)[-=+@]").search


def table_lines(findings: Iterable[Finding], *, raw: bool = False) -> Iterator[str]:
    """Yield the lines of a table without their ends, the header first. With `raw`, formulas are not guarded."""
    columns, findings = split_first(findings)
    safe = cell if raw else guarded
    yield "\t".join(map(safe, columns.names))
    for finding in findings:
        cells = [comment(finding), marked(finding.context), *map(str, columns.cells(finding))]
        line = "\t".join(cells)
        # most lines need no change; this finds it in a third of the time
        if len(line) > LONGEST_CELL or not "".join(cells).isprintable() or _PERHAPS_FORMULA(line):
            line = "\t".join([safe(shortened(each)) for each in cells])
        yield line


def marked(context: Context) -> str:
    """Return a context with squares around the marked pieces."""
    pieces = [f"{SQUARES[mark]}{text}{SQUARES[mark]}" for text, mark, _ in context.pieces]
    before, after = ("… " if context.cut_before else ""), (" …" if context.cut_after else "")
    return before + context.joiner.join(pieces) + after
