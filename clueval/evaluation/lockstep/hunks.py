"""Hunks: the lines that differ between two parallel texts, and the lines in spans elsewhere.

Lines that differ may differ in their tags only; of the other lines only those in spans are decoded::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The *hunk* around it ends where no span, of either side, goes on from one line to the next: it is d
and e. Outside the hunks both sides are equal, and only the runs of lines in spans are decoded, here b. If many lines
differ, finding hunks costs more than it saves: then all lines are decoded and cut wherever no span crosses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress, count, repeat
from operator import ne, not_
from typing import NamedTuple

from clueval.evaluation.lockstep.narrowing import fits, runs_pattern
from clueval.evaluation.lockstep.tag_runs import BORDER, Rows, TagRuns, Touching
from clueval.formats.columns.layout import Layout
from clueval.tagging.schemes import OUTSIDE, continues
from clueval.tagging.transitions import Pairs
from clueval.textfiles import is_utf8

APART, TOUCHING, CROSSING = 0, 1, 3
"""Relation of adjacent lines: no span touches, one ends where the next begins, or one goes on.

The relation in both sides together is the bitwise or of the relations in each side.
"""

DENSE = 3
"""If more than 1/DENSE of the lines differ, all lines are decoded instead of searching for hunks."""


def is_plain(layout: Layout) -> bool:
    """Whether the token is in the first column, and the columns of all layers are adjacent."""
    columns = sorted(column for _, column in layout.layers)
    side_by_side = columns == list(range(columns[0], columns[0] + len(columns)))
    return layout.token == 0 and side_by_side


def _before(layout: Layout) -> int:
    """The number of columns before the layers."""
    return min(column for _, column in layout.layers)


def _after(layout: Layout) -> int:
    """The number of columns after the layers."""
    return layout.width - 1 - max(column for _, column in layout.layers)


def find_differences(
    gold: Sequence[bytes],
    predicted: Sequence[bytes],
    end: bytes,
    layout: Layout,
    tag_runs: TagRuns,
    relations: Relations | None = None,
) -> bool:
    """Add the tag runs of two lists of sentences, or of lines of a sentence; those of gold are regular.

    `relations` are those of this layout, if they are to be computed once for several calls. Returns False, and adds
    nothing, if they differ in more than tags.
    """
    gold_lines, predicted_lines, same = gold, predicted, list[bytes]()
    if end != b"\n":
        differs = list(map(ne, gold, predicted))
        gold_lines, predicted_lines = (
            end.join(compress(side, differs)).split(b"\n") for side in (gold, predicted)
        )
        same = list(compress(gold, map(not_, differs)))
    if len(gold_lines) != len(predicted_lines):
        return False
    relations = Relations(layout) if relations is None else relations
    differ = list(map(ne, gold_lines, predicted_lines))
    agreed: list[bytes] = []
    is_added = False
    if DENSE * sum(differ) > len(gold_lines) and len(layout.layers) == 1:
        join = _without_structure if end == b"\n" else _with_borders
        rows = join(gold_lines, predicted_lines, layout)
        if rows is None:
            return False
        is_added = _add_cells(*rows, layout, tag_runs, relations)
    if not is_added:
        hunks = _hunks(gold_lines, predicted_lines, compress(count(), differ), layout, relations)
        rows = _parallel_rows(hunks.gold, hunks.predicted, layout)
        if rows is None:
            return False
        tag_runs.add_disputed(*rows)
        tag_runs.add_touching(hunks.touching)
        agreed = hunks.agreed
    inside = _inside(b"\n".join([end.join(same), b"", *agreed, b""]), layout)
    tag_runs.add_same(Rows.of(inside, layout))
    return True


def _without_structure(
    gold: Sequence[bytes], predicted: Sequence[bytes], layout: Layout
) -> tuple[Rows, Rows] | None:
    """The rows of token lines; None if they differ in more than tags."""
    return _parallel_rows(b"\n".join([*gold, b""]), b"\n".join([*predicted, b""]), layout)


def _with_borders(
    gold: Sequence[bytes], predicted: Sequence[bytes], layout: Layout
) -> tuple[Rows, Rows] | None:
    """The rows of lines, with `BORDER` for lines that are no token lines; None if they differ in more than tags."""
    separator, border, width = layout.separator.encode(), _border(layout), layout.width
    counts = [list(map(bytes.count, lines, repeat(separator))) for lines in (gold, predicted)]
    if counts[0] != counts[1]:
        return None
    structure: list[list[bytes]] = []
    flat: list[list[bytes]] = []
    for lines in (gold, predicted):
        structure.append(list(compress(lines, map(not_, counts[0]))))
        rows = [line if fields else border for line, fields in zip(lines, counts[0], strict=True)]
        flat.append(separator.join(rows).split(separator))
    if structure[0] != structure[1] or not _have_same_text(flat[0], flat[1], layout):
        return None
    tags = b"".join(flat[1][_before(layout) :: width])
    if b"\r" in tags or tags.count(b"\0") != len(structure[1]) or not is_utf8(tags):
        return None
    return Rows(flat[0], len(tags)), Rows(flat[1], len(tags))


def _add_cells(gold: Rows, predicted: Rows, layout: Layout, tag_runs: TagRuns, relations: Relations) -> bool:
    """Add all rows of one layer, cut wherever no span crosses; False if there are more than `MOST_TAGS` tags."""
    columns = [rows.fields[_before(layout) :: layout.width] for rows in (gold, predicted)]
    numbers = tag_runs.numbers
    sides_numbered = [list(map(numbers.__getitem__, tags)) for tags in columns]
    if len(numbers) > MOST_TAGS:
        return False
    numbered = [bytes(side) for side in sides_numbered]
    names = list(numbers)
    sides = []
    for side in numbered:
        pairs = Pairs(side, len(names))
        sides.append(pairs.each(lambda before, here: relations[names[before], names[here]]))
    found = _either(*sides)
    where = found.translate(_TOUCHES)
    touching = Counter(
        zip(*(compress(side[offset:], where) for side in numbered for offset in (0, 1)), strict=True)
    )
    tag_runs.add_touching(
        {(names[a], names[b], names[c], names[d]): times for (a, b, c, d), times in touching.items()}
    )
    tag_runs.add_cells(*(_cells(side, found.translate(_CUTS)) for side in numbered))
    return True


_JOIN, _CUT = b"\xfe", b"\xff"
"""Bytes between the numbers of two tags: a span crosses, or none does."""

MOST_TAGS = _JOIN[0]
"""The number of different tags that a byte can number, besides `_JOIN` and `_CUT`."""

_TOUCHES = bytes(found == TOUCHING for found in range(256))
_CUTS = bytes(_JOIN[0] if found == CROSSING else _CUT[0] for found in range(256))


def _cells(numbered: bytes, between: bytes) -> list[bytes]:
    """Numbers of tags, cut wherever `between` has `_CUT`.

    >>> _cells(b"abc", _JOIN + _CUT)
    [b'ab', b'c']
    """
    woven = bytearray(2 * len(numbered))
    woven[::2] = numbered
    woven[1::2] = between + _JOIN
    return bytes(woven).translate(None, _JOIN).split(_CUT)


def _either(gold: bytes, predicted: bytes) -> bytes:
    """The bitwise or of two byte strings of the same length.

    >>> list(_either(bytes([1, 0, 1]), bytes([0, 0, 3])))
    [1, 0, 3]
    """
    return (int.from_bytes(gold) | int.from_bytes(predicted)).to_bytes(len(gold))


class _Hunks(NamedTuple):
    """Two parallel texts narrowed: the hunks of each side, and the lines outside them."""

    gold: bytes
    predicted: bytes
    agreed: list[bytes]
    touching: list[Touching]


def _hunks(
    gold: Sequence[bytes],
    predicted: Sequence[bytes],
    differing: Iterable[int],
    layout: Layout,
    relations: Relations,
) -> _Hunks:
    """Two lists of lines of the same length, narrowed around `differing`. A line of `BORDER` follows each hunk."""
    tags_of = tags_in(layout)
    outside = b"\n" if _after(layout) else (layout.separator.encode() + b"O") * len(layout.layers)
    border = _border(layout)
    gold_hunks: list[bytes] = []
    predicted_hunks: list[bytes] = []
    agreed: list[bytes] = []
    touching: list[Touching] = []
    done, lines = 0, len(gold)  # `done` is the line after the last hunk
    for number in differing:
        if number < done:
            continue
        start, stop = number, number + 1
        gold_first, predicted_first = gold_last, predicted_last = (
            tags_of(gold[number]),
            tags_of(predicted[number]),
        )
        while start > done and not (gold_line := gold[start - 1]).endswith(outside):
            before = tags_of(gold_line)  # of both sides: the line is before the first that differs
            found = relations[before, gold_first] | relations[before, predicted_first]
            if found != CROSSING:
                if found == TOUCHING:
                    touching.append((before, gold_first, before, predicted_first))
                break
            gold_first = predicted_first = before
            start -= 1
        while stop < lines:
            gold_line, predicted_line = gold[stop], predicted[stop]
            if gold_line.endswith(outside) and predicted_line.endswith(outside):
                break
            gold_after, predicted_after = tags_of(gold_line), tags_of(predicted_line)
            found = relations[gold_last, gold_after] | relations[predicted_last, predicted_after]
            if found != CROSSING:
                if found == TOUCHING:
                    touching.append((gold_last, gold_after, predicted_last, predicted_after))
                break
            gold_last, predicted_last = gold_after, predicted_after
            stop += 1
        agreed += gold[done:start]
        agreed.append(b"")
        gold_hunks += gold[start:stop]
        gold_hunks.append(border)
        predicted_hunks += predicted[start:stop]
        predicted_hunks.append(border)
        done = stop
    agreed += gold[done:]
    return _Hunks(_text(gold_hunks), _text(predicted_hunks), agreed, touching)


class Relations(dict[tuple[bytes, bytes], int]):
    """The relation of two adjacent lines, `APART`, `TOUCHING` or `CROSSING`, by their tags."""

    def __init__(self, layout: Layout) -> None:
        self._separator = layout.separator
        outside = layout.separator.encode().join([b"O"] * len(layout.layers))
        self._apart = frozenset((b"", BORDER, outside))

    def __missing__(self, pair: tuple[bytes, bytes]) -> int:
        self[pair] = found = self._relation(*pair)
        return found

    def _relation(self, before: bytes, here: bytes) -> int:
        if not self._apart.isdisjoint((before, here)):
            return APART
        try:
            tags = (side.decode().split(self._separator) for side in (before, here))
            crossing = any(OUTSIDE not in pair and continues(*pair) for pair in zip(*tags, strict=True))
        except ValueError:  # other numbers of tags, or not UTF-8: reading the lines raises the error
            return CROSSING
        return CROSSING if crossing else TOUCHING


def tags_in(layout: Layout) -> Callable[[bytes], bytes]:
    """A function that returns the tags of a token line, with their separators, and nothing for other lines."""
    separator, layers, after = layout.separator.encode(), len(layout.layers), _after(layout)
    if layers == 1 and not after:
        return lambda line: parts[2] if (parts := line.rpartition(separator))[1] else b""
    before = _before(layout)
    if before == 1 and not after:
        return lambda line: line.partition(separator)[2]
    return lambda line: separator.join(line.split(separator)[before : before + layers])


def _text(lines: list[bytes]) -> bytes:
    return b"\n".join([*lines, b""]) if lines else b""


def extend(gold: Sequence[bytes], predicted: Sequence[bytes], layout: Layout, tag_runs: TagRuns) -> bool:
    """Add lines, those of gold regular, to the open tag run.

    Returns False, and adds nothing, if they differ in more than tags.
    """
    gold_text, predicted_text = (b"\n".join([*lines, b""]) for lines in (gold, predicted))
    rows = _parallel_rows(gold_text, predicted_text, layout)
    if rows is None:
        return False
    tag_runs.extend(*rows)
    return True


def _parallel_rows(gold: bytes, predicted: bytes, layout: Layout) -> tuple[Rows, Rows] | None:
    """The rows of two texts, if all lines are token lines with the same tokens on both sides, else None."""
    if b"\r" in predicted or predicted.count(b"\0") != gold.count(b"\0") or not is_utf8(predicted):
        return None
    if not (fits(gold, layout) and fits(predicted, layout)):
        return None
    gold_rows, predicted_rows = (Rows.of(text, layout) for text in (gold, predicted))
    return (
        (gold_rows, predicted_rows)
        if _have_same_text(gold_rows.fields, predicted_rows.fields, layout)
        else None
    )


def _have_same_text(gold: Sequence[bytes], predicted: Sequence[bytes], layout: Layout) -> bool:
    """Whether the fields of two lists of rows have the same tokens, and the same token ids if there are any."""
    columns = [layout.token] if layout.token_id is None else [layout.token, layout.token_id]
    return all(gold[column :: layout.width] == predicted[column :: layout.width] for column in columns)


def _border(layout: Layout) -> bytes:
    """A line with `BORDER` in all layers, without its line end."""
    columns = {column for _, column in layout.layers}
    fields = [BORDER if column in columns else b"O" for column in range(layout.width)]
    return layout.separator.encode().join(fields)


def _inside(text: bytes, layout: Layout) -> bytes:
    """The runs of lines in spans, each without its first token and with a line of `BORDER` after it."""
    before, layers, after = _before(layout), len(layout.layers), _after(layout)
    if layers > 1 and not after:  # removing the tags outside spans first makes the search cheaper
        text = text.replace((layout.separator.encode() + b"O") * layers + b"\n", b"\n")
    runs = _runs(layout.separator, before, layers, after).findall(text)
    if not runs:
        return b""
    start = layout.separator.join(["O"] * before).encode()
    border = _border(layout) + b"\n"
    return start + (border + start).join(runs) + border


@lru_cache
def _runs(separator: str, before: int, layers: int, after: int) -> re.Pattern[bytes]:
    return re.compile(runs_pattern(separator, before, layers, after).encode())
