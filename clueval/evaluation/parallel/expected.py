"""What the counts of a task can be, as far as that is known before it is carried out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clueval.evaluation.parallel.plain_values import NotPlain, whole
from clueval.evaluation.plan import Plan
from clueval.metrics.metric import Metric
from clueval.tagging.decoder import Decoder


@dataclass(frozen=True, slots=True)
class Expected:
    """What the counts of a task can be.

    Attributes:
        layers: the layers that are known before the task.
        is_possible: whether the task can count this number of documents, positions, spans or tags.
        decoded: the layers whose tags come with the counts, if the task is a part of a pair of files.
        decoder: makes the decoder of one of them; None if the task is no part.
    """

    plan: Plan
    layers: tuple[str, ...]
    is_possible: Callable[[int], bool]
    decoded: tuple[str, ...] = ()
    decoder: Callable[[], Decoder] | None = None

    @property
    def is_part(self) -> bool:
        return self.decoder is not None

    def whole(self, value: object, what: str) -> int:
        """Return a whole number that the task can have counted. Raises `NotPlain` for other values."""
        number = whole(value, what)
        if not self.is_possible(number):
            raise NotPlain(f"{what} is more than there can be")
        return number

    @property
    def metrics(self) -> dict[str, Metric]:
        return {metric.name: metric for metric in self.plan.metrics}

    @property
    def frames(self) -> list[str]:
        """The layers within which a metric counts."""
        within = (metric.needs.within for metric in self.plan.metrics)
        return list(dict.fromkeys(layer for layer in within if layer is not None))
