"""Merging, worked by hand: which label a layer gets, and what a merged document is."""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings

import pytest

from clueval import errors, score
from clueval.core.document import Document
from clueval.core.matching import merge_layers, with_merged
from clueval.core.span import Span
from clueval.files.errors import OverlapError


def test_positions_of_one_label_add_up_over_a_component() -> None:
    # x: |A-|B--|A-|   A has four positions, B three
    # y: |    Z    |
    spans = [Span(0, 2, "A"), Span(2, 5, "B"), Span(5, 7, "A")]

    (merged,) = merge_layers({"x": spans, "y": [Span(0, 7, "Z")]})

    assert merged == Span(0, 7, {"x": "A", "y": "Z"})


def test_span_without_a_label_is_ignored() -> None:
    spans = [Span(0, 5, {"x": None}), Span(5, 6, {"x": "A"})]

    (merged,) = merge_layers({"x": spans, "y": [Span(0, 6, {"y": None})]})

    assert merged == Span(0, 6, {"x": "A", "y": None})


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"x": "A"}, "A"),
        ({"x": "A", "y": "B"}, "A"),
        ("A", "A"),
        ({"y": "A"}, "A"),
        ({"y": "A", "z": "B"}, None),
        ({}, None),
    ],
)
def test_the_label_in_a_layer_is_that_of_its_name_or_the_only_one(labels: Any, found: str | None) -> None:
    (merged,) = merge_layers({"x": [Span(0, 1, labels)]})

    assert merged.labels == {"x": found}


def test_layers_whose_spans_overlap_are_refused_with_the_document() -> None:
    crossing = [Span(0, 2), Span(1, 3)]

    with pytest.raises(OverlapError, match=r"document 'd9': spans \[0,2\) and \[1,3\)"):
        merge_layers({"a": [], "b": crossing}, document="d9")
    with pytest.raises(OverlapError, match=r"document 'd9'"):
        with_merged(Document("d9", {"a": crossing}))


def test_a_merged_document_has_one_layer_and_no_tags() -> None:
    layers = {"x": [Span(0, 2, {"x": "A"})], "y": [Span(1, 3, {"y": "B"})]}
    document = Document("d", layers, tokens=["a", "b", "c"], tags={"x": ["B-A", "I-A", "O"]})

    merged = with_merged(document)

    assert dict(merged.layers) == {"merged": [Span(0, 3, {"x": "A", "y": "B"})]}
    assert merged.tags == {}
    assert (merged.id, merged.tokens) == ("d", ["a", "b", "c"])


@pytest.mark.parametrize(
    ("gold", "predicted", "right"),
    [
        (("ab", "a"), ("a", "a"), 1),
        (("ab", "a"), ("ba", "a"), 1),
        (("ba", "b"), ("ab", "a"), 0),
        (("b", "b"), ("a", "a"), 0),
    ],
)
def test_merged_labels_are_compared_by_layer_in_whatever_order_documents_have_these(
    gold: tuple[str, str], predicted: tuple[str, str], right: int
) -> None:
    """The layers of each document, and the one that has a span."""
    pair = [
        Document("d", {name: [Span(0, 1, {name: "X"})] * (name == own) for name in names}, tokens=["x"])
        for names, own in (gold, predicted)
    ]

    with catch_warnings(action="ignore"):
        report = score(pair[:1], pair[1:], metrics="exact", merge=True).metrics["exact"]

    assert report["merged"]["micro"]["tp_gold"] == right
    rows = [row for place in errors(pair[:1], pair[1:], merge=True) for row in place.findings]
    assert len(rows) == 2 - 2 * right


def test_merged_labels_do_not_depend_on_the_order_of_the_documents() -> None:
    both = Document("d1", {"a": [Span(0, 2, {"a": "Y"})], "b": [Span(0, 2, {"b": "X"})]}, text="xx")
    one = Document("d2", {"a": [Span(0, 2, {"a": "Y"})]}, text="xx")

    found = [score(each, each, metrics=["exact"], merge=True) for each in ([both, one], [one, both])]

    assert [list(each.metrics["exact"]["merged"]["per_label"]) for each in found] == [["Y", "Y|X"]] * 2
