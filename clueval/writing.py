"""Every file that is written, text or bytes: whole or not at all.

What is written goes to a temporary file in the folder of the target, and takes the target's name when all of it
is there. A symbolic link stays a link, and the file that it names is replaced. A file that is there keeps its
mode and its owner. If it has several names (hard links), or an owner that a new file could not have, its content
is replaced and not the file, by a copy that only SIGKILL can cut short. Pipes and devices, ``/dev/stdout`` among
them, are written through.

If writing fails or is interrupted, the temporary file is removed. It stays only where the process is killed at
once (SIGKILL), and its name begins with ``.clueval-``.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from clueval.exceptions import FileError
from clueval.visible import visible_lines

_OWNED = 0o600
"""The mode of a file that will replace another one, until it is whole."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""How a file is opened that must not be there yet."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a disk that has no room. Other errors mean that room cannot be taken in advance."""


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A text file to write; see the module. UTF-8, LF; packed if the name ends in ``.gz``.

    Raises `FileError` if it cannot be written.
    """
    with whole_bytes(path) as raw, _errors_of(path):
        # closed in this order, so that what the inner ones hold reaches the outer ones
        if path.suffix == ".gz":
            with _packing(raw) as packed, _text(packed) as text:
                yield text
        else:
            with _text(raw) as text:
                yield text


@contextmanager
def whole_bytes(path: Path) -> Iterator[IO[bytes]]:
    """A file to write bytes to; see the module. Raises `FileError` if it cannot be written."""
    with _errors_of(path):
        if is_written_through(path):
            with _opened(path) as raw:
                yield raw
            return
        target = Path(os.path.realpath(path))
        before = _status(target)
        if before is not None:
            os.close(os.open(target, os.O_WRONLY))  # a file that must not be written is not replaced either
        with _temporary(target) as temporary:
            mode = 0o666 if before is None else _OWNED
            with os.fdopen(os.open(temporary, _NEW, mode), "wb") as raw:
                yield raw
            _give_name(temporary, target, before)


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """A private folder beside a file that is to be written, for parts of it; it is removed at the end.

    Raises `FileError` if it cannot be made.
    """
    with _errors_of(path), _temporary(Path(os.path.realpath(path))) as folder:
        folder.mkdir(mode=0o700)
        yield folder


def is_written_through(path: Path) -> bool:
    """Whether a path is a pipe, a device or an open file, and takes what comes as it comes.

    Raises `FileError` if that cannot be found out.
    """
    with _errors_of(path):
        before = _status(path)
        return _descriptor(path) is not None or (before is not None and not stat.S_ISREG(before.st_mode))


def _opened(path: Path) -> IO[bytes]:
    number = _descriptor(path)
    return path.open("wb") if number is None else os.fdopen(os.dup(number), "wb")


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """What the system complains about becomes an error that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", file=str(path)) from error
    except UnicodeEncodeError as error:
        half = f"half of a surrogate pair, U+{ord(error.object[error.start]):04X}"
        raise FileError(f"cannot be written: {half}", file=str(path)) from error


def _descriptor(path: Path) -> int | None:
    """The number of the open file that a path stands for, as ``/dev/stdout`` does; None for all other paths."""
    for _ in range(40):  # links that name each other are no way to a file
        folder = os.path.realpath(path.parent)
        if path.name.isdecimal() and re.fullmatch(rf"/proc/{os.getpid()}/fd|/dev/fd", folder):
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(folder) / path.readlink()
    return None


def _status(path: Path) -> os.stat_result | None:
    """What the system knows of a file; None if it is not there."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except ValueError:
        raise FileError("cannot be written: a NUL character in its name", file=str(path)) from None


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A name beside a file; what is there at the end, a file or a folder, is removed.

    The name is known before the file is there, and removing is taken up again if it is interrupted: there is no
    moment at which Ctrl-C leaves something behind.
    """
    temporary = target.parent / f".clueval-{os.urandom(8).hex()}"
    try:
        yield temporary
    finally:
        try:
            _remove(temporary)
        except KeyboardInterrupt:
            _remove(temporary)
            raise


def _remove(path: Path) -> None:
    if path.is_dir():  # a flat one; `shutil.rmtree` loses an interruption
        for each in list(path.iterdir()):
            each.unlink(missing_ok=True)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _give_name(temporary: Path, target: Path, before: os.stat_result | None) -> None:
    """Put a file that is whole into the place of another one, if there is one."""
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
    """Whether a file has the owner and the group of the one before, or could be given to them."""
    now = temporary.stat()
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    try:
        os.chown(temporary, before.st_uid, before.st_gid)
    except OSError:
        return False
    return True


def _copy_over(temporary: Path, target: Path) -> None:
    """Replace the content of a file. The room for it is taken first, so that a full disk leaves the old one."""
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
    """Inside, Ctrl-C, SIGTERM and SIGHUP wait."""
    if not hasattr(signal, "pthread_sigmask"):
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
    """A terminal, which no text may control."""

    def write(self, text: str, /) -> int:
        return super().write(visible_lines(text))


def _packing(raw: IO[bytes]) -> IO[bytes]:
    import gzip

    packed: Any = gzip.GzipFile(
        fileobj=raw, mode="wb", mtime=0
    )  # mtime 0: the same text gives the same bytes
    return packed  # type: ignore[no-any-return]
