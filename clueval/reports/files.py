"""The files of a report: the ending of the name chooses the form, and a file is written whole or not at all.

A workbook has a sheet of the rows of the places, with colours in place of squares and a list of choices, and a sheet of
the tables. No cell is a formula or a link, and what a cell cannot hold is cut.
"""

from __future__ import annotations

from pathlib import Path

from clueval.files.writing import whole_bytes, whole_file
from clueval.reports.content import Content
from clueval.reports.endings import form_of
from clueval.reports.forms import render, write_rows
from clueval.reports.language import in_language
from clueval.reports.page import page_parts


def write(report: Content, path: Path, *, lang: str = "", text_lang: str = "") -> None:
    """Write a report to a file; see `Report.write`."""
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
