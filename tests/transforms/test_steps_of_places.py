"""Steps that give spans other positions: characters, alignment, placing, answers of language models, redacted texts."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.bag import Bag
from clueval.core.count import Plan, Step, count
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.transforms.changes import SetApart, changes_of, choices_of
from clueval.transforms.characters import InCharacters
from clueval.transforms.locating import InlineAnswers, Locating
from clueval.transforms.occurrences import folded
from clueval.transforms.options import Preparing, steps_of
from clueval.transforms.placing import Placing
from clueval.transforms.projection import Align
from clueval.transforms.recovery import Redacted
from tests.cases import spans

TEXT = 'Ada  met "Bob"\n(in Bern).'
TOKENS = ["Ada", "met", '"', "Bob", '"', "(", "in", "Bern", ")", "."]


def text(side: str, content: str = TEXT, **more: Any) -> Document:
    return Document("d", {"label": spans(side)}, text=content, unit="character", **more)


def tokens(side: str, content: Sequence[str] = TOKENS, **more: Any) -> Document:
    return Document("d", {"label": spans(side)}, tokens=content, **more)


def written(document: Document) -> str:
    """Return the spans of a document as `cases.spans` reads them, by position."""
    found = sorted(document.layers["label"], key=lambda span: (span.start, span.end))
    ranges = ["".join(f"[{start},{end})" for start, end in span.fragments) for span in found]
    return " ".join(span.label + each for span, each in zip(found, ranges, strict=True))


def counted(pairs: Sequence[Pair], *steps: Step, align: Step | None = None) -> tuple[dict[str, Any], Bag]:
    """Return the report of exact on one text, and the bag."""
    plan = Plan((Exact(),), steps=steps, align=align)
    bag = count([pairs], plan)
    ((*_, tally),) = bag.tallies_of(plan.metrics, ["label"])
    return Exact().scores(tally, ["label"]), bag


def prf(report: dict[str, Any]) -> tuple[float, float, float]:
    micro = report["micro"]
    return micro["tp_gold"], micro["fp"], micro["fn"]


# Beside the text


def test_pairs_beside_a_text_count_spans_but_no_document_and_no_positions() -> None:
    beside = Pair(Document("d", {"label": ()}), tokens("B[0,2)", ["x", "y"]), beside=True)

    report, bag = counted([Pair(tokens("A[0,2)"), tokens("A[0,2)")), beside])

    assert prf(report) == (1, 1, 0)
    assert report["token_accuracy"] == 1
    assert sum(bag.documents.values()) == 1


# Characters


def test_the_unit_is_that_in_which_positions_are_counted() -> None:
    given = Pair(tokens("A[0,2)"), tokens("A[0,2)"))

    assert counted([given])[1].read.units == {"token"}
    assert counted([given], InCharacters())[1].read.units == {"character"}
    assert counted([Pair(text("A[0,3)"), tokens("A[0,1)"))], Placing(in_tokens=True))[1].read.units == {
        "token"
    }


def test_a_document_without_text_cannot_be_converted() -> None:
    with pytest.raises(
        UsageError, match="a document without text cannot be converted to character positions"
    ):
        InCharacters()([Pair(Document("d", {"label": spans("A[0,1)")}), tokens(""))])


# Placing


def test_a_span_that_gets_no_token_stands_beside_the_text_and_matches_nothing() -> None:
    step = Placing(in_tokens=True)
    given = Pair(text("A[0,3) B[20,21)"), tokens("A[0,1)"))

    pair, beside = step([given])
    report, bag = counted([given], step)

    assert (written(pair.gold), written(beside.gold), beside.beside) == ("A[0,1)", "B[20,21)", True)
    assert prf(report) == (1, 0, 1)
    assert sum(bag.documents.values()) == 1


def test_white_space_alone_gets_no_token_on_either_side() -> None:
    other = TEXT.replace("  ", "   ")
    for gold, predicted in ((text("A[3,5)"), text("A[3,5)")), (text("A[3,5)"), text("A[4,5)", other))):
        report, _ = counted([Pair(gold, predicted)], Placing(in_tokens=True))

        assert prf(report) == (0, 1, 1)


def test_labels_of_spans_beside_the_text_are_mapped_too() -> None:
    steps = (Placing(in_tokens=True), *steps_of(Preparing(label_map={"B": "", "*": "*"})))

    report, bag = counted([Pair(text("A[0,3) B[20,21)"), tokens("A[0,1)"))], *steps)

    assert prf(report) == (1, 0, 0)
    assert changes_of(steps, bag.notes) == {"placed": {}, "labels": {"gold/dropped": 1}}


# Alignment


def test_a_span_is_projected_and_one_without_a_place_counts_alone() -> None:
    gold = text("PER[0,17)", "Hugone Montiniaci domino")
    predicted = text("PER[0,16) X[17,19)", "Hugon Montiniaei xy domino")

    pair, beside = Align()([Pair(gold, predicted)])
    report, bag = counted([Pair(gold, predicted)], align=Align())

    assert (written(pair.predicted), pair.predicted.text) == ("PER[0,17)", gold.text)
    assert beside.predicted.text_of(beside.predicted.layers["label"][0]) == "xy"
    assert prf(report) == (1, 1, 0)
    assert sum(bag.documents.values()) == 1


def test_merged_spans_have_one_place() -> None:
    gold = Document("d", {"x": (), "y": ()}, text="Anna lebt", unit="character")
    layers = {"x": [Span(5, 12, {"x": "A"})], "y": [Span(5, 8, {"y": "B"}), Span(8, 12, {"y": "C"})]}
    predicted = Document("d", layers, text="Anna qqqzqqq lebt", unit="character")

    _, *beside = Align(merge=True)([Pair(gold, predicted)])

    found = [
        {layer: [(s.start, s.end, s.label) for s in each] for layer, each in pair.predicted.layers.items()}
        for pair in beside
    ]
    assert found == [{"x": [(5, 12, "A")], "y": [(5, 12, "C")]}]


# Answers


def answer(*mentions: str, **more: Any) -> Document:
    """Return the document of an answer with mentions ``LABEL:text``."""
    found = []
    for mention in mentions:
        label, _, own = mention.partition(":")
        found.append(Span(0, 0, label, {"mention": own}))
    return Document("d", {"label": found}, unit="character", **more)


def test_an_unknown_occurrence_and_a_gold_without_text_are_refused() -> None:
    with pytest.raises(UsageError, match="occurrence='in-order' is unknown"):
        Preparing(occurrence="in-order")
    with pytest.raises(UsageError, match="gold has no text in which mentions could be located"):
        Locating()([Pair(Document("d", {}), answer("A:Ann"))])


def test_a_text_with_tags_is_aligned_with_gold() -> None:
    gold = text("PER[5,9)", "Herr Weiß klagt.")
    answered = text("PER[5,10) PER[18,22)", "Herr Weiss klagt. Quux")

    report, bag = counted([Pair(gold, answered)], InlineAnswers())

    assert prf(report) == (1, 1, 0)
    assert bag.notes["located", "unlocatable"] == 1


def test_spans_that_are_only_texts_are_set_apart() -> None:
    layers = {"label": [Span(0, 3, "A"), Span(0, 0, "B", {"mention": "Bob"})]}
    predicted = Document("p", layers, text=TEXT, unit="character", metadata={"unplaced": "1"})

    given, step = Pair(text("A[0,3)"), predicted), SetApart()
    pair, beside = step([given])
    report, bag = counted([given], step)

    assert (written(pair.predicted), written(beside.predicted)) == ("A[0,3)", "B[0,3)")
    assert prf(report) == (1, 1, 0)
    assert bag.read.spans["predicted", "label"] == 2
    assert (choices_of([step], bag.notes), changes_of([step], bag.notes)) == ({}, None)
    assert step([Pair(text("A[0,3)"), text("A[0,3)"))]) == [Pair(text("A[0,3)"), text("A[0,3)"))]


def test_each_gold_keeps_its_own_pair_beside_the_text() -> None:
    steps = (Locating(), *steps_of(Preparing(any_of=[[]])))
    golds = [text("A[0,3)", "Bob saw Eve"), text("A[8,11)", "Ann saw Eve")]

    report, bag = counted([Pair(gold, answer("A:Eve", "A:Zoe")) for gold in golds], *steps)

    assert prf(report) == (1, 1, 0)
    assert changes_of(steps, bag.notes)["any_of"] == {"any_of[0]": 1, "gold": 0}  # type: ignore[index]  # there are steps
    assert bag.notes["located", "answers"] == 1


@given(st.text(alphabet="aA e\u0308\u00eb\u1100\u1161\u11a8\n\tß’", max_size=12))
def test_the_characters_of_a_folded_text_have_places(content: str) -> None:
    found = folded(content, ["space", "quotes", "case"])

    assert len(found.text) == len(found.starts) == len(found.ends)
    assert all(0 <= start < end <= len(content) for start, end in zip(found.starts, found.ends, strict=True))


# Redacted texts


def test_a_redacted_text_becomes_spans_in_each_layer_of_gold() -> None:
    gold = text("PER[5,9) PER[22,29)", "Frau Weiß klagt gegen Karl Öz.")
    redacted = Document("d", {}, text="Frau [NAME] klagt gegen Karl X.", unit="character")

    (pair,) = Redacted()([Pair(gold, redacted)])

    assert written(pair.predicted) == "MASK[5,9) MASK[27,29)"
    assert [span.features["replacement"] for span in pair.predicted.layers["label"]] == ["[NAME]", "X."]
    assert pair.predicted.metadata["placeholders"] == "2"


def test_a_redacted_text_of_tokens_gives_gold_characters_and_keeps_its_words() -> None:
    gold = tokens("PER[1,2)", ["Frau", "Weiß", "klagt", "."])
    redacted = Document("d", {}, text="Frau W. klagt.", unit="character")

    report, _ = counted([Pair(gold, redacted)], Redacted(), *steps_of(Preparing(untyped=True)))
    (pair,) = Redacted()([Pair(gold, redacted)])

    assert prf(report) == (1, 0, 0)
    assert (pair.gold.unit, pair.gold.tokens) == ("character", gold.tokens)


def test_aligned_texts_are_noted() -> None:
    redacted = Document("d", {}, text="Frau Braun klagt gegen Karl Öz am Montag", unit="character")

    (pair,) = Redacted(align=True)([Pair(text("", "Frau Weiß klagt gegen Karl Öz am Montag"), redacted)])

    assert written(pair.predicted) == "MASK[5,9)"
    assert pair.notes == {("redacted", "aligned"): 1}


# All


@pytest.mark.parametrize(
    "step",
    [InCharacters(), Placing(), Align(), Locating(), SetApart(), InlineAnswers(), Redacted(("N[0-9]",))],
)
def test_steps_are_values(step: Step) -> None:
    assert pickle.loads(pickle.dumps(step)) == step
    assert list(step.check({})) == []
