"""The forms of a report: for a terminal, for papers and for programs.

The forms for readers, text, Markdown and LaTeX, have the tables without their bars; text has the first places, too.
CSV and TSV have data: a row for each finding of the places, otherwise the rows of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import accumulate, chain, pairwise
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any

from clueval.files.errors import visible
from clueval.files.opening import cell, tsv_line
from clueval.reports import IN_A_PAGE, SCREEN, Content, copied, in_short
from clueval.reports.language import in_language, phrase
from clueval.reports.table import (
    Cell,
    Dot,
    Estimate,
    Rate,
    Shares,
    Table,
    caption,
    decimals,
    shown,
    text_columns,
)

if TYPE_CHECKING:
    from clueval.reports.place import Place

COLUMNS = 80
"""The width of a terminal, for sentences."""


def render(
    report: Content,
    form: str,
    *,
    everything: bool = False,
    digits: int | None = None,
    lang: str = "",
    width: int | None = None,
) -> str:
    """Return a report in a form; see `Report.render`."""
    with decimals(digits), in_language(lang):
        if form == "json":
            from clueval.reports.json_text import dumps  # the forms for readers do without

            return dumps(copied(report.content()))
        if form in ("csv", "tsv"):
            file = StringIO()
            write_rows(report, file, form)
            return file.getvalue().removesuffix("\n")
        if form == "text":
            return "\n".join(_text(report, everything=everything, width=width))
        return "\n".join(_markdown(report) if form == "markdown" else _latex(report, everything=everything))


# --- data


def data_rows(report: Content) -> tuple[Sequence[str], Iterator[Sequence[Any]]]:
    """Return the columns and the rows of data, or of the places of a report without data.

    A cell is text, a number, None, or a list of `MarkedText`.
    """
    from clueval.reports.place import rows_of  # the form text of scores has no places

    data = iter(report.data())
    first = next(data, None)
    if first is not None:
        return list(first), (list(row.values()) for row in chain([first], data))
    columns, rows = rows_of(report.places(), report.facets)
    return columns or report.columns(), rows


def write_rows(report: Content, file: IO[str], form: str) -> None:
    """Write the rows as CSV or TSV; no cell is a formula. None is empty."""
    from clueval.reports.place import as_text  # as above

    (columns, rows), kinds = data_rows(report), report.kinds

    def write(row: Iterable[str]) -> object:
        return file.write(tsv_line(row) + "\n")

    if form == "csv":
        import csv  # few results are written in it

        write = csv.writer(file, lineterminator="\n").writerow
    write(map(guarded, columns))
    for row in rows:
        cells = [
            value if type(value) is str else "" if value is None else str(as_text(value, kinds))
            for value in row
        ]
        if not "".join(cells).isprintable() or _SPECIAL.search("\t" + "\t".join(cells)):  # hardly ever
            cells = [guarded(as_text(value, kinds)) for value in row]
        write(cells)


_BEGINNINGS = ("=", "+", "-", "@")
"""What formulas begin with."""

_SPECIAL = re.compile("\t['=+@-]")
"""The beginnings of cells, in a line of TSV, that need more than they are."""


def guarded(value: object) -> str:
    """Return a value as a cell in one line that a spreadsheet does not run as a formula.

    >>> guarded("=1+1"), guarded("a\\tb"), guarded(None), guarded(-1)
    ("'=1+1", 'a b', '', '-1')
    """
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if value.isprintable() and value.lstrip("'")[:1] not in _BEGINNINGS:
        return value
    text = cell(value)
    return f"'{text}" if text.lstrip("'")[:1] in _BEGINNINGS and text != "-" else text


# --- readers

_LEAST_ROWS, _LEAST_LINES, _LEAST_OF_PLACES = 3, 5, 16
"""The rows of each table on a first screen, the lines of a table, and the lines that places have, at least."""

_BELOW_THE_SCREEN = 2
"""The rows of a terminal that are left for a warning."""


def without_bars(table: Table) -> Table:
    """Return a table without its columns of bars."""
    bars = {n for row in table.rows for n, cell in enumerate(row) if isinstance(cell, Shares)}
    return _with_columns(table, [n for n in range(len(table.header)) if n not in bars]) if bars else table


def _with_columns(table: Table, numbers: Sequence[int]) -> Table:
    rows = [[row[n] for n in numbers] for row in table.rows]
    return table._replace(header=[table.header[n] for n in numbers], rows=rows)


def _text(report: Content, *, everything: bool, width: int | None) -> Iterator[str]:
    """Yield the lines of the form text: verdict, facts, tables, the first places, the signature."""
    most = report.text_width if width is None else min(width, report.text_width)

    def wrapped(texts: Iterable[str]) -> list[str]:
        lines = map(visible, filter(None, texts))
        return [part for line in lines for part in ([line] if width is None else wrap(line, width))]

    verdict = wrap(visible(report.verdict()), min(most, COLUMNS))
    head = [*wrapped([report.title]), *verdict, *wrapped([", ".join(report.facts()), *report.remarks()]), ""]
    foot = wrapped(_notes(report))
    foot.append(visible(phrase("signature: {signature}", signature=in_short(str(report.signature)))))
    tables = [*report.tables()]
    first = tables if everything else [*map(without_bars, report.first_tables(tables))]
    yield from head
    if everything or (
        report.screen is None and (width is None or all(_width(each) <= width for each in first))
    ):
        for table in first:
            yield from _table_block(table, most)
        if not everything:
            yield report.more()
        places, number = report.first_places(report.places_in_text)
        yield from chain.from_iterable(_blocks_of(places, report, width))
    else:
        places, number = report.first_places(report.places_on_screen)
        room = (report.screen or SCREEN) - _rows([*head, *foot], width) - 2  # where to find the others
        room -= _BELOW_THE_SCREEN if width else 0
        first, blocks = _first_screen(first, _blocks_of(places, report, width), most, room, width)
        for table in first:
            yield from _table_block(table, most)
        if first != [*map(without_bars, tables)]:
            yield report.more()
            yield from [""] if blocks else ()
        for block in blocks:
            yield from block
        places = places[: len(blocks)]
    if more := number - len(places):
        if places:
            yield phrase("{n} more place|{n} more places", n=more) + IN_A_PAGE
        else:
            yield phrase("{n} place|{n} places", n=more) + IN_A_PAGE
    yield from foot


def _blocks_of(places: Sequence[Place], report: Content, width: int | None) -> list[list[str]]:
    """Return the lines of each place."""
    if not places:
        return []
    from clueval.reports.place import place_lines  # scores have no places

    return [list(place_lines([place], report.kinds, width)) for place in places]


def _notes(report: Content) -> Iterator[str]:
    return (f"{title} {text}".strip() for title, text in report.notes())


def _rows(lines: Iterable[str], width: int | None) -> int:
    """Return the number of rows that lines take in a terminal, in which longer ones go on in the next row."""
    return sum(1 if width is None else max(1, -(-len(line) // width)) for line in lines)


def _first_screen(
    tables: Sequence[Table], places: Sequence[list[str]], most: int, rows: int, width: int | None
) -> tuple[list[Table], Sequence[list[str]]]:
    """Return the first tables and the lines of the first places that fit this many rows, and at least one place."""
    heights = [_rows(lines, width) for lines in places]
    most_of_tables = rows - min(_LEAST_OF_PLACES, sum(heights))
    shortened = _shortened(tables, most, most_of_tables)
    if shortened != tables and width is not None:  # rather without some columns than without rows
        shortened = _shortened([_narrowed(table, most) for table in tables], most, most_of_tables)
    rows -= sum(_rows(_table_block(table, most), width) for table in shortened) + 1
    ends = [*accumulate(heights)]
    return shortened, places[: max(1, sum(end <= rows for end in ends))]


def _narrowed(table: Table, most: int) -> Table:
    """Return a table without the ends of intervals, and without columns behind the rates, if it is too wide."""
    if _width(table) <= most:
        return table
    columns = zip(*table.rows, strict=True)
    rates = [number for number, cells in enumerate(columns) if any(isinstance(c, Rate | Dot) for c in cells)]
    table = table._replace(rows=[[_without_ends(cell) for cell in row] for row in table.rows])
    for number in range(len(table.header) - 1, max([1, *rates]), -1):
        if _width(table) > most:
            table = _with_columns(table, range(number))
    return table


def _without_ends(cell: Cell) -> Cell:
    if isinstance(cell, Rate) and isinstance(value := cell.value, Estimate):
        return Rate(Estimate(value, value.low, value.high, in_short=True))
    return cell


def _width(table: Table) -> int:
    """Return the number of columns that a table takes in a terminal."""
    widths = [max(map(len, column)) for column in zip(*_cells(table), strict=True)]
    return sum(widths) + 2 * (len(widths) - 1)


def _shortened(tables: Sequence[Table], most: int, lines: int) -> list[Table]:
    """Return tables of at most `lines` lines: the first rows of each; the last tables may be left out."""
    kept = list(tables)[: max(1, lines // _LEAST_LINES)]

    def with_rows(number: int) -> list[Table]:
        short_tables = []
        for table in kept:
            if len(table.rows) > number:
                numbers = {"title": table.title, "shown": number, "rows": len(table.rows)}
                title = phrase("{title}, first {shown} of {rows} rows", **numbers)
                table = table._replace(title=title, rows=table.rows[:number])
            short_tables.append(table)
        return short_tables

    def fits(number: int) -> bool:
        return sum(len(list(_table_block(table, most))) for table in with_rows(number)) <= lines

    while len(kept) > 1 and not fits(_LEAST_ROWS):
        kept.pop()
    number = max(_LEAST_ROWS, min(lines, max((len(table.rows) for table in kept), default=0)))
    while number > _LEAST_ROWS and not fits(number):
        number -= 1
    return with_rows(number)


def _table_block(table: Table, most: int) -> Iterator[str]:
    yield from (*table_lines(without_bars(table), most), "")


def table_lines(table: Table, most: int) -> Iterator[str]:
    """Yield the title and the rows of a table with aligned columns; one that is too wide continues below.

    The first column is then repeated.
    """
    yield caption(table)
    rows, texts = _cells(table), text_columns(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    starts, width = [1], widths[0]
    for column, column_width in enumerate(widths[1:], 1):
        if width + column_width + 2 > most and column > starts[-1]:
            starts.append(column)
            width = widths[0]
        width += column_width + 2
    for start, end in pairwise([*starts, max(len(widths), 1)]):
        for row in [rows[0], ["-" * width for width in widths], *rows[1:]]:
            cells = (
                row[n].ljust(widths[n]) if n in texts else row[n].rjust(widths[n])
                for n in (0, *range(start, end))
            )
            yield "  ".join(cells).rstrip()


def _cells(table: Table) -> list[list[str]]:
    """Return the header and the rows of a table as readers are shown them."""
    return [[shown(cell) for cell in row] for row in (table.header, *table.rows)]


def _markdown(report: Content) -> Iterator[str]:
    title = f"**{_in_markdown(report.title)}**" if report.title else ""
    head = (report.verdict(), ", ".join(report.facts()), *report.remarks())
    yield "\n\n".join(filter(None, (title, *map(_in_markdown, head))))
    for table in map(without_bars, report.tables()):
        yield from ("", f"**{_in_markdown(caption(table))}**", "")
        rows = [map(_in_markdown, row) for row in _cells(table)]
        first, *others = [f"| {' | '.join(row)} |" for row in rows]
        texts = text_columns(table)
        marks = ["---" if number in texts else "---:" for number in range(len(table.header))]
        yield from (first, f"| {' | '.join(marks)} |", *others)
    yield from (f"\n{_in_markdown(note)}" for note in _notes(report))
    yield from (
        "",
        phrase("signature: {signature}", signature=f"`{visible(str(report.signature)).replace('`', '')}`"),
    )


def _in_markdown(text: str) -> str:
    """Return text that Markdown and HTML show unchanged."""
    text = visible(text)
    for character in "\\`*_[]#|~":
        text = text.replace(character, f"\\{character}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _latex(report: Content, *, everything: bool) -> Iterator[str]:
    """Yield a table in LaTeX for each table; verdict, facts, notes and signature are comments."""
    signature = phrase("signature: {signature}", signature=str(report.signature))
    facts = ", ".join(report.facts())
    head = (report.title, report.verdict(), facts, *report.remarks(), *_notes(report), signature)
    yield from (f"% {visible(line)}" for line in head if line)
    yield r"% needs \usepackage{booktabs}"
    tables = report.tables()
    for table in map(without_bars, tables if everything else report.tables_of_paper(tables)):
        yield from (r"\begin{table}", r"\centering", rf"\caption{{{_in_latex(caption(table))}.}}")
        texts = text_columns(table)
        columns = "".join("l" if number in texts else "r" for number in range(len(table.header)))
        yield rf"\begin{{tabular}}{{{columns}}}"
        rows = [map(_in_latex, row) for row in _cells(table)]
        first, *others = [rf"{' & '.join(row)} \\" for row in rows]
        yield from (
            r"\toprule",
            first,
            r"\midrule",
            *others,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        )


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # behind the \\ of a row, [ or * would be read as part of it
        "*": "{*}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def _in_latex(text: str) -> str:
    return visible(text).translate(_LATEX)
