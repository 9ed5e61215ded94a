"""What the ways of counting of other programs have in common: they see groups, their counts add."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from clueval.evaluation.parallel.plain_values import PLAIN, NotPlain, a_list, whole
from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.studies.masking.found import CONVENTION
from clueval.transforms.group import Group


class OtherProgram(ABC):
    """An observer that counts as another program does; `counted` is what it has counted."""

    program: ClassVar[str]

    def __init__(self, metric: Masking) -> None:
        self.metric = metric
        self.counted: Tally = Tally()

    @property
    def name(self) -> str:
        return f"{CONVENTION}{self.program}"

    def see(self, group: Group) -> None:
        self.counted.update(self.count(group))

    def sent(self) -> Any:
        """What it has counted, as a value of JSON."""
        return [[list(key), number] for key, number in self.counted.items()]

    def join(self, sent: Any) -> None:
        """Add what another process has counted. Raises `ValueError` for another value."""
        pairs = [a_list(pair, "a count", 2) for pair in a_list(sent, "the counts")]
        keys = [tuple(a_list(key, "a key")) for key, _ in pairs]
        if not all(type(part) in PLAIN for key in keys for part in key):
            raise NotPlain("a key has a part that is not plain")
        self.counted.update(dict(zip(keys, (whole(number, "a count") for _, number in pairs), strict=True)))

    @abstractmethod
    def count(self, group: Group) -> Tally:
        """Count one document."""

    @abstractmethod
    def section(self) -> Mapping[str, Any]:
        """Return the figures of the program."""

    def include(self, other: Self) -> None:
        """Add what another one has counted."""
        self.counted.update(other.counted)


def share(part: float, whole: float) -> float:
    """Return ``part / whole``; 0/0 is 0."""
    return part / whole if whole else 0.0
