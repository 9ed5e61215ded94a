from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.metrics.match_counts import count_matches
from clueval.metrics.metric import Side
from clueval.spans.flat import Flat
from clueval.spans.matching import match_spans
from clueval.spans.span import Span
from clueval.tagging.decoder import decode
from clueval.tagging.transitions import FEW, Pairs, Seams

FEW_TAGS = ["O", "B-X", "I-X", "E-X", "S-X", "L-Y", "U-Y", "I-Y"]
MORE_TAGS = [*FEW_TAGS, *(f"{prefix}-{n}" for prefix in "BI" for n in range(20))]


class TestSeams:
    @given(st.one_of(st.lists(st.sampled_from(tags)) for tags in (FEW_TAGS, MORE_TAGS)))
    def test_chunks_are_the_decoded_spans(self, tags: list[str]) -> None:
        chunks = Seams(tags).chunks("layer")

        assert list(zip(chunks.starts, chunks.ends, chunks.labels_in("layer"), strict=True)) == list(
            decode(tags)
        )

    @given(st.one_of(st.lists(st.sampled_from(tags)) for tags in (FEW_TAGS, MORE_TAGS)))
    def test_neighbours_are_adjacent_tags_with_an_o_at_both_ends(self, tags: list[str]) -> None:
        assert Seams(tags).neighbours == Counter(pairwise(["O", *tags, "O"]))

    @pytest.mark.parametrize("labels", [FEW - 2, FEW - 1, FEW, 254, 255, 256, 300])
    def test_chunks_exist_for_any_number_of_different_tags(self, labels: int) -> None:
        tags = [f"{prefix}-{n}" for n in range(labels) for prefix in "BBII"]

        chunks = Seams(tags).chunks("layer")

        assert list(zip(chunks.starts, chunks.ends, chunks.labels_in("layer"), strict=True)) == list(
            decode(tags)
        )
        assert Seams(tags).neighbours == Counter(pairwise(["O", *tags, "O"]))


@given(st.lists(st.integers(0, 15)))
def test_pairs_are_the_same_with_and_without_bytes(numbers: list[int]) -> None:
    small, large = Pairs(numbers, 16), Pairs(numbers, 17)

    assert dict(small.count()) == dict(large.count()) == Counter(pairwise(numbers))
    assert small.each(lambda before, here: 3 * before + here) == bytes(
        3 * before + here for before, here in pairwise(numbers)
    )
    assert small.each(lambda before, here: here) == large.each(lambda before, here: here)


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
