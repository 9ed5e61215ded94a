"""Prodigy's JSON Lines: a text, its spans, and the answer of an annotator.

    {"text": "Frida Kahlo", "_input_hash": 12, "spans": [{"start": 0, "end": 5, "label": "PER"}], "answer": "accept"}

Ends are exclusive; ``token_end``, which is inclusive, is not used. ``_annotator_id``, else ``_session_id``, is the
annotator, whose rows are an annotation set; ``_input_hash``, else ``id``, is the id of the document. Rows with the
answer ``ignore`` are passed over. Rows with the answer ``reject`` are refused, because a rejected suggestion says
nothing about the rest of the text; ``--answers accepted`` passes over them. A row without ``spans`` has none, unless it
is a classification of its text, with ``label`` or ``options``, which is refused. The ``score`` of a span is a feature,
and so are values that Prodigy does not write, such as ``risk`` and ``entity_id``. The values of ``meta`` are metadata.
Relations are passed over. A row without ``text`` has that of its ``tokens``. A span may have ``fragments`` and
``alternatives``, as in doccano's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from clueval.formats.flat_rows import ReadRow, flat_objects
from clueval.formats.json_rows import Row, RowForm, RowReader, row_format, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document

SOURCE = "label"
_IDS = ("_input_hash", "id")
_NO_FEATURES = {
    *("start", "end", "label", "text", "token_start", "token_end"),
    *("id", "source", "pattern", "input_hash", "answer", "type", "optional"),
}
"""What a span has besides features: its place, label and text, and what Prodigy notes about it."""
_LIST_OF_SPANS = re.compile(r'"spans"\s*:\s*"?\[')
_CHOICES = {"label", "options"}
_LONGEST_GAP = 10_000
"""The most characters between two tokens of a row without text."""


def _rows(row: object, rows: RowReader) -> Iterator[ReadRow]:
    found = rows.mapping(row)
    answer = found.get("answer")
    if answer == "ignore":
        rows.passed_over["ignored"] += 1
        return
    if answer == "reject":
        if rows.options.answers != "accepted":
            rows.refuse(
                "the row has the answer 'reject', which says nothing about the rest of its text",
                "read only accepted rows with answers='accepted'",
            )
        rows.passed_over["rejected"] += 1
        return
    if answer not in ("accept", None):
        rows.refuse(f"the answer is {answer!r}", "Prodigy has accept, reject and ignore")
    if _is_classification(found):
        rows.refuse("the row classifies its text, which has no spans")
    text = rows.text(found, "text") if "text" in found else _text_of_tokens(found, rows)
    rows.passed_over["relations"] += len(rows.listed(found.get("relations"), "'relations'"))
    identifier = rows.id(found, *_IDS)
    items = rows.listed(found.get("spans"), "'spans'")

    def document() -> Document:
        layers = {}
        for layer in rows.sources(SOURCE, (SOURCE,)):
            spans, references = [], []
            for item, of_group in rows.members(items):
                if not isinstance(item, dict):
                    rows.refuse("a span is not an object")
                features = _features(item) | of_group
                spans.append(rows.span(item, ("start", "end"), layer, item.get("label"), features=features))
                references.append(item.get("text"))
            layers[layer] = rows.checked(text, spans, references, identifier)
        return rows.document(identifier, text, layers, _metadata(found))

    flat = partial(flat_objects, text, items, ("start", "end", "label"), "text")
    yield ReadRow(identifier, document, flat, partial(_metadata, found))


def _metadata(row: Row) -> dict[str, str]:
    return scalars(row.get("meta"))


def _text_of_tokens(row: dict[str, Any], rows: RowReader) -> str:
    """Return the text of a row that has only tokens, with their positions."""
    if "tokens" not in row:
        rows.text(row, "text")
    text = ""
    for token in rows.listed(row["tokens"], "'tokens'"):
        start, end = rows.positions(token, ("start", "end"))
        own = rows.text(token, "text")
        if start < len(text) or end - start != len(own):
            rows.refuse(
                f"the token at {start} to {end} has {len(own)} characters, or overlaps the one before it"
            )
        if start - len(text) > _LONGEST_GAP:
            rows.refuse(f"there are {start - len(text):,} characters before the token at {start}")
        text += " " * (start - len(text)) + own
    return text


def _features(item: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in item.items()
        if key not in _NO_FEATURES
        and (isinstance(value, int | float) or (isinstance(value, str) and key != "score"))
    }


def _is_classification(row: Row) -> bool:
    return "spans" not in row and not _CHOICES.isdisjoint(row)


def _set(row: dict[str, Any]) -> Any:
    name = row.get("_annotator_id")
    return row.get("_session_id") if name is None else name


def _sets(row: Any) -> Iterable[str]:
    if isinstance(row, dict) and (name := _set(row)) is not None:
        yield str(name)


def _is_prodigy(beginning: Beginning) -> bool:
    keys = beginning.keys
    return ("_input_hash" in keys and bool(keys & {"spans", "answer"})) or (
        {"text", "spans"} <= keys
        and "text_tagged" not in keys
        and bool(_LIST_OF_SPANS.search(beginning.text))
    )


FORM = RowForm(_rows, _sets)

FORMAT = row_format(
    FORM,
    name="prodigy",
    holds="Prodigy's JSON Lines: texts with `spans` and the `answer` of an annotator",
    signs=(
        Sign(
            "JSON with `_input_hash`, and `spans` or `answer`; or with `text` and a list `spans`", _is_prodigy
        ),
    ),
    options=frozenset({"layers", "offsets", "answers"}),
    default_source=SOURCE,
)
