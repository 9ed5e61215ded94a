"""Alignment of two different texts, character by character.

An alignment arranges the two texts in columns: a column holds one character of each text, equal or not, or a
character of one text and nothing of the other. The alignment is **global** and **minimal**: no other
alignment has fewer columns that differ (Levenshtein 1966: an insertion, a deletion and a replacement cost 1
each). If there are several minimal alignments, `rapidfuzz`, which computes them, chooses one; the same texts
always give the same one.

Characters are Unicode code points, and distances count code points: a letter and a combining accent are two
characters, not one composed character. No character is reserved, and all scripts are supported.

Cost: time is proportional to the product of the two lengths, memory to their sum. Long texts are divided
(Hirschberg 1975), but the alignment is still minimal. Two texts of 200,000 characters take about a second if
one is a noisy reading of the other, up to four seconds if they have nothing in common (ten in a script with
thousands of characters), and well under 100 MB. If the product of the lengths is above a limit, the texts are
refused.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count
from operator import add, itemgetter, sub
from types import ModuleType
from typing import Self

from clueval.core.document import Document
from clueval.files.errors import UsageError, extra

MAX_CELLS = 10**11
"""Default limit for the product of the two lengths: some 316,000 characters each."""

Step = tuple[str, int, int, int, int]
"""As in difflib: ``equal``, ``replace``, ``delete`` (gold only) or ``insert`` (predicted only), then start
and end of the gold characters and of the predicted characters. A range may be empty; the two ranges of a
replacement have the same length."""

_GOLD, _PREDICTED = 1, 3
"""Where a step has the start of the characters of a side; the end follows it."""

_HINT = 64
"""The distance that is tried first; it is doubled until it is enough, so similar texts are aligned faster."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two texts in columns, given by the steps that turn gold into predicted, from start to end.

    Positions are positions of characters, or the length of the text; columns are numbers of columns, or the
    number of all columns. Each method for one position or column costs O(log n). `distance` is the number of
    columns that differ.

    >>> alignment = align("Tolkien was", "Tolkieene xas")
    >>> list(alignment.pieces())
    [('Tolkie', 'Tolkie'), ('', 'e'), ('n', 'n'), ('', 'e'), (' ', ' '), ('w', 'x'), ('as', 'as')]
    >>> alignment.distance, alignment.column_of_gold(6), alignment.column_of_gold(7)
    (3, 7, 9)
    """

    gold: str
    predicted: str
    steps: Sequence[Step]
    distance: int = field(init=False)
    # where each step begins, and the end
    _columns: Sequence[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        widths = [
            gold_end - gold_start or predicted_end - predicted_start
            for _, gold_start, gold_end, predicted_start, predicted_end in self.steps
        ]
        same = sum(end - start for kind, start, end, _, _ in self.steps if kind == "equal")
        object.__setattr__(self, "_columns", list(accumulate(widths, initial=0)))
        object.__setattr__(self, "distance", self.columns - same)

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self._columns[-1]

    def column_of_gold(self, position: int) -> int:
        """Return the column of a gold character; for the length of the text, the column after the last."""
        return self._column_of(position, len(self.gold), _GOLD)

    def column_of_predicted(self, position: int) -> int:
        """Return the column of a predicted character; see `column_of_gold`."""
        return self._column_of(position, len(self.predicted), _PREDICTED)

    def _column_of(self, position: int, length: int, side: int) -> int:
        if position == length:
            return self._column_of(position - 1, length, side) + 1 if position else 0
        # an insertion begins at the same gold character as the step after it, which is the right one of the two
        number = bisect_right(self.steps, position, key=itemgetter(side)) - 1
        return self._columns[number] + position - int(self.steps[number][side])

    def gold_before(self, column: int) -> int:
        """Return the number of gold characters before a column: the position of the next gold character."""
        return self._position_before(column, len(self.gold), _GOLD)

    def predicted_before(self, column: int) -> int:
        """Return the number of predicted characters before a column."""
        return self._position_before(column, len(self.predicted), _PREDICTED)

    def _position_before(self, column: int, length: int, side: int) -> int:
        if column >= self.columns:
            return length
        number = bisect_right(self._columns, column) - 1
        start, end = self.steps[number][side : side + 2]
        return min(int(start) + column - self._columns[number], int(end))

    def pieces(self) -> Iterator[tuple[str, str]]:
        """Yield the gold and the predicted characters of each step; a side without characters is empty."""
        for _, gold_start, gold_end, predicted_start, predicted_end in self.steps:
            yield self.gold[gold_start:gold_end], self.predicted[predicted_start:predicted_end]


def align(
    gold: str,
    predicted: str,
    *,
    max_cells: int = MAX_CELLS,
    limit: str = "max_cells",
    document: str | None = None,
) -> Alignment:
    """Return a global minimal alignment of two texts; see the module for the definition and the cost.

    For error messages, `limit` is the caller's name of `max_cells`, and `document` the id of the document.
    Raises `UsageError` if the product of the two lengths is above `max_cells`, unless the texts are equal, and
    `MissingExtra` if they differ and rapidfuzz is not installed.
    """
    if gold == predicted:
        return Alignment(gold, predicted, [("equal", 0, len(gold), 0, len(gold))] if gold else [])
    levenshtein = _levenshtein()
    cells = len(gold) * len(predicted)
    if cells > max_cells:
        raise UsageError(
            f"aligning {len(gold):,} with {len(predicted):,} characters takes {cells:,} cells, "
            f"and {max_cells:,} are allowed",
            document=document,
            advice=f"split the document, or raise {limit}",
        )
    return Alignment(gold, predicted, levenshtein.opcodes(gold, predicted, score_hint=_HINT).as_list())


def edit_distance(one: str, other: str) -> int:
    """Return the Levenshtein distance of two texts in code points.

    Raises `MissingExtra` if rapidfuzz is not installed.

    >>> edit_distance("Tolkien", "Tolkieene"), edit_distance("writer", "writear")
    (2, 1)
    """
    distance: int = _levenshtein().distance(one, other)
    return distance


def _levenshtein() -> ModuleType:
    with extra(
        "aligning texts needs rapidfuzz, which is not installed",
        'install it with: pip install "clueval[align]"',
    ):
        from rapidfuzz.distance import Levenshtein
    return Levenshtein


# The text of a document of either unit, and where its positions stand in it


def are_unknown(tokens: Sequence[str]) -> bool:
    """Return whether there are tokens and all of them are empty, as in documents that were made of lists of tags."""
    return len(tokens) > 0 and not any(tokens)


def has_characters(document: Document) -> bool:
    """Return whether a document has a text, or tokens that make one."""
    if document.unit == "character":
        return document.text is not None
    return document.tokens is not None and not are_unknown(document.tokens)


_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def words_in(text: str, start: int = 0, end: int = sys.maxsize) -> list[tuple[int, int]]:
    """Return the ranges of the words and single marks between two places of a text."""
    return [match.span() for match in _WORD_OR_MARK.finditer(text, start, end)]


_PART = re.compile("9+|A?a+|A+(?!a)")
"""A part of a word whose capitals are written A, other letters a and digits 9."""


@lru_cache(maxsize=4096)
def parts_of(word: str) -> tuple[str, ...]:
    """Return the parts of a word: one ends at ``_``, between a letter and a digit, and before a capital.

    >>> parts_of("PER_AnnaWEISS2")
    ('PER', 'Anna', 'WEISS', '2')
    """
    kinds = (
        "_" if sign == "_" else "9" if sign.isdigit() else "A" if sign.isupper() else "a" for sign in word
    )
    return tuple(word[slice(*part.span())] for part in _PART.finditer("".join(kinds)))


def tokens_in(text: str, tokens: Iterable[str]) -> list[tuple[int, int]]:
    """Return the ranges of tokens in a text, one after the other; none if they do not all stand in it."""
    ranges, place = [], 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0:
            return []
        place = start + len(token)
        ranges.append((start, place))
    return ranges


@dataclass(frozen=True, slots=True)
class Characters:
    """The text of a document, and where each of its tokens starts and ends in it (half-open).

    `starts` and `ends` are None if the unit of the document is the character. `offset` is the first position of the
    document.
    """

    text: str
    offset: int = 0
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    @classmethod
    def of(cls, document: Document) -> Self:
        """Return the text of `document`; tokens are joined by single blanks. Raises `UsageError` if it has none.

        >>> Characters.of(Document("d", {}, tokens=["Anna", "Weiß"], start=10)).range_between(11, 12)
        (5, 9)
        """
        if not has_characters(document):
            raise UsageError(
                "the document has no text to align",
                **document.in_errors,
                advice="use a format that has the text",
            )
        if document.unit == "character":
            return cls(document.text or "", document.start)
        tokens = document.tokens or ()
        # Each token begins one blank after the one before it ends.
        lengths = list(map(len, tokens))
        ends = array("q", map(add, accumulate(lengths), count()))
        starts = array("q", map(sub, ends, lengths))
        return cls(" ".join(tokens), document.start, starts, ends)

    def range_between(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of characters between two positions of the document, with the blanks inside it."""
        first, last = start - self.offset, end - self.offset
        if self.starts is None or self.ends is None:
            return first, last
        if first < last:
            return self.starts[first], self.ends[last - 1]
        here = self.starts[first] if first < len(self.starts) else len(self.text)
        return here, here
