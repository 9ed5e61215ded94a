"""Artificial words with frequencies after Zipf and Mandelbrot: the word of rank r has the weight 1/(r + 2.7).

The words of a text have about 5.4 characters on average; frequent words are shorter, and some have an umlaut.
"""

from __future__ import annotations

import itertools
import random
from functools import lru_cache

_ONSETS = ("", "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "sch", "st", "t", "tr", "w", "z")
_NUCLEI = ("a", "e", "i", "o", "u") * 6 + ("ei", "au", "ie", "eu", "ä", "ö", "ü")
_CODAS = ("",) * 6 + ("n", "n", "r", "r", "s", "t", "l", "m", "ch", "nd")


def vocabulary(rng: random.Random, size: int = 20_000) -> list[str]:
    """Return distinct words, the most frequent first; every third begins with a capital."""
    words: dict[str, None] = {}
    while len(words) < size:
        word = "".join(_syllable(rng) for _ in range(_syllables(len(words), rng)))
        words[word.capitalize() if len(words) % 3 == 2 else word] = None
    return list(words)


def _syllable(rng: random.Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS)


def _syllables(rank: int, rng: random.Random) -> int:
    if rank < 100:
        return rng.choice((1, 1, 1, 2))
    return rng.choice((1, 2, 2, 2)) if rank < 2_000 else rng.choice((2, 2, 3, 3))


@lru_cache(maxsize=4)
def sample_of_words(size: int, seed: int) -> tuple[str, ...]:
    """Return a text of `size` words; memory holds each distinct word once."""
    rng = random.Random(seed)
    words = vocabulary(rng)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, len(words) + 1)))
    return tuple(rng.choices(words, cum_weights=weights, k=size))
