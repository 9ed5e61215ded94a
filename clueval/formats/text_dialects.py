"""Dialects of programs, services and data sets whose rows have a text and its spans."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from clueval.core.document import GROUP, MENTION, OFFSETS, OPTIONAL, UNPLACED, MissingId
from clueval.core.tags import OUTSIDE
from clueval.files.errors import UsageError, with_noun
from clueval.files.opening import MAX_DEPTH
from clueval.formats.dialect import Dialect, RowInput, names_under
from clueval.formats.input_file import Numbered
from clueval.formats.span_forms import LABELS

# Programs for annotators

_LONGEST_GAP = 10_000
"""The most characters between two tokens of a row without text."""


def _prodigy(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row unless its annotator has ignored or rejected it; a row without text has that of its tokens."""
    row = rows.mapping(row)
    answer = row.get("answer")
    if answer == "ignore" or (answer == "reject" and rows.options.answers == "accepted"):
        rows.passed_over["ignored" if answer == "ignore" else "rejected"] += 1
        return
    if answer == "reject":
        problem = "the row has the answer 'reject', which says nothing about the rest of its text"
        rows.refuse(problem, "read only accepted rows with answers='accepted'")
    if answer not in ("accept", None):
        rows.refuse(f"the answer is {answer!r}", "Prodigy has accept, reject and ignore")
    if "spans" not in row and row.keys() & {"label", "options"}:
        rows.refuse("the row classifies its text, which has no spans")
    if "text" in row or "tokens" not in row:
        yield row
        return
    text = ""
    for token in rows.objects(row["tokens"], "'tokens'", "a token"):
        start, end = (rows.whole(token.get(key), key) for key in ("start", "end"))
        token_text = token.get("text")
        if not isinstance(token_text, str):
            rows.refuse("the text of a token is not a text")
        if start < len(text) or end - start != len(token_text):
            where = f"the token at {start} to {end}"
            rows.refuse(
                f"{where} has {with_noun(len(token_text), 'characters')}, or overlaps the one before it"
            )
        if start - len(text) > _LONGEST_GAP:
            rows.refuse(f"there are {start - len(text):,} characters before the token at {start}")
        text = text.ljust(start) + token_text
    yield {**row, "text": text}


PRODIGY = Dialect(
    name="prodigy",
    holds="Prodigy's JSON Lines: texts with `spans` and the `answer` of an annotator",
    takes="answers",
    text="text",
    id="_input_hash|id",
    spans="spans",
    reference="text",
    features="*",
    noted="id|token_start|token_end|source|pattern|input_hash|answer|type",
    annotator="_annotator_id|_session_id",
    passed_over="relations",
    optional=True,
    plain=_prodigy,
    written=lambda row: {**row, "answer": "accept"},
)

DOCCANO = Dialect(
    name="doccano",
    holds="doccano's JSON Lines: texts with spans as `[start, end, label]` or objects",
    text="text|data",
    spans="label|labels|entities|annotations",
    start="start_offset|start",
    end="end_offset|end",
    label="|".join(LABELS),
    span_id="id",
    reference="text",
    features="*",
    noted="created_at|updated_at|document|manual|prob|word|index",
    rest=True,
    not_metadata="Comments|comments|annotation_approver",
    annotator="username|user",
    of_span="username|user",
    passed_over="relations",
    lists=True,
)


# LangExtract, whose classes are labels; its attributes that are texts are features


_USED_FEATURES = (MENTION, OFFSETS, GROUP, OPTIONAL)


def _langextract(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with places for its extractions.

    An extraction without an interval is in the text in other words or not at all. Texts are not compared, because
    LangExtract aligns words that differ.
    """
    row = rows.mapping(row)
    if "extractions" not in row:
        rows.refuse("the row has no key 'extractions'", "no extractions are written []")
    placed, lost = [], []
    for extraction in rows.objects(row["extractions"], "'extractions'", "an extraction"):
        interval = rows.mapping(extraction.get("char_interval") or {}, "the interval of an extraction")
        attributes, status = extraction.get("attributes"), extraction.get("alignment_status")
        features = {}
        if isinstance(attributes, dict):
            texts = {name: value for name, value in attributes.items() if isinstance(value, str)}
            features = {name: value for name, value in texts.items() if name not in _USED_FEATURES}
        if isinstance(status, str):
            features["alignment_status"] = status
        start, end = interval.get("start_pos"), interval.get("end_pos")
        span = {
            "extraction_class": extraction.get("extraction_class"),
            "features": features,
            "start_pos": start,
            "end_pos": end,
        }
        if start is None and end is None:
            features[MENTION] = str(extraction.get("extraction_text"))
            lost.append({**span, "start_pos": 0, "end_pos": 0})
        else:
            placed.append(span)
    if rows.options.unplaced and lost:
        row, placed = {**row, UNPLACED: str(len(lost))}, placed + lost
    else:
        rows.passed_over["unaligned extractions"] += len(lost)
    yield {**row, "extractions": placed}


LANGEXTRACT = Dialect(
    name="langextract",
    holds="LangExtract's JSON Lines: texts with `extractions`",
    text="text",
    id="document_id",
    spans="extractions",
    start="start_pos",
    end="end_pos",
    label="extraction_class",
    sources="extraction_class",
    features="features",
    metadata="",
    rest=True,
    plain=_langextract,
)

# Services that find personal data and entities: Presidio and Amazon Comprehend

_RESULTS = "results|recognizer_results|analyzer_results"


def _presidio(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the features of its results; explanations are passed over."""
    row = {"results": row} if isinstance(row, list | tuple) else dict(rows.mapping(row))
    key = next((key for key in _RESULTS.split("|") if key in row), None)
    if key is not None:
        results = []
        for result in rows.objects(row[key], repr(key), "a span"):
            rows.passed_over["explanations"] += result.get("analysis_explanation") is not None
            features, metadata = _score(result.get("score")), result.get("recognition_metadata")
            if isinstance(metadata, dict) and isinstance(metadata.get("recognizer_name"), str):
                features["recognizer"] = metadata["recognizer_name"]
            results.append({**result, "features": features})
        row[key] = results
    yield row


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
    array=True,
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
    lines = sorted(numbered, key=lambda pair: _line(pair[1]))
    for due, (rows.number, row) in enumerate(lines):
        row, line = rows.mapping(row), _line(row)
        if "ErrorCode" in row:
            rows.refuse("Comprehend has no results for the text", "see ErrorCode and ErrorMessage of the row")
        if "Entities" not in row:
            rows.refuse("the row has no key 'Entities'", "no entities are written []")
        if line != due:
            problem = f"'Line' is {line if line >= 0 else 'no number'} where line {due} is expected"
            rows.refuse(problem, "each line of the texts needs one row")
        items = rows.objects(row["Entities"], "'Entities'", "a span")
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


# Data sets of personal data


def _ai4privacy(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the spans of its mask or, where the mask has no positions, of ``span_labels``.

    In ``span_labels``, ``O`` is no span, and a number after an underscore is no part of a label. ``mbert_...`` is not
    read.
    """
    row = {key: value for key, value in rows.mapping(row).items() if not key.startswith("mbert_")}
    layers, mask = rows.options.layers, row.get("privacy_mask")
    if isinstance(mask, str):
        mask = rows.value_in(mask, "'privacy_mask'")
    if "privacy_mask" in row and not isinstance(mask, dict | None):
        mask = row["privacy_mask"] = rows.listed(mask, "'privacy_mask'")
    by_default = "span_labels" if isinstance(mask, dict | None) and "span_labels" in row else "privacy_mask"
    sources = {by_default} if layers is None else {*layers.values()}
    if "span_labels" in sources and "span_labels" in row:
        spans = []
        for item in rows.listed(row["span_labels"], "'span_labels'"):
            if not isinstance(item, list | tuple) or len(item) != 3:
                rows.refuse("an element of 'span_labels' is not [start, end, label]")
            start, end, label = item
            if label != OUTSIDE:
                spans.append([start, end, re.sub(r"_\d+$", "", label) if isinstance(label, str) else label])
        row["span_labels"] = spans
    if "privacy_mask" in sources:
        is_placed = isinstance(mask, list) and not any(
            isinstance(item, dict) and "start" not in item for item in mask
        )
        if mask and not is_placed:
            advice = "read texts without positions with input='mentions', if gold has the whole text"
            rows.refuse("'privacy_mask' has no positions", advice)
        if isinstance(mask, dict):
            row["privacy_mask"] = []
    elif layers is None:
        row.pop("privacy_mask", None)
    yield row


AI4PRIVACY = Dialect(
    name="ai4privacy",
    holds="rows of ai4privacy's data sets: texts with a `privacy_mask`, or with `span_labels`",
    text="source_text|unmasked_text|text",
    id="id|uid",
    spans="privacy_mask|span_labels",
    reference="value",
    sources="privacy_mask|span_labels",
    source_is="key",
    metadata="",
    rest=True,
    not_metadata="target_text|masked_text",
    plain=_ai4privacy,
)


def _nemotron(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with an id that has its locale, too, because a ``uid`` may occur in each."""
    row = rows.mapping(row)
    uid, locale = row.get("uid"), row.get("locale")
    has_both = isinstance(uid, str | int) and isinstance(locale, str)
    yield {**row, "uid": f"{uid}/{locale}"} if has_both else row


NEMOTRON = Dialect(
    name="nemotron",
    holds="rows of Nemotron-PII: texts with `spans`, and `text_tagged`",
    text="text",
    id="uid|id",
    spans="spans",
    reference="text",
    metadata="",
    rest=True,
    not_metadata="text_tagged",
    plain=_nemotron,
)


# The Text Anonymization Benchmark


def _tab(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the mentions of the annotator that is read."""
    row = rows.mapping(row)
    annotations = rows.mapping(row.get("annotations"), "'annotations'")
    annotation = rows.mapping(annotations.get(rows.set or "", {}), "an annotation")
    mentions = rows.objects(annotation.get("entity_mentions"), "'entity_mentions'", "a mention")
    yield {**row, "annotations": mentions}


TAB = Dialect(
    name="tab",
    holds="the JSON of the Text Anonymization Benchmark, with annotators",
    text="text",
    id="doc_id|id",
    spans="annotations",
    start="start_offset",
    end="end_offset",
    span_id="entity_mention_id",
    reference="span_text",
    features="entity_id|identifier_type|confidential_status",
    metadata="meta|dataset_type",
    sets=partial(names_under, "annotations"),
    sources="entity_type|identifier_type|confidential_status",
    source_is="label",
    ordered=True,  # its evaluation takes the type of an entity from its first mention
    plain=_tab,
)


def _joined(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return one object with the positions of each document. Raises `UsageError` for two with one id."""
    positions: dict[str, Any] = {}
    for row in rows:
        if row["doc_id"] in positions:
            raise UsageError(
                "two documents have this id, and the format tab has one entry for each id",
                document=row["doc_id"],
            )
        positions[row["doc_id"]] = [[span["start"], span["end"]] for span in row["mentions"]]
    return positions


TAB_PREDICTIONS = Dialect(
    name="tab",
    holds="predictions for the Text Anonymization Benchmark: the positions in each document, without labels",
    id="doc_id",
    spans="mentions",
    sources="entity_type|identifier_type|confidential_status",
    without_text=True,
    plain=lambda row, rows: (
        {"doc_id": name, "mentions": rows.listed(places, f"the value of {name!r}")}
        for name, places in rows.mapping(row).items()
    ),
    joined=_joined,
)


# Bdoc, the documents of ``gatenlp`` and of GATE's plugin Format_Bdoc: text, features, annotation sets


def _is_deep(value: object) -> bool:
    """Return whether lists and objects are nested more than `MAX_DEPTH` deep.

    >>> _is_deep([[1]]), _is_deep({"a": [{}]})
    (False, False)
    """
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [container for container in level if isinstance(container, dict | list)]
        if not level:
            return False
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
        ]
    return True


def _bdoc(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    row = rows.mapping(row)
    if _is_deep(row):
        rows.refuse(f"values are nested more than {MAX_DEPTH} deep", "simplify the features")
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        rows.refuse(f"half of a surrogate pair, U+{half:04X}", "write the whole character")
    text, unit = row.get("text"), row.get("offset_type")
    if unit not in ("p", "j"):
        rows.refuse(f"the offset_type is {unit!r}", "'p' for code points or 'j' for UTF-16 units")
    sets = rows.mapping(row.get("annotation_sets") or {}, "'annotation_sets'")
    annotation_set = rows.mapping(
        sets.get(rows.set or "") or {"annotations": []}, f"annotation set {rows.set!r}"
    )
    annotations = annotation_set.get("annotations")
    if not isinstance(annotations, list):
        rows.refuse(f"annotation set {rows.set!r} has no list of annotations")
    place: Callable[[int], int | None] = int
    if unit == "j" and isinstance(text, str):
        from clueval.formats.reference import places  # most positions count code points

        place = places(text, "utf16")
    items = rows.objects(annotations, "'annotations'", "an annotation")
    spans = [_annotation_of_bdoc(item, place, rows) for item in items]
    ids = [span["id"] for span in spans if span["id"] is not None]
    if len({*ids}) < len(ids):
        repeated_id = next(identifier for number, identifier in enumerate(ids) if identifier in ids[:number])
        rows.refuse(f"two annotations of set {rows.set!r} have the id {repeated_id}")
    features = rows.mapping(row.get("features") or {}, "the features of the document")
    yield {
        "name": row.get("name") or None,
        "text": text,
        "annotations": spans,
        "features": {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in features.items()
        },
    }


def _annotation_of_bdoc(
    annotation: dict[str, Any], place: Callable[[int], int | None], rows: RowInput
) -> dict[str, Any]:
    """Return an annotation with its positions in code points."""
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
    sets=partial(names_under, "annotation_sets"),
    sources="type",
    ordered=True,
    plain=_bdoc,
)
