"""The classes of both sides at once, against a scan and against all small cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.core.matching import match_spans
from clueval.core.span import Span
from clueval.first.metrics.match_counts import count_matches
from clueval.first.metrics.metric import Side
from clueval.spans.flat import Flat
from clueval.spans.match_classes import (
    EXACT,
    MISSED,
    OVERLAP,
    SUPERSET,
    TILING,
    Classes,
    classify,
    joined_labels,
)

Ranges = tuple[tuple[int, int], ...]
Scanned = tuple[list[int], list[int], dict[int, int]]


def scanned(own: Ranges, other: Ranges) -> Scanned:
    """Kinds, first partners, and the number past the last of several partners, by looking at all for each."""
    found = [scanned_one(each, other, set(own) & set(other)) for each in own]
    kinds, firsts, pasts = ([each[column] for each in found] for column in range(3))
    several = {number: past for number, past in enumerate(pasts) if kinds[number] in (TILING, OVERLAP)}
    return kinds, firsts, several


def scanned_one(one: tuple[int, int], other: Ranges, exact: set[tuple[int, int]]) -> tuple[int, int, int]:
    start, end = one
    if one in exact:
        return EXACT, other.index(one), 0
    over = [n for n, (s, e) in enumerate(other) if s < end and start < e and (s, e) not in exact]
    touch = all(other[n][1] == other[m][0] for n, m in pairwise(over))
    if not over or not touch or other[over[0]][0] > start or other[over[-1]][1] < end:
        return MISSED, -1, 0
    if len(over) == 1:
        return SUPERSET, over[0], 0
    whole = other[over[0]][0], other[over[-1]][1]
    return TILING if whole == one else OVERLAP, over[0], over[-1] + 1


def flat(ranges: Ranges) -> Flat:
    return Flat.of(Span(start, end) for start, end in ranges)


def classified(own: Ranges, other: Ranges) -> tuple[Classes, Classes]:
    return classify(flat(own), flat(other))


def layouts(tokens: int) -> list[Ranges]:
    """All flat sequences of spans with length over that many tokens.

    >>> layouts(2)
    [(), ((1, 2),), ((0, 1),), ((0, 1), (1, 2)), ((0, 2),)]
    """
    from_position: list[list[Ranges]] = [[()]]  # from the end on
    for start in range(tokens - 1, -1, -1):
        these = list(from_position[tokens - start - 1])
        for end in range(start + 1, tokens + 1):
            these += [((start, end), *rest) for rest in from_position[tokens - end]]
        from_position.append(these)
    return from_position[-1]


def test_classes_of_both_sides_are_those_of_a_scan_in_every_case_of_five_tokens() -> None:
    sides = [(ranges, flat(ranges)) for ranges in layouts(5)]

    for (one, own), (two, other) in product(sides, repeat=2):
        assert classify(own, other) == (scanned(one, two), scanned(two, one)), (one, two)


def ranges_of(spans: Sequence[Span]) -> Ranges:
    return tuple((span.start, span.end) for span in spans)


@given(*[st.builds(ranges_of, flat_spans(size=24, zero_length=True))] * 2)
@example(((0, 9),), ((1, 2), (3, 4), (4, 6), (8, 8), (8, 9), (9, 10)))
@example(((0, 2), (2, 4), (4, 4), (4, 6), (7, 9)), ((1, 3), (3, 5), (5, 8), (8, 9)))
def test_classes_of_both_sides_are_those_of_a_scan(one: Ranges, two: Ranges) -> None:
    assert classified(one, two) == (scanned(one, two), scanned(two, one))


def test_a_long_run_inside_one_span_is_covered_and_the_span_tiled() -> None:
    singles = tuple((n, n + 1) for n in range(20))

    for whole in ((0, 20), (0, 12), (4, 20)):
        assert classified((whole,), singles) == (scanned((whole,), singles), scanned(singles, (whole,)))


# The joined label of several partners, worked by hand; spans in columns, which are matched as other spans are


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
