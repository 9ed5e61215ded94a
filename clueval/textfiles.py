"""Files in, text out: opening, unpacking, decoding.

Text comes in blocks that end with a line end, so that what is in memory is a block and the longest line. Files
that begin as gzip files do are unpacked, whatever their name. The encoding is UTF-8, a byte-order
mark is skipped, CRLF is read as LF, a last line without its end gets one. Only LF and CRLF end a line: U+2028
and its like are characters, and a lone CR, the line end of old Macs, is an error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, Any, NoReturn

from clueval.exceptions import CluevalError, FileError, FormatError
from clueval.limits import MAX_LINE, file_too_long, line_too_long
from clueval.visible import escape

BLOCK = 1 << 18
"""Bytes read at a time; what is made of so many stays in the processor's cache."""

Progress = Callable[[int], object]
"""Called with the number of bytes that have been read since the last call."""

Part = tuple[int, int]
"""The bytes of a file from the first number to before the second, cut where lines begin."""

Complain = Callable[[CluevalError], object]
"""Called with an error; raises it, or keeps it for a list of all that is wrong."""


def refuse(error: CluevalError) -> NoReturn:
    """The complaint that ends everything."""
    raise error


class _CountedReads(RawIOBase):
    """A file that tells how much of it has been read, packed bytes where it is packed."""

    def __init__(self, raw: IO[bytes], progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._progress(len(data))
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


def blocks(
    path: Path,
    progress: Progress | None = None,
    complain: Complain = refuse,
    part: Part | None = None,
    max_line: int = MAX_LINE,
    size: int = BLOCK,
) -> Iterator[tuple[int, str]]:
    """Whole lines of a file in blocks, each with the number of its first line, from 1.

    With `part`, only of those bytes of a file that is not packed; its first line is 1. Held in memory: a block
    of about `size` bytes, or one line if it is longer. Raises `FileError` if the file cannot be read,
    `FormatError` with the line for bytes that are not UTF-8, for a NUL, and for a line of more than `max_line`
    bytes, which ends everything.
    """
    number = 1
    for data in whole_lines(path, progress, part, max_line, size):
        text = decoded(data, path, number, complain)
        yield number, text
        number += text.count("\n")


def lines(
    path: Path, progress: Progress | None = None, max_line: int = MAX_LINE, size: int = BLOCK
) -> Iterator[tuple[int, str]]:
    """The lines of a file without their ends, numbered from 1. Raises as `blocks` does."""
    for number, text in blocks(path, progress, max_line=max_line, size=size):
        for offset, line in enumerate(text[:-1].split("\n")):
            yield number + offset, line


def raw_content(path: Path, most: int = MAX_LINE) -> bytes:
    """The whole content of a file, unpacked but not decoded. Raises `FileError`, `FormatError`."""
    found: list[bytes] = []
    size = 0
    for data in raw_blocks(path):
        size += len(data)
        if size > most:
            raise file_too_long(str(path), most)
        found.append(data)
    return b"".join(found)


def whole_lines(
    path: Path,
    progress: Progress | None = None,
    part: Part | None = None,
    max_line: int = MAX_LINE,
    size: int = BLOCK,
) -> Iterator[bytes]:
    """What `blocks` yields, unpacked but not decoded. Raises `FileError`, `FormatError`."""
    return _cut_at_line_ends(raw_blocks(path, progress, part, size), str(path), max_line)


def raw_blocks(
    path: Path, progress: Progress | None = None, part: Part | None = None, size: int = BLOCK
) -> Iterator[bytes]:
    """The unpacked bytes of a file without its byte-order mark, cut anywhere. Raises as `whole_lines` does."""
    first = True
    for data in _blocks_with_mark(path, progress, part, size):
        yield data.removeprefix(b"\xef\xbb\xbf") if first else data
        first = False


def _blocks_with_mark(path: Path, progress: Progress | None, part: Part | None, size: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw:
            counted: BufferedReader[Any] = (
                raw if progress is None else BufferedReader(_CountedReads(raw, progress), size)
            )
            if part is not None:
                raw.seek(part[0])
                yield from _as_it_is(counted, size, part[1] - part[0])
                return
            packed = counted.peek(2)[:2] == b"\x1f\x8b"
            yield from _unpacked(counted, path, size) if packed else _as_it_is(counted, size)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=str(path)) from error


def _unpacked(stream: BufferedReader[Any], path: Path, size: int) -> Iterator[bytes]:
    """The unpacked bytes of a gzip file, block by block."""
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            while data := unpacked.read(size):
                yield data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"the gzip file is damaged: {error}", file=str(path)) from error


def _as_it_is(stream: BufferedReader[Any], size: int, left: int = sys.maxsize) -> Iterator[bytes]:
    while data := stream.read(min(size, left)):
        left -= len(data)
        yield data


def _cut_at_line_ends(blocks: Iterable[bytes], file: str, max_line: int) -> Iterator[bytes]:
    pieces: list[bytes] = []
    waiting = 0  # bytes in these
    number = 1
    for data in blocks:
        first_end = data.find(b"\n")
        if waiting + (len(data) if first_end < 0 else first_end) > max_line:
            raise line_too_long(file, number, max_line)
        cut = data.rfind(b"\n") + 1
        if cut:
            if max_line < len(data):
                _require_short_lines(data, file, number, max_line)
            yield b"".join((*pieces, data[:cut]))
            number += data.count(b"\n")
            pieces = [data[cut:]] if cut < len(data) else []
            waiting = len(data) - cut
        else:
            pieces.append(data)
            waiting += len(data)
    if rest := b"".join(pieces):
        yield rest + b"\n"


def _require_short_lines(data: bytes, file: str, number: int, max_line: int) -> None:
    for offset, line in enumerate(data.split(b"\n")):
        if len(line) > max_line:
            raise line_too_long(file, number + offset, max_line)


def decoded(data: bytes, path: Path, number: int, complain: Complain = refuse) -> str:
    """A block of bytes as `blocks` yields it; `number` is the number of its first line."""
    text = decoded_as_written(data, path, number, complain)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            line = number + text.count("\n", 0, text.index("\r"))
            problem = "a carriage return without a line feed"
            complain(FormatError(problem, file=str(path), line=line, advice="end lines with LF or CRLF"))
    return text


def decoded_as_written(data: bytes, path: Path, number: int = 1, complain: Complain = refuse) -> str:
    """The same with line ends as they are."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + data.count(b"\n", 0, error.start)
        complain(
            FormatError(
                f"not UTF-8: byte 0x{data[error.start]:02x}",
                file=str(path),
                line=line,
                advice="convert the file to UTF-8",
            )
        )
        text = data.decode("utf-8", errors="replace")
    if "\0" in text:
        line = number + text.count("\n", 0, text.index("\0"))
        complain(FormatError("a NUL character", file=str(path), line=line))
    return text


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_TO_BLANKS = str.maketrans(dict.fromkeys("\t\n\r\v\f\x85\u2028\u2029", " "))

_SURROGATES = re.compile("[\ud800-\udfff]")
"""What no file can hold."""


def cell(text: str) -> str:
    """Text that stays in its cell: tabs and line ends become blanks, lone surrogates escapes."""
    return _SURROGATES.sub(lambda match: escape(match[0]), text.translate(_TO_BLANKS))
