"""Hunks: the lines that differ between two parallel texts, and the lines in spans elsewhere.

Lines that differ may differ in their tags only; of the other lines only those in spans are decoded::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The *hunk* around it lies between the last line before it and the first line after it that are outside
every span on both sides: it is d and e. Outside the hunks both sides are equal, and only the runs of lines in spans
are decoded, here b. A line that is outside follows each hunk and each of these runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import compress, count
from operator import ne, not_
from typing import NamedTuple

from clueval.evaluation.lockstep.tag_runs import Rows
from clueval.formats.columns.layout import Layout
from clueval.textfiles import is_utf8

_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""


class Differences(NamedTuple):
    """Lines of two parallel texts: those in spans that are the same on both sides, and the hunks of each side."""

    same: Rows
    gold: Rows
    predicted: Rows


def is_plain(layout: Layout) -> bool:
    """Whether the token is in the first column, and the columns of all layers are adjacent."""
    columns = sorted(column for _, column in layout.layers)
    side_by_side = columns == list(range(columns[0], columns[0] + len(columns)))
    return layout.token == 0 and side_by_side


def _around(layout: Layout) -> tuple[int, int]:
    """The number of columns before the layers, and after them."""
    columns = [column for _, column in layout.layers]
    return min(columns), layout.width - 1 - max(columns)


def find_differences(
    gold: Sequence[bytes], predicted: Sequence[bytes], end: bytes, layout: Layout
) -> Differences | None:
    """The lines in spans of two lists of sentences, or of lines of a sentence (`end` is a line end).

    Those of gold are regular. None if they differ in more than tags.
    """
    gold_lines, predicted_lines, same = gold, predicted, list[bytes]()
    if end != b"\n":
        differs = list(map(ne, gold, predicted))
        gold_lines, predicted_lines = (
            end.join(compress(side, differs)).split(b"\n") for side in (gold, predicted)
        )
        same = list(compress(gold, map(not_, differs)))
    if len(gold_lines) != len(predicted_lines):
        return None
    gold_hunks, predicted_hunks, agreed = _hunks(gold_lines, predicted_lines, layout)
    rows = _parallel_rows(gold_hunks, predicted_hunks, layout)
    if rows is None:
        return None
    inside = _inside(b"\n".join([end.join(same), b"", *agreed, b""]), layout)
    return Differences(Rows.of(inside, layout), *rows)


def _hunks(
    gold: Sequence[bytes], predicted: Sequence[bytes], layout: Layout
) -> tuple[bytes, bytes, list[bytes]]:
    """The hunks of each side, and the lines outside them, of two lists of lines of the same length."""
    is_outside = outside_test(layout)
    border = layout.border.encode()[:-1]
    hunks: tuple[list[bytes], list[bytes]] = ([b""], [b""])
    agreed: list[bytes] = []
    done, lines = 0, len(gold)  # `done` is the line after the last hunk
    for number in compress(count(), map(ne, gold, predicted)):
        if number < done:
            continue
        start, stop = number, number + 1
        while start > done and not is_outside(gold[start - 1]):  # the lines before are the same on both sides
            start -= 1
        while stop < lines and not (is_outside(gold[stop]) and is_outside(predicted[stop])):
            stop += 1
        agreed += gold[done:start]
        agreed.append(b"")
        for hunk, side in zip(hunks, (gold, predicted), strict=True):
            hunk[-1:] = side[start:stop]
            hunk += (border, b"")
        done = stop
    agreed += gold[done:]
    return b"\n".join(hunks[0]), b"\n".join(hunks[1]), agreed


def outside_test(layout: Layout) -> Callable[[bytes], bool]:
    """A function that returns whether a line is outside every span, or no token line."""
    separator, layers, (before, after) = layout.separator.encode(), len(layout.layers), _around(layout)
    if after:
        tags = [[b"O"] * layers, []]
        return lambda line: line.split(separator)[before : before + layers] in tags
    end = (separator + b"O") * layers
    return lambda line: line.endswith(end) or separator not in line


def _parallel_rows(gold: bytes, predicted: bytes, layout: Layout) -> tuple[Rows, Rows] | None:
    """The rows of two texts; None unless all are token lines with the same tokens and token ids on both sides."""
    if b"\r" in predicted or b"\0" in predicted or not is_utf8(predicted):
        return None
    if not (fits(gold, layout) and fits(predicted, layout)):
        return None
    sides = Rows.of(gold, layout), Rows.of(predicted, layout)
    columns = [layout.token] if layout.token_id is None else [layout.token, layout.token_id]
    return sides if all(sides[0].column(each) == sides[1].column(each) for each in columns) else None


def fits(text: bytes, layout: Layout) -> bool:
    """Whether every line has the layout's number of fields and a token in the first one."""
    separator = layout.separator.encode()
    skeleton = text.translate(None, _FIELDS[layout.separator])
    line = separator * (layout.width - 1) + b"\n"
    fit = skeleton == line * (len(skeleton) // layout.width) and not text.startswith(separator)
    return fit and b"\n" + separator not in text


def _inside(text: bytes, layout: Layout) -> bytes:
    """The runs of lines in spans, each without its first token."""
    before, after = _around(layout)
    layers = len(layout.layers)
    if before <= layers > 1 and not after:  # removing the tags outside spans first makes the search cheaper
        text = text.replace((layout.separator.encode() + b"O") * layers + b"\n", b"\n")
    runs = _runs(layout.separator, before, layers, after).findall(text)
    start = layout.separator.join(["O"] * before).encode()
    border = layout.border.encode()
    return start + (border + start).join(runs) + border if runs else b""


@lru_cache
def _runs(separator: str, before: int, layers: int, after: int) -> re.Pattern[bytes]:
    """A pattern for a run of lines in spans, from the separator before the tags of its first line.

    `before`, `layers` and `after` are the numbers of columns before the tags, of tags, and after them. The pattern
    begins with a separator, which is found fast, then has tags that are not all O, and the columns after them.
    """
    field = rf"[^{separator}\n]*+"
    more, rest = f"{separator}{field}" * (layers - 1), f"{separator}{field}" * after + "\n"
    tags = f"(?!O{f'{separator}O' * (layers - 1)}{rest}){field}{more}{rest}"
    return re.compile(f"{separator}{tags}(?:{f'{field}{separator}' * before}{tags})*+".encode())
