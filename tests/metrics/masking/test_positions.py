"""Positions that are tokens against positions that are characters."""

from __future__ import annotations

from functools import partialmethod
from random import Random
from unittest.mock import patch

import pytest

from clueval import Document, Span, score
from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.word_files import IgnoredWords
from clueval.metrics.metric import Side

WORDS = ("Anna", "anna", "Öz", "d.", ",", "x-y", "_", "12345")


def spans_in(random: Random, number: int, labels: str, *, apart: bool) -> list[Span]:
    """Draw spans that may overlap, or that do not."""
    found, last = [], 0
    for _ in range(random.randrange(6)):
        start = random.randrange(last, number) if last < number else number
        if start == number:
            break
        end = random.randint(start + 1, min(number, start + 3))
        last = end if apart else 0
        features = {"entity_id": random.choice("ef")} if random.random() < 0.3 else {}
        found.append(Span(start + 7, end + 7, random.choice(labels), features))
    return found


def side(random: Random, tokens: list[str], layers: dict[str, list[Span]]) -> Side:
    document = Document("d", layers, tokens=tokens, start=7)
    spans = document.layers["name"]
    counted = [random.random() < 0.8 for _ in spans] if random.random() < 0.3 else None
    return Side(spans, counted, document, sequence="name")


def in_characters(metric: Masking, gold: Side, predicted: Side) -> Tally:
    with patch.object(Masking, "examine", partialmethod(Masking.examine, in_characters=True)):
        return metric.count(gold, predicted)


def test_tokens_have_the_counts_of_their_characters() -> None:
    random = Random(19)
    for _ in range(400):
        tokens = random.choices(WORDS, k=random.randint(1, 14))
        gold = side(
            random,
            tokens,
            {
                "name": spans_in(random, len(tokens), "ABK", apart=False),
                "risk": spans_in(random, len(tokens), "lmh", apart=False),
                "who": spans_in(random, len(tokens), "efg", apart=False),
            },
        )
        predicted = side(
            random, tokens, {"name": spans_in(random, len(tokens), "XYK", apart=random.random() < 0.8)}
        )
        metric = Masking(
            keep=("K",),
            ignore_words=IgnoredWords.of(random.choice([(), ("öz",)])),
            risk_order=("h", "m", "l"),
            entity=random.choice(["entity_id", "who"]),
            annotators=random.choice([(), (), ("name", "who", "none")]),
        )

        assert metric.count(gold, predicted) == in_characters(metric, gold, predicted)


@pytest.mark.parametrize("tokens", [["", "Öz"], ["x" * 255, "Öz"]])
def test_documents_with_unusual_tokens_are_counted(tokens: list[str]) -> None:
    gold = Document("d", {"name": [Span(0, 2, "A")]}, tokens=tokens)

    row = score([gold], [gold], metrics="masking").metrics["masking"]["name"]["classes"]["all"]

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
        row = score([gold], [predicted], metrics="masking").metrics["masking"]["name"]["classes"]["all"]
        assert (row["characters"], row["characters_exposed"]) == (5, exposed)


def test_a_discontinuous_mention_is_masked_without_its_gap() -> None:
    tokens = ["Anna", "und", "Karl", "Öz"]
    parts = Span.of_fragments([(0, 1), (2, 4)], "A")
    gold = Document("d", {"name": [parts]}, tokens=tokens)
    predicted = Document("d", {"name": [Span(0, 1, "X"), Span(2, 3, "X")]}, tokens=tokens)

    row = score([gold], [predicted], metrics="masking").metrics["masking"]["name"]["classes"]["all"]

    assert (row["words"], row["words_exposed"], row["characters"]) == (3, 1, 10)


def counted(gold: list[Span], masks: list[Span], tokens: list[str]) -> dict[str, int]:
    pair = [Document("d", {"name": spans}, tokens=tokens) for spans in (gold, masks)]
    report = score([pair[0]], [pair[1]], metrics="masking").metrics["masking"]["name"]
    return {**report["replacements"], "string_leaks": report["string_leaks"]}


def test_the_mask_with_most_characters_of_a_mention_is_its_replacement() -> None:
    tokens = ["Anna", "Weißmann", "und", "Anna", "Weißmann"]
    gold = [Span(0, 2, "A"), Span(3, 5, "A")]

    assert counted(gold, [Span(0, 1, "X"), Span(1, 2, "Y"), Span(3, 5, "Y")], tokens)["several"] == 0
    assert counted(gold, [Span(0, 1, "Y"), Span(1, 2, "X"), Span(3, 5, "Y")], tokens)["several"] == 1


def test_of_two_masks_with_as_many_characters_the_first_is_the_replacement() -> None:
    tokens = ["Anna", "Karl", "und", "Anna", "Karl"]
    gold = [Span(0, 2, "A"), Span(3, 5, "A")]

    assert counted(gold, [Span(0, 1, "Y"), Span(1, 2, "X"), Span(3, 5, "Y")], tokens)["several"] == 0


def test_string_leaks_do_not_overlap() -> None:
    tokens = ["Karl", "Karl", "und", "Karl", "Karl", "Karl"]

    assert counted([Span(0, 2, "A")], [], tokens)["string_leaks"] == 1


def test_words_with_line_ends_are_no_other_words() -> None:
    tokens = ["Anna\nÖz", "Karl", "Anna", "Öz\nKarl"]
    gold = Document("d", {"name": [Span(0, 2, "A"), Span(2, 4, "A")]}, tokens=tokens)

    row = score([gold], [gold], metrics="masking").metrics["masking"]["name"]["classes"]["all"]

    assert row["entities"] == 2


def test_mentions_that_differ_in_case_are_one_entity() -> None:
    gold = Document("d", {"name": [Span(0, 1, "A"), Span(1, 2, "A")]}, tokens=["Anna", "anna"])

    row = score([gold], [gold], metrics="masking").metrics["masking"]["name"]["classes"]["all"]

    assert row["entities"] == 1
