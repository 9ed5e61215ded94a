"""The table of conventions in all forms of results, and as a web page that loads nothing else.

Each layer has a table: a row for each convention, its rates as percentages, and when a span is correct; a
convention without scores gives the reason instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clueval.exceptions import UsageError
from clueval.reports import csv_text, json_text, latex, tsv
from clueval.reports.markdown import escaped, row_of, signature_line
from clueval.reports.page import ShownTable, assets, environment
from clueval.reports.table import Rate, Table
from clueval.reports.text import shown
from clueval.visible import visible

Report = Mapping[str, Any]

FORMS = ("text", "json", "csv", "tsv", "markdown", "latex")

HEADER = ("convention", "precision", "recall", "f1", "a span is correct if", "difference from the first row")


def render(report: Report, form: str) -> str:
    """Return the output of `Conventions.to_dict` in one of `FORMS`. Raises `UsageError` for another."""
    if form not in FORMS:
        raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
    if form == "text":
        return render_text(report)
    if form == "markdown":
        return render_markdown(report)
    if form == "latex":
        return latex.render(report, (Table(name, HEADER, rows) for name, rows in _tables(report)))
    if form == "json":
        return json_text.dumps(report)
    return csv_text.render(ROW, _rows(report)) if form == "csv" else tsv.render(ROW, _rows(report))


def render_text(report: Report) -> str:
    """Return the output of `Conventions.to_dict` as text for a terminal."""
    lines = [_facts(report), ""]
    for sequence, rows in _tables(report):
        cells: list[Sequence[str]] = [HEADER, *rows]
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines.append(visible(sequence))
        for number, row in enumerate(cells):
            rates = (cell.rjust(width) for cell, width in zip(row[1:4], widths[1:], strict=True))
            lines.append("  ".join([row[0].ljust(widths[0]), *rates, row[4]]))
            if number == 0:
                lines.append("  ".join("-" * width for width in (*widths, len(HEADER[4]))))
            elif row[5]:
                lines.append(f"{'':{widths[0]}}  {row[5]}")
        lines.append("")
    return "\n".join([*lines, f"signature: {visible(report['signature'])}"])


def render_markdown(report: Report) -> str:
    """Return the output of `Conventions.to_dict` as Markdown."""
    lines: list[str] = []
    for sequence, rows in _tables(report):
        lines += [f"**{escaped(sequence)}**", "", row_of(HEADER), "| --- | ---: | ---: | ---: | --- | --- |"]
        lines += [row_of([escaped(cell) for cell in row]) for row in rows]
        lines.append("")
    return "\n".join([*lines, signature_line(report)])


def render_page(report: Report, *, title: str = "Which F1 is this?") -> str:
    """Return the table as a web page. Raises `MissingExtra` without Jinja2."""
    jinja = environment()
    return jinja.get_template("conventions.html").render(
        title=title,
        report=report,
        main_tables=[ShownTable(sequence, HEADER, rows) for sequence, rows in _tables(report)],
        more_tables=(),
        **assets("conventions"),
    )


ROW = ("sequence", "convention", "name", "precision", "recall", "f1", "counts", "note", "differs")
"""The columns of the rows in CSV and TSV; `convention` is the key in the JSON."""


def _rows(report: Report) -> Iterator[Report]:
    for sequence, rows in report["conventions"].items():
        for key, row in rows.items():
            yield {**row, "sequence": sequence, "convention": key, "name": row["convention"]}


def _tables(report: Report) -> Iterator[tuple[str, list[Sequence[str]]]]:
    """Yield each sequence of spans, and its rows as they are shown."""
    for sequence, rows in report["conventions"].items():
        yield sequence, [_shown(row) for row in rows.values()]


def _shown(row: Report) -> Sequence[str]:
    note = row["note"]
    counts = row["counts"] if note is None else f"{row['counts']} ({note})"
    rates = (shown(Rate(row[name])) for name in ("precision", "recall", "f1"))
    return row["convention"], *rates, visible(counts), visible(row["differs"] or "")


def _facts(report: Report) -> str:
    """Return the numbers of documents, positions and repaired tags."""
    documents, tokens = report["documents"], report["tokens"]
    parts = [f"{documents:,} document{'s' * (documents != 1)}, {tokens:,} positions"]
    parts += [
        f"{n:,} repaired tag{'s' * (n != 1)} in {side}" for side, n in report["repaired_tags"].items() if n
    ]
    return "; ".join(parts)
