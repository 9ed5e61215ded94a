"""Dialects of services that find personal data and entities: Presidio and Amazon Comprehend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clueval.core.document import MissingId
from clueval.formats.dialect import Dialect, RowInput
from clueval.formats.input_file import Numbered

_RESULTS = "results|recognizer_results|analyzer_results"


def _presidio(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the features of its results; explanations are passed over."""
    found = {"results": row} if isinstance(row, list | tuple) else dict(rows.mapping(row))
    key = next((key for key in _RESULTS.split("|") if key in found), None)
    if key is not None:
        found[key] = [_result(item, rows) for item in rows.listed(found[key], repr(key))]
    yield found


def _result(item: Any, rows: RowInput) -> dict[str, Any]:
    result = rows.mapping(item, "a span")
    rows.passed_over["explanations"] += result.get("analysis_explanation") is not None
    features = _score(result.get("score"))
    noted = result.get("recognition_metadata")
    if isinstance(noted, dict) and isinstance(noted.get("recognizer_name"), str):
        features["recognizer"] = noted["recognizer_name"]
    return {**result, "features": features}


def _score(value: Any) -> dict[str, Any]:
    return {"score": value} if isinstance(value, int | float) else {}


PRESIDIO_SAMPLES = Dialect(
    name="presidio",
    holds="Presidio's samples: rows of `full_text` and `spans`",
    text="full_text",
    id="sample_id",
    spans="spans",
    start="start_position",
    end="end_position",
    label="entity_type",
    reference="entity_value",
    sources="entity_type",
    metadata="metadata|template_id",
)

PRESIDIO_RESULTS = Dialect(
    name="presidio",
    holds="Presidio's results with their `text`",
    text="text",
    spans=_RESULTS,
    label="entity_type",
    sources="entity_type",
    features="features",
    metadata="",
    rest=True,
    plain=_presidio,
)

PRESIDIO_ANSWERS = Dialect(
    name="presidio",
    holds="the answers of Presidio's server, without texts, in the order of gold's documents",
    spans="results",
    label="entity_type",
    sources="entity_type",
    features="features",
    without_text=True,
    plain=_presidio,
)


def _by_line(numbered: Iterator[Numbered], rows: RowInput) -> Iterator[Numbered]:
    """Yield the rows in the order of the lines of their texts; holds all of them."""
    lines = sorted(numbered, key=lambda each: _line(each[1]))
    for due, (rows.number, row) in enumerate(lines):
        found = rows.mapping(row)
        if "ErrorCode" in found:
            rows.refuse("Comprehend has no results for the text", "see ErrorCode and ErrorMessage of the row")
        if "Entities" not in found:
            rows.refuse("the row has no key 'Entities'", "no entities are written []")
        if (line := _line(found)) != due:
            shown = line if line >= 0 else "no number"
            rows.refuse(f"'Line' is {shown} where line {due} is due", "each line of the texts needs one row")
        items = [rows.mapping(item, "a span") for item in rows.listed(found["Entities"], "'Entities'")]
        entities = [{**item, "features": _score(item.get("Score"))} for item in items]
        yield rows.number, {"Line": MissingId(due + 1), "Entities": entities}


def _line(row: Any) -> int:
    line = row.get("Line") if isinstance(row, dict) else None
    return line if type(line) is int else -1


COMPREHEND = Dialect(
    name="comprehend",
    holds="results of Amazon Comprehend: rows of `Entities` for each `Line` of a file",
    id="Line",
    spans="Entities",
    start="BeginOffset",
    end="EndOffset",
    label="Type",
    sources="Type",
    features="features",
    without_text=True,
    values=_by_line,
)
