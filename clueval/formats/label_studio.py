"""Label Studio's JSON: tasks with the annotations of annotators and the predictions of models; also JSON_MIN.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError
from clueval.formats.dialect import Dialect, RowInput
from clueval.formats.json_values import literal_in
from clueval.formats.xml_text import quoted

PREDICTION = "prediction:"
_NOTED = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def _sets(row: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(row, dict) and "data" not in row and row.get("annotator") is not None:
        yield _annotator(row["annotator"])
    elif isinstance(row, dict):
        yield from (names for names, annotation in _annotations(row) if not _is_cancelled(annotation))


def _annotations(task: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the annotations and predictions of a task with the names of their sets."""
    for key in ("annotations", "completions"):
        for annotation in _objects(task.get(key)):
            names = _annotator(annotation.get("completed_by", annotation.get("created_username")))
            yield (*names, "ground-truth") if annotation.get("ground_truth") else names, annotation
    for prediction in _objects(task.get("predictions")):
        yield (f"{PREDICTION}{prediction.get('model_version') or 'undefined'}",), prediction


def _is_cancelled(annotation: Mapping[str, Any]) -> bool:
    return bool(annotation.get("was_cancelled") or annotation.get("skipped"))


def _annotator(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        names = tuple(str(value[key]) for key in ("email", "id") if value.get(key) is not None)
        return names or ("unknown",)
    return ("unknown" if value is None else str(value),)


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, also of one that a text holds, as in a column of CSV; of other values none."""
    if isinstance(value, str) and value.startswith("[{"):
        with suppress(ValueError):
            value = literal_in(value)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _plain(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield a task with the annotation of the set that is read, or a row of JSON_MIN, which has one annotation."""
    task = rows.mapping(row)
    if "data" not in task and "annotator" in task:
        controls = {
            key: values
            for key, value in task.items()
            if (values := _objects(value)) and all("start" in item for item in values)
        }
        not_data = {*_NOTED, *controls}
        data = {
            key: value for key, value in task.items() if key not in not_data and not isinstance(value, list)
        }
        regions = [{"from_name": key, "value": value} for key, values in controls.items() for value in values]
    else:
        annotation = _annotation(task, rows)
        if annotation is None:
            return
        regions = rows.objects(annotation.get("result"), "'result'", "a region")
        data = rows.mapping(task.get("data"), "'data'")
    text_key = rows.options.text_key
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if text_key is not None and text_key not in texts:
        rows.refuse(f"there is no text {text_key!r} in the data", f"the texts are {', '.join(texts)}")
    if text_key is None and "text" not in texts and len(texts) != 1:
        problem = f"the data has {len(texts)} texts: {', '.join(texts)}"
        rows.refuse(problem, "name the key of the text with text_key")
    key = text_key or ("text" if "text" in texts else texts[0])
    metadata = {name: value for name, value in data.items() if name != key}
    spans = list(_spans(regions, metadata, rows))
    yield {"id": task.get("id"), "text": data[key], "meta": metadata, "spans": spans}


def _annotation(task: Mapping[str, Any], rows: RowInput) -> Mapping[str, Any] | None:
    """Return the annotation of the set that is read, or None; count drafts, of which some belong to no annotator."""
    for draft in _objects(task.get("drafts")):
        owners = (draft[key] for key in ("completed_by", "user", "created_username") if draft.get(key))
        owner = next(owners, None)
        is_own = rows.set is None or not rows.set.startswith(PREDICTION)
        if owner is not None and rows.set is not None:
            is_own = rows.set in _annotator(owner)
        rows.passed_over["drafts"] += is_own
    chosen = [annotation for names, annotation in _annotations(task) if rows.set is None or rows.set in names]
    valid = [annotation for annotation in chosen if not _is_cancelled(annotation)]
    rows.passed_over["cancelled"] += len(chosen) - len(valid)
    rows.passed_over["unannotated"] += not chosen
    if len(valid) > 1:
        rows.refuse(f"the set {rows.set!r} has {len(valid)} annotations of this task", "keep one of them")
    return valid[0] if valid else None


def _spans(
    regions: list[dict[str, Any]], metadata: dict[str, Any], rows: RowInput
) -> Iterator[dict[str, Any]]:
    """Yield an object for each label of the regions; choices for the whole text are added to `metadata`."""
    labelled: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
    features: dict[tuple[str, str], dict[str, Any]] = {}  # choices for regions, by their place
    for region in regions:
        kind = region.get("type")
        if kind == "relation":
            rows.passed_over["relations"] += 1
            continue
        value = rows.mapping(region.get("value"), "the value of a region")
        if kind == "hypertextlabels" or "startOffset" in value or "hypertextlabels" in value:
            rows.refuse("a region of HTML, whose positions belong to elements", "export plain text")
        has_place = "start" in value
        if has_place and "labels" in value:
            labelled.append((_control(region), region, value))
            continue
        text = value.get("text")  # a list is what annotators wrote, otherwise it is the text of the region
        typed_text = None if has_place and not isinstance(text, list) else text
        keys = ("choices", "rating", "number", "taxonomy")
        choice = next((value[key] for key in keys if key in value), typed_text)
        if choice is not None:
            choices = features.setdefault(_place(value), {}) if has_place else metadata
            name = str(region.get("from_name", ""))
            choices[name] = ",".join(map(str, choice)) if isinstance(choice, list) else str(choice)
        elif has_place:
            labelled.append((_control(region), region, value))
    controls = dict.fromkeys(control for control, _, _ in labelled)
    rows.offered |= controls
    if len(controls) > 1 and rows.options.layers is None:
        first = next(iter(controls))
        raise UsageError(
            f"regions have labels of several controls: {', '.join(controls)}",
            file=rows.file,
            line=rows.number,
            advice=f"name a layer for each that is to be read, as in layers={ {first: first} }",
        )
    for control, region, value in labelled:
        score, identifier = region.get("score"), region.get("id")
        span_features = features.get(_place(value), {}) if features else {}
        if isinstance(score, int | float):
            span_features = {**span_features, "score": score}
        identifier = identifier if isinstance(identifier, str) else None
        for label in rows.listed(value.get("labels"), "'labels'") or [None]:
            more = {"id": identifier, "from_name": control, "features": span_features, "label": label}
            yield {**value, **more}


def _control(region: Mapping[str, Any]) -> str:
    return str(region.get("from_name") or DEFAULT_LAYER)


def _place(value: Mapping[str, Any]) -> tuple[str, str]:
    return str(value.get("start")), str(value.get("end"))


def _task(row: dict[str, Any], kind: str, **origin: Any) -> dict[str, Any]:
    """Return the task of a row with an annotation, or the prediction of a model."""
    regions = [
        {
            "id": f"r{number}",
            "from_name": span["from_name"],
            "to_name": "text",
            "type": "labels",
            "value": {**{key: span[key] for key in ("start", "end", "text")}, "labels": [span["label"]]},
            **span.get("features", {}),
        }
        for number, span in enumerate(row["spans"], 1)
    ]
    data = {"text": row["text"], **row.get("meta", {})}
    return {"id": row["id"], "data": data, kind: [{**origin, "result": regions}]}


def configuration(labels: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a labeling configuration with the controls of layers, given their labels.

    >>> list(configuration({"label": ["PER"]}))[1]
    '  <Labels name="label" toName="text"><Label value="PER"/></Labels>'
    """
    yield "<View>"
    for layer, layer_labels in labels.items():
        shown = "".join(f"<Label value={quoted(label)}/>" for label in layer_labels)
        yield f'  <Labels name={quoted(layer)} toName="text">{shown}</Labels>'
    yield '  <Text name="text" value="$text"/>'
    yield "</View>"


LABEL_STUDIO = Dialect(
    name="label-studio",
    holds="Label Studio's JSON: tasks with the annotations of several annotators and models; JSON_MIN",
    takes="text_key",
    text="text",
    spans="spans",
    span_id="id",
    reference="text",
    features="features",
    sets=_sets,
    sources="",
    source_is="control",
    control="from_name",
    utf16=True,
    plain=_plain,
    written=partial(_task, kind="annotations", completed_by=1, ground_truth=True),
    array=True,
    hints=configuration,
)


def written_as(name: str, as_: str) -> Dialect:
    """Return the dialect that writes spans `as_`, the key under which they stand.

    Raises `UsageError` for another format than Label Studio's, and for another key.
    """
    predictions = partial(_task, kind="predictions", model_version="clueval")
    dialects = {"annotations": LABEL_STUDIO, "predictions": replace(LABEL_STUDIO, written=predictions)}
    if name != LABEL_STUDIO.name:
        raise UsageError(f"as_={as_!r} does not apply to the format {name}", advice="remove it")
    if as_ not in dialects:
        raise UsageError(f"spans cannot be written as {as_!r}", advice=" or ".join(dialects))
    return dialects[as_]
