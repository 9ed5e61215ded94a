"""JSON rows of a text and its spans, which are objects: data sets of personal data, and answers of services."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_objects
from clueval.formats.format import UNPLACED, Format
from clueval.formats.json_rows import RowForm, RowReader, row_format, scalars
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign, json_keys
from clueval.spans.document import Document, MissingId
from clueval.spans.features import GROUP, MENTION, OFFSETS, OPTIONAL
from clueval.tagging.schemes import OUTSIDE
from clueval.textfiles import beginning_of


class SpanKeys(NamedTuple):
    """The keys of an object of a span: its start, its end (exclusive), its label and, if it has one, its text."""

    start: str
    end: str
    label: str
    text: str | None = None


def _row(
    rows: RowReader,
    identifier: str,
    text: str | None,
    items: Callable[[str], Sequence[Any]] | Sequence[Any],
    keys: SpanKeys,
    *,
    sources: tuple[str, ...] = (),
    default: str | None = None,
    features: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda item: {},
    metadata: Callable[[], Mapping[str, str]] = dict,
    passed_over: Mapping[str, int] = MappingProxyType({}),
) -> ReadRow:
    """Return a row with these `items`, or with those of a source: the `default`, unless the options name one.

    `text` is None for the answer of a program without the text. `features` returns those of the span of an object;
    `passed_over` what the row has that is not read.
    """
    known = rows.sources(default or keys.label, sources or (keys.label,))
    by_layer = {layer: items(source) if callable(items) else items for layer, source in known.items()}

    def document() -> Document:
        rows.passed_over.update(passed_over)
        layers = {}
        for layer, own in by_layer.items():
            objects = [rows.mapping(item, "a span") for item in own]
            spans = [
                rows.span(item, keys[:2], layer, item.get(keys.label), features=features(item))
                for item in objects
            ]
            references = [None if keys.text is None else item.get(keys.text) for item in objects]
            layers[layer] = spans if text is None else rows.checked(text, spans, references, identifier)
        return rows.document(identifier, text, layers, metadata())

    def flat() -> FlatSpans | None:
        if text is None or any(passed_over.values()):
            return None
        (own,) = by_layer.values()
        return flat_objects(text, own, keys[:3], keys.text)

    return ReadRow(identifier, document, flat, metadata)


def _format(
    name: str,
    holds: str,
    sign: Sign,
    read: Callable[[Any, RowReader], Iterator[ReadRow]],
    source: str,
    options: tuple[str, ...] = ("layers", "offsets"),
    **more: Any,
) -> Format:
    """Return the record of a format; `more` are fields of its `RowForm`."""
    return row_format(
        RowForm(read, **more),
        name=name,
        holds=holds,
        signs=(sign,),
        options=frozenset(options),
        default_source=source,
    )


# Data sets of personal data


_MASK, _LABELS = _SOURCES = ("privacy_mask", "span_labels")
_TEXTS = ("source_text", "unmasked_text", "text")
_NO_POSITIONS = "read texts without positions with input='mentions', if gold has the whole text"
_NUMBER = re.compile(r"_\d+$")


def _ai4privacy(row: object, rows: RowReader) -> Iterator[ReadRow]:
    """Rows of ai4privacy's data sets.

        {"source_text": "Hi, Omer", "privacy_mask": [{"value": "Omer", "start": 4, "end": 8, "label": "NAME"}]}
        {"unmasked_text": "Hi, Omer", "span_labels": "[[0, 4, 'O'], [4, 8, 'NAME_1']]"}

    The text is under ``source_text``, else ``unmasked_text``, else ``text``. The source of the spans is
    ``privacy_mask`` or ``span_labels``; a list may be a text that holds a list. If the mask is null or an
    object of values, as in the first releases, there are no positions in it, and ``span_labels`` is the
    default. In ``span_labels``, ``O`` is no span, and a number after an underscore is no part of a label.
    ``target_text``, ``masked_text`` and ``mbert_...`` are not read. Other texts, numbers and truth values of a
    row are metadata.
    """
    found = rows.mapping(row)
    if isinstance(mask := found.get(_MASK), str):
        mask = rows.held(mask, f"{_MASK!r}")
        found = {**found, _MASK: mask}

    def items(source: str) -> list[Any]:
        if source == _LABELS:
            return [each for item in rows.items(found, source) for each in _labelled(item, rows)]
        values = [mask] * bool(mask) if isinstance(mask, dict) else rows.items(found, source)
        if any(isinstance(each, dict) and "start" not in each for each in values):
            rows.refuse(f"{source!r} has no positions", _NO_POSITIONS)
        return values

    yield _row(
        rows,
        rows.id(found, "id", "uid"),
        rows.text(found, *_TEXTS),
        items,
        SpanKeys("start", "end", "label", "value"),
        sources=_SOURCES,
        default=_LABELS if _LABELS in found and isinstance(mask, dict | None) else _MASK,
        metadata=partial(_metadata, found),
    )


def _labelled(item: object, rows: RowReader) -> Iterator[dict[str, Any]]:
    """Yield the object of ``[start, end, label]``, unless it is no span."""
    if not isinstance(item, list | tuple) or len(item) != 3:
        rows.refuse(f"an element of {_LABELS!r} is not [start, end, label]")
    start, end, label = item
    if label != OUTSIDE:
        name = _NUMBER.sub("", label) if isinstance(label, str) else label
        yield {"start": start, "end": end, "label": name}


def _metadata(row: Mapping[str, Any]) -> dict[str, str]:
    found = scalars(row, (*_TEXTS, *_SOURCES, "target_text", "masked_text", "id", "uid"))
    return {key: value for key, value in found.items() if not key.startswith("mbert_")}


def _nemotron(row: object, rows: RowReader) -> Iterator[ReadRow]:
    """Rows of Nemotron-PII. The list of spans may be a text that holds a list.

        {"uid": "7", "locale": "us", "text": "Hi, Omer", "text_tagged": "Hi, <name>Omer</name>",
         "spans": "[{'start': 4, 'end': 8, 'text': 'Omer', 'label': 'name'}]"}

    A ``uid`` may occur in each ``locale``, so that the id has both. ``text_tagged`` is not read. Other texts,
    numbers and truth values of a row are metadata.
    """
    found = rows.mapping(row)
    items = rows.items(found, "spans")
    identifier, locale = rows.id(found, "uid", "id"), found.get("locale")
    yield _row(
        rows,
        f"{identifier}/{locale}" if "uid" in found and isinstance(locale, str) else identifier,
        rows.text(found, "text"),
        items,
        SpanKeys("start", "end", "label", "text"),
        metadata=partial(scalars, found, ("text", "text_tagged", "spans", "uid", "id")),
    )


AI4PRIVACY = _format(
    "ai4privacy",
    "rows of ai4privacy's data sets: texts with a `privacy_mask`, or with `span_labels`",
    Sign(
        "JSON with `privacy_mask`, or `unmasked_text` and `span_labels`",
        lambda beginning: _MASK in beginning.keys or beginning.keys >= {"unmasked_text", _LABELS},
    ),
    _ai4privacy,
    _MASK,
)

NEMOTRON = _format(
    "nemotron",
    "rows of Nemotron-PII: texts with `spans`, and `text_tagged`",
    json_keys("text_tagged", "spans"),
    _nemotron,
    "label",
)


# Answers of services


_ENTITY = "entity_type"
_RESULTS = ("results", "recognizer_results", "analyzer_results")
_DOCCANO = {"label", "labels", "entities", "annotations"}


def _presidio(row: object, rows: RowReader) -> Iterator[ReadRow]:
    """Presidio's data sets, texts with results, and the answers of its server, which have neither texts nor ids.

        {"full_text": "I am Ada", "spans": [{"entity_type": "PERSON", "entity_value": "Ada", "start_position": 5,
         "end_position": 8}], "sample_id": 1, "template_id": 7, "metadata": {"Gender": "female"}}
        {"text": "I am Ada", "results": [{"entity_type": "PERSON", "start": 5, "end": 8, "score": 0.85}]}
        [{"entity_type": "PERSON", "start": 5, "end": 8, "score": 0.85}]

    The ``score`` of a result is a feature, and its ``recognizer_name`` is the feature ``recognizer``;
    explanations are passed over. The id of a sample is its ``sample_id``; ``template_id`` and the values of
    ``metadata`` are metadata. The answers of the server are lists of results, one after the other or in one
    list, in the order of gold's documents.
    """
    if isinstance(row, list):
        yield _row_of_results(MissingId(rows.number), None, row, rows)
        return
    found = rows.mapping(row)
    if "full_text" not in found:
        key = next((key for key in _RESULTS if key in found), None)
        if key is None:
            rows.refuse(f"the row has no key {' or '.join(map(repr, ('full_text', *_RESULTS)))}")
        text, items = rows.text(found, "text"), rows.items(found, key)
        metadata = scalars(found, ("id", "text", *_RESULTS))
        yield _row_of_results(rows.id(found, "id"), text, items, rows, metadata)
        return
    items = rows.items(found, "spans")
    yield _row(
        rows,
        rows.id(found, "sample_id"),
        rows.text(found, "full_text"),
        items,
        SpanKeys("start_position", "end_position", _ENTITY, "entity_value"),
        metadata=lambda: scalars({"template_id": found.get("template_id")}) | scalars(found.get("metadata")),
    )


def _row_of_results(
    identifier: str,
    text: str | None,
    items: list[Any],
    rows: RowReader,
    metadata: Mapping[str, str] = MappingProxyType({}),
) -> ReadRow:
    if text is None and rows.options.offsets not in (None, "points"):
        rows.refuse(f"positions in {rows.options.offsets} need the text, which the row does not have")
    explained = (isinstance(item, dict) and item.get("analysis_explanation") is not None for item in items)
    return _row(
        rows,
        identifier,
        text,
        items,
        SpanKeys("start", "end", _ENTITY),
        features=_of_result,
        metadata=lambda: metadata,
        passed_over={"explanations": sum(explained)},
    )


def _of_result(item: Mapping[str, Any]) -> dict[str, Any]:
    noted = item.get("recognition_metadata")
    name = noted.get("recognizer_name") if isinstance(noted, dict) else None
    return _score(item.get("score")) | ({"recognizer": name} if isinstance(name, str) else {})


def _score(value: object) -> dict[str, Any]:
    return {"score": value} if isinstance(value, int | float) else {}


_ANSWERS = re.compile(r"[\ufeff\s]*\[[\[\],\s]*(?=\{|\Z)")
"""The beginning of answers without texts, before the first result."""

_SEVERAL = re.compile(r"[\ufeff\s]*\[\s*\[")


def _are_answers(beginning: str) -> bool:
    """Return whether a file begins with answers of the server and not with rows; `[]` alone is an answer, too."""
    head = _ANSWERS.match(beginning)
    if head is None:
        return False
    keys = Beginning("", beginning[head.end() :]).keys
    return not keys or (_ENTITY in keys and keys.isdisjoint(("full_text", "text")))


def _answers(opened: Opened) -> Iterator[tuple[int, Any]]:
    """Yield rows, or the answers of the server, of which each is a list or an element of the only list."""
    beginning = beginning_of(opened.path)
    return opened.values(whole=_are_answers(beginning) and not _SEVERAL.match(beginning))


def _is_presidio(beginning: Beginning) -> bool:
    keys = beginning.keys
    if "full_text" in keys and ("spans" in keys or "tokens" not in keys):  # others are rows of tokens
        return True
    if "text" in keys and keys.isdisjoint(_DOCCANO):
        return any(re.search(rf'"{key}"\s*:\s*"?\[', beginning.text) for key in keys.intersection(_RESULTS))
    return f'"{_ENTITY}"' in beginning.text and _are_answers(beginning.text)


def _comprehend(row: object, rows: RowReader) -> Iterator[ReadRow]:
    """Results of Amazon Comprehend, which belong to the line of a text, counted from 0.

        {"File": "texts.txt", "Line": 0,
         "Entities": [{"BeginOffset": 5, "EndOffset": 8, "Type": "PERSON", "Score": 0.9}]}

    A document is numbered by its line, in whatever order the lines are written. The ``Score`` is the feature
    ``score``.
    """
    found = rows.mapping(row)
    if "ErrorCode" in found:
        rows.refuse("Comprehend has no results for the text", "see ErrorCode and ErrorMessage of the row")
    items = rows.items(found, "Entities", "entities")
    line, expected = found.get("Line"), rows.known.get("line", 0)
    if type(line) is not int or line != expected:
        shown = line if isinstance(line, int) else "no number"
        rows.refuse(f"'Line' is {shown} where line {expected} is due", "each line of the texts needs one row")
    rows.known["line"] = expected + 1
    yield _row(
        rows,
        MissingId(line + 1),
        None,
        items,
        SpanKeys("BeginOffset", "EndOffset", "Type"),
        features=lambda item: _score(item.get("Score")),
    )


def _by_line(opened: Opened) -> Iterator[tuple[int, Any]]:
    """Yield the rows in the order of the lines of their texts; holds all of them."""
    yield from sorted(opened.values(), key=_line)


def _line(numbered: tuple[int, Any]) -> int:
    _, row = numbered
    line = row.get("Line") if isinstance(row, dict) else None
    return line if isinstance(line, int) else -1


PRESIDIO = _format(
    "presidio",
    "Presidio's JSON: samples with `full_text`, texts with `results`, or the answers of its server without texts",
    Sign(
        "JSON with `full_text`, `results` of a `text`, or lists of results with `entity_type`", _is_presidio
    ),
    _presidio,
    _ENTITY,
    values=_answers,
)

COMPREHEND = _format(
    "comprehend",
    "results of Amazon Comprehend: rows of `Entities` for each `Line` of a file",
    Sign(
        "JSON with `Entities` and `File`",
        lambda beginning: "File" in beginning.keys and bool(beginning.keys & {"Entities", "ErrorCode"}),
    ),
    _comprehend,
    "Type",
    ("layers",),
    values=_by_line,
    independent=False,
)


# LangExtract


_STATUS, _INTERVAL = "alignment_status", "char_interval"
_EXTRACTION = SpanKeys("start_pos", "end_pos", "extraction_class")
_WITH_MEANING = (MENTION, OFFSETS, GROUP, OPTIONAL)
"""Features that clueval itself gives a meaning."""


def _langextract(row: object, rows: RowReader) -> Iterator[ReadRow]:
    """LangExtract's annotated documents: JSON rows of a text and its extractions.

        {"document_id": "d", "text": "In Ulm", "extractions": [{"extraction_class": "LOC", "extraction_text": "Ulm",
         "char_interval": {"start_pos": 3, "end_pos": 6}, "alignment_status": "match_exact", "attributes": {}}]}

    The class is the label; features are the ``alignment_status``, and attributes that are texts. The end of an
    interval is exclusive. An extraction without an interval is in the text in other words or not at all.
    Predicted extractions of this kind are mentions without a place, which count as false positives; otherwise
    they are passed over (``unaligned extractions``). Texts of extractions are not compared with the text,
    because LangExtract aligns words that differ.
    """
    found = rows.mapping(row)
    placed: list[dict[str, Any]] = []
    lost: list[dict[str, Any]] = []
    for item in rows.items(found, "extractions", "extractions"):
        extraction = rows.mapping(item, "an extraction")
        given = extraction.get(_INTERVAL)
        interval = {} if given is None else rows.mapping(given, "the interval of an extraction")
        start, end = (interval.get(key) for key in _EXTRACTION[:2])
        if start is None and end is None:
            lost.append({**extraction, _EXTRACTION.start: 0, _EXTRACTION.end: 0})
        else:
            placed.append({**extraction, _EXTRACTION.start: start, _EXTRACTION.end: end})
    metadata = scalars(found, ("text", "document_id"))
    if rows.options.unplaced and lost:
        metadata[UNPLACED] = str(len(lost))
        placed, lost = [*placed, *lost], []
    yield _row(
        rows,
        rows.id(found, "document_id"),
        rows.text(found, "text"),
        placed,
        _EXTRACTION,
        features=_of_extraction,
        metadata=lambda: metadata,
        passed_over={"unaligned extractions": len(lost)},
    )


def _of_extraction(item: Mapping[str, Any]) -> dict[str, Any]:
    attributes = item.get("attributes")
    own = attributes.items() if isinstance(attributes, dict) else ()
    texts = {name: value for name, value in own if isinstance(value, str) and name not in _WITH_MEANING}
    status = item.get(_STATUS)
    noted = {_STATUS: status} if isinstance(status, str) else {}
    interval = item.get(_INTERVAL)
    is_placed = isinstance(interval, dict) and interval.get(_EXTRACTION.start) is not None
    return {**texts, **noted, **({} if is_placed else {MENTION: str(item.get("extraction_text"))})}


LANGEXTRACT = _format(
    "langextract",
    "LangExtract's JSON Lines: texts with `extractions`",
    json_keys("extractions", "document_id"),
    _langextract,
    _EXTRACTION.label,
)
