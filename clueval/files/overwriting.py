"""The files that a command reads, none of which its outputs replace; and no two results are written to one file.

A file is noted where it is named or opened. Every output is compared with all of them before the first is written, and
once more when it is complete, because a command may open files while it writes. Files are compared by identity, so a
symbolic or hard link to an input is that input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from clueval.files.errors import FileError, UsageError, assigned
from clueval.files.options import FILES, CommandFiles, Identity


def reading_an_output() -> AbstractContextManager[None]:
    """Let what is read in this context be no input, because it is a file that will be written."""
    return assigned(FILES, None)


def named_output(path: str | Path) -> Path:
    """Return the path of an output. Raises `UsageError` for an empty name: `Path("")` is the current folder."""
    if path == "":
        raise UsageError("the name of an output is empty")
    return Path(path)


def output_name(text: str) -> str:
    """Return the name of a file, or of a folder if it ends in /, that an option names and the command writes.

    Raises `UsageError` for an empty name.
    """
    named_output(text)
    return text


def output_folder(text: str) -> Path:
    """Return the path of a folder that an option names, which the command writes. Raises as `named_output` does."""
    return named_output(text)


OUTPUT_TYPES = (named_output, output_name, output_folder)
"""The types of options: every option that names something to write has one of them."""


def refuse_to_overwrite(outputs: Iterable[str | Path | None]) -> None:
    """Raise `FileError` for an output that is an input, `UsageError` for two equal outputs."""
    output_keys: set[str | Identity | None] = set()
    paths = [Path(path) for path in outputs if path is not None]
    for path in paths:
        real = _real(path)
        if output_keys & {real, _identity(path)} - {None}:
            raise UsageError(
                f"two results would be written to {path}", advice="name a different file for each"
            )
        output_keys |= {real, _identity(path)}
    files = FILES.get()
    if files is not None:
        files.outputs += [path for path in paths if _identity(path) is not None]
        require_no_input()


def require_no_input(*outputs: Path) -> None:
    """Raise `FileError` if one of the outputs, or of those that the command has announced, is an input."""
    files = FILES.get()
    if files is not None:
        for path in (*files.outputs, *outputs):
            _refuse(files, path)


def _refuse(files: CommandFiles, output: Path) -> None:
    """Raise `FileError` for an output that is an input of the command, or an existing file in an input folder."""
    identity = _identity(output)
    if identity is None:
        return
    while files.new_names:
        for path in _paths_meant_by(files.new_names.pop()):
            files.files.add(_identity(path))
            if os.path.isdir(path):  # noqa: PTH112  # false for a name that is no path, where `Path` raises
                files.folders.add(_real(path))
                files.files.update(
                    _identity(Path(folder, name)) for folder, _, names in os.walk(path) for name in names
                )
    real = Path(_real(output))
    if identity in files.files or not files.folders.isdisjoint(map(str, (real, *real.parents))):
        raise FileError("is an input and cannot be overwritten", file=str(output), advice="name another file")


def _paths_meant_by(name: str) -> Iterator[Path]:
    """Yield the files and folders that a name means: itself, the matches of a pattern, the archive of a member."""
    yield Path(name)
    if not os.path.lexists(name):
        if re.search(r"[*?\[]", name):
            from glob import glob

            yield from filter(Path.is_file, map(Path, glob(name, recursive=True)))  # noqa: PTH207  # as for a pattern
        archives = (Path(name[: mark.start()]) for mark in re.finditer("!", name))
        yield from filter(Path.is_file, archives)


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # ValueError: not a path
        return None
    return status.st_dev, status.st_ino


def _real(path: Path) -> str:
    """Return the path with all links followed. Raises `FileError` for a link to itself and an invalid path."""
    try:
        path.resolve()
        return os.path.realpath(path)
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself, up to Python 3.12
        reason = getattr(error, "strerror", None) or "a link to itself, or not a valid file name"
        raise FileError(
            f"cannot be written: {reason}", file=str(path)[:300], advice="check the name"
        ) from None
