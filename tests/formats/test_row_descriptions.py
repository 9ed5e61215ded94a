"""All descriptions of JSON dialects: a slip in one is found here, and not when a file is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.formats.dialect import Dialect, keys_of
from clueval.formats.form import all_forms, form_of_rows
from clueval.formats.options import FormatOptions
from clueval.formats.recognition import has_sign
from clueval.formats.row_writing import row_of
from clueval.formats.token_dialects import W2NER
from clueval.reading.source import read_rows
from tests.formats.outcomes import contents

DIALECTS = [form for form in all_forms() if isinstance(form, Dialect)]
WRITTEN = [dialect for dialect in DIALECTS if dialect.is_written and dialect.joined is None]

KEYS = (
    "text",
    "tokens",
    "id",
    "spans",
    "tags",
    "start",
    "end",
    "end_inclusive",
    "label",
    "span_id",
    "reference",
)
KEYS += ("noted", "metadata", "not_metadata", "annotator", "of_span", "passed_over", "sources", "control")


def text_document(**metadata: str) -> Document:
    spans = [Span(0, 3, "PER"), Span(0, 7, "X"), Span(15, 18, "LOC")]
    return Document("d1", {"label": spans}, text="Ada met Bob in Ulm.", unit="character", metadata=metadata)


def token_document(**metadata: str) -> Document:
    spans = [Span(0, 1, "PER"), Span(2, 3, "PER"), Span(4, 5, "LOC")]
    return Document("d1", {"label": spans}, tokens=["Ada", "met", "Bob", "in", "Ulm"], metadata=metadata)


def document_for(dialect: Dialect) -> Document:
    return token_document(domain="a") if dialect.tokens else text_document(domain="a")


def read_back(dialect: Dialect, row: dict[str, Any], **options: Any) -> tuple[Any, ...]:
    rows = [(1, json.loads(json.dumps(row)))]
    (document,) = read_rows(rows, FormatOptions(**options), name=dialect.name)
    return held(document)


def held(document: Document) -> tuple[Any, ...]:
    """Return what a row holds of a document: all but tags, ids of spans and lines."""
    *others, layers, _ = contents(document)
    return *others, {layer: [span[:-2] for span in spans] for layer, spans in layers.items()}


def names(dialects: list[Dialect]) -> list[str]:
    return [f"{dialect.name}-{dialect.spans or dialect.tags}" for dialect in dialects]


@pytest.mark.parametrize("dialect", DIALECTS, ids=names(DIALECTS))
def test_description_is_complete_and_uses_fields_only_where_they_have_a_meaning(dialect: Dialect) -> None:
    assert dialect.name
    assert dialect.holds
    assert bool(dialect.spans) != bool(dialect.tags)
    assert (bool(dialect.text) + bool(dialect.tokens)) or dialect.without_text
    assert not (dialect.text and dialect.tokens)
    assert bool(dialect.control) == (dialect.source_is == "control")
    assert dialect.source_is != "label" or dialect.sources
    assert dialect.optional or dialect.spans or dialect.tags
    for key in KEYS:
        parts = keys_of(getattr(dialect, key))
        assert len({*parts}) == len(parts), key
        assert all(part.strip() == part and part for part in parts), key
    if dialect.features != "*":
        assert dialect.noted == ""
    if not dialect.rest:
        assert dialect.not_metadata == ""
    if not dialect.tokens:
        assert dialect.advice is None
    if dialect.tags:
        assert (dialect.reference, dialect.features, dialect.end_inclusive) == ("", "", "")


@pytest.mark.parametrize("dialect", WRITTEN, ids=names(WRITTEN))
def test_written_row_is_recognised_and_read_back(dialect: Dialect) -> None:
    document = document_for(dialect)

    row = row_of(dialect, document, ["label"])

    assert form_of_rows(json.loads(json.dumps(row))) is dialect
    assert read_back(dialect, row) == held(document)


def test_gaps_are_written_where_rows_hold_them() -> None:
    span = Span.of_fragments([(0, 1), (2, 4)], "A")
    document = replace(token_document(), layers={"label": [span]})

    row = row_of(W2NER, document, ["label"])

    assert row["ner"] == [{"index": [0, 2, 3], "type": "A"}]
    assert read_back(W2NER, row) == held(document)


@pytest.mark.parametrize(
    ("sign", "row", "is_held"),
    [
        ("a b|c", {"a": 1, "c": 2}, True),
        ("a b|c", {"a": 1}, False),
        ("a[]", {"a": "[1]"}, True),
        ("a[]", {"a": "x"}, False),
        ("a{}", {"a": {}}, True),
        ("a !b", {"a": 1, "b": 1}, False),
        ("a[].b", {"a": []}, True),
        ("a[].b", {"a": [{"c": 1}]}, False),
        ("a[].!b", {"a": [{"b": 1}]}, False),
        ("a; b", {"b": 1}, True),
        ("a", [1], False),
    ],
)
def test_sign_holds_for_a_row(sign: str, row: Any, is_held: bool) -> None:
    assert has_sign(row, sign) == is_held
