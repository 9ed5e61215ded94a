"""Documents from rows, dictionaries and spaCy, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Sentence, Span, documents_from, documents_from_spacy, read, to_rows, to_spacy
from clueval.files.errors import CluevalError, FormatError, UsageError

spacy = pytest.importorskip("spacy")

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"
LINES = {
    "doccano": "doccano/gold.jsonl",
    "prodigy": "prodigy/gold.jsonl",
    "label-studio": "label-studio/min.jsonl",
    "spacy-json": "spacy-json/docs.jsonl",
    "token-rows": "token-rows/gold.jsonl",
}


def test_rows_are_read_one_at_a_time_and_arrays_become_lists() -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"tokens": np.array(["Ada", "met"]), "ner_tags": np.array([1, 0])}
        raise AssertionError("the second row was read")

    document = next(documents_from(rows(), "token-rows", names=["O", "B-PER"]))

    assert (document.tokens, document.layers) == (["Ada", "met"], {"label": [Span(0, 1, "PER")]})


def test_errors_of_rows_have_the_number_of_the_row() -> None:
    with pytest.raises(FormatError, match="line 2: the row has no text") as caught:
        list(documents_from([{"text": "a", "label": []}, {}], "doccano"))
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("vrt", {}, "documents of the format 'vrt' are not rows"),
        ("nope", {}, "unknown format 'nope'"),
        ("doccano", {"answers": "accepted"}, "does not apply to the format doccano"),
        ("doccano", {"token": 1}, "documents_from has no option 'token'"),
        ("doccano", {"offsets": "x"}, "offsets='x' is unknown"),
    ],
)
def test_wrong_format_or_option_of_rows_is_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        documents_from([], name, **options)


@pytest.mark.parametrize("name", ["doccano", "spacy-json", "token-rows"])
def test_rows_of_documents_are_the_rows_that_are_read(name: str) -> None:
    documents = list(documents_from(to_rows(read(SAMPLES / LINES[name]), name), name))

    assert [(each.id, each.layers) for each in documents] == [
        (each.id, each.layers) for each in read(SAMPLES / LINES[name])
    ]


def test_documents_that_a_row_cannot_hold_are_refused() -> None:
    with pytest.raises(UsageError, match="the format doccano cannot hold 1 features"):
        list(to_rows(read(SAMPLES / "prodigy" / "gold.jsonl"), "doccano"))
    with pytest.raises(UsageError, match="counts characters, but the document counts tokens"):
        list(to_rows([Document("d", {}, tokens=["a"])], "doccano"))


# Dictionaries

LABEL = st.none() | st.text(max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    unit = draw(st.sampled_from(["token", "character"]))
    size = draw(st.integers(0, 8))
    start = draw(st.integers(0, 5))
    layers: dict[str, list[Span]] = {}
    for layer in draw(st.lists(st.sampled_from(["label", "risk", "x"]), unique=True)):
        layers[layer] = []
        for one, other in draw(st.lists(st.tuples(st.integers(0, size), st.integers(0, size)), max_size=3)):
            first, last = start + min(one, other), start + max(one, other)
            labels = {layer: draw(LABEL)} if draw(st.booleans()) else {"a": "x", "b": draw(LABEL)}
            split = last - first > 2 and draw(st.booleans())
            ranges = [(first, first + 1), (last - 1, last)] if split else [(first, last)]
            layers[layer].append(
                Span.of_fragments(
                    ranges, labels, {"n": 1} if one else {}, id=draw(st.sampled_from([None, "s", 3]))
                )
            )
    return Document(
        draw(st.text(max_size=3)),
        layers,
        tokens=["t"] * size if unit == "token" else None,
        text="c" * size if unit == "character" else None,
        unit=unit,  # type: ignore[arg-type]  # one of the two
        start=start,
        token_ids=[str(n) for n in range(size)] if unit == "token" and size and draw(st.booleans()) else None,
        sentences=[Sentence(start, start + size, draw(st.sampled_from([None, "s1"])))] if size else (),
        metadata=draw(st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=2)),
    )


@given(document=documents())
def test_dictionary_of_a_document_gives_it_back_also_through_json(document: Document) -> None:
    if not document.layers:
        document = Document(document.id, {"label": []}, text="", unit="character")

    found = Document.from_dict(json.loads(json.dumps(document.to_dict())))

    assert found == document
    assert [span.id for each in found.layers.values() for span in each] == [
        span.id for each in document.layers.values() for span in each
    ]


def test_dictionary_has_only_what_the_document_has() -> None:
    document = Document(
        "d", {"label": [Span.of_fragments([(0, 1), (2, 3)], "A")]}, text="abc", unit="character"
    )

    assert document.to_dict() == {
        "id": "d",
        "text": "abc",
        "spans": [{"start": 0, "end": 3, "label": "A", "parts": [[0, 1], [2, 3]]}],
    }


@pytest.mark.parametrize(
    "value", [[], {"id": "d", "spans": 3}, {"id": "d", "spans": [3]}, {"id": "d", "text": 3}, {"spans": [{}]}]
)
def test_value_that_is_no_document_is_one_error(value: Any) -> None:
    with pytest.raises(CluevalError):
        Document.from_dict(value)


# spaCy


def test_docs_of_spacy_become_documents_and_back_in_both_units() -> None:
    nlp = spacy.blank("en")
    doc = nlp("Ada met Bob in Bern.")
    doc.ents = [doc.char_span(0, 3, label="PER"), doc.char_span(15, 19, label="LOC")]
    doc.spans["sc"] = [doc.char_span(4, 11, label="X")]

    (characters,) = documents_from_spacy([doc])
    (tokens,) = documents_from_spacy([doc], unit="token")
    (group,) = documents_from_spacy([doc], spans_key="sc")

    assert characters.layers == {"label": [Span(0, 3, "PER"), Span(15, 19, "LOC")]}
    assert tokens.layers == {"label": [Span(0, 1, "PER"), Span(4, 5, "LOC")]}
    assert group.layers == {"label": [Span(4, 11, "X")]}
    for document in (characters, tokens):
        found = to_spacy(document, nlp.vocab)
        assert [(each.text, each.label_) for each in found.ents] == [("Ada", "PER"), ("Bern", "LOC")]
    assert to_spacy(characters, nlp.vocab).text == doc.text


def test_spans_that_overlap_become_a_group_of_spacy() -> None:
    document = Document("d", {"label": [Span(0, 3, "A"), Span(0, 7, "B")]}, text="Ada met", unit="character")

    doc = to_spacy(document, spacy.blank("en").vocab)

    assert [(each.text, each.label_) for each in doc.spans["sc"]] == [("Ada", "A"), ("Ada met", "B")]


def test_group_of_spacy_that_a_doc_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="doc 1 has no group of spans 'sc'"):
        list(documents_from_spacy([spacy.blank("en")("a")], spans_key="sc"))


def test_json_of_spacy_is_read_as_spacy_reads_it() -> None:
    nlp = spacy.blank("en")
    doc = nlp("Ada 😀 met Bob.")
    doc.ents = [doc.char_span(0, 3, label="PER"), doc.char_span(10, 13, label="PER")]
    doc.spans["sc"] = [doc.char_span(6, 13, label="X")]

    for key in (None, "sc"):
        layers = None if key is None else {"label": f"spans.{key}"}
        (found,) = documents_from([doc.to_json()], "spacy-json", layers=layers)
        (expected,) = documents_from_spacy([doc], spans_key=key)
        assert (found.text, found.layers) == (expected.text, expected.layers)


def test_data_set_that_names_its_tags_needs_no_names() -> None:
    class DataSet(list[dict[str, object]]):
        features = MappingProxyType(
            {"ner_tags": SimpleNamespace(feature=SimpleNamespace(names=["O", "B-PER"]))}
        )

    (document,) = documents_from(DataSet([{"tokens": ["Ada", "sat"], "ner_tags": [1, 0]}]), "token-rows")

    assert [(span.start, span.end, span.label) for span in document.layers["label"]] == [(0, 1, "PER")]


@pytest.mark.parametrize("call", [lambda: documents_from(5, "doccano"), lambda: to_rows([5], "doccano")])  # type: ignore[arg-type, list-item]  # wrong on purpose
def test_what_is_no_rows_or_no_documents_is_refused(call: Callable[[], Iterator[object]]) -> None:
    with pytest.raises(UsageError, match=r"must be (an Iterable|a Document)|rows must|documents\[0\]"):
        list(call())


def test_what_is_no_doc_of_spacy_is_refused() -> None:
    with pytest.raises(UsageError, match=r"docs\[0\] must be a Doc of spaCy"):
        list(documents_from_spacy([5]))
