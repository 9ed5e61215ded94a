"""The text of a document as positions with weights, and its words.

Positions are tokens, which are masked as a whole or not at all, or characters, each of which may be masked. The
weight of a position is the number of its letters and digits. What is neither letter nor digit is *ignorable*, and so
are the words that the settings name; the core of a mention is the rest of it. A *word* is a token where the document
has tokens, else a match of ``\\w+``.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, compress, starmap
from operator import ge, not_

from clueval.core.alignment import Characters, are_unknown, parts_of, tokens_in
from clueval.core.document import Document
from clueval.core.span import Ranges, Span, intersect, joined_ranges, name_of
from clueval.files.errors import SpanError, UsageError

Range = tuple[int, int]
"""Start and end (half-open)."""

_RUN = re.compile(b"[^\x00]+")
_ANY = bytes(number > 0 for number in range(256))

SHORT = 256
"""The weights of a range of up to this length are added one by one; for longer ones running sums are made."""


class PositionWeights:
    """One weight for each position, or for each word, as a byte; flags are weights of 0 and 1."""

    def __init__(self, weights: bytes) -> None:
        self.bytes = weights

    @cached_property
    def _sums(self) -> array[int]:
        return array("Q", accumulate(self.bytes, initial=0))

    @classmethod
    def at(cls, ranges: Iterable[Range], length: int) -> PositionWeights:
        """Return flags for `length` positions, set within the ranges."""
        flags, past = bytearray(length), 0
        for start, end in sorted(ranges):
            if end > past:
                start = max(start, past)
                flags[start:end] = b"\x01" * (end - start)
                past = end
        return cls(bytes(flags))

    def between(self, start: int, end: int) -> int:
        """Return the sum of the weights in ``[start, end)``, in a time that does not depend on the length."""
        if end - start <= SHORT:
            return sum(self.bytes[start:end])
        return self._sums[end] - self._sums[start]

    def within(self, ranges: Ranges) -> int:
        """Return the sum of the weights in the ranges, which do not overlap."""
        return sum([self.between(*place) for place in ranges])

    def are_in(self, ranges: Ranges) -> bool:
        """Return whether a flag is set in one of the ranges."""
        return any(self.bytes.find(1, *place) >= 0 for place in ranges)

    def numbers(self, start: int, end: int) -> tuple[int, int]:
        """Return the sum of the weights in ``[start, end)``, and how many positions have one."""
        if end - start > SHORT:
            return self.between(start, end), self.flags.between(start, end)
        weights = self.bytes[start:end]
        return sum(weights), len(weights) - weights.count(0)

    def runs(self, start: int, end: int) -> Iterator[Range]:
        """Yield the runs of positions in ``[start, end)`` that have a weight."""
        return (run.span() for run in _RUN.finditer(self.bytes, start, end))

    def __and__(self, flags: PositionWeights) -> PositionWeights:
        """Return the weights where flags are set, and 0 elsewhere."""
        return self._from_number(_number(self.bytes) & 255 * _number(flags.bytes))

    def __sub__(self, flags: PositionWeights) -> PositionWeights:
        """Return the weights where flags are not set, and 0 elsewhere."""
        number = _number(self.bytes)
        return self._from_number(number ^ (number & 255 * _number(flags.bytes)))

    def _from_number(self, number: int) -> PositionWeights:
        return PositionWeights(number.to_bytes(len(self.bytes), "little"))

    @cached_property
    def flags(self) -> PositionWeights:
        """Flags of the positions that have a weight."""
        return PositionWeights(self.bytes.translate(_ANY))

    @property
    def total(self) -> int:
        """The sum of all weights."""
        return sum(self.bytes.replace(b"\x00", b""))

    @property
    def positions(self) -> int:
        """The number of positions that have a weight."""
        return len(self.bytes) - self.bytes.count(0)


def _number(weights: bytes) -> int:
    return int.from_bytes(weights, "little")


_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W_]+")


def _lengths(tokens: Sequence[str]) -> bytearray | None:
    """Return the length of each token; None if some are empty or very long."""
    try:
        lengths = bytearray(map(len, tokens))
    except ValueError:
        return None
    return None if 0 in lengths else lengths


def from_zero(document: Document) -> Document:
    """Return a document whose first position is 0; its sentences do not matter."""
    by = document.start
    if not by:
        return document
    layers = document.layers.placed(lambda start, end: (start - by, end - by))  # type: ignore[attr-defined]  # `Layers`
    return replace(document, layers=layers, start=0, sentences=())


class MaskedText:
    """The text of a document, whose first position is 0, in positions, which are tokens or characters, and its words.

    `letters` and `core` are the weights of the positions: letters and digits, and what is not ignorable. `spelled` has
    the words, `starts` and `ends` their positions; the flags `counting` are set for words that count.

    `ignore` is ``punctuation`` or ``none``; `ignored_words` are case-folded. Positions are characters if
    `in_characters`, if blanks must be masked, too, and if tokens are empty or very long. Raises `UsageError` for a
    document without text.
    """

    def __init__(
        self, document: Document, ignore: str, ignored_words: Collection[str], *, in_characters: bool
    ) -> None:
        tokens = document.tokens or ()
        if document.end is None or (document.text is None and are_unknown(tokens)):
            raise UsageError(
                "metric 'masking' needs the text of the documents",
                **document.in_errors,
                advice="give documents with their texts",
            )
        self._document, self._ignore, self._ignored_words = document, ignore, ignored_words
        are_positions = document.unit == "token" and not in_characters and ignore != "none"
        letters = _lengths(tokens) if are_positions else None
        self.in_tokens = letters is not None
        ignored = ignored_words if ignore != "none" else ()
        self.spelled: Sequence[str]
        self.starts: Sequence[int]
        self.ends: Sequence[int]
        if letters is not None:
            self.spelled = tokens
            self.size = len(tokens)
            self.starts, self.ends = range(self.size), range(1, self.size + 1)
            for place in compress(range(self.size), map(not_, map(str.isalnum, tokens))):
                letters[place] = sum(map(str.isalnum, tokens[place]))
            self.letters = self.core = PositionWeights(bytes(letters))
        else:
            self.size = len(self.characters)
            self._find_words()
            self.letters = self.core = PositionWeights(bytes(map(str.isalnum, self.characters)))
        if ignore == "none":
            self.core = PositionWeights(b"\x01" * self.size)
        elif ignored:
            skipped = [word.casefold() in ignored for word in self.spelled]
            places = compress(zip(self.starts, self.ends, strict=True), skipped)
            self.core = self.letters - PositionWeights.at(places, self.size)
        if self.in_tokens:
            self.counting = self.core.flags
        else:
            counts = {w: any(map(str.isalnum, w)) and w.casefold() not in ignored for w in set(self.spelled)}
            self.counting = PositionWeights(bytes(map(counts.__getitem__, self.spelled)))

    def alike(self, text: str) -> MaskedText:
        """Return another text in which the same is ignorable; its positions are characters."""
        document = Document("", {}, text=text, unit="character")
        return MaskedText(document, self._ignore, self._ignored_words, in_characters=True)

    def _find_words(self) -> None:
        starts, ends, spelled = self._places.starts, self._places.ends, self._document.tokens
        if starts is None or ends is None or spelled is None:
            text = self.characters
            ranges = tokens_in(text, spelled or ()) or [match.span() for match in _WORD.finditer(text)]
            starts, ends = [start for start, _ in ranges], [end for _, end in ranges]
            spelled = [text[start:end] for start, end in ranges]
        self.spelled, self.starts, self.ends = spelled, starts, ends

    @cached_property
    def _places(self) -> Characters:
        return Characters.of(self._document)

    @property
    def characters(self) -> str:
        """The text; blanks join tokens."""
        return self._places.text

    # Positions

    def placed(self, span: Span, document: Document) -> Span:
        """Return a span of one of the sides, `document`, with positions of this text, as parts if some are left out.

        Raises `SpanError` outside the text.
        """
        if self.in_tokens and span.tokens is None and span.end <= self.size:
            return span
        limit = self.size if self.in_tokens or self._places.starts is None else len(self._places.starts)
        if span.end > limit:
            raise SpanError(f"span {name_of(span)} lies outside the text", **document.in_errors)
        parts = span.fragments
        if span.tokens:
            parts = joined_ranges(((token, token + 1) for token in span.tokens), ge)
        ranges = parts if self.in_tokens else list(starmap(self._places.range_between, parts))
        solid = [place for place in ranges if place[0] < place[1]] or ranges[:1]
        return Span.of_fragments(solid, span.labels, span.features, id=span.id, line=span.line)

    def place(self, start: int, end: int) -> Range:
        """Return the characters of the positions ``[start, end)``."""
        if not self.in_tokens:
            return start, end
        return self._places.range_between(start, end)

    def between(self, ranges: Ranges) -> str:
        """Return the characters of ranges of positions."""
        return "".join([self.characters[slice(*self.place(*place))] for place in ranges])

    def letters_in(self, ranges: Iterable[Range]) -> Iterator[Range]:
        """Yield the runs of letters and digits in ranges of positions."""
        for start, end in ranges:
            yield from map(re.Match.span, _LETTERS.finditer(self.characters, *self.place(start, end)))

    # Words

    def words_in(self, start: int, end: int) -> range:
        """Return the numbers of the words that share a character with the positions ``[start, end)``."""
        if self.in_tokens:
            return range(start, end)
        if start >= end:
            return range(0)
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))

    def clipped(self, word: int, start: int, end: int) -> Range:
        """Return the part of a word that lies in ``[start, end)``."""
        return max(self.starts[word], start), min(self.ends[word], end)

    def strings_of(self, ranges: Ranges) -> tuple[str, ...]:
        """Return the words of a mention that count, or all of its text as one if none does."""
        strings: list[str] = []
        for start, end in ranges:
            if self.in_tokens:
                strings += compress(self.spelled[start:end], self.counting.bytes[start:end])
                continue
            for word in self.words_in(start, end):
                part = self.clipped(word, start, end)
                if self.counting.bytes[word] and self.letters.between(*part):
                    strings.append(self.characters[slice(*part)])
        return tuple(strings) or (self.between(ranges),)


def parts_of_words(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of all words of texts, see `parts_of`."""
    return tuple(part for text in texts for word in _WORD.findall(text) for part in parts_of(word))


def without(ranges: Sequence[Range], others: Sequence[Range]) -> list[Range]:
    """Return the parts of ranges that are in none of the others; both are in order.

    >>> without([(0, 9)], [(2, 4), (4, 5)])
    [(0, 2), (5, 9)]
    """
    left = []
    for start, end in ranges:
        for first, last in intersect([(start, end)], others):
            left += [(start, first)] if start < first else []
            start = last
        left += [(start, end)] if start < end else []
    return left
