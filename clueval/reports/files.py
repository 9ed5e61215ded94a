"""The forms and files of a report: the ending of a name chooses the form, and a file is written whole or not at all.

A workbook has a sheet of the rows of the places, with colours in place of squares and a list of choices, and a sheet of
the tables. No cell is a formula or a link, and what a cell cannot hold is cut.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clueval.files.errors import UsageError
from clueval.files.writing import whole_bytes, whole_file
from clueval.reports.language import in_language

if TYPE_CHECKING:
    from clueval.reports.content import Content

FORMS = ("text", "json", "csv", "tsv", "markdown", "latex")

READABLE = ("text", "markdown", "latex")
"""Those that show tables, for readers."""

ENDINGS = {
    ".txt": "text",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": "markdown",
    ".tex": "latex",
    ".xlsx": "workbook",
    ".html": "page",
}
"""The form of a file by the ending of its name, in lower case."""


def form_of(path: Path) -> str:
    """Return the form that a name asks for; ``.gz`` is passed over. Raises `UsageError` for another ending.

    >>> form_of(Path("scores.JSON")), form_of(Path("errors.tsv.gz"))
    ('json', 'tsv')
    """
    is_packed = path.suffix == ".gz"
    ending = Path(path.stem if is_packed else path.name).suffix.lower()
    if ending not in ENDINGS or (is_packed and ending == ".xlsx"):
        advice = f"one of {', '.join(ENDINGS)}"
        raise UsageError(f"{str(path)!r} does not end in the name of a form", advice=advice)
    return ENDINGS[ending]


def write(report: Content, path: Path, *, lang: str = "", text_lang: str = "") -> None:
    """Write a report to a file; see `Report.write`."""
    from clueval.reports.forms import (  # the command line asks for forms before there is a report
        render,
        write_rows,
    )
    from clueval.reports.page import page_parts

    form = form_of(path)
    with in_language(lang, text_lang):
        if form == "workbook":
            with whole_bytes(path) as raw:
                from clueval.reports.workbook import write_workbook  # few files are workbooks

                write_workbook(report, raw)
            return
        with whole_file(path) as file:
            if form == "page":
                file.writelines(page_parts(report))
            elif form in ("csv", "tsv"):
                write_rows(report, file, form)
            else:
                file.write(render(report, form, lang=lang) + "\n")
