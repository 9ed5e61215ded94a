"""Bdoc JSON, the documents of ``gatenlp`` and of GATE's plugin Format_Bdoc: text, features, annotation sets.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from clueval.files.limits import MAX_DEPTH, is_deep
from clueval.formats.dialect import Dialect, RowInput
from clueval.formats.recognition import has_sign
from clueval.formats.reference import places


def _plain(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    found = rows.mapping(row)
    if is_deep(found):
        rows.refuse(f"values are nested more than {MAX_DEPTH} deep", "simplify the features")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        rows.refuse(f"half of a surrogate pair, U+{half:04X}", "write the whole character")
    text, unit = found.get("text"), found.get("offset_type")
    if unit not in ("p", "j"):
        rows.refuse(f"the offset_type is {unit!r}", "'p' for code points or 'j' for UTF-16 units")
    sets = rows.mapping(found.get("annotation_sets") or {}, "'annotation_sets'")
    own = rows.mapping(sets.get(rows.set or "") or {"annotations": []}, f"annotation set {rows.set!r}")
    if not isinstance(own.get("annotations"), list):
        rows.refuse(f"annotation set {rows.set!r} has no list of annotations")
    place = places(text, "utf16") if unit == "j" and isinstance(text, str) else lambda position: position
    spans = [_span(each, place, rows) for each in own["annotations"]]
    ids = [span["id"] for span in spans if span["id"] is not None]
    if len({*ids}) < len(ids):
        twice = next(each for number, each in enumerate(ids) if each in ids[:number])
        rows.refuse(f"two annotations of set {rows.set!r} have the id {twice}")
    features = rows.mapping(found.get("features") or {}, "the features of the document")
    yield {
        "name": found.get("name") or None,
        "text": text,
        "annotations": spans,
        "features": {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in features.items()
        },
    }


def _span(item: Any, place: Callable[[int], int | None], rows: RowInput) -> dict[str, Any]:
    """Return an annotation with its positions in code points."""
    annotation = rows.mapping(item, "an annotation")
    number, kind = annotation.get("id"), annotation.get("type")
    whose = f"annotation {number!r} of set {rows.set!r}"
    if number is not None and type(number) is not int:
        rows.refuse(f"{whose} has an id that is not a whole number")
    if not isinstance(kind, str) or not kind:
        rows.refuse(f"{whose} has no type")
    points = {}
    for key in ("start", "end"):
        position = rows.whole(annotation.get(key), key)
        point = place(position)
        if point is None:
            rows.refuse(f"{whose} has the {key} {position}, outside the text or within a character")
        points[key] = point
    features = rows.mapping(annotation.get("features") or {}, f"the features of {whose}")
    return {**points, "type": kind, "id": number, "features": features}


BDOC = Dialect(
    name="bdoc",
    holds="GATE documents as JSON (`gatenlp`): a text and named annotation sets",
    text="text",
    id="name",
    spans="annotations",
    label="type",
    span_id="id",
    features="features",
    metadata="features",
    sets=lambda row: (
        [(name,) for name in row["annotation_sets"]] if has_sign(row, "annotation_sets{}") else ()
    ),
    sources="type",
    ordered=True,
    plain=_plain,
)
