"""Checks of output files: an output must be writable, must not replace an input, and holds one result.

All outputs are checked before anything is read, except files whose names come from documents.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from clueval.cli.fields import typed
from clueval.exceptions import FileError, UsageError

_Identity = tuple[int, int]
"""The identity of a file under any name: its device and its number there, as `os.path.samefile` compares."""


class Inputs:
    """The files that a command reads and must not overwrite.

    A folder includes all files in it, a table of spans also the text file next to it. Files are compared by
    identity, so a symbolic or hard link to an input is that input.
    """

    def __init__(self, paths: Iterable[str | Path | None]) -> None:
        self._paths = [Path(path) for path in paths if path is not None]
        for path in self._paths:
            _real(path)

    def refuse(self, output: Path) -> None:
        """Raise `FileError` for an output that is an input, or an existing file in an input folder."""
        identity = _identity(output)
        if identity is not None and (identity in self._files or self._folders & _self_and_above(output)):
            raise FileError(
                "is an input and cannot be overwritten", file=str(output), advice="name another file"
            )

    @cached_property
    def _files(self) -> set[_Identity | None]:
        files = {_identity(each) for path in self._paths for each in (path, _text_beside(path))}
        below = (
            Path(here, name) for path in self._paths for here, _, names in os.walk(path) for name in names
        )
        return files.union(map(_identity, below))

    @cached_property
    def _folders(self) -> set[str]:
        return {_real(path) for path in self._paths if path.is_dir()}


def refuse_to_overwrite(inputs: Iterable[str | Path | None], outputs: Iterable[str | Path | None]) -> Inputs:
    """Raise `FileError` for an output that is an input (see `Inputs`), `UsageError` for two equal outputs.

    Returns the inputs, to check outputs whose names are known later.
    """
    read = Inputs(inputs)
    written: set[str | _Identity | None] = set()
    for path in (Path(path) for path in outputs if path is not None):
        real = _real(path, "cannot be written")
        if written & {real, _identity(path)} - {None}:
            raise UsageError(
                f"two results would be written to {path}", advice="name a different file for each"
            )
        written |= {real, _identity(path)}
        read.refuse(path)
    return read


def _identity(path: Path) -> _Identity | None:
    """Return the identity of a file, or None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _self_and_above(path: Path) -> set[str]:
    """Return the names of a file or folder and of all folders that contain it."""
    real = Path(_real(path))
    return {str(real), *map(str, real.parents)}


def _text_beside(path: Path) -> Path:
    """Return the default text file of a table of spans."""
    name = path.name.removesuffix(".gz") or path.name
    return path.parent / Path(name or "text").with_suffix(".vrt")


def _real(path: Path, problem: str = "is not a path") -> str:
    """Return the path with all links followed. Raises `FileError` for a link to itself and an invalid path."""
    try:
        path.resolve()
        return os.path.realpath(path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself, up to Python 3.12
        reason = getattr(error, "strerror", None) or "a link to itself, or not a valid file name"
        raise FileError(f"{problem}: {reason}", file=str(path)[:300], advice="check the name") from None


def require_writable(outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for a file whose folder does not exist, or that is a folder."""
    for path in outputs:
        if path is not None and not path.parent.is_dir():
            raise FileError("cannot be written: its folder does not exist", file=str(path))
        if path is not None and path.is_dir():
            raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


def add_page(group: argparse._ArgumentGroup, what: str) -> None:
    """Add the options of a page that shows text of the corpus; `what` says what is written."""
    from clueval.reports.page import language

    group.add_argument("--html", type=Path, metavar="FILE", help=f"{what} (extra: report)")
    group.add_argument(
        "--lang",
        type=typed(language),
        metavar="LANGUAGE",
        help="the language of the texts, such as de; screen readers read them in it",
    )


def require_page(path: Path | None, lang: str | None = None) -> None:
    """Raise `MissingExtra` if `path` is given, but the packages for a web page are not installed.

    Raises `UsageError` for a language without a page.
    """
    if lang and path is None:
        raise UsageError("--lang is the language of the texts in --html", advice="add --html FILE")
    if path is not None:
        from clueval.reports.page import environment

        environment()
