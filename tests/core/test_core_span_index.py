"""The index of spans: what it finds is what a comparison with each span finds."""

from __future__ import annotations

from hypothesis import example, given

from clueval.core.overlap import SpanIndex
from clueval.core.span import Span
from tests.cases import any_spans, spans


@given(any_spans(20), any_spans(4))
@example(spans("A[0,9) A[3,5) A[4,4)"), spans("A[3,5) A[4,4) A[3,3) A[5,9)"))
@example(spans("A[0,3) A[3,3) A[3,6)"), spans("A[3,3)"))  # touching is not overlapping
@example(spans("A[4,6) B[0,9) C[4,6) D[9,12)"), spans("A[5,9)"))  # equal spans are all found
def test_the_index_finds_the_spans_that_overlap(those: list[Span], queries: list[Span]) -> None:
    index = SpanIndex(those)

    for query in queries:
        assert index.overlapping(query) == [n for n, each in enumerate(those) if query.overlaps(each)]
