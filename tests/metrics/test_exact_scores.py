"""Metric `exact`: its report, worked by hand, and positions of tags as they are written."""

from __future__ import annotations

import pytest

from clueval import Document, Span, score
from clueval.core.exact import Exact
from clueval.core.tally import Tally

WHAT = ("gold", "predicted", "tp_gold", "tp_predicted")


def test_the_report_has_the_figures_of_conlleval() -> None:
    # LOC: three gold, two predicted, one right; PER: one gold, none predicted; ORG: one predicted too many
    gold = [Span(0, 1, "LOC"), Span(1, 2, "LOC"), Span(3, 5, "LOC"), Span(6, 7, "PER")]
    predicted = [Span(0, 1, "LOC"), Span(3, 4, "LOC"), Span(6, 7, "ORG")]
    sides = ([Document("d", {"label": side}, tokens=["w"] * 8)] for side in (gold, predicted))

    scores = score(*sides, metrics="exact").metrics["exact"]["label"]

    assert scores == {
        "micro": prf(1 / 3, 1 / 4, 2 / 7, (4, 3, 1)),
        "macro": prf(1 / 2 / 3, 1 / 3 / 3, 2 / 5 / 3, (4, 3, 1)),
        "weighted": prf(pytest.approx(1 / 2 * 3 / 4), 1 / 4, pytest.approx(2 / 5 * 3 / 4), (4, 3, 1)),
        "per_label": {
            "LOC": prf(1 / 2, 1 / 3, 2 / 5, (3, 2, 1)),
            "ORG": prf(0.0, 0.0, 0.0, (0, 1, 0)),
            "PER": prf(0.0, 0.0, 0.0, (1, 0, 0)),
        },
        "token_accuracy": 5 / 8,  # not [1,2), [4,5) and [6,7)
    }
    assert list(scores["per_label"]) == ["LOC", "ORG", "PER"]


def prf(precision: object, recall: object, f1: object, counts: tuple[int, int, int]) -> dict[str, object]:
    gold, predicted, right = counts
    return {
        "precision": precision,
        "recall": recall,
        "f1": pytest.approx(f1),
        "gold": gold,
        "predicted": predicted,
        "tp_gold": right,
        "fn": gold - right,
        "tp_predicted": right,
        "fp": predicted - right,
    }


def test_right_among_gold_and_right_among_predicted_are_two_counts() -> None:
    tally = Tally(dict(zip([(what, "A") for what in WHAT], (10, 8, 5, 6), strict=True)))

    (counts,) = Exact().scores(tally, ["label"])["per_label"].values()

    assert [counts[what] for what in WHAT] == [10, 8, 5, 6]
    assert (counts["recall"], counts["precision"]) == (0.5, 0.75)


def test_tags_are_compared_as_they_are_written() -> None:
    result = score([["I-A", "I-A", "O"]], [["B-A", "I-A", "O"]], metrics="exact")

    assert (result.get("exact.label.micro.f1"), result.get("exact.label.token_accuracy")) == (1, 2 / 3)


def test_tags_of_one_side_only_are_not_looked_at() -> None:
    tags = [
        Document("d", {"label": [Span(0, 2, "A")]}, tags={"label": ["I-A", "I-A", "O"]}, tokens=["w"] * 3)
    ]
    bare = [Document("d", {"label": [Span(0, 2, "A"), Span(2, 3, "B")]}, tokens=["w"] * 3)]

    for sides in ((tags, bare), (bare, tags)):
        assert score(*sides, metrics="exact").get("exact.label.token_accuracy") == 2 / 3


def test_positions_are_counted_from_the_first_of_the_document() -> None:
    gold = [Document("d", {"label": [Span(10, 11, "A")]}, tokens=["w"] * 4, start=10)]
    predicted = [Document("d", {"label": []}, tokens=["w"] * 4, start=10)]

    assert score(gold, predicted, metrics="exact").get("exact.label.token_accuracy") == 3 / 4


def test_spans_whose_text_is_not_there_have_no_positions() -> None:
    assert (
        score([[Span(0, 1, "A")]], [[Span(0, 1, "A")]], metrics="exact").get("exact.label.token_accuracy")
        == 0
    )
