"""Checks of output files: an output must be writable, must not replace an input, and holds one result.

All outputs are checked before anything is read, except files whose names come from documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clueval.exceptions import FileError
from clueval.overwriting import Inputs as Inputs
from clueval.overwriting import refuse_to_overwrite as refuse_to_overwrite


def require_writable(outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder."""
    for path in outputs:
        if path is not None and str(path) == "-":
            raise FileError(
                "cannot be written: only -o writes to standard output", file="-", advice="name a file"
            )
        if path is not None and not path.parent.is_dir():
            raise FileError("cannot be written: its folder does not exist", file=str(path))
        if path is not None and path.is_dir():
            raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


def require_page(path: Path | None) -> None:
    """Raise `MissingExtra` if `path` is given, but the packages for a web page are not installed."""
    if path is not None:
        from clueval.reports.page import environment

        environment()
