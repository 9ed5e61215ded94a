"""String leaks: the words of a mention that stand elsewhere in the text, not masked and in no mention.

The words must be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5
digits, are too frequent to mean the same thing and are not searched. Of several strings that begin at a word
the longest one counts. Neither recall nor precision knows string leaks.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
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
    lengths, keys = _lengths_by_first_word(text, searched)
    return [*_found(text, lengths, keys, mentioned, exposed)] if lengths else []


def is_searched(words: Sequence[str]) -> bool:
    """Return whether words are long enough to be searched elsewhere."""
    joined = words[0] if len(words) == 1 else "".join(words)
    return len(joined) >= (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS)


def _lengths_by_first_word(
    text: MaskedText, strings: Iterable[MentionWords]
) -> tuple[dict[str, list[int]], set[Hashable]]:
    """Return the different numbers of words of the strings by first word, largest first, and the keys of all."""
    by_length: dict[int, list[MentionWords]] = {}
    for words in strings:
        by_length.setdefault(words.number, []).append(words)
    found: dict[str, list[int]] = {}
    keys: set[Hashable] = set()
    for length in sorted(by_length, reverse=True):
        same = by_length[length]
        keys.update([text.keys_of(words)[0] if length > LONG + 2 else words.ends for words in same])
        for first in {words.ends[0] for words in same}:
            found.setdefault(first, []).append(length)
    return found, keys


def _long_key(text: MaskedText, first: int, past: int) -> Hashable:
    """Return the key of the many words that count from `first` to `past`, as a mention with these words has it."""
    words = text.counted.spelled
    return text.keys_of(MentionWords((words[first], words[past - 1]), (first + 1, past - 1)))[0]


def _found(
    text: MaskedText,
    lengths: Mapping[str, Iterable[int]],
    keys: Container[Hashable],
    mentioned: PositionWeights,
    exposed: PositionWeights,
) -> Iterator[Range]:
    words, numbers, starts, ends = text.counted.spelled, text.counted.numbers, text.starts, text.ends
    mentions = mentioned.bytes
    past = reach = 0
    for first in compress(range(len(words)), map(lengths.__contains__, words)):
        start = starts[numbers[first]]
        if first < past or mentions[start]:
            continue
        if start >= reach:
            reach = mentions.find(1, start)
            reach = len(mentions) if reach < 0 else reach
        for length in lengths[words[first]]:
            last = first + length - 1
            end = ends[numbers[last]] if last < len(words) else reach + 1
            if end > reach:
                continue
            key = tuple(words[first : last + 1]) if length <= LONG + 2 else _long_key(text, first, last + 1)
            if key in keys:
                past = last + 1
                if exposed.between(start, end):
                    yield start, end
                break
