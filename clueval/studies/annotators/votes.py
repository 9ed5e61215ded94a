"""Votes of annotators on the spans of one component, and the union of their spans."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from clueval.exceptions import UsageError
from clueval.studies.annotators.shape import Mark, Reading, Shape, moved, places

Votes = int | Literal["majority", "all"]


class VoteOutcome(NamedTuple):
    """What is kept of a component; the places that are undecided, outvoted or tied, each with its start."""

    kept: Reading
    undecided: Sequence[tuple[int, Shape]] = ()
    outvoted: Sequence[tuple[int, Shape]] = ()
    ties: Sequence[tuple[int, Shape]] = ()


def checked_votes(votes: int | str) -> Votes:
    """Return the votes that a span needs. Raises `UsageError` for anything but majority, all or a number."""
    if votes == "majority" or votes == "all":
        return votes  # type: ignore[return-value]  # one of the two literals
    try:
        number = int(votes)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"votes cannot be {votes!r}", advice="majority, all, or a number from 1 on")
    return number


def voted(start: int, shape: Shape, votes: Votes) -> VoteOutcome:
    """Return the outcome of the votes on a component.

    Spans with enough votes are kept, unless they overlap one another; spans that no kept span overlaps are
    undecided or, by majority and where more than half of the annotators have nothing, outvoted.

    >>> voted(10, (((0, 2, "PER"),), ((0, 2, "PER"),), ((0, 2, "ORG"),)), "majority").kept
    ((10, 12, 'PER'),)
    """
    readings = [reading for reading in shape if reading is not None]
    m = len(readings)
    if m == 1:
        return VoteOutcome(moved(readings[0], start))
    counts = Counter(mark for reading in readings for mark in reading)
    kept = apart(sorted(mark for mark, n in counts.items() if _enough(n, m, votes)))
    rest = [None if reading is None else list(_not_covered(reading, kept)) for reading in shape]
    undecided: list[tuple[int, Shape]] = []
    outvoted: list[tuple[int, Shape]] = []
    for begin, left in places(rest):
        nothing = sum(reading == () for reading in left)
        lost = votes == "majority" and 2 * nothing > m
        (outvoted if lost else undecided).append((start + begin, left))
    return VoteOutcome(moved(tuple(kept), start), undecided, outvoted)


def _enough(n: int, m: int, votes: Votes) -> bool:
    if votes == "majority":
        return 2 * n > m
    return n >= (m if votes == "all" else votes)


def apart(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks, which must be sorted, without those that overlap another or have the range of another.

    >>> apart([(0, 2, "A"), (1, 3, "A"), (5, 6, "A"), (7, 8, "A"), (7, 8, "B")])
    [(5, 6, 'A')]
    """
    kept = []
    reach = -1
    for number, mark in enumerate(marks):
        following = marks[number + 1] if number + 1 < len(marks) else None
        clashes = mark[0] < reach or (number > 0 and marks[number - 1][:2] == mark[:2])
        if following is not None:
            clashes = clashes or following[0] < mark[1] or following[:2] == mark[:2]
        if not clashes:
            kept.append(mark)
        reach = max(reach, mark[1])
    return kept


def _not_covered(reading: Reading, kept: Sequence[Mark]) -> Iterator[Mark]:
    """Yield the marks that no kept mark overlaps; the kept marks are sorted and apart."""
    starts = [mark[0] for mark in kept]
    for mark in reading:
        before = bisect_left(starts, max(mark[1], mark[0] + 1)) - 1
        if before < 0 or not (kept[before][1] > mark[0] or kept[before][:2] == mark[:2]):
            yield mark


def united(start: int, shape: Shape) -> VoteOutcome:
    """Return a component as one span, with the label that has the most positions over all annotators.

    Of several such labels the one that begins first is taken, then that of the first annotator; this is a tie.

    >>> united(0, (((0, 2, "A"),), ((1, 3, "B"),), ((1, 3, "A"),))).kept
    ((0, 3, 'A'),)
    """
    positions: Counter[str] = Counter()
    first: dict[str, tuple[int, int]] = {}
    for number, reading in enumerate(shape):
        for begin, end, label in reading or ():
            positions[label] += end - begin
            first[label] = min(first.get(label, (begin, number)), (begin, number))
    most = max(positions.values())
    best = sorted(
        (label for label, n in positions.items() if n == most), key=lambda label: (*first[label], label)
    )
    marks = [mark for reading in shape for mark in reading or ()]
    kept = (start + min(mark[0] for mark in marks), start + max(mark[1] for mark in marks), best[0])
    return VoteOutcome((kept,), ties=[(start, shape)] if len(best) > 1 else [])
