"""How much of a column file is read, held and taken apart at a time."""

from __future__ import annotations

from dataclasses import dataclass

from clueval.textfiles import BLOCK


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes that decide on speed and memory, and on no outcome: tests hand in small ones.

    Args:
        block: bytes that are read at a time.
        sentences, tokens: a passage is cut after so many sentences, and after the sentence that brings it to so
            many tokens.
        rows, characters: about so many lines and characters are taken apart at a time.
        look: lines that are searched for a place to cut the files.
        look_on: the same, after a search that found none.
        ahead: if one side is so many passages ahead, the files are not parallel, and the queue must not fill memory.
        runs, run_bytes: so many different tag runs, or so many bytes of them, are compared before there are more.
    """

    block: int = BLOCK
    sentences: int = 2000
    tokens: int = 1 << 20
    rows: int = 1 << 14
    characters: int = 1 << 18
    look: int = 2000
    look_on: int = 200
    ahead: int = 1 << 17
    runs: int = 1 << 15
    run_bytes: int = 1 << 24

    @property
    def least_limit(self) -> int:
        """Lower limits of lines and sentences are not seen in lockstep: as passages, files keep to any."""
        return 4 * self.block


SIZES = Sizes()
