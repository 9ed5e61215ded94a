"""Numbers by sentence add up to those of the documents, for metrics of cases and of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

import clueval
from clueval.core.count import EITHER, Plan, Unit, count, sequences_of
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric
from clueval.core.tally import Tally, added
from clueval.files.errors import UsageError
from clueval.metrics.confusion import Confusion
from clueval.metrics.coverage import Coverage
from clueval.metrics.gate import Gate
from clueval.metrics.masking import Masking
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from tests.random_corpora import SIZE, Corpus, corpus, pairs_of

METRICS: dict[str, tuple[AnyMetric, str]] = {
    "exact": (Exact(), "flat"),
    "partial": (Partial(), "flat"),
    "confusion": (Confusion(), "flat"),
    "coverage": (Coverage(), "nested"),
    "strings": (Strings(), "nested"),
    "scores": (Gate(score_feature="score"), "nested"),
    "noisy": (Noisy(), "flat"),
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
        return replace(document, layers=layers, tokens=words, sentences=sentences)

    return replace(made, gold=list(map(changed, made.gold)), predicted=list(map(changed, made.predicted)))


def sums(made: Corpus, metric: AnyMetric, unit: str) -> dict[str, tuple[int, dict[str, Tally]]] | str:
    """Of each document, the positions and the counts of each sequence, added from its units; or that it is refused."""
    plan = Plan((metric,), units=unit)
    try:
        bag = count(pairs_of(made), plan)
    except UsageError as error:
        return str(error)
    whole = getattr(metric, "whole", None)
    sequences: Sequence[str] = sequences_of(bag, plan) if whole is None else [whole]
    parts: dict[str, dict[str, list[tuple[Tally, int]]]] = {}
    positions: dict[str, set[Unit]] = {}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        assert isinstance(place, Unit)
        parts.setdefault(str(place.name), {}).setdefault(sequence, []).append((tally, 1))
        positions.setdefault(str(place.name), set()).add(place)
    return {
        name: (
            sum(bag.positions[0b11][place] for place in positions[name]),
            {sequence: added(tallies) for sequence, tallies in found.items()},
        )
        for name, found in parts.items()
    }


REFUSED = {"strings": "some", "noisy": "all"}
"""How many corpora are refused: strings counts the different words of a document, noisy aligns its text."""


@pytest.mark.parametrize("name", METRICS)
def test_sentences_add_up_to_documents(name: str) -> None:
    metric, kind = METRICS[name]
    random = Random(name)
    refused = 0

    for _ in range(25):
        made = in_sentences(random, kind)
        found = sums(made, metric, "sentence")
        if isinstance(found, str):
            assert "sentences" in found
            refused += 1
        else:
            assert found == sums(made, metric, "document")

    assert {0: "none", 25: "all"}.get(refused, "some") == REFUSED.get(name, "none")


def test_sentences_are_not_units_by_default_if_they_do_not_add_up() -> None:
    random = Random(4)
    corpora = [in_sentences(random, "nested") for _ in range(25)]
    made = next(each for each in corpora if isinstance(sums(each, Masking(), "sentence"), str))

    assert sums(made, Masking(), EITHER) == sums(made, Masking(), "document")
