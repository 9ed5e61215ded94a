"""Occurrences of mentions in a text: at word boundaries, from left to right, apart; and the steps of looking for them.

A mention that begins or ends with a letter or digit occurs only where no letter, digit or combining mark stands next
to it there. Scripts that are written without blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are
an exception: every place is a boundary in them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from clueval.core.alignment import words_in
from clueval.files.errors import LimitError, UsageError, extra
from clueval.transforms.changes import names_of

Range = tuple[int, int]

MAX_SEARCHED = 20_000_000_000
"""The most characters of texts in which the mentions of a document are looked for: mentions times text."""

MAX_COMPARED = 5_000_000
"""The most words with which the mentions of a document are compared by the step fuzzy: mentions times words."""

STEPS = ("exact", "space", "quotes", "case", "fuzzy")
FUZZY = "fuzzy"
DEFAULT_STEPS = "exact,space"


class LocationSteps(NamedTuple):
    """The steps in which mentions are looked for: their names in order, and the least similarity of ``fuzzy``."""

    names: tuple[str, ...]
    least: float = 1.0

    @classmethod
    def of(cls, steps: str | Iterable[str] = DEFAULT_STEPS) -> LocationSteps:
        """Return the steps of a list, or of a text with commas. Raises `UsageError` for other steps.

        >>> LocationSteps.of("exact,space,fuzzy=0.9")
        LocationSteps(names=('exact', 'space', 'fuzzy'), least=0.9)
        """
        names, least = [], 1.0
        for text in names_of(steps, "locate"):
            name, equals, value = (part.strip() for part in text.partition("="))
            if name not in STEPS or bool(equals) != (name == FUZZY) or name in names:
                raise UsageError(
                    f"locate cannot have the step {text!r}",
                    advice=f"{', '.join(STEPS[:-1])} and fuzzy=0.9, each once",
                )
            names.append(name)
            if equals:
                try:
                    least = float(value)
                except ValueError:
                    least = 0.0
                if not 0 < least <= 1:
                    raise UsageError(
                        f"locate: fuzzy={value} is not a similarity", advice="above 0, at most 1"
                    )
        return cls(tuple(names), least)

    @property
    def folds(self) -> list[tuple[str, ...]]:
        """The folds of each step: those of the steps before it, and its own."""
        before = (self.names[: place + 1] for place in range(len(self.names)))
        return [tuple(name for name in names if name not in ("exact", FUZZY)) for names in before]

    def __str__(self) -> str:
        return ",".join(f"{name}={self.least:g}" if name == FUZZY else name for name in self.names)


# Folds

_QUOTES = str.maketrans(
    dict.fromkeys("‘’‚‛′`´ʼ＇", "'") | dict.fromkeys("“”„‟″«»＂", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)

_SECOND = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5"
    "\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0fb5\u0fb7\u102e\u1b35"
    "\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
).union(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))))
"""The characters of combining class 0 that NFC can join to the one before them: those of Hangul, and others."""

_BLANKS = re.compile(r"[^\S ]|  ")
"""White space that is not a single blank."""


class Folded(NamedTuple):
    """A folded text. Each of its characters comes from the range between its start and its end in the original.

    Several characters of one range belong together, as the two that ``ß`` becomes.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def range_of(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the range of some characters in the original; None if they begin or end inside of a range."""
        begins = first == 0 or self.starts[first] != self.starts[first - 1]
        ends = last == len(self.text) or self.starts[last] != self.starts[last - 1]
        return (self.starts[first], self.ends[last - 1]) if begins and ends else None


def folded(text: str, folds: Collection[str]) -> Folded:
    """Return a text with these folds, in which mentions are looked for.

    The folds are ``space`` (Unicode's form NFC, and each run of white space as one blank), ``quotes`` (all single
    quotes, double quotes and dashes are the same) and ``case`` (no difference between upper and lower case).

    >>> folded("Groß  B", ["space", "case"])
    Folded(text='gross b', starts=[0, 1, 2, 3, 3, 4, 6], ends=[1, 2, 3, 4, 4, 6, 7])
    """
    if "space" not in folds or (not _BLANKS.search(text) and unicodedata.is_normalized("NFC", text)):
        plain = text.translate(_QUOTES) if "quotes" in folds else text
        if "case" not in folds or text.isascii():
            plain = plain.lower() if "case" in folds else plain
            return Folded(plain, range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    is_normal, at = unicodedata.is_normalized("NFC", text), 0
    # what is folded alone: characters or, with "space", what NFC joins, and white space
    while at < len(text):
        end, piece = at + 1, text[at]
        if "space" in folds and piece.isspace():
            while end < len(text) and text[end].isspace():
                end += 1
            piece = " "
        elif "space" in folds and not is_normal:
            while end < len(text) and (unicodedata.combining(text[end]) > 0 or text[end] in _SECOND):
                end += 1
            piece = unicodedata.normalize("NFC", text[at:end])
        if "quotes" in folds:
            piece = piece.translate(_QUOTES)
        if "case" in folds:
            piece = piece.casefold()
        pieces.append(piece)
        starts += [at] * len(piece)
        ends += [end] * len(piece)
        at = end
    return Folded("".join(pieces), starts, ends)


# Occurrences

_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)


class Occurrences:
    """The occurrences of mentions in a text with some folds."""

    def __init__(self, text: str, folds: Collection[str]) -> None:
        self._text, self._folds = text, folds
        self._folded = folded(text, folds)
        self._ranges: dict[str, list[Range]] = {}
        self._words: tuple[list[int], list[int]] | None = None
        self._searched = self._compared = 0

    def key(self, mention: str) -> str:
        """Return the mention with the same folds: mentions with the same key have the same occurrences."""
        return folded(mention, self._folds).text

    def _count(self, searched: int = 0, compared: int = 0) -> None:
        """Count the characters that are searched, and the words that are compared. Raises `LimitError`."""
        self._searched += searched
        self._compared += compared
        if self._searched > MAX_SEARCHED or self._compared > MAX_COMPARED:
            raise LimitError(
                "the mentions that are not found at once are too many for a text of this length",
                advice="leave out the step fuzzy, or locate the mentions in parts of the text",
            )

    def of(self, key: str) -> list[Range]:
        """Return the ranges of all occurrences. O(n) for n characters, where boundaries do not repeat often.

        Raises `LimitError` after too many searches.
        """
        if key in self._ranges:
            return self._ranges[key]
        text = self._folded.text
        self._count(searched=len(text))
        ranges = self._ranges[key] = []
        at = text.find(key) if key else -1
        while at >= 0:
            place = self._folded.range_of(at, at + len(key))
            within = [edge for edge in place or () if 0 < edge < len(self._text)]
            if place is not None and not any(_in_word(*self._text[edge - 1 : edge + 1]) for edge in within):
                ranges.append(place)
                at += len(key)
            else:
                at += 1
                while at < len(text) and _in_word(text[at - 1], text[at]) and _is_letter(key[0]):
                    at += 1  # the key cannot begin inside of a word
            at = text.find(key, at)
        return ranges

    def nearest(
        self, key: str, least: float, may_take: Callable[[Range], bool] = lambda _: True
    ) -> Range | None:
        """Return the range of words that is most similar to the key, at least `least`; the earlier of equal ones.

        Only ranges are returned of which `may_take` is true. The similarity is 1 - d / n, where d is the Levenshtein
        distance and n the length of the longer text. Raises `MissingExtra` if rapidfuzz is not installed, and
        `LimitError` after too many searches.
        """
        with extra(
            "comparing mentions needs rapidfuzz, which is not installed",
            'install it with: pip install "clueval[align]"',
        ):
            from rapidfuzz.distance import Levenshtein
        text = self._folded.text
        if self._words is None:
            words = words_in(text)
            self._words = [start for start, _ in words], [end for _, end in words]
        starts, ends = self._words
        self._count(compared=len(starts))
        best, where = least, None
        for start in starts if key else ():
            first = bisect_left(ends, start + max(1, round(len(key) * best)))
            for end in ends[first : bisect_right(ends, start + int(len(key) / best))]:
                likeness = Levenshtein.normalized_similarity(key, text[start:end], score_cutoff=best)
                if likeness >= best and (where is None or likeness > best):
                    place = self._folded.range_of(start, end)
                    if place is not None and may_take(place):
                        best, where = likeness, place
        return where


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def _in_word(left: str, right: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    letters = _is_letter(left) and _is_letter(right)
    return letters and not (_WITHOUT_BLANKS.match(left) or _WITHOUT_BLANKS.match(right))
