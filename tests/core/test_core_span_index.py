"""The index of spans: what it finds is what a comparison with each span finds."""

from __future__ import annotations

from hypothesis import example, given

from clueval.core.overlap import SpanIndex
from clueval.core.span import Span
from tests.second.cases import any_spans, spans


@given(any_spans(20), any_spans(4))
@example(spans("A[0,9) A[3,5) A[4,4)"), spans("A[3,5) A[4,4) A[3,3) A[5,9)"))
def test_the_index_finds_the_spans_that_overlap(those: list[Span], queries: list[Span]) -> None:
    index = SpanIndex(those)

    for query in queries:
        assert index.overlapping(query) == [n for n, each in enumerate(those) if query.overlaps(each)]
