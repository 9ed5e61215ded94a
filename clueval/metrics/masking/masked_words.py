"""The text of a document as words and characters, and how much of it is masked.

Positions are characters. A *word* is a token where the document has tokens, else a match of ``\\w+``. What is
neither letter nor digit is *ignorable*, and so are the words that the settings name; the core of a mention is
the rest of it. Numbers of characters in a long range come from running sums, so that a range costs the
same whatever its length.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise

from clueval.exceptions import SpanError, UsageError
from clueval.spans.document import Document
from clueval.spans.span import Span, name_of
from clueval.transforms.alignment import Characters
from clueval.transforms.characters import are_unknown

Range = tuple[int, int]
"""Start and end (half-open) in characters."""

Ranges = tuple[Range, ...]
"""The characters of one span, in order: one range, or several if the span has gaps."""

_WORD = re.compile(r"\w+")
_RUN = re.compile(b"\x01+")


SHORT = 256
"""In a range of up to this length flags are counted one by one; for longer ones running sums are made."""


class Flags:
    """One flag for each character, or for each word, as a byte."""

    __slots__ = ("_sums", "bytes")

    def __init__(self, flags: bytes) -> None:
        self.bytes = flags
        self._sums: array[int] | None = None

    @classmethod
    def at(cls, ranges: Iterable[Range], length: int) -> Flags:
        """Return flags for `length` characters, set within the ranges."""
        flags = bytearray(length)
        for start, end in union_of(ranges):
            flags[start:end] = b"\x01" * (end - start)
        return cls(bytes(flags))

    def between(self, start: int, end: int) -> int:
        """Return how many flags are set in ``[start, end)``, in a time that does not depend on the length."""
        if end - start <= SHORT:
            return self.bytes.count(1, start, end)
        if self._sums is None:
            self._sums = array("Q", accumulate(self.bytes, initial=0))
        return self._sums[end] - self._sums[start]

    def within(self, ranges: Ranges) -> int:
        """Return how many flags are set in the ranges, which do not overlap."""
        if len(ranges) == 1:
            return self.between(*ranges[0])
        return sum(self.between(start, end) for start, end in ranges)

    def runs(self, ranges: Ranges) -> list[Range]:
        """Return the runs of set flags in the ranges."""
        return [run.span() for start, end in ranges for run in _RUN.finditer(self.bytes, start, end)]

    def __and__(self, other: Flags) -> Flags:
        return Flags(_both(self.bytes, other.bytes))

    def __sub__(self, other: Flags) -> Flags:
        number = int.from_bytes(self.bytes, "little")
        number ^= number & int.from_bytes(other.bytes, "little")
        return Flags(number.to_bytes(len(self.bytes), "little"))

    @property
    def total(self) -> int:
        """The number of flags that are set."""
        return self.bytes.count(1)


def _both(one: bytes, other: bytes) -> bytes:
    number = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return number.to_bytes(len(one), "little")


def union_of(ranges: Iterable[Range]) -> list[Range]:
    """Return the ranges by position, with those that overlap or touch joined.

    >>> union_of([(4, 6), (0, 2), (5, 9)])
    [(0, 2), (4, 9)]
    """
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


@dataclass(frozen=True, slots=True)
class MaskedWords:
    """The text of a document, its words, and the flags of its letters and digits and of what is not ignorable.

    `spelled` has the words, `starts` and `ends` their ranges; `counting` is set for words that count.
    """

    text: str
    characters: Characters
    spelled: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    letters: Flags
    core: Flags
    counting: Flags

    @classmethod
    def of(cls, document: Document, ignore: str, ignored_words: Collection[str]) -> MaskedWords:
        """Return the words of a document. Raises `UsageError` if it has no text.

        `ignore` is ``punctuation`` or ``none``; `ignored_words` are case-folded.
        """
        if document.end is None or (document.text is None and are_unknown(document.tokens or ())):
            raise UsageError(
                "metric 'masking' needs the text of the documents", file=document.file, document=document.id
            )
        characters = Characters.of(document)
        text = characters.text
        starts, ends, spelled = characters.starts, characters.ends, document.tokens
        if starts is None or ends is None or spelled is None:
            found = _tokens_in(text, document.tokens or ()) or [
                match.span() for match in _WORD.finditer(text)
            ]
            starts, ends = [start for start, _ in found], [end for _, end in found]
            spelled = [text[start:end] for start, end in found]
        letters = core = Flags(bytes(map(str.isalnum, text)))
        if ignore == "none":
            core = Flags(b"\x01" * len(text))
        elif ignored_words:
            ignored = (word.casefold() in ignored_words for word in spelled)
            core = letters - Flags.at(compress(zip(starts, ends, strict=True), ignored), len(text))
        skipped = ignored_words if ignore != "none" else ()
        counts = {word: _has_letter(word) and word.casefold() not in skipped for word in set(spelled)}
        counting = Flags(bytes(map(counts.__getitem__, spelled)))
        return cls(text, characters, spelled, starts, ends, letters, core, counting)

    def ranges_of(self, span: Span, document: Document) -> Ranges:
        """Return the characters of a span of one of the sides, `document`. Raises `SpanError` outside the text."""
        shift = self.characters.offset - document.start
        limit = len(self.text) if self.characters.starts is None else len(self.starts)
        if span.end - document.start > limit:
            raise SpanError(
                f"span {name_of(span)} lies outside the text", document=document.id, file=document.file
            )
        parts = _runs_of(span.tokens) if span.tokens else [(span.start, span.end)]
        between = self.characters.range_between
        return tuple(between(start + shift, end + shift) for start, end in parts)

    def words_in(self, start: int, end: int) -> range:
        """Return the numbers of the words that share a character with ``[start, end)``."""
        if start >= end:
            return range(0)
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))

    def clipped(self, word: int, start: int, end: int) -> Range:
        """Return the part of a word that lies in ``[start, end)``."""
        return max(self.starts[word], start), min(self.ends[word], end)

    def strings_of(self, ranges: Ranges) -> tuple[str, ...]:
        """Return the words of a mention that count, or all of its text as one if none does."""
        found = []
        for start, end in ranges:
            for word in self.words_in(start, end):
                first, last = self.clipped(word, start, end)
                if self.counting.bytes[word] and self.letters.between(first, last):
                    found.append(self.text[first:last])
        return tuple(found) or ("".join(self.text[start:end] for start, end in ranges),)


def _tokens_in(text: str, tokens: Iterable[str]) -> list[Range]:
    """Return the ranges of tokens in a text, one after the other; none if they do not all stand in it."""
    found, place = [], 0
    for token in tokens:
        start = text.find(token, place)
        if start < 0:
            return []
        place = start + len(token)
        found.append((start, place))
    return found


def _has_letter(word: str) -> bool:
    """Return whether a word has a letter or digit."""
    return word.isalnum() or any(map(str.isalnum, word))


def _runs_of(positions: Iterable[int]) -> list[Range]:
    """Return positions as ranges of adjacent ones."""
    ordered = sorted(positions)
    cuts = [number for number, (one, other) in enumerate(pairwise(ordered), 1) if other > one + 1]
    return [
        (ordered[first], ordered[last - 1] + 1)
        for first, last in pairwise([0, *cuts, len(ordered)])
        if first < last
    ]
