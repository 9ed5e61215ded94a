"""Measures counting by cases (`clueval.core`) against counting documents, on the same spans in one process.

Each row is a shape of a corpus: the least CPU seconds of both, taken in turn, and their ratio. The reports of both must
be equal. For places by sentence, the peak memory is compared, too.

    python benchmarks/cases.py
    python benchmarks/cases.py --spans 10000 --runs 3
"""

from __future__ import annotations

import argparse
import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

from clueval.evaluation.run import score as first_score
from measure import environment, progress, require_from_1

import clueval
from clueval.core.bag import Bag
from clueval.core.case import keys_of_triples
from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Document, Pair, Row, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import Metric
from clueval.core.span import Span
from clueval.metrics.fair import Fair
from clueval.metrics.gate import Gate
from clueval.metrics.muc import Muc
from clueval.metrics.partial import Partial

BATCH = 500
"""The number of lists whose keys are added together."""

METRICS: dict[str, Metric] = {"exact": Exact(), "levels": Levels()}

OF_ONE_CASE: dict[str, Metric] = {
    "exact": Exact(),
    "partial": Partial(),
    "muc": Muc(),
    "gate": Gate(),
    "fair": Fair(),
}
"""What counts one case of many spans."""

Sides = list[tuple[list[Row], list[Row]]]


def texts(spans: int) -> Sides:
    """Texts of five gold spans each; a fifth of the predicted spans are wrong in some way."""
    rng = random.Random(3)
    sides: Sides = []
    for _ in range(spans // 5):
        gold: list[Row] = []
        predicted: list[Row] = []
        past = 0
        for _ in range(5):
            start = past + rng.randint(0, 8)
            past = start + rng.choice((1, 1, 2, 2, 3, 4))
            label = rng.choice(("PER", "LOC", "ORG", "MISC"))
            gold.append((start, past, label))
            kind = rng.random()
            if kind < 0.85:
                predicted.append(gold[-1])
            elif kind < 0.9:
                predicted.append((start, past, "PER"))
            elif kind < 0.95 and past - start > 1:
                predicted.append((start, past - 1, label))
        sides.append((gold, predicted))
    return sides


def under_one_span(spans: int) -> Sides:
    """One text in which a span covers all others."""
    rng = random.Random(1)
    gold, predicted = [(0, 10 * spans, "DOC")], [(0, 10 * spans, "DOC")]
    for number in range(spans):
        gold.append((10 * number, 10 * number + 5, rng.choice("AB")))
        predicted.append((10 * number, 10 * number + rng.choice((5, 5, 5, 4, 6)), rng.choice("AAB")))
    return [(gold, predicted)]


def documents(sides: Sides, has_text: bool = True, sentences: int = 0) -> tuple[list[Any], list[Any]]:
    """The texts as documents of today, and as pairs of documents of core."""
    old: tuple[list[clueval.Document], list[clueval.Document]] = ([], [])
    new = []
    for number, both in enumerate(sides):
        length = max((end for rows in both for _, end, _ in rows), default=0) + 10
        step = max(1, length // sentences) if sentences else length
        ends = [(start, min(length, start + step)) for start in range(0, length, step)]
        tokens = ["x"] * length if has_text else None
        for rows, side in zip(both, old, strict=True):
            found = [clueval.Sentence(*each) for each in ends] if has_text else ()
            layers = {"label": [clueval.Span(*row) for row in rows]}
            side.append(clueval.Document(str(number), layers, tokens=tokens, sentences=found))
        own = [
            Document(
                str(number),
                {"label": [Span(*row) for row in rows]},
                tokens=tokens,
                sentences=[Sentence(*each) for each in ends] if has_text else (),
            )
            for rows in both
        ]
        new.append([Pair(own[0], own[1])])
    return list(old), new


def reports(bag: Bag, plan: Plan) -> dict[str, Any]:
    """The reports of the only layer, over all places."""
    total = bag.grouped(lambda place: ())
    found = total.tallies_of(plan.metrics, sequences_of(total, plan))
    return {metric.name: metric.scores(tally, [sequence]) for _, sequence, metric, tally in found}


def of_lists(sides: Sides, plan: Plan) -> dict[str, Any]:
    """The reports of lists of rows, counted without documents."""
    bag = Bag(plan.metrics, ["label"])
    for start in range(0, len(sides), BATCH):
        batch = sides[start : start + BATCH]
        bag.add((), "label", [key for both in batch for key in keys_of_triples(*both)])
        bag.add_text((), 0, len(batch))
    return reports(bag, plan)


def of_documents(pairs: list[list[Pair]], plan: Plan) -> dict[str, Any]:
    """The reports of pairs of documents."""
    return reports(count(pairs, plan), plan)


def _metrics_of(sides: Sequence[Any], names: list[str]) -> Any:
    return first_score(sides[0], sides[1], metrics=names).metrics


def least(runs: int, *calls: Callable[[], Any]) -> list[tuple[float, Any]]:
    """The least CPU seconds of each call, and what it returns; they are called in turn."""
    seconds, values = [float("inf")] * len(calls), [None] * len(calls)
    for _ in range(runs):
        for number, call in enumerate(calls):
            gc.collect()
            start = process_time()
            values[number] = call()
            seconds[number] = min(seconds[number], process_time() - start)
    return list(zip(seconds, values, strict=True))


def peak(call: Callable[[], Any]) -> float:
    """The MB that a call allocates at most."""
    gc.collect()
    tracemalloc.start()
    call()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return memory / 1e6


def rows(spans: int, runs: int) -> Iterator[Sequence[object]]:
    """Yield the rows of the table."""
    sides = texts(spans)
    lists = [[both[side] for both in sides] for side in (0, 1)]
    old, new = documents(sides)
    for names in (["exact"], ["exact", "levels"]):
        plan = Plan(tuple(METRICS[name] for name in names))
        progress(" and ".join(names))
        for shape, given, call in (
            ("lists of rows", lists, partial(of_lists, sides, plan)),
            ("documents", old, partial(of_documents, new, plan)),
        ):
            (before, expected), (now, found) = least(runs, partial(_metrics_of, given, names), call)
            if {name: dict(expected[name])["label"] for name in names} != found:
                raise SystemExit(f"the numbers of {shape} differ")
            yield shape, ", ".join(names), f"{before:.3f}", f"{now:.3f}", f"{now / before:.2f}"
    yield from _one_case(spans, runs)
    yield from _places(spans, runs)


def _one_case(spans: int, runs: int) -> Iterator[Sequence[object]]:
    old, new = documents(under_one_span(spans), has_text=False)
    for name, metric in OF_ONE_CASE.items():
        progress(f"{name}, one case")
        calls = partial(_metrics_of, old, [name]), partial(of_documents, new, Plan((metric,)))
        (before, _), (now, _) = least(runs, *calls)
        yield f"{spans:,} spans under one span", name, f"{before:.3f}", f"{now:.3f}", f"{now / before:.2f}"


def _places(spans: int, runs: int) -> Iterator[Sequence[object]]:
    old, new = documents(texts(spans), sentences=4)
    plan = Plan((METRICS["exact"],), units="sentence")
    calls: tuple[Callable[[], Any], ...] = (
        partial(first_score, *old, metrics="exact", resample_by="sentence"),
        partial(count, new, plan),
    )
    (before, _), (now, _) = least(runs, *calls)
    yield "sentences as places", "exact", f"{before:.3f}", f"{now:.3f}", f"{now / before:.2f}"
    memory = [peak(call) for call in calls]
    yield (
        "the same, MB at most",
        "exact",
        f"{memory[0]:.1f}",
        f"{memory[1]:.1f}",
        f"{memory[1] / memory[0]:.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--spans", type=int, default=37_000, help="number of gold spans (default: 37,000)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each call (default: 5)")
    options = parser.parse_args()
    require_from_1(parser, options, "spans", "runs")
    print(environment())
    print("\n| shape | metrics | documents | cases | ratio |\n|---|---|---|---|---|")
    for row in rows(options.spans, options.runs):
        print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    main()
