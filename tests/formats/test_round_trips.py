"""What is written of random documents is read back as the same documents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.document import Document, Sentence
from clueval.core.span import Span
from clueval.files.errors import FormatError, OverlapError, UsageError
from clueval.formats.column_writing import conll_lines
from clueval.formats.columns import ColumnReader
from clueval.formats.conll import CONLL
from clueval.formats.dialect import Dialect
from clueval.formats.documents import read_rows
from clueval.formats.form import all_forms
from clueval.formats.markup import LTF, read_markup
from clueval.formats.markup_writing import marked_up
from clueval.formats.options import FormatOptions
from clueval.formats.row_writing import row_of

DIALECTS = [form for form in all_forms() if isinstance(form, Dialect)]
LABELS = st.sampled_from(["PER", "LOC", "a b", "ü"])
TEXTS = st.text(st.sampled_from("Ab \n\r\t😀&<>\"'é"), max_size=12)
WORDS = st.lists(st.sampled_from(["Ada", "😀", "#", "in", "O", "<s>", "é"]), min_size=1, max_size=8)


@st.composite
def flat_spans(draw: st.DrawFn, length: int, least: int = 0, labels: Any = LABELS) -> list[Span]:
    """Spans that do not overlap, in order."""
    ends = draw(st.lists(st.integers(0, length), max_size=6).map(sorted))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return [Span(start, end, draw(labels)) for start, end in pairs if end - start >= least]


@st.composite
def text_documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)), LABELS)
    spans = [
        Span(min(one, other), max(one, other), label)
        for one, other, label in draw(st.lists(places, max_size=5))
    ]
    metadata = draw(st.dictionaries(st.sampled_from(["a", "b"]), TEXTS, max_size=2))
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    return Document("d1", {"label": ordered}, text=text, unit="character", metadata=metadata)


@st.composite
def token_documents(draw: st.DrawFn) -> Document:
    tokens = draw(WORDS)
    spans = draw(flat_spans(len(tokens), least=1, labels=st.sampled_from(["PER", "LOC"])))
    return Document("d1", {"label": spans}, tokens=tokens, metadata=draw(st.just({"a": "x"})))


def held(document: Document) -> tuple[Any, ...]:
    spans = [(span.start, span.end, span.label, span.parts) for span in document.layers["label"]]
    tokens = None if document.tokens is None else list(document.tokens)
    return document.id, document.text, tokens, dict(document.metadata), spans


OF_TEXTS = [dialect for dialect in DIALECTS if dialect.is_written and dialect.text]
OF_TOKENS = [dialect for dialect in DIALECTS if dialect.is_written and dialect.tokens]


@pytest.mark.parametrize("dialect", OF_TEXTS, ids=lambda dialect: dialect.name)
@given(document=text_documents())
def test_rows_of_texts_come_back(dialect: Dialect, document: Document) -> None:
    row = json.loads(json.dumps(row_of(dialect, document, ["label"])))

    (back,) = read_rows([(1, row)], FormatOptions(), name=dialect.name)

    assert held(back) == held(document)


@pytest.mark.parametrize("dialect", OF_TOKENS, ids=lambda dialect: dialect.name)
@given(document=token_documents())
def test_rows_of_tokens_come_back(dialect: Dialect, document: Document) -> None:
    row = json.loads(json.dumps(row_of(dialect, document, ["label"])))

    (back,) = read_rows([(1, row)], FormatOptions(), name=dialect.name)

    assert held(back) == held(document)


@given(st.lists(token_documents(), min_size=1, max_size=3), st.data())
def test_columns_come_back(documents: list[Document], data: st.DataObject) -> None:
    written, start = [], 0
    for number, document in enumerate(documents):
        tokens = document.tokens or ()
        cut = data.draw(st.integers(1, len(tokens)))
        ends = [end for end in (cut, len(tokens)) if end]
        sentences = [
            Sentence(first, end, None) for first, end in zip([0, *ends], ends, strict=False) if first < end
        ]
        kept = [span for span in document.layers["label"] if not span.start < cut < span.end]
        own = replace(document, id=f"d{number}", layers={"label": kept}, sentences=sentences)
        written.append(own.from_position(start))
        start += len(tokens)
    text = "\n".join([*conll_lines(written), ""])

    back = list(ColumnReader(CONLL, lambda: [(1, text)], FormatOptions(layers={"label": 2}), "a").documents())

    assert list(map(held, back)) == list(map(held, written))
    assert [list(each.sentences) for each in back] == [list(each.sentences) for each in written]


@given(st.data())
def test_markup_comes_back(data: st.DataObject) -> None:
    text = data.draw(TEXTS)
    spans = data.draw(flat_spans(len(text), labels=st.just("_")))
    document = Document("1", {"label": spans}, text=text, unit="character")

    (back,) = read_markup(marked_up(LTF, document), LTF, FormatOptions(), file="a.xml")

    assert held(back) == held(document)


@pytest.mark.parametrize(
    ("spans", "text", "kind", "problem"),
    [
        ([Span(0, 1, "A"), Span(1, 2, "B")], "Ulm", UsageError, "different labels"),
        ([Span(0, 2, "A"), Span(1, 3, "A")], "Ulm", OverlapError, "which overlap"),
        ([Span.of_fragments([(0, 1), (2, 3)], "A")], "Ulm", UsageError, "which has gaps"),
        ([], "\x01", FormatError, r"the character U\+0001 at position 0"),
    ],
)
def test_markup_that_cannot_be_written_is_refused(
    spans: list[Span], text: str, kind: type[Exception], problem: str
) -> None:
    document = Document("1", {"label": spans}, text=text, unit="character")

    with pytest.raises(kind, match=problem):
        marked_up(LTF, document)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": " d"}, "id that is empty or has line ends or blanks"),
        ({"metadata": {"a b": "c"}}, "the name 'a b' of its metadata"),
        ({"tokens": ["a\tb"], "layers": {}}, "the token 'a\\\\tb'"),
        ({"layers": {"label": [Span(0, 2, "A"), Span(1, 2, "A")]}}, "which overlaps another span"),
        (
            {"sentences": [Sentence(0, 1), Sentence(1, 2)], "layers": {"label": [Span(0, 2, "A")]}},
            "which crosses",
        ),
    ],
)
def test_columns_that_cannot_be_written_are_refused(changes: dict[str, Any], problem: str) -> None:
    document = replace(Document("d", {"label": []}, tokens=["a", "b"]), **changes)

    with pytest.raises(UsageError, match=problem):
        list(conll_lines([document]))
