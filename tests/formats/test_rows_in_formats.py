"""Rows of JSON by descriptions: from files, and from the same rows in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy
import pytest

import clueval
from clueval import score
from clueval.files.errors import CluevalError, CluevalWarning, FormatError, SpanError, UsageError
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.reading.source import read_rows
from tests.formats.outcomes import outcome, read_as

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

OF_SAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("ai4privacy/labels.jsonl", {}),
    ("ai4privacy/mask.jsonl", {}),
    ("ai4privacy/mask.jsonl", {"layers": {"entity": "privacy_mask"}}),
    ("comprehend/output.jsonl", {}),
    ("doccano/gold.jsonl", {"annotation_set": "admin"}),
    ("gliner/gold.json", {}),
    ("label-studio/min.jsonl", {}),
    ("label-studio/tasks.json", {}),
    ("label-studio/tasks.json", {"annotation_set": "ground-truth"}),
    ("label-studio/utf16.json", {}),
    ("langextract/gold.jsonl", {}),
    ("nemotron/gold.jsonl", {}),
    ("presidio/answers.json", {}),
    ("presidio/answers.jsonl", {}),
    ("presidio/results.jsonl", {}),
    ("presidio/samples.json", {}),
    ("prodigy/gold.jsonl", {}),
    ("prodigy/rejected.jsonl", {}),
    ("prodigy/rejected.jsonl", {"answers": "accepted"}),
    ("spacy-json/docs.jsonl", {}),
    ("spacy-json/docs.jsonl", {"layers": {"entity": "entities", "group": "spans.sc"}}),
    ("spacy-json/docs.jsonl", {"layers": {"group": "spans.none"}}),
    ("spacy-json/pairs.jsonl", {}),
    ("spacy-json/train.json", {}),
    ("spacy-json/v2.json", {}),
    ("spert/gold.json", {}),
    ("tab/gold.json", {"annotation_set": "annotator1"}),
    ("tab/gold.json", {"annotation_set": "annotator1", "layers": {"risk": "identifier_type"}}),
    ("tab/gold.json", {"annotation_set": "none"}),
    ("tab/gold.json", {"annotation_set": "*"}),
    ("tab/predicted.json", {}),
    ("token-rows/gold.jsonl", {}),
    ("token-rows/ids.jsonl", {"names": str(SAMPLES / "token-rows" / "dataset_info.json")}),
    ("token-rows/ids.jsonl", {}),
    ("w2ner/gold.json", {}),
]


def in_memory(data: bytes) -> list[Any]:
    """Return the rows of a file as a user's program loads them: an array, or a value a line."""
    try:
        whole = json.loads(data)
    except ValueError:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def from_file(path: Path, options: Mapping[str, Any]) -> Any:
    return outcome(lambda: read_as(InputFile(path), FormatOptions(**options)))


def from_memory(data: bytes, options: Mapping[str, Any], listed: Callable[[list[Any]], Any] = list) -> Any:
    def changed(value: Any) -> Any:
        return listed([*map(changed, value)]) if isinstance(value, list) else value

    rows = in_memory(data)
    rows = [{key: changed(row[key]) for key in row} if isinstance(row, dict) else row for row in rows]
    return outcome(lambda: read_rows(enumerate(rows, 1), FormatOptions(**options)))


def array(values: list[Any]) -> Any:
    """Return a list as it is in a data frame that was read from Parquet."""
    return numpy.fromiter(values, dtype=object, count=len(values))


@pytest.mark.parametrize(("name", "options"), OF_SAMPLES)
def test_samples_are_read_the_same_from_files_and_memory(name: str, options: dict[str, Any]) -> None:
    path = SAMPLES / name

    for listed in (list, tuple, array):
        assert from_memory(path.read_bytes(), options, listed) == from_file(path, options)


@pytest.mark.parametrize("listed", [tuple, array])
def test_lists_in_the_objects_of_a_list_may_be_tuples_or_arrays(listed: Callable[[list[Any]], Any]) -> None:
    value = {"start": 0, "end": 3, "labels": listed(["PER"])}
    region = {"type": "labels", "from_name": "label", "to_name": "text", "value": value}
    task = {"id": 1, "data": {"text": "Ada"}, "annotations": [{"id": 2, "result": listed([region])}]}
    sentence = {"sentence": ["Ada"], "ner": [{"index": listed([0]), "type": "PER"}]}

    for row in (task, sentence):
        assert clueval.score([row], [row], metrics="exact").get("exact.micro.gold") == 1


def test_all_json_samples_of_rows_are_compared() -> None:
    others = {"token-rows/dataset_info.json", "uima-json/gold.json"}
    samples = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*.json*")}

    assert {name for name, _ in OF_SAMPLES} == samples - others


CAS = SAMPLES / "uima-json" / "gold.json"


@pytest.mark.parametrize("options", [{}, {"layers": {"entity": "NamedEntity"}}])
def test_a_file_that_is_one_document_is_a_row_with_its_number_as_id(options: dict[str, Any]) -> None:
    (of_file,) = read_as(InputFile(CAS), FormatOptions(**options))
    (of_row,) = read_rows([(7, json.loads(CAS.read_bytes()))], FormatOptions(**options))

    assert of_row == replace(of_file, id="7")
    assert len(of_row.layers) == 1


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        ({}, {"layers": {"entity": "None"}}, "the CAS has no source 'None' for layer 'entity'"),
        ({}, {"annotation_set": "other"}, "the CAS has no view 'other'"),
        ({"%FEATURE_STRUCTURES": 7}, {}, "not a CAS that dkpro-cassis reads"),
    ],
)
def test_such_a_row_has_the_errors_of_the_file_with_its_number_as_line(
    change: dict[str, Any], options: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    row = json.loads(CAS.read_bytes()) | change
    path = tmp_path / "a.json"
    path.write_text(json.dumps(row), encoding="utf-8")

    with pytest.raises(CluevalError, match=problem):
        list(read_as(InputFile(path), FormatOptions(**options)))
    with pytest.raises(CluevalError, match=problem) as error:
        list(read_rows([(7, row)], FormatOptions(**options)))
    assert (error.value.file, error.value.line) == (None, 7)


def test_set_without_a_name_is_selected_by_its_empty_name() -> None:
    kept = {"annotations": [{"type": "A", "start": 0, "end": 2, "id": 0}]}
    row = {"text": "Ada", "offset_type": "p", "annotation_sets": {"Key": {"annotations": []}, "": kept}}

    (document,) = read_rows([(1, row)], FormatOptions(annotation_set=""))

    assert [span.label for span in document.layers["label"]] == ["A"]


# What both readings refuse


WRONG: list[tuple[str, type[CluevalError], int, str]] = [
    ('{"text": "Ada"}\n', FormatError, 1, "the format is not recognised"),
    ('{"id": 1, "label": []}\n', FormatError, 1, "the format is not recognised"),
    ('{"id": 1, "entities": [{}]}\n', FormatError, 1, "has entities without texts"),
    ('{"text": "Ada", "label": []}\n{"text": "Ada"}\n', FormatError, 2, "the row has no spans: no key 'label'"),
    ('{"text": "Ada", "label": []}\n{"label": []}\n', FormatError, 2, "the row has no text: no key 'text' or 'data'"),
    ('{"text": "Ada", "label": []}\n{"text": "", "label": []}\n7\n', FormatError, 3, "the row is not an object"),
    ('{"text": "Ada", "label": [[0, 9, "A"]]}\n', SpanError, 1, "span [0,9) 'A' of layer 'label' lies outside"),
    ('{"text": "Ada", "label": [[2, 1, "A"]]}\n', SpanError, 1, "span [2,1) 'A' ends before it starts"),
    ('{"text": "Ada", "label": [[-1, 1, "A"]]}\n', SpanError, 1, "span [-1,1) 'A' starts before position 0"),
    ('{"text": "Ada", "label": [[0, 1.5, "A"]]}\n', FormatError, 1, "the end of a span is 1.5, not a whole"),
    ('{"text": "Ada", "label": [[0, true, "A"]]}\n', FormatError, 1, "the end of a span is True"),
    ('{"text": "Ada", "label": ["PER"]}\n', FormatError, 1, "the labels have no positions"),
    ('{"text": "Ada", "label": [[0, 1, ["A"]]]}\n', FormatError, 1, "a label is a list or an object"),
    ('{"text": "Ada", "label": [7]}\n', FormatError, 1, "a span is neither a list nor an object"),
    ('{"text": 7, "label": []}\n', FormatError, 1, "'text' is not a text"),
    ('{"id": [1], "text": "", "label": []}\n', FormatError, 1, "the id of the row is a list or an object"),
    ('{"text": "Ada", "spans": [{"start": 0, "end": 2, "text": "x"}]}\n', FormatError, 1, "the text of span [0,2)"),
    ('{"text": "Ada", "spans": "[1"}\n', FormatError, 1, "'spans' is a text that cannot be read as a list"),
    ('{"tokenized_text": ["a"], "ner": [[0, 1, "A"]]}\n', SpanError, 1, "a span from token 0 to 1 is not within"),
    ('{"sentence": ["a"], "ner": [{"index": [1], "type": "A"}]}\n', FormatError, 1, "the index [1] of a span"),
    ('{"tokens": ["a"], "ner_tags": ["X"]}\n', FormatError, 1, "'X' is not a tag"),
    ('{"tokens": ["a"], "ner_tags": []}\n', FormatError, 1, "'ner_tags' has 0 values for 1 token"),
    ('{"tokens": [1], "ner_tags": ["O"]}\n', FormatError, 1, "a token is not a text"),
    ('{"tokens": [], "ner_tags": [], "pos_tags": []}\n', UsageError, 1, "the row has several keys of tags"),
    ('{"tokens": ["a"], "ner_tags": [9]}\n', FormatError, 1, "the tags of 'ner_tags' are numbers without names"),
    ('{"File": "a", "Line": 1, "Entities": []}\n', FormatError, 1, "'Line' is 1 where line 0 is expected"),
    ('[{"paragraphs": [{"sentences": [7]}]}]', FormatError, 1, "a sentence is not an object"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "kind", "line", "problem"), WRONG)
def test_wrong_rows_are_the_same_error_in_files_and_memory(
    data: str, kind: type[CluevalError], line: int, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(data, encoding="utf-8")

    found, rows = from_file(path, {}), list(in_memory(data.encode()))
    with pytest.raises(kind) as scored:
        score(rows, rows)

    assert found == from_memory(data.encode(), {})
    assert scored.value.problem == found[1]
    assert (issubclass(found[0], kind), found[2]) == (True, line)
    assert found[1].startswith(problem)


def test_set_is_refused_where_rows_have_none() -> None:
    for row in ({"d1": [[0, 3]]}, {"tokens": ["a"], "ner_tags": ["O"]}):
        with pytest.raises(UsageError, match="there is no annotation set 'a'"):
            list(read_rows([(1, row)], FormatOptions(annotation_set="a")))


def test_every_annotator_of_a_task_is_a_layer_although_one_has_cancelled() -> None:
    path = SAMPLES / "label-studio" / "tasks.json"

    first, *_ = read_as(InputFile(path), FormatOptions(annotation_set="*"))

    assert list(first.layers) == ["ada@x.org", "bob@x.org", "prediction:m1"]


_TOKENS = {"tokens": ["Ada", "sang"], "ner_tags": ["B-PER", "O"]}
_BY_NUMBER = {"tokens": ["Ada", "sang"], "ner_tags": [1, 0]}


@pytest.mark.parametrize(
    ("row", "more", "number"),
    [
        ({"text": "Ada", "label": [[0, 3, "PER"]]}, {"entities": [[0, 3, "PER"]], "annotations": None}, 1),
        (
            {"text": "Ada", "label": [[0, 3, "PER"]]},
            {"pred": [[0, 3, "LOC"], [1, 2, "LOC"]], "box": [[0, 3]]},
            2,
        ),
        (
            {"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "PER"}]},
            {"pred": [{"start": 0, "end": 3, "label": "LOC"}], "words": ["Ada"]},
            1,
        ),
        (_TOKENS, {"predictions": ["O", "B-PER"], "upos": ["PROPN", "VERB"], "ids": [7, 9]}, 2),
        (_TOKENS, {"spans": [{"start": 0, "end": 1, "type": "PER"}], "scores": [0.5, 1.0]}, 1),
        (_BY_NUMBER, {"predictions": [0, 0], "input_ids": [101, 7, 9, 102]}, 2),
    ],
)
def test_spans_and_tags_under_a_second_key_are_passed_over_and_warned_of_once(
    row: dict[str, Any], more: dict[str, Any], number: int
) -> None:
    names = {"names": ["O", "B-PER"]} if row is _BY_NUMBER else {}
    (key, _), *_ = more.items()

    with pytest.warns(
        CluevalWarning, match=f"^{key!r} holds (spans|tags), too, which are not read"
    ) as record:
        result = score([row, row], [row | more, row | more], metrics="exact", **names)

    assert (len(record), result.passed_over) == (1, {"gold": {}, "predicted": {key: 2 * number}})
    assert result.f1 == 1


def test_the_author_of_a_cancelled_annotation_is_no_annotator() -> None:
    def annotation(name: str, **more: Any) -> dict[str, Any]:
        return {"completed_by": {"email": name}, "result": [], **more}

    task = {
        "data": {"text": "Ada"},
        "annotations": [annotation("ada"), annotation("bob", was_cancelled=True)],
    }

    (document,) = read_rows([(1, task)], FormatOptions(annotation_set="*"))

    assert list(document.layers) == ["ada"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"entities": [{"text": "Ada", "confidenceScore": 1}]}, "has entities of Azure"),
        (
            {"documents": [{"entities": [{"text": "Ada", "confidenceScore": 1}]}]},
            "in text elements and not in",
        ),
        ({"entity_group": "PER", "start": 0, "word": "Ada"}, "as a Hugging Face pipeline returns them"),
        ({"start": 0, "end": 2, "label": "A"}, "has spans without texts"),
        ({"question": "Ada", "marks": [{"start": 0, "end": 3}]}, "the format is not recognised"),
    ],
)
def test_unread_rows_are_told_only_what_they_have(row: dict[str, Any], problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        list(read_rows([(1, row)], FormatOptions()))


VALUES: list[Any] = [
    None,
    True,
    -1,
    2.0,
    1e400,
    "",
    "[1]",
    "{",
    [],
    {},
    [[]],
    [[0, 1]],
    [[0, 1, "A"]],
    [None],
]
VALUES += [
    [{"start": 0}],
    [{"start": "a", "end": []}],
    [{}],
    ["a"],
    [[0, 1, ["x"]]],
    [{"fragments": [[1]]}],
    "\ud800",
]
NAMES = ("id", "text", "spans", "label", "meta", "fragments", "alternatives", "entity", "optional")


def mutated(value: Any, rng: Random) -> Any:
    """Return a value of which some parts are replaced, left out or added."""
    if rng.random() < 0.15:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        kept = {key: mutated(own, rng) for key, own in value.items() if rng.random() > 0.05}
        return {**kept, rng.choice(NAMES): rng.choice(VALUES)} if rng.random() < 0.1 else kept
    if isinstance(value, list):
        return [mutated(each, rng) for each in value if rng.random() > 0.05]
    return value
