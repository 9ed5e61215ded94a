"""What the web pages share: templates in which everything is escaped, and data that can stand in a page.

Text from the corpus never becomes markup: Jinja escapes what it writes, after characters that steer have become
escapes, the pages' scripts write text only, and a content security policy names the script by its hash, so that
no other can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from clueval.exceptions import MissingExtra
from clueval.reports.table import Table
from clueval.reports.text import shown
from clueval.visible import escaped_in_json, visible

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A score table as a page shows it; `chosen` are the first cells of the rows to stand out."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    chosen: Sequence[str] = ()

    @classmethod
    def of(cls, table: Table, chosen: Sequence[str] = ()) -> ShownTable:
        """The table with its cells as text."""
        table = table.cut()
        rows = [[shown(cell) for cell in row] for row in table.rows]
        return cls(table.title, table.header, rows, chosen)


def environment() -> Environment:
    """Jinja over the package's templates. Raises `MissingExtra` if it is not installed."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtra(
            "a web page needs the package Jinja2", advice="pip install 'clueval[report]'"
        ) from None
    return Environment(
        autoescape=True,
        finalize=_shown,
        loader=FunctionLoader(template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """What is written into a page: text that is not markup is made visible."""
    return visible(value) if type(value) is str else value


def template(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("clueval.reports") / "templates" / name).read_text(encoding="utf-8")


def score_table(jinja: Environment) -> Callable[[ShownTable], str]:
    """The macro that writes a score table."""
    macro: Any = jinja.get_template("tables.html").module
    found: Callable[[ShownTable], str] = macro.score_table
    return found


def script_hash(script: str) -> str:
    """The hash by which a content security policy allows a script: SHA-256, base64."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def json_inside(value: object) -> str:
    """JSON that can stand in a script element: nothing in it ends that, or begins a comment.

    >>> json_inside(["</script>", 1])
    '["\\\\u003c/script\\\\u003e",1]'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&":
        if character in text:
            text = text.replace(character, f"\\u{ord(character):04x}")
    return escaped_in_json(text)
