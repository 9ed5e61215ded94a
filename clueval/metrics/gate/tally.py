"""The tally of metric ``gate``: what its keys are, and how counts are added to it and read from it.

The keys are ``("all", name)``, ``("type", type, name)`` and ``("by", feature, value, name)`` for counts, with
the names of `clueval.metrics.gate.counts.NAMES`; ``("all", "score", score, *changes)`` and ``("type", type,
"score", score, *changes)`` for the number of documents in which a score changes the counts by these numbers
(see `clueval.metrics.gate.thresholds`); ``("seen", "all")``, ``("seen", "gold type", type)``, ``("seen", "predicted
type", type)``, ``("seen", "feature", feature)`` and ``("seen", "nil")`` for the annotations that have what
`clueval.metrics.gate.annotations` looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import add

from clueval.metrics.counting import Tally
from clueval.metrics.gate.counts import NAMES, GateCounts
from clueval.metrics.tally_keys import Shape, any_change, any_score, any_text

_CHANGE = (any_change,) * len(NAMES)

TALLY_KEYS: tuple[Shape, ...] = (
    (("all",), NAMES),
    (("type",), any_text, NAMES),
    (("by",), any_text, any_text, NAMES),
    (("all",), ("score",), any_score, *_CHANGE),
    (("type",), any_text, ("score",), any_score, *_CHANGE),
    (("seen",), ("all", "nil")),
    (("seen",), ("gold type", "predicted type", "feature"), any_text),
)


def key_of(type: str | None) -> tuple[str, ...]:
    return ("all",) if type is None else ("type", type)


def add_evaluation(
    tally: Tally, type: str | None, counts: Sequence[int], steps: Mapping[float, Sequence[int]]
) -> None:
    """Add the counts of one type, or of all, and the changes that every score makes."""
    own = key_of(type)
    add_counts(tally, own, counts)
    for score, change in steps.items():
        tally[(*own, "score", repr(score), *change)] = 1  # a score comes once, so the key is new


def add_counts(tally: Tally, key: tuple[str, ...], counts: Sequence[int]) -> None:
    for name, number in zip(NAMES, counts, strict=True):
        tally[(*key, name)] += number


def counts_at(total: Tally, key: tuple[str, ...]) -> GateCounts:
    return GateCounts(*[total[(*key, name)] for name in NAMES])


def counts_by(total: Tally, feature: str) -> Iterator[tuple[str, GateCounts]]:
    """Yield the values of a feature of the break-down in alphabetical order, and their counts."""
    for value in sorted({key[2] for key in total if key[:2] == ("by", feature)}):
        yield value, counts_at(total, ("by", feature, value))


def changes_by_score(total: Tally, type: str | None) -> dict[float, list[int]]:
    """Return the changes that every score makes in the counts of one type, or of all, over all documents."""
    own = (*key_of(type), "score")
    width = len(own)
    found: dict[float, list[int]] = {}
    for key, number in total.items():
        if key[:width] == own:
            change = [number * each for each in key[width + 1 :]]
            score = float(key[width])
            found[score] = list(map(add, found[score], change)) if score in found else change
    return found
