"""Predicted spans on the gold text: what moves where, what has no place, and what never happens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval import score
from clueval.core.alignment import Alignment
from clueval.core.document import Document, Sentence, Unit
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.transforms import projection as room
from clueval.transforms.projection import project

TEXTS = st.text("ab ", max_size=14)


def characters(text: str, *spans: Span, start: int = 0) -> Document:
    return Document("characters", {"label": spans}, text=text, unit="character", start=start)


def tokens(text: str, *spans: Span, start: int = 0) -> Document:
    return Document("tokens", {"label": spans}, tokens=text.split(), start=start)


def marked(text: str, part: str, label: str = "X") -> Span:
    """The span of the first place where a text has this part."""
    return Span(text.index(part), text.index(part) + len(part), label)


def projected(gold: Document, predicted: Document) -> list[str]:
    """The gold texts of the projected spans."""
    return [gold.text_of(span) for span in project(gold, predicted).document.layers["label"]]


def texts_of(document: Document, spans: Sequence[Span]) -> list[str]:
    return [document.text_of(span) for span in spans]


class TestCharacters:
    @pytest.mark.parametrize(
        ("gold", "predicted", "part", "expected"),
        [
            ("in Wien am", "in Wlen am", "Wlen", "Wien"),
            ("in Wien am", "in Wieeen am", "Wieeen", "Wien"),
            ("in Wien am", "in Win am", "Win", "Wien"),
            ("Alt Wien am", "AltWien am", "AltWien", "Alt Wien"),
            ("§ 3 - § 4", "§3 - §4", "§4", "§ 4"),
            ("東京都に住む", "東京郡に往む", "東京郡", "東京都"),
        ],
    )
    def test_a_span_becomes_that_of_the_characters_in_its_columns(
        self, gold: str, predicted: str, part: str, expected: str
    ) -> None:
        assert projected(characters(gold), characters(predicted, marked(predicted, part))) == [expected]

    @pytest.mark.parametrize(
        ("gold", "predicted", "part", "expected"),
        [
            ("in Wien am", "in Wie am", "Wie", "Wien"),
            ("in Wien am", "in ien am", "ien", "Wien"),
            ("Wien", "ie", "ie", "Wien"),
            ("Wiener", "Wi er", "Wi", "Wi"),  # the blank stands opposite to what follows
            ("Neustadtfest", "Neustafest", "Neusta", "Neusta"),  # the span ends within the word
            ("roy de France et", "roy France et", "France", "France"),  # a whole word is lost
        ],
    )
    def test_characters_lost_at_the_edge_of_a_word_are_taken_in_and_others_are_not(
        self, gold: str, predicted: str, part: str, expected: str
    ) -> None:
        assert projected(characters(gold), characters(predicted, marked(predicted, part))) == [expected]

    def test_characters_beyond_a_misread_blank_are_not_taken_in(self) -> None:
        gold, predicted = (
            characters("cd ab"),
            characters("cdx", Span(0, 3, "X")),
        )  # x stands opposite to a blank

        assert projected(gold, predicted) == ["cd "]

    def test_characters_before_a_misread_blank_are_not_taken_in(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gold, predicted = characters("ab cd"), characters("xcd", Span(0, 3, "X"))
        steps = [("delete", 0, 2, 0, 0), ("replace", 2, 3, 0, 1), ("equal", 3, 5, 1, 3)]
        monkeypatch.setattr(room, "align", lambda *_, **__: Alignment("ab cd", "xcd", steps))

        assert projected(gold, predicted) == [" cd"]

    def test_a_span_of_inserted_characters_alone_is_given_back(self) -> None:
        gold, predicted = characters("am Ufer"), characters("am xx Ufer", Span(3, 5, "X"))
        projection = project(gold, predicted)

        assert projection.document.layers == {"label": []}
        assert texts_of(predicted, projection.unprojected) == ["xx"]

    def test_positions_count_from_the_start_of_either_document(self) -> None:
        gold, predicted = characters("in Wien", start=100), characters("in Wlen", Span(53, 57, "X"), start=50)

        assert project(gold, predicted).document.layers["label"] == [Span(103, 107, "X")]


class TestTokens:
    @pytest.mark.parametrize(
        ("gold", "predicted", "spans", "expected"),
        [
            ("z. B. in Bonn", "z.B. in Bonn", [Span(0, 1)], ["z. B."]),
            ("U.S.A. is", "U . S . A . is", [Span(0, 6)], ["U.S.A."]),
            ("Anna Weiß lebt", "AnnaWeiß lebt", [Span(0, 1)], ["Anna Weiß"]),
            ("abcd efgh", "abcd-efgh", [Span(0, 1)], ["abcd efgh"]),
        ],
    )
    def test_other_tokens_of_the_same_text_are_gold_tokens_afterwards(
        self, gold: str, predicted: str, spans: list[Span], expected: list[str]
    ) -> None:
        assert projected(tokens(gold), tokens(predicted, *spans)) == expected

    @pytest.mark.parametrize(("covered", "expected"), [(2, []), (3, ["abcde"]), (5, ["abcde"])])
    def test_a_token_is_taken_if_more_than_half_of_it_is_covered(
        self, covered: int, expected: list[str]
    ) -> None:
        gold, predicted = tokens("xx abcde yy"), characters("xx abcde yy", Span(3, 3 + covered, "X"))

        assert projected(gold, predicted) == expected
        assert len(project(gold, predicted).unprojected) == (not expected)

    def test_half_a_token_is_not_enough_for_either_of_two_spans(self) -> None:
        gold, predicted = tokens("abcd"), characters("abcd", Span(0, 2, "X"), Span(2, 4, "Y"))

        assert list(project(gold, predicted).unprojected) == list(predicted.layers["label"])

    def test_a_span_of_a_blank_alone_is_given_back(self) -> None:
        assert project(tokens("a b"), characters("a b", Span(1, 2))).unprojected == [Span(1, 2)]

    def test_tokens_go_onto_characters(self) -> None:
        assert projected(characters("Frau Anna Weiß"), tokens("Frav Anna Weis", Span(1, 3))) == ["Anna Weiß"]

    def test_positions_count_from_the_start_of_either_document(self) -> None:
        gold, predicted = tokens("in Wien am", start=10), tokens("inWien am", Span(5, 6, "X"), start=5)

        assert project(gold, predicted).document.layers["label"] == [Span(10, 12, "X")]


def test_a_span_of_zero_length_stands_before_what_comes_next() -> None:
    predicted = characters("in Wlen am", Span(3, 3), Span(10, 10))

    assert project(characters("in Wien am"), predicted).document.layers["label"] == [Span(3, 3), Span(10, 10)]
    assert project(tokens("in Wien am"), predicted).document.layers["label"] == [Span(1, 1), Span(3, 3)]


def test_a_span_with_gaps_keeps_them() -> None:
    predicted = tokens("Anna und Bert Weis", Span(0, 4, "X", tokens=frozenset({0, 3})))
    (span,) = project(tokens("Anna und Bert Weiß"), predicted).document.layers["label"]

    assert (span.start, span.end, span.tokens) == (0, 4, frozenset({0, 3}))


def test_a_span_with_a_part_that_has_no_place_is_given_back_whole() -> None:
    predicted = tokens("Anna und xyz Weiß", Span(0, 3, "X", tokens=frozenset({0, 2})))

    assert list(project(tokens("Anna und Weiß"), predicted).unprojected) == list(predicted.layers["label"])


def test_what_a_span_carries_stays_with_it() -> None:
    span = Span(0, 1, {"a": "X", "b": "Y"}, features={"gender": "f"}, id="s7", line=12)
    predicted = Document("p", {"both": [span]}, tokens=["Anra"], file="predicted.bio")
    gold = Document(
        "g",
        {"both": []},
        tokens=["Anna"],
        metadata={"year": "1900"},
        sentences=[Sentence(0, 1)],
        file="gold.bio",
    )
    document = project(gold, predicted).document
    (moved,) = document.layers["both"]

    assert (moved, moved.id, moved.line) == (span, "s7", 12)
    assert (document.id, document.tokens, document.metadata) == ("g", ["Anna"], {"year": "1900"})
    assert (document.file, document.sentences) == ("predicted.bio", [Sentence(0, 1)])


def test_layers_of_gold_do_not_come_along() -> None:
    gold = Document("g", {"risk": [Span(0, 1)]}, tokens=["Anna"])

    assert project(gold, tokens("Anna", Span(0, 1))).document.layers == {"label": [Span(0, 1)]}


def test_files_with_other_tokens_can_be_scored_after_projection() -> None:
    gold = tokens("Dr. Anna Weiß lebt in St. Pölten", Span(1, 3, "PER"), Span(5, 7, "LOC"))
    predicted = tokens("Dr . Anna We iß lebt in St.Pölten", Span(2, 5, "PER"), Span(7, 8, "LOC"))
    report = score([gold], [project(gold, predicted).document], metrics="exact").to_dict()

    assert report["metrics"]["exact"]["label"]["micro"]["f1"] == 1.0


@given(st.data(), TEXTS, st.sampled_from(["token", "character"]))
def test_equal_texts_give_equal_spans(data: st.DataObject, text: str, unit: Unit) -> None:
    empty = tokens(text) if unit == "token" else characters(text)
    assert empty.end is not None
    spans = data.draw(flat_spans(size=empty.end, zero_length=True))
    predicted = tokens(text, *spans) if unit == "token" else characters(text, *spans)

    assert project(empty, predicted).document.layers == {"label": spans}


@given(st.data(), TEXTS, TEXTS, st.booleans(), st.booleans())
def test_no_span_is_lost_and_flat_spans_stay_flat_and_in_order(
    data: st.DataObject, gold: str, predicted: str, gold_tokens: bool, predicted_tokens: bool
) -> None:
    make = tokens if predicted_tokens else characters
    spans = data.draw(flat_spans(size=make(predicted).end or 0))
    own = tokens(gold) if gold_tokens else characters(gold)
    projection = project(own, make(predicted, *spans))
    moved = projection.document.layers["label"]

    assert len(moved) + len(projection.unprojected) == len(spans)
    assert all(one.end <= other.start for one, other in pairwise(moved))
    assert all(span.start < span.end for span in moved)
    assert set(projection.unprojected) <= set(spans)


def test_documents_too_long_to_be_aligned_are_an_error_that_names_gold() -> None:
    with pytest.raises(UsageError, match="document 'characters': aligning 4 with 3 characters"):
        project(characters("abcd"), characters("abc"), max_cells=11)
