"""The plan of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.arguments import require_kind
from clueval.core.metric import AnyMetric
from clueval.evaluation.units.unit import SENTENCE
from clueval.files.errors import UsageError, described
from clueval.first.metrics import METRICS, metric_class, metric_named
from clueval.first.metrics.metric import Metric
from clueval.metrics import is_metric
from clueval.spans.filters import ID, Filter
from clueval.transforms.group import ANY_OF, LOCATED

if TYPE_CHECKING:
    from clueval.evaluation.observer import Observer, RowObserver
    from clueval.transforms.group import Transform


class Plan(NamedTuple):
    """The choices of an evaluation: metrics, merging, filter, break-downs, unit, alignment, transforms, observers.

    `align` is the greatest product of the lengths of two texts to align; None if texts are not aligned. With
    `resample_by` (``document``, ``sentence`` or a key of metadata) counts are kept by unit; `in_folders` says that
    the sides are folders, so that the keys of units name the files.
    """

    metrics: tuple[Metric, ...]
    merge: bool
    where: Filter
    by: tuple[str, ...]
    unit: str | None = None
    align: int | None = None
    transforms: tuple[Transform, ...] = ()
    observers: tuple[Observer, ...] = ()
    resample_by: str | None = None
    in_folders: bool = False

    @property
    def texts_may_differ(self) -> bool:
        """Whether gold and predicted may differ in text: texts are aligned, or no metric needs the same text."""
        return self.align is not None or not any(metric.needs.same_text for metric in self.metrics)

    @property
    def lists_unplaced(self) -> bool:
        """Whether predicted spans may have no place on the gold text: texts are aligned, or answers are located."""
        return self.align is not None or any(each.signature[0] == LOCATED for each in self.transforms)

    @property
    def reads_whole_texts(self) -> bool:
        """Whether files of a token and a tag are read as Nerval reads them, as one text of characters.

        They are if one metric compares different texts, so that its numbers do not depend on the other metrics;
        if texts are aligned, only if all metrics do.
        """
        decides = any if self.align is None else all
        return decides(not metric.needs.same_text for metric in self.metrics)

    def metadata_keys(self, layers: Iterable[str]) -> set[str]:
        """The keys of metadata that filters and break-downs need, the key of the document's id included."""
        of_units = (
            set() if self.resample_by is None else {ID if self.resample_by == SENTENCE else self.resample_by}
        )
        return {*self.by, *of_units, *(key for key, _ in self.where.on_documents(layers).conditions)}

    @property
    def row_observers(self) -> list[RowObserver]:
        """The observers that may see rows in place of documents."""
        if not self.observers:
            return []
        from clueval.evaluation.observer import RowObserver

        return [each for each in self.observers if isinstance(each, RowObserver)]

    @property
    def reports_depths(self) -> bool:
        """Whether reports have all depths of a hierarchy."""
        if not self.transforms:
            return False
        from clueval.transforms.labels import EachDepth

        return any(isinstance(transform, EachDepth) for transform in self.transforms)

    def counts_clusters(self, layers: Sequence[str], *, in_columns: bool = False) -> bool:
        """Whether clusters of the spans in these layers are enough, so that no documents need to be counted.

        In files `in_columns`, positions may be characters, and observers may see rows.
        """
        by_document = self.counts_by_document(layers)
        if self.texts_may_differ or self.transforms:
            return False
        if any(each.needs.documents or each.needs.whole or each.needs.within for each in self.metrics):
            return False
        if by_document and self.where.on_layers(layers):  # labels of documents that are left out are not seen
            return False
        if self.unit == "character" and (by_document or self.observers or not in_columns):
            return False
        return len(self.row_observers if in_columns else ()) == len(self.observers)

    def counts_by_document(self, layers: Iterable[str]) -> bool:
        """Whether documents must be told apart: for break-downs, units, and filters on others than these layers."""
        return bool(self.by or self.resample_by or (self.where and self.where.on_documents(layers)))

    @property
    def wants_single_documents(self) -> bool:
        """Whether counts depend on the document, so that documents must not be counted together."""
        return bool(self.by or self.where or self.resample_by)


def require_sentences(plan: Plan) -> None:
    """Raise `UsageError` if sentences are to be units, and something counts whole documents only."""
    if plan.resample_by != SENTENCE:
        return
    if plan.align is not None:
        raise UsageError(
            "sentences cannot be units if the texts of the two sides may differ",
            advice="resample by document",
        )
    for metric in plan.metrics:
        if not metric.needs.same_text:
            raise UsageError(
                f"metric {metric.name!r} aligns whole documents, so sentences cannot be units",
                advice="resample by document",
            )


def require_depths(plan: Plan) -> None:
    """Raise `UsageError` if reports have all depths of a hierarchy, and something does not go with them."""
    if not plan.reports_depths:
        return
    if plan.align is not None:
        raise UsageError(
            "Preparing.by_depth cannot be used when texts are aligned",
            advice="score each depth separately with Preparing.depth",
        )
    if plan.resample_by == SENTENCE:
        raise UsageError("Preparing.by_depth does not count by sentence", advice="resample by document")


def _is_metric(given: object) -> bool:
    return not isinstance(given, type) and all(
        hasattr(given, name) for name in ("name", "needs", "count", "scores")
    )


def counting_documents(given: Any) -> Any:
    """Return the metric of the same name and settings that counts documents; anything else as it is."""
    if isinstance(given, str) or _is_metric(given) or not is_metric(given) or given.name not in METRICS:
        return given
    known = {field.name for field in fields(metric_class(given.name)) if field.init}
    settings = {name: getattr(given, name) for name in known}
    return metric_named(given.name, **{name: _plain(value) for name, value in settings.items()})


def _plain(value: Any) -> Any:
    """Return a setting in the form in which users give it: of a list of words, the words."""
    if not is_dataclass(value):
        return value
    (words,) = (getattr(value, field.name) for field in fields(value) if field.compare)
    return words


def chosen_metrics(
    given: Sequence[str | Metric | AnyMetric] | str | Metric | AnyMetric,
) -> tuple[Metric, ...]:
    """The metrics of a list of metrics or names, or of names separated by commas, each once.

    Raises `UsageError` for an unknown name and for an empty list.
    """
    one = _is_metric(given) or is_metric(given)
    several: Any = given.split(",") if isinstance(given, str) else [given] if one else given
    require_kind(several, "Iterable", "metrics")
    if isinstance(several, Mapping):
        from clueval.hints import SETTINGS

        raise UsageError("metrics cannot be a dictionary", advice=SETTINGS)
    listed = [counting_documents(each) for each in several]
    for each in listed:
        if not isinstance(each, str) and not _is_metric(each):
            raise UsageError(
                f"{described(each)} is not a metric", advice=f"one of {', '.join(METRICS)}, or a Metric"
            )
    chosen: list[Metric] = [metric_named(one) if isinstance(one, str) else one for one in listed]
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def choices_of(transforms: Sequence[Transform]) -> dict[str, str]:
    """The choices that transforms add to the signature. Raises `UsageError` for a name that occurs already."""
    from clueval.evaluation.signature import SHORT  # most evaluations have no transforms
    from clueval.transforms.group import ALTERNATIVES

    choices: dict[str, str] = {}
    for name, choice in (transform.signature for transform in transforms):
        if name in choices or name in (*SHORT, "paired", "gold", ALTERNATIVES):
            raise UsageError(
                f"a transform cannot have the name {name!r}, which is in use", advice="give it another name"
            )
        choices[name] = choice
    return {name: choice for name, choice in choices.items() if name != ANY_OF}  # that is said of gold
