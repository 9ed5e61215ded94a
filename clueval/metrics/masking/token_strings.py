"""String leaks of documents that are tokens, see `clueval.metrics.masking.strings`, which is the plain way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, compress

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
        every = {words[0] for of_document in strings for words in of_document}
        may_begin = Flags(bytes(map(every.__contains__, self._tokens))) - Flags(self._mentioned)
        places = list(compress(range(len(self._tokens)), may_begin.bytes))
        first = 0
        for of_document, end in zip(strings, self._ends, strict=True):
            past = bisect_left(places, end, first)
            if first < past:
                yield from self._in_document(of_document, places[first:past], end)
            first = past

    def _in_document(self, strings: Strings, places: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
        """Yield the string leaks of a document; `places` are the tokens that may begin one."""
        tokens, core, masked = self._tokens, self._core, self._masked
        by_length = _by_length(strings)
        words = {word for (word,) in by_length.pop(1, ())}
        longer = _by_first_word(by_length)
        second = {(words[0], words[1]) for of_length in by_length.values() for words in of_length}
        past = 0
        for place in places:
            if place < past:
                continue
            found = 0
            if tokens[place] in longer and self._may_go_on(second, place, end):
                found = self._longest(longer, place, end)
            if found:
                past = found
                if not all(compress(masked[place:past], core[place:past])):
                    yield place, past
            elif tokens[place] in words and core[place] and not masked[place]:
                yield place, place + 1

    def _may_go_on(self, second: Container[tuple[str, str]], place: int, end: int) -> bool:
        """Return whether a string of several words may begin at a token, by the token after it."""
        following = place + 1
        if following >= end:
            return False
        return not self._core[following] or (self._tokens[place], self._tokens[following]) in second

    def _longest(self, longer: Mapping[str, Mapping[int, Strings]], place: int, end: int) -> int:
        """Return the end of the longest string that begins at a token and has none of a mention, else 0."""
        lengths = longer[self._tokens[place]]
        ahead = self._words_ahead(place, end, next(iter(lengths)))
        for length, strings in lengths.items():
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


def _by_length(strings: Strings) -> dict[int, list[tuple[str, ...]]]:
    """Return the strings that are long enough to be searched, by the number of words."""
    found: dict[int, list[tuple[str, ...]]] = {}
    for words in filter(is_searched, strings):
        found.setdefault(len(words), []).append(words)
    return found


def _by_first_word(by_length: Mapping[int, Sequence[tuple[str, ...]]]) -> dict[str, dict[int, Strings]]:
    """Return the strings by first word and by number of words, longest first."""
    found: dict[str, dict[int, Strings]] = {}
    for words in chain.from_iterable(by_length[length] for length in sorted(by_length, reverse=True)):
        found.setdefault(words[0], {}).setdefault(len(words), set()).add(words)
    return found
