"""Results of services that recognise entities: Microsoft Presidio, and Amazon Comprehend.

Presidio's data sets, texts with results, and the answers of its server, which have neither texts nor ids:

    {"full_text": "I am Ada", "spans": [{"entity_type": "PERSON", "entity_value": "Ada", "start_position": 5,
     "end_position": 8}], "sample_id": 1, "template_id": 7, "metadata": {"Gender": "female"}}
    {"text": "I am Ada", "results": [{"entity_type": "PERSON", "start": 5, "end": 8, "score": 0.85}]}
    [{"entity_type": "PERSON", "start": 5, "end": 8, "score": 0.85}]

The ``score`` of a result is a feature, and its ``recognizer_name`` is the feature ``recognizer``; explanations are
passed over. The id of a sample is its ``sample_id``; ``template_id`` and the values of ``metadata`` are metadata. The
answers of the server are lists of results, one after the other or in one list, in the order of gold's documents.

Comprehend's results belong to the line of a text, counted from 0:

    {"File": "texts.txt", "Line": 0, "Entities": [{"BeginOffset": 5, "EndOffset": 8, "Type": "PERSON", "Score": 0.9}]}

A document is numbered by its line, in whatever order the lines are written. The ``Score`` is the feature ``score``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from clueval.formats.flat_rows import ReadRow
from clueval.formats.format import Format
from clueval.formats.json_rows import RowForm, RowReader, rows_reader, scalars
from clueval.formats.object_rows import SpanKeys, object_row
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import MissingId
from clueval.textfiles import beginning_of

SOURCE = "entity_type"
_RESULTS = ("results", "recognizer_results", "analyzer_results")
_SAMPLE = SpanKeys("start_position", "end_position", SOURCE, "entity_value")
_RESULT = SpanKeys("start", "end", SOURCE)
_DOCCANO = {"label", "labels", "entities", "annotations"}
_EXPLANATION = "analysis_explanation"


def _presidio(row: object, rows: RowReader) -> Iterator[ReadRow]:
    if isinstance(row, list):
        yield _row_of_results(MissingId(rows.number), None, row, rows)
        return
    found = rows.mapping(row)
    if "full_text" not in found:
        key = next((key for key in _RESULTS if key in found), None)
        if key is None:
            rows.refuse(f"the row has no key {' or '.join(map(repr, ('full_text', *_RESULTS)))}")
        text, items = rows.text(found, "text"), rows.listed(found[key], f"{key!r}")
        metadata = scalars(found, ("id", "text", *_RESULTS))
        yield _row_of_results(rows.id(found, "id"), text, items, rows, metadata)
        return
    if "spans" not in found:
        rows.refuse("the row has no key 'spans'", "no spans are written []")
    yield object_row(
        rows,
        rows.id(found, "sample_id"),
        rows.text(found, "full_text"),
        lambda source: rows.listed(found["spans"], "'spans'"),
        _SAMPLE,
        sources=(SOURCE,),
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
    explained = sum(isinstance(item, dict) and item.get(_EXPLANATION) is not None for item in items)
    return object_row(
        rows,
        identifier,
        text,
        lambda source: items,
        _RESULT,
        sources=(SOURCE,),
        features=_of_result,
        metadata=lambda: metadata,
        passed_over={"explanations": explained},
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
    return not keys or (SOURCE in keys and keys.isdisjoint(("full_text", "text")))


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
    return f'"{SOURCE}"' in beginning.text and _are_answers(beginning.text)


def _comprehend(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    if "ErrorCode" in found:
        rows.refuse("Comprehend has no results for the text", "see ErrorCode and ErrorMessage of the row")
    if "Entities" not in found:
        rows.refuse("the row has no key 'Entities'", "no entities are written []")
    line, expected = found.get("Line"), rows.known.get("line", 0)
    if type(line) is not int or line != expected:
        shown = line if isinstance(line, int) else "no number"
        rows.refuse(f"'Line' is {shown} where line {expected} is due", "each line of the texts needs one row")
    rows.known["line"] = expected + 1
    yield object_row(
        rows,
        MissingId(line + 1),
        None,
        lambda source: rows.listed(found["Entities"], "'Entities'"),
        SpanKeys("BeginOffset", "EndOffset", "Type"),
        sources=("Type",),
        features=lambda item: _score(item.get("Score")),
    )


def _by_line(opened: Opened) -> Iterator[tuple[int, Any]]:
    """Yield the rows in the order of the lines of their texts; holds all of them."""
    yield from sorted(opened.values(), key=_line)


def _line(numbered: tuple[int, Any]) -> int:
    _, row = numbered
    line = row.get("Line") if isinstance(row, dict) else None
    return line if isinstance(line, int) else -1


PRESIDIO = Format(
    name="presidio",
    holds="Presidio's JSON: samples with `full_text`, texts with `results`, or the answers of its server without texts",
    signs=(
        Sign(
            "JSON with `full_text`, `results` of a `text`, or lists of results with `entity_type`",
            _is_presidio,
        ),
    ),
    read=rows_reader(form := RowForm(_presidio, values=_answers)),
    options=frozenset({"layers", "offsets"}),
    rows=form,
    default_source=SOURCE,
)

COMPREHEND = Format(
    name="comprehend",
    holds="results of Amazon Comprehend: rows of `Entities` for each `Line` of a file",
    signs=(
        Sign(
            "JSON with `Entities` and `File`",
            lambda beginning: "File" in beginning.keys and bool(beginning.keys & {"Entities", "ErrorCode"}),
        ),
    ),
    read=rows_reader(form := RowForm(_comprehend, values=_by_line, independent=False)),
    options=frozenset({"layers"}),
    rows=form,
    default_source="Type",
)
