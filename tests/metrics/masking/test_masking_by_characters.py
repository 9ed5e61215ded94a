"""Metric `masking` against sets of characters, and what holds for any documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partialmethod
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.masking import Masking
from tests.random_texts import draw
from tests.scoring import scored
from tests.strategies import at_most


def settings(random: Random) -> Masking:
    """Return the metric with random settings."""
    chosen: dict[str, Any] = {}
    for name, values in (
        ("risk_layer", ["risk", "identifier_type", "who"]),
        ("risk_order", [("h", "m"), ("l", "DIRECT")]),
        ("keep", [("K",), ("h",), ()]),
        ("masks", [("all",), ("name",), ("name", "second")]),
        ("ignore", ["none"]),
        ("ignore_words", [("anna", "öz")]),
        ("entity", ["who", "risk"]),
        ("annotators", [("all",), ("name", "second")]),
        ("beta", [(0.5, 3.0)]),
    ):
        if random.random() < 0.15:
            chosen[name] = random.choice(values)
    if random.random() < 0.15:
        chosen["word_weights"] = {"anna": 3, "Öz": 1}
    elif random.random() < 0.1:
        chosen["token_weights"] = True
    return Masking(**chosen)


def test_annotators_refuse_a_filter_on_a_layer() -> None:
    document = Document("d", {"name": [Span(0, 1, {"name": "A"})]}, ["Anna"])

    with pytest.raises(UsageError, match="cannot leave spans out of the count"):
        scored([document], [document], Masking(annotators=("all",)), where={"name": ["A"]})


def test_sequences_of_classes_and_of_the_predicted_side_alone_have_no_report() -> None:
    gold = Document(
        "d", {"name": [Span(0, 1, {"name": "A"})], "risk": [Span(0, 1, {"risk": "low"})]}, ["Anna"]
    )
    predicted = Document("d", {"mask": [Span(0, 1, {"mask": "X"})]}, ["Anna"])

    found = scored([gold], [predicted], Masking())

    assert list(found) == ["name"]
    assert found["name"]["classes"]["low"]["protected"] == 1


TEXTS = st.text(alphabet="abÖ1 .-_\n", max_size=24)


@st.composite
def spans_in(draw: st.DrawFn, text: str, labels: str) -> list[Span]:
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, len(text)))
        features = {"identifier_type": draw(st.sampled_from(["DIRECT", "QUASI"]))}
        if draw(st.booleans()):
            features["entity_id"] = draw(st.sampled_from(["e1", "e2"]))
        found.append(Span(start, end, draw(st.sampled_from(labels)), features))
    return found


@st.composite
def sides(draw: st.DrawFn) -> tuple[Document, Document]:
    text = draw(TEXTS)
    gold, predicted = (draw(spans_in(text, labels)) for labels in ("AB", "XY"))
    return (
        Document("d", {"label": gold}, text=text, unit="character"),
        Document("d", {"label": predicted}, text=text, unit="character"),
    )


def rows(pairs: list[tuple[Document, Document]], **settings: Any) -> Mapping[str, Any]:
    gold, predicted = zip(*pairs, strict=True)
    label: Mapping[str, Any] = scored(list(gold), list(predicted), Masking(**settings))["label"]
    return label


def naive(gold: Document, predicted: Document) -> dict[str, int]:
    """The row of all classes, and precision, by sets of characters."""
    text = gold.text or ""
    masked = {i for span in predicted.layers["label"] for i in range(span.start, span.end)}
    words = [set(range(*match.span())) for match in re.finditer(r"\w+", text)]
    letters = {i for i, character in enumerate(text) if character.isalnum()}
    found = dict.fromkeys(("mentions", "protected", "partial", "missed", "entities", "entities_protected"), 0)
    found |= dict.fromkeys(("words", "words_exposed", "characters", "characters_exposed"), 0)
    entities: dict[object, list[bool]] = {}
    for span in gold.layers["label"]:
        own = set(range(span.start, span.end))
        core = own & letters or own
        exposed = core - masked
        found["mentions"] += 1
        found["protected" if not exposed else "missed" if exposed == core else "partial"] += 1
        found["characters"] += len(core)
        found["characters_exposed"] += len(exposed)
        clipped = [word & own for word in words if word & own & letters]
        found["words"] += len(clipped)
        found["words_exposed"] += sum(bool(word & exposed) for word in clipped)
        strings = tuple(text[min(word) : max(word) + 1].casefold() for word in clipped)
        surface = (span.label, strings or text[span.start : span.end].casefold())
        entities.setdefault(span.features.get("entity_id", surface), []).append(not exposed)
    found["entities"] = len(entities)
    found["entities_protected"] = sum(map(all, entities.values()))
    mentioned = {i for span in gold.layers["label"] for i in range(span.start, span.end)}
    hit = [word & masked & letters for word in words if word & masked & letters]
    found["precision_words"] = len(hit)
    found["words_right"] = sum(word <= mentioned for word in hit)
    found["over"] = len((letters & masked) - mentioned)
    return found


@given(sides())
def test_figures_are_those_of_sets_of_characters(pair: tuple[Document, Document]) -> None:
    found = rows([pair])
    expected = naive(*pair)

    precision = found["precision"]
    actual = {name: found["classes"]["all"][name] for name in list(expected)[:10]}
    actual |= {"precision_words": precision["words"], "words_right": precision["words_right"]}
    assert actual | {"over": precision["characters_over_masked"]} == expected


@given(sides())
def test_other_labels_of_masks_change_nothing_but_replacements(pair: tuple[Document, Document]) -> None:
    gold, predicted = pair
    same = replace(
        predicted, layers={"label": [replace(span, labels="Z") for span in predicted.layers["label"]]}
    )

    found, other = rows([pair]), rows([(gold, same)])

    assert {**found, "replacements": None} == {**other, "replacements": None}
    assert other["replacements"]["several"] == 0


@example(265)
@given(st.integers(0, 1000))
def test_tokens_have_the_counts_of_their_characters(seed: int) -> None:
    random = Random(seed)
    made = draw(random, units=("token",))
    metric = settings(random)
    for gold, predicted in zip(made.gold, made.predicted, strict=True):
        pair = Pair(gold, predicted)
        where: dict[str, frozenset[str]] = {"name": frozenset("A")} if not metric.annotators else {}
        try:
            found = metric.count_documents([pair], "name", where)
        except UsageError:
            continue
        with patch.object(Masking, "examine", partialmethod(Masking.examine, in_characters=True)):
            of_characters = metric.count_documents([pair], "name", where)
        for tally in (found, of_characters):
            tally.pop(
                ("redacted", "uncertain"), None
            )  # the metadata of redacted texts has ranges of positions
        assert of_characters == found


@at_most(25)
@given(st.randoms(use_true_random=False))
def test_figures_of_long_mentions_in_each_other_are_those_of_sets_of_characters(random: Any) -> None:
    text = " ".join(random.choices(["ab", "Ab", "b", "-", "ß", "ss"], weights=[9, 1, 1, 1, 1, 1], k=160))

    def drawn(labels: str) -> list[Span]:
        starts = [random.randrange(0, 60) for _ in range(20)]
        return [Span(start, start + random.randrange(190, 230), random.choice(labels)) for start in starts]

    pair = [Document("d", {"label": drawn(labels)}, text=text, unit="character") for labels in ("AB", "XYZ")]

    found = rows([(pair[0], pair[1])])["classes"]["all"]

    expected = naive(pair[0], pair[1])
    names = list(expected)[:10]
    assert {name: found[name] for name in names} == {name: expected[name] for name in names}


def test_string_leaks_of_a_long_mention_are_its_words_elsewhere() -> None:
    words = " ".join(f"w{number % 7}x{number}" for number in range(90))
    text = f"{words} und {words[:-1]} und {words}"
    gold = Document("d", {"label": [Span(0, len(words), "A")]}, text=text, unit="character")
    nothing = Document("d", {"label": [Span(0, len(words), "A")]}, text=text, unit="character")

    assert rows([(gold, nothing)])["string_leaks"] == 1


@given(sides(), st.sampled_from(["punctuation", "none"]))
def test_equal_weights_give_the_word_recall(pair: tuple[Document, Document], ignore: str) -> None:
    found = rows([pair], word_weights={"z": 1}, ignore=ignore)

    for row in found["classes"].values():
        assert (row["weighted_word_recall"] is None) == (row["word_recall"] is None)
        assert abs((row["weighted_word_recall"] or 0) - (row["word_recall"] or 0)) < 1e-9
