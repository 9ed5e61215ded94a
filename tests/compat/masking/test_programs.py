"""The figures of other programs, on the case that is worked by hand."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval import Document, Span
from clueval.compat.masking_programs import labels_of, tokens_within
from clueval.files.errors import UsageError
from tests.masking_cases import TEXT, gold_document, masked_document


def sides(id: str = "d") -> tuple[Document, Document]:
    gold = gold_document(id, "x", e1="DIRECT", e2="QUASI", e3="QUASI")
    return gold, masked_document(id=id, layer="x", label="PER")


def figures(program: str, gold: Document, predicted: Document, **settings: Any) -> dict[str, Any]:
    report = clueval.masking([gold], [predicted], conventions=program, **settings)
    (found,) = report.to_dict()["metrics"]["masking"].values()
    assert list(found["conventions"]) == [program]
    result: dict[str, Any] = found["conventions"][program]
    return result


def test_tab() -> None:
    found = figures("tab", *sides())

    assert (found["recall_all_entities"], found["recall_direct_entities"]) == (1 / 3, 0.0)
    assert found["recall_quasi_entities"] == 1 / 2
    assert (found["mention_recall"], found["token_recall"]) == (2 / 4, 3 / 5)
    assert (found["token_precision"], found["mention_precision"]) == (4 / 5, 2 / 4)
    assert found["token_recall_by_type"] == {"PER": 3 / 5}
    assert found["token_f1"] == pytest.approx(2 * 0.8 * 0.6 / 1.4)
    assert found["weighted_token_precision"] is None


def test_i2b2() -> None:
    found = figures("i2b2", *sides())

    counts = {name: (one["tp"], one["fp"], one["fn"]) for name, one in found.items()}
    assert counts == {
        "token": (5, 1, 1),
        "binary_token": (5, 1, 1),
        "strict": (1, 3, 3),
        "relaxed": (1, 3, 3),
        "binary_strict": (1, 3, 3),
    }
    assert found["token"]["micro_precision"] == 5 / 6


def test_i2b2_allows_ends_that_differ_by_two_in_the_relaxed_comparison() -> None:
    gold = Document(
        "d", {"x": [Span(0, 4, "A"), Span(6, 9, "A"), Span(12, 20, "A")]}, text=TEXT, unit="character"
    )
    other = [Span(0, 6, "A"), Span(0, 5, "A"), Span(6, 9, "B"), Span(12, 17, "A")]
    predicted = Document("d", {"x": other}, text=TEXT, unit="character")

    found = figures("i2b2", gold, predicted)["relaxed"]

    assert (found["tp"], found["fp"], found["fn"]) == (1, 3, 2)


def test_i2b2_has_macro_averages_over_documents() -> None:
    pairs = [
        [Document(str(n), {"x": [Span(0, 4, one)]}, text="Anna", unit="character") for one in labels]
        for n, labels in enumerate(("AB", "AA"))
    ]
    report = clueval.masking(*map(list, zip(*pairs, strict=True)), conventions="i2b2")

    strict = report.reports["x"]["conventions"]["i2b2"]["strict"]

    assert (strict["macro_precision"], strict["macro_recall"]) == (0.5, 0.5)
    assert strict["macro_recall_sd"] == statistics.pstdev([0, 1])


def test_meddocan() -> None:
    found = figures("meddocan", *sides())

    assert {name: (one["tp"], one["fp"], one["fn"]) for name, one in found.items()} == dict.fromkeys(
        ("ner", "strict", "merged"), (1, 3, 3)
    )
    assert (found["ner"]["leak"], found["ner"]["precision"], found["ner"]["f1"]) == (3 / 2, 1 / 4, 1 / 4)


EMPTY = Document("empty", {"x": []}, text="", unit="character")


@pytest.mark.parametrize(
    ("cut", "leak"),
    [([True], 3 / 2), ([True, True], 3 / 2), ([False], None), ([True, False], None), ([], None)],
)
def test_meddocan_has_no_leak_where_a_text_has_no_sentences(cut: list[bool], leak: float | None) -> None:
    pairs = [sides(str(number)) for number in range(len(cut))]
    golds = [
        gold if has_sentences else replace(gold, sentences=())
        for (gold, _), has_sentences in zip(pairs, cut, strict=True)
    ]

    report = clueval.masking([EMPTY, *golds], [EMPTY, *(other for _, other in pairs)], conventions="meddocan")

    assert report.to_dict()["metrics"]["masking"]["x"]["conventions"]["meddocan"]["ner"]["leak"] == leak
    assert "leak" in report.render(all=True)


def test_meddocan_joins_spans_without_a_letter_between() -> None:
    text = "Ana, Eva y Luz"
    gold = Document(
        "d", {"x": [Span(0, 3, "A"), Span(5, 8, "A"), Span(11, 14, "A")]}, text=text, unit="character"
    )
    predicted = Document("d", {"x": [Span(0, 8, "A")]}, text=text, unit="character")

    found = figures("meddocan", gold, predicted)

    assert [found["merged"][name] for name in ("tp", "fp", "fn")] == [1, 0, 1]
    assert [found["strict"][name] for name in ("tp", "fp", "fn")] == [0, 1, 3]


def test_presidio() -> None:
    found = figures("presidio", *sides())

    pii, span = found["token"]["pii"], found["span"]
    assert (pii["tp"], pii["predicted"], pii["annotated"]) == (3, 5, 5)
    assert (span["tp"], span["predicted"], span["annotated"]) == (1, 4, 4)
    assert pii["f"] == pytest.approx(0.6)
    assert found["token"]["per_type"]["PER"]["tp"] == 3


def test_presidio_drops_wrong_tokens_and_ends_of_runs_among_ignored_words() -> None:
    found = figures("presidio", *sides(), ignore_words=["Frau"])

    assert found["token"]["pii"]["predicted"] == 4
    assert found["span"]["tp"] == 2


def test_presidio_has_no_rates_where_there_is_nothing_to_divide_by() -> None:
    empty = Document("d", {"x": []}, text=TEXT, unit="character")

    assert figures("presidio", empty, empty)["span"]["precision"] is None
    left, right = (replace(empty, layers={"x": [span]}) for span in (Span(0, 4, "A"), Span(5, 9, "A")))
    span = figures("presidio", left, right)["span"]
    assert (span["precision"], span["recall"], span["f"]) == (0, 0, None)


def test_a_token_has_the_label_of_the_first_span_that_holds_it() -> None:
    tokens = [(0, 2), (3, 5), (6, 8)]

    assert labels_of(tokens, [(0, 4, "A"), (0, 8, "B"), (6, 8, "C")]) == ["A", "B", "B"]
    assert labels_of(tokens, [(0, 8, "B"), (0, 8, "A")]) == ["A", "A", "A"]


def test_several_programs_may_be_asked_for_and_their_counts_add() -> None:
    parts = [clueval.masking([g], [p], conventions="tab,i2b2,meddocan,presidio") for g, p in map(sides, "ab")]
    golds, predicteds = zip(*map(sides, "ab"), strict=True)
    whole = clueval.masking(golds, predicteds, conventions=["tab", "i2b2", "meddocan", "presidio"])

    assert (parts[0].result + parts[1].result).metrics == whole.result.metrics
    conventions = whole.reports["x"]["conventions"]
    assert list(conventions) == ["tab", "i2b2", "meddocan", "presidio"]
    assert not math.isnan(conventions["tab"]["token_f1"])


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown convention 'gate'"):
        figures("gate", *sides())


def test_spans_that_a_filter_leaves_out_are_not_counted() -> None:
    tokens = ["Anna", "Öz", "Ulm"]
    gold = Document("d", {"name": [Span(0, 1, {"name": "PER"}), Span(2, 3, {"name": "LOC"})]}, tokens=tokens)
    predicted = Document(
        "d", {"name": [Span(1, 2, {"name": "PER"}), Span(2, 3, {"name": "LOC"})]}, tokens=tokens
    )

    report = clueval.masking([gold], [predicted], where=["name=PER"], conventions="i2b2")

    strict = report.reports["name"]["conventions"]["i2b2"]["strict"]
    assert (strict["tp"], strict["fp"], strict["fn"]) == (0, 1, 1)


# Tokens in ranges that may lie in each other, against a search in each range


PLACES = st.integers(0, 14)


@given(st.text("ab- ", max_size=14), st.lists(st.tuples(PLACES, PLACES), max_size=6))
def test_tokens_in_ranges_are_those_of_a_search_in_each(text: str, ranges: list[tuple[int, int]]) -> None:
    ranges = [(min(start, len(text)), min(end, len(text))) for start, end in ranges]
    pattern = re.compile("[a-z]+")

    found = dict(tokens_within([match.span() for match in pattern.finditer(text)], ranges))

    assert found == Counter(match.span() for one in ranges for match in pattern.finditer(text, *one))
