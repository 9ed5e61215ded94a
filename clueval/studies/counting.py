"""What studies read and count of a corpus themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from clueval.core.count import Plan, count, decided, sequences_of
from clueval.core.document import Pair
from clueval.files.errors import UsageError
from clueval.studies.wrong import Choice

Texts = TypeVar("Texts")


def rereadable(given: Iterable[Texts] | Callable[[], Iterable[Texts]]) -> Callable[[], Iterable[Texts]]:
    """Return a function that returns the texts of a corpus each time anew.

    That of an iterator raises `UsageError` when it is called again.
    """
    if callable(given):
        return given
    readings = 0

    def read() -> Iterable[Texts]:
        nonlocal readings
        readings += 1
        if readings > 1 and isinstance(given, Iterator):
            raise UsageError("the errors can be read only once", advice="give a list or a path")
        return given

    return read


def counted(pairs: Iterable[Pair], choice: Choice, layers: Sequence[str]) -> tuple[dict[str, Any], int, int]:
    """Return the report of the choice's metric by sequence, and the numbers of documents and positions."""
    metric = choice.metric
    plan = Plan((metric,), merge=choice.merge, where=choice.where)
    bag = decided(count(([pair] for pair in pairs), plan, layers)).grouped(lambda place: ())
    report = {
        sequence: metric.scores(tally, list(bag.layers) if choice.merge else [sequence])
        for _, sequence, _, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    }
    positions = sum(sum(places.values()) for places in bag.positions.values())
    return report, sum(bag.documents.values()), positions
