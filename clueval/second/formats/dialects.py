"""The dialects of JSON rows. The first whose sign the first row has is that of a file, and of rows in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

from clueval.core.document import Document, MissingId, Sentence
from clueval.core.tags import OUTSIDE
from clueval.files.errors import FormatError, UsageError
from clueval.second.formats.bdoc import BDOC
from clueval.second.formats.dialect import Dialect, Numbered, has_sign, keys_of
from clueval.second.formats.json_values import file_rows
from clueval.second.formats.label_studio import LABEL_STUDIO
from clueval.second.formats.options import FormatOptions
from clueval.second.formats.row_input import RowInput
from clueval.second.formats.rows import RowReader, read_documents
from clueval.second.formats.span_objects import GROUP, LABELS, MENTION, OFFSETS, OPTIONAL, UNPLACED
from clueval.second.formats.tag_lists import keys_of_tags

# LangExtract, whose classes are labels; its attributes that are texts are features


def _langextract(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with places for its extractions.

    An extraction without an interval is in the text in other words or not at all. Texts are not compared, because
    LangExtract aligns words that differ.
    """
    found = rows.mapping(row)
    if "extractions" not in found:
        rows.refuse("the row has no key 'extractions'", "no extractions are written []")
    placed, lost = [], []
    for item in rows.listed(found["extractions"], "'extractions'"):
        extraction = rows.mapping(item, "an extraction")
        interval = rows.mapping(extraction.get("char_interval") or {}, "the interval of an extraction")
        attributes = extraction.get("attributes")
        features = {
            name: value
            for name, value in (attributes.items() if isinstance(attributes, dict) else ())
            if isinstance(value, str) and name not in (MENTION, OFFSETS, GROUP, OPTIONAL)
        }
        if isinstance(status := extraction.get("alignment_status"), str):
            features["alignment_status"] = status
        span = {"extraction_class": extraction.get("extraction_class"), "features": features}
        if interval.get("start_pos") is None and interval.get("end_pos") is None:
            features[MENTION] = str(extraction.get("extraction_text"))
            lost.append({**span, "start_pos": 0, "end_pos": 0})
        else:
            placed.append({**span, **{key: interval.get(key) for key in ("start_pos", "end_pos")}})
    if rows.options.unplaced and lost:
        found, placed = {**found, UNPLACED: str(len(lost))}, placed + lost
    else:
        rows.passed_over["unaligned extractions"] += len(lost)
    yield {**found, "extractions": placed}


LANGEXTRACT = Dialect(
    name="langextract",
    holds="LangExtract's JSON Lines: texts with `extractions`",
    sign="extractions document_id",
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

# Data sets of personal data


def _ai4privacy(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the spans of its mask or, where the mask has no positions, of ``span_labels``.

    In ``span_labels``, ``O`` is no span, and a number after an underscore is no part of a label. ``mbert_...`` is not
    read.
    """
    found = {key: value for key, value in rows.mapping(row).items() if not key.startswith("mbert_")}
    layers = rows.options.layers
    mask = found.get("privacy_mask")
    if isinstance(mask, str):
        mask = rows.value_in(mask, "'privacy_mask'")
    if "privacy_mask" in found and not isinstance(mask, dict | None):
        mask = found["privacy_mask"] = rows.listed(mask, "'privacy_mask'")
    by_default = "span_labels" if isinstance(mask, dict | None) and "span_labels" in found else "privacy_mask"
    sources = {by_default} if layers is None else {*layers.values()}
    if "span_labels" in sources and "span_labels" in found:
        labels = rows.listed(found["span_labels"], "'span_labels'")
        found["span_labels"] = [_unnumbered(each, rows) for each in labels if not _is_outside(each)]
    if "privacy_mask" in sources:
        is_placed = isinstance(mask, list) and not any(
            isinstance(each, dict) and "start" not in each for each in mask
        )
        if mask and not is_placed:
            rows.refuse(
                "'privacy_mask' has no positions",
                "read texts without positions with input='mentions', if gold has the whole text",
            )
        if isinstance(mask, dict):
            found["privacy_mask"] = []
    elif layers is None:
        found.pop("privacy_mask", None)
    yield found


def _is_outside(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 3 and item[2] == OUTSIDE


def _unnumbered(item: Any, rows: RowInput) -> list[Any]:
    if not isinstance(item, list | tuple) or len(item) != 3:
        rows.refuse("an element of 'span_labels' is not [start, end, label]")
    start, end, label = item
    return [start, end, re.sub(r"_\d+$", "", label) if isinstance(label, str) else label]


AI4PRIVACY = Dialect(
    name="ai4privacy",
    holds="rows of ai4privacy's data sets: texts with a `privacy_mask`, or with `span_labels`",
    sign="privacy_mask; unmasked_text span_labels",
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
    found = rows.mapping(row)
    uid, locale = found.get("uid"), found.get("locale")
    named = {"uid": f"{uid}/{locale}"} if isinstance(uid, str | int) and isinstance(locale, str) else {}
    yield {**found, **named}


NEMOTRON = Dialect(
    name="nemotron",
    holds="rows of Nemotron-PII: texts with `spans`, and `text_tagged`",
    sign="text_tagged spans",
    text="text",
    id="uid|id",
    spans="spans",
    reference="text",
    metadata="",
    rest=True,
    not_metadata="text_tagged",
    plain=_nemotron,
)

# Answers of services

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
    sign="full_text spans|!tokens",
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
    sign=f"text {'|'.join(f'{key}[]' for key in _RESULTS.split('|'))} !label !labels !entities !annotations",
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
    sign="lists of results with `entity_type`",
    told=lambda row: (
        isinstance(row, list | tuple) and all(has_sign(each, "entity_type !text !full_text") for each in row)
    ),
    spans=_RESULTS,
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
    sign="File Entities|ErrorCode",
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

# Texts with spans

_LONGEST_GAP = 10_000
"""The most characters between two tokens of a row without text."""


def _prodigy(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row unless its annotator has ignored or rejected it; a row without text has that of its tokens."""
    found = rows.mapping(row)
    answer = found.get("answer")
    if answer == "ignore" or (answer == "reject" and rows.options.answers == "accepted"):
        rows.passed_over["ignored" if answer == "ignore" else "rejected"] += 1
        return
    if answer == "reject":
        rows.refuse(
            "the row has the answer 'reject', which says nothing about the rest of its text",
            "read only accepted rows with answers='accepted'",
        )
    if answer not in ("accept", None):
        rows.refuse(f"the answer is {answer!r}", "Prodigy has accept, reject and ignore")
    if "spans" not in found and found.keys() & {"label", "options"}:
        rows.refuse("the row classifies its text, which has no spans")
    if "text" not in found and "tokens" in found:
        found = {**found, "text": _text_of_tokens(rows.listed(found["tokens"], "'tokens'"), rows)}
    yield found


def _text_of_tokens(tokens: list[Any], rows: RowInput) -> str:
    text = ""
    for item in tokens:
        token = rows.mapping(item, "a token")
        start, end = (rows.whole(token.get(key), key) for key in ("start", "end"))
        own = token.get("text")
        if not isinstance(own, str):
            rows.refuse("the text of a token is not a text")
        if start < len(text) or end - start != len(own):
            rows.refuse(
                f"the token at {start} to {end} has {len(own)} characters, or overlaps the one before it"
            )
        if start - len(text) > _LONGEST_GAP:
            rows.refuse(f"there are {start - len(text):,} characters before the token at {start}")
        text = text.ljust(start) + own
    return text


PRODIGY = Dialect(
    name="prodigy",
    holds="Prodigy's JSON Lines: texts with `spans` and the `answer` of an annotator",
    sign="_input_hash spans|answer; text spans[] !text_tagged",
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
    sign="text|data label[]|labels[]|entities[]|annotations[]",
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


def _spacy(numbered: Iterator[Numbered], rows: RowInput) -> Iterator[Numbered]:
    """Yield an object for each row. An object with ``classes`` has all pairs; null is a text without annotation."""
    for number, row in numbered:
        is_whole = isinstance(row, dict) and "classes" in row and isinstance(row.get("annotations"), list)
        for rows.number, given in enumerate(row["annotations"], 1) if is_whole else ((number, row),):
            if is_whole and given is None:
                rows.passed_over["unannotated"] += 1
                continue
            if isinstance(given, list | tuple):
                if len(given) != 2 or not isinstance(given[0], str) or not isinstance(given[1], dict):
                    rows.refuse("a row is not [text, {'entities': ...}]")
                given = {"text": given[0], **given[1]}
            groups = given.get("spans") if isinstance(given, dict) else None
            for key, group in groups.items() if isinstance(groups, dict) else ():
                rows.offered |= dict.fromkeys(("entities", "ents", f"spans.{key}"))
                if rows.options.layers is None:
                    rows.passed_over[f"spans of spans.{key}"] += len(group) if isinstance(group, list) else 0
            if rows.options.layers is not None and isinstance(given, dict):
                entities = given.get("entities", given.get("ents"))
                given = {**given, "entities": entities, "ents": entities}
            yield rows.number, given


def _written_for_spacy(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the layers after the first as groups of spans, as `Doc.to_json` has them."""
    layers = {
        key: [{name: span[name] for name in ("start", "end", "label")} for span in value]
        for key, value in row.items()
        if isinstance(value, list)
    }
    ents, *_ = layers.values()
    kept = {key: value for key, value in row.items() if key not in layers}
    meta = {"meta": kept.pop("meta")} if "meta" in kept else {}
    groups = {"spans": dict(list(layers.items())[1:])} if len(layers) > 1 else {}
    return {**kept, "ents": ents, **groups, **meta}


SPACY = Dialect(
    name="spacy-json",
    holds='spaCy\'s JSON: `[text, {"entities"}]`, `Doc.to_json`',
    sign='JSON `[text, {"entities"}]`, or with `text` and `ents`, or `classes` and `annotations`',
    told=lambda row: (
        has_sign(row, "text ents; classes annotations")
        or (
            isinstance(row, list | tuple)
            and len(row) == 2
            and isinstance(row[0], str)
            and isinstance(row[1], dict)
        )
    ),
    text="text",
    spans="ents|entities",
    span_id="id",
    reference="text",
    metadata="meta|_",
    sources="",
    source_is="key",
    optional=True,
    values=_spacy,
    written=_written_for_spacy,
)


def _paragraphs(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with its tokens, their tags and its sentences; ``-`` and null are unknown tags, read as O."""
    found = rows.mapping(row)
    tokens: list[Any] = []
    tags: list[Any] = []
    sentences: list[Sentence] = []
    for paragraph in rows.listed(found["paragraphs"], "'paragraphs'"):
        for sentence in rows.listed(rows.mapping(paragraph, "a paragraph").get("sentences"), "'sentences'"):
            first = len(tokens)
            for token in rows.listed(rows.mapping(sentence, "a sentence").get("tokens"), "'tokens'"):
                tokens.append(rows.mapping(token, "a token").get("orth"))
                tag = token.get("ner")
                rows.passed_over["unknown tokens"] += tag in (None, "-")
                tags.append(OUTSIDE if tag in (None, "-") else tag)
            if len(tokens) > first:
                sentences.append(Sentence(first, len(tokens)))
    yield {"id": found.get("id"), "tokens": tokens, "entities": tags, "sentences": sentences}


SPACY_2 = Dialect(
    name="spacy-json",
    holds="the training format of spaCy 2: `paragraphs` of tokens with BILUO tags",
    sign="paragraphs",
    tokens="tokens",
    tags="entities",
    sources="",
    source_is="key",
    plain=_paragraphs,
)


def _tab(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the mentions of the annotator that is read."""
    found = rows.mapping(row)
    annotations = rows.mapping(found.get("annotations"), "'annotations'")
    own = rows.mapping(annotations.get(rows.set or "", {}), "an annotation")
    mentions = [
        rows.mapping(each, "a mention")
        for each in rows.listed(own.get("entity_mentions"), "'entity_mentions'")
    ]
    features = ("entity_id", "identifier_type", "confidential_status")
    yield {
        **found,
        "annotations": [
            {**each, "features": {key: each[key] for key in features if isinstance(each.get(key), str)}}
            for each in mentions
        ],
    }


TAB = Dialect(
    name="tab",
    holds="the JSON of the Text Anonymization Benchmark, with annotators",
    sign="annotations{}",
    text="text",
    id="doc_id|id",
    spans="annotations",
    start="start_offset",
    end="end_offset",
    span_id="entity_mention_id",
    reference="span_text",
    features="features",
    metadata="meta|dataset_type",
    sets=lambda row: [(str(name),) for name in row["annotations"]] if has_sign(row, "annotations{}") else (),
    sources="entity_type|identifier_type|confidential_status",
    source_is="label",
    ordered=True,  # its evaluation takes the type of an entity from its first mention
    plain=_tab,
)


def _are_predictions(row: Any) -> bool:
    return isinstance(row, dict) and all(
        isinstance(places, list)
        and all(isinstance(place, list) and len(place) == 2 and isinstance(place[0], int) for place in places)
        for places in row.values()
    )


TAB_PREDICTIONS = Dialect(
    name="tab",
    holds="predictions for the Text Anonymization Benchmark: the positions in each document, without labels",
    sign="JSON `{id: [[start, end]]}`; `{}`",
    told=_are_predictions,
    id="doc_id",
    spans="mentions",
    sources="entity_type|identifier_type|confidential_status",
    without_text=True,
    plain=lambda row, rows: (
        {"doc_id": name, "mentions": rows.listed(places, f"the value of {name!r}")}
        for name, places in rows.mapping(row).items()
    ),
)

# Tokens with spans or tags

GLINER = Dialect(
    name="gliner",
    holds="GLiNER's training data: rows of `tokenized_text` and `ner`, whose ends are inclusive",
    sign="tokenized_text",
    tokens="tokenized_text",
    spans="ner",
    start="first",
    end_inclusive="last",
    metadata="",
    rest=True,
    passed_over="relations",
    lists=True,
    advice="GLiNER's ends are inclusive; the last token of a span has this number",
)

SPERT = Dialect(
    name="spert",
    holds="SpERT's JSON: rows of `tokens` and `entities`, whose ends are exclusive",
    sign="tokens entities[].start !text entities[].!text",
    tokens="tokens",
    id="orig_id|id",
    spans="entities",
    label="type",
    sources="type",
    metadata="",
    rest=True,
    passed_over="relations",
)


def _w2ner(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the ranges of each span, given as the number of each of its tokens."""
    found = rows.mapping(row)
    length = len(rows.listed(found.get("sentence"), "'sentence'"))
    spans = []
    for item in rows.listed(found.get("ner"), "'ner'"):
        index = rows.listed(rows.mapping(item, "a span").get("index"), "'index'")
        places = sorted(rows.whole(place, "index") for place in index)
        if not places or len({*places}) < len(places) or places[0] < 0 or places[-1] >= length:
            rows.refuse(
                f"the index {places[:20]} of a span is not one of different tokens", f"from 0 to {length - 1}"
            )
        span = {"start": places[0], "end": places[-1] + 1, "type": item.get("type")}
        if places[-1] - places[0] >= len(places):
            gaps = [place for place in range(1, len(places)) if places[place - 1] < places[place] - 1]
            span["fragments"] = [
                (places[first], places[last - 1] + 1) for first, last in pairwise((0, *gaps, len(places)))
            ]
        spans.append(span)
    yield {**found, "ner": spans}


def _written_for_w2ner(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the number of each token of a span in place of its ranges."""
    spans = [
        {
            "index": [
                place
                for start, end in span.get("fragments") or ((span["start"], span["end"]),)
                for place in range(start, end)
            ],
            "type": span["type"],
        }
        for span in row["ner"]
    ]
    return {**row, "ner": spans}


W2NER = Dialect(
    name="w2ner",
    holds="W2NER's JSON: rows of a `sentence` of tokens and `ner`, spans as the `index` of each of their tokens",
    sign="sentence ner",
    tokens="sentence",
    id="id|doc_id",
    spans="ner",
    label="type",
    sources="type",
    metadata="",
    rest=True,
    not_metadata="word",
    plain=_w2ner,
    written=_written_for_w2ner,
    gaps=True,
)


def _written_with_tags(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its metadata beside its tags, as data sets of Hugging Face have them."""
    meta = row.get("meta", {})
    taken = {"tokens", "words", "id", "meta", "labels", "ner"}
    own = {key: value for key, value in meta.items() if key not in taken and not key.endswith("tags")}
    others = {key: value for key, value in meta.items() if key not in own}
    kept = {key: value for key, value in row.items() if key != "meta"}
    return {**kept, **own, **({"meta": others} if others else {})}


TOKEN_ROWS = Dialect(
    name="token-rows",
    holds="rows of `tokens` and tags, JSON Lines or an array, as data sets of Hugging Face have them",
    sign="JSON with `tokens` or `words`, and `ner`, `labels` or a key that ends with `tags`",
    told=lambda row: has_sign(row, "tokens|words") and bool(keys_of_tags(row)),
    tokens="tokens|words",
    tags="*",
    rest=True,
    sources="",
    source_is="key",
    written=_written_with_tags,
)

DIALECTS = (
    BDOC,
    *(LABEL_STUDIO, LANGEXTRACT, AI4PRIVACY, NEMOTRON, PRESIDIO_SAMPLES, PRESIDIO_RESULTS, PRESIDIO_ANSWERS),
    *(GLINER, SPERT, COMPREHEND, PRODIGY, SPACY_2, SPACY, W2NER, TOKEN_ROWS, DOCCANO, TAB, TAB_PREDICTIONS),
)
"""All dialects, in the order in which their signs are tried."""

_UNREAD = (
    (
        "entities[].confidenceScore; confidenceScore",
        "has entities of Azure, which counts positions in text elements and not in characters",
        'ask Azure for positions in code points (stringIndexType), and write {"text": ..., "spans": [...]}',
    ),
    (
        "entity_group start",
        "has spans without texts, as a Hugging Face pipeline returns them",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
    (
        "entity start",
        "has tokens without texts, as a Hugging Face pipeline returns them",
        "call it with aggregation_strategy='simple', and write a row for each text, "
        '{"text": ..., "entities": [...]}',
    ),
    (
        "entities !text !tokens",
        "has entities without texts",
        "add the text of each row, or input='mentions' if the entities are the answers of a language model",
    ),
    (
        "start end",
        "has spans without texts",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
)
"""Signs of rows that are not read: what is wrong, and what to do."""


def dialect_of(first: Any, *, name: str | None = None, file: str | None = None) -> Dialect:
    """Return the dialect of rows, given the first one that is not an empty list, or None if there is no such row.

    `name` is that of the format if it is known. Raises `FormatError` for rows that no dialect has.

    >>> dialect_of({"text": "Ada", "label": [[0, 3, "PER"]]}).name
    'doccano'
    """
    known = [dialect for dialect in DIALECTS if name in (None, dialect.name)]
    if not known:
        names = ", ".join(dict.fromkeys(dialect.name for dialect in DIALECTS))
        raise UsageError(f"documents of the format {name!r} are not rows", advice=f"one of {names}")
    dialect = next((dialect for dialect in known if dialect.is_row(first)), None)
    if dialect is not None:
        return dialect
    if name is not None:
        return next((dialect for dialect in known if _has_spans(first, dialect)), known[0])
    return DOCCANO if first is None else _unrecognised(first, file)


def first_row(blocks: Callable[[], Iterable[bytes]], file: str) -> Any:
    """Return the first row of a file that is no empty list, or the last one; None if it has no rows."""
    row = None
    for _, row in file_rows(blocks, file):
        if row != []:
            break
    return row


def _has_spans(row: Any, dialect: Dialect) -> bool:
    return isinstance(row, dict) and any(key in row for key in keys_of(dialect.spans))


def _unrecognised(row: Any, file: str | None) -> Dialect:
    """Raise the error for a row that no dialect has."""
    first = row[0] if isinstance(row, list | tuple) and row else row
    for sign, problem, advice in _UNREAD:
        if has_sign(first, sign):
            raise FormatError(problem, file=file, line=1, advice=advice)
    raise FormatError(
        "the format is not recognised: no format has such keys",
        file=file,
        line=1,
        advice="name it with input=..., or its keys with row='text=...,spans=...,label=...,start=...,end=...'; "
        "'clueval formats' shows how each is recognised",
    )


def read_file(
    blocks: Callable[[], Iterable[bytes]],
    options: FormatOptions,
    *,
    file: str,
    name: str | None = None,
    dialect: Dialect | None = None,
) -> Iterator[Document]:
    """Yield the documents of a JSON file; `blocks` returns its content from the beginning. Otherwise as `read_rows`."""
    rows = file_rows(blocks, file, empty_is_row=name == PRESIDIO_ANSWERS.name)
    return read_rows(rows, options, name=name, dialect=dialect, file=file)


def read_rows(
    rows: Iterable[Numbered],
    options: FormatOptions,
    *,
    name: str | None = None,
    dialect: Dialect | None = None,
    file: str | None = None,
) -> Iterator[Document]:
    """Yield the documents of numbered rows, of a file or in memory.

    The dialect is the one that is given, or else that of the first row, or of the format `name`. Raises the errors of
    `dialect_of` and of `clueval.second.formats.rows.documents_of`.
    """
    numbered = iter(rows)
    beginning: list[Numbered] = []
    for each in numbered:
        beginning.append(each)
        if each[1] != []:
            break
    if dialect is None:
        dialect = dialect_of(beginning[-1][1] if beginning else None, name=name, file=file)
    return read_documents(chain(beginning, numbered), RowReader(dialect, options, file))
