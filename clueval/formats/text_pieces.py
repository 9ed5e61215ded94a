"""Pieces that make up a whole text: a text becomes words, single marks and white space; tokens become a text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import pairwise

_PIECE = re.compile(r"\w+|[^\w\s]|\s+")


def pieces_of(text: str, cuts: Collection[int] = ()) -> tuple[list[str], list[bool]]:
    """Return pieces that make up the whole text, and whether a single blank follows each.

    The pieces are words, single marks and other white space; no piece crosses a position of `cuts`.

    >>> pieces_of("Ada (36), Ulm", {1})
    (['A', 'da', '(', '36', ')', ',', 'Ulm'], [False, True, False, False, False, True, False])
    """
    ordered = sorted(cuts)
    words: list[str] = []
    spaces: list[bool] = []
    for match in _PIECE.finditer(text):
        within = ordered[bisect_right(ordered, match.start()) : bisect_left(ordered, match.end())]
        for start, end in pairwise(dict.fromkeys([match.start(), *within, match.end()])):
            if text[start:end] == " " and words and not spaces[-1] and not words[-1].isspace():
                spaces[-1] = True
            else:
                words.append(text[start:end])
                spaces.append(False)
    return words, spaces


def joined(tokens: Sequence[str], spaces: Sequence[str]) -> str | None:
    """Return the text of tokens, given what follows each: a blank or nothing; None if a blank follows all.

    >>> joined(["Ada", "."], ["", " "])
    'Ada.'
    """
    if "" not in spaces:
        return None
    return "".join(map("".join, zip(tokens, spaces, strict=True))).removesuffix(" ")
