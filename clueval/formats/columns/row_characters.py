"""Rows of tags as text: one character for each different row, and a blank for a row of O, so that text can be split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clueval.exceptions import FormatError
from clueval.tagging.schemes import OUTSIDE

Row = tuple[int | str, ...]
"""The tags of a token in several layers, after `leading` other values."""

FIRST = 0x3000
"""The first character; no white space follows it."""

MOST = 0x110000 - 0x800 - FIRST
"""The number of characters from `FIRST` on that are no surrogates."""


class RowCharacters(dict[Row, str]):
    """The character of each row, which is made when it is looked up first; `rows` are the rows by character.

    Raises `FormatError` if there are more than `MOST` different rows.

    >>> characters = RowCharacters(2)
    >>> text = "".join(map(characters.__getitem__, [("B-PER", "O"), ("O", "O"), ("B-PER", "O")]))
    >>> text[1], text[0] == text[2], characters.rows[text[0]]
    (' ', True, ('B-PER', 'O'))
    """

    def __init__(
        self, columns: int, leading: tuple[int, ...] = (), check: Callable[[Any], object] | None = None
    ) -> None:
        self._check = check  # is called with each tag of a new row
        self._outside, self._from = (OUTSIDE,) * columns, len(leading)
        self.rows: dict[str, Row] = {" ": (*leading, *self._outside)}

    def __missing__(self, row: Row) -> str:
        if self._check is not None:
            for tag in row[self._from :]:
                self._check(tag)
        if row[self._from :] == self._outside:
            character = " "
        else:
            if len(self.rows) == MOST:
                raise FormatError(
                    f"a sentence has more than {MOST - 1:,} different combinations of tags",
                    advice="shorten it",
                )
            number = len(self.rows) + FIRST
            character = chr(number if number < 0xD800 else number + 0x800)  # no surrogates
        self[row] = character
        self.rows.setdefault(character, row)
        return character


class SameTags(dict[str, str]):
    """The character of each tag that both sides have, where there is one layer."""

    def __init__(self, characters: RowCharacters) -> None:
        self._characters = characters

    def __missing__(self, tag: str) -> str:
        character = self[tag] = self._characters[1, tag, tag]
        return character
