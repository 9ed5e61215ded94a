"""Metric `masking` on pairs of documents: the case worked by hand, and one small case for each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import score
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FormatError, LimitError, SpanError, UsageError
from clueval.metrics.masking import IgnoredWords, Masking, WordWeights
from tests.scoring import scored

TEXT = "Frau Weiß klagt gegen Karl Öz. Weiß wohnt in Köln."
GOLD = [(5, 9, "e1", "high"), (22, 29, "e2", "high"), (31, 35, "e1", "high"), (45, 49, "e3", "medium")]
MASKED = [(0, 9), (22, 26), (28, 30), (45, 49)]


def gold_of(
    text: str, spans: Sequence[tuple[int, int, str | None, str | None]], label: str = "PER", id: str = "d"
) -> Document:
    """A document whose spans have an entity and a class, as features."""
    found = []
    for start, end, entity, kind in spans:
        features = {"entity_id": entity, "identifier_type": kind}
        found.append(
            Span(start, end, label, {name: one for name, one in features.items() if one is not None})
        )
    return Document(id, {"label": found}, text=text, unit="character")


def masked_of(text: str, spans: Sequence[tuple[int, int]], label: str = "MASK", id: str = "d") -> Document:
    return Document(id, {"label": [Span(*one, label) for one in spans]}, text=text, unit="character")


def report(gold: Document, predicted: Document, **settings: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = scored([gold], [predicted], Masking(**settings))
    return found["label"]


def by_hand(**settings: Any) -> Mapping[str, Any]:
    return report(gold_of(TEXT, GOLD), masked_of(TEXT, MASKED), **settings)


def test_the_case_by_hand_has_its_mentions_entities_words_and_characters() -> None:
    row = by_hand()["classes"]["all"]

    assert (row["protected"], row["partial"], row["missed"], row["mentions"]) == (2, 1, 1, 4)
    assert (row["entities_protected"], row["entities_in_part"], row["entities"]) == (1, 1, 3)
    assert (row["words"], row["words_exposed"]) == (5, 2)
    assert (row["characters"], row["characters_exposed"]) == (18, 5)
    assert (row["documents"], row["documents_exposed"], row["document_leak_upper"]) == (1, 1, 1.0)
    assert (row["mention_recall"], row["entity_recall"], row["word_recall"]) == (2 / 4, 1 / 3, 3 / 5)
    assert (row["character_recall"], row["document_recall"]) == (13 / 18, 0.0)


def test_the_bound_on_documents_has_the_confidence_that_is_asked_for() -> None:
    everything = masked_of(TEXT, [(0, len(TEXT))])

    found = report(gold_of(TEXT, GOLD), everything, confidence=0.9)["classes"]["all"]["document_leak_upper"]

    assert found == pytest.approx(1 - 0.1)


def test_the_case_by_hand_has_its_precision_and_retention() -> None:
    found = by_hand()

    assert (found["precision"]["words"], found["precision"]["words_right"]) == (5, 4)
    assert found["precision"]["retention"] == 17 / 21
    assert found["precision"]["characters_over_masked"] == 4
    assert (found["precision"]["masks"], found["precision"]["masks_needless"]) == (4, 0)
    assert found["f"]["1"] == pytest.approx(2 * 0.8 * 0.6 / 1.4)
    assert list(found["classes"]) == ["all", "high", "medium"]


def test_the_shape_of_a_row_is_that_of_the_contract() -> None:
    found = by_hand()

    assert list(found) == [
        *("classes", "labels", "f", "precision", "replacements", "string_leaks", "redacted", "conventions")
    ]
    assert set(found["classes"]["all"]) - set(found["labels"]["PER"]) == {
        *("entities", "entities_protected", "entities_in_part", "entity_recall"),
        *("documents", "documents_exposed", "document_recall", "document_leak_upper"),
    }
    assert found["redacted"] is None


def test_tokens_are_counted_as_the_characters_of_the_words_joined_by_blanks() -> None:
    tokens = ["Frau", "Weiß", ",", "Köln"]
    gold = Document("d", {"label": [Span(0, 3, "PER"), Span(3, 4, "LOC")]}, tokens=tokens)
    predicted = Document("d", {"label": [Span(1, 2, "X")]}, tokens=tokens)

    row = report(gold, predicted)["classes"]["all"]

    assert (row["characters"], row["characters_exposed"], row["words"], row["words_exposed"]) == (12, 8, 3, 2)
    assert (row["partial"], row["missed"]) == (1, 1)


def test_a_class_is_that_of_the_riskiest_span_of_the_layer_risk_that_a_mention_overlaps() -> None:
    layers = {
        "entity": [Span(0, 2, "PER"), Span(3, 4, "LOC"), Span(5, 6, "LOC"), Span(6, 7, "LOC")],
        "risk": [Span(1, 4, "low"), Span(0, 1, "high"), Span(6, 7, "NO_MASK"), Span(6, 7, "other")],
    }
    gold = Document("d", layers, tokens=list("abcdefg"))
    predicted = Document("d", {"entity": [], "risk": []}, tokens=list("abcdefg"))

    found = scored([gold], [predicted], Masking())

    assert list(found) == ["entity"]
    assert {name: row["mentions"] for name, row in found["entity"]["classes"].items()} == {
        "all": 4,
        "high": 1,
        "low": 1,
        "other": 1,
        "_": 1,
    }


def test_a_document_whose_only_layer_is_called_risk_is_scored_by_it() -> None:
    gold = Document("d", {"risk": [Span(0, 1, "high")]}, tokens=["ab"])

    assert scored([gold], [gold], Masking())["risk"]["classes"]["high"]["protected"] == 1


def test_spans_to_keep_need_no_mask_and_are_none() -> None:
    gold = gold_of(TEXT, [(5, 9, None, "NO_MASK"), (45, 49, None, "DIRECT")])
    predicted = Document("d", {"label": [Span(45, 49, "NO_MASK")]}, text=TEXT, unit="character")

    found = report(gold, predicted)

    assert (found["classes"]["all"]["mentions"], found["classes"]["all"]["missed"]) == (1, 1)
    assert found["precision"]["masks"] == 0


def test_without_ids_mentions_with_the_same_label_and_words_are_one_entity() -> None:
    text = "Karl, KARL und Karla"
    gold = gold_of(text, [(0, 4, None, None), (6, 10, None, None), (15, 20, None, None)])
    result = scored([gold], [masked_of(text, [(0, 4)])], Masking())

    row = result["label"]["classes"]["all"]

    assert (row["entities"], row["entities_in_part"]) == (2, 1)


def test_an_entity_has_the_class_of_its_riskiest_mention() -> None:
    gold = gold_of(TEXT, [(5, 9, "e1", "low"), (31, 35, "e1", "high")])

    classes = report(gold, masked_of(TEXT, []))["classes"]

    assert (classes["high"]["entities"], classes["low"]["entities"]) == (1, 0)
    assert (classes["high"]["mentions"], classes["low"]["mentions"]) == (1, 1)


def test_entity_is_that_of_the_first_span_that_overlaps_a_mention() -> None:
    text = gold_of(TEXT, [(27, 29, None, None), (45, 49, None, None)])
    entities = [Span(22, 35, "e0", parts=[(22, 26), (31, 35)]), Span(22, 35, "e1"), Span(45, 50, "e1")]

    for spans in (entities, entities[::-1]):
        gold = replace(text, layers={**text.layers, "who": spans})
        assert report(gold, masked_of(TEXT, []), entity="who")["classes"]["all"]["entities"] == 1


def test_ignored_words_are_no_part_of_what_must_go() -> None:
    gold, predicted = gold_of(TEXT, [(0, 9, "e1", None)]), masked_of(TEXT, [(5, 9)])

    assert report(gold, predicted)["classes"]["all"]["partial"] == 1
    ignoring = report(gold, predicted, ignore_words=IgnoredWords.of(["FRAU"]))["classes"]["all"]
    assert (ignoring["protected"], ignoring["words"], ignoring["characters"]) == (1, 1, 4)


def test_with_nothing_ignorable_punctuation_must_be_masked() -> None:
    gold, predicted = gold_of("Karl. Öz", [(0, 8, None, None)]), masked_of("Karl. Öz", [(0, 4), (6, 8)])

    assert report(gold, predicted)["classes"]["all"]["protected"] == 1
    row = report(gold, predicted, ignore="none")["classes"]["all"]
    assert (row["partial"], row["characters"], row["characters_exposed"], row["words"]) == (1, 8, 2, 2)
    assert row["words_exposed"] == 0


def test_a_mention_of_ignorable_characters_alone_is_masked_if_all_of_them_are() -> None:
    gold = gold_of("a --- b", [(2, 5, None, None)])

    assert report(gold, masked_of("a --- b", [(2, 4)]))["classes"]["all"]["partial"] == 1
    assert report(gold, masked_of("a --- b", [(2, 5)]))["classes"]["all"]["protected"] == 1


def test_words_are_clipped_to_the_mention() -> None:
    text = "Weiß-Müller klagt"
    gold = gold_of(text, [(0, 2, None, None), (5, 17, None, None)])

    row = report(gold, masked_of(text, [(0, 3)]))["classes"]["all"]

    assert (row["words"], row["words_exposed"], row["protected"]) == (3, 2, 1)


def test_annotators_are_views_whose_counts_add_up() -> None:
    layers = {"ann1": [Span(5, 9, "PER")], "ann2": [Span(0, 9, "PER")], "ann3": []}
    gold = Document("d", layers, text=TEXT, unit="character")
    predicted = masked_of(TEXT, [(5, 9)])

    found = scored([gold], [predicted], Masking(annotators=("all",)))["annotators"]

    row = found["classes"]["all"]
    assert (row["mentions"], row["protected"], row["documents"], row["documents_exposed"]) == (2, 1, 1, 1)
    assert (found["precision"]["words"], found["precision"]["words_right"]) == (3, 2)
    assert (found["precision"]["masks"], found["precision"]["masks_needless"]) == (1, 0)


def test_the_only_predicted_layer_masks_whatever_its_name() -> None:
    gold = Document("d", {"entity": [Span(5, 9, "PER")]}, text=TEXT, unit="character")

    found = scored([gold], [masked_of(TEXT, [(5, 9)])], Masking())

    assert list(found) == ["entity"]
    assert found["entity"]["classes"]["all"]["protected"] == 1


def test_several_predicted_layers_need_a_choice() -> None:
    gold = gold_of(TEXT, GOLD)
    layers = {"a": [Span(5, 9, "X")], "b": [Span(22, 29, "X"), Span(31, 35, "X")]}
    predicted = Document("d", layers, text=TEXT, unit="character")

    with pytest.raises(UsageError, match="name the layers that mask"):
        report(gold, predicted)
    assert report(gold, predicted, masks=("b",))["classes"]["all"]["protected"] == 2
    assert report(gold, predicted, masks=("all",))["classes"]["all"]["protected"] == 3
    with pytest.raises(UsageError, match="no predicted document has a layer 'c'"):
        report(gold, predicted, masks=("c",))


def test_weights_follow_how_often_words_occur() -> None:
    from math import log

    weights = WordWeights({"weiss": 9, "karl": 4})
    row = by_hand(word_weights=weights)["classes"]["all"]

    weight = {"weiß": -log(10 / 16), "karl": -log(5 / 16), "öz": -log(1 / 16), "köln": -log(1 / 16)}
    whole = 2 * weight["weiß"] + weight["karl"] + weight["öz"] + weight["köln"]
    assert row["weighted_word_recall"] == pytest.approx(
        1 - (weight["weiß"] + weight["öz"]) / whole, abs=1e-11
    )


def test_replacements_are_the_labels_of_the_masks() -> None:
    text = "Karl und Karl und Anna"
    gold = gold_of(text, [(0, 4, "e1", None), (9, 13, "e1", None), (18, 22, "e2", None)])
    masks = [Span(0, 4, "A"), Span(9, 13, "B"), Span(18, 22, "B")]
    predicted = Document("d", {"label": masks}, text=text, unit="character")

    assert report(gold, predicted)["replacements"] == {"entities": 1, "several": 1, "shared": 1}


def test_string_leaks_are_words_of_a_mention_that_stand_elsewhere_unmasked() -> None:
    text = "Karl Weiß kam. Karl Weiß ging. weiß, Weiß und Ö. Ö. 1234 1234"
    gold = gold_of(text, [(0, 9, None, None), (46, 47, None, None), (52, 56, None, None)])

    assert report(gold, masked_of(text, []))["string_leaks"] == 1
    assert report(gold, masked_of(text, [(15, 24)]))["string_leaks"] == 0
    assert report(gold, masked_of(text, [(15, 19)]))["string_leaks"] == 1


def test_the_longest_string_leak_counts() -> None:
    text = "Karl Weiß, Weiß. Karl Weiß."
    gold = gold_of(text, [(0, 9, None, None), (11, 15, None, None)])

    assert report(gold, masked_of(text, []))["string_leaks"] == 1


def test_a_span_with_gaps_is_masked_without_its_gaps() -> None:
    text = "Ober- und Unterhausen"
    gold = Document(
        "d",
        {"label": [Span(0, 21, "LOC", tokens=frozenset([*range(5), *range(15, 21)]))]},
        text=text,
        unit="character",
    )

    row = report(gold, masked_of(text, [(0, 4), (15, 21)]))["classes"]["all"]

    assert (row["protected"], row["characters"], row["words"]) == (1, 10, 2)


def test_a_filter_on_labels_leaves_mentions_out_of_the_rows() -> None:
    spans = [Span(5, 9, "PER"), Span(45, 49, "LOC")]
    gold = Document("d", {"label": spans}, text=TEXT, unit="character")
    predicted = Document("d", {"label": [Span(5, 9, "LOC")]}, text=TEXT, unit="character")

    found = scored([gold], [predicted], Masking(), where={"label": ["PER"]})["label"]

    assert (found["classes"]["all"]["mentions"], found["classes"]["all"]["protected"]) == (1, 1)


def test_without_mentions_every_rate_is_undefined() -> None:
    found = report(gold_of(TEXT, []), masked_of(TEXT, []))

    row = found["classes"]["all"]
    assert [row[name] for name in row if name.endswith(("recall", "upper"))] == [None] * 7
    assert found["f"] == {"1": None, "2": None}
    assert found["precision"]["word_precision"] is None
    assert found["precision"]["retention"] == 1.0


@pytest.mark.parametrize(
    "settings",
    [{"ignore": "all"}, {"confidence": 1}, {"confidence": True}, {"beta": (0.0,)}, {"beta": ("a",)}],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Masking(**settings)


def test_documents_without_text_are_refused() -> None:
    gold = Document("d", {"label": [Span(0, 1, "A")]})

    with pytest.raises(UsageError, match="needs the text"):
        scored([gold], [gold], Masking())


def test_predictions_without_text_and_label_mask() -> None:
    gold = gold_of(TEXT, GOLD)
    predicted = Document("d", {"label": [Span(5, 9, "_")]}, unit="character")

    assert report(gold, predicted, keep=("_",))["classes"]["all"]["protected"] == 1


def test_a_predicted_span_outside_the_text_is_refused() -> None:
    predicted = Document("d", {"label": [Span(5, 99, "_")]}, unit="character")

    with pytest.raises(SpanError, match="lies outside the text"):
        report(gold_of(TEXT, GOLD), predicted)


def test_merged_layers_are_one_sequence_with_the_classes_of_their_layer() -> None:
    tokens = ["Frau", "Weiß", "aus", "Köln"]
    layers = {"entity": [Span(1, 2, "PER"), Span(3, 4, "LOC")], "risk": [Span(0, 2, "high")]}
    gold = Document("d", layers, tokens=tokens)
    predicted = Document("d", {"entity": [Span(1, 2, "PER")], "risk": []}, tokens=tokens)

    found = scored([gold], [predicted], Masking(), merge=True)

    assert list(found) == ["merged"]
    assert {name: row["partial"] + row["missed"] for name, row in found["merged"]["classes"].items()} == {
        "all": 2,
        "high": 1,
        "_": 1,
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"annotators": ("name", "nope")}, "no gold document has a layer 'nope'"),
        ({"risk_layer": "nope"}, "no mention has a class in a layer or feature 'nope'"),
        ({"entity": "nope"}, "no mention has an entity in a layer or feature 'nope'"),
    ],
)
def test_a_layer_that_no_document_has_is_refused(settings: dict[str, Any], message: str) -> None:
    document = Document("d", {"name": [Span(0, 1, "A")]}, tokens=["Öz"])

    with pytest.raises(UsageError, match=message):
        scored([document], [document], Masking(**settings))


def test_a_document_without_classes_is_scored_if_its_layer_of_classes_is_empty() -> None:
    document = Document("d", {"name": [Span(0, 1, "A")], "kind": []}, tokens=["Öz"])

    found = scored([document], [document], Masking(risk_layer="kind"))["name"]

    assert list(found["classes"]) == ["all", "_"]


@pytest.mark.usefixtures("small_limits")
def test_mentions_with_too_many_words_together_are_refused_with_the_document() -> None:
    tokens = [f"w{number % 7}" for number in range(40)]
    sides = (Document("d", {"name": [Span(0, 40, "A")] * times}, tokens=tokens) for times in (150, 0))

    with pytest.raises(LimitError, match="document 'd': the mentions have together more than 4,000 words"):
        scored(*([side] for side in sides), Masking())


def test_string_leaks_with_too_many_words_to_compare_are_refused() -> None:
    tokens = ["Name"] * 1000 + ["end"] + ["Name"] * 3000
    gold = Document("d", {"name": [Span(start, 1001, "A") for start in range(1000)]}, tokens=tokens)
    nothing = Document("d", {"name": [Span(0, 1001, "A")]}, tokens=tokens)

    with pytest.raises(LimitError, match="the mentions have together more than"):
        scored([gold], [nothing], Masking())


def test_one_mask_over_everything_leaves_the_others_their_mentions() -> None:
    tokens = [f"Name{number}" for number in range(5000)]
    names = [Span(number, number + 1, "A") for number in range(0, 5000, 2)]
    gold = Document("d", {"name": names}, tokens=tokens)
    predicted = Document("d", {"name": [*names, Span(0, 5000, "B")]}, tokens=tokens)

    found = scored([gold], [predicted], Masking())["name"]

    assert found["classes"]["all"]["protected"] == 2500


def test_strings_of_very_many_lengths_are_searched_where_their_words_are() -> None:
    lengths, places = 100, 3000
    mentions = ["Name", *(f"word{number}" for number in range(lengths))]
    tokens = mentions * lengths + ["and"] + ["Name", "here"] * places
    starts = [number * len(mentions) for number in range(lengths)]
    names = [Span(start, start + 2 + number, "A") for number, start in enumerate(starts)]
    found = scored(
        [Document("d", {"name": names}, tokens=tokens)],
        [Document("d", {"name": names[:1]}, tokens=tokens)],
        Masking(),
    )

    assert found["name"]["classes"]["all"]["protected"] == 1


# Positions that are tokens


@pytest.mark.parametrize("tokens", [["", "Öz"], ["x" * 255, "Öz"]])
def test_documents_with_unusual_tokens_are_counted(tokens: list[str]) -> None:
    gold = Document("d", {"name": [Span(0, 2, "A")]}, tokens=tokens)

    row = scored([gold], [gold], Masking())["name"]["classes"]["all"]

    assert (row["protected"], row["characters"]) == (1, sum(map(len, tokens)))


def test_blanks_between_tokens_of_one_mask_are_masked() -> None:
    tokens = [",", "-", ",", "."]
    gold = Document("d", {"name": [Span(0, 3, "A")]}, tokens=tokens)

    for masks, exposed in (
        ([(0, 3)], 0),
        ([(0, 2), (2, 3)], 1),
        ([(0, 2), (1, 3)], 0),
        ([(0, 2)], 2),
        ([(0, 4)], 0),
    ):
        predicted = Document("d", {"name": [Span(*one, "X") for one in masks]}, tokens=tokens)
        row = scored([gold], [predicted], Masking())["name"]["classes"]["all"]
        assert (row["characters"], row["characters_exposed"]) == (5, exposed)


def test_a_discontinuous_mention_is_masked_without_its_gap() -> None:
    tokens = ["Anna", "und", "Karl", "Öz"]
    parts = Span.of_fragments([(0, 1), (2, 4)], "A")
    gold = Document("d", {"name": [parts]}, tokens=tokens)
    predicted = Document("d", {"name": [Span(0, 1, "X"), Span(2, 3, "X")]}, tokens=tokens)

    row = scored([gold], [predicted], Masking())["name"]["classes"]["all"]

    assert (row["words"], row["words_exposed"], row["characters"]) == (3, 1, 10)


def counts_of(gold: list[Span], masks: list[Span], tokens: list[str]) -> dict[str, int]:
    pair = [Document("d", {"name": spans}, tokens=tokens) for spans in (gold, masks)]
    report = scored([pair[0]], [pair[1]], Masking())["name"]
    return {**report["replacements"], "string_leaks": report["string_leaks"]}


def test_the_mask_with_most_characters_of_a_mention_is_its_replacement() -> None:
    tokens = ["Anna", "Weißmann", "und", "Anna", "Weißmann"]
    gold = [Span(0, 2, "A"), Span(3, 5, "A")]

    assert counts_of(gold, [Span(0, 1, "X"), Span(1, 2, "Y"), Span(3, 5, "Y")], tokens)["several"] == 0
    assert counts_of(gold, [Span(0, 1, "Y"), Span(1, 2, "X"), Span(3, 5, "Y")], tokens)["several"] == 1


def test_of_two_masks_with_as_many_characters_the_first_is_the_replacement() -> None:
    tokens = ["Anna", "Karl", "und", "Anna", "Karl"]
    gold = [Span(0, 2, "A"), Span(3, 5, "A")]

    assert counts_of(gold, [Span(0, 1, "Y"), Span(1, 2, "X"), Span(3, 5, "Y")], tokens)["several"] == 0


def test_string_leaks_do_not_overlap() -> None:
    tokens = ["Karl", "Karl", "und", "Karl", "Karl", "Karl"]

    assert counts_of([Span(0, 2, "A")], [], tokens)["string_leaks"] == 1


def test_a_masked_string_does_not_hide_a_readable_one_that_overlaps_it() -> None:
    tokens = ["Anna", "Karl", "Karl", "Weiß", "und", "Anna", "Karl", "Weiß"]
    gold = [
        Span(0, 2, "A"),
        Span(2, 4, "A"),
    ]  # "Anna Karl" is masked elsewhere, of "Karl Weiß" only the first word

    assert counts_of(gold, [Span(0, 4, "X"), Span(5, 7, "X")], tokens)["string_leaks"] == 1
    assert counts_of(gold, [Span(0, 4, "X"), Span(5, 8, "X")], tokens)["string_leaks"] == 0


def test_words_with_line_ends_are_no_other_words() -> None:
    tokens = ["Anna\nÖz", "Karl", "Anna", "Öz\nKarl"]
    gold = Document("d", {"name": [Span(0, 2, "A"), Span(2, 4, "A")]}, tokens=tokens)

    row = scored([gold], [gold], Masking())["name"]["classes"]["all"]

    assert row["entities"] == 2


# Through the public functions


def test_other_metrics_still_count_the_layer_of_the_classes() -> None:
    gold = Document("d", {"entity": [Span(0, 1, "A")], "risk": [Span(0, 1, "high")]}, tokens=["a"])

    found = score([gold], [gold], metrics=["masking", "levels"]).metrics

    assert (list(found["masking"]), list(found["levels"])) == (["entity"], ["entity", "risk"])


def test_groups_of_a_break_down_have_their_own_figures() -> None:
    sides = [(gold_of(TEXT, GOLD, id=id), masked_of(TEXT, MASKED[: int(id)], id=id)) for id in "04"]
    golds, predicteds = zip(*sides, strict=True)

    groups = score(golds, predicteds, metrics=["masking"], by="document").groups

    assert groups is not None
    rows = {
        id: group["metrics"]["masking"]["label"]["classes"]["all"]["protected"]
        for id, group in groups["document"].items()
    }
    assert rows == {"0": 0, "4": 2}


def test_the_effective_number_of_documents_weighs_them_by_their_mentions() -> None:
    sides = [(gold_of(TEXT, GOLD[:n], id=str(n)), masked_of(TEXT, MASKED, id=str(n))) for n in (1, 2, 4)]
    golds, predicteds = zip(*sides, strict=True)

    scores = score(golds, predicteds, metrics=["masking"], intervals=True).intervals()["scores"]

    recall = scores["masking"]["label"]["classes"]["all"]["mention_recall"]
    assert recall["effective"] == pytest.approx((1 + 2 + 4) ** 2 / (1 + 4 + 16))
    assert recall["low"] < 2 / 3 < recall["high"]


def test_a_layer_of_one_side_alone_is_worth_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    gold = Document("d", {"name": [Span(0, 1, "A")]}, tokens=["Öz"])

    score([gold], [Document("d", {"mask": [Span(0, 1, "X")]}, tokens=["Öz"])], metrics="masking")
    assert not recwarn.list

    score([gold], [Document("d", {"mask": []}, tokens=["Öz"])], metrics="masking")
    assert [str(one.message) for one in recwarn.list] == ["predicted has no spans"]


@pytest.mark.parametrize("count", ["9" * 400, "9" * 5000, "9" * 19, "-1", "٣"])
def test_a_count_of_a_word_that_is_no_usual_number_is_one_error(tmp_path: Path, count: str) -> None:
    (tmp_path / "counts.txt").write_text(f"a\t{count}\n", encoding="utf-8")

    with pytest.raises(FormatError, match="is not a word and its count"):
        clueval.masking([["B-X"]], [["B-X"]], word_weights=tmp_path / "counts.txt")
    if count.isascii() and len(count) < 1000:
        with pytest.raises(UsageError, match="is not a whole number from 0 on"):
            clueval.masking([["B-X"]], [["B-X"]], word_weights={"a": int(count)})
