"""LangExtract's annotated documents: JSON rows of a text and its extractions.

    {"document_id": "d", "text": "In Ulm", "extractions": [{"extraction_class": "LOC", "extraction_text": "Ulm",
     "char_interval": {"start_pos": 3, "end_pos": 6}, "alignment_status": "match_exact", "attributes": {}}]}

The class is the label; features are the ``alignment_status``, and attributes that are texts. The end of an interval is
exclusive. An extraction without an interval is in the text in other words or not at all. Predicted extractions of this
kind are mentions without a place, which count as false positives; otherwise they are passed over (``unaligned
extractions``). Texts of extractions are not compared with the text, because LangExtract aligns words that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.formats.flat_rows import ReadRow
from clueval.formats.format import UNPLACED, Format
from clueval.formats.json_rows import RowForm, RowReader, rows_reader, scalars
from clueval.formats.object_rows import SpanKeys, object_row
from clueval.formats.recognition import Sign
from clueval.spans.features import GROUP, MENTION, OFFSETS, OPTIONAL

SOURCE = "extraction_class"
_STATUS, _INTERVAL, _TEXT = "alignment_status", "char_interval", "extraction_text"
_KEYS = SpanKeys("start_pos", "end_pos", SOURCE)
_WITH_MEANING = (MENTION, OFFSETS, GROUP, OPTIONAL)
"""Features that clueval itself gives a meaning."""


def _rows(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    if "extractions" not in found:
        rows.refuse("the row has no key 'extractions'", "no extractions are written []")
    placed: list[dict[str, Any]] = []
    lost: list[dict[str, Any]] = []
    for item in rows.listed(found["extractions"], "'extractions'"):
        extraction = rows.mapping(item, "an extraction")
        given = extraction.get(_INTERVAL)
        interval = {} if given is None else rows.mapping(given, "the interval of an extraction")
        start, end = interval.get(_KEYS.start), interval.get(_KEYS.end)
        if start is None and end is None:
            lost.append({**extraction, _KEYS.start: 0, _KEYS.end: 0})
        else:
            placed.append({**extraction, _KEYS.start: start, _KEYS.end: end})
    metadata = scalars(found, ("text", "document_id"))
    if rows.options.unplaced and lost:
        metadata[UNPLACED] = str(len(lost))
        placed, lost = [*placed, *lost], []
    yield object_row(
        rows,
        rows.id(found, "document_id"),
        rows.text(found, "text"),
        lambda source: placed,
        _KEYS,
        sources=(SOURCE,),
        features=_features,
        metadata=lambda: metadata,
        passed_over={"unaligned extractions": len(lost)},
    )


def _features(item: Mapping[str, Any]) -> dict[str, Any]:
    attributes = item.get("attributes")
    own = attributes.items() if isinstance(attributes, dict) else ()
    texts = {name: value for name, value in own if isinstance(value, str) and name not in _WITH_MEANING}
    status = item.get(_STATUS)
    noted = {_STATUS: status} if isinstance(status, str) else {}
    interval = item.get(_INTERVAL)
    is_placed = isinstance(interval, dict) and interval.get(_KEYS.start) is not None
    return {**texts, **noted, **({} if is_placed else {MENTION: str(item.get(_TEXT))})}


FORM = RowForm(_rows)

FORMAT = Format(
    name="langextract",
    holds="LangExtract's JSON Lines: texts with `extractions`",
    signs=(
        Sign(
            "JSON with `extractions` and `document_id`",
            lambda beginning: beginning.keys >= {"extractions", "document_id"},
        ),
    ),
    read=rows_reader(FORM),
    options=frozenset({"layers", "offsets"}),
    rows=FORM,
    default_source=SOURCE,
)
