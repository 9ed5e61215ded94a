"""Checks of output files: an output must be writable, must not replace an input, and holds one result.

All outputs are checked before anything is read, except files whose names come from documents.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from clueval.cli.fields import typed
from clueval.exceptions import FileError, UsageError
from clueval.overwriting import refuse_to_overwrite as refuse_to_overwrite


def require_writable(outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder."""
    for path in outputs:
        if path is not None and str(path) == "-":
            raise FileError(
                "cannot be written: only -o writes to standard output", file="-", advice="name a file"
            )
        if path is not None and not path.parent.is_dir():
            raise FileError(
                "cannot be written: its folder does not exist", file=str(path), advice="make the folder first"
            )
        if path is not None and path.is_dir():
            raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


def add_quiet(group: argparse._ActionsContainer) -> None:
    """Add the option that leaves out notices."""
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print no lines about what was read, and no warnings",
    )


def add_page(group: argparse._ArgumentGroup, what: str) -> None:
    """Add the options of a page that shows text of the corpus; `what` says what is written."""
    from clueval.reports.page import language

    group.add_argument("--html", type=Path, metavar="FILE", help=f"{what} (extra: report)")
    group.add_argument(
        "--lang",
        type=typed(language),
        metavar="LANGUAGE",
        help="the language of the texts, such as de, for screen readers",
    )


def require_page(path: Path | None, lang: str | None = None) -> None:
    """Raise `MissingExtra` if `path` is given, but the packages for a web page are not installed.

    Raises `UsageError` for a language without a page.
    """
    if lang and path is None:
        raise UsageError("--lang needs --html", advice="add --html FILE")
    if path is not None:
        from clueval.reports.page import environment

        environment()
