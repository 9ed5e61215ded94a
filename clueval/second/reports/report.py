"""What every study returns: a `Report`, which has all forms and files, rows, numbers by short paths, and a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from clueval.second.reports.place import Facet, MarkKind, Place
from clueval.second.reports.table import Dot, Find, Rate, Table, plain


class Report(ABC):
    """A title, a verdict, facts, tables and places. A study writes these and `to_dict`; the rest follows from them.

    `kinds` are the kinds of marks, in the order of the lanes; `facets` are the filters of the places, in the order of
    the values of each `Line`. `choices` are what may be decided about a place: what a file of decisions says, and what
    readers are shown. The browser keeps decisions under the name `store`, and `given` are lines of such files that the
    page has from the beginning. With `has_sign_off`, a printed page ends with lines for names and signatures.

    `tables` is called once for each form or file, and so is `places`, after it; texts for readers are written with
    `phrase`, in the language of the context.
    """

    title: str
    signature: str
    kinds: Sequence[MarkKind] = ()
    facets: Sequence[Facet] = ()
    choices: Sequence[tuple[str, str]] = ()
    store: str = ""
    given: Sequence[Mapping[str, str | int]] = ()
    has_sign_off: ClassVar[bool] = False

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, strings and numbers. Rates are fractions."""

    def verdict(self) -> str:
        """Return one sentence with the number that counts."""
        return ""

    def facts(self) -> Iterable[str]:
        """Return what was read, in short: numbers of documents and positions, what was repaired."""
        return ()

    def tables(self) -> Iterable[Table]:
        """Return the tables for readers, the most important first."""
        return ()

    def places(self) -> Iterable[Place]:
        """Yield the places, in the order in which they are listed."""
        return ()

    def notes(self) -> Iterable[tuple[str, str]]:
        """Return what stands at the foot of a page, each with its title: options that were used, how to cite."""
        return ()

    def failures(self) -> Sequence[str]:
        """Return the limits that are not kept; the command line then ends with exit code 1."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each row of data, all with the same keys. pandas and polars make tables of them.

        The rows are those of the places, if the report lists places, otherwise those of all tables.
        """
        from clueval.second.reports.forms import as_text, data_rows

        return [{name: as_text(value, self.kinds) for name, value in row.items()} for row in data_rows(self)]

    def scores(self) -> dict[str, float]:
        """Return the numbers of the tables by short paths, as ``exact.PER.F1``; loggers take such a dictionary."""
        return dict(self._scores())

    def _scores(self) -> Iterator[tuple[str, float]]:
        for table in self.tables():
            for first, *cells in table.rows:
                for name, cell in zip(table.header[1:], cells, strict=True):
                    value = plain(cell) if isinstance(cell, Rate | Dot | Find | float) else None
                    if isinstance(value, float):
                        yield f"{table.title}.{plain(first)}.{name}", value

    def render(self, form: str = "text", *, digits: int | None = None, lang: str = "") -> str:
        """Return the report in a form: ``text``, ``json``, ``csv``, ``tsv``, ``markdown`` or ``latex``.

        `digits` is the number of decimals for readers; the language of tables and sentences is `lang`. Raises
        `UsageError` for another form or language.
        """
        from clueval.second.reports.forms import render

        return render(self, form, digits=digits, lang=lang)

    def write(self, path: str | Path, *, lang: str = "", text_lang: str = "") -> None:
        """Write the report to a file, whole or not at all; the ending of its name chooses the form.

        The endings are ``.txt``, ``.json``, ``.csv``, ``.tsv``, ``.md``, ``.tex``, ``.xlsx`` and ``.html``; a file
        whose name ends in ``.gz`` is packed. `lang` is the language, such as ``de``, also of the texts of the corpus
        unless `text_lang` is another. Raises `UsageError` for another ending, `FileError`, and `MissingExtra` without
        openpyxl.
        """
        from clueval.second.reports.files import write

        write(self, Path(path), lang=lang, text_lang=text_lang)

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        """Return verdict, tables and the first places for a notebook."""
        from clueval.second.reports.page import notebook

        return notebook(self)
