"""What every study returns: a `Report`, which has all forms and files, rows, numbers by short paths, and a page.

A file is written whole or not at all. The modules that write are imported when they are first used: a result in memory
needs none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.files.errors import UsageError
from clueval.reports import FORMS, Content, copied, form_of


class Hinting:
    """The base of results: the error for an unknown attribute names the nearest ones, or all."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for type checkers, there are no other attributes

        def __getattr__(self, name: str) -> Any:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("_"):
                raise AttributeError(message)
            if hasattr(type(self), name):
                return object.__getattribute__(
                    self, name
                )  # a property has failed, and raises its error again
            from clueval.files.names import for_attribute  # only for names that do not exist

            names = [attribute for attribute in dir(type(self)) if not attribute.startswith("_")]
            raise AttributeError(f"{message}; {for_attribute(name, names)}")


class Report(Hinting, Content):
    """A result in all forms and files: text, tables, data, pages.

    ``print(result)`` shows the first screen, a notebook shows its tables.
    """

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row of data, all with the same keys. pandas and polars make tables of them.

        The rows are those of the places, if the report lists places.
        """
        from clueval.reports.forms import data_rows
        from clueval.reports.place import as_text

        (columns, rows), kinds = data_rows(self), self.kinds
        return [dict(zip(columns, [as_text(value, kinds) for value in row], strict=True)) for row in rows]

    def scores(self) -> dict[str, float]:
        """Return the rates by short paths, as ``exact.PER.f1``; loggers take such a dictionary."""
        scores: dict[str, float] = {}
        for row in self.rows() if self.named_by else ():
            path = [str(row[name]) for name in self.named_by if row[name] not in (None, "")]
            numbers = {name: value for name, value in row.items() if isinstance(value, float)}
            scores |= {".".join([*path, name]): value for name, value in numbers.items()}
        return scores

    def to_dict(self) -> dict[str, Any]:
        """Return everything as new dictionaries and lists, with strings and numbers. Rates are fractions."""
        values: dict[str, Any] = copied(self.content())
        return values

    def to_json(self) -> str:
        """Return `to_dict` as indented JSON; equal results give equal bytes."""
        from clueval.reports.json_text import dumps

        return dumps(self.to_dict())

    def render(
        self,
        form: str = "text",
        *,
        all: bool = False,
        digits: int | None = None,
        lang: str = "",
        width: int | None = None,
    ) -> str:
        """Return the report in a form: ``text``, ``json``, ``csv``, ``tsv``, ``markdown`` or ``latex``.

        With `all`, forms for readers have all tables instead of the first screen. `digits` is the number of decimals
        for readers; the language of tables and sentences is `lang`; `width` is the number of columns of a terminal,
        in which text must fit. Raises `UsageError` for another form, and for what is no language.
        """
        from clueval.reports.forms import render

        if form not in FORMS:
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        report = self.with_all_tables() if all else self
        return render(report, form, everything=all, digits=digits, lang=lang, width=width)

    def with_all_tables(self) -> Report:
        """Return the report whose `tables` are not only those of the first screen; most reports always have all."""
        return self

    def write(self, path: str | Path, *, lang: str = "", text_lang: str = "") -> None:
        """Write the report to a file, whole or not at all; the ending of its name chooses the form.

        The endings are ``.txt``, ``.json``, ``.csv``, ``.tsv``, ``.md``, ``.tex``, ``.xlsx`` and ``.html``; a file
        whose name ends in ``.gz`` is packed. `lang` is the language, such as ``de``, also of the texts of the corpus
        unless `text_lang` is another. Raises `UsageError` for another ending, and `FileError`.
        """
        from clueval.files.overwriting import named_output
        from clueval.files.writing import whole_bytes, whole_file
        from clueval.reports import forms, page
        from clueval.reports.language import in_language

        path = named_output(path)
        form = form_of(path)
        with in_language(lang, text_lang):
            if form == "workbook":
                with whole_bytes(path) as raw:
                    from clueval.reports.workbook import write_workbook  # few files are workbooks

                    write_workbook(self, raw)
                return
            with whole_file(path) as file:
                if form == "page":
                    file.writelines(page.page_parts(self))
                elif form in ("csv", "tsv"):
                    forms.write_rows(self, file, form)
                else:
                    file.write(forms.render(self, form, lang=lang) + "\n")

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}; print(...) shows it, and its method write('x.html') writes a page>"

    def _repr_html_(self) -> str:
        """Return verdict, tables and the first places for a notebook."""
        from clueval.reports.page import notebook

        return notebook(self)
