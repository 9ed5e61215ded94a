from __future__ import annotations

import pytest
from hypothesis import given
from oracles import naive_classes
from strategies import flat_spans

from clueval.exceptions import OverlapError
from clueval.matching import KINDS, match_spans
from clueval.spans import Span

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

    def test_everything_else_is_missed(self) -> None:
        assert kind_of() == "missed"
        assert kind_of(Span(0, 3), Span(8, 9)) == "missed"  # both only touch
        assert kind_of(Span(4, 8)) == "missed"
        assert kind_of(Span(3, 5), Span(6, 8)) == "missed"  # a gap
        assert kind_of(Span(3, 5), Span(5, 7)) == "missed"  # not to the end

    def test_the_other_direction_sees_a_contained_span_as_covered_and_a_covering_one_as_missed(self) -> None:
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
    def test_the_label_with_most_positions_inside_the_span_wins(self) -> None:
        (match,) = match_spans([Span(3, 8)], [Span(0, 5, "A"), Span(5, 8, "B")])

        assert match.labels == {"label": "B"}  # A has five positions, but only two inside

    def test_positions_of_one_label_add_up(self) -> None:
        (match,) = match_spans([Span(0, 7)], [Span(0, 2, "A"), Span(2, 5, "B"), Span(5, 7, "A")])

        assert match.labels == {"label": "A"}

    def test_a_tie_goes_to_the_earliest(self) -> None:
        (match,) = match_spans([Span(0, 4)], [Span(0, 2, "Z"), Span(2, 4, "A")])

        assert match.labels == {"label": "Z"}

    def test_each_layer_is_joined_by_itself_and_no_label_has_no_say(self) -> None:
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


@given(flat_spans(zero_length=True), flat_spans(zero_length=True))
def test_classes_equal_the_naive_model(gold: list[Span], predicted: list[Span]) -> None:
    assert [m.kind for m in match_spans(gold, predicted)] == naive_classes(gold, predicted)


@given(flat_spans(), flat_spans())
def test_there_is_one_match_per_span_in_order_with_the_partners_of_its_class(
    gold: list[Span], predicted: list[Span]
) -> None:
    matches = match_spans(gold, predicted)

    assert [m.span for m in matches] == gold
    for m in matches:
        assert all(m.span.overlaps(p) and p in predicted for p in m.partners)
        assert (len(m.partners) == 0) == (m.kind == "missed")
        assert (len(m.partners) > 1) == (m.kind in KINDS[2:4])
