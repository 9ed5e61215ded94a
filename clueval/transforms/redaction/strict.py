"""A redacted text whose literal parts stand in the original word for word.

Placeholders with no letter or digit between them are one *wildcard*. The first literal stands at the start of the
original, the last one at its end, each other one as far left as it can: this finds a reading if there is one.
A second reading puts them as far right as they can, and shows what is uncertain. What a wildcard stands over
is masked, but for words at its ends that both texts have there.

By hand: ``O. Braun klagt`` and ``O. [NAME] klagt``. The placeholders ``O.`` and ``[NAME]`` are one wildcard over
``O. Braun``; ``O`` and ``.`` are equal on both sides, so ``Braun`` is masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clueval.exceptions import TextMismatch
from clueval.transforms.redaction.placeholders import Place
from clueval.transforms.redaction.squeezed import SqueezedText, squeeze, without_equal_ends, words_in


@dataclass(frozen=True, slots=True)
class MaskedRange:
    """A range of the original that is masked, and what stands for it in the redacted text."""

    start: int
    end: int
    replacement: str
    parts: tuple[tuple[int, int, str], ...] = ()
    """Of several placeholders in a row, what each stands for, where only one reading is possible."""


def wildcards_of(text: str, placeholders: Sequence[Place]) -> list[Place]:
    """Join placeholders with no letter or digit between them.

    >>> wildcards_of("A. [B], c [D]", [(0, 2), (3, 6), (10, 13)])
    [(0, 6), (10, 13)]
    """
    found: list[Place] = []
    for start, end in placeholders:
        if found and not any(map(str.isalnum, text[found[-1][1] : start])):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


class StrictReading:
    """The original and the redacted text, cut into literals and wildcards.

    With `joined`, white space counts nowhere, as for an original of which there are only tokens.
    """

    def __init__(self, original: str, redacted: str, placeholders: Sequence[Place], *, joined: bool) -> None:
        self._original, self._redacted, self._joined = original, redacted, joined
        self._squeezed = SqueezedText.of(original, joined=joined)
        self._wildcards = wildcards_of(redacted, placeholders)
        self._placeholders = placeholders
        ends = [0, *(end for _, end in self._wildcards)]
        starts = [*(start for start, _ in self._wildcards), len(redacted)]
        self._literal_starts = ends
        self._literals = [
            squeeze(redacted[start:end], joined=joined) for start, end in zip(ends, starts, strict=True)
        ]
        self._literals[0] = self._literals[0].lstrip()
        self._literals[-1] = self._literals[-1].rstrip()

    def from_the_left(self) -> list[MaskedRange]:
        """Return what is masked, with literals as far left as they can stand. Raises `TextMismatch`."""
        return list(self._masked(self._stretches()))

    def from_the_right(self) -> list[MaskedRange]:
        """Return what is masked, with literals as far right as they can stand."""
        return list(self._masked(self._stretches_from_the_right()))

    def _stretches(self) -> list[Place]:
        """Return what each wildcard stands over in the squeezed original."""
        text, (first, *middle) = self._squeezed.text, self._literals
        if not text.startswith(first):
            raise self._mismatch(0, _common(first, text))
        place, found = len(first), []
        if not middle:
            if len(text) > place:
                raise self._mismatch(0, len(first))
            return []
        for number, literal in enumerate(middle[:-1], 1):
            start = text.find(literal, place)
            if start < 0:
                raise self._mismatch(number, self._longest_prefix(literal, place))
            found.append((place, start))
            place = start + len(literal)
        last = middle[-1]
        if not text.endswith(last) or len(text) - len(last) < place:
            raise self._mismatch(len(middle), self._at_the_end(last, place))
        return [*found, (place, len(text) - len(last))]

    def _stretches_from_the_right(self) -> list[Place]:
        text, (first, *middle) = self._squeezed.text, self._literals
        if not middle:
            return []
        place, found = len(text) - len(middle[-1]), []
        for literal in reversed(middle[:-1]):
            start = text.rfind(literal, 0, place)
            found.append((start + len(literal), place))
            place = start
        return [(len(first), place), *reversed(found)]

    def _masked(self, stretches: Sequence[Place]) -> Iterator[MaskedRange]:
        placeholders = iter(self._placeholders)
        for (start, end), (first, last) in zip(stretches, self._wildcards, strict=True):
            several = list(_up_to(placeholders, last))
            if start < end:
                begin, past = self._squeezed.range_of(start, end)
                own = words_in(self._original, begin, past)
                other = words_in(self._redacted, first, last)
                masked = without_equal_ends(self._original, own, self._redacted, other)
                if masked:
                    parts = self._parts(start, end, several) if len(several) > 1 else ()
                    yield MaskedRange(masked[0][0], masked[-1][1], self._redacted[first:last], parts)

    def _parts(self, start: int, end: int, placeholders: Sequence[Place]) -> tuple[tuple[int, int, str], ...]:
        """Return what each of several placeholders stands for, by the signs between them; nothing if unclear."""
        text = self._squeezed.text
        between = [
            squeeze(self._redacted[one[1] : other[0]], joined=self._joined)
            for one, other in pairwise(placeholders)
        ]
        cuts, back = [start], [end]
        for sign in between:
            cuts.append(text.find(sign, cuts[-1], end) + len(sign))
        for sign in reversed(between):
            back.append(text.rfind(sign, start, back[-1]))
        ends = [cut - len(sign) for cut, sign in zip(cuts[1:], between, strict=True)]
        if not all(between) or min(ends, default=-1) < start or ends != back[:0:-1]:
            return ()
        ranges = zip(cuts, [*ends, end], placeholders, strict=True)
        return tuple(
            (*self._squeezed.range_of(one, other), self._redacted[slice(*place)])
            for one, other, place in ranges
            if one < other
        )

    def _longest_prefix(self, literal: str, place: int) -> int:
        """Return how many characters of a literal can be found from a place on; its prefixes can, too."""
        low, high = 0, len(literal)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high)
                if self._squeezed.text.find(literal[:middle], place) >= 0
                else (low, middle - 1)
            )
        return low

    def _at_the_end(self, literal: str, place: int) -> int:
        """Return the character of the last literal at which the end of the original differs."""
        rest = self._squeezed.text[place:]
        common = _common(literal[::-1], rest[::-1])
        return max(0, len(literal) - common - 1)

    def _mismatch(self, number: int, character: int) -> TextMismatch:
        """Return the error for a character of a literal that has no place in the original."""
        start = self._literal_starts[number]
        literal = self._redacted[
            start : self._wildcards[number][0] if number < len(self._wildcards) else None
        ]
        places = SqueezedText.of(literal, joined=self._joined).places
        leading = number > 0 and not self._joined and literal[:1].isspace()
        at = character - leading
        place = start + (places[at] if 0 <= at < len(places) else len(literal) if at > 0 else 0)
        return TextMismatch(
            f"the redacted text differs from the original at its character {place}, which is in no placeholder",
            advice="name placeholders with placeholder=..., or take other texts with align=True",
        )


def _up_to(placeholders: Iterator[Place], last: int) -> Iterator[Place]:
    """Yield the placeholders up to the one that ends at `last`."""
    for place in placeholders:
        yield place
        if place[1] == last:
            return


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    most = min(len(one), len(other))
    return next((place for place in range(most) if one[place] != other[place]), most)
