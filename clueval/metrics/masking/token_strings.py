"""String leaks of documents that are tokens, see `clueval.metrics.masking.strings`, which is the plain way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from itertools import compress

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.strings import is_searched
from clueval.metrics.masking.token_text import TokenText

Strings = set[tuple[str, ...]]
"""The words of all mentions of a document."""


class TokenStrings:
    """Finds the words of mentions elsewhere; `mentioned` and `masked` are flags of tokens."""

    def __init__(self, text: TokenText, mentioned: bytes, masked: bytes) -> None:
        self._tokens, self._core, self._ends = text.tokens, text.core, text.ends
        self._mentioned, self._masked = mentioned, masked

    def leaks(self, strings: Sequence[Strings]) -> Iterator[tuple[int, int]]:
        """Yield the tokens of each string leak (half-open), by position; `strings` are those of each document."""
        places = self._that_may_begin(strings)
        first = 0
        for of_document, end in zip(strings, self._ends, strict=True):
            past = bisect_left(places, end, first)
            if first < past:
                yield from self._in_document(of_document, places[first:past], end)
            first = past

    def _that_may_begin(self, strings: Sequence[Strings]) -> list[int]:
        """Return the tokens outside mentions that begin a string of any document."""
        every = {words[0] for of_document in strings for words in of_document}
        found = Flags(bytes(map(every.__contains__, self._tokens))) - Flags(self._mentioned)
        return list(compress(range(len(self._tokens)), found.bytes))

    def _in_document(self, strings: Strings, places: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
        """Yield the string leaks of a document; `places` are the tokens that may begin one.

        Removes the strings that are too short to be searched.
        """
        tokens, core, masked = self._tokens, self._core, self._masked
        strings.difference_update([words for words in strings if not is_searched(words)])
        words = {one[0] for one in strings if len(one) == 1}
        second = {one[:2] for one in strings if len(one) > 1}
        lengths = _lengths(strings)
        past = 0
        for place in places:
            if place < past:
                continue
            found = 0
            if tokens[place] in lengths and self._may_go_on(second, place, end):
                found = self._longest(strings, lengths[tokens[place]], place, end)
            if found:
                past = found
                if not all(compress(masked[place:past], core[place:past])):
                    yield place, past
            elif tokens[place] in words and core[place] and not masked[place]:
                yield place, place + 1

    def _may_go_on(self, second: Container[tuple[str, ...]], place: int, end: int) -> bool:
        """Return whether a string of several words may begin at a token, by the token after it."""
        following = place + 1
        if following >= end:
            return False
        return not self._core[following] or (self._tokens[place], self._tokens[following]) in second

    def _longest(self, strings: Strings, lengths: Sequence[int], place: int, end: int) -> int:
        """Return the end of the longest string that begins at a token and has none of a mention, else 0."""
        ahead = self._words_ahead(place, end, lengths[0])
        for length in lengths:
            if length <= len(ahead) and tuple(map(self._tokens.__getitem__, ahead[:length])) in strings:
                return ahead[length - 1] + 1
        return 0

    def _words_ahead(self, place: int, end: int, most: int) -> list[int]:
        """Return the first words from a token on, up to the next mention."""
        found: list[int] = []
        for token in range(place, end):
            if self._mentioned[token] or len(found) == most:
                break
            if self._core[token]:
                found.append(token)
        return found


def _lengths(strings: Strings) -> dict[str, list[int]]:
    """Return the numbers of words of the strings of several words, by first word, greatest first."""
    found: dict[str, list[int]] = {}
    for words in strings:
        if len(words) > 1:
            found.setdefault(words[0], []).append(len(words))
    return {word: sorted(set(lengths), reverse=True) for word, lengths in found.items()}
