"""Random corpora of units, whose intervals the first edition and the second compute.

For more corpora than in the tests::

    python -m tests.second.trust 200 17
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import clueval
from clueval.core.bag import Bag
from clueval.core.count import EITHER, Plan, count, decided
from clueval.core.document import Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric
from clueval.core.span import MERGED
from clueval.evaluation.run import score as first_score
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair.metric import Fair
from clueval.metrics.gate.metric import Gate
from clueval.metrics.muc import Muc
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from clueval.results.intervals import interval_section
from clueval.results.options import Trust
from clueval.results.units import Units, units_of
from tests.second.compare import difference, second

METRICS: Mapping[str, AnyMetric] = {
    each.name: each
    for each in (
        *(Exact(), Levels(), Fair(), Partial(), Muc(), Gate()),
        *(Coverage(), Strings(), Noisy()),
    )
}

OF_DOCUMENTS = ("coverage", "strings", "noisy")
"""The metrics that count whole documents."""

WORDS = ["Frau", "Meier", "aus", "Kiel", "klagt", "gegen", "die", "Nord", "GmbH", "und", "Herr", "Beer", "."]

Side = list[clueval.Document]


def corpus(random: Random, documents: int, systems: int = 1, words: int = 8) -> tuple[Side, list[Side]]:
    """Return gold and predicted documents of up to four sentences, with metadata ``court`` and ``year``."""
    gold: Side = []
    predicted: list[Side] = [[] for _ in range(systems)]
    layers = ["x", "y"][: random.choice([1, 1, 2])]
    for number in range(documents):
        sentences = random.randint(1, 4)
        tokens = random.choices(WORDS, k=words * sentences)
        ends = [clueval.Sentence(at * words, (at + 1) * words) for at in range(sentences)]
        metadata = {"court": random.choice("ABCDEFGH"), "year": random.choice("12")}
        golds = {layer: _spans(random, len(tokens)) for layer in layers}
        one = clueval.Document(f"d{number}", golds, tokens=tokens, sentences=ends, metadata=metadata)
        gold.append(one)
        for side in predicted:
            side.append(replace(one, layers={name: _found(random, spans) for name, spans in golds.items()}))
    return gold, predicted


def _spans(random: Random, size: int) -> list[clueval.Span]:
    found, end = [], 0
    labels = random.choice(["A", "AB", "AABC", "D"])
    while True:
        start = end + random.randint(0, 9)
        end = start + random.randint(1, 3)
        if end > size or random.random() < 0.05:
            return found
        features = {"entity_id": f"e{random.randint(0, 3)}"}
        found.append(clueval.Span(start, end, random.choice(labels), features))


def _found(random: Random, spans: Sequence[clueval.Span]) -> list[clueval.Span]:
    found = []
    for span in spans:
        what = random.random()
        label = random.choice("ABC") if what < 0.1 else span.label
        if what < 0.85:
            found.append(clueval.Span(span.start, span.end - (what > 0.75 and len(span) > 1), label))
    return found


def bag_of(gold: Side, predicted: Side, plan: Plan) -> Bag:
    """Return the bag of a corpus."""
    pairs = ([Pair(second(one), second(two))] for one, two in zip(gold, predicted, strict=True))
    return decided(count(pairs, plan))


def units_in(bag: Bag, plan: Plan) -> Units:
    """Return the units of a bag."""
    return units_of(bag, plan.metrics, _layers(bag, plan), plan.units)


def unordered(value: Any) -> Any:
    """Return dictionaries with their keys in order."""
    if isinstance(value, Mapping):
        return {key: unordered(value[key]) for key in sorted(value, key=str)}
    return value


def sections(random: Random, name: str) -> str | None:
    """Return where the intervals of the two editions differ on a random corpus.

    By default, the second edition has documents as units where a metric needs these, the first only if it must.
    """
    units = random.choice(["document", "document", "sentence", "court", EITHER])
    if units in ("sentence", EITHER) and name in OF_DOCUMENTS:
        units = "document"
    gold, (predicted,) = corpus(random, random.choice([3, 6, 12]))
    method = random.choice(["jackknife", "percentile", "bca"])
    trust = Trust(
        confidence=random.choice([0.95, 0.9]),
        method=method,
        resamples=random.choice([49, 99]),
        seed=random.choice([12345, 1]),
    )
    by = random.choice([None, "year"])
    merge = random.random() < 0.2
    options: dict[str, Any] = {"by": by} if by else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            first = first_score(
                gold,
                predicted,
                metrics=[name],
                intervals=True,
                resample_by=None if units == EITHER else units,
                confidence=trust.confidence,
                method=method,
                resamples=trust.resamples,
                seed=trust.seed,
                merge=merge,
                **options,
            )
            one: Any = {None: first.to_dict()["intervals"]}
            for value, group in (first.groups or {}).get("year", {}).items():
                one[value] = group["intervals"]
        except clueval.CluevalError as error:
            one = str(error)
        try:
            plan = Plan((METRICS[name],), merge=merge, by=(by,) if by else (), units=units)
            bag = bag_of(gold, predicted, plan)
            whole = units_in(bag, plan)
            whole.require_several()
            other: Any = {None: interval_section(whole, trust)}
            for value in ("1", "2") if by else ():
                part = bag.grouped(partial(_with_value, value))
                if part.documents:
                    of_part = units_of(part, plan.metrics, _layers(bag, plan), whole.by)
                    other[value] = interval_section(of_part, trust)
        except clueval.CluevalError as error:
            other = str(error)
    if isinstance(one, str) or isinstance(other, str):
        found = None if one == other else f"{one!r}, {other!r}"
    else:
        found = difference(unordered(one), unordered(other))
    return None if found is None else f"{name} {units} {trust} {by} {merge} {found}"


def _with_value(value: str, place: Any) -> Any:
    return place if place.values == (value,) else None


def _layers(bag: Bag, plan: Plan) -> dict[str, list[str]]:
    return {MERGED: list(bag.layers)} if plan.merge else {layer: [layer] for layer in bag.layers}


def compare(name: str, number: int, seed: int) -> Counter[str]:
    """Count random corpora, counted by one metric, by where the editions differ; as "equal" where they agree."""
    randoms = (Random(f"{seed} {name} {place}") for place in range(number))
    return Counter(sections(random, name) or "equal" for random in randoms)


if __name__ == "__main__":
    began = time.process_time()
    found = sum((compare(name, int(sys.argv[1]), int(sys.argv[2])) for name in METRICS), Counter())
    print(f"{found.pop('equal')} equal, {len(found)} differ", *list(found)[:9], sep="\n")
    print(f"{time.process_time() - began:.0f} s")
