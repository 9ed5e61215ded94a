"""The plan of options: what counts, by what, and the steps before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, EITHER, SENTENCE, Plan, Step
from clueval.core.document import ID, Pair
from clueval.core.metric import AnyMetric
from clueval.files.arguments import require_kind
from clueval.files.errors import UsageError
from clueval.files.options import changed_fields
from clueval.reading.same_text import require_same_text
from clueval.results.options import Groups
from clueval.transforms.changes import UNIT, Alternatives, EachPair, SetApart
from clueval.transforms.options import steps_of


def plan_of(chosen: tuple[AnyMetric, ...], gold: Any, groups: Groups) -> Plan:
    """Return the plan of these options. Raises `UsageError` for options that do not go together."""
    readings, counting, _, trust, _ = groups
    by = (counting.by,) if isinstance(counting.by, str) else tuple(counting.by)
    for key in by:
        require_kind(key, "str", "by")
    metrics = chosen = tuple(_as_in_gate(metric, readings[0].annotation_set) for metric in chosen)
    if counting.score_feature is not None:
        metrics = with_curves(chosen, counting.score_feature, counting.threshold_numbers(), counting.merge)
    align = None
    if counting.align is not False:
        from clueval.core.alignment import MAX_CELLS
        from clueval.transforms.projection import Align  # loads the alignment of texts

        cells = MAX_CELLS if counting.align is True else counting.align
        align = Align(cells, counting.merge, tuple(sorted(Plan(metrics).frames)))
    where, steps = parse_where(counting.where), _steps(gold, groups)
    plan = Plan(metrics, counting.merge, where, by, trust.units, steps, align)
    plan.counts_sentences  # noqa: B018  # it raises the error of sentences that cannot be units
    return plan


def _as_in_gate(metric: AnyMetric, gold_set: str | None) -> AnyMetric:
    """Return a metric with GATE's rule: if it counts within a type of gold's set, all targets of this type count."""
    if getattr(metric, "within", None) is None or gold_set is None:
        return metric
    from clueval.metrics.gate import Gate

    if not isinstance(metric, Gate) or metric.unfiltered is not None:
        return metric
    set_name, _, kind = (metric.containing or "").rpartition(":")
    return replace(metric, unfiltered=kind) if set_name == gold_set else metric


def _steps(gold: Any, groups: Groups) -> tuple[Step, ...]:
    """Return the steps of the options, in their order."""
    counting, preparing = groups.counting, groups.preparing
    steps: tuple[Step, ...] = (Alternatives(),)
    if changed_fields(preparing):
        steps = steps_of(preparing, gold, counting.score_feature)
    if counting.unit != "character":
        return steps
    from clueval.transforms.characters import InCharacters  # few options need it

    return (*steps, InCharacters())


def with_curves(
    metrics: Sequence[AnyMetric], feature: str, thresholds: tuple[float, ...] | None, merge: bool
) -> tuple[AnyMetric, ...]:
    """Return the metrics and their curves by this feature; the metric ``gate`` has curves of its own.

    Raises `UsageError` for a metric without micro averages.
    """
    from clueval.metrics.curve import Curve  # few options need them
    from clueval.metrics.gate import Gate

    found: list[AnyMetric] = []
    for metric in metrics:
        if not isinstance(metric, Gate):
            found += [metric, Curve(metric, feature, thresholds, merge)]
        elif metric.score_feature is None:
            found.append(replace(metric, score_feature=feature, thresholds=thresholds))
        else:
            found.append(metric)
    return tuple(found)


@dataclass(frozen=True)
class SameText(EachPair):
    """A step that changes nothing. Raises `TextMismatch` for two documents with different texts."""

    signature: ClassVar[tuple[str, str]] = ("", "")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        if not pair.beside:
            require_same_text(pair.gold, pair.predicted)
        yield pair


def steps_in_order(first: Sequence[Step], plan: Plan) -> tuple[Step, ...]:
    """Return the steps of a plan after those that give both sides one text, with the comparison of texts."""
    before = [step for step in plan.steps if step.signature[0] != UNIT]
    last = [step for step in plan.steps if step.signature[0] == UNIT]
    return (*first, SetApart(), *before, *([] if texts_may_differ(plan) else [SameText()]), *last)


def texts_may_differ(plan: Plan) -> bool:
    """Return whether gold and predicted may differ in text: texts are aligned, or no metric needs the same text."""
    return plan.align is not None or not any(getattr(each, "same_text", True) for each in plan.metrics)


def parse_where(conditions: Iterable[str] | Mapping[str, str | Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return the values of each key, from ``["risk=high", "domain=civil"]`` or ``{"risk": ["high", "medium"]}``.

    Raises `UsageError` for a condition without an equals sign or a key.

    >>> [(key, sorted(values)) for key, values in parse_where(["risk=high", "risk=low", "domain=civil"]).items()]
    [('risk', ['high', 'low']), ('domain', ['civil'])]
    """
    values: dict[str, set[str]] = {}
    require_kind(conditions, "Iterable", "where")
    if isinstance(conditions, str):
        conditions = [conditions]
    if isinstance(conditions, Mapping):
        for key, given in conditions.items():
            require_kind(given, "str | Iterable", "a value of where")
            several = [given] if isinstance(given, str) else list(given)
            for each in (key, *several):
                require_kind(each, "str", "each key and value of where")
            values.setdefault(key, set()).update(several)
    else:
        for condition in conditions:
            require_kind(condition, "str", "each condition of where")
            key, equals, value = condition.partition("=")
            if not key or not equals:
                raise UsageError(f"the filter {condition!r} cannot be read", advice="write it KEY=VALUE")
            values.setdefault(key, set()).add(value)
    return {key: frozenset(given) for key, given in values.items()}


def require_names(bag: Bag, plan: Plan) -> None:
    """Raise `UsageError` for a key or value of the filter, or a key of a break-down or unit, that never occurs."""
    layers, read = bag.layers, bag.read
    on_documents = [key for key in plan.where if key not in layers]
    units = [plan.units] if plan.units not in (None, DOCUMENT, SENTENCE, EITHER) else []
    for key in (*on_documents, *plan.by, *units):
        if key != ID and key not in read.keys:
            known = ", ".join(sorted({*read.keys, ID}))
            raise UsageError(
                f"no layer and no document's metadata is called {key!r}"
                if key in on_documents
                else f"no document's metadata is called {key!r}",
                advice=f"layers: {', '.join(layers) or 'none'}; metadata: {known}"
                + "; each report has its labels without it" * (key in ("label", "class", "type")),
            )
    for key, values in plan.where.items():
        seen = read.values.get(key, set())
        for value in sorted(values - seen):
            some = sorted(seen)[:10]
            raise UsageError(
                f"no {'document' if key in on_documents else 'span'} has {key}={value}",
                advice=f"values found: {', '.join(some) or 'none'}",
            )
