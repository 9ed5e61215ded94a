"""The figures of presidio-research, against those of its package presidio-evaluator 0.3.2.

`presidio_evaluator.json` has tokens, spans of both sides in tokens, and what `SpanEvaluator` (all labels as one) and
`TokenEvaluator` of that package counted on them with these skip words: true positives, predicted, annotated. The
package needs transformers and pandas 3, so it is no dependency of the tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clueval import Document, Span, score
from clueval.compat.masking.presidio import PresidioFigures
from clueval.metrics.masking import Masking

CASES = json.loads(Path(__file__).with_name("presidio_evaluator.json").read_text(encoding="utf-8"))
SKIP_WORDS = ["der", ",", ".", "und"]


def section(tokens: list[str], gold: Any, predicted: Any) -> Any:
    metric = Masking(ignore_words=SKIP_WORDS)  # type: ignore[arg-type]  # words become a value of their own
    sides = [
        Document("d", {"label": [Span(*span) for span in spans]}, tokens=tokens)
        for spans in (gold, predicted)
    ]
    figures = PresidioFigures(metric)
    score([sides[0]], [sides[1]], metrics=[metric], observers=[figures])
    return figures.section()


def counts(row: Any) -> list[int]:
    return [row["tp"], row["predicted"], row["annotated"]]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_counts_are_those_of_presidio_evaluator(case: Any) -> None:
    found = section(case["tokens"].split(" "), case["gold"], case["predicted"])

    assert counts(found["span"]) == case["span"]
    assert counts(found["token"]["pii"]) == case["pii"]
    assert {
        label: counts(row) for label, row in found["token"]["per_type"].items() if any(counts(row))
    } == case["per"]


def test_several_predicted_runs_are_compared_without_the_further_characters_of_presidio_evaluator() -> None:
    tokens = [",", "Schmidtmeyer", "Schmidtmeyer", "Öz", ".", "Oberlandesgericht", "Öz", "Öz"]

    found = section(tokens, [(1, 7, "LOC"), (7, 8, "LOC")], [(1, 3, "LOC"), (4, 8, "PER")])

    assert counts(found["span"]) == [0, 1, 1]  # 48 / 54; the package counts (48 + 2) / (54 + 1), above 0.9
