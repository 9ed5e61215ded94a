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
        look: number of lines that are searched for a position to cut the files.
        look_on: the same, after a search that found no position.
        ahead: the comparison stops when one side is this many passages ahead: the files are not parallel, and
            the queue must not fill memory.
        runs, run_tags: the number of different tag runs, and of their tags, that are collected before they
            are compared.
    """

    block: int = 1 << 17
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14
    characters: int = 1 << 15
    look: int = 50
    look_on: int = 50
    ahead: int = 1 << 17
    runs: int = 1 << 15
    run_tags: int = 1 << 16

    @property
    def least_limit(self) -> int:
        """The lowest limit of lines and sentences that lockstep can check; passages check any limit."""
        return 4 * self.block


SIZES = Sizes()
