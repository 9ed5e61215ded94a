"""The text of a document as words and characters, and how much of it is masked.

Positions are characters. A *word* is a token where the document has tokens, else a match of ``\\w+``. What is
neither letter nor digit is *ignorable*, and so are the words that the settings name; the core of a mention is
the rest of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import NamedTuple

from clueval.exceptions import SpanError, UsageError
from clueval.metrics.masking.counted_words import LONG, CountedWords, RunNames
from clueval.metrics.masking.flags import Flags, Range, Ranges
from clueval.spans.document import Document
from clueval.spans.span import Span, name_of
from clueval.transforms.alignment import Characters
from clueval.transforms.characters import are_unknown, tokens_in

_WORD = re.compile(r"\w+")


Surface = tuple[str | int, ...]
"""The words of a mention as a key: the words, or the first, a name of the middle, and the last."""


class MentionWords(NamedTuple):
    """The words of a mention that count.

    `ends` are all of them, or the first and the last, if the others are many; these are the words `middle` of
    those of the document that count.
    """

    ends: tuple[str, ...]
    middle: Range | None = None

    @property
    def number(self) -> int:
        """The number of words."""
        return len(self.ends) + (self.middle[1] - self.middle[0] if self.middle else 0)

    @property
    def are_long(self) -> bool:
        """Whether those between the first and the last are named."""
        return self.number > LONG + 2


@dataclass(frozen=True, slots=True)
class MaskedWords:
    """The text of a document, its words, and the flags of its letters and digits and of what is not ignorable.

    `spelled` has the words, `starts` and `ends` their ranges; `counting` is set for words that count,
    which are `counted`.
    """

    text: str
    characters: Characters
    spelled: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    letters: Flags
    core: Flags
    counting: Flags
    counted: CountedWords

    @classmethod
    def of(cls, document: Document, ignore: str, ignored_words: Collection[str]) -> MaskedWords:
        """Return the words of a document. Raises `UsageError` if it has no text.

        `ignore` is ``punctuation`` or ``none``; `ignored_words` are case-folded.
        """
        if document.end is None or (document.text is None and are_unknown(document.tokens or ())):
            raise UsageError(
                "metric 'masking' needs the text of the documents",
                file=document.file,
                document=document.id,
                advice="give documents with their texts",
            )
        characters = Characters.of(document)
        text = characters.text
        starts, ends, spelled = characters.starts, characters.ends, document.tokens
        if starts is None or ends is None or spelled is None:
            found = tokens_in(text, document.tokens or ()) or [match.span() for match in _WORD.finditer(text)]
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
        counted = CountedWords(spelled, counting)
        return cls(text, characters, spelled, starts, ends, letters, core, counting, counted)

    def ranges_of(self, span: Span, document: Document) -> Ranges:
        """Return the characters of a span of one of the sides, `document`. Raises `SpanError` outside the text."""
        shift = self.characters.offset - document.start
        limit = len(self.text) if self.characters.starts is None else len(self.starts)
        if span.end - document.start > limit:
            raise SpanError(
                f"span {name_of(span)} lies outside the text", document=document.id, file=document.file
            )
        parts = _runs_of(span.tokens) if span.tokens else span.fragments
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

    def strings_of(self, ranges: Ranges) -> MentionWords:
        """Return the words of a mention that count, or all of its text as one if none does."""
        if len(ranges) == 1:
            inside = self.words_in(*ranges[0])
            if len(inside) > LONG:
                return self._strings_within(inside, *ranges[0])
        found = []
        for start, end in ranges:
            for word in self.words_in(start, end):
                found += self._string_of(word, start, end)
        return MentionWords(tuple(found) or ("".join(self.text[start:end] for start, end in ranges),))

    def _string_of(self, word: int, start: int, end: int) -> list[str]:
        """Return the part of a word in ``[start, end)``, nothing if it does not count."""
        first, last = self.clipped(word, start, end)
        counts = self.counting.bytes[word] and self.letters.between(first, last)
        return [self.text[first:last]] if counts else []

    def _strings_within(self, inside: range, start: int, end: int) -> MentionWords:
        """Return the words of a mention that is one range, without those in its middle if they are many."""
        first, last = inside[0], inside[-1]
        front = self._string_of(first, start, end)
        back = self._string_of(last, start, end)
        middle = self.counted.before(first + 1), self.counted.before(last)
        spelled = self.counted.spelled
        if not front and middle[0] < middle[1]:
            front, middle = [spelled[middle[0]]], (middle[0] + 1, middle[1])
        if not back and middle[0] < middle[1]:
            back, middle = [spelled[middle[1] - 1]], (middle[0], middle[1] - 1)
        if middle[1] - middle[0] > LONG:
            return MentionWords((*front, *back), middle)
        words = (*front, *spelled[slice(*middle)], *back)
        return MentionWords(words or (self.text[start:end],))

    def surface_of(self, words: MentionWords) -> Surface:
        """Return what equal words have in common."""
        return _surface(words.ends, words.middle, self.counted.names) if words.are_long else words.ends

    def folded_of(self, words: MentionWords) -> Surface:
        """Return what words that are equal but for upper and lower case have in common."""
        ends = tuple(map(str.casefold, words.ends))
        return _surface(ends, words.middle, self.counted.folded_names) if words.are_long else ends


def _surface(ends: tuple[str, ...], middle: Range | None, names: RunNames) -> Surface:
    name = names.of_items(ends[1:-1]) if middle is None else names.of(*middle)
    return (ends[0], *name, ends[-1])


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
