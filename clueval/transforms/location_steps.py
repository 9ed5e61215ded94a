"""The steps in which mentions are looked for, as ``exact,space,fuzzy=0.9`` names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clueval.exceptions import UsageError
from clueval.transforms.names import names_of

STEPS = ("exact", "space", "quotes", "case", "fuzzy")
FUZZY = "fuzzy"
DEFAULT_STEPS = "exact,space"

OCCURRENCES = ("in-order", "first", "all")
"""The values of `Preparing.occurrence`."""


class LocationSteps(NamedTuple):
    """The names of the steps in order, and the least similarity of ``fuzzy``."""

    names: tuple[str, ...]
    least: float = 1.0

    @classmethod
    def of(cls, given: str | Iterable[str]) -> LocationSteps:
        """Return the steps of a list, or of a text with commas. Raises `UsageError` for other steps.

        >>> LocationSteps.of("exact,space,fuzzy=0.9")
        LocationSteps(names=('exact', 'space', 'fuzzy'), least=0.9)
        """
        names, least = [], 1.0
        for text in names_of(given, "Preparing.locate"):
            name, equals, value = (part.strip() for part in text.partition("="))
            if name not in STEPS or bool(equals) != (name == FUZZY) or name in names:
                raise UsageError(
                    f"Preparing.locate cannot have the step {text!r}",
                    advice=f"{', '.join(STEPS[:-1])} and fuzzy=0.9, each once",
                )
            if equals:
                least = _share(value)
            names.append(name)
        return cls(tuple(names), least)

    @property
    def folds(self) -> list[tuple[str, ...]]:
        """The folds of each step: those of the steps before it, and its own."""
        folds: list[tuple[str, ...]] = []
        for number in range(len(self.names)):
            folds.append(tuple(name for name in self.names[: number + 1] if name not in ("exact", FUZZY)))
        return folds

    def __str__(self) -> str:
        return ",".join(f"{name}={self.least:g}" if name == FUZZY else name for name in self.names)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"Preparing.locate: fuzzy={text} is not a similarity", advice="above 0, at most 1")
    return share
