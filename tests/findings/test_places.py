"""Places are the overlap components of findings; drawings show every span where it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_components
from strategies import any_spans, at_most, flat_spans

from clueval import score
from clueval.core.span import Span
from clueval.findings.choice import SIDES, Choice, expected, findings
from clueval.findings.drawing import drawn
from clueval.findings.fair import fair_findings
from clueval.findings.places import in_text_order, places
from clueval.findings.stream import errors
from clueval.findings.table import Finding, error_table
from clueval.spans.document import Document
from clueval.spans.match_classes import LEVELS

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = (SAMPLE / "gold.vrt", SAMPLE / "predicted.vrt")
LAYERS = {"entity": 2, "risk": 3}
TOKENS = tuple(f"w{n}" for n in range(14))
TEXT = "abcdefghijklmn"

two_layers = st.fixed_dictionaries(
    {"a": flat_spans(("a",), zero_length=True), "b": flat_spans(("b",), zero_length=True)}
)
choices = st.builds(
    Choice,
    level=st.sampled_from(LEVELS),
    labelled=st.sampled_from([None, "a", "b"]),
    merge=st.booleans(),
    window=st.sampled_from([None, 0, 2]),
)


def found(gold: Any, predicted: Any, choice: Choice, unit: str) -> list[Finding]:
    text: dict[str, Any] = {"tokens": TOKENS} if unit == "token" else {"text": TEXT, "unit": "character"}
    return list(findings(Document("d", gold, **text), Document("d", predicted, **text), choice))


def range_of(finding: Finding) -> Span:
    starts = [each for each in (finding.start, finding.other_start) if each is not None]
    ends = [each for each in (finding.end, finding.other_end) if each is not None]
    return Span(min(starts), max(ends) + 1)


@given(two_layers, two_layers, choices)
@at_most(150)
def test_places_are_the_components_of_the_ranges_of_findings(
    gold: dict[str, list[Span]], predicted: dict[str, list[Span]], choice: Choice
) -> None:
    rows = found(gold, predicted, choice, "token")
    grouped = list(places(rows))
    numbers = iter(range(len(rows)))

    assert [row for place in grouped for row in place.findings] == rows
    assert {frozenset(next(numbers) for _ in place.findings) for place in grouped} == naive_components(
        [range_of(row) for row in rows]
    )
    assert [(place.start, place.end) for place in grouped] == sorted(
        (place.start, place.end) for place in grouped
    )


def test_places_of_the_sample_have_as_many_errors_as_the_scores_count() -> None:
    choice = Choice(1)
    report = score(*PATHS, layers=LAYERS, token_id=4).to_dict()
    grouped = list(places(errors(*PATHS, choice, layers=LAYERS, token_id=4)))

    counted = Counter(row.side for place in grouped for row in place.findings)
    assert counted == sum(
        (Counter(expected(each, choice)) for each in report["metrics"]["levels"].values()), Counter()
    )
    assert len(grouped) < sum(counted.values())
    keys = [(place.document, place.start, place.end) for place in grouped]
    assert len(set(keys)) == len(keys)


def test_places_of_different_documents_stay_apart() -> None:
    rows = []
    for name in ("one", "two"):
        own = Document(name, {"label": [Span(0, 2, "PER")]}, tokens=TOKENS)
        rows += error_table(own.layers["label"], own, Document(name, {"label": []}, tokens=TOKENS))

    assert [(place.document, len(place.findings)) for place in places(rows)] == [("one", 1), ("two", 1)]


def test_places_of_two_documents_with_one_id_stay_apart() -> None:
    first = found({"a": [Span(5, 9)]}, {"a": []}, Choice(), "token")
    second = found({"a": [Span(2, 6)]}, {"a": []}, Choice(), "token")

    assert [place.start for place in places([*first, *second])] == [5, 2]


def test_places_of_nothing_are_none() -> None:
    assert list(places([])) == []


@pytest.mark.parametrize("side", SIDES)
def test_places_join_errors_that_one_span_of_the_other_side_overlaps(side: str) -> None:
    rows = found({"a": [Span(0, 2), Span(4, 6)]}, {"a": [Span(0, 6)]}, Choice(1, sides=(side,)), "token")

    (place,) = places(rows)
    assert (place.start, place.end) == (0, 5)


def test_errors_of_metric_fair_come_in_text_order() -> None:
    layers = {"a": [Span(8, 9, "PER")], "b": [Span(1, 2, "PER")]}
    gold = Document("d", layers, tokens=TOKENS)

    rows = list(fair_findings(gold, Document("d", {"a": [], "b": []}, tokens=TOKENS)))

    assert [row.start for row in rows] == [1, 8]
    assert rows == in_text_order(rows)


@given(two_layers, two_layers, choices, st.sampled_from(["token", "character"]))
@at_most(150)
def test_drawings_have_every_span_of_a_place_over_its_text(
    gold: dict[str, list[Span]], predicted: dict[str, list[Span]], choice: Choice, unit: str
) -> None:
    for place in places(found(gold, predicted, choice, unit)):
        drawing = drawn(place)

        for row, (number,) in zip(place.findings, drawing.own, strict=True):
            bar = drawing.bars[number]
            assert (bar.row, bar.labels, bar.start, bar.end) == (
                int(row.side == "predicted"),
                row.labels,
                row.start,
                row.end,
            )
            covered = "".join(drawing.pieces[bar.first : bar.last])
            assert (covered.rstrip() if unit == "token" else covered) == row.text
        if choice.window is None:  # a window cuts the spans of the other side
            shown = {(SIDES[bar.row], *bar.labels.items()) for bar in drawing.bars}
            assert all(
                (other, *labels.items()) in shown
                for row in place.findings
                for labels in row.other_labels
                for other in SIDES
                if other != row.side
            )


@given(any_spans(), any_spans())
@at_most(100)
def test_drawings_have_one_bar_in_a_lane_at_a_piece(own: list[Span], others: list[Span]) -> None:
    gold = Document("d", {"label": own}, tokens=TOKENS)
    for span in own:
        rows = error_table([span], gold, Document("d", {"label": others[:1]}, tokens=TOKENS), side="gold")
        for place in places(rows):
            drawing = drawn(place)
            cells = Counter(
                (bar.row, bar.lane, piece) for bar in drawing.bars for piece in range(bar.first, bar.last)
            )
            assert set(cells.values()) <= {1}


def test_drawing_of_nested_and_crossing_spans_has_lanes() -> None:
    gold = {"a": [Span(0, 6, {"a": "LAW"})], "b": [Span(1, 3, {"b": "PER"}), Span(3, 8, {"b": "LOC"})]}
    (place,) = places(found(gold, {"a": [], "b": []}, Choice(1), "token"))

    bars = [(bar.start, bar.end, bar.lane) for bar in drawn(place).bars]

    assert bars == [(0, 5, 0), (1, 2, 1), (3, 7, 1)]


def test_drawing_of_tokens_with_blanks_is_cut_between_tokens() -> None:
    tokens = ["New York", "City", "Hall"]
    gold = Document("d", {"a": [Span(0, 2, {"a": "LOC"})], "b": []}, tokens=tokens)
    predicted = Document("d", {"a": [], "b": [Span(1, 3, {"b": "ORG"})]}, tokens=tokens)

    (place,) = places(findings(gold, predicted))

    assert drawn(place).pieces == ("New York ", "City ", "Hall")
