"""The forms of a report, and the form of a file by the ending of its name."""

from __future__ import annotations

from pathlib import Path

from clueval.files.errors import UsageError

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
