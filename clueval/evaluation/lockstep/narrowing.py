"""Narrowing: omits lines before decoding that cannot change the counts.

Most lines of a corpus are outside every span, and most predicted lines equal the gold lines. If the tags are the
last columns, a line outside every span is recognised by its end, and both kinds of lines are omitted with a few
operations on whole texts. The remaining lines decode to the same spans, because a line outside every span remains
between two spans that do not touch.

An example to follow by hand, columns token and tag, lines written ``token/tag``::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The hunk around it lies between the last line before it and the first line after it that are outside
on both sides: it is d and e. Outside the hunk both sides are equal, and only b is in a span.
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
"""All bytes except the separator and the line end, by separator."""


class Hunks(NamedTuple):
    """Two parallel texts narrowed: the hunks of each side, and the lines outside them."""

    gold: str
    predicted: str
    agreed: str


def is_narrowable(layout: Layout) -> bool:
    """Whether the token is in the first column, all layers are in the last columns, and there are no token ids."""
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
    """The runs of lines in spans, each without its first token and with a border after it."""
    before = layout.width - len(layout.layers)
    runs = _runs(runs_pattern(layout.separator, before, len(layout.layers), 0)).findall(text)
    start = layout.separator.join(["O"] * before)
    return start + f"{layout.border}{start}".join(runs) + layout.border if runs else ""


@lru_cache
def _runs(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def runs_pattern(separator: str, before: int, layers: int, after: int) -> str:
    """A pattern for a run of lines in spans, from the separator before the tags of its first line.

    `before`, `layers` and `after` are the numbers of columns before the tags, of tags, and after them. The pattern
    begins with a separator, which is found fast, then has tags that are not all O, and the columns after them.
    """
    field = rf"[^{separator}\n]*+"
    more, rest = f"{separator}{field}" * (layers - 1), f"{separator}{field}" * after + "\n"
    tags = f"(?!O{f'{separator}O' * (layers - 1)}{rest}){field}{more}{rest}"
    return f"{separator}{tags}(?:{f'{field}{separator}' * before}{tags})*+"


def pieces(
    sentence: tuple[str, ...], layout: Layout, characters: int = SIZES.characters
) -> Iterator[tuple[str, ...]]:
    """The sides of a long sentence, cut after lines that are outside every span on all sides."""
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
            lines = gold.count("\n", place[0], reach)
            place = [after_lines(text, before, lines) for text, before in zip(sentence, place, strict=True)]
            is_outside = all(text.endswith(end, 0, here) for text, here in zip(sentence, place, strict=True))
        yield tuple(text[a:b] for text, a, b in zip(sentence, start, place, strict=True))
        start = place


def narrowed(gold: str, predicted: str, layout: Layout) -> Hunks:
    """Narrow two texts with the same number of lines. A border line follows each hunk."""
    gold_lines, predicted_lines = gold[:-1].split("\n"), predicted[:-1].split("\n")
    end = outside(layout)
    hunks: tuple[list[str], list[str]] = ([], [])
    agreed: list[str] = []
    border = layout.border[:-1]
    done = 0  # the line after the last hunk
    for number in compress(count(), map(ne, gold_lines, predicted_lines)):
        if number < done:
            continue
        start, stop = number, number + 1
        while start > done and not gold_lines[start - 1].endswith(end):
            start -= 1
        while stop < len(gold_lines) and not (
            gold_lines[stop].endswith(end) and gold_lines[stop] == predicted_lines[stop]
        ):
            stop += 1
        agreed += gold_lines[done:start]
        for lines, hunk in zip((gold_lines, predicted_lines), hunks, strict=True):
            hunk += lines[start:stop]
            hunk.append(border)
        done = stop
    agreed += gold_lines[done:]
    return Hunks(_text(hunks[0]), _text(hunks[1]), _text(agreed))


def _text(lines: list[str]) -> str:
    return "\n".join([*lines, ""])
