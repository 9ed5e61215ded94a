"""Occurrences of mentions in a text: at word boundaries, from left to right, apart.

A mention that begins or ends with a letter or digit occurs only where no letter, digit or combining mark stands next
to it there. Scripts that are written without blanks between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are
an exception: every place is a boundary in them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection

from clueval.exceptions import MissingExtra
from clueval.spans.limits import require_few_searched
from clueval.spans.regions import Regions
from clueval.spans.span import Span
from clueval.transforms.folding import folded

Range = tuple[int, int]

_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"\w+|[^\w\s]")


class Occurrences:
    """The occurrences of mentions in a text with some folds (`clueval.transforms.folding`)."""

    def __init__(self, text: str, folds: Collection[str]) -> None:
        self._text, self._folds = text, folds
        self._folded = folded(text, folds)
        self._found: dict[str, list[Range]] = {}
        self._words: tuple[list[int], list[int]] | None = None
        self._searched = self._compared = 0

    def key(self, mention: str) -> str:
        """Return the mention with the same folds: mentions with the same key have the same occurrences."""
        return folded(mention, self._folds).text

    def of(self, key: str) -> list[Range]:
        """Return the ranges of all occurrences. O(n) for n characters, where boundaries do not repeat often.

        Raises `LimitError` after too many searches.
        """
        if key not in self._found:
            self._count(searched=len(self._folded.text))
            self._found[key] = self._occurrences(key)
        return self._found[key]

    def _count(self, searched: int = 0, compared: int = 0) -> None:
        """Count the characters that are searched, and the words that are compared."""
        self._searched += searched
        self._compared += compared
        require_few_searched(self._searched, self._compared)

    def _occurrences(self, key: str) -> list[Range]:
        text = self._folded.text
        found: list[Range] = []
        at = text.find(key) if key else -1
        while at >= 0:
            place = self._folded.range_of(at, at + len(key))
            if (
                place is not None
                and not _cuts_word(self._text, place[0])
                and not _cuts_word(self._text, place[1])
            ):
                found.append(place)
                at = text.find(key, at + len(key))
                continue
            at += 1
            while at < len(text) and _in_word(text[at - 1], text[at]) and _is_letter(key[0]):
                at += 1  # the key cannot begin inside of a word
            at = text.find(key, at)
        return found

    def nearest(self, key: str, least: float, taken: Regions) -> Range | None:
        """Return the range of words that is most similar to the key, at least `least`; the earlier of equal ones.

        The similarity is 1 - d / n, where d is the Levenshtein distance and n the length of the longer text. Raises
        `MissingExtra` if rapidfuzz is not installed, and `LimitError` after too many searches.
        """
        similarity = _similarity()
        text = self._folded.text
        if self._words is None:
            words = [match.span() for match in _WORD.finditer(text)]
            self._words = [start for start, _ in words], [end for _, end in words]
        starts, ends = self._words
        self._count(compared=len(starts))
        best, where = least, None
        for start in starts if key else ():
            first = bisect_left(ends, start + max(1, round(len(key) * best)))
            for end in ends[first : bisect_right(ends, start + int(len(key) / best))]:
                likeness = similarity(key, text[start:end], score_cutoff=best)
                if likeness >= best and (where is None or likeness > best):
                    place = self._folded.range_of(start, end)
                    if place is not None and not taken.touch(Span(*place)):
                        best, where = likeness, place
        return where


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def _in_word(one: str, other: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    return (
        _is_letter(one)
        and _is_letter(other)
        and not (_WITHOUT_BLANKS.match(one) or _WITHOUT_BLANKS.match(other))
    )


def _cuts_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and _in_word(text[place - 1], text[place])


def _similarity() -> Callable[..., float]:
    try:
        from rapidfuzz.distance import Levenshtein
    except ImportError:
        raise MissingExtra(
            "comparing mentions needs rapidfuzz, which is not installed",
            advice='install it with: pip install "clueval[align]"',
        ) from None
    similarity: Callable[..., float] = Levenshtein.normalized_similarity
    return similarity
