"""String leaks of documents that are tokens, see `clueval.metrics.masking.strings`, which is the plain way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.strings import is_searched
from clueval.metrics.masking.token_text import TokenText

Strings = set[tuple[str, ...]]
"""The words of all mentions of a document."""


def string_leaks_in(
    text: TokenText, strings: Iterable[Strings], mentioned: bytes, masked: bytes
) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each string leak (half-open), by position; `strings` are those of each document."""
    outside = (Flags(text.are_words) - Flags(mentioned)).bytes
    places = list(compress(range(len(outside)), outside))
    spelled = list(compress(text.tokens, outside))
    first = 0
    for of_document, end in zip(strings, text.ends, strict=True):
        past = bisect_left(places, end, first)
        searched = Searched(of_document)
        for start, end in searched.found(spelled[first:past], places[first:past], mentioned):
            alone = end - start == 1
            if not (masked[start] if alone else all(compress(masked[start:end], text.core[start:end]))):
                yield start, end
        first = past


class Searched:
    """The strings of a document that are long enough: single words, and others by first word and length."""

    def __init__(self, strings: Strings) -> None:
        self._words: set[str] = set()
        self._longer: dict[str, dict[int, Strings]] = {}
        for words in sorted(filter(is_searched, strings), key=len, reverse=True):
            if len(words) == 1:
                self._words.add(words[0])
            else:
                self._longer.setdefault(words[0], {}).setdefault(len(words), set()).add(words)

    def found(
        self, spelled: Sequence[str], places: Sequence[int], mentioned: bytes
    ) -> Iterator[tuple[int, int]]:
        """Yield the tokens of the strings, longest first; `spelled` are the words outside mentions."""
        begin = self._words | self._longer.keys()
        past = 0
        for number in compress(range(len(spelled)), map(begin.__contains__, spelled)):
            if number < past:
                continue
            word = spelled[number]
            for length, strings in self._longer.get(word, _NONE).items():
                if tuple(spelled[number : number + length]) in strings:
                    start, end = places[number], places[number + length - 1] + 1
                    if mentioned.find(1, start, end) < 0:
                        past = number + length
                        yield start, end
                        break
            else:
                if word in self._words:
                    yield places[number], places[number] + 1


_NONE: dict[int, Strings] = {}
