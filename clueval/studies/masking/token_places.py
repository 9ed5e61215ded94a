"""Where tokens stand in a text of characters, and what is masked of it."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress
from operator import add

from clueval.metrics.masking.flags import Range
from clueval.metrics.masking.token_counts import TokenCounts
from clueval.metrics.masking.token_text import TokenText
from clueval.studies.masking.excerpt import Excerpt, windows_of

_LETTERS = re.compile(r"[^\W_]+")


class TokenPlaces:
    """Tokens as characters of one text, in which tokens are joined by blanks; a border is no token."""

    def __init__(self, text: TokenText) -> None:
        lengths = list(map(len, text.tokens))
        tokens: Sequence[str] | Iterator[str] = text.tokens
        if text.borders:
            are_tokens = bytearray(b"\x01") * len(lengths)
            for border in text.borders:
                lengths[border], are_tokens[border] = -1, 0
            tokens = compress(text.tokens, are_tokens)
        self._before = array("q", accumulate(lengths, initial=0))
        self.text = " ".join(tokens)

    def start(self, token: int) -> int:
        """Return where a token begins."""
        return self._before[token] + token

    def range(self, start: int, end: int) -> Range:
        """Return the characters of a run of tokens that ends with a token."""
        return self._before[start] + start, self._before[end] + end - 1

    def ranges(self, starts: Sequence[int], ends: Sequence[int]) -> tuple[array[int], array[int]]:
        """Return where runs of tokens begin and where they end."""
        before = self._before.__getitem__
        firsts = array("q", map(add, map(before, starts), starts))
        return firsts, array("q", (past - 1 for past in map(add, map(before, ends), ends)))


class MaskedPlaces:
    """What is masked of the text of documents; `begins` and `stops` are where each document begins and ends in it."""

    def __init__(self, counts: TokenCounts, places: TokenPlaces) -> None:
        self._counts, self.places = counts, places
        ends = counts.text.ends
        self.begins = [places.start(first) for first in (0, *ends[:-1])]
        stops = (places.start(end) - 1 for end in ends)
        self.stops = [max(begin, stop) for begin, stop in zip(self.begins, stops, strict=True)]
        self._starts, self._ends = places.ranges(counts.masks.starts, counts.masks.ends)

    def masked_in(self, number: int, window: Range) -> list[Range]:
        """Return the masks that share a character with a range of the text, as characters of its document."""
        begin = self.begins[number]
        found = slice(bisect_right(self._ends, window[0]), bisect_left(self._starts, window[1]))
        places = zip(self._starts[found], self._ends[found], strict=True)
        return [(start - begin, end - begin) for start, end in places]

    def exposed(self, number: int, start: int, end: int) -> Sequence[Range]:
        """Return the exposed characters of a run of tokens of a document."""
        text, masked, begin = self._counts.text, self._counts.masked, self.begins[number]
        if not any(text.core[start:end]):  # it is one token
            first, past = self.places.range(start, end)
            return [] if masked[start] else [(first - begin, past - begin)]
        found: list[Range] = []
        for token in range(start, end):
            if text.core[token] and not masked[token]:
                first, word = self.places.start(token) - begin, text.tokens[token]
                if len(word) == text.letters[token]:
                    found.append((first, first + len(word)))
                else:
                    found += [(first + one.start(), first + one.end()) for one in _LETTERS.finditer(word)]
        return found

    def readable(self, number: int, own: Range) -> Sequence[Range]:
        """Return the characters of a range of a document that are not masked."""
        first, last = own[0] - self.begins[number], own[1] - self.begins[number]
        cuts = [first, *(place for one in self.masked_in(number, own) for place in one), last]
        pairs = zip(cuts[::2], cuts[1::2], strict=True)
        return [(start, end) for start, end in pairs if start < end]

    def excerpt(self, number: int, own: Range, exposed: Sequence[Range]) -> Excerpt:
        """Return the text around a range of a document, of which the characters `exposed` are exposed."""
        text, begin, stop = self.places.text, self.begins[number], self.stops[number]
        windows = windows_of(own, (begin, stop))
        shown = tuple([(first - begin, text[first:last]) for first, last in windows])
        masked = self.masked_in(number, windows[0])
        if len(windows) > 1:
            masked = [*masked, *self.masked_in(number, windows[1])]
        return Excerpt(shown, masked, exposed, windows[-1][1] < stop)
