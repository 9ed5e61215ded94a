"""Match classes and joined labels, one by one by hand, and against a scan of all pairs."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from inspect import signature
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval import score
from clueval.core.document import Document
from clueval.core.matching import KINDS, LEVELS, Kind, Match, match_spans
from clueval.core.span import Frozen, Span
from clueval.files.errors import OverlapError

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

    @pytest.mark.parametrize(
        ("cuts", "labels", "joined"),
        [
            ((10, 15, 20), "AB", "A"),  # a tie
            ((10, 14, 20), "AB", "B"),
            ((10, 16, 20), "AB", "A"),
            ((0, 14, 20), "AB", "B"),  # A has fourteen positions, but four inside
            ((10, 16, 30), "AB", "A"),
            ((0, 12, 14, 20), "ABC", "C"),
            ((10, 16, 18, 40), "ABC", "A"),
            ((10, 13, 17, 20), "ABC", "B"),
            ((0, 14, 16, 40), "ABC", "A"),  # four, two and four inside
            ((10, 13, 17, 20), "ABA", "A"),  # six against four
            ((10, 12, 18, 20), "ABA", "B"),
            ((10, 12, 15, 18, 20), "ABBA", "B"),
            ((10, 12, 14, 17, 20), "BACA", "A"),
        ],
    )
    def test_joined_label_has_most_positions_inside_the_span_or_is_the_first_of_equals(
        self, cuts: Sequence[int], labels: str, joined: str
    ) -> None:
        partners = [Span(*ends, label) for ends, label in zip(pairwise(cuts), labels, strict=True)]

        (match,) = match_spans([Span(10, 20, "G")], [*partners, Span(50, 60, "Z")])

        assert match.labels == {"label": joined}
        tally = score([[match.span]], [partners], metrics="levels").metrics["levels"]["label"]
        assert tally["unlabelled"]["4"]["tp_gold"] == 1
        assert tally["labelled"]["label"]["4"]["micro"]["tp_gold"] == 0  # G is no joined label

    def test_partner_without_a_label_in_a_layer_is_ignored_there(self) -> None:
        partners = [Span(10, 17, {"a": None, "b": None}), Span(17, 20, {"a": "x", "b": None})]

        (match,) = match_spans([Span(10, 20)], partners)

        assert match.labels == {"a": "x", "b": None}

    def test_a_missed_span_has_no_partners_and_no_labels(self) -> None:
        (match,) = match_spans([Span(0, 4)], [Span(1, 2, "A")])

        assert (match.partners, match.labels, match.level) == ((), {}, None)


def test_overlapping_spans_of_one_side_are_an_error_that_names_document_and_both() -> None:
    with pytest.raises(OverlapError, match=r"document 'd7'.*\[0,3\) 'A' and \[2,5\) 'B'"):
        match_spans([], [Span(2, 5, "B"), Span(0, 3, "A")], document="d7")
    with pytest.raises(OverlapError):
        match_spans([Span(0, 3), Span(0, 3)], [])


def test_an_overlap_is_refused_with_the_line_of_the_second_span_and_advice() -> None:
    crossing = [Span(1, 3, line=7), Span(0, 2, line=9)]
    message = (
        "line 7, document 'd4': spans [0,2) and [1,3) of one sequence overlap "
        "(spans of one sequence must not overlap)"
    )

    for sides in ((crossing, []), ([], crossing)):
        with pytest.raises(OverlapError) as caught:
            match_spans(*sides, document="d4")
        assert str(caught.value) == message


@pytest.mark.parametrize("positions", [(0, 0), (3, 3), (0, 2)])
def test_equal_spans_are_not_flat(positions: tuple[int, int]) -> None:
    for spans in ([Span(*positions)] * 2, [Span(7, 8), Span(*positions), Span(*positions)]):
        with pytest.raises(OverlapError):
            match_spans(spans, [])


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
    return Match(span, "superset" if len(over) == 1 else several, tuple(over), plain_labels(span, over))


def plain_labels(span: Span, partners: Sequence[Span]) -> Frozen[str, str | None]:
    """The label with most positions inside the span, or the first of equals, by looking at each position."""
    found: dict[str, str | None] = {}
    for layer in {layer for partner in partners for layer in partner.by_layer}:
        labelled = [(partner.by_layer.get(layer), partner) for partner in partners]
        inside = {
            label: sum(
                other == label and position in range(partner.start, partner.end)
                for other, partner in labelled
                for position in range(span.start, span.end)
            )
            for label, _ in labelled
            if label is not None
        }
        found[layer] = max(inside, key=lambda label: inside[label], default=None)
    return Frozen(found)


@given(layered_spans(), layered_spans())
@example([Span(0, 4), Span(5, 7)], [Span(0, 2), Span(2, 6), Span(8, 9)])
@example([Span(3, 3), Span(3, 5)], [Span(2, 5)])
def test_matches_are_those_of_a_scan_in_the_order_of_the_gold_spans(
    gold: list[Span], predicted: list[Span]
) -> None:
    assert match_spans(gold, predicted) == plain_matches(gold, predicted)


def layouts(tokens: int) -> list[list[Span]]:
    """All flat sequences of spans with length over that many tokens.

    >>> [[(span.start, span.end) for span in each] for each in layouts(2)]
    [[], [(1, 2)], [(0, 1)], [(0, 1), (1, 2)], [(0, 2)]]
    """
    from_position: list[list[list[Span]]] = [[[]]]  # from the end on
    for start in range(tokens - 1, -1, -1):
        these = list(from_position[-1])
        for end in range(start + 1, tokens + 1):
            these += [[Span(start, end), *rest] for rest in from_position[tokens - end]]
        from_position.append(these)
    return from_position[-1]


def test_matches_are_those_of_a_scan_in_every_case_of_five_tokens() -> None:
    for gold, predicted in product(layouts(5), repeat=2):
        assert match_spans(gold, predicted) == plain_matches(gold, predicted)


def test_a_long_run_inside_one_span_is_covered_and_the_span_tiled() -> None:
    singles = [Span(n, n + 1) for n in range(20)]

    for start, end in ((0, 20), (0, 12), (4, 20)):
        assert [match.kind for match in match_spans([Span(start, end)], singles)] == ["tiling"]
        covered = [match.span.start for match in match_spans(singles, [Span(start, end)]) if match.level == 2]
        assert covered == [*range(start, end)]


@st.composite
def tiled(draw: st.DrawFn) -> tuple[list[Span], list[Span]]:
    """Long spans of one side, and short ones of the other, nearly all of which touch."""
    sides = []
    for step in (st.integers(4, 9), st.integers(1, 3)):
        spans, end = [], draw(st.integers(0, 2))
        while end < 24:
            start = end + (draw(st.integers(0, 9)) == 0)
            end = start + draw(step)
            spans.append(Span(start, end, draw(st.sampled_from("ABC"))))
        sides.append(spans)
    return sides[0], sides[1]


@given(tiled() | st.tuples(flat_spans(size=24, zero_length=True), flat_spans(size=24, zero_length=True)))
@example(([Span(10, 20, "G")], [Span(9, 14, "A"), Span(14, 16, "B"), Span(16, 21, "C")]))
@example(([Span(0, 9, "A")], [Span(n, n, "B") for n in (1, 8)] + [Span(8, 9, "A")]))
def test_score_counts_the_classes_and_labels_of_a_scan_of_all_pairs(
    sides: tuple[list[Span], list[Span]],
) -> None:
    gold, predicted = ([Document("d", {"label": spans})] for spans in sides)
    report = score(gold, predicted, metrics="levels").metrics["levels"]["label"]

    for side, own, other in (("gold", *sides), ("predicted", *sides[::-1])):
        matches = plain_matches(own, other)
        kinds = Counter(match.kind for match in matches)
        assert list(report["classes"][side].values()) == [kinds[kind] for kind in KINDS]
        for level in LEVELS:
            right = [match for match in matches if match.level is not None and match.level <= level]
            correct = Counter(m.span.label for m in right if m.labels["label"] == m.span.label)
            labelled = report["labelled"]["label"][str(level)]
            assert report["unlabelled"][str(level)][f"tp_{side}"] == len(right)
            assert labelled["micro"][f"tp_{side}"] == correct.total()
            for label, entry in labelled["per_label"].items():
                assert entry[f"tp_{side}"] == correct[label]
                assert entry[side] == sum(span.label == label for span in own)


def test_score_refuses_overlaps_of_either_side_and_names_the_document() -> None:
    crossing, nothing = (Document("d3", {"label": spans}) for spans in ([Span(0, 3), Span(2, 5)], []))

    for gold, predicted in ((crossing, nothing), (nothing, crossing)):
        with pytest.raises(OverlapError, match=r"document 'd3'.*\[0,3\).* and \[2,5\)"):
            score([gold], [predicted], metrics="levels")


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
