"""The counts of documents whose spans are runs of tokens, made from a few numbers for each token.

A token is masked as a whole or not at all, so sums over tokens take the place of flags of characters. The counts
are those of `clueval.metrics.masking.counts`, which is the plain way and counts all other documents: texts without
tokens, spans with gaps, predicted spans that overlap, long mentions, mentions of several tokens without a letter or
digit.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, pairwise
from typing import NamedTuple

from clueval.metrics.counting import Tally
from clueval.metrics.masking.counts import MENTION_FIELDS
from clueval.metrics.masking.document_mentions import DocumentMentions, add_document
from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.open_document import OpenDocument
from clueval.metrics.masking.token_spans import TokenMasks, TokenMentions
from clueval.metrics.masking.token_strings import CountedText, SearchedStrings, StringLeaks, states_of
from clueval.metrics.masking.token_text import TokenText


class TokenRuns(NamedTuple):
    """Runs of tokens (half-open) in little memory."""

    starts: array[int]
    ends: array[int]


_NOTHING = 0, 0


class TokenCounts:
    """Counts documents; `views` are the mentions by annotator.

    `masked` and `mentioned` are flags of tokens, `exposed` has the exposed words and characters of each mention, and
    `several` the annotators and documents with an entity that has several replacements, once they are counted.
    """

    def __init__(
        self, text: TokenText, masks: TokenMasks, views: Mapping[str, TokenMentions], risk: Risk
    ) -> None:
        self.text, self.masks, self._risk = text, masks, risk
        self.views = views
        size = len(text.tokens)
        self.masked = _flags(size, masks)
        self.mentioned = _flags(size, *views.values())
        self.exposed = {name: self._exposed_of(found) for name, found in views.items()}
        self.several: list[tuple[str, int]] = []

    def tally(self, document: OpenDocument | None = None) -> Tally:
        """Return the counts, as `clueval.metrics.masking.counts.count` does.

        If this is a part of a document, `document` is told what cannot be counted before its end.
        """
        tally: Tally = Tally()
        for name, found in self.views.items():
            self._add_mentions(tally, found, self.exposed[name])
        self._add_precision(tally)
        if document is None:
            self._add_documents(tally)
            tally["string_leaks", "all"] += sum(leaks.number for leaks in self._string_leaks)
        else:
            for name, found in self.views.items():
                document.add_mentions(name, self._mentions(name), found.words)
            document.add_text(self._counted_text)
        return +tally

    def cuts(self, found: TokenMentions) -> list[int]:
        """Return the number of the first mention of each document, and the number of mentions."""
        ends = self.text.ends[:-1]
        return [0, *(bisect_left(found.starts, end) for end in ends), len(found.starts)]

    def _add_documents(self, tally: Tally) -> None:
        views = {name: self._mentions(name) for name in self.views}
        if len(self.text.ends) == 1:
            self.several += ((name, 0) for name in add_document(tally, views, self._risk))
            return
        cuts = {name: self.cuts(found) for name, found in self.views.items()}
        for number in range(len(self.text.ends)):
            of_document = {
                name: found.between(*cuts[name][number : number + 2]) for name, found in views.items()
            }
            several = add_document(tally, of_document, self._risk)
            self.several += ((name, number) for name in several)

    def _mentions(self, name: str) -> DocumentMentions:
        """Return the mentions of an annotator that are counted."""
        found = self.views[name]
        kinds = [kind for kind, _ in found.groups]
        exposed = [left > 0 for _, left in self.exposed[name]]
        labels = map(self._labels.get, zip(found.starts, found.ends, strict=True))
        rows = zip(labels, found.starts, found.ends, exposed, strict=True)
        replacements = [
            self.replacement(start, end) if label is None and not left else label
            for label, start, end, left in rows
        ]
        every = DocumentMentions(kinds, found.entities, exposed, replacements)
        return every if all(found.counted) else every.where(found.counted)

    def _exposed_of(self, found: TokenMentions) -> list[tuple[int, int]]:
        """Return the exposed words and characters of each mention."""
        find = self.masked.find
        return [
            _NOTHING if find(0, start, end) < 0 else self._left(start, end)
            for start, end in zip(found.starts, found.ends, strict=True)
        ]

    def _left(self, start: int, end: int) -> tuple[int, int]:
        core, masked = self.text.core[start:end], self.masked[start:end]
        if not any(core):
            return 0, self.text.length(start, end)  # it is one token
        left = [number for number, is_masked in zip(core, masked, strict=True) if number and not is_masked]
        return len(left), sum(left)

    def _add_mentions(self, tally: Tally, found: TokenMentions, exposed: Sequence[tuple[int, int]]) -> None:
        sums = {group: [0] * len(MENTION_FIELDS) for group in set(found.groups)}
        sizes = map(self.text.size_of, found.starts, found.ends)
        rows = zip(found.groups, sizes, exposed, strict=True)
        for group, (words, characters), (words_left, left) in compress(rows, found.counted):
            numbers = sums[group]
            numbers[0] += 1
            numbers[4] += words
            numbers[6] += characters
            if left:
                numbers[3 if left == characters else 2] += 1
                numbers[5] += words_left
                numbers[7] += left
        for (kind, label), numbers in sums.items():
            numbers[1] = numbers[0] - numbers[2] - numbers[3]
            for row in (("all", ""), ("class", kind), ("label", label)):
                for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                    tally[*row, field] += number
        tally["entities", "by id"] += found.ids
        tally["entities", "by surface"] += sum(found.counted) - found.ids

    def replacement(self, start: int, end: int) -> str:
        """Return the label of the mask with most characters of a protected mention, the earliest of equals."""
        masks = self.masks
        label = self._labels.get((start, end))
        if label is not None:
            return label
        first = bisect_right(masks.ends, start)
        past = bisect_left(masks.starts, end)
        return masks.labels[max(range(first, past), key=lambda number: self._shared(number, start, end))]

    @cached_property
    def _labels(self) -> dict[tuple[int, int], str]:
        """The labels of the masks by position."""
        masks = self.masks
        return dict(zip(zip(masks.starts, masks.ends, strict=True), masks.labels, strict=True))

    def _shared(self, number: int, start: int, end: int) -> int:
        """Return how many characters of a run of tokens a mask has."""
        return self.text.length(max(self.masks.starts[number], start), min(self.masks.ends[number], end))

    def _add_precision(self, tally: Tally) -> None:
        text, mentioned, masks = self.text, self.mentioned, self.masks
        every = sum(text.letters)
        masked, words = text.letters_in(self.masked)
        inside, right = text.letters_in(_both(self.masked, mentioned))
        find = mentioned.find
        needless = [find(1, start, end) < 0 for start, end in zip(masks.starts, masks.ends, strict=True)]
        for field, number in (
            ("letters", every),
            ("letters_masked", masked),
            ("letters_outside", every - text.letters_in(mentioned)[0]),
            ("characters_over_masked", masked - inside),
            ("masks", sum(masks.counted)),
            ("masks_needless", sum(compress(needless, masks.counted))),
        ):
            tally["precision", field] += number
        for found in self.views.values():
            if len(self.views) > 1:
                _, right = text.letters_in(_both(self.masked, _flags(len(text.tokens), found)))
            tally["precision", "words"] += words
            tally["precision", "words_right"] += right

    @property
    def _searched(self) -> bytes:
        """Flags of the tokens that count as words, or are in a mention, which no string leak crosses."""
        return (Flags(self.text.counting) | Flags(self.mentioned)).bytes

    @cached_property
    def _counted_text(self) -> CountedText:
        """The words of the documents among which string leaks are searched."""
        counting = self._searched
        states = states_of(self.mentioned, self.masked)
        return CountedText(list(compress(self.text.tokens, counting)), bytes(compress(states, counting)))

    @cached_property
    def _string_leaks(self) -> list[StringLeaks]:
        """The string leaks of each document."""
        words, states = self._counted_text
        strings = [SearchedStrings() for _ in self.text.ends]
        for found in self.views.values():
            for of_document, (first, past) in zip(strings, pairwise(self.cuts(found)), strict=True):
                of_document.add(found.words[first:past])
        counting = self._searched
        ends = (counting.count(1, *place) for place in pairwise((0, *self.text.ends)))
        places = pairwise(accumulate(ends, initial=0))
        return [
            of_document.leaks(CountedText(words[first:past], states[first:past]))
            for of_document, (first, past) in zip(strings, places, strict=True)
        ]

    @cached_property
    def string_leaks(self) -> TokenRuns:
        """The tokens of each string leak, by position."""
        places = array("q", compress(range(len(self.text.tokens)), self._searched))
        runs = TokenRuns(array("q"), array("q"))
        first = 0
        for leaks in self._string_leaks:
            starts, ends = leaks.places()
            runs.starts.extend(places[first + start] for start in starts)
            runs.ends.extend(places[first + end - 1] + 1 for end in ends)
            first += leaks.past
        return runs


def _both(one: bytes, other: bytes) -> bytes:
    return (Flags(one) & Flags(other)).bytes


def _flags(size: int, *found: TokenMasks | TokenMentions) -> bytes:
    """Return flags for tokens, set within spans of few tokens or without overlap."""
    flags = bytearray(size)
    for spans in found:
        for start, end in zip(spans.starts, spans.ends, strict=True):
            flags[start:end] = b"\x01" * (end - start)
    return bytes(flags)
