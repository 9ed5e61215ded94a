"""Prints results to standard output and messages to standard error.

Every line that a command prints is printed here. File names and corpus text cannot control the terminal: text
for people has escapes instead of control characters; data for programs has escapes only if standard output is a
terminal, because a program needs the original bytes.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from clueval.files.errors import in_words, visible, visible_lines, with_noun


def say(line: str) -> None:
    """Print a line for people to standard output."""
    print(visible(line))


QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether nothing but errors is printed to standard error."""


def remark(line: str) -> None:
    """Print a line for people to standard error, unless ``--quiet`` is given."""
    if not QUIET.get():
        complain(line)


def complain(line: str) -> None:
    """Print an error to standard error. If that cannot be written, as on a full disk, the exit code stays."""
    try:
        print(visible(line), file=sys.stderr)
    except OSError:
        give_up(sys.stderr)


def flush() -> None:
    """Complete the standard output."""
    with while_read():
        sys.stdout.flush()


@contextmanager
def while_read() -> Iterator[None]:
    """Print in this context as long as standard output is read; after that, the command goes on to its exit code."""
    try:
        yield
    except OSError as error:
        if not reader_has_ended(error):
            raise
        give_up(sys.stdout)


def reader_has_ended(error: OSError) -> bool:
    """Return whether an error of standard output means that the program that reads it has ended."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def give_up(stream: TextIO) -> None:
    """Discard the rest of the output, so that Python's flush at exit does not report that it cannot be written."""
    with suppress(OSError):  # without a file descriptor, there is nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def wrote(path: Path) -> None:
    """Print the message that a file was written."""
    remark(f"wrote {path}")


def repaired_and_not_read(passed_over: Mapping[str, int]) -> tuple[str, str]:
    """Return the remark on repaired tags or answers, and what was not read in words; each may be empty."""
    # a command may end before anything is read
    from clueval.formats.span_forms import REPAIRED_ANSWERS, REPAIRED_TAGS

    others = {kind: n for kind, n in sorted(passed_over.items()) if n}
    tags, number = others.pop(REPAIRED_TAGS, 0), others.pop(REPAIRED_ANSWERS, 0)
    if tags:
        return f"{with_noun(tags, REPAIRED_TAGS)}: invalid ones, read as conlleval does", in_words(others)
    of_what = "1 answer was" if number == 1 else f"{number:,} answers were"
    return f"{of_what} not pure JSON; the JSON inside was read" if number else "", in_words(others)


def remark_passed_over(passed_over: Mapping[str, Mapping[str, int]]) -> None:
    """Print a line with what formats did not read, by side; where there is one side, its name is empty."""
    repaired, _ = repaired_and_not_read(sum(map(Counter, passed_over.values()), Counter()))
    not_read = ((side, repaired_and_not_read(numbers)[1]) for side, numbers in passed_over.items())
    words = "; ".join(f"{side} {words}".lstrip() for side, words in not_read if words)
    for line in (repaired, f"passed over: {words}" if words else ""):
        if line:
            remark(line)


@contextmanager
def remarking(passed_over: Mapping[str, int]) -> Iterator[None]:
    """Print one line with what the formats of the files that are read in this context did not read, if any."""
    yield
    remark_passed_over({"": passed_over})


def put(text: str, *, end: str = "\n") -> None:
    """Print data or a report to standard output."""
    print(visible_lines(text) if sys.stdout.isatty() else text, end=end)


def put_text(text: str) -> None:
    """Print a report; on a terminal with rich (extra ``cli``), titles and headlines are bold."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        with while_read():
            put(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    lines = visible_lines(text).split("\n")
    title = ""
    for number, line in enumerate(lines):
        is_first = not number or not lines[number - 1]  # a table that goes on below has no title there
        if is_first and lines[number + 2 : number + 3] and lines[number + 2].startswith("---"):
            title = line
        is_headline = (
            title.startswith("Headlines") and lines[number - 1] != title and not line.startswith("---")
        )
        console.print(Text(line, style="bold" if line and (line == title or is_headline) else ""))


def put_prose(lines: Iterable[str]) -> None:
    """Print sentences; on a terminal, those that are longer than its lines go on below, with their indentation."""
    from textwrap import wrap  # few commands print sentences

    width = columns_of_terminal()
    for line in lines:
        margin = " " * (len(line) - len(line.lstrip()) + 2)
        put(line if width is None else "\n".join(wrap(line, width, subsequent_indent=margin)))


def put_markdown(text: str) -> None:
    """Print a page of the guide, which has no control characters; on a terminal with rich, with emphasis and tables."""
    text = text.rstrip("\n")
    if sys.stdout.isatty():
        with suppress(ImportError):
            from rich.console import Console
            from rich.markdown import Markdown

            console = Console(force_terminal=True, highlight=False)
            with console.capture() as painted:
                console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
            print(painted.get().rstrip("\n"))
            return
    put(text)


def columns_of_terminal() -> int | None:
    """Return how many columns the terminal has; None if standard output is none."""
    if not sys.stdout.isatty():
        return None
    with suppress(
        OSError, ValueError
    ):  # COLUMNS counts first, as it does for `shutil`, which is slow to import
        return max(40, int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns))
    return None
