"""The joined label of several partners, worked by hand; spans in columns, which are matched as other spans are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.metrics.match_counts import count_matches
from clueval.metrics.metric import Side
from clueval.spans.flat import Flat
from clueval.spans.match_classes import joined_labels
from clueval.spans.matching import match_spans
from clueval.spans.span import Span

SPAN = Span(10, 20, "G")


def columns(spans: Sequence[Span]) -> Flat:
    return Flat.of_tags("label", [s.start for s in spans], [s.end for s in spans], [s.label for s in spans])


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
    cuts: Sequence[int], labels: str, joined: str
) -> None:
    partners = [
        Span(start, end, label) for start, end, label in zip(cuts[:-1], cuts[1:], labels, strict=True)
    ]

    assert joined_labels(SPAN, partners) == {"label": joined}
    # other spans in front and behind, so that the numbers of spans and of partners are not the same
    gold = [Span(3, 5, "G"), SPAN] if cuts[0] == 10 else [SPAN]
    predicted = [
        *([Span(1, 2, "X"), Span(4, 9, labels[0])] if cuts[0] == 10 else []),
        *partners,
        Span(50, 60, "Z"),
    ]
    assert match_spans(gold, predicted)[-1].labels == {"label": joined}
    (_, _, found), _ = count_matches(Side(columns(gold)), Side(columns(predicted)))
    assert [entry.found for entry in found if entry.found is not None] == [joined]


def test_partner_without_a_label_in_a_layer_is_ignored_there() -> None:
    partners = [Span(10, 17, {"a": None, "b": None}), Span(17, 20, {"a": "x", "b": None})]

    assert joined_labels(SPAN, partners) == {"a": "x", "b": None}


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


@given(tiled() | st.tuples(flat_spans(), flat_spans()))
@example(([SPAN], [Span(9, 14, "A"), Span(14, 16, "B"), Span(16, 21, "C")]))
def test_columns_are_matched_and_counted_as_their_spans(sides: tuple[list[Span], list[Span]]) -> None:
    of_columns = count_matches(*(Side(columns(side)) for side in sides))
    of_spans = count_matches(*(Side(side) for side in sides))

    for (name, kinds, found), (other_name, other_kinds, other_found) in zip(
        of_columns, of_spans, strict=True
    ):
        assert (name, kinds, Counter(found)) == (other_name, other_kinds, Counter(other_found))
    assert match_spans(*map(columns, sides)) == match_spans(*sides)


@given(flat_spans())
def test_columns_are_a_sequence_of_spans(spans: list[Span]) -> None:
    found = columns(spans)

    assert list(found) == [found[number] for number in range(len(found))] == spans
    assert list(found[1:3]) == spans[1:3]
    assert list(reversed(found)) == spans[::-1]
    assert all(span in found for span in spans)
    assert Span(90, 99, "PER") not in found


def test_columns_on_one_side_only_are_counted_as_spans() -> None:
    gold, predicted = [SPAN], [Span(10, 13, "G"), Span(13, 20, "A")]

    for sides in ((columns(gold), predicted), (gold, columns(predicted))):
        (name, kinds, found), _ = count_matches(*map(Side, sides))
        assert (name, kinds, [tuple(each) for each in found]) == (
            "gold",
            {"tiling": 1},
            [("label", "G", "tiling", "A", 1)],
        )
