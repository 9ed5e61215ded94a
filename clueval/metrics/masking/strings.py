"""String leaks: the words of a mention that stand elsewhere in the text, not masked and in no mention.

The words must be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5
digits, are too frequent to mean the same thing and are not searched. Of several strings that begin at a word
the longest one counts. Neither recall nor precision knows string leaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress

from clueval.metrics.masking.masked_words import Flags, MaskedWords, Range

LEAST_CHARACTERS = 4
LEAST_DIGITS = 5


def find_strings(
    text: MaskedWords, strings: Iterable[tuple[str, ...]], mentioned: Flags, exposed: Flags
) -> list[Range]:
    """Return where the words of mentions stand outside mentions and are not wholly masked, by position.

    `mentioned` are the characters in mentions, `exposed` those that are not masked. Costs O(n) for n words, times
    the number of different lengths of strings with the same first word.
    """
    lengths = _lengths_by_first_word({words for words in strings if _is_searched(words)})
    return [*_found(text, lengths, mentioned, exposed)] if lengths else []


def _is_searched(words: Iterable[str]) -> bool:
    joined = "".join(words)
    return len(joined) >= (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS)


def _lengths_by_first_word(strings: Iterable[tuple[str, ...]]) -> dict[str, dict[int, set[str]]]:
    """Return the strings, their words joined by blanks, by first word and by number of words, longest first."""
    found: dict[str, dict[int, set[str]]] = {}
    for words in sorted(strings, key=len, reverse=True):
        found.setdefault(words[0], {}).setdefault(len(words), set()).add(" ".join(words))
    return found


def _found(
    text: MaskedWords, strings: dict[str, dict[int, set[str]]], mentioned: Flags, exposed: Flags
) -> Iterator[Range]:
    words = list(compress(text.spelled, text.counting.bytes))
    starts, ends = (list(compress(column, text.counting.bytes)) for column in (text.starts, text.ends))
    past = 0
    for number in [number for number, word in enumerate(words) if word in strings]:
        for length, joined in strings[words[number]].items() if number >= past else ():
            start, end = starts[number], ends[min(number + length, len(ends)) - 1]
            if " ".join(words[number : number + length]) in joined and not mentioned.between(start, end):
                past = number + length
                if exposed.between(start, end):
                    yield start, end
                break
