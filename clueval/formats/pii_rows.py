"""Rows of data sets of personal data: ai4privacy's, and Nemotron-PII. A list may be a text that holds a list.

    {"source_text": "Hi, Omer", "privacy_mask": [{"value": "Omer", "start": 4, "end": 8, "label": "FIRSTNAME"}]}
    {"unmasked_text": "Hi, Omer", "span_labels": "[[0, 4, 'O'], [4, 8, 'FIRSTNAME_1']]"}
    {"uid": "7", "locale": "us", "text": "Hi, Omer", "text_tagged": "Hi, <name>Omer</name>",
     "spans": "[{'start': 4, 'end': 8, 'text': 'Omer', 'label': 'name'}]"}

ai4privacy: the text is under ``source_text``, else ``unmasked_text``, else ``text``. The source of the spans is
``privacy_mask`` or ``span_labels``. If the mask is null or an object of values, as in the first releases, there
are no positions in it, and ``span_labels`` is the default. In ``span_labels``, ``O`` is no span, and a number after an
underscore is no part of a label. ``target_text``, ``masked_text`` and ``mbert_...`` are not read.

Nemotron-PII: a ``uid`` may occur in each ``locale``, so that the id has both. ``text_tagged`` is not read.

Other texts, numbers and truth values of a row are metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from clueval.formats.flat_rows import ReadRow
from clueval.formats.format import Format
from clueval.formats.json_rows import RowForm, RowReader, rows_reader, scalars
from clueval.formats.object_rows import SpanKeys, object_row
from clueval.formats.recognition import Sign
from clueval.tagging.schemes import OUTSIDE

_MASK, _LABELS = SOURCES = ("privacy_mask", "span_labels")
_TEXTS = ("source_text", "unmasked_text", "text")
_NO_POSITIONS = "read texts without positions with input='mentions', if gold has the whole text"
_NUMBER = re.compile(r"_\d+$")


def _ai4privacy(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    mask = found.get(_MASK)
    if isinstance(mask, str):
        mask = rows.held(mask, f"{_MASK!r}")

    def items(source: str) -> list[Any]:
        if source not in found:
            rows.refuse(f"the row has no key {source!r}", "no spans are written []")
        if source == _LABELS:
            return [
                each for item in rows.listed(found[source], f"{source!r}") for each in _labelled(item, rows)
            ]
        values = ([mask] if mask else []) if isinstance(mask, dict) else rows.listed(mask, f"{source!r}")
        if any(isinstance(each, dict) and "start" not in each for each in values):
            rows.refuse(f"{source!r} has no positions", _NO_POSITIONS)
        return values

    yield object_row(
        rows,
        rows.id(found, "id", "uid"),
        rows.text(found, *_TEXTS),
        items,
        SpanKeys("start", "end", "label", "value"),
        sources=SOURCES,
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
    found = scalars(row, (*_TEXTS, *SOURCES, "target_text", "masked_text", "id", "uid"))
    return {key: value for key, value in found.items() if not key.startswith("mbert_")}


def _nemotron(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    if "spans" not in found:
        rows.refuse("the row has no key 'spans'", "no spans are written []")
    identifier, locale = rows.id(found, "uid", "id"), found.get("locale")
    yield object_row(
        rows,
        f"{identifier}/{locale}" if "uid" in found and isinstance(locale, str) else identifier,
        rows.text(found, "text"),
        lambda source: rows.listed(found["spans"], "'spans'"),
        SpanKeys("start", "end", "label", "text"),
        sources=("label",),
        metadata=partial(scalars, found, ("text", "text_tagged", "spans", "uid", "id")),
    )


AI4PRIVACY = Format(
    name="ai4privacy",
    holds="rows of ai4privacy's data sets: texts with a `privacy_mask`, or with `span_labels`",
    signs=(
        Sign(
            "JSON with `privacy_mask`, or `unmasked_text` and `span_labels`",
            lambda beginning: (
                "privacy_mask" in beginning.keys or beginning.keys >= {"unmasked_text", "span_labels"}
            ),
        ),
    ),
    read=rows_reader(form := RowForm(_ai4privacy)),
    options=frozenset({"layers", "offsets"}),
    rows=form,
    default_source=_MASK,
)

NEMOTRON = Format(
    name="nemotron",
    holds="rows of Nemotron-PII: texts with `spans`, and `text_tagged`",
    signs=(
        Sign(
            "JSON with `text_tagged` and `spans`",
            lambda beginning: beginning.keys >= {"text_tagged", "spans"},
        ),
    ),
    read=rows_reader(form := RowForm(_nemotron)),
    options=frozenset({"layers", "offsets"}),
    rows=form,
    default_source="label",
)
