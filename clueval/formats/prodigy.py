"""Prodigy's JSON Lines: a text, its spans, and the answer of an annotator.

    {"text": "Frida Kahlo", "_input_hash": 12, "spans": [{"start": 0, "end": 5, "label": "PER"}], "answer": "accept"}

Ends are exclusive; ``token_end``, which is inclusive, is not used. ``_annotator_id``, else ``_session_id``, is the
annotator, whose rows are an annotation set; ``_input_hash`` is the id of the document. Rows with the answer
``ignore`` are passed over. Rows with the answer ``reject`` are refused, because a rejected suggestion says nothing
about the rest of the text; ``--answers accepted`` passes over them. The ``score`` of a span is a feature, and
the values of ``meta`` are metadata. A span may have ``fragments`` and ``alternatives``, as in doccano's rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from clueval.formats.flat_rows import FlatRow, flat_items, flat_row
from clueval.formats.format import Format
from clueval.formats.json_rows import Row, RowForm, RowReader, read_rows, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.spans.document import Document

SOURCE = "label"


def _documents(row: object, rows: RowReader) -> Iterator[Document]:
    found = rows.mapping(row)
    answer = found.get("answer")
    if answer == "ignore":
        rows.passed_over["ignored"] += 1
        return
    if answer == "reject":
        if rows.options.answers != "accepted":
            rows.refuse(
                "the row has the answer 'reject', which says nothing about the rest of its text",
                "read only accepted rows with --answers accepted",
            )
        rows.passed_over["rejected"] += 1
        return
    if answer not in ("accept", None):
        rows.refuse(f"the answer is {answer!r}", "Prodigy has accept, reject and ignore")
    text = rows.text(found, "text")
    identifier = rows.id(found, "_input_hash")
    items = rows.listed(found.get("spans"), "'spans'")
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
    yield rows.document(identifier, text, layers, _metadata(found))


def _metadata(row: Row) -> dict[str, str]:
    return scalars(row.get("meta"))


def _features(item: dict[str, Any]) -> dict[str, Any]:
    return {"score": item["score"]} if isinstance(item.get("score"), int | float) else {}


def _flat(row: Any, number: int) -> FlatRow | None:
    if type(row) is not dict or row.get("answer") not in ("accept", None):
        return None
    text, items = row.get("text"), row.get("spans", [])
    spans = flat_items(items, text, ("start", "end", "label"))
    return flat_row(row.get("_input_hash"), text, spans, number, row, _set(row))


def _set(row: dict[str, Any]) -> Any:
    """Return the annotator of a row."""
    name = row.get("_annotator_id")
    return row.get("_session_id") if name is None else name


def _sets(row: Any) -> Iterable[str]:
    if isinstance(row, dict) and (name := _set(row)) is not None:
        yield str(name)


def _is_prodigy(beginning: Beginning) -> bool:
    return "_input_hash" in beginning.keys and bool(beginning.keys & {"spans", "answer"})


FORM = RowForm(_documents, _sets, flat=_flat, metadata=_metadata)

FORMAT = Format(
    name="prodigy",
    holds="Prodigy's JSON Lines: texts with `spans` and the `answer` of an annotator",
    signs=(Sign("JSON with `_input_hash`, and `spans` or `answer`", _is_prodigy),),
    read=read_rows(FORM),
    options=frozenset({"layers", "offsets", "answers"}),
    chooses=True,
    rows=FORM,
    default_source=SOURCE,
)
