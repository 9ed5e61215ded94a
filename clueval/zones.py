"""Zones: where two parallel texts differ, and what is in spans elsewhere.

Pieces that are the same bytes on both sides need no other look. Of the others, lines that differ must differ in
their tags only, and of the lines around them only those in spans matter::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y  f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O    f/O  g/O

Line e differs. The *zone* around it is cut where no span, of either side, goes on from one line to the next: it is
d and e. Outside the zones gold stands for both sides, and of it only the runs of lines in spans are taken apart,
here b. Where a good part of the lines differs, finding zones costs more than it saves: then all lines are taken
apart and cut wherever no span crosses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress, count, pairwise, repeat
from operator import eq, ne
from typing import NamedTuple

from clueval.narrowing import fits, runs_pattern
from clueval.passages import Layout
from clueval.patterns import BORDER, Patterns, Touching
from clueval.sources import is_utf8
from clueval.tagging import OUTSIDE, continues

APART, TOUCHING, CROSSING = range(3)
"""How two lines hang together: a span crosses from one to the other, or spans touch, or neither."""

DENSE = 3
"""If more than one line in so many differs, no zones are looked for."""


def is_plain(layout: Layout) -> bool:
    """Whether the token comes first, all layers stand side by side, and there are no token ids to be checked."""
    columns = sorted(column for _, column in layout.layers)
    side_by_side = columns == list(range(columns[0], columns[0] + len(columns)))
    return layout.token == 0 and layout.token_id is None and side_by_side


def _before(layout: Layout) -> int:
    """How many columns stand before the layers."""
    return min(column for _, column in layout.layers)


def _behind(layout: Layout) -> int:
    """How many columns stand behind the layers."""
    return layout.width - 1 - max(column for _, column in layout.layers)


def take_apart(
    own: Sequence[bytes], other: Sequence[bytes], end: bytes, layout: Layout, patterns: Patterns
) -> bool:
    """Add the patterns of two lists of sentences, the first of them regular.

    False, and nothing is added, if they differ in more than tags.
    """
    differs = list(map(ne, own, other))
    lines, other_lines = (end.join(compress(side, differs)).split(b"\n") for side in (own, other))
    if len(lines) != len(other_lines):
        return False
    same = [sentence for sentence, different in zip(own, differs, strict=True) if not different]
    differing = list(compress(count(), map(ne, lines, other_lines)))
    if DENSE * len(differing) > len(lines) and len(layout.layers) == 1:
        if not _add_cells(lines, other_lines, layout, patterns):
            return False
        agreed: list[bytes] = []
    else:
        zones = _zones(lines, other_lines, differing, layout)
        if not _differ_in_tags(zones, layout):
            return False
        patterns.add_disputed(zones.gold, zones.predicted)
        patterns.add_touching(zones.touching)
        agreed = zones.agreed
    patterns.add_same(_inside(b"\n".join([end.join(same), b"", *agreed, b""]), layout))
    return True


def _add_cells(own: Sequence[bytes], other: Sequence[bytes], layout: Layout, patterns: Patterns) -> bool:
    """Add all lines of two texts, of one layer, cut wherever no span crosses.

    False, and nothing is added, if they differ in more than tags.
    """
    separator, border, width = layout.separator.encode(), _border(layout), layout.width
    counts = [list(map(bytes.count, lines, repeat(separator))) for lines in (own, other)]
    if counts[0] != counts[1]:
        return False
    structure: list[list[bytes]] = []
    flat: list[list[bytes]] = []
    for lines in (own, other):
        structure.append([line for line, fields in zip(lines, counts[0], strict=True) if not fields])
        rows = [line if fields else border for line, fields in zip(lines, counts[0], strict=True)]
        flat.append(separator.join(rows).split(separator))
    if structure[0] != structure[1] or flat[0][::width] != flat[1][::width]:
        return False
    columns = [fields[_before(layout) :: width] for fields in flat]
    relations = Relations(layout)
    sides = (map(relations.__getitem__, pairwise(tags)) for tags in columns)
    found = [one if one > another else another for one, another in zip(*sides, strict=True)]
    text = b"".join(columns[1])
    if b"\r" in text or text.count(b"\0") != len(structure[1]) or not is_utf8(text):
        return False
    pairs = zip(*(tags[offset:] for tags in columns for offset in (0, 1)), strict=False)
    patterns.add_touching(compress(pairs, map(eq, found, repeat(TOUCHING))))
    cut = b"\n%s\n" % BORDER
    seams = [*map((cut, cut, b"\n").__getitem__, found), b""]
    patterns.add_pairs(*(b"".join(chain.from_iterable(zip(tags, seams, strict=True))) for tags in columns))
    return True


class _Zones(NamedTuple):
    """Two parallel texts narrowed: what differs with all that hangs on it, and the lines that do not."""

    gold: bytes
    predicted: bytes
    agreed: list[bytes]
    touching: list[Touching]


def _zones(own: Sequence[bytes], other: Sequence[bytes], differing: Iterable[int], layout: Layout) -> _Zones:
    """Two lists of as many lines, narrowed around those that differ. A line of `BORDER` follows each zone."""
    tags_of, relations = tags_in(layout), Relations(layout)
    outside = b"\n" if _behind(layout) else (layout.separator.encode() + b"O") * len(layout.layers)
    border = _border(layout)
    gold: list[bytes] = []
    predicted: list[bytes] = []
    agreed: list[bytes] = []
    touching: list[Touching] = []
    done, lines = 0, len(own)  # `done` is the line after the last zone
    for number in differing:
        if number < done:
            continue
        start, stop = number, number + 1
        first, other_first = last, other_last = tags_of(own[number]), tags_of(other[number])
        while start > done and not (line := own[start - 1]).endswith(outside):
            before = tags_of(line)  # of both sides: the line is before the first that differs
            found = max(relations[before, first], relations[before, other_first])
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
            found = max(relations[last, after], relations[other_last, other_after])
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
    return _Zones(_text(gold), _text(predicted), agreed, touching)


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
    return lambda line: separator.join(line.split(separator)[before : before + layers])


def _text(lines: list[bytes]) -> bytes:
    return b"\n".join([*lines, b""]) if lines else b""


def _differ_in_tags(zones: _Zones, layout: Layout) -> bool:
    """Whether all lines of the zones are token lines, and have the same tokens."""
    gold, predicted = zones.gold, zones.predicted
    if b"\r" in predicted or predicted.count(b"\0") != gold.count(b"\0") or not is_utf8(predicted):
        return False
    if not (fits(gold, layout) and fits(predicted, layout)):
        return False
    separator = layout.separator.encode()
    own, other = (text.replace(b"\n", separator).split(separator) for text in (gold, predicted))
    return own[:: layout.width] == other[:: layout.width]


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
