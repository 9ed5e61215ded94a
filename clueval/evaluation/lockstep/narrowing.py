"""Leaving out, before anything is taken apart, what cannot make a difference.

Most lines of a corpus are outside every span, and most lines of a good system's output equal gold's. Where the
tags are the last columns of a line, a line outside every span is known by its end, and both can be passed over
with a few operations on whole texts. What is left decodes to the same spans: between two spans that were apart
stays a line that is outside.

An example to follow by hand, columns token and tag, lines written ``token/tag``::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The hunk around it runs from the last line before it that is outside on both sides to the next
one: d and e. Outside the hunk, gold stands for both sides, and of it only b matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import compress, count
from operator import ne
from typing import NamedTuple

from clueval.formats.columns.columns import after_lines
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.sizes import SIZES

_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""Of each separator, every byte but it and the line end."""


class Hunks(NamedTuple):
    """Two parallel texts narrowed: the lines that differ with what hangs on them, and those that do not."""

    gold: str
    predicted: str
    agreed: str


def is_narrowable(layout: Layout) -> bool:
    """Whether the token comes first, the tags of all layers last, and there are no token ids to be checked."""
    last = range(layout.width - len(layout.layers), layout.width)
    return (
        layout.token == 0
        and layout.token_id is None
        and sorted(column for _, column in layout.layers) == list(last)
    )


def require_fit(text: str, layout: Layout) -> None:
    """Raise `ValueError` unless every line has the layout's number of fields and a token."""
    if not fits(text.encode(), layout):
        raise ValueError


def fits(text: bytes, layout: Layout) -> bool:
    """Whether every line has the layout's number of fields and a token."""
    separator = layout.separator.encode()
    skeleton = text.translate(None, _FIELDS[layout.separator])
    line = separator * (layout.width - 1) + b"\n"
    fit = skeleton == line * (len(skeleton) // layout.width) and not text.startswith(separator)
    return fit and b"\n" + separator not in text


def outside(layout: Layout) -> str:
    """The end of a line that is outside every span of every layer."""
    return (layout.separator + "O") * len(layout.layers)


def without_outside(text: str, layout: Layout) -> str:
    """The lines that are in spans, without the first token of each run of them, and a border after each run."""
    before = layout.width - len(layout.layers)
    runs = _runs(runs_pattern(layout.separator, before, len(layout.layers), 0)).findall(text)
    start = layout.separator.join(["O"] * before)
    return start + f"{layout.border}{start}".join(runs) + layout.border if runs else ""


@lru_cache
def _runs(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def runs_pattern(separator: str, before: int, layers: int, behind: int) -> str:
    """Finds the runs of lines in spans, each from before the tags of its first line on.

    There are so many columns before the tags, of tags, and behind them. The search looks for a separator, which
    is fast, then for tags that are not all O, and as many columns behind them as there must be.
    """
    field = rf"[^{separator}\n]*+"
    more, rest = f"{separator}{field}" * (layers - 1), f"{separator}{field}" * behind + "\n"
    tags = f"(?!O{f'{separator}O' * (layers - 1)}{rest}){field}{more}{rest}"
    return f"{separator}{tags}(?:{f'{field}{separator}' * before}{tags})*+"


def pieces(
    sentence: tuple[str, ...], layout: Layout, characters: int = SIZES.characters
) -> Iterator[tuple[str, ...]]:
    """One long sentence, cut on all sides after lines that are outside every span on all of them."""
    end = outside(layout) + "\n"
    gold = sentence[0]
    start = [0] * len(sentence)
    while start[0] < len(gold):
        place, reach, is_outside = start, start[0] + characters, False
        while not is_outside:
            reach = gold.find(end, reach) + len(end)
            if reach < len(end):
                place = [len(text) for text in sentence]
                break
            lines = gold.count(
                "\n", place[0], reach
            )  # from the place before, so that each line is counted once
            place = [after_lines(text, before, lines) for text, before in zip(sentence, place, strict=True)]
            is_outside = all(text.endswith(end, 0, here) for text, here in zip(sentence, place, strict=True))
        yield tuple(text[a:b] for text, a, b in zip(sentence, start, place, strict=True))
        start = place


def narrowed(gold: str, predicted: str, layout: Layout) -> Hunks:
    """Two texts with the same number of lines, narrowed. A border line follows each hunk."""
    own, other = gold[:-1].split("\n"), predicted[:-1].split("\n")
    end = outside(layout)
    hunks: tuple[list[str], list[str]] = ([], [])
    agreed: list[str] = []
    border = layout.border[:-1]
    done = 0  # the line after the last hunk
    for number in compress(count(), map(ne, own, other)):
        if number < done:
            continue
        start, stop = number, number + 1
        while start > done and not own[start - 1].endswith(end):
            start -= 1
        while stop < len(own) and not (own[stop].endswith(end) and own[stop] == other[stop]):
            stop += 1
        agreed += own[done:start]
        for lines, hunk in zip((own, other), hunks, strict=True):
            hunk += lines[start:stop]
            hunk.append(border)
        done = stop
    agreed += own[done:]
    return Hunks(_text(hunks[0]), _text(hunks[1]), _text(agreed))


def _text(lines: list[str]) -> str:
    return "\n".join([*lines, ""])
