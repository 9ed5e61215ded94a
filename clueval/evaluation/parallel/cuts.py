"""Parts: where a pair of large files can be cut, found without reading them.

A cut is a line that opens a document and stands in both files. Near where it is wanted, the opening line of a
document is looked for in gold; its counterpart in predicted is the line that is the same and has the same tokens
after it, and is the only one such near the proportional place. Nothing is parsed, so a cut is a good guess: who
counts the parts compares them token by token, and a wrong cut shows there as texts that differ.

Only of files that are not packed, in the column formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

from clueval.formats.columns.layout import ColumnOptions
from clueval.textfiles import Part

NEAR = (1 << 16, 1 << 20, 1 << 22)
"""How far from the proportional place a counterpart is looked for: bytes, each way, one after the other."""

FAR = 1 << 24
"""How far from where it is wanted the opening line of a document is looked for, in bytes."""

TRIES = 4
"""So many opening lines are tried for one cut."""

HOPELESS = 2
"""After so many places without a cut, one after the other, no more is looked for."""

LINES = 24
"""So many lines after an opening line must have the same tokens."""

_CHUNK = 1 << 18
_LONGEST = 1 << 15

PartPair = tuple[Part, Part]
"""The bytes of gold and those of predicted that belong together."""


class Heads:
    """The lines that open a document in one of the column formats."""

    def __init__(self, form: str, options: ColumnOptions) -> None:
        self._is_vrt = form == "vrt"
        self._separator = b"\t" if self._is_vrt else None
        self._token = _token_column(options)
        if self._is_vrt:
            tag = re.escape(options.document_tag.encode())
            name = rb"[^\W\d][\w:.\-]*"
            attribute = rb"\s+" + name + rb"\s*=\s*(?:\"[^\"]*\"|'[^']*')"
            self._begin = re.compile(rb"\n<" + tag + rb"[\s/>]")
            self._line = re.compile(rb"<" + tag + rb"(?:" + attribute + rb")*\s*/?>\s*\Z")
        else:
            self._begin = re.compile(rb"\n(?:-DOCSTART-|#\s*newdoc)")
            self._line = re.compile(rb"-DOCSTART-(?:[ \t].*)?\Z|#\s*newdoc(?:\s+id)?\s*(?:=[^\t]*+)?\s*\Z")

    def among(self, data: bytes) -> Iterator[int]:
        """Where lines begin that look like opening lines; not at the very start."""
        return (match.start() + 1 for match in self._begin.finditer(data))

    def opens(self, line: bytes) -> bool:
        """Whether a line, without its end, opens a document in whatever file it stands."""
        return self._line.match(line) is not None and _MAYBE_TOKEN.match(line) is None

    def tokens(self, lines: Iterable[bytes]) -> tuple[bytes, ...] | None:
        """The tokens of the lines after an opening line; None if one may be a token or a comment.

        In CoNLL files that depends on the layout, which a part does not know before its first token.
        """
        tokens: list[bytes] = []
        for line in lines:
            if line.startswith(b"<" if self._is_vrt else (b"#", b"-DOCSTART-")) or not line.strip():
                if not tokens and not self._is_vrt and _MAYBE_TOKEN.match(line):
                    return None
                continue
            fields = line.split(self._separator)
            tokens.append(fields[self._token] if self._token < len(fields) else b"")
        return tuple(tokens) if tokens or self._is_vrt else None


_MAYBE_TOKEN = re.compile(rb"#(?:.*\t|.*\s(?:O|[BIESLU](?:-\S*)?)(?:\s|\Z))")
"""A line that begins like a comment and has a tag or a tabulator."""


def _token_column(options: ColumnOptions) -> int:
    """The column of the tokens, counted from 0, as far as it can be told without a line: else the first."""
    if options.token is not None:
        return max(options.token - 1, 0)
    taken = {options.token_id, *(options.layers or {}).values()}
    return next(column for column in range(len(taken) + 1) if column + 1 not in taken)


class _Head(NamedTuple):
    """An opening line without its end, where it begins, and the tokens that follow."""

    place: int
    line: bytes
    tokens: tuple[bytes, ...]


class _File:
    """One file that is looked into here and there."""

    def __init__(self, raw: IO[bytes], heads: Heads) -> None:
        self._raw, self._heads = raw, heads
        self.size = raw.seek(0, 2)

    def heads(self, start: int, stop: int, line: bytes | None = None) -> Iterator[_Head]:
        """The opening lines that begin in a range of bytes, or those like `line`; none that is in doubt."""
        for base in range(max(start - 1, 0), stop, _CHUNK):
            self._raw.seek(base)
            data = self._raw.read(_CHUNK + _LONGEST)
            for here in self._heads.among(data):
                # what begins beyond the chunk comes again with the next one
                if here > _CHUNK or base + here >= stop:
                    break
                head = self._head(base + here, data[here : here + _LONGEST], line)
                if head is not None:
                    yield head

    def _head(self, place: int, data: bytes, wanted: bytes | None) -> _Head | None:
        line, *lines = (each.rstrip(b"\r") for each in data.split(b"\n", LINES + 1))
        if not lines or not self._heads.opens(line) or wanted not in (None, line):
            return None
        tokens = self._heads.tokens(lines[:-1])  # the last one may be cut off
        return None if tokens is None else _Head(place, line, tokens)


def cut(gold: Path, predicted: Path, heads: tuple[Heads, Heads], number: int) -> list[PartPair]:
    """At most so many parts, the last ones shorter, in order; one of everything if there is no place to cut.

    Costs some look-ups, or a search through a part where documents are that long. Raises `OSError`.
    """
    with gold.open("rb") as own_raw, predicted.open("rb") as other_raw:
        own, other = _File(own_raw, heads[0]), _File(other_raw, heads[1])
        cuts = [(0, 0)]
        misses = 0
        for wanted in range(1, number):
            place = int(own.size * _share(wanted / number))
            if place <= cuts[-1][0]:  # the last part is longer than it was to be
                continue
            found = _cut_near(own, other, place, cuts[-1])
            misses = 0 if found else misses + 1
            if found:
                cuts.append(found)
            elif misses == HOPELESS:
                break
        cuts.append((own.size, other.size))
    return [
        ((start, stop), (other_start, other_stop))
        for (start, other_start), (stop, other_stop) in pairwise(cuts)
    ]


def _share(parts: float) -> float:
    """How much of a file such a share of its parts holds: they become shorter, so that all end at about the same time.

    >>> [round(_share(part / 4), 2) for part in range(5)]
    [0.0, 0.44, 0.75, 0.94, 1.0]
    """
    return 1 - (1 - parts) * (1 - parts)


def _cut_near(own: _File, other: _File, start: int, last: tuple[int, int]) -> tuple[int, int] | None:
    """A cut at the first opening line of gold from there on that has its counterpart, after the last cut."""
    for number, head in enumerate(own.heads(start, min(own.size, start + FAR))):
        if number == TRIES:
            return None
        rest = (other.size - last[1]) / (own.size - last[0])
        place = last[1] + int((head.place - last[0]) * rest)
        for near in NEAR:
            around = max(place - near, last[1] + 1), min(place + near, other.size)
            twins = [twin for twin in other.heads(*around, head.line) if twin.tokens == head.tokens]
            if twins:
                break
        if len(twins) == 1:
            return head.place, twins[0].place
    return None
