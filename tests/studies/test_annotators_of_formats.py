"""Annotators in the files of annotation tools: the annotation sets of one file, and files of different formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write

from clueval import CluevalError, CluevalWarning, agree

TEXT = "Ada met Bob"


def region(start: int, end: int) -> dict[str, object]:
    return {"from_name": "x", "type": "labels", "value": {"start": start, "end": end, "labels": ["PER"]}}


def mention(start: int, end: int) -> dict[str, object]:
    return {"entity_type": "PER", "start_offset": start, "end_offset": end}


DOCCANO = [
    {"id": 1, "text": TEXT, "label": [[0, end, "PER"]], "username": name}
    for name, end in (("1", 3), ("2", 2))
]
PRODIGY = [
    {
        "_input_hash": 1,
        "text": TEXT,
        "spans": [{"start": 0, "end": end, "label": "PER"}],
        "_annotator_id": name,
    }
    for name, end in (("1", 3), ("2", 2))
]
LABEL_STUDIO = {
    "id": 1,
    "data": {"text": TEXT},
    "annotations": [
        {"completed_by": 1, "result": [region(0, 3)]},
        {"completed_by": 2, "result": [region(0, 2)]},
    ],
}
TAB = {
    "doc_id": "1",
    "text": TEXT,
    "annotations": {"1": {"entity_mentions": [mention(0, 3)]}, "2": {"entity_mentions": [mention(0, 2)]}},
}
FILES = {"doccano": DOCCANO, "prodigy": PRODIGY, "label-studio": [LABEL_STUDIO], "tab": [TAB]}


@pytest.mark.parametrize("form", FILES)
def test_annotation_sets_of_one_file_are_its_annotators(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps(FILES[form]))

    every = agree(path)
    named = agree(path, annotators={"ann": 1, "bob": 2}, input=form)

    assert every.to_dict()["annotators"] == ["1", "2"]
    assert named.to_dict()["annotators"] == ["ann", "bob"]
    assert [each.kind for each in every.disagreements()] == ["boundary"]


def test_models_that_count_as_annotators_are_a_warning(tmp_path: Path) -> None:
    model = {"model_version": "v1", "result": [region(0, 3)]}
    path = write(tmp_path / "a.json", json.dumps([LABEL_STUDIO | {"predictions": [model]}]))

    with pytest.warns(
        CluevalWarning, match="'prediction:v1' counts as an annotator; annotators=.* names those"
    ):
        assert agree(path).to_dict()["annotators"] == ["1", "2", "prediction:v1"]
    assert agree(path, annotators={"ann": 1, "bob": 2}).to_dict()["annotators"] == ["ann", "bob"]


def gate(**ends: int) -> str:
    """A GATE document in which each annotator, by name, has marked a person from 0 to the given end."""
    sets = "".join(
        f"<AnnotationSet{f' Name={name!r}' if name != 'nameless' else ''}>"
        + (f'<Annotation Id="{end}" Type="PER" StartNode="0" EndNode="{end}"/>' if end else "")
        + "</AnnotationSet>"
        for name, end in ends.items()
    )
    text = '<Node id="0"/>Ad<Node id="2"/>a<Node id="3"/> met Bob'
    return f"<GateDocument><TextWithNodes>{text}</TextWithNodes>{sets}</GateDocument>"


def test_annotation_sets_of_a_folder_are_its_annotators_and_a_file_may_lack_one(tmp_path: Path) -> None:
    write(tmp_path / "1.xml", gate(ann=3, bob=2))
    write(tmp_path / "2.xml", gate(ann=3, carl=3))
    write(tmp_path / "3.xml", gate(bob=3))

    every = agree(tmp_path).to_dict()
    two = agree(tmp_path, annotators={"a": "ann", "b": "bob"}).to_dict()

    assert every["annotators"] == ["ann", "bob", "carl"]
    assert every["common"] == [[2, 1, 1], [1, 1, 0], [1, 0, 1]]
    assert every["agreement"]["label"]["f1"]["exact"]["matrix"] == [
        [None, 0.0, 1.0],
        [0.0, None, None],
        [1.0, None, None],
    ]
    assert (two["annotators"], two["documents"], two["left_out"]) == (["a", "b"], 1, 2)


def test_annotation_set_that_no_file_of_a_folder_has_is_an_error(tmp_path: Path) -> None:
    for name in ("1", "2"):
        write(tmp_path / f"{name}.xml", gate(ann=3, bob=2))

    with pytest.raises(CluevalError, match="no file has the annotation set 'bobby'"):
        agree(tmp_path, annotators={"ann": "ann", "bob": "bobby"})


def test_one_annotation_set_is_no_agreement(tmp_path: Path) -> None:
    path = write(tmp_path / "1.xml", gate(ann=3, bob=2))

    with pytest.raises(CluevalError, match="the annotation set 'ann' is one annotator"):
        agree(path, annotation_set="ann")


@pytest.mark.parametrize(("end", "expected"), [(0, ["ann", "bob"]), (2, ["default set", "ann", "bob"])])
def test_default_annotation_set_is_an_annotator_if_it_has_spans(
    end: int, expected: list[str], tmp_path: Path
) -> None:
    path = write(tmp_path / "1.xml", gate(nameless=end, ann=3, bob=2))

    assert agree(path).to_dict()["annotators"] == expected


def test_file_without_annotation_sets_has_one_annotator(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps([{"text": "a", "label": []}]))

    with pytest.raises(CluevalError, match="one file has one annotator"):
        agree(path)


def test_annotators_with_tokens_and_with_texts_are_placed_on_one_text(tmp_path: Path) -> None:
    columns = write(tmp_path / "a.conll", "# newdoc id = 1\nAda\tB-PER\nmet\tO\nBob\tB-PER\n\n")
    text = write(
        tmp_path / "b.jsonl", json.dumps({"id": 1, "text": TEXT, "label": [[0, 3, "PER"], [8, 10, "PER"]]})
    )
    rows = write(
        tmp_path / "c.jsonl", json.dumps({"id": "1", "tokens": TEXT.split(), "ner_tags": ["B-PER", "O", "O"]})
    )

    found = agree({"a": columns, "b": text, "c": rows})

    assert [(each.start, each.end, each.kind) for each in found.disagreements()] == [
        (8, 11, "boundary+missing")
    ]
