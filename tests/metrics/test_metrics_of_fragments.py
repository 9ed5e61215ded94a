"""What each metric does with discontinuous spans: the cases worked by hand, and spans that gaps are put into.

If the same stretch of text is put into all spans of both sides that reach over a place, spans with gaps come about, and
no relation between the spans changes. So every metric that compares positions must count them as before.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clueval import Span, score
from clueval.files.errors import OverlapError, UsageError

GOLD = Span.of_fragments([(0, 3), (7, 9)], "A")
LONGER = Span.of_fragments([(0, 3), (7, 10)], "A")


def report(metric: str, gold: list[Span], predicted: list[Span]) -> Any:
    return score([gold], [predicted], metrics=metric).metrics[metric]["label"]


@pytest.mark.parametrize("metric", ["levels", "noisy"])
def test_levels_and_noisy_refuse_gaps_and_name_both_ways_out(metric: str) -> None:
    with pytest.raises(UsageError, match=r"has gaps.*split.*hull"):
        report(metric, [GOLD], [LONGER])


RANGE = st.tuples(st.integers(1, 8), st.integers(0, 5), st.sampled_from("AB"))
SPANS = st.lists(RANGE.map(lambda each: Span(each[0], each[0] + each[1], each[2])), max_size=5)
CUTS = st.sets(st.integers(1, 12), max_size=4)


def with_gaps(span: Span, cuts: set[int]) -> Span:
    """The span after a stretch of two positions has been put in at each cut; one of zero length lies behind it."""
    inside = [span.start, *sorted(cut for cut in cuts if span.start < cut < span.end), span.end]
    ranges = []
    for start, end in pairwise(inside):
        shift = 2 * sum(cut <= start for cut in cuts)
        ranges.append((start + shift, end + shift))
    return Span.of_fragments(ranges, span.labels)


def both(metric: str, gold: list[Span], predicted: list[Span], cuts: set[int]) -> tuple[Any, Any]:
    sides = [[with_gaps(span, cuts) for span in side] for side in (gold, predicted)]
    return report(metric, gold, predicted), report(metric, *sides)


@pytest.mark.parametrize("metric", ["exact", "fair", "gate"])
@example(gold=[Span(2, 5, "A")], predicted=[Span(3, 3, "A")], cuts={4})
@given(gold=SPANS, predicted=SPANS, cuts=CUTS)
def test_gaps_that_all_spans_have_change_nothing(
    metric: str, gold: list[Span], predicted: list[Span], cuts: set[int]
) -> None:
    assume(gold or predicted)
    if metric == "fair":  # overlapping spans of a side: not settled
        gold, predicted = flat(gold), flat(predicted)
    cuts = cuts - points(gold, predicted)
    before, after = both(metric, gold, predicted, cuts)

    assert before == after


def points(gold: list[Span], predicted: list[Span]) -> set[int]:
    """The places of the spans of zero length, which do not overlap a fragment that begins there."""
    return {span.start for span in (*gold, *predicted) if span.start == span.end}


@example(gold=[Span(2, 5, "A")], predicted=[Span(3, 3, "A")])
@given(gold=SPANS, predicted=SPANS)
def test_fair_pairs_spans_within_a_gap_as_without_the_discontinuous_span(
    gold: list[Span], predicted: list[Span]
) -> None:
    assume(gold or predicted)
    around = Span.of_fragments([(0, 1), (20, 21)], "A")
    before, after = (report("fair", [*more, *gold], predicted)["overall"]["fair"] for more in ([], [around]))

    kinds = ("TP", "FP", "LE", "BES", "BEL", "BEO", "LBE")
    assert {kind: after[kind] for kind in kinds} == {kind: before[kind] for kind in kinds}
    assert after["FN"] == before["FN"] + 1


def flat(spans: list[Span]) -> list[Span]:
    """The spans that overlap no span before them."""
    found: list[Span] = []
    for span in spans:
        if all(span.end <= each.start or each.end <= span.start for each in found):
            found.append(span)
    return found


@given(gold=SPANS, predicted=SPANS, cuts=CUTS)
def test_gaps_that_all_spans_have_change_nothing_in_partial(
    gold: list[Span], predicted: list[Span], cuts: set[int]
) -> None:
    assume(gold or predicted)
    cuts = cuts - points(gold, predicted)
    sides = [[with_gaps(span, cuts) for span in side] for side in (gold, predicted)]

    assert partial(gold, predicted) == partial(*sides)


def partial(gold: list[Span], predicted: list[Span]) -> Any:
    """The report, or that spans of one label overlap."""
    try:
        return report("partial", gold, predicted)
    except OverlapError:
        return "overlap"


@given(gold=SPANS, predicted=SPANS, cuts=CUTS)
def test_gaps_that_all_spans_have_change_no_number_of_pairs(
    gold: list[Span], predicted: list[Span], cuts: set[int]
) -> None:
    assume(gold or predicted)
    before, after = both("muc", gold, predicted, cuts - points(gold, predicted))

    for scheme in ("strict", "exact", "partial"):
        for count in ("missed", "spurious", "partial", "possible"):
            assert before[scheme][count] == after[scheme][count]
    assert before["type"]["correct"] == after["type"]["correct"]
