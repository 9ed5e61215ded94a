"""Files in archives: ``A.zip!member`` and ``A.tar.gz!member`` are read like files; an archive alone is a folder.

Nothing is unpacked to disk. Members are read as streams; those of a compressed tar file, which has no index, are held
in memory, at most `HELD_BYTES` of one archive. Names that lead out of the archive, links, and what is above the limits
are refused: members that grow too much, each or together, too many members, and too long headers.
"""

from __future__ import annotations

import gzip
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from io import BufferedReader, BytesIO, FileIO, RawIOBase
from pathlib import Path
from typing import IO, Any

from clueval.files.errors import CluevalError, FileError, FormatError
from clueval.files.opening import MAX_MEMBERS, archive_too_long, is_file, is_folder, is_hidden, most_unpacked

_MAX_DIRECTORY = 1 << 24
"""The most bytes of the directory of a zip file."""

_MAX_HEADER, _MAX_HEADERS = 1 << 16, 1 << 26
"""Limits of a tar file: the bytes of an extended header, which has long names, and those of all of them."""

MARK = "!"
"""What separates the name of an archive from that of a member."""

ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz")
HELD_BYTES = 1 << 28
"""The most unpacked bytes of a compressed tar file that are held."""

_BROKEN = (
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


class Member(type(Path())):  # type: ignore[misc]  # the class of paths of this system
    """The path of a member of an archive, written ``ARCHIVE!MEMBER``; it can be opened and asked for its size."""

    __slots__ = ()

    def open(self, *_: Any, **__: Any) -> IO[bytes]:
        archive, name = _split(self)
        members = members_of(archive)
        if name not in members:
            raise FileNotFoundError(2, "there is no such member in the archive", str(self))
        with _errors_of(self):
            version = _version(archive)
            stream = _zip(*version).open(name) if _is_zip(archive) else BytesIO(_members(*version)[1][name])
        return BufferedReader(_MemberBytes(stream, self))

    def stat(self, **_: Any) -> os.stat_result:
        archive, name = _split(self)
        status = archive.stat()
        size = members_of(archive).get(name)
        if size is None:
            raise FileNotFoundError(2, "there is no such member in the archive", str(self))
        return os.stat_result((stat.S_IFREG | 0o444, *status[1:6], size, *status[7:]))

    def is_file(self, **_: Any) -> bool:
        archive, name = _split(self)
        return name in members_of(archive)

    def is_dir(self, **_: Any) -> bool:
        archive, name = _split(self)
        return any(member.startswith(f"{name.rstrip('/')}/") for member in members_of(archive))

    def exists(self, **_: Any) -> bool:
        return self.is_file() or self.is_dir()


class _MemberBytes(RawIOBase):
    """The unpacked bytes of a member, read from its stream."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _errors_of(self._path):
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._stream.close()
        super().close()


def in_archive(path: Path) -> Path:
    """Return the path of a member if `path` names one, otherwise `path` itself."""
    if isinstance(path, Member) or MARK not in str(path) or is_file(path) or is_folder(path):
        return path
    member = Member(path)
    archive, _ = _split(member)
    return member if is_file(archive) else path


def is_archive(path: Path) -> bool:
    """Return whether a path is a file whose name is that of an archive."""
    return path.name.lower().endswith(ENDINGS) and not isinstance(path, Member) and is_file(path)


def files_in(path: Path) -> list[tuple[str, Path]]:
    """Return the names and paths of the members of an archive, or below a folder in it, except hidden ones.

    Raises `FileError` if there is none, `FormatError` for an archive that cannot be read.
    """
    archive, folder = _split(path) if isinstance(path, Member) else (path, "")
    prefix = f"{folder.rstrip('/')}/" if folder else ""
    names = sorted(name for name in members_of(archive) if name.startswith(prefix))
    names = [name for name in names if not any(map(is_hidden, name.split("/")))]
    if not names:
        raise FileError("the archive has no files", file=str(path))
    return [(name.removeprefix(prefix), Member(f"{archive}{MARK}{name}")) for name in names]


def _split(path: Path) -> tuple[Path, str]:
    """Return the archive and the name of a member; the archive is the first part that is a file."""
    text = str(path)
    place = text.find(MARK)
    while place >= 0:
        if is_file(Path(text[:place])):
            break
        place = text.find(MARK, place + 1)
    return (Path(text[:place]), text[place + 1 :]) if place >= 0 else (Path(text), "")


def members_of(archive: Path) -> Mapping[str, int]:
    """Return the sizes of the members by name. Raises `FileError` and `FormatError`."""
    return _members(*_version(archive))[0]


def _version(archive: Path) -> tuple[Path, int, int, int]:
    """Return an archive with what differs if it is another one, or read by another process."""
    status = archive.stat()
    return archive, status.st_mtime_ns, status.st_size, os.getpid()


@lru_cache(maxsize=4)
def _members(archive: Path, *_: int) -> tuple[Mapping[str, int], Mapping[str, bytes]]:
    """Return the sizes of the members, and of a tar file their contents, which are read in one pass."""
    sizes: dict[str, int] = {}
    contents: dict[str, bytes] = {}
    packed_bytes = archive.stat().st_size
    remaining = most = most_unpacked(packed_bytes)
    with _errors_of(archive):
        members = _zip_members(archive) if _is_zip(archive) else _tar_members(archive, contents)
        for name, size, packed in members:
            if name in sizes:
                raise _refusal(archive, name, "it occurs twice")
            if not name:
                raise _refusal(archive, name, "it has no name")
            parts = name.replace("\\", "/").split("/")
            if name.startswith(("/", "\\")) or ".." in parts or (len(parts[0]) == 2 and parts[0][1] == ":"):
                raise _refusal(archive, name, "its name leads out of the archive")
            if size > most_unpacked(packed):
                raise _refusal(archive, name, f"it has {size:,} bytes, and only {packed:,} in the archive")
            remaining -= size
            if remaining < 0:
                raise FormatError(
                    f"the members together have more than {most:,} bytes, the limit for an archive of "
                    f"{packed_bytes:,} bytes",
                    file=str(archive),
                    advice="unpack the archive yourself",
                )
            sizes[name] = size
    return sizes, contents


@contextmanager
def _errors_of(file: object) -> Iterator[None]:
    """Turn errors of damaged archives, and of the system, into `FormatError` and `FileError`, which name the file."""
    try:
        yield
    except CluevalError:
        raise
    except (*_BROKEN, ValueError, LookupError, OverflowError, struct.error) as error:
        raise FormatError(f"the archive is damaged: {error}", file=str(file)) from error
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=str(file)) from error


def _refusal(archive: Path, name: str, why: str) -> FormatError:
    return FormatError(
        f"the member {name[:200]!r} is not read: {why}",
        file=str(archive),
        advice="unpack the archive yourself",
    )


def _is_zip(archive: Path) -> bool:
    return archive.name.lower().endswith((".zip", ".xlsx"))


def _zip_members(archive: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the size and the packed size of each member that is a file."""
    for info in _zip(*_version(archive)).infolist():
        if stat.S_ISLNK(info.external_attr >> 16):
            raise _refusal(archive, info.filename, "it is a link")
        if info.flag_bits & 1:
            raise _refusal(archive, info.filename, "it is encrypted")
        if not info.filename.endswith("/"):  # `is_dir` of Python 3.11 needs a name
            yield info.filename, info.file_size, info.compress_size


def _tar_members(archive: Path, contents: dict[str, bytes]) -> Iterator[tuple[str, int, int]]:
    """Yield the same of a tar file, one after the other, and add its content; the packed size is that of the file."""
    packed = archive.stat().st_size
    remaining = HELD_BYTES
    with tarfile.open(archive, tarinfo=_counted_headers(archive)) as opened:
        for info in opened:
            if info.isdir():
                continue
            if not info.isreg():
                raise _refusal(archive, info.name, "it is a link or a device")
            if info.issparse() or info.size < 0:
                raise _refusal(archive, info.name, "it is sparse, or its size is negative")
            name = info.name.removeprefix("./")
            yield name, info.size, packed
            remaining -= info.size
            if remaining < 0:
                raise FormatError(
                    f"the members together have more than {HELD_BYTES:,} bytes",
                    file=str(archive),
                    advice="pack them as .zip, or unpack the archive",
                )
            if (stream := opened.extractfile(info)) is not None:
                contents[name] = stream.read()


_EXTENDED = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""The types of headers that tarfile holds as a whole, whatever their size."""


def _counted_headers(archive: Path) -> type[tarfile.TarInfo]:
    """Return a class for the headers of a tar file, which raises `FormatError` for too many and too long ones."""
    members, size = MAX_MEMBERS, _MAX_HEADERS

    class CountedHeader(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> CountedHeader:
            nonlocal members, size
            header = super().frombuf(buf, encoding, errors)
            if header.size < 0 or header.type == tarfile.GNUTYPE_SPARSE:
                raise _refusal(archive, header.name, "it is sparse, or its size is negative")
            if header.type not in _EXTENDED:
                members -= 1
            elif header.size > _MAX_HEADER:
                raise archive_too_long("bytes in the header of a member", archive, _MAX_HEADER)
            else:
                size -= tarfile.BLOCKSIZE + header.size
            if members < 0:
                raise archive_too_long("members", archive, MAX_MEMBERS)
            if size < 0:
                raise archive_too_long("bytes in headers", archive, _MAX_HEADERS)
            return header

        def _proc_gnusparse_10(self, *_: object) -> None:  # which reads a list of any length
            raise _refusal(archive, self.name, "it is sparse")

    return CountedHeader


@lru_cache(maxsize=4)
def _zip(archive: Path, *_: int) -> zipfile.ZipFile:
    with _Directory(archive) as file, zipfile.ZipFile(file) as checked:
        if len(checked.infolist()) > MAX_MEMBERS:
            raise archive_too_long("members", archive, MAX_MEMBERS)
    return zipfile.ZipFile(archive)


class _Directory(BufferedReader):
    """A zip file whose directory, which zipfile reads at once, may not be longer than `_MAX_DIRECTORY`."""

    def __init__(self, archive: Path) -> None:
        super().__init__(FileIO(archive))
        self._archive = archive

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MAX_DIRECTORY:
            raise archive_too_long("bytes in its directory", self._archive, _MAX_DIRECTORY)
        return super().read(size)
