"""GATE's candidate lists: what is built and counted, by hand, and against the first edition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import clueval
from clueval.core.count import Plan, count
from clueval.core.document import Pair
from clueval.core.tally import Tally, added
from clueval.metrics.gate import Gate as FirstGate
from clueval.metrics.gate.list_evaluation import Lists
from clueval.second.metrics.gate import GateLists
from tests.second.compare import canonical, difference, second

THRESHOLDS = [None, "all", "rounded", "11", (0.3, 0.5)]


def documents(random: Random) -> tuple[list[clueval.Document], list[clueval.Document]]:
    """Targets with a feature, and lists of scored candidates that may lie apart, nest and be of zero length."""
    golds, predicteds = [], []
    for number in range(random.randint(1, 3)):
        golds.append(_document(number, [_target(random) for _ in range(random.randint(0, 5))]))
        predicted: list[clueval.Span] = []
        for _ in range(random.randint(0, 4)):
            ids = []
            for _ in range(random.randint(0, 4)):
                ids.append(len(predicted))
                predicted.append(_candidate(random, len(predicted)))
            start, end = _place(random)
            features = {"ids": ids, "inst": "a"}
            predicted.append(clueval.Span(start, end, "List", features, id=len(predicted)))
        predicteds.append(_document(number, predicted))
    return golds, predicteds


def _document(number: int, spans: Sequence[clueval.Span]) -> clueval.Document:
    zone = [clueval.Span(2, 9, "zone"), clueval.Span(12, 13, "zone")]
    return clueval.Document(str(number), {"label": spans, "zone": zone}, tokens=["x"] * 20)


def _place(random: Random) -> tuple[int, int]:
    start = random.randint(0, 14)
    return start, start + random.choice([0, 1, 2, 3, 5])


def _target(random: Random) -> clueval.Span:
    return clueval.Span(*_place(random), random.choice(["T", "T", "T", "U"]), {"inst": random.choice("abN")})


def _candidate(random: Random, number: int) -> clueval.Span:
    features = {"inst": random.choice("abN"), "score": random.choice([0.25, 0.5, 0.506, 0.75])}
    return clueval.Span(*_place(random), random.choice(["E", "E", "F"]), features, id=number)


def differences(number: int, seed: int) -> tuple[list[str], int]:
    """Return where the editions differ on random corpora, and how many both refuse."""
    random = Random(seed)
    found, refused = [], 0
    for _ in range(number):
        gold, predicted = documents(random)
        options: dict[str, Any] = {
            "types": (random.choice(["T", "T=List"]),),
            "features": ("inst",),
            "feature_comparison": random.choice(["equality", "string", "subsumption"]),
            "pairing": random.choice(["plugin", "by-response", "by-target"]),
            "nil": random.choice([None, "N"]),
            "containing": random.choice([None, None, "zone"]),
            "by": random.choice([(), ("inst",)]),
        }
        if options["containing"]:
            options["unfiltered"] = random.choice([None, "T"])
        if random.random() < 0.6:
            options |= {"score_feature": "score", "thresholds": random.choice(THRESHOLDS)}
        lists = {
            "list_type": "List",
            "edge_feature": "ids",
            "element_type": random.choice([None, "E"]),
            "ranks": random.choice(["all", "10"]),
        }
        one = by_first(gold, predicted, FirstGate(**options), Lists(**lists))
        other = by_second(gold, predicted, GateLists(**options, **lists))
        refused += one == other == "refused"
        differs = difference(one, other)
        if differs is not None:
            found.append(f"{options} {lists}: {differs}")
    return found, refused


def by_first(
    gold: Sequence[clueval.Document], predicted: Sequence[clueval.Document], metric: FirstGate, lists: Lists
) -> Any:
    try:
        result = clueval.gate(list(map(canonical, gold)), predicted, metric=metric, lists=lists)
    except clueval.CluevalError:
        return "refused"
    return result.metrics["gate"]["label"]


def by_second(
    gold: Sequence[clueval.Document], predicted: Sequence[clueval.Document], metric: GateLists
) -> Any:
    pairs = [
        [Pair(second(canonical(one)), replace(second(other), ordered=True))]
        for one, other in zip(gold, predicted, strict=True)
    ]
    try:
        bag = count(pairs, Plan((metric,)), ["label"])
        found = bag.grouped(lambda place: ()).tallies_of([metric], ["label"])
        total: Tally = added((tally, 1) for *_, tally in found)
        metric.check(total)
    except clueval.CluevalError:
        return "refused"
    return metric.scores(total, ["label"])


@pytest.mark.parametrize("seed", range(3))
def test_lists_equal_the_first_edition(seed: int) -> None:
    found, refused = differences(25, seed)

    assert found == []
    assert refused < 15
