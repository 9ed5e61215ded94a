"""How much one unit of input may take, so that a small packed file cannot take all memory.

A line and a sentence are held in memory as a whole, whatever else streams; a packed file of some hundred kilobytes
may unpack to gigabytes of either. Both bounds are far above what corpora have, and options raise them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clueval.exceptions import FormatError, UsageError

MAX_LINE = 1 << 27
"""Bytes of a line, and of a file that is read as a whole."""

MAX_SENTENCE = 5_000_000
"""Tokens of a sentence. Of a file that is held as a whole, `HELD` times fewer lines, tags or values."""

HELD = 5
"""What is held of a file of spans, XML or JSON takes about so many times as much as the tokens of a sentence."""

LINES_IN_SENTENCE = 4
"""A sentence has at most as many characters as so many of the longest lines."""


def require_limits(max_line: int, max_sentence: int) -> None:
    """Raise `UsageError` for a limit that is no whole number from 1 on."""
    for name, value in (("max_line", max_line), ("max_sentence", max_sentence)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}={value!r} is no limit", advice="a whole number from 1 on")


def line_too_long(file: str, line: int, most: int) -> FormatError:
    """The error for a line that is longer than it may be."""
    return FormatError(
        f"a line of more than {most:,} bytes",
        file=file,
        line=line,
        advice="if that is meant, raise --max-line (max_line)",
    )


def file_too_long(file: str, most: int) -> FormatError:
    """The error for a file that is read as a whole and is longer than it may be."""
    return FormatError(
        f"a file of more than {most:,} bytes in a format that is read as a whole",
        file=file,
        advice="if that is meant, raise --max-line (max_line)",
    )


def too_many(what: str, file: str, line: int | None, most: int) -> FormatError:
    """The error for more of something than may be held together."""
    return FormatError(
        f"{what} {most:,}",
        file=file,
        line=line,
        advice="if that is meant, raise --max-sentence (max_sentence)",
    )


def sentence_too_long(file: str, line: int, most: int) -> FormatError:
    """The error for a sentence, of which the first line is given, with more tokens than it may have."""
    return too_many("the sentence that begins here has more tokens than", file, line, most)


def in_sentences(numbered: Iterable[tuple[int, str]], file: str, most: int) -> Iterator[tuple[int, str]]:
    """Numbered lines as they are, up to a sentence that is too long: blank lines are between sentences."""
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


def held_lines(numbered: Iterable[tuple[int, str]], file: str, most: int) -> Iterator[tuple[int, str]]:
    """Numbered lines as they are, of a file that is held as a whole, up to one too many.

    `most` is that of a sentence.
    """
    most = max(1, most // HELD)
    for held, (number, line) in enumerate(numbered):
        if held == most:
            raise too_many("the file is held as a whole and has more lines than", file, number, most)
        yield number, line


def require_few_values(content: str | bytes, file: str, most: int) -> None:
    """Raise `FormatError` for XML with more tags, or JSON with more values, than may be held together.

    `most` is that of the tokens of a sentence.
    """
    is_json = content[:4096].lstrip()[:1] in ("{", "[", b"{", b"[")
    marks = "{[," if is_json else "<"
    counts = map(content.count, marks) if isinstance(content, str) else map(content.count, marks.encode())
    found = sum(counts)
    most = max(1, most // HELD)
    if found > most:
        raise too_many("the file is held as a whole and has more tags or values than", file, None, most)
