"""String leaks of documents that are tokens, see `clueval.metrics.masking.strings`, which is the plain way.

Only words that count are looked at. A string of several words that begins at a word wins over that word alone, and a
word alone cannot prevent a longer string, so the longer ones are searched first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress, islice
from sys import intern
from typing import NamedTuple

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.strings import is_searched

Words = tuple[str, ...]
"""The words of a mention."""

MENTIONED, MASKED = 1, 2
"""The bits of the state of a word: whether it is in a mention, and whether it is masked."""

_IS_FREE = bytes(state == 0 for state in range(256))
_IS_MENTIONED = bytes(state & MENTIONED for state in range(256))


class CountedText(NamedTuple):
    """The words of a document that count, in order, and the state of each."""

    words: Sequence[str]
    states: bytes


class StringLeaks(NamedTuple):
    """The leaks among words up to `past`: flags of those that are one word, and places of the longer ones."""

    alone: bytes
    longer: list[tuple[int, int]]
    past: int

    @property
    def number(self) -> int:
        return self.alone.count(1) + len(self.longer)

    def places(self) -> tuple[list[int], list[int]]:
        """Return the first word of each leak, and the word after its last one, by position."""
        starts = [*compress(range(len(self.alone)), self.alone)]
        ends = [start + 1 for start in starts]
        if self.longer:
            starts += (start for start, _ in self.longer)
            ends += (end for _, end in self.longer)
            starts.sort()
            ends.sort()  # leaks do not overlap
        return starts, ends


def states_of(mentioned: bytes, masked: bytes) -> bytes:
    """Return the states of tokens with these flags."""
    number = int.from_bytes(mentioned, "little") | int.from_bytes(masked, "little") << 1
    return number.to_bytes(len(mentioned), "little")


class SearchedStrings:
    """The words of all mentions of a document that are long enough to be searched elsewhere."""

    def __init__(self) -> None:
        self._alone: set[str] = set()
        self._lengths: dict[Words, int] = {}  # of strings by the first two words, as bits, in little memory
        self._longer: set[Words] = set()  # the strings of more than two words
        self._most = 1

    def add(self, strings: Iterable[Words]) -> None:
        """Add the words of mentions."""
        for words in strings:
            if len(words) == 1:
                if words[0] not in self._alone and is_searched(words):
                    self._alone.add(intern(words[0]))
            elif is_searched(words):
                self._add_longer(words)

    def _add_longer(self, words: Words) -> None:
        first = words[:2]
        lengths = self._lengths.get(first, 0)
        self._lengths[first if lengths else (intern(first[0]), intern(first[1]))] = lengths | 1 << len(words)
        self._most = max(self._most, len(words))
        if len(words) > 2:
            self._longer.add(tuple(map(intern, words)))

    def leaks(self, text: CountedText, *, is_whole: bool = True) -> StringLeaks:
        """Return the leaks in a text; if more text follows, only those that do not depend on it."""
        words, states = text
        known = len(words) if is_whole else max(0, len(words) - self._most + 1)
        found = self._longer_in(words, states.translate(_IS_MENTIONED), known) if self._lengths else []
        past = max(known, found[-1][1] if found else 0)
        alone = bytes(map(self._alone.__contains__, islice(words, past)))
        left = bytearray((Flags(alone) & Flags(states[:past].translate(_IS_FREE))).bytes)
        longer = []
        for start, end in found:
            left[start:end] = bytes(end - start)
            if states.find(0, start, end) >= 0:
                longer.append((start, end))
        return StringLeaks(bytes(left), longer, past)

    def _longer_in(self, words: Sequence[str], mentioned: bytes, known: int) -> list[tuple[int, int]]:
        """Return the places of strings of several words that begin before `known`; none has a word of a mention."""
        pairs = zip(words, islice(words, 1, None), strict=False)
        begun = list(map(self._lengths.get, islice(pairs, known)))
        found = []
        past = reach = 0
        for place, lengths in compress(enumerate(begun), begun):
            if place < past:
                continue
            if place >= reach:
                reach = mentioned.find(1, place)
                reach = len(words) if reach < 0 else reach
            for length in _TWO if lengths == _ONLY_TWO else _from_longest(lengths or 0):
                end = place + length
                if end <= reach and (length == 2 or tuple(words[place:end]) in self._longer):
                    past = end
                    found.append((place, end))
                    break
        return found


_TWO, _ONLY_TWO = (2,), 1 << 2


@lru_cache(1000)
def _from_longest(lengths: int) -> Sequence[int]:
    """Return the numbers of the bits that are set, greatest first."""
    return [number for number in range(lengths.bit_length() - 1, 0, -1) if lengths >> number & 1]
