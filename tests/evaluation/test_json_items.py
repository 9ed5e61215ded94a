"""Rows of JSON formats, with spans or tags: counted without documents, they have the outcome of their documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import documents_alone
from strategies import LABELS, at_most, flat_spans

from clueval import score
from clueval.evaluation import tag_lists
from clueval.evaluation.row_clusters import RowClusters
from clueval.files.errors import CluevalError
from clueval.metrics import METRICS
from clueval.reading.options import Reading

ALL = [name for name in METRICS if name != "noisy"]

FLAT = flat_spans().map(lambda spans: [[span.start, span.end, span.label] for span in spans])
USUAL = st.tuples(st.integers(0, 12), st.integers(0, 3), st.sampled_from(LABELS)).map(
    lambda span: [span[0], span[0] + span[1], span[2]]
)
STRANGE = st.tuples(
    st.sampled_from([-1, 0, 2.0, 3, True, None, "4", 99]),
    st.sampled_from([0, 3.0, 4, 5, False, 2.5, 12]),
    st.sampled_from(["PER", "", None, 7, ["PER"]]),
).map(list)
TEXTS = st.sampled_from(["Ada met Bob in", "Ada met Bob on", "\r\n\0 \U0001f600 äö", ""])


@st.composite
def sides(draw: st.DrawFn, strange: bool) -> tuple[list[Any], list[Any]]:
    """Rows of gold and predicted: id, text and spans; most are those of gold."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for number in range(draw(st.integers(1, 5))):
        spans = FLAT | FLAT | st.lists(STRANGE | USUAL if strange else USUAL, max_size=4)
        own = (number, "Ada met Bob in London", draw(spans))
        other = draw(st.just(own) | spans.map(lambda of, own=own: (*own[:2], of)))
        if strange and draw(st.integers(0, 4)) == 0:
            other = (
                draw(st.sampled_from([None, str(number), 77, True, float(number)])),
                draw(TEXTS),
                other[2],
            )
        found[0].append(own)
        found[1].append(other)
    if strange and draw(st.booleans()):
        found[draw(st.integers(0, 1))].pop()
    return found


def objects(spans: Sequence[Any], start: str, end: str) -> list[dict[str, Any]]:
    return [{start: first, end: last, "label": label} for first, last, label in spans]


def doccano(row: tuple[Any, str, Any]) -> Any:
    return {"id": row[0], "text": row[1], "label": row[2], "meta": {"length": len(row[2])}}


def doccano_of_objects(row: tuple[Any, str, Any]) -> Any:
    return {"id": row[0], "data": row[1], "entities": objects(row[2], "start_offset", "end_offset")}


def prodigy(row: tuple[Any, str, Any]) -> Any:
    spans = objects(row[2], "start", "end")
    for span in spans[:1]:
        span["text"] = "Ada" if span["start"] == 0 else None
    return {"_input_hash": row[0], "text": row[1], "spans": spans, "_annotator_id": "ada"}


def spacy(row: tuple[Any, str, Any]) -> Any:
    return {"id": row[0], "text": row[1], "ents": objects(row[2], "start", "end")}


def training_data(row: tuple[Any, str, Any]) -> Any:
    return [row[1], {"entities": row[2]}]


def label_studio(row: tuple[Any, str, Any]) -> Any:
    regions = [
        {
            "type": "labels",
            "from_name": "ner",
            "value": {
                "start": start,
                "end": end,
                "labels": [label],
                "text": row[1][0:3] if start == 0 else None,
            },
        }
        for start, end, label in row[2]
    ]
    return {
        "id": row[0],
        "data": {"text": row[1], "source": len(row[2])},
        "annotations": [{"completed_by": 1, "result": regions}],
    }


def tab(row: tuple[Any, str, Any]) -> Any:
    mentions = [
        {"start_offset": start, "end_offset": end, "entity_type": label, "entity_id": "e"}
        for start, end, label in row[2]
    ]
    own = {"ann1": {"entity_mentions": mentions}}
    return {"doc_id": row[0], "text": row[1], "annotations": own, "meta": {"year": len(row[2])}}


FORMS = {
    "doccano": (doccano, doccano_of_objects),
    "prodigy": (prodigy,),
    "spacy-json": (spacy, training_data),
    "label-studio": (label_studio,),
    "tab": (tab,),
}


def outcome(paths: Sequence[Path], **options: Any) -> Any:
    """The result of two files without what depends on nothing but the order of counting, or the error."""
    try:
        result = score(*paths, **options)
    except CluevalError as error:
        return type(error), str(error)
    assert result.counted is not None
    tallies = {
        key: {what: number for what, number in tally.items() if number}
        for key, tally in result.counted.tallies.items()
    }
    return result.to_dict(), result.inputs, result.passed_over, {key: of for key, of in tallies.items() if of}


def both_ways(rows: tuple[list[Any], list[Any]], form: str, as_row: Any, **options: Any) -> tuple[Any, Any]:
    with TemporaryDirectory() as folder:
        paths = []
        for name, side in zip(("gold", "predicted"), rows, strict=True):
            paths.append(Path(folder, f"{name}.jsonl"))
            lines = [json.dumps(as_row(row)) for row in side]
            text = "\n".join(lines) if name == "gold" else f"[{','.join(lines)}]"
            paths[-1].write_text(text, encoding="utf-8")
        found = outcome(paths, input=form, **options)
        with documents_alone():
            return found, outcome(paths, input=form, **options)


CASES = [(form, as_row) for form, rows in FORMS.items() for as_row in rows]


@pytest.mark.few(3)
@pytest.mark.parametrize(("form", "as_row"), CASES)
@given(st.booleans().flatmap(sides), st.sampled_from([{}, {"by": "document"}, {"where": ["document=1"]}]))
@at_most(60)
def test_rows_have_the_outcome_of_their_documents(
    form: str, as_row: Any, rows: tuple[list[Any], list[Any]], options: dict[str, Any]
) -> None:
    for metrics in (["levels", "exact", "confusion"], ALL):
        found, expected = both_ways(rows, form, as_row, metrics=metrics, **options)
        assert found == expected


USUAL_ROW = (1, "Ada met Bob", [[0, 3, "PER"]])


@pytest.mark.parametrize("id", [None, 77, True, "1", 1.0, [1]])
def test_rows_with_strange_ids_have_the_outcome_of_their_documents(id: Any) -> None:
    found, expected = both_ways(([USUAL_ROW], [(id, *USUAL_ROW[1:])]), "doccano", doccano)

    assert found == expected


@pytest.mark.parametrize(
    "span",
    [
        *([start, 3, "PER"] for start in (0.0, False, -1, 0.5, "0", None)),
        *([0, end, "PER"] for end in (3.0, 0, 12, "3", None)),
        *([0, 3, label] for label in ("", None, 1, ["PER"])),
        [0, 3],
        [0, 3, "PER", "PER"],
        "PER",
        None,
    ],
    ids=str,
)
def test_rows_with_a_strange_span_have_the_outcome_of_their_documents(span: Any) -> None:
    for gold in (USUAL_ROW, (1, "Ada met Bob", [span])):
        found, expected = both_ways(([gold], [(1, "Ada met Bob", [span])]), "doccano", doccano)
        assert found == expected


@pytest.mark.parametrize("reference", [None, "Ada", "Ad", " Ada", 3])
def test_rows_with_the_texts_of_spans_have_the_outcome_of_their_documents(reference: Any) -> None:
    row = {"text": "Ada met Bob", "ents": [{"start": 0, "end": 3, "label": "PER", "text": reference}]}

    found, expected = both_ways(([row], [row]), "spacy-json", dict)

    assert found == expected


REGION = {"type": "labels", "from_name": "a", "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["A"]}}
ANNOTATION = {"completed_by": 1, "result": [REGION]}
TASK = {"id": 1, "data": {"text": "Ada met Bob"}, "annotations": [ANNOTATION]}


def region(**change: Any) -> dict[str, Any]:
    return {"annotations": [ANNOTATION | {"result": [REGION, REGION | change]}]}


def value(**change: Any) -> dict[str, Any]:
    return {"annotations": [ANNOTATION | {"result": [REGION | {"value": REGION["value"] | change}]}]}  # type: ignore[operator]


@pytest.mark.parametrize(
    "change",
    [
        {"drafts": [{"user": 1}]},
        {"predictions": [{"model_version": "m", "result": []}]},
        {"annotations": []},
        {"annotations": [ANNOTATION, ANNOTATION | {"completed_by": 2}]},
        {"annotations": [ANNOTATION | {"was_cancelled": True}]},
        {"annotations": [ANNOTATION | {"completed_by": {"id": 1, "email": "a@b"}}]},
        {"annotations": [ANNOTATION | {"result": None}]},
        {"annotations": [ANNOTATION | {"result": [3, REGION]}]},
        {"data": {"text": 3}},
        {"data": {"other": "Ada met Bob"}},
        {"data": {"text": "Ada met Bob", "other": "x"}},
        region(type="relation"),
        region(type="choices", value={"start": 0, "end": 3, "choices": ["x"]}),
        region(type="choices", value={"choices": ["x"]}),
        region(from_name="b"),
        region(value={"startOffset": 3}),
        value(labels=["A", "B"]),
        value(labels=[]),
        value(labels=None),
        value(text="Bob"),
        value(start=0.0),
        value(start=None),
        value(end=99),
    ],
    ids=str,
)
def test_tasks_with_something_unusual_have_the_outcome_of_their_documents(change: dict[str, Any]) -> None:
    for options in ({}, {"gold_set": "1", "predicted_set": "1"}):
        rows = [TASK, TASK | change, TASK]
        found, expected = both_ways((rows, rows), "label-studio", dict, **options)
        assert found == expected


@pytest.mark.parametrize(
    "annotations",
    [
        {},
        None,
        {"ann1": {}},
        {"ann1": 3},
        {"ann2": {"entity_mentions": []}},
        {"ann1": {"entity_mentions": []}, "ann2": {"entity_mentions": []}},
        {"ann1": {"entity_mentions": [{"start_offset": 0, "end_offset": 3}]}},
        {
            "ann1": {
                "entity_mentions": [
                    {"start_offset": 0, "end_offset": 3, "entity_type": "A", "span_text": "Bob"}
                ]
            }
        },
    ],
    ids=str,
)
def test_mentions_that_are_unusual_have_the_outcome_of_their_documents(annotations: Any) -> None:
    for options in ({}, {"gold_set": "ann1", "predicted_set": "ann1"}):
        usual = tab(USUAL_ROW)
        rows = [usual, usual | {"annotations": annotations}, usual]
        found, expected = both_ways((rows, rows), "tab", dict, **options)
        assert found == expected


@pytest.mark.parametrize(("form", "as_row"), CASES)
def test_usual_rows_become_no_documents(form: str, as_row: Any) -> None:
    rows = ([USUAL_ROW] * 3, [(1, "Ada met Bob", [[8, 11, "PER"], [0, 3, "LOC"]])] * 3)

    with patch("clueval.evaluation.engine.Evaluation.count_documents") as count:
        both_ways(rows, form, as_row)

    assert count.call_count == 3  # the documents with which they are compared


def test_rows_in_folders_have_the_ids_of_their_documents(tmp_path: Path) -> None:
    for side, name in product(("gold", "predicted"), ("a", "b")):
        (tmp_path / side).mkdir(exist_ok=True)
        rows = [USUAL_ROW, (2, "Ada met Bob", [[0, 3, "PER"], [0, 3, "LOC"]])]
        (tmp_path / side / f"{name}.jsonl").write_text("\n".join(json.dumps(doccano(row)) for row in rows))

    result = score(tmp_path / "gold", tmp_path / "predicted", by="document", metrics="gate")

    assert result.groups is not None
    assert list(result.groups["document"]) == ["a:1", "a:2", "b:1", "b:2"]


# Token rows counted without documents have the outcome of their documents


TAGS = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


@st.composite
def token_sides(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    found: tuple[list[Any], list[Any]] = ([], [])
    tags = draw(st.sampled_from([TAGS, [tag.replace("B-", "S-") for tag in TAGS], ["O", "I-PER", "I-LOC"]]))
    for number in range(draw(st.integers(0, 5))):
        size = draw(st.integers(1, 6))
        of_row = st.lists(st.sampled_from(tags), min_size=size, max_size=size)
        own = draw(of_row)
        for side, values in zip(found, (own, draw(st.just(own) | of_row)), strict=True):
            side.append({"id": number + 7, "tokens": [f"t{n}" for n in range(size)], "ner_tags": values})
    return found


def tokens_both_ways(sides: tuple[list[Any], list[Any]], **options: Any) -> tuple[Any, Any]:
    return both_ways(sides, "token-rows", dict, **options)


OF_TOKENS: list[dict[str, Any]] = [
    *({}, {"merge": True}, {"scheme": "BIO"}, {"invalid": "discard"}, {"layers": {"label": "ner_tags"}}),
    *({"by": "document"}, {"where": ["document=8"]}, {"where": ["label=PER"]}),
    *(
        {"reading": (Reading(scheme=one), Reading(scheme=other))}
        for one, other in (("BIO", "IOB1"), ("IO", None))
    ),
]


@given(token_sides(), st.sampled_from(OF_TOKENS))
def test_token_rows_have_the_outcome_of_their_documents(
    rows: tuple[list[Any], list[Any]], options: dict[str, Any]
) -> None:
    for metrics in (["levels", "exact", "confusion"], ALL):
        found, expected = tokens_both_ways(rows, metrics=metrics, **options)
        assert found == expected


USUAL_TOKENS = {"id": "1", "tokens": ["Ada", "met", "Bob"], "ner_tags": ["B-PER", "O", "B-PER"]}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"id": 1},
        {"id": None},
        {"id": True},
        {"id": "2"},
        {"tokens": ["Ada", "met", "Eve"]},
        {"tokens": ["Ada", "met"]},
        {"tokens": ["Ada", "met", 3]},
        {"tokens": "Ada"},
        {"tokens": [], "ner_tags": []},
        {"ner_tags": [1, 0, 3]},
        {"ner_tags": [1, 0, 7]},
        {"ner_tags": [1, 0, True]},
        {"ner_tags": [1, -100, 3]},
        {"ner_tags": ["B-PER", None, "O"]},
        {"ner_tags": ["B-PER", "", "O"]},
        {"ner_tags": ["B-PER", "X-PER", "O"]},
        {"ner_tags": ["B-PER", 0, "O"]},
        {"pos_tags": ["N", "V", "N"]},
    ],
    ids=str,
)
def test_an_odd_token_row_has_the_outcome_of_its_document(change: dict[str, Any]) -> None:
    for gold in (USUAL_TOKENS, USUAL_TOKENS | change):
        found, expected = tokens_both_ways(
            ([USUAL_TOKENS, gold], [USUAL_TOKENS, USUAL_TOKENS | change]), names=NAMES
        )
        assert found == expected


def test_a_file_with_more_rows_has_the_error_of_its_documents() -> None:
    found, expected = tokens_both_ways(([USUAL_TOKENS], [USUAL_TOKENS, USUAL_TOKENS]))

    assert found == expected
    assert "the file ends" in found[1]


def test_tags_of_two_schemes_have_the_error_of_their_documents() -> None:
    found, expected = tokens_both_ways(
        ([USUAL_TOKENS | {"ner_tags": ["E-PER", "O", "L-PER"]}], [USUAL_TOKENS])
    )

    assert found == expected
    assert "gold.jsonl" in found[1]


def test_rows_of_a_long_file_are_counted_some_at_a_time() -> None:
    with patch.object(tag_lists, "BATCH", 2), patch.object(RowClusters, "add_sentences") as added:
        tokens_both_ways(([USUAL_TOKENS] * 5, [USUAL_TOKENS] * 5))

    assert [len(call.args[0]) for call in added.call_args_list] == [2, 2, 1]


def test_usual_token_rows_become_no_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(USUAL_TOKENS) + "\n")

    with patch("clueval.evaluation.engine.Evaluation.count_documents", side_effect=AssertionError):
        assert score(path, path).documents == 1
