"""Where results may be written: never over what is read, one result to a file, and only where it can be.

All of it is looked at before anything is read, save the files whose names come from documents.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from clueval.exceptions import FileError, UsageError

_Identity = tuple[int, int]
"""What a file is, by whatever name: its device and its number there. `os.path.samefile` compares these."""


class Inputs:
    """The files that a command reads, and nothing may be written over.

    A folder stands for all files in it, a table of spans also for the text that lies beside it. They are known
    by what they are: a symbolic or hard link to one of them is that file.
    """

    def __init__(self, paths: Iterable[str | Path | None]) -> None:
        self._paths = [Path(path) for path in paths if path is not None]
        for path in self._paths:
            _real(path)

    def refuse(self, output: Path) -> None:
        """Raise `FileError` for an output that is one of the files, or lies in one of the folders already."""
        identity = _identity(output)
        if identity is not None and (identity in self._files or self._folders & _self_and_above(output)):
            raise FileError("is read, and is not written over", file=str(output), advice="name another file")

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
    """Raise `FileError` for an output that is an input, see `Inputs`, and `UsageError` for one given twice.

    Returns the inputs, for outputs whose names are known later.
    """
    read = Inputs(inputs)
    written: set[str | _Identity | None] = set()
    for path in (Path(path) for path in outputs if path is not None):
        real = _real(path, "cannot be written")
        if written & {real, _identity(path)} - {None}:
            raise UsageError(f"two results would be written to {path}", advice="name a file for each")
        written |= {real, _identity(path)}
        read.refuse(path)
    return read


def _identity(path: Path) -> _Identity | None:
    """What a file is, None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _self_and_above(path: Path) -> set[str]:
    """The names of a file or folder and of the folders that it lies in."""
    real = Path(_real(path))
    return {str(real), *map(str, real.parents)}


def _text_beside(path: Path) -> Path:
    """The text that a table of spans belongs to, unless another one is named."""
    name = path.name.removesuffix(".gz") or path.name
    return path.parent / Path(name or "text").with_suffix(".vrt")


def _real(path: Path, problem: str = "is no path") -> str:
    """The path with all links followed. Raises `FileError` for a link to itself and for what can be no path."""
    try:
        path.resolve()
        return os.path.realpath(path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself, up to Python 3.12
        reason = getattr(error, "strerror", None) or "a link to itself, or no name of a file"
        raise FileError(f"{problem}: {reason}", file=str(path)[:300], advice="check the name") from None


def require_writable(outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for a file that lies in no folder, or is one."""
    for path in outputs:
        if path is not None and not path.parent.is_dir():
            raise FileError("cannot be written: there is no such folder", file=str(path))
        if path is not None and path.is_dir():
            raise FileError("cannot be written: it is a folder", file=str(path), advice="name a file")


def require_page(path: Path | None) -> None:
    """Raise `MissingExtra` if a web page is wanted and cannot be made."""
    if path is not None:
        from clueval.reports.page import environment

        environment()
