"""Decisions about places: a table with the columns document, start, end_inclusive and label.

Each line names a span to keep. The lines of a component replace its outcome; a line with an empty label keeps nothing
there. If there are several sequences, a column ``sequence`` names that of each line. The page of `clueval agree`
exports this table.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from clueval.exceptions import FormatError
from clueval.reports.tsv import guarded
from clueval.studies.annotators.shape import Reading
from clueval.textfiles import blocks

COLUMNS = ("document", "start", "end_inclusive", "label")


class DecisionLine(NamedTuple):
    """One line of the table; `end` is the position after the last one."""

    number: int
    sequence: str | None
    start: int
    end: int
    label: str


_START: Callable[[DecisionLine], int] = attrgetter("start")


@dataclass(slots=True)
class DecisionTable:
    """The lines of a table by document, and those that were used."""

    file: str
    lines: dict[str, list[DecisionLine]] = field(default_factory=dict)
    used: dict[int, tuple[int, int]] = field(default_factory=dict)
    _longest: dict[str, int] = field(default_factory=dict)

    def of(self, document: str, sequence: str, start: int, end: int) -> Reading | None:
        """Return the spans that are kept of a component; None if no line is about it.

        Raises `FormatError` for a line about two components, and for lines that overlap one another.
        """
        found = []
        if document not in self.lines:
            document = guarded(document)  # as the table of --undecided has it
        for line in self._near(document, start, end):
            overlaps = (line.start < end and start < line.end) or (line.start, line.end) == (start, end)
            if not overlaps or line.sequence not in (None, sequence):
                continue
            if line.number in self.used:
                raise self._wrong(line, f"overlaps two places, {self.used[line.number]} and {(start, end)}")
            self.used[line.number] = (start, end)
            found.append(line)
        if not found:
            return None
        kept = sorted((line for line in found if line.label), key=lambda line: (line.start, line.end))
        for one, following in pairwise(kept):
            if following.start < one.end:
                raise self._wrong(following, f"overlaps the span of line {one.number}")
        return tuple((line.start, line.end, line.label) for line in kept)

    def _near(self, document: str, start: int, end: int) -> Sequence[DecisionLine]:
        """Return the lines that may overlap a range; those of a document are sorted when they are first needed."""
        lines = self.lines.get(document, [])
        if document not in self._longest:
            lines.sort(key=_START)
            self._longest[document] = max((line.end - line.start for line in lines), default=0)
        first = bisect_left(lines, start - self._longest[document], key=_START)
        return lines[first : bisect_right(lines, end, key=_START)]

    def require_used(self) -> None:
        """Raise `FormatError` for a line that is about no component."""
        for document, lines in self.lines.items():
            for line in lines:
                if line.number not in self.used:
                    raise self._wrong(line, "is at a place that no annotator has marked", document)

    def require_sequences(self, sequences: Sequence[str]) -> None:
        """Raise `FormatError` for a line without a sequence if there are several, and for an unknown one."""
        for lines in self.lines.values():
            for line in lines:
                if line.sequence is None and len(sequences) > 1:
                    raise self._wrong(
                        line, "names no sequence", advice=f"add a column sequence: {', '.join(sequences)}"
                    )
                if line.sequence is not None and line.sequence not in sequences:
                    raise self._wrong(line, f"names the sequence {line.sequence!r}, which does not exist")

    def _wrong(
        self, line: DecisionLine, problem: str, document: str | None = None, advice: str | None = None
    ) -> FormatError:
        return FormatError(
            f"the decision {line.start} to {line.end - 1} {problem}",
            file=self.file,
            line=line.number,
            document=document,
            advice=advice
            or "each line needs the positions of a place; clueval curate --undecided lists the places",
        )


def read_decisions(path: Path) -> DecisionTable:
    """Return the table. Raises `FormatError` for a line that cannot be read, `FileError` for a missing file."""
    text = "".join(text for _, text in blocks(path))
    header: list[str] | None = None
    lines: defaultdict[str, list[DecisionLine]] = defaultdict(list)
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        cells = row.split("\t")
        if header is None:
            header = cells
            if missing := [name for name in COLUMNS if name not in header]:
                raise FormatError(
                    f"the table has no column {missing[0]!r}",
                    file=str(path),
                    line=number,
                    advice=f"its first line must name the columns {', '.join(COLUMNS)}, separated by tabs",
                )
            continue
        document, line = _line(path, number, dict(zip(header, cells, strict=False)))
        lines[document].append(line)
    return DecisionTable(str(path), dict(lines))


def _line(path: Path, number: int, cells: dict[str, str]) -> tuple[str, DecisionLine]:
    """Return the document and the line."""
    for name in COLUMNS[:3]:
        if name not in cells:
            raise FormatError(f"the line has no {name}", file=str(path), line=number)
    places = []
    for name in COLUMNS[1:3]:
        if not cells[name].isdecimal() or len(cells[name]) > 18:
            raise FormatError(f"{name} is {cells[name][:40]!r}, not a position", file=str(path), line=number)
        places.append(int(cells[name]))
    start, end = places[0], places[1] + 1
    if end < start:
        raise FormatError(
            f"the span ends at {end - 1}, before it starts at {start}", file=str(path), line=number
        )
    return cells["document"], DecisionLine(
        number, cells.get("sequence") or None, start, end, cells.get("label", "")
    )
