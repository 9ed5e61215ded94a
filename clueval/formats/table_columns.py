"""The records of a table of spans, of lines or of a workbook, and the names of its columns."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FormatError
from clueval.files.opening import tsv_cells
from clueval.formats.input_file import InputFile
from clueval.formats.span_forms import DOCUMENTS, END_INCLUSIVE, ENDS, STARTS, ends_in

RESERVED = {
    *(*STARTS, *ENDS, END_INCLUSIVE, *DOCUMENTS),
    *("id", "text", "score", "start_id", "end_id", "fragments"),
}
"""The names of columns with a use of their own."""

_FRAGMENTS = re.compile(r"[0-9]{1,18}-[0-9]{1,18}(;[0-9]{1,18}-[0-9]{1,18})*")
_NUMBERS_OF_ROWS = re.compile(r"(Unnamed: \d+)?")


def is_number_of_row(name: str) -> bool:
    """Return whether a column has the index of pandas, which has no name, or had none in a file.

    >>> is_number_of_row(""), is_number_of_row("Unnamed: 0"), is_number_of_row("label")
    (True, True, False)
    """
    return _NUMBERS_OF_ROWS.fullmatch(name) is not None


def usual(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that `name` is, perhaps with a capital or blanks around; any other name unchanged.

    >>> usual("Start ", STARTS), usual("Label", STARTS)
    ('start', 'Label')
    """
    plain = name.strip()
    small = plain[:1].lower() + plain[1:]
    return small if small in names else name


def known_names(names: Iterable[str]) -> list[str]:
    """Return the names of columns; those of `RESERVED`, and ``label`` if it is there once, may begin with a capital."""
    written = [*names]
    known = RESERVED if DEFAULT_LAYER in written else RESERVED | {DEFAULT_LAYER}
    return [usual(name, known) for name in written]


def fragments_in(cell: str) -> tuple[tuple[int, int], ...] | None:
    """Return the ranges of a discontinuous span, whose ends are inclusive in a cell; None for another text.

    >>> fragments_in("0-2;7-8"), fragments_in("0:2")
    (((0, 3), (7, 9)), None)
    """
    if not _FRAGMENTS.fullmatch(cell):
        return None
    pairs = (part.split("-") for part in cell.split(";"))
    return tuple(sorted((int(first), int(last) + 1) for first, last in pairs))


# Records

Records = Iterable[tuple[int, Sequence[str]]]
"""The fields of a table from its header on, each with the number of its line, or of its row in memory."""


def mark_of_header(line: str) -> str | None:
    """Return the mark between the columns of a header with start and end; None for another line."""
    for mark in ("\t", ",", ";"):
        if mark in line and _is_header(_fields_of_header(line, mark)):
            return mark
    return None


def _fields_of_header(line: str, mark: str) -> list[str]:
    """Return the fields of a first line; none if it is not CSV."""
    import csv

    try:
        return next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    except csv.Error:
        return []


def _is_header(names: Sequence[str]) -> bool:
    usual_names = known_names(names)
    return not {*usual_names}.isdisjoint(STARTS) and bool(ends_in(usual_names))


def records_of(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fields of each record, with the number of its first line, or of its row in a workbook.

    A quoted field may have line ends. Raises `FormatError` for what is no table.
    """
    if file.path.name.lower().endswith(".xlsx"):
        yield from _records_of_workbook(file)
        return
    numbered_lines = ((number, line) for number, line in file.held_lines() if line.strip())
    first = next(numbered_lines, None)
    if first is None:
        return
    marks = (mark for mark in ("\t", ",", ";") if mark in first[1])
    delimiter = mark_of_header(first[1]) or next(marks, "\t")
    lines = chain([first], numbered_lines)
    if delimiter == "\t" and not first[1].startswith('"'):
        yield from _records_of_tsv(lines)
    else:
        yield from _records_of_csv(lines, delimiter, file.name)


def _records_of_tsv(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fields of TSV, where a quotation mark may also be one of the text, which is not closed.

    A field that begins with one goes on in the next `_MOST_LINES` if it is closed there, and the record has no more
    fields than the header.
    """
    width = 0
    again = deque[tuple[int, str]]()  # lines that belong to no record before them

    def next_line() -> tuple[int, str] | None:
        return again.popleft() if again else next(lines, None)

    while (numbered := next_line()) is not None:
        number, line = numbered
        cells = line.split("\t")
        width = width or len(cells)
        if '"' in line:
            fields, taken = len(cells), list[tuple[int, str]]()
            is_open = cells[-1].startswith('"') and cells[-1].count('"') % 2 == 1
            while is_open and len(taken) < _MOST_LINES and (following := next_line()) is not None:
                taken.append(following)
                fields += following[1].count("\t")
                if fields > width:
                    break
                is_open = following[1].count('"') % 2 == 0
            if is_open:
                again.extendleft(reversed(taken))
                taken = []
            cells = tsv_cells("\n".join([line, *(more for _, more in taken)]))
        yield number, cells


_MOST_LINES = 1000
"""The most lines after the first in which a field of TSV may go on; a line is read again at most as often."""


def _records_of_csv(
    lines: Iterable[tuple[int, str]], delimiter: str, file: str
) -> Iterator[tuple[int, Sequence[str]]]:
    import csv

    numbers: list[int] = []

    def fed() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            yield f"{line}\n"

    records = csv.reader(fed(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        numbers.clear()
        try:
            fields = next(records, None)
        except csv.Error as error:
            problem = f"not CSV: {error}"
            if "field larger" in str(error):
                problem = f"a field has more than {csv.field_size_limit():,} characters"
            elif "unexpected end" in str(error):
                problem = "a quotation mark is not closed"
            advice = "write the table with tabs between its columns, as TSV"
            raise FormatError(
                problem, file=file, line=numbers[0] if numbers else None, advice=advice
            ) from None
        if fields is None:
            return
        yield numbers[0], fields


def _records_of_workbook(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fields of the rows of the only sheet whose first row is the header of a table of spans."""
    from clueval.formats.workbooks import rows_of_workbook  # few tables are workbooks

    sheets: dict[str, list[tuple[int, list[str]]]] = {}
    for sheet, number, cells in rows_of_workbook(file):
        fields = [cells.get(column, "") for column in range(max(cells) + 1)]
        sheets.setdefault(sheet, []).append((number, fields))
    tables = [rows for rows in sheets.values() if _is_header(rows[0][1])]
    if len(tables) != 1:
        problem = f"{len(tables) or 'no'} sheets have a header with start and end"
        advice = "one sheet must have the columns document, start, end_exclusive and label"
        raise FormatError(problem, file=file.name, line=1, advice=advice)
    (header, *rows) = tables[0]
    yield header
    width = len(header[1])
    yield from ((number, fields + [""] * (width - len(fields))) for number, fields in rows)
