"""Stretches: the tags of two lists of sentences between positions that no span crosses, with their multiplicity.

Each pair of a gold and a predicted tag becomes one character, with a blank at each cut; a sentence becomes a string,
which is split at its blanks. Python counts equal stretches at the speed of C, so that each distinct stretch has to be
decoded only once. Sentences that are equal on both sides are encoded once.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from operator import getitem, ne, not_
from typing import Any, NamedTuple

from clueval.exceptions import UsageError
from clueval.tagging.lenient_chunks import flat, is_ignored, require_tag
from clueval.tagging.schemes import OUTSIDE

Sentences = Sequence[list[Any]]


class Ignored(Exception):  # always caught in `type_counts`
    """There are positions that are not counted."""


class Stretches(NamedTuple):
    """How often each stretch occurs, as a string with one character per position; `pairs` are their meanings.

    Character number n means the pair ``pairs[n]`` of a true and a predicted tag.
    """

    counts: Counter[str]
    pairs: Sequence[tuple[str, str]]


class Cuts(NamedTuple):
    """Where to cut besides at O: before tags with a letter of `before`, after tags with a letter of `after`.

    No span crosses such a cut if all letters are in `known` (None: any letters).
    """

    before: str
    after: str
    known: str | None = None


ONLY_OUTSIDE = Cuts("", "")


class OtherLetter(Exception):  # always caught in `type_counts`
    """There is a letter that is not in `Cuts.known`."""


BATCH = 500
"""Number of sentences that are encoded together; more would no longer fit in the processor's cache."""


class _Alphabet:
    """Assigns a character to every pair of a true and a predicted tag; O on both sides is a blank.

    `rows` holds the characters by true tag and then by predicted tag, `same` the characters of equal tags by
    tag. A blank is added before or after a character if there is a cut.
    """

    def __init__(self, cuts: Cuts, suffix: bool) -> None:
        self._cuts = cuts
        self._letter = -1 if suffix else 0
        self.pairs: list[tuple[str, str]] = []
        self.rows: dict[Any, dict[Any, str]] = {OUTSIDE: {OUTSIDE: " "}}
        self.same: dict[Any, str] = {OUTSIDE: " "}

    def encode(self, true: list[Any], predicted: list[Any]) -> str:
        try:
            return "".join(map(getitem, map(self.rows.__getitem__, true), predicted))
        except KeyError:
            self._learn(set(zip(true, predicted, strict=True)))
            return self.encode(true, predicted)

    def encode_same(self, tags: list[Any]) -> str:
        try:
            return "".join(map(self.same.__getitem__, tags))
        except KeyError:
            self._learn({(tag, tag) for tag in set(tags)})
            return self.encode_same(tags)

    def _learn(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Assign characters to new pairs. Raises `Ignored` for a position that is not counted."""
        for true, predicted in pairs:
            if is_ignored(true) or is_ignored(predicted):
                raise Ignored
            for tag in (true, predicted):
                require_tag(tag)
            row = self.rows.setdefault(true, {})
            if predicted not in row:
                row[predicted] = self._new_character(true, predicted)
            if true == predicted:
                self.same[true] = row[predicted]

    def _new_character(self, true: str, predicted: str) -> str:
        while chr(len(self.pairs)).isspace():
            self.pairs.append((OUTSIDE, OUTSIDE))
        if len(self.pairs) == sys.maxunicode:
            raise UsageError(f"more than {sys.maxunicode} distinct pairs of true and predicted tags")
        self.pairs.append((true, predicted))
        before, after, known = self._cuts
        letters = {tag[self._letter] for tag in (true, predicted) if tag != OUTSIDE}
        if known is not None and not letters <= set(known):
            raise OtherLetter
        opening = " " if letters <= set(before) else ""
        closing = " " if letters <= set(after) else ""
        return opening + chr(len(self.pairs) - 1) + closing


def count_stretches(y_true: Sentences, y_pred: Sentences, cuts: Cuts, suffix: bool) -> Stretches:
    """Cut both sides into stretches and count equal ones. Holds distinct stretches and `BATCH` sentences."""
    alphabet = _Alphabet(cuts, suffix)
    counts: Counter[str] = Counter()
    for start in range(0, len(y_true), BATCH):
        true, predicted = y_true[start : start + BATCH], y_pred[start : start + BATCH]
        differ = list(map(ne, true, predicted))
        text = alphabet.encode(flat(compress(true, differ)), flat(compress(predicted, differ)))
        counts.update(text.split())
        counts.update(alphabet.encode_same(flat(compress(true, map(not_, differ)))).split())
    return Stretches(counts, alphabet.pairs)
