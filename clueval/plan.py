"""What is to be counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from clueval.filters import Filter
from clueval.metric import Metric


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be counted: metrics, sequences with their layers, filters, break-downs."""

    metrics: tuple[Metric, ...]
    merge: bool
    where: Filter
    by: tuple[str, ...]
    unit: str | None = None
    align: int | None = None

    @property
    def texts_may_differ(self) -> bool:
        """Whether gold and predicted need not be the same text: if texts are aligned, or all metrics say so."""
        return self.align is not None or all(map(compares_texts, self.metrics))

    @property
    def reads_whole_texts(self) -> bool:
        """Whether files of a token and a tag are read as Nerval reads them, as one text of characters.

        One metric that compares texts decides that for all: its numbers are the same alone and beside others. If
        texts are aligned for the others, files are read as those read them.
        """
        decides = any if self.align is None else all
        return decides(map(compares_texts, self.metrics))

    def metadata_keys(self, layers: Iterable[str]) -> set[str]:
        """What filters and break-downs want to know of a document, the key of its id among it."""
        return {*self.by, *(key for key, _ in self.where.on_documents(layers).conditions)}

    @property
    def needs_documents(self) -> bool:
        """Whether raw passages are not enough, because of what is to be counted."""
        features = any(getattr(metric, "looks_at_features", False) for metric in self.metrics)
        whole = self.texts_may_differ or any(map(compares_texts, self.metrics))
        return whole or features or self.unit == "character"


def frame_of(metric: Metric) -> str | None:
    """The layer within which a metric counts, which is no sequence to be scored itself."""
    return getattr(metric, "containing", None)


def without_filters(metric: Metric) -> Metric | None:
    """A metric that leaves spans out as one that does not, to tell a name that no span has from one left out."""
    if frame_of(metric) is None and getattr(metric, "nil", None) is None:
        return None
    everywhere: Metric = replace(
        metric,  # type: ignore[type-var]  # every metric is a dataclass
        containing=None,
        nil=None,
        score_feature=None,
        thresholds=None,
    )
    return everywhere


def compares_texts(metric: Metric) -> bool:
    """Whether a metric takes two different texts as they are."""
    return bool(getattr(metric, "texts_may_differ", False))
