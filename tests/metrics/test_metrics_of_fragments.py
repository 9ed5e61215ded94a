"""What each metric does with discontinuous spans: the cases worked by hand, and spans that gaps are put into.

If the same stretch of text is put into all spans of both sides that reach over a place, spans with gaps come about, and
no relation between the spans changes. So every metric that compares positions must count them as before.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clueval import Span, score
from clueval.files.errors import CluevalError, OverlapError, UsageError

GOLD = Span.of_fragments([(0, 3), (7, 9)], "A")
LONGER = Span.of_fragments([(0, 3), (7, 10)], "A")


def report(metric: str, gold: list[Span], predicted: list[Span]) -> Any:
    return score([gold], [predicted], metrics=metric).metrics[metric]["label"]


def test_muc_compares_fragments_and_shared_positions() -> None:
    found = report("muc", [GOLD], [LONGER])
    apart = report("muc", [GOLD], [Span(4, 6, "A")])

    assert (found["strict"]["incorrect"], found["partial"]["partial"], found["type"]["correct"]) == (1, 1, 1)
    assert [apart[scheme]["missed"] for scheme in ("strict", "exact", "partial", "type")] == [1, 1, 1, 1]
    assert report("muc", [GOLD], [GOLD])["strict"]["correct"] == 1
    assert report("muc", [GOLD], [Span(0, 9, "A")])["exact"]["incorrect"] == 1


def test_partial_divides_shared_positions_by_those_of_the_larger_span() -> None:
    assert report("partial", [GOLD], [LONGER])["micro"]["tp_gold"] == pytest.approx(0.75 * 5 / 6)
    assert report("partial", [GOLD], [LONGER])["micro"]["f1"] == pytest.approx(0.625)
    assert report("partial", [GOLD], [Span(4, 6, "A")])["micro"]["tp_gold"] == 0
    assert report("partial", [GOLD, Span(4, 6, "A")], [GOLD, Span(4, 6, "A")])["micro"]["f1"] == 1
    with pytest.raises(CluevalError, match="overlap, which metric 'partial' forbids"):
        report("partial", [GOLD, Span(8, 12, "A")], [])


def test_partial_glues_spans_that_share_positions() -> None:
    from clueval.metrics import metric_named

    glued = metric_named("partial", glue=True)
    gold = [GOLD, Span(8, 12, "A"), Span(4, 6, "A")]
    predicted = [Span.of_fragments([(0, 3), (7, 12)], "A"), Span(4, 6, "A")]

    found = score([gold], [predicted], metrics=[glued]).metrics["partial"]["label"]

    assert (found["micro"]["f1"], found["glued"]) == (1.0, {"gold": 1, "predicted": 0})


@pytest.mark.parametrize(
    ("predicted", "kind"),
    [
        (GOLD, "TP"),
        (LONGER, "BEL"),
        (Span(0, 9, "A"), "BEL"),
        (Span(0, 2, "A"), "BES"),
        (Span.of_fragments([(0, 2), (7, 9)], "A"), "BES"),
        (Span(2, 8, "A"), "BEO"),
        (Span.of_fragments([(0, 3), (7, 9)], "B"), "LE"),
        (Span(0, 9, "B"), "LBE"),
        (Span(4, 6, "A"), "FP"),
    ],
)
def test_fair_compares_sets_of_positions(predicted: Span, kind: str) -> None:
    found = report("fair", [GOLD], [predicted])["overall"]["fair"]

    expected = {"FP", "FN"} if kind == "FP" else {kind}
    kinds = ("TP", "FP", "FN", "LE", "BES", "BEL", "BEO", "LBE")
    assert {name for name in kinds if found[name]} == expected


@pytest.mark.parametrize(
    ("predicted", "strict", "lenient"),
    [(GOLD, 1, 1), (LONGER, 0, 1), (Span(0, 9, "A"), 0, 1), (Span(4, 6, "A"), 0, 0)],
)
def test_gate_compares_fragments_and_shared_positions(predicted: Span, strict: int, lenient: int) -> None:
    found = report("gate", [GOLD], [predicted])["all"]

    assert (found["correct_strict"], found["correct_lenient"]) == (strict, lenient)


def test_confusion_matches_equal_fragments_alone() -> None:
    other = Span.of_fragments([(0, 3), (7, 9)], "B")
    found = report("confusion", [GOLD, Span(4, 6, "A")], [other, Span(4, 6, "A")])["label"]["levels"]["1"][
        "gold"
    ]

    assert found["found"] == {"A": {"A": 1, "B": 1}}
    assert report("confusion", [GOLD], [LONGER])["label"]["classes"]["gold"]["A"]["missed"] == 1


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


FRAGMENTED = st.lists(
    st.sets(st.integers(0, 9), min_size=1, max_size=4).map(
        lambda places: Span.of_fragments([(place, place + 1) for place in places], "A")
    ),
    max_size=4,
)


@given(gold=FRAGMENTED, predicted=FRAGMENTED)
def test_muc_makes_as_many_pairs_of_fragments_as_possible(gold: list[Span], predicted: list[Span]) -> None:
    assume(gold or predicted)
    equal = Counter(gold) & Counter(predicted)  # these are paired first
    own, other = (list((Counter(side) - equal).elements()) for side in (gold, predicted))

    def most(first: int, free: frozenset[int]) -> int:
        if first == len(own):
            return 0
        taken = [most(first + 1, free - {n}) + 1 for n in free if own[first].overlaps(other[n])]
        return max([most(first + 1, free), *taken])

    found = report("muc", gold, predicted)["partial"]

    assert found["correct"] == equal.total()
    assert found["partial"] == most(0, frozenset(range(len(other))))
