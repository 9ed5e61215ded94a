"""Reports on documents of `clueval.core`, as `clueval.score` will give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Document, Pair
from clueval.core.metric import AnyMetric, added


def scored(
    gold: Sequence[Document], predicted: Sequence[Document], metric: AnyMetric, **plan: Any
) -> dict[str, Any]:
    """Return the report of a metric on each sequence; `plan` are arguments of `Plan`, with filters as lists."""
    plan["where"] = {name: frozenset(values) for name, values in plan.get("where", {}).items()}
    made = Plan((metric,), **plan)
    pairs = ([Pair(*sides)] for sides in zip(gold, predicted, strict=True))
    return reports(count(pairs, made), made)


def reports(bag: Bag, plan: Plan) -> dict[str, Any]:
    """Return the report of the metric of a plan on each of its sequences, in all places of a bag."""
    (metric,) = plan.metrics
    whole = metric.whole
    sequences = sequences_of(bag, plan) if whole is None else [whole]
    everything = bag.in_one_place()
    tallies = {sequence: tally for _, sequence, _, tally in everything.tallies_of([metric], sequences)}
    metric.check(added((tally, 1) for tally in tallies.values()))
    layers = list(bag.layers)
    return {
        sequence: metric.scores(tallies[sequence], layers if plan.merge else [sequence])
        for sequence in metric.reported(tallies)
    }
