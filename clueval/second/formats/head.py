"""The beginning of a file, by which its format is recognised."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

from clueval.core.tags import is_tag

_IS_JSON = re.compile(r'[\ufeff\s]*(\{\s*("|\}\s*($|[\[{]))|\[\s*([\[{"]|\]\s*($|[\[{])))')
_NOT_BLANK = re.compile(r"^[^\S\n]*[^\s][^\n]*", re.MULTILINE)
_LONGEST_LINE = 2000


class Head(NamedTuple):
    """The beginning of a file.

    Attributes:
        file_name, text: the name of the file and its first block.
        first: returns the first JSON row that is no empty list, None if there is none; the reader that will read the
            file parses it.
        is_one_text: whether its lines are one text, as for a metric of noisy texts.
    """

    file_name: str
    text: str
    first: Callable[[], Any]
    is_one_text: bool = False

    @property
    def lines(self) -> list[str]:
        """The first three lines that are not blank; long lines are cut."""
        found = islice(_NOT_BLANK.finditer(self.text.removeprefix("\ufeff")), 3)
        return [match[0][:_LONGEST_LINE] for match in found]

    @property
    def first_line(self) -> str:
        return next(iter(self.lines), "")

    @property
    def is_json(self) -> bool:
        """Whether the file begins as JSON does, and not with a token and its tag."""
        line = self.first_line.split()
        return _IS_JSON.match(self.text) is not None and not is_tag(line[-1])


def begins_with(*marks: str) -> Callable[[Head], bool]:
    """Return whether one of the first three lines has one of these marks."""
    return lambda head: any(mark in line for mark in marks for line in head.lines)
