"""Label Studio's JSON: tasks with the annotations of annotators and the predictions of models; also JSON_MIN.

    {"id": 1, "data": {"text": "Frida"}, "annotations": [{"completed_by": 1, "result": [{"id": "a", "type":
       "labels", "from_name": "label", "value": {"start": 0, "end": 5, "text": "Frida", "labels": ["PER"]}}]}]}

Annotation sets are the annotators (id or e-mail), ``ground-truth`` and ``prediction:MODEL``. A region with several
labels is a span for each. The sources of layers are the names of the controls (``from_name``). Choices, ratings and
texts for a region are features of its spans, those for the whole text are metadata. Cancelled annotations, drafts and
relations are passed over, and so are tasks without annotation (``unannotated``). The text is the string in ``data``
that is called ``text``, the only one, or the one that ``--text-key`` names; other values are metadata. Positions are
code points; if only UTF-16 units fit the texts of the regions, as in older files, the positions are such units. In
JSON_MIN each row is one annotation, whose spans are lists under the names of their controls.

What is written is an array of tasks, each with one annotation that is ground truth, or one prediction. Each layer is a
control of the same name. Label Studio needs a configuration that names the controls and labels (`configuration`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.files.errors import UsageError
from clueval.formats.flat_rows import FlatSpans, ReadRow, flat_spans
from clueval.formats.format import ACROSS, Uses, Writer, without_metadata
from clueval.formats.json_rows import Row, RowForm, RowReader, json_lines, row_format, scalars
from clueval.formats.recognition import Beginning, Sign
from clueval.formats.reference import FileMention, fits
from clueval.formats.xml_text import quoted
from clueval.spans.document import Document
from clueval.spans.limits import require_short_texts

GROUND_TRUTH, PREDICTION = "ground-truth", "prediction:"
_MIN_KEYS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_KINDS = ("annotations", "completions")
_WRITTEN_AS = ("annotations", "predictions")
_REGION = frozenset({"start", "end", "text", "labels"})


def _rows(row: object, rows: RowReader) -> Iterator[ReadRow]:
    task = rows.mapping(row)
    if "data" not in task and "annotator" in task:
        yield _minimal(task, rows)
        return
    rows.passed_over["drafts"] += sum(_is_in(rows.set, draft) for draft in _objects(task.get("drafts")))
    chosen = [annotation for names, annotation in _annotations(task) if rows.set is None or rows.set in names]
    own = [annotation for annotation in chosen if not _is_cancelled(annotation)]
    rows.passed_over["cancelled"] += len(chosen) - len(own)
    if not own:
        rows.passed_over["unannotated"] += not chosen
        return
    if len(own) > 1:
        rows.refuse(f"the set {rows.set!r} has {len(own)} annotations of this task", "keep one of them")
    results = rows.listed(own[0].get("result"), "'result'")
    for each in results:
        if not isinstance(each, dict):
            rows.mapping(each, "a region")
    data = rows.mapping(task.get("data"), "'data'")
    key = _text_key(data, rows)
    yield _row(rows.id(task, "id"), data, key, results, rows)


def _is_in(name: str | None, draft: Mapping[str, Any]) -> bool:
    """Return whether a draft belongs to a set; one without annotator belongs to every annotator."""
    owner = next((draft[key] for key in ("completed_by", "user", "created_username") if draft.get(key)), None)
    if owner is None or name is None:
        return name is None or not name.startswith(PREDICTION)
    return name in _annotator(owner)


def _minimal(row: Mapping[str, Any], rows: RowReader) -> ReadRow:
    """Return a row of JSON_MIN."""
    results: list[dict[str, Any]] = []
    controls = [key for key, value in row.items() if isinstance(value, list) and _has_positions(value)]
    for key in controls:
        results += [{"from_name": key, "value": value} for value in row[key]]
    data = {key: value for key, value in row.items() if key not in (*_MIN_KEYS, *controls)}
    empty = {key: value for key, value in data.items() if not isinstance(value, list)}
    return _row(rows.id(row, "id"), empty, _text_key(empty, rows), results, rows)


def _has_positions(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, dict) and "start" in item for item in value)


def _row(
    identifier: str, data: Mapping[str, Any], key: str, results: list[dict[str, Any]], rows: RowReader
) -> ReadRow:
    return ReadRow(
        identifier,
        partial(_document, identifier, data, key, results, rows),
        partial(_flat, data[key], results),
        partial(scalars, data, (key,)),
    )


def _flat(text: str, results: list[dict[str, Any]]) -> FlatSpans | None:
    """Return the regions, each with one label of the same control, as flat spans."""
    control = results[0].get("from_name") if results else None
    spans = [_flat_region(region, control, text) for region in results]
    return None if None in spans else flat_spans(text, spans)


def _flat_region(region: Mapping[str, Any], control: Any, text: str) -> tuple[int, int, Any] | None:
    """Return the span of a region that has one label of this control and nothing unusual."""
    value = region.get("value")
    if type(value) is not dict or region.get("type") != "labels" or not _REGION.issuperset(value):
        return None
    start, end, labels, own = value.get("start"), value.get("end"), value.get("labels"), value.get("text")
    if type(labels) is not list or len(labels) != 1 or region.get("from_name") != control:
        return None
    if type(start) is not int or type(end) is not int or own not in (None, text[start:end]):
        return None
    return start, end, labels[0]


def _document(
    identifier: str, data: Mapping[str, Any], key: str, results: list[dict[str, Any]], rows: RowReader
) -> Document:
    text: str = data[key]
    regions, features, metadata = _sorted_out(results, rows)
    controls = dict.fromkeys(str(each.get("from_name", DEFAULT_LAYER)) for each in regions)
    layers: dict[str, list[Span]] = {}
    for layer, source in _sources(rows, list(controls)).items():
        spans: list[Span] = []
        references: list[str | None] = []
        for each in regions:
            if source is not None and str(each.get("from_name", DEFAULT_LAYER)) != source:
                continue
            value = each["value"]
            own = features.get(_place(each), {}) | _score(each)
            for label in rows.listed(value.get("labels"), "'labels'") or [None]:
                identity = each.get("id")
                name = identity if isinstance(identity, str) else None
                spans.append(rows.span(value, ("start", "end"), layer, label, features=own, id=name))
                references.append(value["text"] if isinstance(value.get("text"), str) else None)
        layers[layer] = _in_unit_that_fits(rows, text, spans, references, identifier)
    return rows.document(identifier, text, layers, scalars(data, (key,)) | metadata)


def _sorted_out(
    results: list[dict[str, Any]], rows: RowReader
) -> tuple[list[dict[str, Any]], dict[tuple[Any, Any], dict[str, Any]], dict[str, str]]:
    """Return the regions with labels, the choices for regions by their place, and the choices for the text."""
    regions: list[dict[str, Any]] = []
    features: dict[tuple[Any, Any], dict[str, Any]] = {}
    metadata: dict[str, str] = {}
    for each in results:
        if each.get("type") == "relation":
            rows.passed_over["relations"] += 1
            continue
        value = rows.mapping(each.get("value"), "the value of a region")
        if each.get("type") == "hypertextlabels" or "startOffset" in value or "hypertextlabels" in value:
            rows.refuse("a region of HTML, whose positions belong to elements", "export plain text")
        name = str(each.get("from_name", ""))
        if "start" not in value:
            given = value.get("text") if "text" in value else _given(value)
            if given is not None:
                metadata[name] = _joined(given)
        elif "labels" not in value and (given := _given(value)) is not None:
            features.setdefault(_place(each), {})[name] = _joined(given)
        else:
            rows.offered[name or DEFAULT_LAYER] = None
            regions.append(each)
    return regions, features, metadata


def _given(value: Mapping[str, Any]) -> object:
    """Return what an annotator chose or wrote for a region or a text; None for labels."""
    text = value.get("text")
    written = text if isinstance(text, list) else None  # a string is the text of the region
    return next((value[key] for key in ("choices", "rating", "number", "taxonomy") if key in value), written)


def _joined(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _place(each: dict[str, Any]) -> tuple[Any, Any]:
    return str(each["value"].get("start")), str(each["value"].get("end"))


def _score(each: dict[str, Any]) -> dict[str, Any]:
    return {"score": each["score"]} if isinstance(each.get("score"), int | float) else {}


def _sources(rows: RowReader, controls: list[str]) -> Mapping[str, str | None]:
    """Return the control of each layer; None for all regions."""
    if rows.options.layers is not None:
        return rows.sources("")
    if len(controls) > 1:
        raise UsageError(
            f"regions have labels of several controls: {', '.join(controls)}",
            file=rows.file,
            line=rows.number,
            advice=f"name a layer for each that is to be read, as in layers={ {controls[0]: controls[0]} }",
        )
    return {DEFAULT_LAYER: None}


def _in_unit_that_fits(
    rows: RowReader, text: str, spans: list[Span], references: list[str | None], document: str
) -> list[Span]:
    """Return the spans in code points; positions are UTF-16 units if only these fit the texts of all regions."""
    if rows.options.offsets is None and any(references) and not text.isascii():
        mentions = [
            FileMention(((span.start, span.end),), reference, span.line, "")
            for span, reference in zip(spans, references, strict=True)
        ]
        if not fits(text, mentions, "points") and fits(text, mentions, "utf16"):
            return rows.checked(text, spans, references, document, "utf16")
    return rows.checked(text, spans, references, document)


def _text_key(data: Mapping[str, Any], rows: RowReader) -> str:
    named = rows.options.text_key
    if named is None and isinstance(data.get("text"), str):
        return "text"
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if named is not None:
        if named not in texts:
            rows.refuse(f"the data has no text {named!r}", f"its texts: {', '.join(texts) or 'none'}")
        return named
    if len(texts) != 1:
        rows.refuse(
            f"the data has {len(texts)} texts: {', '.join(texts)}" if texts else "the data has no text",
            "name the key of the text with text_key",
        )
    return texts[0]


def _is_cancelled(annotation: Mapping[str, Any]) -> bool:
    return bool(annotation.get("was_cancelled") or annotation.get("skipped"))


def _annotations(task: Mapping[str, Any]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the annotations and predictions of a task with the names of their sets; the first is listed."""
    for kind in _KINDS:
        for each in _objects(task.get(kind)):
            ground_truth = [GROUND_TRUTH] if each.get("ground_truth") else []
            yield [*_annotator(each.get("completed_by", each.get("created_username"))), *ground_truth], each
    for each in _objects(task.get("predictions")):
        yield [f"{PREDICTION}{each.get('model_version') or 'undefined'}"], each


def _objects(value: object) -> Iterator[dict[str, Any]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _annotator(value: object) -> list[str]:
    if isinstance(value, dict):
        return [str(value[key]) for key in ("email", "id") if value.get(key) is not None] or ["unknown"]
    return ["unknown" if value is None else str(value)]


def _sets(row: Any) -> Iterable[str]:
    if not isinstance(row, dict):
        return
    if "data" not in row and row.get("annotator") is not None:
        yield from _annotator(row["annotator"])[:1]
        return
    for names, _ in _annotations(row):
        yield names[0]


def _other_names(row: Any) -> Iterable[str]:
    """Yield further names of the sets of a row, by which they may be selected."""
    if isinstance(row, dict):
        if "data" not in row:
            yield from _annotator(row.get("annotator"))
        for names, _ in _annotations(row):
            yield from names


def _is_label_studio(beginning: Beginning) -> bool:
    keys = beginning.keys
    in_full = "data" in keys and bool(keys & {*_KINDS, "predictions"}) and '"result"' in beginning.text
    empty = {"data", "annotations"} <= keys and "annotations" in keys and _has_object(beginning, "data")
    return in_full or empty or ("annotator" in keys and "annotation_id" in keys)


def _has_object(beginning: Beginning, key: str) -> bool:
    _, found, after = beginning.text.partition(f'"{key}"')
    return bool(found) and after.lstrip(" \t\r\n:").startswith("{")


def rows_of(document: Document, layers: Sequence[str], as_: str = _WRITTEN_AS[0]) -> Row:
    """Return the task of a document."""
    spans = [(layer, span) for layer in layers for span in document.layers.get(layer, ())]
    require_short_texts(sum(len(span) for _, span in spans), document)
    regions = [
        {
            "id": f"r{number}",
            "from_name": layer,
            "to_name": "text",
            "type": "labels",
            "value": {
                "start": span.start,
                "end": span.end,
                "text": document.text_of(span),
                "labels": [span.label],
            },
            **span.features,
        }
        for number, (layer, span) in enumerate(spans, 1)
    ]
    of = {"completed_by": 1, "ground_truth": True} if as_ == _WRITTEN_AS[0] else {"model_version": "clueval"}
    return {
        "id": document.id,
        "data": {"text": document.text, **document.metadata},
        as_: [{**of, "result": regions}],
    }


def configuration(uses: Uses, _: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a labeling configuration with the controls and labels of layers.

    >>> from clueval.formats.format import LayerUse
    >>> list(configuration(Uses({"label": LayerUse({"PER": None}, {})})))[1]
    '  <Labels name="label" toName="text"><Label value="PER"/></Labels>'
    """
    yield "<View>"
    for layer, use in uses.layers.items():
        labels = "".join(f"<Label value={quoted(label)}/>" for label in use.labels)
        yield f'  <Labels name={quoted(layer)} toName="text">{labels}</Labels>'
    yield '  <Text name="text" value="$text"/>'
    yield "</View>"


def _holds_feature(name: str, value: object) -> bool:
    return (
        name == "score" and isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    )


def _writer(as_: str = _WRITTEN_AS[0]) -> Writer:
    if as_ not in _WRITTEN_AS:
        raise UsageError(f"spans cannot be written as {as_!r}", advice=" or ".join(_WRITTEN_AS))
    row = partial(rows_of, as_=as_)
    return Writer(
        json_lines(row, array=True),
        ".json",
        unit="character",
        holds=frozenset({"layers", "metadata", "features", "zero-length spans", "overlapping spans", ACROSS}),
        feature=_holds_feature,
        row=row,
        fit=partial(without_metadata, taken=("text",)),
        hints=configuration,
        choose=_writer,
        takes=frozenset({"as_"}),
    )


FORM = RowForm(_rows, _sets, other_names=_other_names)

FORMAT = row_format(
    FORM,
    name="label-studio",
    holds="Label Studio's JSON: tasks with the annotations of several annotators and models; JSON_MIN",
    signs=(
        Sign(
            "JSON with `data` and `annotations`, `completions` or `predictions`, or with `annotator`",
            _is_label_studio,
        ),
    ),
    options=frozenset({"layers", "offsets", "text_key"}),
    write=_writer(),
)
