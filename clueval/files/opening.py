"""Reading files: opening, unpacking and decoding them, and copying those that are open.

Text is read in blocks that end with a line end, so that memory holds only a block and the longest line. Files
that begin with gzip's magic number are unpacked, whatever their name. The encoding is UTF-8, a byte-order
mark is skipped, CRLF is read as LF, and a line end is added to a last line without one. Only LF and CRLF end
a line: U+2028 and other Unicode line ends are ordinary characters, and a lone CR, the line end of old Macs,
is an error.

A line and a sentence are held in memory as a whole, and so is a document of most formats; a gzipped file of some
hundred kilobytes can contain one of several gigabytes. So there are limits, far above the sizes in real corpora;
options can raise those of lines, sentences and documents (`clueval.files.options.Limits`).
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

from clueval.files.errors import CluevalError, FileError, FormatError, UsageError, escape
from clueval.files.options import MAX_LINE, note_input, note_open_file

BLOCK = 1 << 18
"""Default number of bytes to read at a time; the objects made from them fit in the processor's cache."""

Progress = Callable[[int], object]
"""Called with the number of bytes that were read since the last call (gzipped bytes of a gzipped file)."""


class FileProgress:
    """Calls `progress` with the bytes of one file that were read for the first time; it may be read several times."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._most = 0

    def reached(self, position: int) -> None:
        """Note that a reading of the file has come to a position."""
        if position > self._most:
            self._progress(position - self._most)
            self._most = position


Complain = Callable[[CluevalError], object]
"""Called with an error; raises the error, or stores it for a list of all errors."""


def refuse(error: CluevalError) -> NoReturn:
    """Raise the error: the default for `complain`."""
    raise error


# Open files and standard input

_STDIN = "<stdin>"

NOT_STDIN = "standard input is not read here; write it to a file first"
"""The advice where a path is ``-`` and only files are read."""

_COPIED = 1 << 16
"""The number of bytes, or characters, that are copied at a time."""


@contextmanager
def copies() -> Iterator[Callable[[Any], Path]]:
    """Provide a function that copies an open file, or for ``-`` standard input, because files are read more than once.

    It returns the path of the copy, which is removed at the end; errors name the file, not the copy. It raises
    `UsageError` if standard input is copied twice, `FileError` for a file that cannot be read.
    """
    from tempfile import TemporaryDirectory  # not needed for files on disk

    names: dict[str, str] = {}  # of the files, by the paths of their copies
    with TemporaryDirectory(prefix="clueval-") as folder:

        def copy(file: Any) -> Path:
            is_stdin = isinstance(file, str | Path)
            name = _STDIN if is_stdin else name_of_input(file)
            if name == _STDIN and _STDIN in names.values():
                raise UsageError(
                    "standard input can be read only once", advice="give a file for the other side"
                )
            path = Path(folder, str(len(names)), Path(name).name.strip("<>") or "file")
            path.parent.mkdir()
            names[str(path)] = name
            _copy(getattr(sys.stdin, "buffer", sys.stdin) if is_stdin else file, path, name)
            return path

        try:
            yield copy
        except CluevalError as error:
            for path, name in names.items():
                error.file = name if error.file == path else error.file
                error.problem = error.problem.replace(path, name)
                error.advice = None if error.advice is None else error.advice.replace(path, name)
            raise


def name_of_input(file: Any) -> str:
    """Return the name of a path or open file, as people know it."""
    if isinstance(file, str | os.PathLike):
        return str(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name else "<open file>"


def _copy(source: Any, path: Path, name: str) -> None:
    if source is None:
        raise FileError(
            "standard input is closed", file=name, advice="name a file, or write to standard input"
        )
    note_open_file(source)
    try:
        with path.open("wb") as copy:
            while block := source.read(_COPIED):
                copy.write(block if isinstance(block, bytes) else block.encode("utf-8", "surrogatepass"))
    except (OSError, ValueError, AttributeError, UnicodeError) as error:
        raise FileError(f"cannot be read: {error}", file=name) from None


# Files on disk


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is none of the user's: systems make some beside files."""
    return name.startswith((".", "__MACOSX")) or name in ("Thumbs.db", "desktop.ini")


def is_file(path: Path) -> bool:
    """Return whether there is such a file; no for a path that cannot be looked at, whose reading raises `FileError`."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Return whether there is such a folder; no for a path that cannot be looked at, as in `is_file`."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def refuse_pipe(path: Path) -> None:
    """Raise `FileError` for a pipe or a device; a path that cannot be looked at is left to its reading."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode):
        raise FileError(
            "is not a regular file", file=str(path), advice="write the output of a pipe to a file first"
        )


def blocks(
    path: Path,
    progress: FileProgress | None = None,
    complain: Complain = refuse,
    max_line: int = MAX_LINE,
    size: int = BLOCK,
) -> Iterator[tuple[int, str]]:
    """Yield a file in blocks of whole lines, each block with the number of its first line, from 1.

    Memory holds a block of about `size` bytes, or one line if it is longer. Raises `FileError` if the file
    cannot be read. Calls `complain` with a `FormatError` with the line for bytes that are not UTF-8, for a
    NUL and for a lone CR; raises `FormatError` for a line of more than `max_line` bytes.
    """
    number = 1
    for data in whole_lines(path, progress, max_line, size):
        text = decoded(data, path, number, complain)
        yield number, text
        number += text.count("\n")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file without their ends, numbered from 1. Raises the errors of `blocks`."""
    for number, text in blocks(path):
        for offset, line in enumerate(text[:-1].split("\n")):
            yield number + offset, line


def raw_content(
    path: Path, most: int = MAX_LINE, progress: FileProgress | None = None, *, mark: bool = False
) -> bytes:
    """Return the whole content of a file, unpacked but not decoded; with `mark` its byte-order mark, too.

    Raises `FileError` if the file cannot be read, `FormatError` for more than `most` bytes or a damaged gzip
    file.
    """
    pieces: list[bytes] = []
    size = 0
    for data in raw_blocks(path, progress, mark=mark):
        size += len(data)
        if size > most:
            raise file_too_long(str(path), most)
        pieces.append(data)
    return b"".join(pieces)


def whole_lines(
    path: Path,
    progress: FileProgress | None = None,
    max_line: int = MAX_LINE,
    size: int = BLOCK,
) -> Iterator[bytes]:
    """Yield the blocks of `blocks`, unpacked but not decoded. Raises `FileError`, `FormatError`."""
    pieces: list[bytes] = []
    waiting = 0  # bytes in `pieces`
    number = 1
    for data in raw_blocks(path, progress, size):
        first_end = data.find(b"\n")
        if waiting + (len(data) if first_end < 0 else first_end) > max_line:
            raise line_too_long(str(path), number, max_line)
        cut = data.rfind(b"\n") + 1
        if cut:
            if max_line < len(data):
                for offset, line in enumerate(data.split(b"\n")):
                    if len(line) > max_line:
                        raise line_too_long(str(path), number + offset, max_line)
            yield b"".join((*pieces, data[:cut]))
            number += data.count(b"\n")
            pieces = [data[cut:]] if cut < len(data) else []
            waiting = len(data) - cut
        else:
            pieces.append(data)
            waiting += len(data)
    if rest := b"".join(pieces):
        yield rest + b"\n"


def beginning_of(path: Path, most: int = BLOCK) -> str:
    """Return the beginning of a file, about a block; of a longer first line at most `most` bytes.

    Errors that reading the lines would report are left to it: bytes that are not UTF-8 are replaced.
    """
    data = b""
    for block in raw_blocks(path):
        data += block
        if b"\n" in block or len(data) >= most:
            break
    return data.decode("utf-8", errors="replace").replace("\r\n", "\n")


def sha256_of(paths: Iterable[Path]) -> str:
    """Return the SHA-256 of the unpacked bytes of some files, one after the other. Raises `FileError`."""
    from hashlib import sha256

    digest = sha256()
    for path in paths:
        for data in raw_blocks(path, mark=True):
            digest.update(data)
    return digest.hexdigest()


def raw_blocks(
    path: Path, progress: FileProgress | None = None, size: int = BLOCK, *, mark: bool = False
) -> Iterator[bytes]:
    """Yield the unpacked bytes of a file, cut anywhere; with `mark` its byte-order mark, too; see `whole_lines`."""
    passed_over = b"" if mark else b"\xef\xbb\xbf"
    try:
        with _opened(path) as raw:
            is_packed = raw.peek(2)[:2] == b"\x1f\x8b"
            for data in _unpacked(raw, path, size) if is_packed else iter(partial(raw.read, size), b""):
                if progress is not None:
                    progress.reached(raw.tell())
                yield data.removeprefix(passed_over)
                passed_over = b""
            if progress is not None:  # the end of a packed file is read after its last data
                progress.reached(raw.tell())
    except OSError as error:
        is_missing = error.strerror == os.strerror(errno.ENOENT)  # archives say what they lack
        problem = "there is no such file" if is_missing else f"cannot be read: {error.strerror or error}"
        raise FileError(problem, file=str(path), advice=NOT_STDIN if str(path) == "-" else None) from error


def _opened(path: Path) -> BufferedReader[Any]:
    note_input(path)
    try:
        return path.open("rb")
    except CluevalError:
        raise  # of a member of an archive
    except ValueError:  # a NUL, or half of a surrogate pair
        raise FileError("is not a valid file name", file=str(path)[:300], advice="check the name") from None


def _unpacked(stream: BufferedReader[Any], path: Path, size: int) -> Iterator[bytes]:
    import gzip
    import zlib

    remaining = most = most_unpacked(path.stat().st_size)
    try:
        with gzip.GzipFile(fileobj=stream) as unpacked:
            while data := unpacked.read(size):
                remaining -= len(data)
                if remaining < 0:
                    raise archive_too_long("unpacked bytes", path, most)
                yield data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(f"the gzip file is damaged: {error}", file=str(path)) from error


def decoded(data: bytes, path: Path, number: int, complain: Complain = refuse) -> str:
    """Decode a block of bytes as `blocks` does; `number` is the number of its first line."""
    text = decoded_as_written(data, path, number, complain)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            line = number + text.count("\n", 0, text.index("\r"))
            problem = "a carriage return without a line feed"
            complain(FormatError(problem, file=str(path), line=line, advice="end lines with LF or CRLF"))
    return text


def decoded_as_written(data: bytes, path: Path, number: int = 1, complain: Complain = refuse) -> str:
    """Decode a block of bytes as `decoded` does, but keep its line ends."""
    if data[:2] in _WIDE_MARKS or (b"\0" in data and 3 * data.count(b"\0") >= len(data)):
        problem = "is UTF-16 or UTF-32, which clueval does not read"
        raise FormatError(problem, file=str(path), line=number, advice=AS_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + data.count(b"\n", 0, error.start)
        problem = f"not UTF-8: byte 0x{data[error.start]:02x}"
        complain(FormatError(problem, file=str(path), line=line, advice=AS_UTF8))
        text = data.decode("utf-8", errors="replace")
    if "\0" in text:
        line = number + text.count("\n", 0, text.index("\0"))
        complain(FormatError("a NUL character", file=str(path), line=line))
    return text


AS_UTF8 = "save the file as plain text in UTF-8, in Excel as 'CSV UTF-8'"
_WIDE_MARKS = b"\xff\xfe", b"\xfe\xff"
"""The byte-order marks of UTF-16; that of UTF-32 begins with one of them or with NULs."""


def is_utf8(data: bytes) -> bool:
    """Return whether `data` is UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


_TO_BLANKS = str.maketrans(dict.fromkeys("\0\t\n\r\v\f\x85\u2028\u2029", " "))


def cell(text: str) -> str:
    """Return the text for one cell of a table: tabs, line ends and NUL become blanks, lone surrogates escapes."""
    if text.isprintable():  # most are, and this takes a tenth of the time
        return text
    return re.sub("[\ud800-\udfff]", lambda match: escape(match[0]), text.translate(_TO_BLANKS))


_BEGINS_WITH_QUOTE = re.compile(r'(?<![^\t])"[^\t]*')
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def tsv_line(cells: Iterable[str]) -> str:
    """Return a line of TSV without its end; a cell that begins with a quotation mark is quoted, as in CSV."""
    line = "\t".join(cells)
    if '"' not in line:  # as most are
        return line
    return _BEGINS_WITH_QUOTE.sub(lambda match: '"' + match[0].replace('"', '""') + '"', line)


def tsv_cells(line: str) -> list[str]:
    """Return the cells of a record of TSV; one with doubled quotes or line ends in quotes is read as in CSV.

    >>> tsv_cells('0\\t"the ""A"" team"\\t"Ada"')
    ['0', 'the "A" team', '"Ada"']
    """
    cells = line.split("\t")
    if '""' not in line and "\n" not in line:
        return cells
    return [
        text[1:-1].replace('""', '"')
        if ('""' in text[1:-1] or "\n" in text) and _QUOTED.fullmatch(text)
        else text
        for text in cells
    ]


# Limits

MAX_DEPTH = 100
"""The greatest depth of elements and of values in values."""

GROWTH, SMALL = 200, 1 << 26
"""What is packed in files and archives, and has more than `SMALL` bytes, may have `GROWTH` times the packed bytes."""

MAX_MEMBERS = 100_000
"""The most members of an archive, with the empty ones and folders."""


def most_unpacked(packed: int) -> int:
    """Return how many bytes a gzipped file, a member of an archive or all of them may have, given the packed bytes."""
    return max(SMALL, GROWTH * packed)


def _beyond(problem: str, file: str, line: int | None, option: str) -> FormatError:
    return FormatError(problem, file=file, line=line, advice=f"if this is intended, raise {option}")


def line_too_long(file: str, line: int, most: int) -> FormatError:
    """Return the error for a line of more than `most` bytes."""
    return _beyond(f"a line of more than {most:,} bytes", file, line, "max_line")


def file_too_long(file: str, most: int) -> FormatError:
    """Return the error for a file that is read as a whole and has more than `most` bytes."""
    problem = f"a file of more than {most:,} bytes in a format that is read as a whole"
    return _beyond(problem, file, None, "max_line")


def too_many(what: str, file: str, line: int | None, most: int) -> FormatError:
    """Return the error for more than `most` lines, tags or tokens; `what` begins the message."""
    return _beyond(f"{what} {most:,}", file, line, "max_sentence")


def sentence_too_long(file: str, line: int, most: int) -> FormatError:
    """Return the error for a sentence of more than `most` tokens; `line` is its first line."""
    return too_many("the sentence that begins here has more tokens than", file, line, most)


def document_too_long(file: str, line: int, most: int) -> FormatError:
    """Return the error for a document of more than `most` tokens; `line` is its first line."""
    problem = f"the document that begins here is held as a whole and has more tokens than {most:,}"
    return _beyond(problem, file, line, "max_document")


def archive_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for an archive with more than `most` of something."""
    return FormatError(
        f"the archive has more than {most:,} {what}", file=str(file), advice="unpack the archive yourself"
    )
