from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from inspect import signature
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.core.document import Document
from clueval.core.matching import KINDS, Kind, Match, joined_labels, match_spans
from clueval.core.span import Frozen, Span
from clueval.files.errors import OverlapError
from clueval.first.metrics.match_counts import LabelCount, count_matches
from clueval.first.metrics.metric import Side

G = Span(3, 8, "G")


def kind_of(*predicted: Span) -> str:
    (match,) = match_spans([G], predicted)
    return match.kind


class TestTheSeedsDrawing:
    """One gold span [3,8) against predicted spans, case by case, and in the other direction."""

    def test_same_boundaries_are_exact(self) -> None:
        assert kind_of(Span(3, 8)) == "exact"

    @pytest.mark.parametrize("predicted", [Span(2, 8), Span(3, 9), Span(0, 12)], ids=str)
    def test_one_span_that_covers_is_a_superset(self, predicted: Span) -> None:
        assert kind_of(predicted) == "superset"

    def test_two_or_three_adjacent_spans_that_cover_exactly_are_a_tiling(self) -> None:
        assert kind_of(Span(3, 5), Span(5, 8)) == "tiling"
        assert kind_of(Span(3, 4), Span(4, 7), Span(7, 8)) == "tiling"

    def test_adjacent_spans_that_stick_out_on_one_side_or_both_are_an_overlap(self) -> None:
        assert kind_of(Span(2, 5), Span(5, 8)) == "overlap"
        assert kind_of(Span(3, 5), Span(5, 9)) == "overlap"
        assert kind_of(Span(1, 5), Span(5, 6), Span(6, 11)) == "overlap"

    def test_span_without_exact_cover_or_tiling_is_missed(self) -> None:
        assert kind_of() == "missed"
        assert kind_of(Span(0, 3), Span(8, 9)) == "missed"  # both only touch
        assert kind_of(Span(4, 8)) == "missed"
        assert kind_of(Span(3, 5), Span(6, 8)) == "missed"  # a gap
        assert kind_of(Span(3, 5), Span(5, 7)) == "missed"  # not to the end

    def test_contained_span_is_covered_and_covering_span_is_missed(self) -> None:
        assert [m.kind for m in match_spans([Span(0, 12)], [G])] == ["missed"]
        assert [m.kind for m in match_spans([Span(3, 5), Span(5, 8)], [G])] == ["superset", "superset"]
        assert [m.kind for m in match_spans([Span(2, 5), Span(5, 8)], [G])] == ["missed", "superset"]

    def test_a_span_of_one_token_can_be_exact_covered_or_missed(self) -> None:
        gold = [Span(0, 1), Span(2, 3), Span(4, 5)]

        assert [m.kind for m in match_spans(gold, [Span(0, 1), Span(1, 4)])] == [
            "exact",
            "superset",
            "missed",
        ]


def test_an_exact_partner_is_not_available_to_others() -> None:
    gold, predicted = [Span(0, 2), Span(2, 6)], [Span(0, 2), Span(2, 4), Span(4, 6)]

    assert [m.kind for m in match_spans(gold, predicted)] == ["exact", "tiling"]


def test_a_covering_span_may_cover_several() -> None:
    assert [m.kind for m in match_spans([Span(0, 2), Span(3, 4)], [Span(0, 5)])] == ["superset", "superset"]


def test_a_span_of_zero_length_is_exact_covered_from_both_sides_or_missed() -> None:
    assert [m.kind for m in match_spans([Span(3, 3)], [Span(3, 3)])] == ["exact"]
    assert [m.kind for m in match_spans([Span(3, 3)], [Span(2, 4)])] == ["superset"]
    assert [m.kind for m in match_spans([Span(3, 3)], [Span(3, 4)])] == ["missed"]


class TestJoinedLabels:
    def test_labels_are_joined_for_each_layer_alone_and_missing_labels_are_ignored(self) -> None:
        first = Span(0, 1, {"entity": "PER", "risk": "high"})
        second = Span(1, 4, {"entity": "LOC", "risk": None})

        (match,) = match_spans([Span(0, 4)], [first, second])

        assert match.labels == {"entity": "LOC", "risk": "high"}
        assert match.partners == (first, second)

    def test_a_missed_span_has_no_partners_and_no_labels(self) -> None:
        (match,) = match_spans([Span(0, 4)], [Span(1, 2, "A")])

        assert (match.partners, match.labels, match.level) == ((), {}, None)


def test_overlapping_spans_of_one_side_are_an_error_that_names_document_and_both() -> None:
    with pytest.raises(OverlapError, match=r"document 'd7'.*\[0,3\) 'A' and \[2,5\) 'B'"):
        match_spans([], [Span(2, 5, "B"), Span(0, 3, "A")], document="d7")
    with pytest.raises(OverlapError):
        match_spans([Span(0, 3), Span(0, 3)], [])


# --- one sweep gives what scanning gives -------------------------------------------------------------------


LAYERS = st.sampled_from([("a",), ("a", "b"), ("b", "a", "c")])


@st.composite
def layered_spans(draw: st.DrawFn) -> list[Span]:
    """A flat sequence in any order, of zero length too, in which a span may lack layers or their labels."""
    layers = draw(LAYERS)
    spans = [
        replace(
            span,
            labels={
                n: draw(st.sampled_from(["x", "y", None])) for n in draw(st.sets(st.sampled_from(layers)))
            },
        )
        for span in draw(flat_spans(zero_length=True))
    ]
    return draw(st.permutations(spans))


def plain_matches(gold: Sequence[Span], predicted: Sequence[Span]) -> list[Match]:
    """The matches by looking at all spans for each, exact ones first."""
    place = {(span.start, span.end): span for span in predicted}
    exact = [place.get((span.start, span.end)) for span in gold]
    rest = sorted((span for span in predicted if span not in exact), key=lambda span: (span.start, span.end))
    return [
        Match(span, "exact", (partner,), partner.by_layer)
        if partner is not None
        else plain_match(span, [other for other in rest if span.overlaps(other)])
        for span, partner in zip(gold, exact, strict=True)
    ]


def plain_match(span: Span, over: Sequence[Span]) -> Match:
    if not over or any(one.end != following.start for one, following in pairwise(over)):
        return Match(span, "missed")
    start, end = over[0].start, over[-1].end
    if start > span.start or end < span.end:
        return Match(span, "missed")
    several: Kind = "tiling" if (start, end) == (span.start, span.end) else "overlap"
    return Match(span, "superset" if len(over) == 1 else several, tuple(over), joined_labels(span, over))


@given(layered_spans(), layered_spans())
@example([Span(0, 4), Span(5, 7)], [Span(0, 2), Span(2, 6), Span(8, 9)])
@example([Span(3, 3), Span(3, 5)], [Span(2, 5)])
def test_matches_are_those_of_a_scan_in_the_order_of_the_gold_spans(
    gold: list[Span], predicted: list[Span]
) -> None:
    assert match_spans(gold, predicted) == plain_matches(gold, predicted)


@given(layered_spans(), layered_spans(), st.data())
def test_counting_without_matches_counts_the_matches_of_both_sides(
    gold: list[Span], predicted: list[Span], data: st.DataObject
) -> None:
    flags = [
        data.draw(st.none() | st.lists(st.booleans(), min_size=len(spans), max_size=len(spans)))
        for spans in (gold, predicted)
    ]

    sides = Side(gold, flags[0]), Side(predicted, flags[1])
    found = {name: (classes, Counter(found)) for name, classes, found in count_matches(*sides)}

    for name, matches, counted in (
        ("gold", match_spans(gold, predicted), flags[0]),
        ("predicted", match_spans(predicted, gold), flags[1]),
    ):
        these = [match for i, match in enumerate(matches) if counted is None or counted[i]]
        assert found[name][0] == Counter(match.kind for match in these)
        assert sum_of(found[name][1]) == Counter(
            (layer, label, match.kind, match.labels.get(layer))
            for match in these
            for layer, label in match.span.by_layer.items()
            if label is not None
        )


def sum_of(found: Counter[LabelCount]) -> Counter[Any]:
    total: Counter[Any] = Counter()
    for entry, times in found.items():
        total[entry[:-1]] += times * entry.number
    return total


def test_spans_of_many_different_layers_are_counted_each_in_its_own() -> None:
    gold = [Span(2 * n, 2 * n + 1, {f"layer {n}": "A"}) for n in range(500)]

    (_, _, found), _ = count_matches(Side(gold), Side(gold))

    assert sorted(found) == sorted(LabelCount(f"layer {n}", "A", "exact", "A", 1) for n in range(500))


def test_counting_refuses_overlaps_of_either_side_and_names_the_gold_document() -> None:
    document = Document("d3", {})
    crossing = [Span(0, 3), Span(2, 5)]

    for gold, predicted in ((crossing, []), ([], crossing)):
        with pytest.raises(OverlapError, match=r"document 'd3'.*\[0,3\) and \[2,5\)"):
            list(count_matches(Side(gold, document=document), Side(predicted)))


@pytest.mark.parametrize("value", [Span, Match])
def test_constructor_of_a_match_has_the_fields_with_their_defaults(value: type[Any]) -> None:
    parameters = signature(value).parameters

    assert list(parameters) == [field.name for field in fields(value)]
    for field in fields(value):
        default = parameters[field.name].default
        assert (MISSING if default is parameters[field.name].empty else default) == field.default


def test_a_match_is_a_value() -> None:
    match = Match(Span(0, 2, "A"), "exact", (Span(0, 2, "B"),), Frozen(label="B"))

    assert pickle.loads(pickle.dumps(match)) == match
    assert hash(match) == hash(replace(match))
    assert [Match(Span(0, 2), kind).level for kind in KINDS[:4]] == [1, 2, 3, 4]
    assert Match(Span(0, 2), "missed") == Match(span=Span(0, 2), kind="missed", partners=(), labels={})
    with pytest.raises(AttributeError):
        match.kind = "missed"  # type: ignore[misc]
