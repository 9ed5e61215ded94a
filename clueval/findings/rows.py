"""Findings as rows of plain cells: the columns that the TSV table and the spreadsheet share.

The documents' metadata have a column for each name that the first finding's document has; what a later
document has besides stands in the column ``metadata``, so nothing is lost though the rows stream. Merged spans
have, beside their joined label, a column for each layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from clueval.findings.table import Finding, joined

LONGEST_CELL = 32_767
"""Characters in a cell at most, which is what spreadsheets hold; what is left out is counted in the cell."""

LONGEST_OTHER = 2_000
"""Characters of one overlapping span at most: a long one overlaps many spans, and stands in the row of each."""

BETWEEN = " | "
"""Stands between the texts, and between the labels, of several spans."""

_OWN = ("side", "layer", "class", "problem", "label")
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
    """The columns of a table of findings: those that it always has, and those that the first finding brings."""

    layers: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    @classmethod
    def of(cls, finding: Finding | None) -> RowColumns:
        if finding is None:
            return cls()
        layers = tuple(finding.labels) if len(finding.labels) > 1 else ()
        return cls(layers, tuple(key for key in finding.metadata if key != "id"))

    @property
    def names(self) -> list[str]:
        """The header. The context is the last column."""
        own = [f"label {layer}" for layer in self.layers]
        other = [f"other_label {layer}" for layer in self.layers]
        return [*_OWN, *own, *_PLACE, *_OTHER, *other, *_WHERE, *self.metadata, "metadata", "context"]

    def cells(self, finding: Finding) -> list[Cell]:
        """A row without its context. Positions are integers, everything else is text."""
        own = [finding.labels.get(layer) or "" for layer in self.layers]
        other = [
            BETWEEN.join(labels.get(layer) or "" for labels in finding.other_labels) for layer in self.layers
        ]
        rest = {
            key: value
            for key, value in finding.metadata.items()
            if key not in self.metadata and (key, value) != ("id", finding.document)
        }
        return [
            finding.side or "",
            finding.sequence,
            finding.kind,
            finding.reason,
            joined(finding.labels),
            *own,
            finding.text,
            finding.start,
            finding.end,
            finding.first_token_id or "",
            finding.last_token_id or "",
            BETWEEN.join(shortened(text, LONGEST_OTHER) for text in finding.other_texts),
            BETWEEN.join(map(joined, finding.other_labels)),
            _number(finding.other_start),
            _number(finding.other_end),
            finding.other_first_token_id or "",
            finding.other_last_token_id or "",
            *other,
            finding.document,
            BETWEEN.join(finding.sentences),
            finding.file or "",
            _number(finding.line),
            *(finding.metadata.get(key, "") for key in self.metadata),
            _pairs(rest),
        ]


def _number(value: int | None) -> Cell:
    return "" if value is None else value


def _pairs(values: Mapping[str, str]) -> str:
    return "; ".join(f"{key}={value}" for key, value in values.items())


def shortened(text: str, longest: int = LONGEST_CELL) -> str:
    """A text that fits into a cell; of a longer one the beginning and how much is left out.

    >>> shortened("abcdefghijklmnopqrstuvwxyz", 24)
    'abcd [… 22 more chars …]'
    """
    if len(text) <= longest:
        return text
    room = longest
    while True:  # the remark grows with the number in it, by a digit at most
        remark = f" [… {len(text) - room} more chars …]"
        if room + len(remark) <= longest:
            return text[:room] + remark
        room -= room + len(remark) - longest


def split_first(findings: Iterable[Finding]) -> tuple[RowColumns, Iterable[Finding]]:
    """The columns that the first of the findings asks for, and all findings."""
    stream = iter(findings)
    first = next(stream, None)
    return RowColumns.of(first), stream if first is None else chain([first], stream)
