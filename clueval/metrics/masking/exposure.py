"""What is exposed of each mention of a document, and the documents that the figures are counted from.

`Examination` compares one gold document with the masked characters of the predicted one. Nothing is counted
here; `clueval.metrics.masking.counts` adds up, and reports and pages show single mentions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from clueval.metrics.masking.flags import Flags, Range, Ranges, union_of
from clueval.metrics.masking.masked_words import MaskedWords
from clueval.metrics.masking.mention import Mention
from clueval.metrics.masking.strings import find_strings
from clueval.spans.document import Document

REPLACEMENT, PARTS = "replacement", "parts"
"""The features of a predicted span that have the placeholder which stands in the redacted text, and those of its
parts."""


@dataclass(frozen=True, slots=True)
class Mask:
    """A predicted span: its characters, its label or placeholder, and whether it is counted.

    `parts` has start, end and placeholder of each part, if it stands for several placeholders in a row.
    """

    ranges: Ranges
    label: str
    counted: bool
    parts: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A mention with the numbers of its characters and words, and of those that are exposed.

    `words` holds the numbers of its words that count, and of those that are exposed. `replacement` is what a
    protected mention was replaced by (see `clueval.metrics.masking.replacements`).
    """

    mention: Mention
    characters: int
    exposed: int
    words: int
    words_exposed: int

    @property
    def status(self) -> str:
        if not self.exposed:
            return "protected"
        return "missed" if self.exposed == self.characters else "partial"

    @property
    def is_protected(self) -> bool:
        return not self.exposed


@dataclass(frozen=True)
class Examination:
    """The mentions of one document by annotator, and its masks.

    `mentions` has the mentions of each annotator, also of one without any; the annotator of a sequence that is
    no view among several has the name of the sequence.
    """

    document: Document
    words: MaskedWords
    mentions: Mapping[str, Sequence[Mention]]
    masks: Sequence[Mask]
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def masked(self) -> Flags:
        """The characters that are masked."""
        return Flags.at((one for mask in self.masks for one in mask.ranges), len(self.words.text))

    @cached_property
    def masked_ranges(self) -> list[Range]:
        return union_of(one for mask in self.masks for one in mask.ranges)

    @cached_property
    def mentioned(self) -> Flags:
        """The characters that are in a mention of any annotator."""
        every = (one for found in self.mentions.values() for mention in found for one in mention.ranges)
        return Flags.at(every, len(self.words.text))

    @cached_property
    def exposed(self) -> Flags:
        """The characters of the whole text that are neither ignorable nor masked."""
        return self.words.core - self.masked

    @cached_property
    def exposed_words(self) -> Flags:
        """The words that count and have an exposed character."""
        words, exposed = self.words, self.exposed.bytes
        found = bytearray(words.counting.bytes)
        for start, end in self.masked_ranges:
            for word in words.words_in(start, end):
                if found[word]:
                    found[word] = exposed.find(1, words.starts[word], words.ends[word]) >= 0
        return Flags(bytes(found))

    @cached_property
    def judged(self) -> Mapping[str, list[Judged]]:
        """The mentions of each annotator, compared with the masks."""
        return {name: [self._judge(mention) for mention in found] for name, found in self.mentions.items()}

    @cached_property
    def string_leaks(self) -> list[Range]:
        """The string leaks of the document, see `clueval.metrics.masking.strings`."""
        strings = (mention.words for found in self.mentions.values() for mention in found)
        return find_strings(self.words, strings, self.mentioned, self.exposed)

    def exposed_in(self, mention: Mention) -> list[Range]:
        """Return the exposed characters of a mention as ranges."""
        if self.words.core.within(mention.ranges):
            return self.exposed.runs(mention.ranges)
        return self.readable.runs(mention.ranges)

    @cached_property
    def readable(self) -> Flags:
        """The characters of the whole text that are not masked."""
        return Flags(b"\x01" * len(self.words.text)) - self.masked

    def words_of(self, mention: Mention) -> Iterator[tuple[int, bool]]:
        """Yield the words of a mention that count, by number, and whether they are exposed in it."""
        found: dict[int, bool] = {}
        for start, end in mention.ranges:
            for word in self.words.words_in(start, end):
                part = self.words.clipped(word, start, end)
                if self._counts(word, part):
                    found[word] = found.get(word, False) or bool(self.exposed.between(*part))
        yield from found.items()

    def words_of_all(self, mentions: Iterable[Mention]) -> Iterator[tuple[int, bool, int]]:
        """Yield the words of mentions that count, whether they are exposed, and how often; equal ones may repeat.

        Costs O(n) for n words of the document, however long the mentions are.
        """
        changes: Counter[int] = Counter()
        for mention in mentions:
            (start, end), *further = mention.ranges
            inside = self.words.words_in(start, end)
            if further or len(inside) < 3:
                yield from ((word, exposed, 1) for word, exposed in self.words_of(mention))
                continue
            for word in (inside[0], inside[-1]):
                part = self.words.clipped(word, start, end)
                if self._counts(word, part):
                    yield word, bool(self.exposed.between(*part)), 1
            changes[inside[1]] += 1
            changes[inside[-1]] -= 1
        number = 0
        for first, past in pairwise(sorted(changes)):
            number += changes[first]
            for word in range(first, past) if number else ():
                if self.words.counting.bytes[word]:
                    yield word, bool(self.exposed_words.bytes[word]), number

    def _counts(self, word: int, part: Range) -> bool:
        """Return whether a part of a word has a letter or digit that is not ignorable."""
        core, letters = self.words.core, self.words.letters
        return bool(self.words.counting.bytes[word]) and bool(letters.between(*part) and core.between(*part))

    def _judge(self, mention: Mention) -> Judged:
        characters = self.words.core.within(mention.ranges)
        exposed = self.exposed.within(mention.ranges)
        if not characters:
            characters = sum(end - start for start, end in mention.ranges)
            exposed = characters - self.masked.within(mention.ranges)
        return Judged(mention, characters, exposed, *self._word_numbers(mention))

    def _word_numbers(self, mention: Mention) -> tuple[int, int]:
        """Return how many words of a mention count, and how many of these are exposed."""
        words = self.words
        (start, end), *further = mention.ranges
        inside = words.words_in(start, end)
        if further or not inside:
            found = [exposed for _, exposed in self.words_of(mention)]
            return len(found), sum(found)
        first, last = inside[0], inside[-1]
        whole = range(first + (words.starts[first] < start), last + (words.ends[last] <= end))
        counted = exposed = 0
        for word in {first, last}.difference(whole[:1], whole[-1:]):
            part = words.clipped(word, start, end)
            if self._counts(word, part):
                counted += 1
                exposed += bool(self.exposed.between(*part))
        if whole:
            counted += words.counting.between(whole.start, whole.stop)
            exposed += self.exposed_words.between(whole.start, whole.stop)
        return counted, exposed
