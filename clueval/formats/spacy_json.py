"""spaCy's JSON: training data, documents written by ``Doc.to_json``, and the training format of spaCy 2.

    ["Frida paints", {"entities": [[0, 5, "PER"]]}]
    {"text": "Frida paints", "ents": [{"start": 0, "end": 5, "label": "PER"}], "spans": {"sc": []}}
    {"classes": ["PER"], "annotations": [["Frida paints", {"entities": [[0, 5, "PER"]]}]]}
    [{"id": 0, "paragraphs": [{"raw": "..", "sentences": [{"tokens": [{"orth": "Frida", "ner": "U-PER"}]}]}]}]

Positions are characters, except in the format of spaCy 2, whose tokens have BILUO tags; ``-`` is an unknown tag,
read as O (``unknown tokens``). An object with ``classes`` has all pairs of a file, as "NER Text Annotator" writes
them; null is a text that was not annotated, which is passed over (``unannotated``). ``--layer NAME=spans.KEY`` reads
a group of spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from clueval.core.span import Span
from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_objects, flat_spans
from clueval.formats.format import Writer, spans_of
from clueval.formats.json_rows import Row, RowForm, RowReader, json_lines, row_format, scalars
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign
from clueval.formats.tag_rows import TaggedRows
from clueval.spans.document import Document, Sentence
from clueval.tagging.schemes import OUTSIDE

SOURCE = "entities"
_GROUP = "spans."
_ALL_PAIRS = {"classes", "annotations"}
_FIRST_PAIR = re.compile(r'[\ufeff\s]*\[\s*\[?\s*"(?:[^"\\]|\\.)*"\s*,\s*\{')


def _rows(row: object, rows: RowReader) -> Iterator[Document | ReadRow]:
    if isinstance(row, list | tuple):
        if len(row) != 2 or not isinstance(row[0], str) or not isinstance(row[1], dict):
            rows.refuse("a row is not [text, {'entities': ...}]")
        row = {"text": row[0], **row[1]}
    found = rows.mapping(row)
    if "paragraphs" in found:
        yield _of_paragraphs(found, rows)
        return
    text = rows.text(found, "text")
    identifier = rows.id(found, "id")
    groups = found.get("spans")
    if rows.options.layers is None and isinstance(groups, dict):
        for key, group in groups.items():
            rows.passed_over[spans_of(f"{_GROUP}{key}")] += len(group) if isinstance(group, list) else 0

    def document() -> Document:
        layers = {}
        for layer, source in rows.sources(SOURCE).items():
            items = _items(found, source, rows)
            spans = [_span(item, layer, rows) for item in items]
            references = [item.get("text") if isinstance(item, dict) else None for item in items]
            layers[layer] = rows.checked(text, spans, references, identifier)
        return rows.document(identifier, text, layers, _metadata(found))

    def flat() -> FlatSpans | None:
        items = _items(found, SOURCE, rows)
        if items and isinstance(items[0], dict):
            return flat_objects(text, items, ("start", "end", "label"), "text")
        return flat_spans(text, items)

    yield ReadRow(identifier, document, flat, partial(_metadata, found))


def _metadata(row: Row) -> dict[str, str]:
    return scalars(row.get("meta")) | scalars(row.get("_"))


def _items(row: Row, source: str, rows: RowReader) -> list[Any]:
    """Return the spans of a source: the entities, or a group of spans."""
    if source.startswith(_GROUP):
        groups = rows.mapping(row.get("spans", {}), "'spans'")
        rows.offered |= dict.fromkeys([SOURCE, "ents", *(f"{_GROUP}{key}" for key in groups)])
        return rows.listed(groups.get(source.removeprefix(_GROUP)), f"{source!r}")
    if source not in (SOURCE, "ents"):
        rows.sources(SOURCE, (SOURCE, "spans.KEY"))
    return rows.listed(row.get("entities", row.get("ents")), "the list of entities")


def _span(item: object, layer: str, rows: RowReader) -> Span:
    if isinstance(item, list | tuple):
        if len(item) < 2:
            rows.refuse("an entity is not [start, end, label]")
        return rows.span(
            {"start": item[0], "end": item[1]}, ("start", "end"), layer, item[2] if len(item) > 2 else None
        )
    if not isinstance(item, dict):
        rows.refuse("an entity is neither a list nor an object")
    return rows.span(item, ("start", "end"), layer, item.get("label"), id=_id(item))


def _id(item: dict[str, Any]) -> str | None:
    return item["id"] if isinstance(item.get("id"), str) and item["id"] else None


def _of_paragraphs(row: Row, rows: RowReader) -> Document:
    """Return the document of the training format of spaCy 2."""
    tokens: list[str] = []
    tags: list[str] = []
    sentences: list[Sentence] = []
    for paragraph in rows.listed(row["paragraphs"], "'paragraphs'"):
        for sentence in rows.listed(rows.mapping(paragraph, "a paragraph").get("sentences"), "'sentences'"):
            first = len(tokens)
            for token in rows.listed(rows.mapping(sentence, "a sentence").get("tokens"), "'tokens'"):
                tokens.append(rows.text(rows.mapping(token, "a token"), "orth"))
                tags.append(_tag(token.get("ner"), rows))
            if len(tokens) > first:
                sentences.append(Sentence(first, len(tokens)))
    layers = list(rows.sources(SOURCE))
    columns = dict.fromkeys(layers, tags)
    return TaggedRows.of(rows, layers).document(
        rows.id(row, "id"), tokens, columns, rows, sentences=sentences
    )


def _tag(value: object, rows: RowReader) -> str:
    if value is None or value == "-":
        rows.passed_over["unknown tokens"] += 1
        return OUTSIDE
    if not isinstance(value, str):
        rows.refuse("the tag of a token is not a text")
    return value


def _values(opened: Opened) -> Iterator[tuple[int, Any]]:
    """Yield the rows; a line ``["text", {...}]`` is a row, although it is an array."""
    values = opened.values()
    number, first = next(values, (0, None))
    if isinstance(first, str):
        _, second = next(values, (0, None))
        yield 1, [first, second]
        yield from ((number - 1, value) for number, value in values)
    elif isinstance(first, dict) and first.keys() >= _ALL_PAIRS and isinstance(first["annotations"], list):
        pairs = first["annotations"]
        opened.passed_over["unannotated"] += pairs.count(None)
        yield from ((number, pair) for number, pair in enumerate(pairs, 1) if pair is not None)
    elif number:
        yield number, first
        yield from values


FORM = RowForm(_rows, values=_values)


def rows_of(document: Document, layers: Sequence[str]) -> Row:
    """Return the row of a document; further layers are groups of spans."""
    first, *others = layers or ["label"]

    def items(layer: str) -> list[dict[str, Any]]:
        return [
            {"start": span.start, "end": span.end, "label": span.label}
            for span in document.layers.get(layer, ())
        ]

    row: dict[str, Any] = {"id": document.id, "text": document.text, "ents": items(first)}
    if others:
        row["spans"] = {layer: items(layer) for layer in others}
    if document.metadata:
        row["meta"] = dict(document.metadata)
    return row


def _is_spacy(beginning: Beginning) -> bool:
    keys = beginning.keys
    if "paragraphs" in keys or {"text", "ents"} <= keys or keys >= _ALL_PAIRS:
        return True
    return bool(_FIRST_PAIR.match(beginning.text)) and '"entities"' in beginning.text


FORMAT = row_format(
    FORM,
    name="spacy-json",
    holds='spaCy\'s JSON: `[text, {"entities"}]`, `Doc.to_json`, or `paragraphs` with BILUO tags',
    signs=(
        Sign(
            'JSON `[text, {"entities"}]`, or with `text` and `ents`, `paragraphs`, or `classes` and `annotations`',
            _is_spacy,
        ),
    ),
    options=frozenset({"layers", "offsets"}),
    default_source=SOURCE,
    write=Writer(
        json_lines(rows_of),
        ".jsonl",
        unit="character",
        holds=frozenset(
            {"metadata", "layers", "zero-length spans", "overlapping spans", "spans across sentences"}
        ),
        row=rows_of,
    ),
)
