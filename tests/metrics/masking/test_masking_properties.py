"""Metric `masking` against a model made of sets of characters, and what holds for any documents."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import Document, Span, score
from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.metric import Side

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
    found = score(list(gold), list(predicted), metrics=[Masking(**settings)])
    label: Mapping[str, Any] = found.metrics["masking"]["label"]
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


@at_most(300)
@given(sides())
def test_figures_are_those_of_sets_of_characters(pair: tuple[Document, Document]) -> None:
    found = rows([pair])
    expected = naive(*pair)

    precision = found["precision"]
    actual = {name: found["classes"]["all"][name] for name in list(expected)[:10]}
    actual |= {"precision_words": precision["words"], "words_right": precision["words_right"]}
    assert actual | {"over": precision["characters_over_masked"]} == expected


@given(sides(), st.data())
def test_masking_more_never_lowers_a_recall(pair: tuple[Document, Document], data: st.DataObject) -> None:
    gold, predicted = pair
    more = data.draw(spans_in(gold.text or "", "Z"))
    larger = replace(predicted, layers={"label": [*predicted.layers["label"], *more]})

    before, after = rows([pair]), rows([(gold, larger)])

    for name, row in before["classes"].items():
        for rate, value in row.items():
            if rate.endswith("recall") and value is not None:
                assert after["classes"][name][rate] >= value


@given(sides())
def test_masking_everything_protects_everything(pair: tuple[Document, Document]) -> None:
    gold, predicted = pair
    everything = replace(predicted, layers={"label": [Span(0, len(gold.text or ""), "X")]})

    row = rows([(gold, everything)])["classes"]["all"]

    assert row["protected"] == row["mentions"]
    assert {value for name, value in row.items() if name.endswith("recall")} <= {1.0, None}


@given(st.lists(sides(), min_size=1, max_size=4), st.randoms())
def test_the_order_of_documents_and_of_spans_changes_nothing(
    pairs: list[tuple[Document, Document]], random: Any
) -> None:
    shuffled = []
    for pair in random.sample(pairs, len(pairs)):
        shuffled.append(
            tuple(
                replace(
                    side,
                    layers={"label": random.sample(list(side.layers["label"]), len(side.layers["label"]))},
                )
                for side in pair
            )
        )

    assert rows(shuffled) == rows(pairs)


@given(st.lists(sides(), min_size=2, max_size=4))
def test_counts_add_and_travel(pairs: list[tuple[Document, Document]]) -> None:
    metric = Masking()
    total: Tally = Tally()
    for gold, predicted in pairs:
        both = (Side(side.layers["label"], document=side, sequence="label") for side in (gold, predicted))
        total.update(pickle.loads(pickle.dumps(metric.count(*both))))

    report = metric.scores(total, ["label"])

    assert json.loads(json.dumps(report)) == rows(pairs)


@given(st.lists(st.sampled_from(["Anna", "b", ",", "x-y", "_"]), min_size=1, max_size=8), st.data())
def test_tokens_and_their_characters_give_the_same_figures(tokens: list[str], data: st.DataObject) -> None:
    from clueval.transforms.characters import to_characters

    number = len(tokens)

    def drawn(labels: str) -> list[Span]:
        starts = data.draw(st.lists(st.integers(0, number - 1), max_size=4))
        return [Span(start, data.draw(st.integers(start + 1, number)), labels) for start in starts]

    pair = [Document("d", {"label": drawn(label)}, tokens=tokens) for label in "AX"]
    moved = [to_characters(side) for side in pair]

    fields = (
        "mentions",
        "protected",
        "partial",
        "missed",
        "characters",
        "characters_exposed",
        "entities_protected",
    )
    both = [rows([(gold, predicted)])["classes"]["all"] for gold, predicted in (pair, moved)]
    assert {name: both[0][name] for name in fields} == {name: both[1][name] for name in fields}


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
