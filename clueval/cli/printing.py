"""Prints results to standard output and messages to standard error.

Every line that a command prints is printed here. File names and corpus text cannot control the terminal: text
for people has escapes instead of control characters; data for programs has escapes only if standard output is a
terminal, because a program needs the original bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from clueval.visible import visible, visible_lines


def say(line: str) -> None:
    """Print a line for people to standard output."""
    print(visible(line))


def remark(line: str) -> None:
    """Print a line for people to standard error."""
    print(visible(line), file=sys.stderr)


def wrote(path: Path) -> None:
    """Print the message that a file was written."""
    remark(f"wrote {path}")


def remark_passed_over(passed_over: Mapping[str, Mapping[str, int]]) -> None:
    """Print one line with what the formats of each side did not read; nothing if they read everything."""
    parts = [
        f"{side} {', '.join(f'{number} {kind}' for kind, number in numbers.items())}"
        for side, numbers in passed_over.items()
        if numbers
    ]
    if parts:
        remark(f"passed over: {'; '.join(parts)}")


def put(text: str, *, end: str = "\n") -> None:
    """Print data or a report to standard output."""
    print(visible_lines(text) if sys.stdout.isatty() else text, end=end)


def put_painted(line: str) -> None:
    """Print a line with colours, in which the control characters of text are already escapes."""
    print(line)
