"""`score`: opens both sides, counts their texts into a bag, and makes the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from clueval.arguments import require_kind
from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, EITHER, SENTENCE, Plan, Step, count, decided
from clueval.core.document import ID, Pair
from clueval.core.metric import AnyMetric
from clueval.evaluation.options import Counting, Groups, Trust, Workers, groups_of
from clueval.files.errors import UsageError, warn
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns, layer_names, require_layers
from clueval.reading.options import Reading, Readings
from clueval.reading.same_text import require_same_text
from clueval.reading.spooled import spooled
from clueval.second.metrics import chosen_metrics
from clueval.second.metrics.curve import Curve
from clueval.second.metrics.gate import Gate
from clueval.second.results.inputs import schemes_of
from clueval.second.results.result import Result
from clueval.second.results.signature import Signature
from clueval.second.results.texts import Texts, opened
from clueval.second.transforms.align import Align
from clueval.second.transforms.changes import EachPair
from clueval.second.transforms.characters import UNIT, InCharacters
from clueval.second.transforms.locating import SetApart
from clueval.second.transforms.steps import checked, choices_of, steps_of
from clueval.spans.filters import parse_where
from clueval.statistics.alignment import MAX_CELLS
from clueval.transforms.preparing import Preparing

_READING, _COUNTING, _WORKERS, _TRUST, _PREPARING = Reading(), Counting(), Workers(), Trust(), Preparing()


def score(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    metrics: Sequence[str | AnyMetric] | str | AnyMetric = "levels",
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    counting: Counting = _COUNTING,
    workers: Workers = _WORKERS,
    trust: Trust = _TRUST,
    preparing: Preparing = _PREPARING,
    **options: Any,
) -> Result:
    """Score predicted against gold."""
    require_layers(layers)
    groups = groups_of(reading, counting, workers, trust, preparing, options, "score")
    chosen = chosen_metrics(metrics)
    with spooled(gold, predicted) as (gold, predicted):
        return _score(gold, predicted, chosen, layers, groups)


def _score(
    gold: Any, predicted: Any, chosen: tuple[AnyMetric, ...], layers: LayerColumns | None, groups: Groups
) -> Result:
    plan = plan_of(chosen, gold, groups)
    texts = opened(gold, predicted, groups, layers, plan, groups.counting.unit)
    plan = replace(plan, steps=steps_in_order(texts.steps, plan))
    regions = groups.preparing.ignored_layers()
    names = [name for name in (layer_names(layers) if layers else ()) if name not in regions]
    bag = count(texts.pairs, plan, names)
    bag.read.include(texts.read())
    bag.read.settle(texts.schemes, in_memory=texts.kind == "tags")
    return result_of(bag, plan, texts, groups)


def plan_of(chosen: tuple[AnyMetric, ...], gold: Any, groups: Groups) -> Plan:
    """Return the plan of these options. Raises `UsageError` for options that do not go together."""
    _, counting, _, trust, preparing = groups
    by = (counting.by,) if isinstance(counting.by, str) else tuple(counting.by)
    for key in by:
        require_kind(key, "str", "by")
    metrics = chosen
    if counting.score_feature is not None:
        metrics = with_curves(chosen, counting.score_feature, counting.threshold_numbers(), counting.merge)
    align = None
    if counting.align is not False:
        align = Align(MAX_CELLS if counting.align is True else counting.align, counting.merge)
    return Plan(
        metrics,
        counting.merge,
        dict(parse_where(counting.where).conditions),
        by,
        _units(trust.units, metrics, align is not None),
        steps_of(
            gold=gold,
            alternatives=preparing.alternatives,
            label_map=preparing.label_map,
            gold_map=preparing.gold_map,
            predicted_map=preparing.predicted_map,
            hierarchy=preparing.hierarchy,
            depth=preparing.depth,
            min_score=preparing.min_score,
            score_feature=counting.score_feature,
            same_data=preparing.same_data,
            generic=preparing.generic,
            ignore_layer=preparing.ignore_layer,
            ignore_label=preparing.ignore_label,
            ignored=preparing.ignored,
            ignore_same_label=preparing.ignore_same_label,
            untyped=preparing.untyped,
            any_of=preparing.any_of,
            fragments=preparing.fragments,
        )
        + ((InCharacters(),) if counting.unit == "character" else ()),
        align,
    )


def _units(units: str | None, metrics: Sequence[AnyMetric], is_aligned: bool) -> str | None:
    """Return what counts are kept by. Raises `UsageError` for sentences if these cannot be counted."""
    if units not in (SENTENCE, EITHER):
        return units
    if is_aligned:
        if units == EITHER:
            return DOCUMENT
        raise UsageError(
            "sentences cannot be units if the texts of the two sides may differ",
            advice="resample by document",
        )
    for metric in metrics:
        if not getattr(metric, "same_text", True):
            if units == EITHER:
                return DOCUMENT
            raise UsageError(
                f"metric {metric.name!r} aligns whole documents, so sentences cannot be units",
                advice="resample by document",
            )
    return units


def with_curves(
    metrics: Sequence[AnyMetric], feature: str, thresholds: tuple[float, ...] | None, merge: bool
) -> tuple[AnyMetric, ...]:
    """Return the metrics and their curves by this feature; the metric ``gate`` has curves of its own.

    Raises `UsageError` for a metric without micro averages.
    """
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
            require_same_text(pair.gold, pair.predicted)  # type: ignore[arg-type]  # it reads what both have
        yield pair


def steps_in_order(first: Sequence[Step], plan: Plan) -> tuple[Step, ...]:
    """Return the steps of a plan after those that give both sides one text, with the comparison of texts."""
    may_differ = plan.align is not None or not any(getattr(each, "same_text", True) for each in plan.metrics)
    before = [step for step in plan.steps if step.signature[0] != UNIT]
    last = [step for step in plan.steps if step.signature[0] == UNIT]
    return (*first, SetApart(), *before, *([] if may_differ else [SameText()]), *last)


def result_of(bag: Bag, plan: Plan, texts: Texts, groups: Groups) -> Result:
    """Return the result of what was counted. Raises `UsageError` for names in options that never occurred."""
    if plan.where:
        bag = decided(bag)
    require_names(bag, plan)
    _require_frames(bag, plan)
    may_differ = plan.align is not None or not any(getattr(each, "same_text", True) for each in plan.metrics)
    if texts.kind in ("paths", "tags"):
        invalid = "+".join(sorted(bag.read.treatments)) or "none"
        choices = {"scheme": schemes_of(bag.read), "invalid": invalid}
    else:
        choices = {"scheme": "documents", "invalid": "documents"}
    choices |= {name: choice for name, choice in choices_of(plan.steps, bag.notes).items() if name != UNIT}
    if groups.counting.pair_by is not None:
        choices["paired"] = groups.counting.pair_by
    where = parse_where(groups.counting.where)
    choices |= {"merge": "yes" if plan.merge else "no", "where": str(where) or "all"}
    choices["text"] = "aligned" if may_differ else "absent" if bag.read.without_text else "equal"
    result = Result(bag, plan, Signature({}))
    reports = result._everything
    for metric in reports.metrics:
        total = reports.totals(())[metric.name]
        metric.check(total)
        choices |= metric.choices(total)
    for warning in checked(plan.steps, bag.notes):
        warn(warning)
    return replace(result, signature=Signature.of(reports.metrics, choices, bag.read.units))


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


def _require_frames(bag: Bag, plan: Plan) -> None:
    """Raise `UsageError` if a layer within which a metric counts has no span."""
    for frame in plan.frames if bag.documents else ():
        if not any(number for (_, layer), number in bag.read.spans.items() if layer == frame):
            raise UsageError(
                f"no annotation is in {frame!r}, within which the metric counts",
                advice="check its spelling",
            )
