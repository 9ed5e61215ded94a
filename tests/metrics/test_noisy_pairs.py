"""Metric `noisy` on pairs of documents: Nerval's README and its published tool."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given

from clueval.core.alignment import Alignment, align
from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError
from clueval.metrics import noisy
from clueval.metrics.noisy import Explanation, Noisy
from tests.metrics.test_noisy import (
    HUGO,
    HUGO_READ,
    LOUIS,
    TOLKIEN,
    TOLKIEN_READ,
    Counts,
    alignment_of_oracle,
    document,
    noisy_pair,
    of_oracle,
    oracle,
    pairs,
)
from tests.scoring import scored

__all__ = ["oracle"]  # a fixture


def pair(gold: Sequence[str], predicted: Sequence[str]) -> Pair:
    return Pair(document(gold), document(predicted))


def count(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> Tally:
    return Noisy(threshold).count_documents([pair(gold, predicted)], "label", {})


def score(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> dict[str, Any]:
    return Noisy().scores(count(gold, predicted, threshold), ["label"])


def explain(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> list[Explanation]:
    return list(Noisy(threshold).explain(pair(gold, predicted), "label"))


def texts(gold: tuple[str, list[Span]], predicted: tuple[str, list[Span]]) -> Pair:
    sides = [
        Document("1", {"label": spans}, text=text, unit="character") for text, spans in (gold, predicted)
    ]
    return Pair(*sides)


# The README


@pytest.mark.parametrize(("threshold", "matched"), [(0.30, 1), (0.292, 1), (7 / 24, 1), (0.291, 0), (0, 0)])
def test_seven_of_24_characters_are_accepted_at_030_and_refused_below_their_share(
    threshold: float, matched: int
) -> None:
    (only,) = explain(HUGO, HUGO_READ, threshold)

    assert (only.distance, len(only.gold_text)) == (7, 24)
    assert only.matched == bool(matched)
    assert score(HUGO, HUGO_READ, threshold)["ALL"]["matched"] == matched


def test_readme_example_has_scores_of_one() -> None:
    perfect = {"predicted": 1, "matched": 1, "gold": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    report = score(TOLKIEN, TOLKIEN_READ)

    assert report["per_label"] == {"OCC": perfect, "PER": perfect}
    assert report["ALL"] == perfect | {"predicted": 2, "matched": 2, "gold": 2}
    assert [one.error_rate for one in explain(TOLKIEN, TOLKIEN_READ)] == [2 / 7, 1 / 6]


@pytest.mark.parametrize(
    ("predicted", "taken"),
    [([(4, 15)], 4), ([(14, 28)], 14), ([(4, 15), (19, 23)], 4), ([(7, 8), (9, 23)], 7)],
)
def test_readme_situations_are_paired_as_drawn(predicted: list[tuple[int, int]], taken: int) -> None:
    text = "abcdefghijklmnopqrstuvwxyzäöüß"
    sides = texts((text, [Span(7, 24, "PER")]), (text, [Span(*each, "PER") for each in predicted]))

    (only,) = Noisy().explain(sides, "label")

    assert only.predicted is not None
    assert only.predicted.start == taken


# The published tool


def of_ours(gold: Sequence[str], predicted: Sequence[str], threshold: float) -> Counts:
    report = score(gold, predicted, threshold)
    return {
        label: (entry["predicted"], entry["matched"], entry["gold"])
        for label, entry in {**report["per_label"], "ALL": report["ALL"]}.items()
    }


@pytest.mark.parametrize(("gold", "predicted"), [(HUGO, HUGO_READ), (TOLKIEN, TOLKIEN_READ), (LOUIS, LOUIS)])
def test_nerval_counts_the_readme_as_clueval_does(
    oracle: ModuleType,  # the fixture
    gold: list[str],
    predicted: list[str],
) -> None:
    for threshold in (0.3, 0.29, 0.28, 0.1, 0.0, 1.0):
        assert of_ours(gold, predicted, threshold) == of_oracle(oracle, gold, predicted, threshold)


def test_nerval_agrees_on_noisy_documents(
    oracle: ModuleType,  # the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(60):
        gold, predicted = noisy_pair(seed)
        threshold = (0.30, 0.0, 0.15, 1.0)[seed % 4]
        expected = of_oracle(oracle, gold, predicted, threshold)
        if of_ours(gold, predicted, threshold) != expected:  # another minimal alignment must explain it

            def as_oracle(own: str, other: str, **_: object) -> Alignment:
                theirs = alignment_of_oracle(oracle, own, other)
                assert theirs.distance == align(own, other).distance
                return Alignment(own, other, theirs.steps)

            with monkeypatch.context() as patch:
                patch.setattr(noisy, "align", as_oracle)
                assert of_ours(gold, predicted, threshold) == expected, f"seed {seed}"


# Rules


def test_a_span_is_taken_even_if_it_does_not_match() -> None:
    found = explain(["aaaa B-X", "bbbb B-X"], ["aaaa B-X", "bbbb I-X"])

    assert [(one.predicted_text, one.matched) for one in found] == [("aaaa bbbb", False), ("", False)]


def test_only_the_same_label_is_a_counterpart() -> None:
    (only,) = explain(["Wien B-LOC"], ["Wien B-PER"])

    assert (only.predicted, only.predicted_text, only.opposite) == (None, "", "Wien")
    assert (only.distance, only.matched) == (4, False)


@pytest.mark.parametrize(
    ("gold", "predicted", "found"), [("abz", "abqqz", Span(2, 4, "X")), ("ab", "abqq", None)]
)
def test_text_that_only_the_prediction_has_after_a_span_is_opposite_to_it_save_at_the_end(
    gold: str, predicted: str, found: Span | None
) -> None:
    sides = texts((gold, [Span(0, 2, "X")]), (predicted, [Span(2, 4, "X")]))

    assert [one.predicted for one in Noisy().explain(sides, "label")] == [found]


def test_spans_without_text_are_counted_and_match_nothing() -> None:
    sides = texts(("ab", [Span(1, 1, "X")]), ("ab", [Span(1, 1, "X")]))
    report = Noisy(1).scores(Noisy(1).count_documents([sides], "label", {}), ["label"])

    assert (report["ALL"]["gold"], report["ALL"]["matched"]) == (1, 0)
    assert [one.error_rate for one in Noisy(1).explain(sides, "label")] == [None]


def test_tokens_are_a_text_too() -> None:
    gold = Document("1", {"label": [Span(11, 13, "PER")]}, tokens=["Frau", "Anna", "Weiß"], start=10)
    predicted = Document("1", {"label": [Span(5, 13, "PER")]}, text="Frau Ana Weiß", unit="character")

    found = Noisy().explain(Pair(gold, predicted), "label")

    assert [(one.gold_text, one.distance) for one in found] == [("Anna Weiß", 1)]


def test_rates_over_nothing_are_undefined_and_not_zero() -> None:
    report = score(["Wien B-LOC"], ["Wien B-PER"])

    assert report["per_label"] == {
        "LOC": {"predicted": 0, "matched": 0, "gold": 1, "precision": None, "recall": 0.0, "f1": None},
        "PER": {"predicted": 1, "matched": 0, "gold": 0, "precision": 0.0, "recall": None, "f1": None},
    }
    assert Noisy().scores(Tally(), ["label"])["file_mean"]["documents"] == 0


def test_the_mean_is_over_documents_whose_rate_is_defined() -> None:
    total = count(["a B-X"], ["a O"]) + count(["a B-X"], ["a B-X"]) + count(["a O"], ["a O"])

    assert Noisy().scores(total, ["label"])["file_mean"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": 1.0,
        "documents": 3,
        "documents_with_precision": 1,
        "documents_with_recall": 2,
        "documents_with_f1": 1,
    }


@given(pairs)
def test_identical_files_score_one(given_pair: tuple[list[str], list[str]]) -> None:
    for lines in given_pair:
        report = score(lines, lines, 0)

        for entry in (report["ALL"], *report["per_label"].values()):
            assert entry["f1"] in ((1.0,) if entry["gold"] else (None,))


# Settings and bad input


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan"), float("inf"), "0.3", True, None])
def test_a_threshold_outside_0_to_1_is_refused(threshold: Any) -> None:
    with pytest.raises(UsageError) as refusal:
        Noisy(threshold)

    assert str(refusal.value) == f"Noisy.threshold must be a number from 0 to 1, not {threshold!r}"


@pytest.mark.parametrize("limit", [0, -1, 1e9, "9", True])
def test_a_limit_that_is_no_number_of_cells_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="max_alignment must be"):
        Noisy(max_alignment=limit)


def test_the_limit_decides_no_score_and_does_not_enter_equality() -> None:
    assert Noisy(0.2, max_alignment=5) == Noisy(0.2)
    assert Noisy(0.2) != Noisy(0.3)


def test_a_document_that_is_too_long_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"document '1': aligning 24 with 10 characters takes 240 cells"):
        Noisy(max_alignment=100).count_documents([pair(HUGO, ["0123456789 B-X"])], "label", {})


def test_a_side_without_a_text_is_an_error() -> None:
    bare = Document("1", {"label": [Span(0, 1, "X")]})

    with pytest.raises(UsageError, match="text"):
        Noisy().count_documents([Pair(bare, document(HUGO))], "label", {})


def test_a_discontinuous_span_is_refused() -> None:
    gap = Document("1", {"label": [Span.of_fragments([(0, 1), (2, 3)], "X")]}, text="a b", unit="character")

    with pytest.raises(
        UsageError, match=r"document '1': span \[0,3\) 'X' has gaps, and metric 'noisy' cannot"
    ):
        scored([gap], [gap], Noisy())


def test_filtered_spans_are_not_counted() -> None:
    found = pair(TOLKIEN, TOLKIEN_READ)
    report = scored([found.gold], [found.predicted], Noisy(), where={"label": ["PER"]})["label"]

    assert list(report["per_label"]) == ["PER"]
    assert report["ALL"]["matched"] == 1
    only = Noisy().explain(found, "label", {"label": frozenset(["PER"])})
    assert [one.gold.label for one in only] == ["PER"]


def test_a_filter_that_leaves_out_one_of_a_pair_is_refused() -> None:
    text = "Ann met Bob"
    sides = [
        Document("1", {"x": [Span(0, 3, {"x": "A"})], "kind": kinds}, text=text, unit="character")
        for kinds in ([Span(0, 3, {"kind": "in"})], [Span(0, 3, {"kind": "out"})])
    ]

    with pytest.raises(UsageError, match="only one of a pair"):
        Noisy().count_documents([Pair(*sides)], "x", {"kind": frozenset(["in"])})
