"""Rows of tags as text: one character for each different row, and a blank for a row of O, so that text can be split."""

from __future__ import annotations

from clueval.tagging.schemes import OUTSIDE

Row = tuple[int | str, ...]
"""The tags of a token in several layers, after `leading` other values."""


class RowCharacters(dict[Row, str]):
    """The character of each row, which is made when it is looked up first; `rows` are the rows by character.

    >>> characters = RowCharacters(2)
    >>> text = "".join(map(characters.__getitem__, [("B-PER", "O"), ("O", "O"), ("B-PER", "O")]))
    >>> text[1], text[0] == text[2], characters.rows[text[0]]
    (' ', True, ('B-PER', 'O'))
    """

    def __init__(self, columns: int, leading: tuple[int, ...] = ()) -> None:
        self._outside, self._from = (OUTSIDE,) * columns, len(leading)
        self.rows: dict[str, Row] = {" ": (*leading, *self._outside)}

    def __missing__(self, row: Row) -> str:
        if row[self._from :] == self._outside:
            character = " "
        else:
            number = len(self.rows) + 0x3000  # no white space follows this one
            character = chr(number if number < 0xD800 else number + 0x800)  # no surrogates
        self[row] = character
        self.rows.setdefault(character, row)
        return character
