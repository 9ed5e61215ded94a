"""What metric `masking` reads beside spans: words to ignore, how often words occur, and weights of tokens.

Each is a value that the signature can show: a hash of the content stands for it.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from clueval.core.document import Document
from clueval.files.errors import FormatError, UsageError
from clueval.files.opening import lines

_MOST = 10**18
"""Counts of words are below this number."""


@dataclass(frozen=True, slots=True)
class IgnoredWords:
    """Words that need no mask, case-folded; `file` is where they were read."""

    words: frozenset[str] = frozenset()
    file: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, words: Iterable[str]) -> IgnoredWords:
        return cls(frozenset(word.strip().casefold() for word in words if word.strip()))

    @classmethod
    def read(cls, path: str | Path) -> IgnoredWords:
        """Return the words of a file, one a line."""
        return replace(cls.of(line for _, line in lines(Path(path))), file=str(path))

    def __str__(self) -> str:
        return _hash(sorted(self.words)) if self.words else "none"


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of words by how often they occur: ``-ln((c + 1) / (N + V + 1))``.

    `counts` has the count c of each case-folded word, N is the sum of all counts, V the number of words.
    """

    counts: Mapping[str, int] = field(hash=False)
    file: str | None = field(default=None, compare=False)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> WordWeights:
        """Return the weights of words by these counts; words that differ only in case are added.

        Raises `UsageError` for a count that is not a whole number from 0 on.
        """
        folded: Counter[str] = Counter()
        for word, count in counts.items():
            if type(count) is not int or not 0 <= count < _MOST:
                raise UsageError(
                    f"the count {count!r} of a word is not a whole number from 0 on with at most 18 digits"
                )
            folded[word.casefold()] += count
        return cls(dict(folded))

    @classmethod
    def read(cls, path: str | Path) -> WordWeights:
        """Return the weights of a file with a word and its count on each line, separated by a tab.

        Words that differ only in upper and lower case are added. Raises `FormatError` with the line.
        """
        counts: Counter[str] = Counter()
        for number, line in lines(Path(path)):
            if line.strip():
                word, _, count = line.partition("\t")
                if not (word.strip() and re.fullmatch("[0-9]{1,18}", count.strip())):
                    raise FormatError(
                        f"{line[:80]!r} is not a word and its count",
                        file=str(path),
                        line=number,
                        advice="a word, a tab, a whole number from 0 on with at most 18 digits",
                    )
                counts[word.strip().casefold()] += int(count)
        if not counts:
            raise FormatError("the file has no words", file=str(path), advice="word, tab, count on each line")
        return cls(dict(counts), str(path))

    def weigher(self) -> Callable[[str], float]:
        """Return the function that weighs a word."""
        counts, whole = self.counts, sum(self.counts.values()) + len(self.counts) + 1
        return lambda word: round(-math.log((counts.get(word.casefold(), 0) + 1) / whole), 12)

    def __str__(self) -> str:
        return _hash(f"{word}\t{count}" for word, count in sorted(self.counts.items()))


def token_weights(document: Document) -> Callable[[int], float]:
    """Return the weights that stand in the place of token ids. Raises `UsageError` for what is no weight."""
    if document.token_ids is None:
        raise UsageError(
            "the gold tokens have no weights",
            **document.in_errors,
            advice="name the column of the weights as weight_column of clueval.masking",
        )
    weights = []
    for number, text in enumerate(document.token_ids):
        try:
            weight = float(text)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            raise UsageError(
                f"the weight {text!r} of token {number} is not a number from 0 on",
                **document.in_errors,
                line=None if document.lines is None else document.lines[number],
            )
        weights.append(weight)
    return weights.__getitem__


def _hash(lines: Iterable[str]) -> str:
    return "sha256=" + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
