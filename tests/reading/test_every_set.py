"""All annotation sets of a file, each as a layer; `clueval masking --annotators` takes them as views of one text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.files.errors import CluevalError

TEXT = "Frau Weiß klagt gegen Karl Öz."


def mention(start: int, end: int, kind: str, entity: str) -> dict[str, Any]:
    return {
        "start_offset": start,
        "end_offset": end,
        "entity_type": "PERSON",
        "identifier_type": kind,
        "entity_id": entity,
    }


def row(name: str, annotators: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    sets = {annotator: {"entity_mentions": mentions} for annotator, mentions in annotators.items()}
    return {"doc_id": name, "text": TEXT, "annotations": sets, "meta": {}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, predicted = tmp_path / "gold.json", tmp_path / "predicted.json"
    rows = [
        row("d1", {"anna": [mention(5, 9, "DIRECT", "e1")], "bob": [mention(22, 29, "QUASI", "e2")]}),
        row("d2", {"bob": [mention(5, 9, "NO_MASK", "e1")]}),
    ]
    gold.write_text(json.dumps(rows))
    predicted.write_text(json.dumps({"d1": [[5, 9]], "d2": []}))
    return gold, predicted


def test_each_set_is_a_layer_of_the_documents_that_it_annotates(files: tuple[Path, Path]) -> None:
    documents = list(clueval.read(files[0], annotation_set="*"))

    assert [list(document.layers) for document in documents] == [["anna", "bob"], ["bob"]]
    (span,) = documents[0].layers["bob"]
    assert (span.labels, span.features["identifier_type"]) == ({"bob": "PERSON"}, "QUASI")


def test_annotators_of_a_file_are_its_sets(files: tuple[Path, Path]) -> None:
    report = clueval.masking(*files, annotators="all", conventions="tab")

    row = report.reports["annotators"]["classes"]["all"]
    assert (row["mentions"], row["protected"], row["documents"]) == (2, 1, 1)
    assert [(leak.annotator, leak.kind) for leak in report.leaks] == [("bob", "QUASI")]
    assert report.reports["annotators"]["conventions"]["tab"]["mention_precision"] == 0.5


def test_one_annotator_may_be_named(files: tuple[Path, Path]) -> None:
    row = clueval.masking(*files, annotators="anna").reports["annotators"]["classes"]["all"]

    assert (row["mentions"], row["protected"]) == (1, 1)


def test_rows_of_one_document_by_several_annotators_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [
        {"text": TEXT, "spans": [{"start": 5, "end": 9, "label": name}], "answer": "accept"}
        | {"_input_hash": 7, "_task_hash": 1, "_annotator_id": name}
        for name in ("anna", "bob")
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))

    (document,) = clueval.read(path, input="prodigy", annotation_set="*")

    assert {name: spans[0].labels for name, spans in document.layers.items()} == {
        "anna": {"anna": "anna"},
        "bob": {"bob": "bob"},
    }


def test_a_document_with_two_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    rows = [row("d1", {"anna": []}), row("d1", {"bob": []}) | {"text": "Another one."}]
    path.write_text(json.dumps(rows))

    with pytest.raises(CluevalError, match=r"gold.json:2, .*another text in a row before"):
        list(clueval.read(path, annotation_set="*"))
