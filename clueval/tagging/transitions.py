"""Pairs of adjacent tags: how often each occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from clueval.tagging.schemes import OUTSIDE

Neighbours = Counter[tuple[str, str]]
"""How often a tag (second) follows a tag (first); the ends of sentences are O."""


def flat(sentences: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all sentences in one list, with an O after each sentence."""
    tags: list[Any] = []
    extend, append = tags.extend, tags.append
    for sentence in sentences:
        extend(sentence)
        append(OUTSIDE)
    return tags


class Seams:
    """The pairs of adjacent tags in a list; an O is assumed before the first tag and after the last.

    >>> seams = Seams(["B-PER", "I-PER", "O", "I-LOC"])
    >>> seams.neighbours["O", "I-LOC"]
    1
    """

    __slots__ = ("neighbours",)

    def __init__(self, tags: Sequence[str]) -> None:
        self.neighbours: Neighbours = Counter(pairwise((OUTSIDE, *tags, OUTSIDE)))
