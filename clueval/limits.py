"""Limits on the size of lines, sentences, documents and files, so that a small gzipped file cannot fill memory.

A line and a sentence are held in memory as a whole, and so is a document where a choice or a metric needs more
than sentences; a gzipped file of some hundred kilobytes can contain one of several gigabytes. The limits are far
above the sizes in real corpora, and options can raise them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.files.errors import FormatError, UsageError

MAX_LINE = 1 << 27
"""Default limit for the bytes of a line, and of a file that is read as a whole."""

MAX_SENTENCE = 5_000_000
"""Default limit for the tokens of a sentence; see `HELD` for files that are held in memory as a whole."""

MAX_DOCUMENT = 50_000_000
"""Default limit for the tokens of a document that is held as a whole, at 100 to 300 bytes a token."""

HELD = 5
"""Divisor of the limit for sentences; the result limits the lines, tags or values of a file held as a whole.

A line, tag or value of a file of spans, XML or JSON takes about this many times as much memory as a token.
"""

MAX_WORKBOOK, MAX_WORKBOOK_MARKS, MAX_WORKBOOK_CELLS = 1 << 26, 2_500_000, 4_000_000
"""Limits of a workbook: the unpacked bytes, the elements and attributes, the rows and cells with the empty ones."""

MAX_MEMBERS, MAX_DIRECTORY = 100_000, 1 << 24
"""Limits of an archive: the members, with the empty ones and folders, and the bytes of the directory of a zip file."""

MAX_HEADER, MAX_HEADERS = 1 << 16, 1 << 26
"""Limits of a tar file: the bytes of an extended header, which has long names, and those of all of them."""

LINES_IN_SENTENCE = 4
"""A sentence may have at most this many times the characters that a line may have."""


def require_limits(**limits: int) -> None:
    """Raise `UsageError` for a limit that is not a whole number of at least 1."""
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}={value!r} is not a limit", advice="a whole number from 1 on")


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
    """Return the error for a document of more than `most` tokens that is to be held; `line` is its first line."""
    problem = f"the document that begins here is held as a whole and has more tokens than {most:,}"
    return _beyond(problem, file, line, "max_document")


def workbook_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for a workbook with more than `most` of something."""
    return FormatError(
        f"has more than {most:,} {what}",
        file=str(file),
        advice="save the sheet as a table with tabs, .tsv",
    )


def archive_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for an archive with more than `most` of something."""
    return FormatError(
        f"the archive has more than {most:,} {what}", file=str(file), advice="unpack the archive yourself"
    )


def in_sentences(numbered: Iterable[tuple[int, str]], file: str, most: int) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines unchanged; blank lines separate sentences.

    Raises `FormatError` for a sentence of more than `most` lines.
    """
    first = size = 0
    for number, line in numbered:
        if not line.strip():
            size = 0
        else:
            first = first if size else number
            size += 1
            if size > most:
                raise sentence_too_long(file, first, most)
        yield number, line


def sentences_of(blocks: Iterable[tuple[int, str]], file: str, most: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines between blank lines, with the number of the first one; `blocks` are those of a file.

    Raises `FormatError` for a sentence of more than `most` lines.
    """
    held: list[str] = []
    first = 1
    for start, block in blocks:
        for number, line in enumerate(block.removesuffix("\n").split("\n"), start):
            if line and not line.isspace():
                first = first if held else number
                held.append(line)
                if len(held) > most:
                    raise sentence_too_long(file, first, most)
            elif held:
                yield first, held
                held = []
    if held:
        yield first, held


def held_lines(numbered: Iterable[tuple[int, str]], file: str, most: int) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file that is held as a whole, unchanged.

    `most` is the limit for the tokens of a sentence; the limit here is `most` divided by `HELD`. Raises
    `FormatError` if the file has more lines.
    """
    most = max(1, most // HELD)
    for held, (number, line) in enumerate(numbered):
        if held == most:
            raise too_many("the file is held as a whole and has more lines than", file, number, most)
        yield number, line


def require_few_values(content: str | bytes, file: str, most: int) -> None:
    """Raise `FormatError` for XML with too many tags, or JSON with too many values.

    `most` is the limit for the tokens of a sentence; the limit here is `most` divided by `HELD`.
    """
    is_json = content[:4096].lstrip()[:1] in ("{", "[", b"{", b"[")
    marks = "{[," if is_json else "<"
    counts = map(content.count, marks) if isinstance(content, str) else map(content.count, marks.encode())
    number = sum(counts)
    most = max(1, most // HELD)
    if number > most:
        raise too_many("the file is held as a whole and has more tags or values than", file, None, most)
