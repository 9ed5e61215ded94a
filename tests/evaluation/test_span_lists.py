"""Lists of spans: the fast way counts what documents give."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from one_by_one import BY_DOCUMENT, outcome
from sizes import documents_alone

from clueval import CluevalError, score
from clueval.evaluation.span_clusters import BATCH, LARGEST, are_plain
from clueval.metrics.exact import Exact
from clueval.metrics.metric import Needs

METRICS = ["exact", "muc", "gate", "fair"]
LISTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from(["A", "B", ""])), max_size=5)

Sides = tuple[list[list[Any]], list[list[Any]]]


@st.composite
def sides(draw: st.DrawFn, flat: bool) -> Sides:
    """Lists of spans, some of which are equal on both sides; `flat`: without overlaps, in any order."""
    found: Sides = [], []
    for _ in range(draw(st.integers(0, 5))):
        for side in found:
            side.append([(start, start + length, label) for start, length, label in draw(LISTS)])
        if flat:
            for side in found:
                side[-1] = draw(st.permutations(_without_overlaps(side[-1])))
        if draw(st.booleans()):
            found[1][-1] = list(found[0][-1])
    return found


def _without_overlaps(spans: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for start, end, label in sorted(spans):
        if end > start and (not kept or start >= kept[-1][1]):
            kept.append((start, end, label))
    return kept


def counted(gold: Any, predicted: Any, **options: Any) -> dict[str, Any]:
    report = score(gold, predicted, **options).to_dict()
    report.pop("by", None)
    return report


@given(sides(flat=True))
@example(([[(0, 1, "A")], [(0, 1, "A")]], [[(0, 1, "A")], []]))
@example(([[(0, 2, "A"), (2, 3, "A")]], [[(2, 3, "A"), (0, 2, "B")]]))
@example(([[(5, 7, "A"), (3, 5, "A")]], [[(4, 6, "A"), (0, 4, "A")]]))  # fair depends on the order
@example(([[], []], [[], []]))
def test_flat_lists_of_spans_count_as_their_documents_do(pair: Sides) -> None:
    metrics = [*METRICS, "levels", "confusion", "partial"]
    fast = counted(*pair, metrics=metrics)
    with documents_alone():
        plain = counted(*pair, metrics=metrics)

    assert fast == plain


@given(sides(flat=False))
@example(([[(0, 1, "A")], [(0, 1, "A")]], [[(0, 1, "A")], []]))
def test_lists_one_by_one_count_as_their_documents_do(pair: Sides) -> None:
    for choices in BY_DOCUMENT:
        fast = outcome(*pair, metrics=METRICS, **choices)
        with documents_alone():
            plain = outcome(*pair, metrics=METRICS, **choices)

        assert fast == plain


@given(sides(flat=False), st.integers(2, 5), st.integers(0, 4))
@example(([[(0, 4, "A"), (2, 6, "B"), (3, 4, "A")]], [[(2, 6, "B"), (0, 4, "A")]]), 5, 0)
@example(([[(0, 5, "A")], [(0, 5, "A"), (1, 2, "B")]], [[(0, 5, "A")], [(0, 5, "A")]]), 5, 0)
@example(([[(1, 1, "A"), (1, 1, "A")]], [[(1, 1, "A")]]), 5, 0)
def test_lists_with_overlaps_count_as_their_documents_do_at_any_size(
    pair: Sides, largest: int, most: int
) -> None:
    fast = counted(*pair, metrics=METRICS)
    clusters = "clueval.evaluation.span_clusters"
    with (
        patch(f"{clusters}.LARGEST", largest),
        patch(f"{clusters}.MOST", most),
        patch("clueval.clusters.bag._FEW", 0),
    ):
        of_small_sizes = counted(*pair, metrics=METRICS)
    with documents_alone():
        plain = counted(*pair, metrics=METRICS)

    assert fast == of_small_sizes == plain


def test_lists_whose_spans_overlap_need_no_document() -> None:
    gold = [[(0, 5, "A"), (1, 2, "B"), (1, 2, "B")], [(7, 9, "A"), (3, 8, "A")]]

    with patch("clueval.evaluation.span_clusters.Group", side_effect=AssertionError):
        result = score(gold, gold[::-1], metrics=METRICS)

    assert result.metrics["exact"]["label"]["micro"]["gold"] == 4  # equal spans count once


def test_spans_that_all_overlap_are_counted_as_a_document() -> None:
    spans = [(n, n + 2, "A") for n in range(LARGEST + 1)]

    with patch("clueval.evaluation.span_clusters.Group", side_effect=AssertionError):
        score([spans[:-1]], [spans[:-1]], metrics="exact")
        with pytest.raises(AssertionError):
            score([spans], [spans], metrics="exact")


class Strict(Exact):
    """A metric that does not say that spans may nest."""

    @property
    def needs(self) -> Needs:
        return Needs()


def test_metrics_that_do_not_allow_it_get_no_clusters_with_overlaps() -> None:
    flat, nested = [(0, 1, "A")], [(0, 5, "A"), (1, 2, "B")]

    with patch("clueval.evaluation.span_clusters.Group", side_effect=AssertionError):
        score([flat], [flat], metrics=[Strict()])
        with pytest.raises(AssertionError):
            score([flat, nested], [flat, flat], metrics=[Strict()])


def test_more_lists_than_a_batch_are_all_counted() -> None:
    gold = [[(n % 7, n % 7 + 2, f"L{n % 50}"), (20, 21, "A")] for n in range(3 * BATCH)]
    predicted = [spans[:1] if n % 3 else spans for n, spans in enumerate(gold)]
    gold[BATCH + 2].append((20, 22, "A"))  # overlaps, in the second batch

    report = score(gold, predicted, metrics="exact").to_dict()

    assert report["documents"] == 3 * BATCH
    prf = report["metrics"]["exact"]["label"]["micro"]
    assert (prf["gold"], prf["predicted"], prf["tp_gold"]) == (6 * BATCH + 1, 4 * BATCH, 4 * BATCH)


@pytest.mark.parametrize(
    "spans",
    [
        [(0, 1.0, "A")],
        [(True, 2, "A")],
        [(0, 1, None)],
        [(0, 1)],
        [[0, 1, "A"]],
        [(-1, 1, "A")],
        [(1, 1, "A")],
        [(0, 1), ("A", 3, 5, "B")],
        {"A": 1},
    ],
    ids=repr,
)
def test_lists_that_need_a_document_are_not_plain(spans: Any) -> None:
    assert not are_plain([[(0, 1, "A")], spans])[0]


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([[(0, 1, "A")], [(0, 1.0, "A")]], [[], []], "gold[1][0]: positions must be integers"),
        ([[(0, 1, "A")]], [[(2, 1, "A")]], "predicted[0][0]: span [2,1) 'A' ends before it starts"),
        ([[(0, 1, "A")], []], [[]], "gold has 2 documents and predicted has 1 document"),
        (
            [[(0, 2, "A"), (1, 3, "A")]],
            [[]],
            "document '0': spans [0,2) 'A' and [1,3) 'A' of one sequence overlap",
        ),
        (
            [[(0, 1, "A")], [(0, 1, "A")], [(6, 8, "A"), (5, 7, "A")], [(0, 2, "B"), (1, 3, "B")]],
            [[(0, 1, "A")], [], [], []],
            "document '2': spans [5,7) 'A' and [6,8) 'A' of one sequence overlap",
        ),
    ],
)
def test_errors_of_lists_of_spans_name_the_place(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError) as caught:
        score(gold, predicted)

    assert message in str(caught.value)
