"""Limits on input, so that a small packed file cannot fill memory, and on searching in the texts of a document.

A line and a sentence are held in memory as a whole, and so is a document of most formats; a gzipped file of some
hundred kilobytes can contain one of several gigabytes. The limits are far above the sizes in real corpora. Options can
raise those of lines, sentences and documents (`clueval.files.options.Limits`).
"""

from __future__ import annotations

from typing import Any

from clueval.files.errors import FormatError, LimitError

MAX_DEPTH = 100
"""The greatest depth of elements and of values in values."""

MAX_WORKBOOK, MAX_WORKBOOK_MARKS, MAX_WORKBOOK_CELLS = 1 << 26, 2_500_000, 4_000_000
"""Limits of a workbook: the unpacked bytes, the elements and attributes, the rows and cells with the empty ones."""

GROWTH, SMALL = 200, 1 << 26
"""What is packed in files and archives, and has more than `SMALL` bytes, may have `GROWTH` times the packed bytes."""

MAX_MEMBERS, MAX_DIRECTORY = 100_000, 1 << 24
"""Limits of an archive: the members, with the empty ones and folders, and the bytes of the directory of a zip file."""

MAX_HEADER, MAX_HEADERS = 1 << 16, 1 << 26
"""Limits of a tar file: the bytes of an extended header, which has long names, and those of all of them."""

MAX_MENTIONED = 1_000_000
"""The most words that the mentions of a document have together, and that they are compared with elsewhere."""

MENTIONED_OF_WORD = 20
"""A document with many words may have this many for each of its words, even if that is more."""

MAX_COVERED = 50_000_000
"""The most positions that the spans of a document have together, where their texts are compared or written."""


def is_deep(value: object) -> bool:
    """Return whether lists and objects are nested more than `MAX_DEPTH` deep.

    >>> is_deep([[1]]), is_deep({"a": [{}]})
    (False, False)
    """
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [container for container in level if isinstance(container, dict | list)]
        if not level:
            return False
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
        ]
    return True


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


def workbook_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for a workbook with more than `most` of something."""
    return FormatError(
        f"has more than {most:,} {what}", file=str(file), advice="save the sheet as a table with tabs, .tsv"
    )


def archive_too_long(what: str, file: object, most: int) -> FormatError:
    """Return the error for an archive with more than `most` of something."""
    return FormatError(
        f"the archive has more than {most:,} {what}", file=str(file), advice="unpack the archive yourself"
    )


def require_short_texts(positions: int, **place: Any) -> None:
    """Raise `LimitError`, with its place, for too many positions of spans whose texts are needed."""
    if positions > MAX_COVERED:
        raise LimitError(
            f"the texts of the spans have together more than {MAX_COVERED:,} positions",
            **place,
            advice="leave out spans that many others overlap or equal",
        )


def require_short_mentions(words: int, of_document: int, **place: Any) -> None:
    """Raise `LimitError`, with its place, for mentions with too many words, given the words of their document."""
    most = max(MAX_MENTIONED, MENTIONED_OF_WORD * of_document)
    if words > most:
        raise LimitError(
            f"the mentions have together more than {most:,} words that must be compared",
            **place,
            advice="leave out spans that are nested or repeated",
        )
