"""The errors of a tagger: changes the spans of a sentence into the same spans with one error.

A `Mark` is a span as the generator handles it: a half-open range of positions within its sentence. An error
never makes spans overlap that did not overlap before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

LENGTHS = (1,) * 10 + (2,) * 6 + (3,) * 2 + (4, 6)
"""Lengths of spans in tokens, repeated in proportion to their frequency."""


class Mark(NamedTuple):
    """A span of one layer; `opening` is the prefix of its first tag: "B" or, ill-formed, "I"."""

    start: int
    end: int
    label: str
    opening: str = "B"


def below(bound: int, rng: random.Random) -> int:
    """Return a random integer from 0 to `bound` - 1; several times as fast as ``randrange``."""
    return int(rng.random() * bound)


def with_error(
    kinds: Sequence[str], marks: Sequence[Mark], size: int, labels: Sequence[str], rng: random.Random
) -> Sequence[Mark]:
    """Return the spans of a sentence of `size` tokens with one error.

    The kinds are tried in random order, each at one random position; if none of them is possible, the spans are
    returned unchanged. With all kinds this never happens: a span can be missed, and without spans there is space for
    a spurious one.
    """
    for kind in rng.sample(kinds, len(kinds)):
        if kind == "spurious":
            changed = _with_spurious(marks, size, labels, rng)
        else:
            changed = _with_change(CHANGES[kind], marks, size, labels, rng)
        if changed is not None:
            return changed
    return marks


Change = Callable[[Mark, Sequence[str], random.Random], list[Mark]]
"""Returns the spans that replace a span, given the labels of its layer; they may be impossible."""


def _moved(*moves: tuple[int, int]) -> Change:
    """Return the change that moves start and end by one of these pairs of numbers."""

    def change(mark: Mark, labels: Sequence[str], rng: random.Random) -> list[Mark]:
        by_start, by_end = rng.choice(moves)
        return [mark._replace(start=mark.start + by_start, end=mark.end + by_end)]

    return change


def _relabelled(mark: Mark, labels: Sequence[str], rng: random.Random) -> list[Mark]:
    return [mark._replace(label=rng.choice([label for label in labels if label != mark.label]))]


def _missed(mark: Mark, labels: Sequence[str], rng: random.Random) -> list[Mark]:
    return []


def _split(mark: Mark, labels: Sequence[str], rng: random.Random) -> list[Mark]:
    cut = mark.start + 1 + below(mark.end - mark.start - 1, rng)
    return [mark._replace(end=cut), mark._replace(start=cut)]


def _ill_formed(mark: Mark, labels: Sequence[str], rng: random.Random) -> list[Mark]:
    return [mark._replace(opening="I")]


CHANGES: dict[str, Change] = {
    "shorter": _moved((1, 0), (0, -1)),
    "longer": _moved((-1, 0), (0, 1)),
    "shifted": _moved((-1, -1), (1, 1)),
    "label": _relabelled,
    "miss": _missed,
    "split": _split,
    "ill-formed": _ill_formed,
}

KINDS = (*CHANGES, "spurious")
"""The kinds of error. A sentence without spans can only have a spurious one."""


def _with_change(
    change: Change, marks: Sequence[Mark], size: int, labels: Sequence[str], rng: random.Random
) -> list[Mark] | None:
    if not marks:
        return None
    at = below(len(marks), rng)
    before, old, after = marks[:at], marks[at], marks[at + 1 :]
    changed = change(old, labels, rng)
    possible = all(_fits(new, size, old, [*before, *after]) for new in changed)
    return [*before, *changed, *after] if possible else None


def _with_spurious(
    marks: Sequence[Mark], size: int, labels: Sequence[str], rng: random.Random
) -> list[Mark] | None:
    start = below(size, rng)
    new = Mark(start, min(start + rng.choice(LENGTHS), size), rng.choice(labels))
    return None if any(_overlap(new, mark) for mark in marks) else sorted([*marks, new])


def _fits(new: Mark, size: int, old: Mark, others: Sequence[Mark]) -> bool:
    return 0 <= new.start < new.end <= size and not any(
        _overlap(new, other) and not _overlap(old, other) for other in others
    )


def _overlap(a: Mark, b: Mark) -> bool:
    return a.start < b.end and b.start < a.end
