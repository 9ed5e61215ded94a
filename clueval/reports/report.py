"""What every result has: forms, rows, numbers by short paths, a web page, a display in a notebook.

A result that is a `Report` has `to_dict` and `tables`; everything else follows from these. A report whose data are not
its tables also has `Report._data`; one whose text is more than its tables has `Report._readable`, and one whose page
has more than tables has `Report._page`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.arguments import checked_call
from clueval.files.errors import UsageError
from clueval.second.reports.report import Hinting

if TYPE_CHECKING:
    from clueval.reports.table import Table

FORMS = ("text", "json", "csv", "tsv", "markdown", "latex")
"""The forms of every report. The modules that write them are imported when they are first used."""

READABLE = ("text", "markdown", "latex")
"""Those that show tables, for readers."""

ENDINGS = {
    ".txt": "text",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".md": "markdown",
    ".tex": "latex",
}
"""The form of a report by the ending of its file."""


def ending_of(path: str | Path) -> str:
    """Return the ending of a name that chooses the form, in lower case; ``.gz``, which packs the file, is passed over.

    >>> ending_of("scores.JSON"), ending_of("scores.json.gz"), ending_of("scores")
    ('.json', '.json', '')
    """
    name = Path(path)
    return Path(name.stem if name.suffix == ".gz" else name.name).suffix.lower()


class Data(NamedTuple):
    """The data of a report: the names of the columns, and the rows, each with a value for each column."""

    columns: Sequence[str]
    rows: Iterable[Mapping[str, Any]]


class Report(Hinting, ABC):
    """A result in all forms.

    `_named_by` are the columns of `rows` that name a row in `scores`; `_title` and `_template` are those of the page.
    """

    __slots__ = ()
    _named_by: ClassVar[Sequence[str]] = ("table",)
    _title: ClassVar[str] = "Scores"
    _template: ClassVar[str] = "layout"

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, strings and numbers. Rates are fractions."""

    @abstractmethod
    def tables(self) -> Iterator[Table]:
        """Yield the tables that the forms for readers show."""

    def to_json(self) -> str:
        """Return `to_dict` as indented JSON; equal results give equal bytes."""
        from clueval.second.reports.json_text import dumps

        return dumps(self.to_dict())

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row of data, all with the same keys. pandas and polars make tables of them."""
        columns, rows = self._data()
        return [{name: row[name] for name in columns} for row in rows]

    def scores(self) -> dict[str, float]:
        """Return the numbers that are floats by short paths, as ``exact.PER.f1``; undefined ones are left out.

        Loggers take such a dictionary. A sequence is in the paths if there are several.
        """
        rows = self.rows()
        several = len({row.get("sequence") for row in rows}) > 1
        named = [name for name in self._named_by if several or name != "sequence"]
        found: dict[str, float] = {}
        for row in rows:
            place = [str(row[name]) for name in named if row[name] not in (None, "")]
            for name, value in row.items():
                if isinstance(value, float):
                    found.setdefault(".".join([*place, name]), float(value))
        return found

    def render(self, form: str = "text", *, digits: int | None = None, lang: str = "") -> str:
        """Return the report in one of `FORMS`, as ``--format`` prints it.

        `digits` is the number of decimals in `READABLE` forms; the others have all. `lang` is the language of their
        tables and sentences, as that of a page. Raises `UsageError` for another form.
        """
        from clueval.reports.language import speaking
        from clueval.reports.table import decimals

        with decimals(digits), speaking(lang if form in READABLE else ""):
            return self._rendered(form)

    def _rendered(self, form: str) -> str:
        if form not in FORMS:
            raise UsageError(f"unknown form {form!r}", advice=f"one of {', '.join(FORMS)}")
        if form == "json":
            return self.to_json()
        return self._separated(form) if form in ("csv", "tsv") else self._readable(form)

    def failures(self) -> Sequence[str]:
        """Return the limits that are not kept; the command line then ends with exit code 1."""
        return ()

    @checked_call
    def write(self, path: str | Path, *, lang: str = "", text_lang: str = "") -> None:
        """Write the report to a file, whole or not at all; the ending of its name chooses the form, as ``.csv``.

        A file that ends in ``.gz``, as ``.csv.gz``, is packed. Raises `UsageError` for another ending, `FileError`.
        """
        from clueval.files.writing import whole_file

        ending = ending_of(path)
        if ending == ".html":
            self.write_page(path, lang=lang, text_lang=text_lang)
            return
        if ending not in ENDINGS:
            raise UsageError(
                f"{str(path)!r} does not end in the name of a form", advice=f"one of {', '.join(ENDINGS)}"
            )
        text = self.render(ENDINGS[ending], lang=lang)
        with whole_file(Path(path)) as file:
            file.write(f"{text}\n")

    @checked_call
    def write_page(
        self, path: str | Path, *, title: str | None = None, lang: str = "", text_lang: str = ""
    ) -> None:
        """Write a web page that loads nothing else, as ``--html`` does.

        `lang` is the language of the page, such as ``de``, and of the texts in it unless `text_lang` is another; a page
        is English if its language is not known. Raises `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.reports.page import write_page

        write_page(Path(path), self.page(title=title, lang=lang, text_lang=text_lang))

    def page(self, *, title: str | None = None, lang: str = "", text_lang: str = "") -> str:
        """Return the web page as a string. Raises `MissingExtra` without Jinja2."""
        from clueval.reports.language import phrase, speaking
        from clueval.reports.page import ShownTable, assets, environment

        jinja = environment()
        with speaking(lang, text_lang):
            common: dict[str, Any] = {
                "title": title or phrase(self._title),
                "report": self._content(),
                "main_tables": [ShownTable.of(table) for table in self.tables()],
                "more_tables": (),
                **assets(),
            }
            return jinja.get_template(f"{self._template}.html").render({**common, **self._page()})

    def __str__(self) -> str:
        return self.render("text")

    def _repr_html_(self) -> str:
        """Return the tables and the signature for a notebook."""
        from clueval.reports.page import notebook

        return notebook(self._content(), self.tables())

    def _content(self) -> Mapping[str, Any]:
        """Return what the forms for readers say beside the tables: documents, positions, repairs, the signature.

        If it is empty, they show the tables only.
        """
        return self.to_dict()

    def _data(self) -> Data:
        """Return the data for `rows`, `scores`, CSV and TSV: by default, all rows of all tables."""
        tables = list(self.tables())
        columns = ("table", *dict.fromkeys(name for table in tables for name in table.header))
        return Data(columns, (row for table in tables for row in _rows_of(table, columns)))

    def _readable(self, form: str) -> str:
        """Return the report in a form for readers, which shows tables."""
        return renderer(form)(self._content(), self.tables())

    def _separated(self, form: str) -> str:
        """Return the data as CSV or TSV."""
        from clueval.reports.separated import render

        return render(*self._data(), form)

    def _page(self) -> dict[str, Any]:
        """Return what the page has besides tables: the values that its template takes, and its style sheet."""
        return {}


def renderer(form: str) -> Callable[..., str]:
    """Return the function that writes the content and the tables of a report in a form for readers."""
    render: Callable[..., str] = import_module(f"clueval.reports.{form}").render
    return render


def _rows_of(table: Table, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table; rates are fractions."""
    for row in table.rows:
        cells = [getattr(cell, "value", cell) for cell in row]
        yield {**dict.fromkeys(columns), "table": table.title, **dict(zip(table.header, cells, strict=True))}
