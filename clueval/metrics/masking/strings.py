"""String leaks: the words of a mention that stand elsewhere in the text, not masked and in no mention.

The words must be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5
digits, are too frequent to mean the same thing and are not searched. Of several strings that begin at a word
the longest one counts. Neither recall nor precision knows string leaks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import compress

from clueval.metrics.masking.text import LONG, MaskedText, MentionWords
from clueval.metrics.masking.weights import PositionWeights, Range

LEAST_CHARACTERS = 4
LEAST_DIGITS = 5


def find_strings(
    text: MaskedText, strings: Iterable[MentionWords], mentioned: PositionWeights, exposed: PositionWeights
) -> list[Range]:
    """Return where the words of mentions stand outside mentions and are not wholly masked, by position.

    `mentioned` are the positions in mentions, `exposed` what is neither ignorable nor masked. Costs O(n)
    for n words, times the number of different lengths of strings with the same first word.
    """
    searched = (words for words in {*strings} if words.middle or is_searched(words.ends))
    lengths = _lengths_by_first_word(text, searched)
    return [*_found(text, lengths, mentioned, exposed)] if lengths else []


def is_searched(words: Sequence[str]) -> bool:
    """Return whether words are long enough to be searched elsewhere."""
    joined = words[0] if len(words) == 1 else "".join(words)
    return len(joined) >= (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS)


_Strings = dict[str, dict[int, set[Hashable]]]
"""The keys of strings by first word and by number of words, longest first."""


def _lengths_by_first_word(text: MaskedText, strings: Iterable[MentionWords]) -> _Strings:
    by_length: dict[int, list[MentionWords]] = {}
    for words in strings:
        by_length.setdefault(words.number, []).append(words)
    found: _Strings = {}
    for length in sorted(by_length, reverse=True):
        for words in by_length[length]:
            key = text.keys_of(words)[0] if length > LONG + 2 else words.ends
            found.setdefault(words.ends[0], {}).setdefault(length, set()).add(key)
    return found


def _long_key(text: MaskedText, first: int, past: int) -> Hashable:
    """Return the key of the many words that count from `first` to `past`, as a mention with these words has it."""
    words = text.counted.spelled
    return text.keys_of(MentionWords((words[first], words[past - 1]), (first + 1, past - 1)))[0]


def _found(
    text: MaskedText, strings: _Strings, mentioned: PositionWeights, exposed: PositionWeights
) -> Iterator[Range]:
    words, numbers = text.counted.spelled, text.counted.numbers
    mentions = mentioned.bytes
    past = reach = 0
    for first in compress(range(len(words)), map(strings.__contains__, words)):
        start = text.starts[numbers[first]]
        if first < past or mentions[start]:
            continue
        if start >= reach:
            reach = mentions.find(1, start)
            reach = len(mentions) if reach < 0 else reach
        for length, keys in strings[words[first]].items():
            last = first + length - 1
            end = text.ends[numbers[last]] if last < len(words) else reach + 1
            if end > reach:
                continue
            if (
                length == 1
                or (
                    tuple(words[first : last + 1]) if length <= LONG + 2 else _long_key(text, first, last + 1)
                )
                in keys
            ):
                past = last + 1
                if exposed.between(start, end):
                    yield start, end
                break
