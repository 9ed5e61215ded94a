"""Metric `levels`, worked by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval import match_spans, score
from clueval.core.bag import LARGE
from clueval.core.case import Case
from clueval.core.document import Document
from clueval.core.levels import Levels, classified
from clueval.core.metric import Tally
from clueval.core.span import Span
from tests.cases import counted
from tests.random_corpora import Corpus, sum_of


def prf(gold: int, predicted: int, tp_gold: int, tp_predicted: int) -> dict[str, float]:
    precision = tp_predicted / predicted if predicted else 0.0
    recall = tp_gold / gold if gold else 0.0
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "gold": gold,
        "predicted": predicted,
        "tp_gold": tp_gold,
        "fn": gold - tp_gold,
        "tp_predicted": tp_predicted,
        "fp": predicted - tp_predicted,
    }


# One gold span of each class, and what a system found:
#
#     gold       |PER|  |PER|    |LOC------|  |LOC------|    |LOC---|
#     predicted  |PER| |LOC---|  |LOC--|LOC|  |PER---|PER--|  |LOC|
#                0   2 4 5 7 8   10  12  14   20 21 23 24 25  30  33
GOLD = [Span(0, 2, "PER"), Span(5, 7, "PER"), Span(10, 14, "LOC"), Span(20, 24, "LOC"), Span(30, 33, "LOC")]
PREDICTED = [
    Span(0, 2, "PER"),
    Span(4, 8, "LOC"),
    Span(10, 12, "LOC"),
    Span(12, 14, "LOC"),
    Span(20, 23, "PER"),
    Span(23, 25, "PER"),
    Span(31, 32, "LOC"),
]


def report() -> dict[str, Any]:
    return score([GOLD], [PREDICTED], metrics="levels").metrics["levels"]["label"]


def test_every_span_has_one_class_on_its_own_side() -> None:
    assert report()["classes"] == {
        "gold": {"exact": 1, "superset": 1, "tiling": 1, "overlap": 1, "missed": 1},
        # the two of the tiling, the first of the overlap and the last one lie inside a gold span
        "predicted": {"exact": 1, "superset": 4, "tiling": 0, "overlap": 0, "spurious": 2},
    }


def test_unlabelled_rates_take_one_more_class_at_each_level() -> None:
    assert report()["unlabelled"] == {
        "1": prf(5, 7, 1, 1),
        "2": prf(5, 7, 2, 5),
        "3": prf(5, 7, 3, 5),
        "4": prf(5, 7, 4, 5),
    }


def test_labelled_rates_want_the_joined_label_to_be_the_own_one() -> None:
    labelled = report()["labelled"]["label"]

    # PER: the superset [4,8) is LOC, and [20,23) PER lies inside a LOC
    # LOC: the tiling is LOC, the overlap is PER
    assert {level: labelled[level]["per_label"] for level in "1234"} == {
        "1": {"LOC": prf(3, 4, 0, 0), "PER": prf(2, 3, 1, 1)},
        "2": {"LOC": prf(3, 4, 0, 3), "PER": prf(2, 3, 1, 1)},
        "3": {"LOC": prf(3, 4, 1, 3), "PER": prf(2, 3, 1, 1)},
        "4": {"LOC": prf(3, 4, 1, 3), "PER": prf(2, 3, 1, 1)},
    }
    assert list(labelled["1"]["per_label"]) == ["LOC", "PER"]
    assert labelled["2"]["micro"] == prf(5, 7, 1, 4)
    macro = labelled["3"]["macro"]
    assert (macro["recall"], macro["precision"]) == ((1 / 3 + 1 / 2) / 2, (3 / 4 + 1 / 3) / 2)


def test_the_tally_has_a_count_for_each_class_and_for_each_label() -> None:
    gold = [Span(0, 2, {"a": "x", "b": None}), Span(4, 6, {"a": "x", "b": "z"})]
    predicted = [Span(0, 2, {"a": "x", "b": "z"}), Span(3, 6, {"a": "y", "b": "z"})]

    tally = counted(Levels(), gold, predicted)

    assert tally == Counter(
        {
            ("class", "gold", "exact"): 1,
            ("class", "gold", "superset"): 1,
            ("class", "predicted", "exact"): 1,
            ("class", "predicted", "missed"): 1,
            ("label", "gold", "a", "x", "exact", True): 1,
            ("label", "gold", "a", "x", "superset", False): 1,
            ("label", "gold", "b", "z", "superset", True): 1,
            ("label", "predicted", "a", "x", "exact", True): 1,
            ("label", "predicted", "a", "y", "missed", False): 1,
            ("label", "predicted", "b", "z", "exact", False): 1,
            ("label", "predicted", "b", "z", "missed", False): 1,
        }
    )


def test_spans_found_under_different_wrong_labels_add_up() -> None:
    gold = [Span(0, 2, "x"), Span(4, 6, "x"), Span(8, 9, "x")]
    predicted = [Span(0, 2, "y"), Span(4, 6, "z"), Span(8, 9, "x")]

    tally = counted(Levels(), gold, predicted)

    assert tally["label", "gold", "label", "x", "exact", False] == 2
    assert tally["label", "gold", "label", "x", "exact", True] == 1


def test_equal_entries_of_a_document_add_up() -> None:
    gold = [Span(0, 2, "x"), Span(4, 6, "x"), Span(8, 9, "y")]

    tally = counted(Levels(), gold, [])

    assert tally["class", "gold", "missed"] == 3
    assert tally["label", "gold", "label", "x", "missed", False] == 2


def test_a_layer_without_a_span_has_zeros() -> None:
    scores = Levels().scores(Tally(), ["entity"])

    assert scores["unlabelled"]["1"] == prf(0, 0, 0, 0)
    assert scores["labelled"] == {
        "entity": {
            level: {"micro": prf(0, 0, 0, 0), "macro": prf(0, 0, 0, 0), "per_label": {}} for level in "1234"
        }
    }


def test_the_headline_of_levels_costs_less_and_is_that_of_the_report() -> None:
    gold = [Span(0, 2, {"x": "A", "y": "B"}), Span(3, 5, {"x": "A"}), Span(10, 11, {"x": "B"})]
    predicted = [Span(0, 2, {"x": "A", "y": "A"}), Span(3, 9, {"x": "A"}), Span(10, 11, {"x": "B"})]
    sides = [[Document("d", {"x": spans})] for spans in (gold, predicted)]
    total = sum_of(Corpus("flat", ["x"], *sides), Levels())
    part, whole = Levels().headline_report(total, ["x", "y", "z"]), Levels().scores(total, ["x", "y", "z"])

    assert part["unlabelled"] == {"1": whole["unlabelled"]["1"]}
    assert part["labelled"] == {
        layer: {"1": {"micro": levels["1"]["micro"]}} for layer, levels in whole["labelled"].items()
    }
    assert part["labelled"]["y"]["1"]["micro"]["gold"] == 1


LAYERS = ("entity", "risk")


@given(
    flat_spans(LAYERS, zero_length=True),
    flat_spans(LAYERS, zero_length=True),
    st.randoms(use_true_random=False),
)
def test_spans_of_a_case_have_the_classes_that_they_have_as_lists_in_any_order(
    gold: list[Span], predicted: list[Span], random: Any
) -> None:
    sides = [random.sample(spans, len(spans)) for spans in (gold, predicted)]
    flags = tuple([tuple([random.random() < 0.7 for _ in spans]) for spans in sides])
    expected = Counter(
        (name, match.span.labels, match.kind, match.labels)
        for name, matches, of_side in (
            ("gold", match_spans(*sides), flags[0]),
            ("predicted", match_spans(*reversed(sides)), flags[1]),
        )
        for match, counts in zip(matches, of_side, strict=True)
        if counts
    )

    assert Counter(classified(Case((tuple(sides[0]), tuple(sides[1])), flags))) == expected


def test_a_long_span_may_be_tiled_by_single_tags() -> None:
    size = 2 * LARGE

    result = score([["B-A"] + ["I-A"] * (size - 1)], [["B-A"] * size], metrics=["levels", "exact"])

    classes = result.metrics["levels"]["label"]["classes"]
    assert (classes["gold"]["tiling"], classes["predicted"]["superset"]) == (1, size)
