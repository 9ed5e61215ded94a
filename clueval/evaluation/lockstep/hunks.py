"""Hunks: where two parallel texts differ, and what is in spans elsewhere.

Pieces that are the same bytes on both sides need no other look. Of the others, lines that differ must differ in
their tags only, and of the lines around them only those in spans matter::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The *hunk* around it is cut where no span, of either side, goes on from one line to the next: it is
d and e. Outside the hunks gold stands for both sides, and of it only the runs of lines in spans are taken apart,
here b. Where a good part of the lines differs, finding hunks costs more than it saves: then all lines are taken
apart and cut wherever no span crosses.
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

What holds of either side holds of both, and these numbers are such that it is their bitwise or.
"""

DENSE = 3
"""If more than 1/DENSE of the lines differ, all are taken apart instead of searching for hunks."""


def is_plain(layout: Layout) -> bool:
    """Whether the token comes first, and all layers stand side by side."""
    columns = sorted(column for _, column in layout.layers)
    side_by_side = columns == list(range(columns[0], columns[0] + len(columns)))
    return layout.token == 0 and side_by_side


def _before(layout: Layout) -> int:
    """How many columns stand before the layers."""
    return min(column for _, column in layout.layers)


def _behind(layout: Layout) -> int:
    """How many columns stand behind the layers."""
    return layout.width - 1 - max(column for _, column in layout.layers)


def find_differences(
    own: Sequence[bytes], other: Sequence[bytes], end: bytes, layout: Layout, tag_runs: TagRuns
) -> bool:
    """Add the tag runs of two lists of sentences, or of lines of one, those of gold regular.

    False, and nothing is added, if they differ in more than tags.
    """
    lines, other_lines, same = own, other, list[bytes]()
    if end != b"\n":
        differs = list(map(ne, own, other))
        lines, other_lines = (end.join(compress(side, differs)).split(b"\n") for side in (own, other))
        same = list(compress(own, map(not_, differs)))
    if len(lines) != len(other_lines):
        return False
    differ = list(map(ne, lines, other_lines))
    agreed: list[bytes] = []
    is_added = False
    if DENSE * sum(differ) > len(lines) and len(layout.layers) == 1:
        join = _without_structure if end == b"\n" else _with_borders
        rows = join(lines, other_lines, layout)
        if rows is None:
            return False
        is_added = _add_cells(*rows, layout, tag_runs)
    if not is_added:
        hunks = _hunks(lines, other_lines, compress(count(), differ), layout)
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
    own: Sequence[bytes], other: Sequence[bytes], layout: Layout
) -> tuple[Rows, Rows] | None:
    """The rows of lines without structure; None if they differ in more than tags."""
    return _parallel_rows(b"\n".join([*own, b""]), b"\n".join([*other, b""]), layout)


def _with_borders(own: Sequence[bytes], other: Sequence[bytes], layout: Layout) -> tuple[Rows, Rows] | None:
    """The rows of lines, of `BORDER` for those of structure; None if they differ in more than tags."""
    separator, border, width = layout.separator.encode(), _border(layout), layout.width
    counts = [list(map(bytes.count, lines, repeat(separator))) for lines in (own, other)]
    if counts[0] != counts[1]:
        return None
    structure: list[list[bytes]] = []
    flat: list[list[bytes]] = []
    for lines in (own, other):
        structure.append(list(compress(lines, map(not_, counts[0]))))
        rows = [line if fields else border for line, fields in zip(lines, counts[0], strict=True)]
        flat.append(separator.join(rows).split(separator))
    if structure[0] != structure[1] or not _have_same_text(flat[0], flat[1], layout):
        return None
    tags = b"".join(flat[1][_before(layout) :: width])
    if b"\r" in tags or tags.count(b"\0") != len(structure[1]) or not is_utf8(tags):
        return None
    return Rows(flat[0], len(tags)), Rows(flat[1], len(tags))


def _add_cells(gold: Rows, predicted: Rows, layout: Layout, tag_runs: TagRuns) -> bool:
    """Add all rows, of one layer, cut wherever no span crosses; False if there are too many different tags."""
    columns = [rows.fields[_before(layout) :: layout.width] for rows in (gold, predicted)]
    numbers = tag_runs.numbers
    sides_numbered = [list(map(numbers.__getitem__, tags)) for tags in columns]
    if len(numbers) > MOST_TAGS:
        return False
    numbered = [bytes(side) for side in sides_numbered]
    names, relations = list(numbers), Relations(layout)
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
MOST_TAGS = _JOIN[0]
"""So many different tags can be numbered apart from these two."""

_TOUCHES = bytes(found == TOUCHING for found in range(256))
_CUTS = bytes(_JOIN[0] if found == CROSSING else _CUT[0] for found in range(256))


def _cells(numbered: bytes, between: bytes) -> list[bytes]:
    """Numbers cut wherever `_CUT` stands between two.

    >>> _cells(b"abc", _JOIN + _CUT)
    [b'ab', b'c']
    """
    woven = bytearray(2 * len(numbered))
    woven[::2] = numbered
    woven[1::2] = between + _JOIN
    return bytes(woven).translate(None, _JOIN).split(_CUT)


def _either(own: bytes, other: bytes) -> bytes:
    """The bitwise or of two strings of as many bytes, a number each, many at once.

    >>> list(_either(bytes([1, 0, 1]), bytes([0, 0, 3])))
    [1, 0, 3]
    """
    return (int.from_bytes(own) | int.from_bytes(other)).to_bytes(len(own))


class _Hunks(NamedTuple):
    """Two parallel texts narrowed: what differs with all that hangs on it, and the lines that do not."""

    gold: bytes
    predicted: bytes
    agreed: list[bytes]
    touching: list[Touching]


def _hunks(own: Sequence[bytes], other: Sequence[bytes], differing: Iterable[int], layout: Layout) -> _Hunks:
    """Two lists of as many lines, narrowed around those that differ. A line of `BORDER` follows each hunk."""
    tags_of, relations = tags_in(layout), Relations(layout)
    outside = b"\n" if _behind(layout) else (layout.separator.encode() + b"O") * len(layout.layers)
    border = _border(layout)
    gold: list[bytes] = []
    predicted: list[bytes] = []
    agreed: list[bytes] = []
    touching: list[Touching] = []
    done, lines = 0, len(own)  # `done` is the line after the last hunk
    for number in differing:
        if number < done:
            continue
        start, stop = number, number + 1
        first, other_first = last, other_last = tags_of(own[number]), tags_of(other[number])
        while start > done and not (line := own[start - 1]).endswith(outside):
            before = tags_of(line)  # of both sides: the line is before the first that differs
            found = relations[before, first] | relations[before, other_first]
            if found != CROSSING:
                if found == TOUCHING:
                    touching.append((before, first, before, other_first))
                break
            first = other_first = before
            start -= 1
        while stop < lines:
            line, other_line = own[stop], other[stop]
            if line.endswith(outside) and other_line.endswith(outside):
                break
            after, other_after = tags_of(line), tags_of(other_line)
            found = relations[last, after] | relations[other_last, other_after]
            if found != CROSSING:
                if found == TOUCHING:
                    touching.append((last, after, other_last, other_after))
                break
            last, other_last = after, other_after
            stop += 1
        agreed += own[done:start]
        agreed.append(b"")
        gold += own[start:stop]
        gold.append(border)
        predicted += other[start:stop]
        predicted.append(border)
        done = stop
    agreed += own[done:]
    return _Hunks(_text(gold), _text(predicted), agreed, touching)


class Relations(dict[tuple[bytes, bytes], int]):
    """How two lines hang together, given their tags: a span may cross from one to the other, or spans touch."""

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
        except ValueError:  # no tags, not as many, not UTF-8: whoever reads the lines will say so
            return CROSSING
        return CROSSING if crossing else TOUCHING


def tags_in(layout: Layout) -> Callable[[bytes], bytes]:
    """Gives the tags of a token line, as they are written side by side, and of a line of structure nothing."""
    separator, layers, behind = layout.separator.encode(), len(layout.layers), _behind(layout)
    if layers == 1 and not behind:
        return lambda line: parts[2] if (parts := line.rpartition(separator))[1] else b""
    before = _before(layout)
    if before == 1 and not behind:
        return lambda line: line.partition(separator)[2]
    return lambda line: separator.join(line.split(separator)[before : before + layers])


def _text(lines: list[bytes]) -> bytes:
    return b"\n".join([*lines, b""]) if lines else b""


def extend(own: Sequence[bytes], other: Sequence[bytes], layout: Layout, tag_runs: TagRuns) -> bool:
    """Add lines, of gold regular ones, to the tag run that is open.

    False, and nothing is added, if they differ in more than tags.
    """
    gold, predicted = (b"\n".join([*lines, b""]) for lines in (own, other))
    rows = _parallel_rows(gold, predicted, layout)
    if rows is None:
        return False
    tag_runs.extend(*rows)
    return True


def _parallel_rows(gold: bytes, predicted: bytes, layout: Layout) -> tuple[Rows, Rows] | None:
    """The rows of two texts if all their lines are token lines and have the same tokens, else None."""
    if b"\r" in predicted or predicted.count(b"\0") != gold.count(b"\0") or not is_utf8(predicted):
        return None
    if not (fits(gold, layout) and fits(predicted, layout)):
        return None
    own, other = (Rows.of(text, layout) for text in (gold, predicted))
    return (own, other) if _have_same_text(own.fields, other.fields, layout) else None


def _have_same_text(own: Sequence[bytes], other: Sequence[bytes], layout: Layout) -> bool:
    """Whether the fields of two lists of rows have the same tokens, and the same token ids if there are any."""
    columns = [layout.token] if layout.token_id is None else [layout.token, layout.token_id]
    return all(own[column :: layout.width] == other[column :: layout.width] for column in columns)


def _border(layout: Layout) -> bytes:
    """A line of `BORDER` in all layers, without its end."""
    columns = {column for _, column in layout.layers}
    fields = [BORDER if column in columns else b"O" for column in range(layout.width)]
    return layout.separator.encode().join(fields)


def _inside(text: bytes, layout: Layout) -> bytes:
    """The lines that are in spans, without the first token of each run of them, and a line of `BORDER` after it."""
    before, layers, behind = _before(layout), len(layout.layers), _behind(layout)
    if (
        layers > 1 and not behind
    ):  # then it costs less to take out the tags that are outside, and to look for the others
        text = text.replace((layout.separator.encode() + b"O") * layers + b"\n", b"\n")
    runs = _runs(layout.separator, before, layers, behind).findall(text)
    if not runs:
        return b""
    start = layout.separator.join(["O"] * before).encode()
    border = _border(layout) + b"\n"
    return start + (border + start).join(runs) + border


@lru_cache
def _runs(separator: str, before: int, layers: int, behind: int) -> re.Pattern[bytes]:
    return re.compile(runs_pattern(separator, before, layers, behind).encode())
