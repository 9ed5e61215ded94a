"""The records of a table of spans, of lines or of a workbook, and the uses of its columns, by its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from clueval.core.span_forms import DOCUMENTS, END_INCLUSIVE, ENDS, STARTS, ends_in
from clueval.files.errors import FormatError
from clueval.formats.input_file import InputFile

_FRAGMENTS = re.compile(r"[0-9]{1,18}-[0-9]{1,18}(;[0-9]{1,18}-[0-9]{1,18})*")

_NUMBERS_OF_ROWS = re.compile(r"(Unnamed: \d+)?")


def is_number_of_row(name: str) -> bool:
    """Return whether a column has the index of pandas, which has no name, or had none in a file.

    >>> is_number_of_row(""), is_number_of_row("Unnamed: 0"), is_number_of_row("label")
    (True, True, False)
    """
    return _NUMBERS_OF_ROWS.fullmatch(name) is not None


def usual(name: str, known: Iterable[str]) -> str:
    """Return the known name that `name` is, perhaps with a capital; any other name unchanged.

    >>> usual("Start", STARTS), usual("Label", STARTS)
    ('start', 'Label')
    """
    small = name[:1].lower() + name[1:]
    return small if small in known else name


def fragments_in(cell: str) -> list[tuple[int, int]] | None:
    """Return the ranges of a discontinuous span, whose ends are inclusive in a cell; None for another text.

    >>> fragments_in("0-2;7-8"), fragments_in("0:2")
    ([(0, 3), (7, 9)], None)
    """
    if not _FRAGMENTS.fullmatch(cell):
        return None
    pairs = (part.split("-") for part in cell.split(";"))
    return sorted((int(first), int(last) + 1) for first, last in pairs)


RESERVED = {
    *(*STARTS, *ENDS, END_INCLUSIVE, *DOCUMENTS),
    *("id", "text", "score", "start_id", "end_id", "fragments"),
}


_NO_LAYERS = {
    *("document", "start", "end", "end_inclusive", "end_exclusive", "fragments"),
    *("id", "text", "start_id", "end_id"),
}
"""The names of columns that cannot be layers, even if they are named as such."""


def known_names(names: Iterable[str]) -> list[str]:
    """Return the names of columns; those of `RESERVED` may begin with a capital."""
    return [usual(name, RESERVED) for name in names]


class Header(NamedTuple):
    """The numbers of the columns of a table, and the name of that of the end."""

    document: int | None
    start: int
    end: int
    end_name: str
    layers: Mapping[str, int]
    width: int
    fragments: int | None
    text: int | None
    score: int | None


def header_of(
    given: Sequence[str],
    layers: Mapping[str, int | str] | None,
    file: str | None,
    number: int,
    *,
    with_id: bool,
) -> Header:
    """Return the uses of the columns; `with_id`: ``id`` is that of the document if no other column names it.

    Raises `FormatError` for a header without start or end, with two columns for one thing, or without a layer that is
    named.
    """
    names = known_names(given)
    places = {name: place for place, name in enumerate(names)}
    if len(places) != len(names):
        raise FormatError(
            "two columns of the header have the same name", file=file, line=number, advice="rename one"
        )
    as_given = {name: place for place, name in enumerate(given)}
    chosen = {}
    for layer, column in (layers or {}).items():
        chosen[layer] = place = _place(column, {**as_given, **places}, len(names))
        if 0 <= place < len(names) and names[place] in _NO_LAYERS:
            raise FormatError(
                f"column {column} is {names[place]!r}, which cannot be a layer",
                file=file,
                line=number,
            )
        if not 0 <= place < len(names):
            raise FormatError(
                f"there is no column {column} for layer {layer!r}",
                file=file,
                line=number,
                advice=f"the columns are {', '.join(names)}",
            )
    others = [name for name, place in places.items() if place not in chosen.values()]
    starts, ends = [name for name in others if name in STARTS], ends_in(others)
    documents = [name for name in others if name in DOCUMENTS] or ["id"] * (with_id and "id" in others)
    for what, found in (("the start", starts), ("the end", ends), ("the document", documents)):
        if len(found) > 1:
            raise FormatError(
                f"several columns of the header are for {what}: {', '.join(found)}",
                file=file,
                line=number,
                advice="remove all but one, or name the layers",
            )
    if not starts or not ends:
        raise FormatError(
            "the header lacks a column 'start' or one column for the end",
            file=file,
            line=number,
            advice="name the end 'end_inclusive' or 'end_exclusive'",
        )
    if layers is None:
        chosen = {
            name: places[name] for name in others if name not in RESERVED and not is_number_of_row(name)
        }
    return Header(
        places[documents[0]] if documents else None,
        places[starts[0]],
        places[ends[0]],
        ends[0],
        chosen,
        len(names),
        *(
            places[name] if name in others and name in places else None
            for name in ("fragments", "text", "score")
        ),
    )


def _place(column: int | str, places: Mapping[str, int], width: int) -> int:
    """Return the place of a column, given by its number or name; -1 if there is none."""
    if isinstance(column, str):
        return places.get(column, -1)
    return column - 1 if column > 0 else width + column


# Records

Records = Iterable[tuple[int, Sequence[str]]]
"""The fields of a table from its header on, each with the number of its line, or of its row in memory."""


def is_table(line: str) -> bool:
    """Return whether `line` could be the header of a table of spans."""
    return _mark_of_header(line) is not None


def _mark_of_header(line: str) -> str | None:
    """Return the mark between the columns of a header with start and end; None for another line."""
    for mark in ("\t", ",", ";"):
        try:
            if mark in line and _is_header(_split(line, mark)):
                return mark
        except FormatError:
            continue
    return None


def _is_header(names: Sequence[str]) -> bool:
    known = known_names(names)
    return not {*known}.isdisjoint(STARTS) and bool(ends_in(known))


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
    found = (mark for mark in ("\t", ",", ";") if mark in first[1])
    delimiter = _mark_of_header(first[1]) or next(found, "\t")
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
