"""Metric `exact`: its report, worked by hand, positions of tags as they are written, and the least overlap."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, UsageError, score
from clueval.core.exact import Exact
from clueval.core.metric import Tally
from clueval.core.one_to_one import best_pairs
from tests.cases import counted

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


# The least overlap: one to one, as many pairs as possible, with most shared positions

RANGES = st.lists(
    st.builds(lambda start, length: (start, start + length), st.integers(0, 6), st.integers(0, 5)),
    max_size=5,
    unique=True,
)


def correct(gold: Any, predicted: Any, **settings: Any) -> tuple[int, int]:
    tally = counted(Exact(**settings), *([Span(*each, "A") for each in side] for side in (gold, predicted)))
    return tally["tp_gold", "A"], tally["tp_predicted", "A"]


def test_the_case_of_two_gold_spans_in_one_predicted() -> None:
    assert correct([(0, 4), (4, 6)], [(0, 6)], min_overlap=0.5) == (1, 1)
    assert correct([(0, 4), (4, 6)], [(0, 6)]) == (0, 0)


@pytest.mark.parametrize(
    ("least", "of", "true"), [(0.5, "gold", 1), (0.51, "gold", 0), (0.25, "union", 1), (0.26, "union", 0)]
)
def test_the_share_is_of_gold_or_of_both(least: float, of: str, true: int) -> None:
    assert correct([(0, 4)], [(2, 8)], min_overlap=least, overlap_of=of) == (true, true)


def test_labels_must_be_equal_and_fragments_share_positions() -> None:
    gap = Span.of_fragments([(0, 3), (7, 9)], "A")
    for other, true in ((Span(3, 7, "A"), 0), (Span(7, 9, "A"), 1), (Span(7, 9, "B"), 0)):
        tally = counted(Exact(min_overlap=0.4), [gap], [other])
        assert tally["tp_gold", "A"] == true


@given(RANGES, RANGES, st.sampled_from([0.01, 0.25, 0.5, 1.0]), st.sampled_from(["gold", "union"]))
def test_matches_are_the_best_of_all_matchings(gold: Any, predicted: Any, least: float, of: str) -> None:
    def worth(one: tuple[int, int], other: tuple[int, int]) -> int | None:
        shared = max(0, min(one[1], other[1]) - max(one[0], other[0]))
        size = one[1] - one[0] if of == "gold" else one[1] - one[0] + other[1] - other[0] - shared
        return shared if one == other or (shared and shared >= least * size) else None

    shorter, longer = sorted((gold, predicted), key=len)
    best = (0, 0)
    for order in permutations(longer, len(shorter)):
        pairs = [
            (one, two) if shorter is gold else (two, one) for one, two in zip(shorter, order, strict=True)
        ]
        worths = [each for each in (worth(*pair) for pair in pairs) if each is not None]
        best = max(best, (len(worths), sum(worths)))

    assert correct(gold, predicted, min_overlap=least, overlap_of=of) == (best[0], best[0])
    table = [{n: w for n, two in enumerate(predicted) if (w := worth(one, two)) is not None} for one in gold]
    chosen = best_pairs(table)
    assert (len(chosen), sum(table[one][two] for one, two in chosen.items())) == best


@pytest.mark.parametrize(
    "settings", [{"min_overlap": 0}, {"min_overlap": 1.5}, {"min_overlap": "x"}, {"overlap_of": "x"}]
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"Exact\.(min_overlap must be|overlap_of)"):
        Exact(**settings)


def test_the_signature_names_the_settings_only_if_they_are_set() -> None:
    sides = [["B-A"]], [["B-A"]]

    assert "metrics:exact|" in str(score(*sides, metrics="exact").signature)
    named = score(*sides, metrics=[Exact(min_overlap=0.5)]).signature
    assert "metrics:exact(min_overlap=0.5)|" in str(named)
    assert named.options()["metrics"] == [Exact(min_overlap=0.5)]


@pytest.mark.parametrize(
    ("share", "length", "of"), [(0.55, 55, 100), (0.07, 7, 100), (0.28, 7, 25), (0.14, 7, 50)]
)
def test_a_share_that_is_exactly_enough_is_enough(share: float, length: int, of: int) -> None:
    """The product of the share and the length, rounded, may be greater than the number of shared positions."""
    result = score([[(0, of, "A")]], [[(0, length, "A")]], metrics=[Exact(min_overlap=share)])

    assert result.get("exact.label.micro.tp_gold") == 1
