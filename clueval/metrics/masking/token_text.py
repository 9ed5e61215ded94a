"""The tokens of documents as numbers: how many letters and digits each has, and sums over runs of tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress

from clueval.metrics.masking.flags import Flags
from clueval.metrics.masking.token_spans import NotTokens

_IS_WORD = bytes(number > 0 for number in range(256))
_ALL_BITS = bytes([0, *[255] * 255])


class LetterNumbers(dict[str, int]):
    """The number of letters and digits of words, for the words that occurred last."""

    def __missing__(self, word: str) -> int:
        if len(self) >= 50_000:
            self.clear()
        number = self[word] = len(word) if word.isalnum() else sum(map(str.isalnum, word))
        return number


_LETTERS = LetterNumbers()


class TokenText:
    """The tokens of documents; `letters` and `core` have a number for each.

    `letters` is the number of letters and digits, `core` that of those that are not ignorable. A token counts as a
    word if its core is not empty. At the indices `borders` are no tokens, but ends of sentences. A document ends at
    each of `ends`; None: there is one. Raises `NotTokens` for a token of more than 255 letters.
    """

    def __init__(
        self,
        tokens: Sequence[str],
        ignored_words: Collection[str],
        borders: Sequence[int] = (),
        ends: Sequence[int] | None = None,
    ) -> None:
        self.tokens, self.borders = tokens, borders
        self.ends = [len(tokens)] if ends is None else ends
        try:
            letters = bytearray(map(_LETTERS.__getitem__, tokens))
        except ValueError:
            raise NotTokens from None
        for border in borders:
            letters[border] = 0
        self.letters = self.core = bytes(letters)
        if ignored_words:
            ignored = (token.casefold() in ignored_words for token in tokens)
            self.core = bytes(0 if skip else n for skip, n in zip(ignored, self.letters, strict=True))

    @property
    def counting(self) -> bytes:
        """Flags of the tokens that count as words."""
        return self.core.translate(_IS_WORD)

    def length(self, start: int, end: int) -> int:
        """Return the number of characters of a run of tokens that is not empty, with the blanks in it."""
        return sum(map(len, self.tokens[start:end])) + end - start - 1

    def words_of(self, start: int, end: int) -> tuple[str, ...]:
        """Return the words of a run of tokens."""
        return tuple(compress(self.tokens[start:end], self.core[start:end]))

    def size_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the numbers of words of a run of tokens and of characters that are not ignorable.

        If there is none, the characters are all of them.
        """
        core = self.core[start:end]
        characters = sum(core)
        return (len(core) - core.count(0), characters) if characters else (0, self.length(start, end))

    def letters_in(self, flags: bytes) -> tuple[int, int]:
        """Return the number of letters and digits of the tokens whose flags are set, and how many of these have one."""
        found = (Flags(self.letters) & Flags(flags.translate(_ALL_BITS))).bytes
        return sum(found), len(found) - found.count(0)
