"""Reports: what every study returns, in all forms, and the one page that shows any of them.

A study writes a subclass of `Report` (`report.py`): its `Content`, which is here (title, verdict, facts, tables and
places), out of tables (`table.py`) and places (`place.py`). `forms.py` has the forms for a terminal and for papers,
`page.py` the web page with `page.html`, `page.js` and `page.css`, and `language.py` finds the texts of a language. The
ending of a name chooses the form of a file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.files.errors import UsageError

if TYPE_CHECKING:
    from clueval.reports.place import Facet, MarkKind, Place
    from clueval.reports.table import Table

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
        advice = f"one of {', '.join(ENDINGS)}" + "; score with save='FILE' saves" * (ending == ".clueval")
        raise UsageError(f"{str(path)!r} does not end in the name of a form", advice=advice)
    return ENDINGS[ending]


FIRST_PLACES = 20
"""The number of places that the form text has, unless a report says otherwise."""

IN_A_PAGE = ': -o x.html, in Python write("x.html")'
"""How to see all places, after their number."""

USUAL = {
    "unit": "token",
    "scheme": "none",
    "invalid": "conlleval",
    "average": "all",
    "merge": "no",
    "where": "all",
    "zero": "0/0=0",
    "text": "equal",
}
"""The usual choices of a signature, which text leaves out."""


def in_short(signature: str) -> str:
    """Return a signature without the choices that are the usual ones.

    >>> in_short("metrics:exact|unit:token|scheme:BIO|where:all|scores:2")
    'metrics:exact|scheme:BIO|scores:2'
    """
    usual = {f"{key}:{value}" for key, value in USUAL.items()}
    return "|".join(part for part in signature.split("|") if part not in usual)


SCREEN = 40
"""The lines of a first screen."""


def copied(value: Any) -> Any:
    """Return dictionaries and lists, at any depth, as new ones, and everything else unchanged.

    >>> copied({"a": ({"b": 1}, [])})
    {'a': [{'b': 1}, []]}
    """
    if value is None or isinstance(value, str | int | float):  # most values
        return value
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    return list(map(copied, value)) if isinstance(value, list | tuple) else value


class Sheet(NamedTuple):
    """A sheet of a workbook: `rows` below their `columns`; if these are None lines, then tables, then a last line.

    A sheet without any of its rows is left out. A cell of a row is as `clueval.reports.forms.data_rows` has it.
    """

    name: str
    columns: Sequence[str] = ()
    rows: Iterable[Sequence[Any]] | None = None
    lines: Iterable[str] = ()
    tables: Iterable[Table] = ()
    foot: str = ""


class Content(ABC):
    """A title, a verdict, facts, tables and places. Only `title`, `signature` and `content` are required.

    `kinds` are the kinds of marks, in the order of the lanes; `facets` are the filters of the places, in the order of
    the values of each `Line`. `choices` are what may be decided about a place: what a file of decisions says, and what
    readers are shown. The browser keeps decisions under the name `store`, and `decision_lines` are lines of such files
    that the page has from the beginning. With `has_sign_off`, a printed page ends with lines for names and signatures.
    `places_in_text` is the number of places that the form text has if all is asked for. Otherwise it has at most
    `places_on_screen`, and is shortened to `screen` lines; None: `first_tables` are short already.

    The columns `named_by` name the numbers of a row of data in `scores`, which has none without them. In the form
    text, tables wider than `text_width` are divided.

    `tables` is called once for each form or file, and so is `places`; for pages and workbooks `places` comes first.
    Texts for readers are written with `phrase`, in the language of the context.
    """

    title: str
    signature: object
    kinds: Sequence[MarkKind] = ()
    facets: Sequence[Facet] = ()
    choices: Sequence[tuple[str, str]] = ()
    store: str = ""
    screen: int | None = SCREEN
    decision_lines: Sequence[Mapping[str, str | int]] = ()
    has_sign_off: ClassVar[bool] = False
    places_in_text: ClassVar[int] = FIRST_PLACES
    places_on_screen: ClassVar[int] = FIRST_PLACES
    text_width: ClassVar[int] = 100
    named_by: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return everything as dictionaries, lists, strings and numbers, which must not be changed.

        Rates are fractions.
        """

    def verdict(self) -> str:
        """Return one sentence with the number that counts."""
        return ""

    def facts(self) -> Iterable[str]:
        """Return what was read, in short: numbers of documents and positions, what was repaired."""
        return ()

    def remarks(self) -> Iterable[str]:
        """Return what to know before the numbers, in lines: layers, warnings, how intervals were computed."""
        return ()

    def tables(self) -> Iterable[Table]:
        """Return the tables for readers, the most important first: each has a title, a header, and rows of cells."""
        return ()

    def first_tables(self, tables: Iterable[Table]) -> Iterable[Table]:
        """Return the tables of the first screen, of all `tables` or others; they are shortened if they are too long."""
        return (table for table in tables if not table.is_folded)

    def tables_of_paper(self, tables: Iterable[Table]) -> Iterable[Table]:
        """Return the tables of the form LaTeX, of all `tables`."""
        return tables

    def drawn_tables(self) -> Iterable[Table]:
        """Return the tables of a page, if it has more than the other forms: curves."""
        return self.tables()

    def places(self) -> Iterable[Place]:
        """Yield the places, in the order in which they are listed."""
        return ()

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        """Return the first places, at most this many, and how many there are."""
        places = iter(self.places())
        first = list(islice(places, number))
        return first, len(first) + sum(1 for _ in places)

    def data(self) -> Iterable[Mapping[str, Any]]:
        """Return the rows of data of a report without places."""
        return ()

    def columns(self) -> Sequence[str]:
        """Return the names of the columns of data, for a report that has no rows."""
        from clueval.reports.place import DECISION_COLUMNS, KEY_COLUMNS

        return (*KEY_COLUMNS, *DECISION_COLUMNS)

    def more(self) -> str:
        """Return what the form text says below the tables of a first screen: how to see the others."""
        from clueval.reports.language import phrase  # only for text

        return phrase('all tables: --all, or in Python render("text", all=True)')

    def sheets(self) -> Iterable[Sheet]:
        """Return the sheets of a workbook, in their order."""
        if self.choices or self.facets:
            from clueval.reports.place import rows_of  # only for workbooks

            yield Sheet("places", *rows_of(self.places(), self.facets))
        head = self.title, self.verdict(), *self.facts(), *self.remarks()
        yield Sheet("scores", lines=head, tables=self.tables(), foot=str(self.signature))

    def notes(self) -> Iterable[tuple[str, str]]:
        """Return what stands at the foot of a page, each with its title: options that were used, how to cite."""
        return ()

    def failures(self) -> Sequence[str]:
        """Return the limits that are not kept; the command line then ends with exit code 1."""
        return ()
