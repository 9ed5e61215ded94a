"""Spans, their dictionaries and documents as values: length, truth, what cannot be changed, what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from clueval.exceptions import SpanError
from clueval.spans.document import Document
from clueval.spans.span import Frozen, Span
from clueval.transforms.characters import to_characters


def test_span_has_its_positions_as_length_and_is_always_true() -> None:
    assert (len(Span(3, 8)), len(Span(3, 3))) == (5, 0)
    assert Span(3, 3)


def test_a_span_is_named_with_all_its_labels() -> None:
    with pytest.raises(SpanError) as caught:
        Span(2, 1, {"entity": "PER", "risk": None, "court": "x"})

    assert str(caught.value) == "span [2,1) 'PER|_|x' ends before it starts"


def test_frozen_dictionary_names_its_class_when_it_refuses_a_change() -> None:
    with pytest.raises(TypeError, match=r"^Frozen cannot be changed$"):
        Frozen(a=1).update(b=2)


def test_frozen_dictionaries_of_different_items_have_different_hashes() -> None:
    assert len({hash(Frozen(n=number)) for number in range(100)}) > 90


class TestParts:
    def test_of_a_span_in_one_piece_are_none_and_its_range_is_the_only_fragment(self) -> None:
        assert [span.parts for span in (Span(2, 5), Span.of_fragments([(2, 5)]))] == [None, None]
        assert Span(2, 5).fragments == ((2, 5),)

    def test_come_in_order_and_the_span_reaches_from_the_first_to_the_last(self) -> None:
        span = Span.of_fragments([[7, 9], [0, 3]], "A", {"score": 1}, id="T1", line=4)

        assert (span.start, span.end, span.parts) == (0, 9, ((0, 3), (7, 9)))
        assert (span.label, span.features, span.id, span.line) == ("A", {"score": 1}, "T1", 4)

    def test_are_part_of_the_value_of_a_span_and_survive_pickling_and_copying(self) -> None:
        span = Span.of_fragments([(0, 3), (7, 9)], "A")

        assert span != Span(0, 9, "A")
        assert len({span, Span(0, 9, "A"), Span.of_fragments([(0, 3), (7, 9)], "A")}) == 2
        assert pickle.loads(pickle.dumps(span)).parts == replace(span).parts == ((0, 3), (7, 9))

    @pytest.mark.parametrize(
        ("parts", "problem"),
        [
            ([(0, 3), (2, 9)], r"the part \[2,9\) of span \[0,9\) overlaps the part before it"),
            ([(0, 3), (5, 5), (7, 9)], r"the part \[5,5\) of span \[0,9\) is empty"),
            ([(0, 3), (7, 8)], r"the parts of span \[0,9\) do not reach from its start to its end"),
            ([], "do not reach"),
            ([(0, 3), (7.0, 9)], "positions must be integers"),
        ],
    )
    def test_that_contradict_each_other_are_refused(self, parts: list[tuple[int, int]], problem: str) -> None:
        with pytest.raises(SpanError, match=problem):
            Span(0, 9, parts=parts)

    def test_none_at_all_make_no_span(self) -> None:
        with pytest.raises(SpanError, match="a span needs at least one range"):
            Span.of_fragments([])

    def test_decide_whether_spans_overlap(self) -> None:
        one, other = Span.of_fragments([(0, 3), (7, 9)]), Span.of_fragments([(3, 7), (9, 11)])

        assert not one.overlaps(other)
        assert one.overlaps(Span(2, 4))
        assert other.overlaps(Span.of_fragments([(0, 1), (10, 12)]))

    def test_move_to_characters_with_their_span(self) -> None:
        span = Span.of_fragments([(0, 1), (2, 3)], "A")
        document = to_characters(Document("d", {"label": [span]}, tokens=["ab", "c", "def"]))

        assert document.layers["label"][0].fragments == ((0, 2), (5, 8))


class TestDocument:
    def test_its_spans_may_begin_with_the_first_position_and_end_with_the_last(self) -> None:
        document = Document("d", {"label": [Span(7, 9), Span(9, 9)]}, tokens=["a", "b"], start=7)

        assert document.end == 9

    @pytest.mark.parametrize(
        ("span", "message"),
        [
            (
                Span(6, 8, "A", line=3),
                "g.vrt:3, document 'd': span [6,8) 'A' of layer 'label' lies outside the text, "
                "which has the positions 7 to 8",
            ),
            (
                Span(8, 10, "A", line=4),
                "g.vrt:4, document 'd': span [8,10) 'A' of layer 'label' lies outside the text, "
                "which has the positions 7 to 8",
            ),
        ],
    )
    def test_a_span_outside_the_text_is_refused_with_its_place(self, span: Span, message: str) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {"label": [span]}, tokens=["a", "b"], start=7, file="g.vrt")

        assert str(caught.value) == message

    def test_a_span_in_an_empty_text_is_refused_without_positions(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {"label": [Span(7, 8, "A")]}, tokens=[], start=7)

        assert str(caught.value) == (
            "document 'd': span [7,8) 'A' of layer 'label' lies in a document without text"
        )

    def test_token_ids_of_a_wrong_number_are_refused_with_document_and_file(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {}, tokens=["a"], token_ids=["1", "2"], file="g.vrt")

        assert str(caught.value) == "g.vrt, document 'd': 2 token ids for 1 tokens"

    def test_an_unknown_unit_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(SpanError) as caught:
            Document("d", {}, unit="byte")  # type: ignore[arg-type]  # what is refused

        assert str(caught.value) == "document 'd': unit must be 'token' or 'character', not 'byte'"

    def test_text_between_two_positions_counts_from_the_first_of_the_document(self) -> None:
        tokens = Document("d", {}, tokens=["a", "b", "c", "d"], start=7)
        text = Document("d", {}, text="abcd", unit="character", start=7)

        assert (tokens.text_between(8, 9), text.text_between(8, 9)) == ("b", "b")
        assert (tokens.text_between(8, 10), text.text_between(8, 10)) == ("b c", "bc")

    def test_text_of_a_document_without_text_is_empty(self) -> None:
        assert Document("d", {}).text_between(0, 3) == ""
        assert Document("d", {}, unit="character").text_between(0, 3) == ""

    def test_plain_label_belongs_to_the_layer_and_other_labels_stay(self) -> None:
        named, several, none = Span(1, 2, {"entity": "LOC"}), Span(2, 3, {"a": "x", "b": "y"}), Span(3, 4)

        document = Document("d", {"entity": [Span(0, 1, "PER", line=3), named, several, none]})

        assert document.layers["entity"] == [Span(0, 1, {"entity": "PER"}), named, several, none]
        assert document.layers["entity"][0].line == 3
        assert Document("d", {"entity": [Span(0, 1, "PER")]}).layers["entity"][0].labels == {"entity": "PER"}
