"""Recognising formats: the signs by which a format is recognised, and the beginning of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from clueval.tagging.schemes import is_tag

_LONGEST = 2000
"""The number of characters of a first line that are read."""

_JSON = r'(?s)"((?>(?:[^"\\]|\\.)*))"(\s*+:)?|([{\[])|([}\]])|\\.'
"""A JSON string, which is a key if a colon follows, or a bracket. An escape outside a string is skipped."""


class Beginning:
    """The name of a file and the first block of its text; `whole_text`: whether its lines are one text."""

    def __init__(self, file_name: str, text: str, whole_text: bool = False) -> None:
        self.file_name = file_name
        self.text = text
        self.whole_text = whole_text

    @property
    def ending(self) -> str:
        """The ending of the file name before ``.gz``, including its dot."""
        _, dot, ending = self.file_name.removesuffix(".gz").rpartition(".")
        return dot + ending if dot else ""

    @cached_property
    def lines(self) -> list[str]:
        """The first three lines that are not blank; long lines are cut."""
        lines = (line[:_LONGEST] for line in self.text[:100_000].split("\n"))
        return list(islice(filter(str.strip, lines), 3))

    @property
    def first_line(self) -> str:
        return self.lines[0] if self.lines else ""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of the first JSON object (the value itself or the first in an array) within `text`.

        >>> sorted(Beginning("a.json", '[{"text": "a", "spans": [{"start": 0}]}, {"b": 1}]').keys)
        ['spans', 'text']
        """
        text = self.text.lstrip("\ufeff \t\r\n")
        if not text.startswith(("{", "[")):
            return frozenset()
        keys: set[str] = set()
        depth, wanted = 0, 1 if text[0] == "{" else 2
        for match in re.finditer(_JSON, text):
            string, colon, opening, closing = match.groups("")
            depth += bool(opening) - bool(closing)
            if colon and depth == wanted:
                keys.add(string)
            elif closing and depth < wanted:
                break
        return frozenset(keys)


def is_csv(line: str) -> bool:
    """Return whether a first line has values that are separated by commas or semicolons, and no tag.

    >>> [is_csv(line) for line in ("Sentence #,Word,POS,Tag", '"id";"text"', "a,b B-X", ", ,")]
    [True, True, False, False]
    """
    fields = line.split()
    return bool(
        fields
        and line[0] != "#"
        and not {"\t", "\r"} & {*line}
        and len(line) < _LONGEST  # a longer line is cut
        and re.search(r"\w\"?[,;]\"?\w", fields[-1])
        and not any(map(is_tag, fields))
    )


class Sign(NamedTuple):
    """A sign by which a format is recognised: its description, and a test of the beginning of a file."""

    says: str
    holds: Callable[[Beginning], bool]


def first_lines(*words: str) -> Sign:
    """Return the sign that one of these words is in the first three lines that are not blank."""
    return Sign(
        either(words), lambda beginning: any(word in line for word in words for line in beginning.lines)
    )


def json_key(*keys: str) -> Sign:
    """Return the sign that the first JSON object has one of these keys."""
    return Sign(f"JSON with {either(keys)}", lambda beginning: not beginning.keys.isdisjoint(keys))


def json_keys(*keys: str) -> Sign:
    """Return the sign that the first JSON object has all of these keys."""
    return Sign(
        f"JSON with {' and '.join(f'`{key}`' for key in keys)}", lambda beginning: beginning.keys >= {*keys}
    )


def either(words: tuple[str, ...]) -> str:
    """Return the words as code, joined by "or"."""
    return " or ".join(f"`{word}`" for word in words)
