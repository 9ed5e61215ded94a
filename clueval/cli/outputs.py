"""Where results may be written: never over what is read, one result to a file, and only where it can be.

All of it is looked at before anything is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clueval.exceptions import FileError, UsageError


def refuse_to_overwrite(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Raise `FileError` for an output that is an input or lies in an input folder, `UsageError` for one given twice.

    Links and relative paths are seen through.
    """
    read = [_real(path) for path in inputs if path is not None]
    written: set[Path] = set()
    for path in outputs:
        if path is None:
            continue
        real = _real(path)
        if real in written:
            raise UsageError(f"two results would be written to {path}", advice="name a file for each")
        written.add(real)
        if real.exists() and any(real == source or source in real.parents for source in read):
            raise FileError("is read, and is not written over", file=str(path), advice="name another file")


def _real(path: Path) -> Path:
    """The path with all links followed. Raises `FileError` for a link to itself and for what can be no path."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a link to itself, up to Python 3.12
        reason = getattr(error, "strerror", None) or "a link to itself, or no name of a file"
        raise FileError(f"is no path: {reason}", file=str(path)[:300], advice="check the name") from None


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
        from clueval.reports.html import environment

        environment()
