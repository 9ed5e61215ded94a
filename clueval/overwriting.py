"""Checks that an output does not replace an input, and that no two results are written to one file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

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
