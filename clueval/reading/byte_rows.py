"""Hunks: the runs of lines in spans of two parallel texts, with the tags of both sides.

Lines that differ may differ in their tags only. Each becomes one line with the tags of both sides, here with a ``|``
between them; the other lines have the same tags on both sides::

    gold        a/O  b/B-X  c/O  d/B-Y  e/I-Y    f/O  g/O
    predicted   a/O  b/B-X  c/O  d/B-Y  e/O      f/O  g/O
    joined      a/O  b/B-X  c/O  d/B-Y  e/I-Y|O  f/O  g/O

A *hunk* is a run of joined lines that are in a span of either side, here b, and d with e. Only hunks are decoded, with
a line that is outside after each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress, count
from operator import ne, not_

from clueval.core.tags import OUTSIDE
from clueval.files.opening import is_utf8
from clueval.formats.column_format import Layout
from clueval.reading.clusters import RowCharacters

BOTH = b"\0"
"""Separates a gold and a predicted tag; a tag without it is that of both sides."""

MARK = b"\0"
"""The tag of a line before a sentence; no line of a file is so."""

_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""

BEFORE_SENTENCE = "\n"
"""The character of a line of `MARK`."""


def is_plain(layout: Layout) -> bool:
    """Whether the token is in the first column, and the columns of all layers are adjacent."""
    columns = sorted(_columns(layout))
    return layout.token == 0 and columns == list(range(columns[0], columns[0] + len(columns)))


def _columns(layout: Layout) -> list[int]:
    """Return the columns of the layers, which are no keys of pairs where files are read as bytes."""
    return [column for column in layout.layers.values() if isinstance(column, int)]


def find_hunks(
    gold: Sequence[bytes], predicted: Sequence[bytes], end: bytes, layout: Layout, *, marked: bool
) -> list[bytes] | None:
    """The fields of the lines in spans of two lists of sentences, of which those of gold are regular.

    If they are `marked`, a line of `MARK` comes before each sentence; those that are equal on both sides come first.
    None if they differ in more than tags.
    """
    differs = list(map(ne, gold, predicted))
    if marked:
        mark = layout.separator.encode().join([MARK] * layout.width) + b"\n"
        gold, predicted = ([mark + text for text in side] for side in (gold, predicted))
    lines, others = (end.join(compress(side, differs)).split(b"\n") for side in (gold, predicted))
    if len(lines) != len(others):
        return None
    numbers = list(compress(count(), map(ne, lines, others)))
    own, other = (b"\n".join([*map(side.__getitem__, numbers), b""]) for side in (lines, others))
    joined = _with_both_tags(own, other, layout)
    if joined is None:
        return None
    for number, line in zip(numbers, joined, strict=True):
        lines[number] = line
    same = end.join(compress(gold, map(not_, differs)))
    return _fields(_inside(b"\n".join([same, b"", *lines, b""]), layout), layout)


def _fields(text: bytes, layout: Layout) -> list[bytes]:
    """The fields of lines that all have those of the layout."""
    separator = layout.separator.encode()
    fields = text.replace(b"\n", separator).split(separator)
    fields.pop()
    return fields


def _with_both_tags(gold: bytes, predicted: bytes, layout: Layout) -> Iterable[bytes] | None:
    """The lines with the tags of both sides; None unless all are token lines with the same tokens."""
    is_irregular = b"\0" in predicted or not is_utf8(predicted)
    if is_irregular or not (fits(gold, layout) and fits(predicted, layout)):
        return None
    fields, others = _fields(gold, layout), _fields(predicted, layout)
    width = layout.width
    if fields[layout.token :: width] != others[layout.token :: width]:
        return None
    for column in _columns(layout):
        tags = zip(fields[column::width], others[column::width], strict=True)
        fields[column::width] = [own if own == other else own + BOTH + other for own, other in tags]
    return map(layout.separator.encode().join, zip(*[iter(fields)] * width, strict=True))


def fits(text: bytes, layout: Layout) -> bool:
    """Whether every line has the layout's number of fields and a token in the first one."""
    separator = layout.separator.encode()
    skeleton = text.translate(None, _FIELDS[layout.separator])
    line = separator * (layout.width - 1) + b"\n"
    fit = skeleton == line * (len(skeleton) // layout.width) and not text.startswith(separator)
    return fit and b"\n" + separator not in text


def _inside(text: bytes, layout: Layout) -> bytes:
    """The runs of lines in spans, each without its first token."""
    columns = _columns(layout)
    before, layers, after = min(columns), len(columns), layout.width - 1 - max(columns)
    runs = _runs(layout.separator, before, layers, after).findall(text)
    start = layout.separator.join(["O"] * before).encode()
    border = layout.separator.join([OUTSIDE] * layout.width).encode() + b"\n"
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
    return re.compile(f"{separator}{tags}(?>(?:{f'{field}{separator}' * before}{tags})*)".encode())


class TagCharacters(dict[bytes, str]):
    """The character of the tags of a line in some layers, as `find_hunks` returns them, with separators between."""

    def __init__(
        self, characters: RowCharacters, separator: str, *, decode: Callable[[str], str] | None
    ) -> None:
        self.characters = characters
        self._separator, self._read = separator.encode(), decode or str

    def __missing__(self, tags: bytes) -> str:
        if tags.startswith(MARK) and not tags.strip(MARK + self._separator):
            self[tags] = BEFORE_SENTENCE
            return BEFORE_SENTENCE
        sides = [each.split(BOTH) for each in tags.split(self._separator)]
        row = [self._read(tag[side].decode()) for side in (0, -1) for tag in sides]
        character = self[tags] = self.characters[1, *row]
        return character
