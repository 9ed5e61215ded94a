"""Writing files, text or bytes, either completely or not at all.

The content is written to a temporary file in the folder of the target, which is renamed to the target when it
is complete. If the target is a symbolic link, the file that it refers to is replaced. An existing file keeps
its mode and its owner. If it has several names (hard links), or an owner that a new file cannot be given, its
content is replaced instead, by a copy that only SIGKILL can interrupt. Pipes and devices, such as
``/dev/stdout``, are written directly.

If writing fails or is interrupted, the temporary file is removed. Only SIGKILL leaves it behind; its name
begins with ``.clueval-``.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import TextIOWrapper
from pathlib import Path
from typing import IO, NamedTuple

from clueval.files.errors import FileError, assigned, visible_lines
from clueval.files.overwriting import named_output, require_no_input

_OWNED = 0o600
"""The mode of a temporary file that will replace an existing file."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""The flags to open a file that must not exist yet."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a full disk. Other errors mean that space cannot be reserved in advance."""


@contextmanager
def whole_file(path: str | Path) -> Iterator[IO[str]]:
    """Open a text file to write; see the module. UTF-8, LF; gzipped if the name ends in ``.gz``.

    Raises `FileError` if it cannot be written, `UsageError` for an empty name.
    """
    path = named_output(path)
    with whole_bytes(path) as raw, errors_of(path):
        # the inner files are closed first, so that the content of their buffers reaches the outer files
        if path.suffix == ".gz":
            import gzip  # few files are packed

            # mtime 0: equal texts give equal bytes
            with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed, _text(packed) as text:  # type: ignore[arg-type]
                yield text
        else:
            with _text(raw) as text:
                yield text


@contextmanager
def whole_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to write bytes; see the module. Raises as `whole_file` does."""
    path = named_output(path)
    require_no_input(path)
    with errors_of(path):
        if is_written_through(path):
            with _opened(path) as raw:
                yield raw
            return
        target = Path(os.path.realpath(path))
        before = _status(target)
        if before is not None:
            os.close(os.open(target, os.O_WRONLY))  # a write-protected file must not be replaced
        temporaries: list[Path] = []
        with _removed(temporaries):
            together = _TOGETHER.get()
            temporary = _new_name(target)
            (temporaries if together is None else together.temporary).append(temporary)
            mode = 0o666 if before is None else _OWNED
            with os.fdopen(os.open(temporary, _NEW, mode), "wb") as raw:
                yield raw

            def give_name() -> None:
                with errors_of(path):
                    require_no_input(path)
                    _give_name(temporary, target, before)

            if together is None:
                give_name()
            else:
                together.waiting.append(give_name)


class _Together(NamedTuple):
    """Files that get their names when all are complete: their temporary files, and what gives the names."""

    temporary: list[Path]
    waiting: list[Callable[[], None]]


_TOGETHER: ContextVar[_Together | None] = ContextVar("together", default=None)


@contextmanager
def named_together() -> Iterator[None]:
    """Let all files that are written inside get their names at the end; after an error, none of them is there."""
    if _TOGETHER.get() is not None:
        yield
        return
    together = _Together([], [])
    with _removed(together.temporary):
        with assigned(_TOGETHER, together):
            yield
        for give_name in together.waiting:
            give_name()


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Create a private folder in the folder of `path`, for parts of that file; it is removed at the end.

    Raises `FileError` if it cannot be created.
    """
    with errors_of(path):
        folder = _new_name(Path(os.path.realpath(path)))
        with _removed([folder]):
            folder.mkdir(mode=0o700)
            yield folder


def is_written_through(path: Path) -> bool:
    """Return whether a path is a pipe, a device or an open file, which is written directly.

    Raises `FileError` if the system reports an error for the path.
    """
    with errors_of(path):
        before = _status(path)
        return _descriptor(path) is not None or (before is not None and not stat.S_ISREG(before.st_mode))


def _opened(path: Path) -> IO[bytes]:
    number = _descriptor(path)
    return path.open("wb") if number is None else os.fdopen(os.dup(number), "wb")


_REASONS: dict[type[OSError], tuple[str, str | None]] = {
    FileNotFoundError: ("its folder does not exist", "make the folder first"),
    NotADirectoryError: ("its folder is a file", "name another folder"),
    FileExistsError: ("there is a file of this name", "name another folder"),
    IsADirectoryError: ("it is a folder", "name a file"),
}
"""What errors of the system mean for an output, and what to do."""


@contextmanager
def made_folder(path: str | Path) -> Iterator[None]:
    """Make a folder for files that are written inside, if it is not there; after an error, remove it if it is empty.

    Raises `FileError`, `UsageError` for an empty name.
    """
    path = named_output(path)
    with errors_of(path):
        is_new = not path.exists()
        path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):  # it has files if only some could be written
                path.rmdir()
        raise


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Turn errors of the system into `FileError`, which names the file."""
    try:
        yield
    except OSError as error:
        reason, advice = _REASONS.get(type(error), (error.strerror or str(error), None))
        if sys.platform == "win32" and isinstance(error, PermissionError):
            advice = "close the program that has the file open, or name another file"
        raise FileError(f"cannot be written: {reason}", file=str(path), advice=advice) from error
    except UnicodeEncodeError as error:
        half = f"half of a surrogate pair, U+{ord(error.object[error.start]):04X}"
        raise FileError(f"cannot be written: {half}", file=str(path)) from error


def _descriptor(path: Path) -> int | None:
    """Return the number of the open file that a path like ``/dev/stdout`` means; None for other paths."""
    for _ in range(40):  # the limit ends a circle of links
        folder = os.path.realpath(path.parent)
        if path.name.isdecimal() and re.fullmatch(rf"/proc/{os.getpid()}/fd|/dev/fd", folder):
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(folder) / path.readlink()
    return None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except ValueError:
        raise FileError("cannot be written: a NUL character in its name", file=str(path)) from None


def _new_name(target: Path) -> Path:
    return target.parent / f".clueval-{os.urandom(8).hex()}"


@contextmanager
def _removed(paths: Sequence[Path]) -> Iterator[None]:
    """Remove the files and folders of these names at the end.

    Names are added before the files are created, and an interrupted removal is repeated, so Ctrl-C never leaves a file
    behind. (It would, within the end of an `ExitStack`.)
    """
    try:
        yield
    finally:
        try:
            for path in paths:
                _remove(path)
        except KeyboardInterrupt:
            for path in paths:
                _remove(path)
            raise


def _remove(path: Path) -> None:
    if path.is_dir():  # without subfolders; `shutil.rmtree` would lose an interruption
        for file in list(path.iterdir()):
            file.unlink(missing_ok=True)
        path.rmdir()
    elif os.path.lexists(path):  # a file system that cannot be written has an error for every name
        path.unlink(missing_ok=True)


def _give_name(temporary: Path, target: Path, before: os.stat_result | None) -> None:
    """Rename the complete temporary file to `target`; `before` is the status of an existing target."""
    if before is None:
        temporary.replace(target)
        return
    if before.st_nlink > 1 or not _given_to_owner(temporary, before):
        with _interrupts_held_back():
            _copy_over(temporary, target)
        return
    temporary.chmod(stat.S_IMODE(before.st_mode))
    temporary.replace(target)


def _given_to_owner(temporary: Path, before: os.stat_result) -> bool:
    """Give a file the owner and the group of the file before; return whether it has them now."""
    now = temporary.stat()
    if sys.platform == "win32" or (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    try:
        os.chown(temporary, before.st_uid, before.st_gid)
    except OSError:
        return False
    return True


def _copy_over(temporary: Path, target: Path) -> None:
    """Replace the content of a file. Space is reserved first, so that a full disk leaves the old content."""
    import shutil

    with temporary.open("rb") as source, target.open("r+b") as sink:
        size, old = (os.fstat(file.fileno()).st_size for file in (source, sink))
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(sink.fileno(), 0, size)
        except OSError as error:
            if error.errno in _FULL:
                sink.truncate(old)
                raise
        shutil.copyfileobj(source, sink)
        sink.truncate(size)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Delay Ctrl-C, SIGTERM and SIGHUP until the end of the block."""
    if sys.platform == "win32":  # which has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _text(raw: IO[bytes]) -> TextIOWrapper:
    kind = _Terminal if raw.isatty() else TextIOWrapper
    return kind(raw, encoding="utf-8", newline="\n")


class _Terminal(TextIOWrapper):
    """A terminal; control characters are written as escapes, so that no text can control it."""

    def write(self, text: str, /) -> int:
        return super().write(visible_lines(text))
