"""An observer that collects the leaks of all documents, and what else a page shows of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clueval.metrics.masking import Masking
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.metric import ANNOTATORS
from clueval.metrics.masking.replacements import replacements_of
from clueval.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.filters import Filter
from clueval.spans.merging import with_merged
from clueval.spans.span import MERGED
from clueval.studies.masking.leak import (
    Leak,
    StringLeak,
    leaks_of,
    needless_of,
    replacements_by_entity,
    string_leaks_of,
)
from clueval.transforms.group import Group


class Inconsistent(NamedTuple):
    """An entity with several replacements, or a replacement of several entities, in one document.

    `start` is where the first of its mentions begins.
    """

    document: str
    start: int
    text: str
    replacements: tuple[str, ...]


class LeakCollector:
    """Sees every group that is counted and keeps its leaks; the metric examines each document once more."""

    name = "leaks"

    def __init__(self, metric: Masking, where: Filter, merge: bool) -> None:
        self._metric, self._where, self._merge = metric, where, merge
        self.leaks: list[Leak] = []
        self.string_leaks: list[StringLeak] = []
        self.needless: Counter[str] = Counter()
        self.inconsistent: list[Inconsistent] = []

    def see(self, group: Group) -> None:
        strings: dict[tuple[int, int], StringLeak] = {}
        for examination in self._examinations(group):
            self.leaks += leaks_of(examination)
            strings |= {(leak.start, leak.end): leak for leak in string_leaks_of(examination)}
            self.needless.update(needless_of(examination))
            self.inconsistent += _inconsistent(examination)
        self.string_leaks += strings.values()

    def section(self) -> Mapping[str, Any]:
        """Return nothing: leaks are no figures."""
        return {}

    def _examinations(self, group: Group) -> Iterator[Examination]:
        gold, predicted = group.gold, group.predicted
        for sequence, own, other in self._sides(gold, predicted):
            counted = None
            if on_layers := self._where.on_layers([*gold.layers, *predicted.layers]):
                counted = on_layers.counted(own.layers.get(sequence, ()), gold)
            sides = (
                Side(own.layers.get(sequence, ()), counted, own, None, sequence),
                Side(other.layers.get(sequence, ()), None, other, None, sequence),
            )
            examination = self._metric.examine(*sides)
            if examination is not None:
                yield examination

    def _sides(self, gold: Document, predicted: Document) -> Iterator[tuple[str, Document, Document]]:
        if self._metric.annotators:
            yield ANNOTATORS, gold, predicted
        elif self._merge:
            yield MERGED, with_merged(gold), with_merged(predicted)
        else:
            for sequence in gold.layers or predicted.layers:
                yield sequence, gold, predicted


def _inconsistent(examination: Examination) -> Iterator[Inconsistent]:
    for mention, replacements in replacements_by_entity(replacements_of(examination)).values():
        if len(replacements) > 1:
            text = examination.words.text[mention.start : mention.end]
            yield Inconsistent(examination.document.id, mention.start, text, tuple(sorted(replacements)))
