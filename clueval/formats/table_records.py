"""The records of a table of spans: the fields of lines, of the rows of a workbook and of data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from clueval.core.span_forms import STARTS, ends_in
from clueval.files.errors import FormatError
from clueval.formats.input_file import InputFile
from clueval.formats.table_columns import known_names

Records = Iterable[tuple[int, Sequence[str]]]
"""The fields of a table from its header on, each with the number of its line, or of its row in memory."""


def is_table(line: str) -> bool:
    """Return whether `line` could be the header of a table of spans."""
    try:
        names = known_names(_split(line, _delimiter(line)))
    except FormatError:
        return False
    return _is_header(names)


def _is_header(names: Sequence[str]) -> bool:
    known = known_names(names)
    return not {*known}.isdisjoint(STARTS) and bool(ends_in(known))


def _delimiter(line: str) -> str:
    """Return the mark between the columns of a header: one that gives start and end, else the first that occurs."""
    found = [mark for mark in ("\t", ",", ";") if mark in line]
    for mark in found:
        try:
            names = known_names(_split(line, mark))
        except FormatError:
            continue
        if not set(names).isdisjoint(STARTS) and ends_in(names):
            return mark
    return found[0] if found else "\t"


def records_of(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fields of each record, with the number of its first line, or of its row in a workbook.

    A quoted field of CSV may have line ends.
    """
    if file.path.name.lower().endswith(".xlsx"):
        yield from _records_of_workbook(file)
        return
    numbered = ((number, line) for number, line in file.held_lines() if line.strip())
    first = next(numbered, None)
    if first is None:
        return
    delimiter = _delimiter(first[1])
    if delimiter == "\t":
        yield from ((number, line.split("\t")) for number, line in chain([first], numbered))
        return
    import csv

    taken: list[int] = []

    def fed() -> Iterator[str]:
        for number, line in chain([first], numbered):
            taken.append(number)
            yield f"{line}\n"

    records = csv.reader(fed(), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        try:
            fields = next(records, None)
        except csv.Error as error:
            raise _not_csv(error, file.name, taken[0] if taken else None) from None
        if fields is None:
            return
        yield taken[0], fields


def _records_of_workbook(file: InputFile) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the fields of the rows of the only sheet whose first row is the header of a table of spans.

    Raises `FormatError` if there is no such sheet, or several.
    """
    from clueval.formats.workbooks import rows_of_workbook  # few tables are workbooks

    sheets: dict[str, list[tuple[int, list[str]]]] = {}
    for sheet, number, cells in rows_of_workbook(file):
        fields = [cells.get(column, "") for column in range(max(cells) + 1)]
        sheets.setdefault(sheet, []).append((number, fields))
    tables = [rows for rows in sheets.values() if _is_header(rows[0][1])]
    if len(tables) != 1:
        raise FormatError(
            f"{len(tables) or 'no'} sheets have a header with start and end",
            file=file.name,
            line=1,
            advice="one sheet must have the columns document, start, end_exclusive and label",
        )
    (header, *rows) = tables[0]
    yield header
    width = len(header[1])
    yield from ((number, fields + [""] * (width - len(fields))) for number, fields in rows)


def _split(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line. Raises `FormatError`, without file and line, if it is not CSV."""
    if delimiter == "\t":
        return line.split("\t")
    import csv

    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise _not_csv(error, None, None) from None


def _not_csv(error: Exception, file: str | None, line: int | None) -> FormatError:
    """Return the error for a line that the module csv cannot read."""
    said = str(error)
    if "new-line" in said:
        return FormatError(
            "a carriage return without a line feed", file=file, line=line, advice="end lines with LF or CRLF"
        )
    problem = f"not CSV: {said}"
    if "field larger" in said:
        import csv

        problem = f"a field has more than {csv.field_size_limit():,} characters"
    elif "unexpected end" in said:
        problem = "a quotation mark is not closed"
    return FormatError(
        problem, file=file, line=line, advice="write the table with tabs between its columns, as TSV"
    )


def _field(value: Any) -> str:
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
