"""Metric `exact`: its report, worked by hand, and positions of tags as they are written."""

from __future__ import annotations

import pytest

from clueval.core.span import Span
from clueval.metrics.counting import Tally
from clueval.metrics.exact import Exact
from clueval.metrics.metric import Side
from clueval.spans.document import Document

WHAT = ("gold", "predicted", "tp_gold", "tp_predicted")


def test_the_report_has_the_figures_of_conlleval() -> None:
    # LOC: three gold, two predicted, one right; PER: one gold, none predicted; ORG: one predicted too many
    gold = [Span(0, 1, "LOC"), Span(1, 2, "LOC"), Span(3, 5, "LOC"), Span(6, 7, "PER")]
    predicted = [Span(0, 1, "LOC"), Span(3, 4, "LOC"), Span(6, 7, "ORG")]
    document = Document("d", {}, tokens=["w"] * 8)

    scores = Exact().scores(Exact().count(Side(gold, document=document), Side(predicted)), ["label"])

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
    spans = [Span(0, 2, "A")]
    gold, predicted = Side(spans, tags=["I-A", "I-A", "O"]), Side(spans, tags=["B-A", "I-A", "O"])

    tally = Exact().count(gold, predicted)

    assert (tally["positions", "all"], tally["positions", "equal"]) == (3, 2)


def test_tags_of_one_side_only_are_not_looked_at() -> None:
    tags = Side([Span(0, 2, "A")], tags=["I-A", "I-A", "O"])
    bare = Side([Span(0, 2, "A"), Span(5, 6, "B")])

    for sides in ((tags, bare), (bare, tags)):
        tally = Exact().count(*sides)
        assert (tally["positions", "all"], tally["positions", "equal"]) == (3, 2)


def test_tags_or_marks_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Exact().count(Side([], tags=["O", "O"]), Side([], tags=["O"]))
    with pytest.raises(ValueError, match="shorter"):
        Exact().count(Side([Span(0, 1), Span(1, 2)], [True]), Side([]))


def test_positions_are_counted_from_the_first_of_the_document() -> None:
    document = Document("d", {}, tokens=["w"] * 4, start=10)

    assert Exact().count(Side([], document=document), Side([]))["positions", "all"] == 4
    assert Exact().count(Side([]), Side([], document=document))["positions", "equal"] == 4


def test_spans_whose_text_is_not_there_have_no_positions() -> None:
    bare = Document("d", {})

    assert not Exact().count(Side([], document=bare), Side([]))
    assert Exact().count(Side([], document=bare, tags=["O"]), Side([], tags=["O"]))["positions", "all"] == 1
