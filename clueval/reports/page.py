"""The common parts of the web pages: templates with escaping, and data that is safe inside a page.

Text from the corpus never becomes markup: control characters become visible escapes, Jinja escapes its
output, the pages' scripts write text only, and a content security policy names the script by its hash, so
that no other script can run. The HTML for a notebook has the tables and the signature, without script or style sheet.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from clueval.files.errors import extra
from clueval.files.visible import escaped_in_json, visible
from clueval.files.writing import whole_file
from clueval.reports.language import language_of_corpus, numeral, phrase, spoken, texts_of
from clueval.reports.table import Content, Table
from clueval.reports.text import shown

if TYPE_CHECKING:
    from jinja2 import Environment


LONG = 600
"""The number of characters from which a text in a page scrolls."""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A score table as a page shows it; `chosen` are the first cells of the rows to highlight."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    chosen: Sequence[str] = ()

    @classmethod
    def of(cls, table: Table, chosen: Sequence[str] = ()) -> ShownTable:
        """Return the table with its cells as text."""
        table = table.cut()
        rows = [[shown(cell) for cell in row] for row in table.rows]
        return cls(table.caption, table.header, rows, chosen)


def environment() -> Environment:
    """Return a Jinja environment over the package's templates. Raises `MissingExtra` without Jinja2."""
    with extra("a web page needs the package Jinja2", "pip install 'clueval[report]'"):
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    jinja = Environment(
        autoescape=True,
        finalize=_shown,
        loader=FunctionLoader(template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.globals |= {"phrase": phrase, "spoken": spoken, "language_of_corpus": language_of_corpus}
    jinja.filters["numeral"] = numeral
    return jinja


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all. Raises `FileError` if the file cannot be written."""
    with whole_file(path) as file:
        file.write(page)


def _shown(value: object) -> object:
    """Make text that is not markup visible before it is written into a page."""
    return visible(value) if type(value) is str else value


def template(name: str) -> str:
    """Return the text of a file in the folder of the templates."""
    return (files("clueval.reports") / "templates" / name).read_text(encoding="utf-8")


def script_hash(script: str) -> str:
    """Return the hash by which a content security policy allows a script: SHA-256, base64."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def assets(
    name: str | None = None, *scripts: str, parts: Sequence[str] = (), words: Iterable[str] = ()
) -> dict[str, str]:
    """Return the style sheet of a page for its template: the common one, its own, then those of `parts` of it.

    With `scripts` also its script, which is the common one, these, and those of the parts, the hash of that, and its
    texts in the language of the page, those for `words` of the data among them.
    """
    from markupsafe import Markup  # comes with Jinja

    style = "".join(template(f"{each}.css") for each in ("common", *([] if name is None else [name]), *parts))
    if not scripts:
        return {"style": Markup(style)}
    code = "".join(template(f"{each}.js") for each in ("common", *scripts, *parts))
    texts = Markup(json_inside(texts_of(code, words)))
    return {"style": Markup(style), "script": Markup(code), "script_hash": script_hash(code), "texts": texts}


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_inside(value: object) -> str:
    """Return JSON that is safe in a script element: it contains no end of the element and begins no comment.

    >>> json_inside(["</script>", 1])
    '["\\\\u003c/script\\\\u003e",1]'
    """
    text = _JSON.encode(value)
    for character in "<>&":
        if character in text:
            text = text.replace(character, f"\\u{ord(character):04x}")
    return escaped_in_json(text)


def notebook(report: Content, tables: Iterable[Table]) -> str:
    """Return the tables of a report and its signature, if it has one, as HTML; everything in them is escaped."""
    parts = [part for table in tables for part in _notebook_table(table)]
    if report:
        signature = escape(visible(report["signature"]))
        parts.append(f"<p><small>signature: <code>{signature}</code></small></p>")
    return "".join(parts)


def _notebook_table(table: Table) -> Iterator[str]:
    table = table.cut()
    yield f"<table><caption>{escape(visible(table.caption))}</caption><thead><tr>"
    yield from (f"<th>{escape(visible(name))}</th>" for name in table.header)
    yield "</tr></thead><tbody>"
    for row in table.rows:
        first, *others = (escape(shown(cell)) for cell in row)
        yield f'<tr><th style="text-align:left">{first}</th>'
        yield from (f'<td style="text-align:right">{cell}</td>' for cell in others)
        yield "</tr>"
    yield "</tbody></table>"
