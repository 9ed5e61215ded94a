"""What is to be counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clueval.evaluation.observer import Observer, PassageObserver
from clueval.metrics.metric import Metric
from clueval.spans.filters import Filter
from clueval.transforms.group import Transform


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be counted: metrics, sequences with their layers, filters, break-downs; and what is done before."""

    metrics: tuple[Metric, ...]
    merge: bool
    where: Filter
    by: tuple[str, ...]
    unit: str | None = None
    align: int | None = None
    transforms: tuple[Transform, ...] = ()
    observers: tuple[Observer, ...] = ()

    @property
    def texts_may_differ(self) -> bool:
        """Whether gold and predicted need not be the same text: if texts are aligned, or all metrics say so."""
        return self.align is not None or not any(metric.needs.same_text for metric in self.metrics)

    @property
    def reads_whole_texts(self) -> bool:
        """Whether files of a token and a tag are read as Nerval reads them, as one text of characters.

        One metric that compares texts decides that for all: its numbers are the same alone and beside others. If
        texts are aligned for the others, files are read as those read them.
        """
        decides = any if self.align is None else all
        return decides(not metric.needs.same_text for metric in self.metrics)

    def metadata_keys(self, layers: Iterable[str]) -> set[str]:
        """What filters and break-downs want to know of a document, the key of its id among it."""
        return {*self.by, *(key for key, _ in self.where.on_documents(layers).conditions)}

    @property
    def passage_observers(self) -> list[PassageObserver]:
        """The observers that may see passages in place of documents."""
        return [each for each in self.observers if isinstance(each, PassageObserver)]

    @property
    def needs_documents(self) -> bool:
        """Whether raw passages are not enough, because of what is to be counted."""
        documents = any(metric.needs.documents for metric in self.metrics)
        looked_at = self.transforms or len(self.passage_observers) < len(self.observers)
        return self.texts_may_differ or documents or bool(looked_at) or self.unit == "character"
