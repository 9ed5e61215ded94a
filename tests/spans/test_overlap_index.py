"""The index of spans, flat sequences and disjoint sets, where they differ from what matching needs of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_spans, flat_spans

from clueval.exceptions import OverlapError
from clueval.spans.components import UnionFind
from clueval.spans.flat import Flat, in_order_and_flat
from clueval.spans.index import SpanIndex
from clueval.spans.matching import match_spans
from clueval.spans.span import Span


@given(flat_spans(zero_length=True), any_spans(max_size=3))
def test_an_index_of_flat_spans_finds_what_a_scan_finds(spans: list[Span], queries: list[Span]) -> None:
    index = SpanIndex(reversed(spans))

    for query in queries:
        assert index.overlapping(query) == [span for span in spans if span.overlaps(query)]


def test_index_distinguishes_spans_of_zero_length_from_spans_that_they_touch() -> None:
    flat = [Span(0, 3), Span(3, 3), Span(3, 6)]

    for spans in (flat, [*flat, Span(2, 5)]):
        assert SpanIndex(spans).overlapping(Span(3, 3)) == [span for span in spans if span == Span(2, 5)]


def test_an_index_of_spans_that_overlap_gives_them_by_position_and_equal_ones_all() -> None:
    spans = [Span(4, 6, "A"), Span(0, 9, "B"), Span(4, 6, "C"), Span(9, 12, "D")]

    assert SpanIndex(spans).overlapping(Span(5, 9)) == [spans[1], spans[0], spans[2]]


def test_spans_in_order_and_flat_come_by_position_or_are_refused_by_document() -> None:
    assert in_order_and_flat([Span(4, 6), Span(0, 2)]) == [Span(0, 2), Span(4, 6)]
    with pytest.raises(
        OverlapError, match=r"document 'd4': spans \[0,2\) and \[1,3\) of one sequence overlap"
    ):
        in_order_and_flat([Span(0, 2), Span(1, 3)], "d4")


@pytest.mark.parametrize("positions", [(0, 0), (3, 3), (0, 2)])
def test_equal_spans_are_not_flat(positions: tuple[int, int]) -> None:
    with pytest.raises(OverlapError):
        in_order_and_flat([Span(*positions), Span(*positions)])
    with pytest.raises(OverlapError):
        in_order_and_flat([Span(7, 8), Span(*positions), Span(*positions)])


def test_spans_of_zero_length_are_sorted() -> None:
    flat = Flat.of([Span(3, 3), Span(1, 1), Span(2, 2)])

    assert (flat.starts, flat.order) == ([1, 2, 3], [1, 2, 0])


def test_an_overlap_is_refused_with_the_line_of_the_second_span_and_advice() -> None:
    crossing = [Span(1, 3, line=7), Span(0, 2, line=9)]
    message = (
        "line 7, document 'd4': spans [0,2) and [1,3) of one sequence overlap "
        "(spans of one sequence must not overlap)"
    )

    for refuse in (
        lambda: Flat.of(crossing, "d4"),
        lambda: match_spans(crossing, [], document="d4"),
        lambda: match_spans([], crossing, document="d4"),
    ):
        with pytest.raises(OverlapError) as caught:
            refuse()
        assert str(caught.value) == message


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12))
def test_disjoint_sets_are_those_of_repeated_unions(pairs: list[tuple[int, int]]) -> None:
    sets = UnionFind(8)
    plain = {number: {number} for number in range(8)}
    for one, other in pairs:
        sets.unite(one, other)
        joined = plain[one] | plain[other]
        plain.update(dict.fromkeys(joined, joined))

    assert all((sets.find(n) == sets.find(m)) == (m in plain[n]) for n in range(8) for m in range(8))
