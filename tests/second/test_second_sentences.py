"""Numbers by sentence are those of `clueval.score`, for metrics of cases and of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import clueval
from clueval.core.count import Plan, Unit, count, sequences_of
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric
from clueval.evaluation.run import score as first_score
from clueval.first.metrics import metric_named
from clueval.metrics.confusion import Confusion
from clueval.metrics.coverage import Coverage
from clueval.metrics.gate import Gate
from clueval.metrics.masking import Masking
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from tests.second.compare import SIZE, Corpus, canonical, corpus, difference, pairs_of

METRICS: dict[str, tuple[Any, AnyMetric, str]] = {
    "exact": (metric_named("exact"), Exact(), "flat"),
    "partial": (metric_named("partial"), Partial(), "flat"),
    "confusion": (metric_named("confusion"), Confusion(), "flat"),
    "coverage": (metric_named("coverage"), Coverage(), "nested"),
    "strings": (metric_named("strings"), Strings(), "nested"),
    "scores": (metric_named("gate", score_feature="score"), Gate(score_feature="score"), "nested"),
    "noisy": (metric_named("noisy"), Noisy(), "flat"),
}


def in_sentences(random: Random, kind: str) -> Corpus:
    """A corpus with texts, of which some are cut into sentences; every span has a score."""
    made = corpus(random, kind, layers=1, spans=5)
    words = [random.choice(["ann", "bob", "cat", f"w{number}"]) for number in range(SIZE)]
    ends = [*sorted(random.sample(range(1, SIZE), random.randint(0, 6))), SIZE]
    sentences = [clueval.Sentence(*each) for each in zip([0, *ends[:-1]], ends, strict=True)]

    def changed(document: clueval.Document) -> clueval.Document:
        layers = {
            name: [replace(span, features={"score": random.choice([0.25, 0.5])}) for span in spans]
            for name, spans in document.layers.items()
        }
        return canonical(replace(document, layers=layers, tokens=words, sentences=sentences))

    return replace(made, gold=list(map(changed, made.gold)), predicted=list(map(changed, made.predicted)))


def by_first(made: Corpus, metric: Any, unit: str) -> Any:
    """The reports of the first edition by document, sentence and sequence, with the positions; or that it refuses."""
    try:
        result = first_score(made.gold, made.predicted, metrics=metric, resample_by=unit)
    except clueval.CluevalError as error:
        return str(error)
    assert result.units is not None
    return {
        each.key: {
            "tokens": each.tokens,
            **{sequence: metric.scores(tally, [sequence]) for (_, sequence), tally in each.tallies.items()},
        }
        for each in result.units.units
    }


def by_second(made: Corpus, metric: AnyMetric, unit: str) -> Any:
    """The same of the second edition."""
    plan = Plan((metric,), units=unit)
    try:
        bag = count(pairs_of(made), plan)
    except clueval.CluevalError as error:
        return str(error)
    whole = getattr(metric, "whole", None)
    sequences: Sequence[str] = sequences_of(bag, plan) if whole is None else [whole]
    found: dict[str, dict[str, Any]] = {}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        assert isinstance(place, Unit)
        key = str(place.name) if place.sentence is None else f"{place.name}#s{place.sentence}"
        of_place = found.setdefault(key, {"tokens": bag.positions[0b11][place]})
        of_place[sequence] = metric.scores(tally, [sequence])
    return found


REFUSED = {"strings": "some", "noisy": "all"}
"""How many corpora are refused: strings counts the different words of a document, noisy aligns its text."""


@pytest.mark.parametrize("name", METRICS)
def test_units_are_those_of_the_first_edition(name: str) -> None:
    one, two, kind = METRICS[name]
    random = Random(name)
    refused = 0

    for _ in range(25):
        made = in_sentences(random, kind)
        expected, found = by_first(made, one, "sentence"), by_second(made, two, "sentence")
        refused += isinstance(found, str)
        # the first edition counts the changes of a score by document, so that sentences do not add up
        assert difference(expected, found) is None or (name == "scores" and "add up" in expected)

    assert {0: "none", 25: "all"}.get(refused, "some") == REFUSED.get(name, "none")


def test_sentences_are_not_units_by_default_if_they_do_not_add_up() -> None:
    random = Random(4)
    corpora = [in_sentences(random, "nested") for _ in range(25)]
    made = next(each for each in corpora if isinstance(by_second(each, Masking(), "sentence"), str))

    found = by_second(made, Masking(), "document or sentence")

    assert found.keys() == {document.id for document in made.gold}
