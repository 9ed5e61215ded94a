"""GATE's evaluation of cases: each rule by hand, against a plain model, and against the first edition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest

from clueval.metrics.gate import Gate as FirstGate
from clueval.second.metrics.gate import Gate, GateWithin
from tests.second.compare import KINDS, MIXED, Setting, compare, disagreements

PLAIN: dict[str, list[Any]] = {
    "types": [(), (), (), (), ("A",), ("A", "B"), ("A=B", "B=A"), ("A=B",)],
    "pairing": ["plugin", "plugin", "by-response", "by-target"],
    "beta": [1.0, 1.0, 2, 0.5],
}

FEATURES: dict[str, list[Any]] = {
    "features": [(), ("kind",), ("kind", "inst"), ("A[kind]",), ("inst", "B[kind]")],
    "feature_comparison": ["equality", "string", "subsumption"],
    "by": [(), (), (), ("kind",), ("inst", "kind")],
}

THRESHOLDS = [None, "all", "rounded", "11", (0.3, 0.5), (-math.inf, 0.9)]


def settings(random: Random) -> Setting:
    """Settings with features or without."""
    return _settings(random, features=0.5)


def with_features(random: Random) -> Setting:
    return _settings(random, features=1)


def without_features(random: Random) -> Setting:
    return _settings(random, features=0)


def with_scores(random: Random) -> Setting:
    return _settings(random, features=0.5, score_feature="score", thresholds=random.choice(THRESHOLDS))


def within(random: Random) -> Setting:
    containment = random.choice(["overlapping", "containing", "coextensive"])
    first, new = with_scores(random) if random.random() < 0.3 else settings(random)
    options = {"containing": "y", "containment": containment}
    if any(
        spec.target == "A" for spec in new.specs
    ):  # the first edition passes over types of unfiltered alone
        options["unfiltered"] = random.choice([None, "A"])
    return replace(first, **options), GateWithin(**asdict(new), **options)


def _settings(random: Random, features: float, **options: Any) -> Setting:
    options |= {name: random.choice(values) for name, values in PLAIN.items()}
    if random.random() < features:
        options |= {name: random.choice(values) for name, values in FEATURES.items()}
        if options["features"] and random.random() < 0.3:
            options["nil"] = random.choice(["", "x", "1", "true"])
    return FirstGate(**options), Gate(**options)


WAYS: list[tuple[Callable[[Random], Setting], Sequence[str]]] = [
    (without_features, KINDS),
    (with_features, ("features", MIXED)),
    (with_scores, (MIXED,)),
    (within, (MIXED,)),
]


@pytest.mark.parametrize(("settings", "kinds"), WAYS)
@pytest.mark.parametrize("seed", range(2))
def test_gate_equals_the_first_edition(
    settings: Callable[[Random], Setting], kinds: Sequence[str], seed: int
) -> None:
    assert disagreements(compare(settings, 20, seed, kinds=kinds)) == []
