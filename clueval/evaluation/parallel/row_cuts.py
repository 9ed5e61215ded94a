"""Cuts two files of JSON Lines into parts with the same lines.

A part begins after the same number of lines in both files, which are counted. A value of several lines, or a row that
only one side passes over, makes a part an error or a mismatch; then the pair is counted as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from clueval.evaluation.parallel.cuts import PartPair, share
from clueval.evaluation.parallel.work import size_of
from clueval.textfiles import BLOCK

_LONGEST = 1 << 20
"""The greatest length of a first line, in bytes."""

_MARK = b"\xef\xbb\xbf"


def holds_json_lines(path: Path) -> bool:
    """Whether the first line of a file is one JSON value. Raises `OSError`."""
    with path.open("rb") as raw:
        line = raw.readline(_LONGEST).removeprefix(_MARK)
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return line.endswith(b"\n")


def cut_lines(gold: Path, predicted: Path, number: int) -> list[PartPair]:
    """At most `number` parts, in order, the last ones shorter. Reads both files once. Raises `OSError`."""
    sizes = size_of(gold), size_of(predicted)
    wanted = [int(sizes[0] * share(part / number)) for part in range(1, number)]
    lines = list(_lines_at(gold, wanted))
    cuts = [(0, 0)]
    for own, other in zip(_places_of(gold, lines), _places_of(predicted, lines), strict=False):
        if own > cuts[-1][0] and not _begin_with_mark((gold, own), (predicted, other)):
            cuts.append((own, other))
    return [
        ((start, stop), (other_start, other_stop))
        for (start, other_start), (stop, other_stop) in pairwise([*cuts, sizes])
        if start < stop
    ]


def _lines_at(path: Path, places: list[int]) -> Iterator[int]:
    """Yield for each place the number of lines that end at or before it."""
    ended = at = 0
    with path.open("rb") as raw:
        for place in places:
            while at < place:
                data = raw.read(min(BLOCK, place - at))
                if not data:
                    return
                at += len(data)
                ended += data.count(b"\n")
            yield ended


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
