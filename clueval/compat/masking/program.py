"""What the ways of counting of other programs have in common: they see groups, their counts add."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from itertools import compress
from typing import Any, ClassVar, Self

from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.spans.document import Document
from clueval.spans.filters import Filter, parse_where
from clueval.studies.masking.found import CONVENTION
from clueval.transforms.group import Group


class OtherProgram(ABC):
    """An observer that counts as another program does; `counted` is what it has counted."""

    program: ClassVar[str]

    def __init__(self, metric: Masking, where: Filter | None = None) -> None:
        self.metric = metric
        self.counted: Tally = Tally()
        self._where = parse_where(()) if where is None else where

    @property
    def name(self) -> str:
        return f"{CONVENTION}{self.program}"

    def see(self, group: Group) -> None:
        """Count a document without the spans that the filter leaves out."""
        where = self._where.on_layers([*group.gold.layers, *group.predicted.layers])
        if where:
            gold, predicted = (_filtered(document, where) for document in (group.gold, group.predicted))
            group = replace(group, gold=gold, predicted=predicted)
        self.counted.update(self.count(group))

    def sent(self) -> Tally:
        """What it has counted."""
        return self.counted

    def join(self, sent: Tally) -> None:
        """Add what another process has counted."""
        self.counted.update(sent)

    @abstractmethod
    def count(self, group: Group) -> Tally:
        """Count one document."""

    @abstractmethod
    def section(self) -> Mapping[str, Any]:
        """Return the figures of the program."""

    def include(self, other: Self) -> None:
        """Add what another one has counted."""
        self.counted.update(other.counted)


def _filtered(document: Document, where: Filter) -> Document:
    layers = {
        name: list(compress(spans, where.counted(spans, document))) for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def share(part: float, whole: float) -> float:
    """Return ``part / whole``; 0/0 is 0."""
    return part / whole if whole else 0.0
