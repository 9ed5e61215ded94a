"""Standard input and open files, which are written to temporary files, because files are read more than once.

The paths of temporary files never appear: errors name standard input, or the open file, instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.files.overwriting import note_open_file

STDIN = "-"
"""The path that stands for standard input."""

_SHOWN = "<stdin>"

_BLOCK = 1 << 16


def is_open_file(side: object) -> bool:
    """Return whether an argument is an open file, of text or bytes."""
    return hasattr(side, "read") and hasattr(side, "readline")


def needs_spooling(side: object) -> bool:
    """Return whether an argument is standard input, an open file, or a list of files with one of them."""
    if isinstance(side, list | tuple):
        return bool(side) and not isinstance(side[0], list | tuple) and any(map(_is_one, side))
    return _is_one(side)


def _is_one(side: object) -> bool:
    return is_open_file(side) or (isinstance(side, str | Path) and str(side) == STDIN)


@contextmanager
def spooled(*sides: Any) -> Iterator[list[Any]]:
    """Provide the arguments with a path in place of standard input and of each open file; other arguments unchanged.

    Raises `UsageError` if standard input is used twice, `FileError` for a file that cannot be read.
    """
    if not any(map(needs_spooling, sides)):
        yield list(sides)
        return
    from tempfile import TemporaryDirectory  # not needed for files on disk

    with ExitStack() as stack:
        spool = _Spool(Path(stack.enter_context(TemporaryDirectory(prefix="clueval-"))))
        try:
            yield [spool.path_of(side) for side in sides]
        except CluevalError as error:
            spool.rename(error)
            raise


class _Spool:
    """A folder with temporary files, and the name of each in errors."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}

    def path_of(self, side: Any) -> Any:
        """Return the path of the copy of a file; a list with the paths of its files; other arguments unchanged."""
        if isinstance(side, list | tuple):
            return [self.path_of(each) for each in side]
        if not needs_spooling(side):
            return side
        name = _SHOWN if not is_open_file(side) else _name_of(side)
        if name == _SHOWN and _SHOWN in self._names.values():
            raise UsageError("standard input can be read only once", advice="give a file for the other side")
        below = self._folder / str(len(self._names))
        below.mkdir()
        path = below / (Path(name).name.strip("<>") or "file")
        self._names[str(path)] = name
        _copy(side, path, name)
        return path

    def rename(self, error: CluevalError) -> None:
        """Write the names of the files in an error instead of the paths of their copies."""
        for path, name in self._names.items():
            error.file = name if error.file == path else error.file
            error.problem = error.problem.replace(path, name)
            error.advice = None if error.advice is None else error.advice.replace(path, name)


def name_of_input(given: Any) -> str:
    """Return the name of a path or open file, as people know it."""
    return _name_of(given) if is_open_file(given) else str(given)


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name else "<open file>"


def _copy(side: Any, path: Path, name: str) -> None:
    source = side if is_open_file(side) else getattr(sys.stdin, "buffer", sys.stdin)
    if source is None:
        raise FileError(
            "standard input is closed", file=name, advice="name a file, or write to standard input"
        )
    note_open_file(source)
    try:
        with path.open("wb") as copy:
            while block := source.read(_BLOCK):
                copy.write(block if isinstance(block, bytes) else block.encode("utf-8", "surrogatepass"))
    except (OSError, ValueError, AttributeError, UnicodeError) as error:
        raise FileError(f"cannot be read: {error}", file=name) from None
