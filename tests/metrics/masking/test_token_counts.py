"""Counts by sums over tokens against the plain way, which examines characters."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import Document, Span, score
from clueval.metrics.counting import Tally
from clueval.metrics.masking import Masking
from clueval.metrics.masking.word_files import IgnoredWords
from clueval.metrics.metric import Side

WORDS = ("Anna", "anna", "Öz", "d.", ",", "x-y", "_", "12345")


@st.composite
def spans_in(draw: st.DrawFn, number: int, labels: str) -> list[Span]:
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, number - 1))
        end = draw(st.integers(start + 1, min(number, start + 3)))
        features = {"entity_id": "e1"} if draw(st.integers(0, 4)) == 0 else {}
        found.append(Span(start + 7, end + 7, draw(st.sampled_from(labels)), features))
    return found


@st.composite
def sides(draw: st.DrawFn) -> tuple[Side, Side]:
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
    layers = {"name": draw(spans_in(len(tokens), "ABK")), "risk": draw(spans_in(len(tokens), "hl"))}
    gold = Document("d", layers, tokens=tokens, start=7)
    predicted = Document("d", {"name": draw(spans_in(len(tokens), "XYK"))}, tokens=tokens, start=7)
    sides = []
    for document in (gold, predicted):
        spans = document.layers["name"]
        counted = draw(
            st.one_of(st.none(), st.lists(st.booleans(), min_size=len(spans), max_size=len(spans)))
        )
        sides.append(Side(spans, counted, document, sequence="name"))
    return sides[0], sides[1]


def plain(metric: Masking, gold: Side, predicted: Side) -> Tally:
    with patch.object(Masking, "_has_whole_tokens", return_value=False):
        return metric.count(gold, predicted)


@at_most(400)
@given(sides(), st.booleans(), st.booleans())
def test_sums_over_tokens_are_the_counts_of_their_characters(
    pair: tuple[Side, Side], ignores: bool, has_views: bool
) -> None:
    words = IgnoredWords.of(["öz"] if ignores else [])
    annotators = ("name", "risk", "none") if has_views else ()
    metric = Masking(keep=("K",), ignore_words=words, risk_order=("h", "l"), annotators=annotators)

    assert metric.count(*pair) == plain(metric, *pair)


def test_sums_over_tokens_serve_most_documents() -> None:
    tokens = ["Frau", "Weiß", "klagt"]
    gold, predicted = (Document("d", {"name": [Span(1, 2, "A")]}, tokens=tokens) for _ in range(2))

    with patch.object(Masking, "examine") as examine:
        score([gold], [predicted], metrics="masking")

    assert not examine.called


def test_a_discontinuous_mention_is_masked_without_its_gap() -> None:
    tokens = ["Anna", "und", "Karl", "Öz"]
    parts = Span.of_fragments([(0, 1), (2, 4)], "A")
    gold = Document("d", {"name": [parts]}, tokens=tokens)
    predicted = Document("d", {"name": [Span(0, 1, "X"), Span(2, 3, "X")]}, tokens=tokens)

    row = score([gold], [predicted], metrics="masking").metrics["masking"]["name"]["classes"]["all"]

    assert (row["words"], row["words_exposed"], row["characters"]) == (3, 1, 10)
