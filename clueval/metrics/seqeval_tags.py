"""Tags as seqeval reads them by default, and conlleval: every sequence of tags has spans.

Whether a span ends or begins between two tags depends on these two only. Any letter may begin a tag. With
letters other than B, I, E, S and O, a span may begin before the previous one has ended, and a span may end
that has not begun: it then has the start of the previous span, as in seqeval.

>>> list(chunks(["B-A", "I-A", "O", "I-B"]))
[('A', 0, 1), ('B', 3, 3)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from clueval.core.tags import OUTSIDE

Chunk = tuple[str, int, int]
"""Type, first position, last position (inclusive, as in seqeval's default mode)."""


def is_ignored(tag: object) -> bool:
    """Return whether `tag` marks a position that is not counted: None, or -100 as in PyTorch."""
    return tag is None or (type(tag) is not str and bool(tag == -100))


class LenientTag(NamedTuple):
    """A tag in the lenient reading: its letter and its type. With `suffix`, the letter is the last one."""

    letter: str
    type: str

    @classmethod
    def of(cls, tag: str, *, suffix: bool = False) -> LenientTag:
        """Return a tag that is not empty."""
        letter, rest = (tag[-1], tag[:-1]) if suffix else (tag[0], tag[1:])
        before, hyphen, after = rest.rpartition("-") if suffix else rest.partition("-")
        label = before if suffix else after
        return cls(letter, (label if hyphen else rest) or "_")


class Decisions(dict[tuple[Any, Any], tuple[bool, bool, str, bool]]):
    """The meaning of two adjacent tags (None before the first tag), computed once for each pair.

    It is a tuple: whether a span ends between the tags, whether a span begins there, the type of the tag
    before, and whether the second tag begins a span only if it is the very first tag (where the type before
    is not ``_``).
    """

    def __init__(self, *, suffix: bool = False) -> None:
        super().__init__()
        self._suffix = suffix

    def __missing__(self, neighbours: tuple[Any, Any]) -> tuple[bool, bool, str, bool]:
        before, tag = (
            LenientTag(OUTSIDE, "") if tag is None else LenientTag.of(tag, suffix=self._suffix)
            for tag in neighbours
        )
        differ = before.type != tag.type
        ends = (
            before.letter in "ES"
            or (before.letter in "BI" and tag.letter in "BSO")
            or (before.letter not in "O." and differ)
        )
        begins = (
            tag.letter in "BS"
            or (before.letter in "ESO" and tag.letter in "EI")
            or (tag.letter not in "O." and differ)
        )
        odd = tag.type == "_" and tag.letter not in "OBIES"
        self[neighbours] = decision = ends, begins, before.type, odd
        return decision


def chunks(tags: Iterable[Any], *, suffix: bool = False) -> Iterator[Chunk]:
    """Yield the spans of one sequence in the lenient reading, in order; ignored positions are skipped."""
    decisions = Decisions(suffix=suffix)
    before: Any = None
    first = last = 0
    for position, tag in enumerate(chain(tags, (OUTSIDE,))):
        if is_ignored(tag):
            continue
        ends, begins, type_, _ = decisions[before, tag]
        if ends:
            yield type_, first, last
        if begins:
            first = position
        before, last = tag, position


class ReachesBeyond(Exception):
    """The spans of a list of tags depend on the tags before it."""


def chunks_between(tags: Sequence[str], decisions: Decisions) -> list[Chunk]:
    """Return the spans of tags between two O. Raises `ReachesBeyond` if a span begins before a part of the tags."""
    spans: list[Chunk] = []
    first: int | None = None
    pairs = pairwise((OUTSIDE, *tags, OUTSIDE))
    for position, (ends, begins, type_, odd) in enumerate(map(decisions.__getitem__, pairs)):
        if odd or (ends and first is None):
            raise ReachesBeyond
        if ends and first is not None:
            spans.append((type_, first, position - 1))
            first = None
        if begins:
            first = position
    return spans
