"""Cuts a pair of large files that are not gzipped into parts.

Files in the column formats are not read completely. A cut is at a line that opens a document in both files. Near the
intended place, an opening line is searched for in gold; its counterpart in predicted is the same line, with the same
tokens after it, if there is exactly one near the proportional place. Files are not parsed, so a cut may be wrong,
although this is rare; counting the parts compares all tokens and detects that.

A part of two files of JSON Lines begins after the same number of lines in both, which are counted. A value of several
lines, or a row that only one side passes over, makes a part an error or a mismatch; then the pair is counted as a
whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

from clueval.formats.columns.layout import ColumnOptions
from clueval.textfiles import BLOCK, Part

NEAR = (1 << 16, 1 << 20, 1 << 22)
"""Distances from the proportional place, in bytes each way, in which a counterpart is searched for in turn."""

FAR = 1 << 24
"""Greatest distance of an opening line from the intended place, in bytes."""

TRIES = 4
"""Number of opening lines that are tried for one cut."""

MOST_MISSES = 2
"""Number of places in succession without a cut after which the search ends."""

LINES = 24
"""Number of lines after an opening line whose tokens must be the same."""

_CHUNK = 1 << 18
_LONGEST = 1 << 15

PartPair = tuple[Part, Part]
"""The bytes of gold and of predicted that have the same documents."""


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
        """The positions of lines that may be opening lines, except the first line."""
        return (match.start() + 1 for match in self._begin.finditer(data))

    def opens(self, line: bytes) -> bool:
        """Whether a line, without its end, opens a document in any file of the format."""
        return self._line.match(line) is not None and _MAYBE_TOKEN.match(line) is None

    def tokens(self, lines: Iterable[bytes]) -> tuple[bytes, ...] | None:
        """The tokens of the lines after an opening line; None if a line may be either a token line or a comment.

        In CoNLL files the layout decides that, and a part has none before its first token.
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


_MAYBE_TOKEN = re.compile(rb"#(?:.*\t|.*\s(?:O|[BIESLUMW](?:-\S*)?)(?:\s|\Z))")
"""A line that begins like a comment and has a tag or a tab."""


def _token_column(options: ColumnOptions) -> int:
    """The column of the tokens, from 0, according to the options; the first free column if they do not name it."""
    if options.token is not None:
        return max(options.token - 1, 0)
    taken = {options.token_id, *(options.layers or {}).values()}
    return next(column for column in range(len(taken) + 1) if column + 1 not in taken)


class _Head(NamedTuple):
    """An opening line without its end, its position in bytes, and the tokens after it."""

    place: int
    line: bytes
    tokens: tuple[bytes, ...]


class _File:
    """One file, read at some places only."""

    def __init__(self, raw: IO[bytes], heads: Heads) -> None:
        self._raw, self._heads = raw, heads
        self.size = raw.seek(0, 2)

    def heads(self, start: int, stop: int, line: bytes | None = None) -> Iterator[_Head]:
        """The certain opening lines that begin in a range of bytes; only those equal to `line` if it is given."""
        for base in range(max(start - 1, 0), stop, _CHUNK):
            self._raw.seek(base)
            data = self._raw.read(_CHUNK + _LONGEST)
            for here in self._heads.among(data):
                # lines that begin after the chunk are found again in the next one
                if here > _CHUNK or base + here >= stop:
                    break
                head = self._head(base + here, data[here : here + _LONGEST], line)
                if head is not None:
                    yield head

    def _head(self, place: int, data: bytes, required: bytes | None) -> _Head | None:
        line, *lines = (each.rstrip(b"\r") for each in data.split(b"\n", LINES + 1))
        if not lines or not self._heads.opens(line) or required not in (None, line):
            return None
        tokens = self._heads.tokens(lines[:-1])  # the last one may be cut off
        return None if tokens is None else _Head(place, line, tokens)


def cut(gold: Path, predicted: Path, heads: tuple[Heads, Heads], number: int) -> list[PartPair]:
    """At most `number` parts, in order, the last ones shorter; one part if there is no place to cut.

    Reads some blocks near each cut, or more if documents are long. Raises `OSError`.
    """
    with gold.open("rb") as gold_raw, predicted.open("rb") as predicted_raw:
        gold_file, predicted_file = _File(gold_raw, heads[0]), _File(predicted_raw, heads[1])
        cuts = [(0, 0)]
        misses = 0
        for part in range(1, number):
            place = int(gold_file.size * share(part / number))
            if place <= cuts[-1][0]:  # the last part is longer than intended
                continue
            found = _cut_near(gold_file, predicted_file, place, cuts[-1])
            misses = 0 if found else misses + 1
            if found:
                cuts.append(found)
            elif misses == MOST_MISSES:
                break
        cuts.append((gold_file.size, predicted_file.size))
    return _between(cuts)


def _between(cuts: Iterable[tuple[int, int]]) -> list[PartPair]:
    """The parts between places in gold and predicted."""
    return [
        ((gold_start, gold_stop), (predicted_start, predicted_stop))
        for (gold_start, predicted_start), (gold_stop, predicted_stop) in pairwise(cuts)
    ]


def share(parts: float) -> float:
    """The share of a file in the first parts. Later parts are shorter, so that processes end at about the same time.

    >>> [round(share(part / 4), 2) for part in range(5)]
    [0.0, 0.44, 0.75, 0.94, 1.0]
    """
    return 1 - (1 - parts) * (1 - parts)


def _cut_near(gold: _File, predicted: _File, start: int, last: tuple[int, int]) -> tuple[int, int] | None:
    """A cut at the first opening line of gold after `start` that has one counterpart after the last cut."""
    for number, head in enumerate(gold.heads(start, min(gold.size, start + FAR))):
        if number == TRIES:
            return None
        ratio = (predicted.size - last[1]) / (gold.size - last[0])
        place = last[1] + int((head.place - last[0]) * ratio)
        for near in NEAR:
            around = max(place - near, last[1] + 1), min(place + near, predicted.size)
            counterparts = [
                each for each in predicted.heads(*around, head.line) if each.tokens == head.tokens
            ]
            if counterparts:
                break
        if len(counterparts) == 1:
            return head.place, counterparts[0].place
    return None


_LONGEST_JSON = 1 << 20
"""The greatest length of a first line, in bytes."""

_MARK = b"\xef\xbb\xbf"


def holds_json_lines(path: Path) -> bool:
    """Whether the first line of a file is one JSON value. Raises `OSError`."""
    with path.open("rb") as raw:
        line = raw.readline(_LONGEST_JSON).removeprefix(_MARK)
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return line.endswith(b"\n")


def cut_lines(gold: Path, predicted: Path, number: int) -> list[PartPair]:
    """At most `number` parts, in order, the last ones shorter. Reads both files once. Raises `OSError`."""
    sizes = gold.stat().st_size, predicted.stat().st_size
    starts = list(_line_starts(gold, (int(sizes[0] * share(part / number)) for part in range(1, number))))
    places = _places_of(predicted, [lines for _, lines in starts])
    cuts = [(0, 0)]
    for (own, _), other in zip(starts, places, strict=False):  # predicted may have fewer lines
        if own < sizes[0] and not _begin_with_mark((gold, own), (predicted, other)):
            cuts.append((own, other))
    return _between([*cuts, sizes])


def _line_starts(path: Path, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the end of the line at each place, and the number of lines before it; once for places in one line."""
    lines = 0
    with path.open("rb") as raw:
        for place in places:
            if place < raw.tell():
                continue
            while data := raw.read(min(BLOCK, place - raw.tell())):
                lines += data.count(b"\n")
            while (data := raw.readline(BLOCK)) and not data.endswith(b"\n"):
                pass
            lines += 1
            yield raw.tell(), lines


def _places_of(path: Path, lines: list[int]) -> Iterator[int]:
    """Yield the place at which each number of lines has ended; the numbers do not decrease."""
    ended = at = 0
    waiting = iter(lines)
    wanted = next(waiting, None)
    with path.open("rb") as raw:
        while wanted is not None and (data := raw.read(BLOCK)):
            here, past = ended, 0
            ended += data.count(b"\n")
            while wanted is not None and wanted <= ended:
                while here < wanted:
                    past = data.index(b"\n", past) + 1
                    here += 1
                yield at + past
                wanted = next(waiting, None)
            at += len(data)


def _begin_with_mark(*places: tuple[Path, int]) -> bool:
    """Whether a byte-order mark is at one of these places; a part would lose it, which the whole file refuses."""
    for path, place in places:
        with path.open("rb") as raw:
            raw.seek(place)
            if raw.read(len(_MARK)) == _MARK:
                return True
    return False
