"""Metric `exact` against sets of spans and tags written out position by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st
from strategies import any_spans

from clueval.metrics.exact import Exact
from clueval.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.span import Span

SIZE = 12
"""Beyond the last position of `any_spans`."""


def written(spans: Sequence[Span]) -> dict[int, tuple[str, bool]]:
    """What BIO would write at each position, and whether the span begins there; the last span is written last."""
    return {
        position: (span.label, position == span.start)
        for span in spans
        for position in range(span.start, span.end)
    }


def test_equal_spans_of_one_side_count_once() -> None:
    tally = Exact().count(Side([Span(0, 2, "A"), Span(0, 2, "A")]), Side([Span(0, 2, "A"), Span(3, 4, "A")]))

    assert [tally[what, "A"] for what in ("gold", "predicted", "tp_gold", "tp_predicted")] == [1, 2, 1, 1]


def test_two_spans_that_touch_are_not_tagged_like_one() -> None:
    document = Document("d", {}, tokens=["a", "b", "c", "d"])
    sides = Side([Span(0, 4, "A")], document=document), Side([Span(0, 2, "A"), Span(2, 4, "A")])

    assert Exact().count(*sides)["positions", "equal"] == 3


def test_a_span_that_is_left_out_still_makes_the_other_side_right() -> None:
    same = [Span(0, 2, "A"), Span(3, 4, "B")]

    tally = Exact().count(Side(same, [True, False]), Side(same))

    assert +tally == Counter(
        {
            ("gold", "A"): 1,
            ("tp_gold", "A"): 1,
            **{(what, label): 1 for what in ("predicted", "tp_predicted") for label in "AB"},
            ("positions", "all"): 3,
            ("positions", "equal"): 3,
        }
    )


@given(any_spans(), any_spans(), st.booleans())
@example([Span(0, 6, "A"), Span(2, 3, "B")], [Span(0, 6, "A")], True)
@example([Span(2, 6, "A"), Span(0, 3, "A")], [Span(0, 6, "A")], False)
def test_positions_are_those_of_tags_written_one_by_one(
    gold: list[Span], predicted: list[Span], text_is_there: bool
) -> None:
    document = Document("d", {}, tokens=["w"] * SIZE) if text_is_there else None

    tally = Exact().count(Side(gold, document=document), Side(predicted))

    one, other = written(gold), written(predicted)
    touched = one.keys() | other.keys()
    assert tally["positions", "all"] == (SIZE if text_is_there else len(touched))
    differ = sum(one.get(position) != other.get(position) for position in touched)
    assert tally["positions", "equal"] == tally["positions", "all"] - differ


@given(any_spans(), any_spans())
def test_true_positives_are_what_both_sets_have(gold: list[Span], predicted: list[Span]) -> None:
    tally = Exact().count(Side(gold), Side(predicted))

    for label in {span.label for span in (*gold, *predicted)}:
        one, other = ({span for span in side if span.label == label} for side in (gold, predicted))
        assert (tally["gold", label], tally["predicted", label]) == (len(one), len(other))
        assert tally["tp_gold", label] == tally["tp_predicted", label] == len(one & other)


def test_a_mass_of_long_spans_over_one_another_is_not_written_out() -> None:
    gold = [Span(n, 10**9 - n, "AB"[n % 2]) for n in range(1000)]
    document = Document("d", {}, text=None)

    tally = Exact().count(Side(gold), Side(gold))

    assert tally["positions", "all"] == tally["positions", "equal"] == 10**9
    assert Exact().count(Side(gold, document=document), Side(gold))["positions", "all"] == 0
