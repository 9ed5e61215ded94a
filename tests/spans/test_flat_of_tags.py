from __future__ import annotations

from collections import Counter

from hypothesis import given
from strategies import flat_spans

from clueval.metrics.match_counts import count_matches
from clueval.metrics.metric import Side
from clueval.spans.flat import Flat
from clueval.spans.matching import match_spans
from clueval.spans.span import Span


def chunks(spans: list[Span]) -> Flat:
    return Flat.of_tags(
        "label", [s.start for s in spans], [s.end for s in spans], [str(s.labels["label"]) for s in spans]
    )


class TestFlatFromTags:
    @given(flat_spans())
    def test_flat_from_tags_is_a_sequence_of_spans(self, spans: list[Span]) -> None:
        columns = chunks(spans)

        assert list(columns) == [columns[number] for number in range(len(columns))] == spans
        assert list(columns[1:3]) == spans[1:3]
        assert list(reversed(columns)) == spans[::-1]
        assert all(span in columns for span in spans)
        assert Span(90, 99, "PER") not in columns

    @given(flat_spans(), flat_spans())
    def test_matches_are_counted_as_for_spans(self, own: list[Span], other: list[Span]) -> None:
        def counted(gold: object, predicted: object) -> object:
            sides = Side(gold), Side(predicted)  # type: ignore[arg-type]  # both are sequences of spans
            return [(name, kinds, Counter(found)) for name, kinds, found in count_matches(*sides)]

        assert counted(chunks(own), chunks(other)) == counted(own, other)

    @given(flat_spans(), flat_spans())
    def test_matches_are_those_of_spans(self, own: list[Span], other: list[Span]) -> None:
        assert match_spans(chunks(own), chunks(other)) == match_spans(own, other)
