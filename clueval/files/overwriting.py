"""The files that a command reads, none of which its outputs replace; and no two results are written to one file.

A file is noted where it is named or opened. Every output is compared with all of them before the first is written, and
once more when it is complete, because a command may open files while it writes. Files are compared by identity, so a
symbolic or hard link to an input is that input.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from clueval.files.errors import FileError, UsageError, assigned

_Identity = tuple[int, int]
"""The identity of a file under any name: its device and its number there, as `os.path.samefile` compares."""


class _CommandFiles:
    """The files that the running command reads, and those outputs that it will write over an existing file."""

    def __init__(self) -> None:
        self.outputs: list[Path] = []
        self.names: set[str] = set()
        self.new_names: list[str] = []  # whose files have not been looked up
        self.files: set[_Identity | None] = {None}
        self._folders: set[str] = set()

    def refuse(self, output: Path) -> None:
        """Raise `FileError` for an output that is an input, or an existing file in an input folder."""
        identity = _identity(output)
        if identity is None:
            return
        while self.new_names:
            for path in _paths_meant_by(self.new_names.pop()):
                self.files.add(_identity(path))
                if os.path.isdir(path):  # noqa: PTH112  # false for a name that is no path, where `Path` raises
                    self._folders.add(_real(path))
                    self.files.update(
                        _identity(Path(folder, name)) for folder, _, names in os.walk(path) for name in names
                    )
        real = Path(_real(output))
        if identity in self.files or not self._folders.isdisjoint(map(str, (real, *real.parents))):
            raise FileError(
                "is an input and cannot be overwritten", file=str(output), advice="name another file"
            )


_FILES: ContextVar[_CommandFiles | None] = ContextVar("files", default=None)


def inputs_kept() -> AbstractContextManager[None]:
    """Let no output replace an input until the end of the block, which is one command, or a part of one."""
    return assigned(_FILES, _FILES.get() or _CommandFiles())


def reading_an_output() -> AbstractContextManager[None]:
    """Let what is read in this context be no input, because it is a file that will be written."""
    return assigned(_FILES, None)


def note_input(path: str | Path) -> None:
    """Note a file, folder, pattern or member of an archive that the running command reads."""
    files = _FILES.get()
    if files is not None and str(path) not in files.names:
        files.names.add(str(path))
        files.new_names.append(str(path))


def note_open_file(file: Any) -> None:
    """Note an open file that the running command reads, such as standard input that a shell has redirected."""
    files = _FILES.get()
    if files is not None:
        with suppress(OSError, ValueError, AttributeError, TypeError):  # a file in memory has no number
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                files.files.add((status.st_dev, status.st_ino))


def input_path(text: str) -> Path:
    """Return the path that an argument names, which is an input. Raises `UsageError` for an empty name."""
    if not text:
        raise UsageError("the name of an input file is empty")
    note_input(text)
    return Path(text)


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
    output_keys: set[str | _Identity | None] = set()
    paths = [Path(path) for path in outputs if path is not None]
    for path in paths:
        real = _real(path)
        if output_keys & {real, _identity(path)} - {None}:
            raise UsageError(
                f"two results would be written to {path}", advice="name a different file for each"
            )
        output_keys |= {real, _identity(path)}
    files = _FILES.get()
    if files is not None:
        files.outputs += [path for path in paths if _identity(path) is not None]
        require_no_input()


def require_no_input(*outputs: Path) -> None:
    """Raise `FileError` if one of the outputs, or of those that the command has announced, is an input."""
    files = _FILES.get()
    if files is not None:
        for path in (*files.outputs, *outputs):
            files.refuse(path)


def _paths_meant_by(name: str) -> Iterator[Path]:
    """Yield the files and folders that a name means: itself, the matches of a pattern, the archive of a member."""
    yield Path(name)
    if not os.path.lexists(name):
        if re.search(r"[*?\[]", name):
            from glob import glob

            yield from filter(Path.is_file, map(Path, glob(name, recursive=True)))  # noqa: PTH207  # as for a pattern
        archives = (Path(name[: mark.start()]) for mark in re.finditer("!", name))
        yield from filter(Path.is_file, archives)


def _identity(path: Path) -> _Identity | None:
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
