"""The amounts of a column file that are read, held in memory and parsed at a time."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """Sizes that affect speed and memory, but never the result; tests use small ones.

    Args:
        block: number of bytes that are read at a time; the lines made from them fit in the cache of a processor.
        sentences, tokens: a passage ends after this number of sentences, or after the sentence with which it
            reaches this number of tokens.
        rows, characters: approximate number of lines and of characters that are parsed at a time.
        runs: the number of different clusters that are collected before they are counted.
    """

    block: int = 1 << 17
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14
    characters: int = 1 << 15
    runs: int = 1 << 15


SIZES = Sizes()
