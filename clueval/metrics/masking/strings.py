"""String leaks: the words of a mention that stand elsewhere in the text, not masked and in no mention.

The words must be the same in upper and lower case. Strings of fewer than 4 characters, or of fewer than 5 digits, are
too frequent to mean the same thing and are not searched. Of several strings that begin at a word the longest one
counts. Neither recall nor precision knows string leaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

from clueval.files.limits import MAX_MENTIONED, require_short_mentions
from clueval.metrics.masking.positions import PositionWeights, Range
from clueval.metrics.masking.text import MaskedText

LEAST_CHARACTERS = 4
LEAST_DIGITS = 5

_Words = dict[str | None, Any]
"""The strings that begin with the same words, by the next word; `_END` if there is one that ends here."""

_END = None
_LAST: _Words = {_END: True}
"""Most strings end where no other goes on."""


def find_strings(
    text: MaskedText,
    strings: Iterable[tuple[str, ...]],
    mentioned: PositionWeights,
    exposed: PositionWeights,
    **place: Any,
) -> Iterator[Range]:
    """Yield where the words of mentions stand outside mentions and are not wholly masked, by position.

    `mentioned` are the positions in mentions, `exposed` what is neither ignorable nor masked. Of several strings at a
    place, the longest counts. Costs O(n) for n words, times the number of words that a string and a place have in
    common. Raises `LimitError`, with its place, if these are too many.
    """
    tree = _tree(filter(is_searched, strings))
    spelled, starts, ends = text.spelled, text.starts, text.ends
    counting, mentions = text.counting.bytes, mentioned.bytes
    past = reach = compared = 0
    for first in compress(range(len(spelled)), map(tree.__contains__, spelled) if tree else ()):
        start = starts[first]
        if first < past or mentions[start] or not counting[first]:
            continue
        if start >= reach:
            reach = mentions.find(1, start)
            reach = len(mentions) if reach < 0 else reach
        node, end, word = tree, start, first
        while spelled[word] in node and ends[word] <= reach:
            node = node[spelled[word]]
            compared += 1
            if _END in node:
                past, end = word + 1, ends[word]
                if node is _LAST:
                    break
            word = counting.find(1, word + 1)
            if word < 0:
                break
        if compared > MAX_MENTIONED:
            require_short_mentions(compared, len(spelled), **place)
        if exposed.between(start, end):
            yield start, end


def is_searched(words: Sequence[str]) -> bool:
    """Return whether words are long enough to be searched elsewhere."""
    joined = words[0] if len(words) == 1 else "".join(words)
    return len(joined) >= (LEAST_DIGITS if joined.isdigit() else LEAST_CHARACTERS)


def _tree(strings: Iterable[tuple[str, ...]]) -> _Words:
    tree: _Words = {}
    for string in strings:
        node = tree
        for word in string[:-1]:
            if node.get(word, _LAST) is _LAST:
                node[word] = {_END: True} if word in node else {}
            node = node[word]
        if node.setdefault(string[-1], _LAST) is not _LAST:
            node[string[-1]][_END] = True
    return tree
