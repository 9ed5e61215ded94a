"""What the commands print: results on standard output, remarks on standard error.

Every line that a command prints goes through here. Names of files and text from a corpus never control the
terminal: what is written for people has escapes for the characters that could, always; data for other programs
has them only if it goes to a terminal, since there the bytes matter.
"""

from __future__ import annotations

import sys
from pathlib import Path

from clueval.visible import visible, visible_lines


def say(line: str) -> None:
    """A line for people, on standard output."""
    print(visible(line))


def remark(line: str) -> None:
    """A line for people, on standard error."""
    print(visible(line), file=sys.stderr)


def wrote(path: Path) -> None:
    """The remark that a file is there."""
    remark(f"wrote {path}")


def put(text: str, *, end: str = "\n") -> None:
    """Data or a report, on standard output."""
    print(visible_lines(text) if sys.stdout.isatty() else text, end=end)


def put_painted(line: str) -> None:
    """A line in which all text is visible already, and which may have colours."""
    print(line)
