"""Discontinuous spans, by the case worked by hand: gold A (0,3)(7,9), predicted A (0,3)(7,10)."""

from __future__ import annotations

from typing import Any

import pytest

from clueval import Result, Span, score

GOLD = Span.of_fragments([(0, 3), (7, 9)], "A")
PREDICTED = Span.of_fragments([(0, 3), (7, 10)], "A")


def exact(predicted: Span, **options: Any) -> Result:
    return score([[GOLD]], [[predicted]], metrics="exact", **options)


def micro(result: Result) -> tuple[float, float, float]:
    found = result.metrics["exact"]["label"]["micro"]
    return found["gold"], found["predicted"], found["tp_gold"]


def test_fragments_that_are_kept_must_all_be_equal() -> None:
    assert micro(exact(PREDICTED)) == (1, 1, 0)
    assert micro(exact(GOLD)) == (1, 1, 1)
    assert micro(exact(Span(0, 9, "A"))) == (1, 1, 0)
    assert micro(exact(Span(4, 6, "A"))) == (1, 1, 0)
    assert "fragments" not in str(exact(GOLD).signature)


def test_fragments_that_are_split_count_one_by_one() -> None:
    result = exact(PREDICTED, fragments="split")

    assert micro(result) == (2, 2, 1)
    assert result.to_dict()["prepared"] == {"fragments": {"gold": 1, "predicted": 1}}
    assert "|fragments:split|" in str(result.signature)


def test_fragments_become_their_hull() -> None:
    result = score([[GOLD]], [[PREDICTED]], fragments="hull")

    classes = result.metrics["levels"]["label"]["classes"]
    assert classes["gold"]["superset"] == classes["predicted"]["spurious"] == 1


def test_fragments_enter_the_accuracy_of_tokens() -> None:
    from clueval import Document

    def accuracy(predicted: Span) -> object:
        sides = ([Document("d", {"x": [span]}, tokens=["t"] * 10)] for span in (GOLD, predicted))
        return score(*sides, metrics="exact").metrics["exact"]["x"]["token_accuracy"]

    assert accuracy(GOLD) == 1
    assert accuracy(PREDICTED) == pytest.approx(0.9)
