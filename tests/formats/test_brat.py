"""brat: spans, parts, attributes and links; what is passed over; positions as on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clueval import Document, read, score
from clueval.files.errors import CluevalError, FileError

FOLDER = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "brat"


def annotated(folder: Path, annotations: str, text: str = "Ada met Bob.\n", name: str = "a.ann") -> Path:
    (folder / "a.txt").write_bytes(text.encode())
    (folder / name).write_bytes(annotations.encode())
    return folder / name


def only(path: Path, **options: Any) -> Document:
    (document,) = read(path, **options)
    return document


def test_brat_positions_count_the_byte_order_mark_and_both_characters_of_crlf() -> None:
    document = only(FOLDER / "one.ann")

    assert [(document.text_of(span), span.label) for span in document.layers["label"]] == [
        ("Frida Kahlo", "Person"),
        ("lived", "Living"),
        ("Coyoacán", "Place"),
        ("New or Old York", "Place"),
        ("Old York", "Place"),
    ]
    assert document.layers["label"][3].fragments == ((48, 51), (59, 63))


def test_brat_attributes_and_links_are_features_and_those_of_events_belong_to_the_trigger() -> None:
    spans = only(FOLDER / "one.ann").layers["label"]

    assert spans[0].features == {"Sure": "high", "Reference": "Wikidata:Q5588"}
    assert (spans[1].features, spans[4].features) == ({"Negated": True}, {"Guess": True})


def test_brat_attribute_is_a_source_of_a_layer_with_only_the_spans_that_have_it() -> None:
    document = next(read(FOLDER / "one.ann", {"sure": "Sure", "no": "Negated"}))

    assert [span.label for span in document.layers["sure"]] == ["high"]
    assert [span.label for span in document.layers["no"]] == ["Negated"]
    with pytest.raises(CluevalError, match="layer 'x' has the column 2, but brat has no columns"):
        next(read(FOLDER / "one.ann", {"x": 2}))


def test_brat_folder_is_its_annotation_files_named_without_ending() -> None:
    assert [(document.id, len(document.layers["label"])) for document in read(FOLDER)] == [
        ("one", 5),
        ("two", 0),
    ]


def test_brat_relations_events_equivalences_and_notes_are_passed_over() -> None:
    result = score(FOLDER, FOLDER, metrics="exact")

    assert result.documents == 2
    assert result.passed_over["gold"] == {"equivalences": 1, "events": 1, "notes": 1, "relations": 1}


@pytest.mark.parametrize("shown", ["Bob Ada", "Ada Bob"])
def test_brat_parts_stand_in_any_order_with_the_text_in_either(shown: str, tmp_path: Path) -> None:
    (span,) = only(annotated(tmp_path, f"T1\tPer 8 11;0 3\t{shown}\n")).layers["label"]

    assert span.fragments == ((0, 3), (8, 11))


def test_brat_a1_and_a2_are_one_file(tmp_path: Path) -> None:
    path = annotated(tmp_path, "T1\tPer 0 3\tAda\n", name="a.a1")
    (tmp_path / "a.a2").write_text("T2\tPer 8 11\tBob\nE1\tPer:T2\nM1\tSure E1\n")

    assert [(span.id, dict(span.features)) for span in only(path).layers["label"]] == [
        ("T1", {}),
        ("T2", {"Sure": True}),
    ]


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ("X1\tPer 0 3\tAda\n", "a.ann:1: 'X1' is not an id of brat"),
        ("T1\tPer 0 3\tAda\nT1\tPer 0 3\tAda\n", "a.ann:2: the id 'T1' occurs twice"),
        (
            "T1\tPer 0 3\tBob\n",
            "a.ann:1, document 'a': the text of T1 differs from the text at its positions",
        ),
        ("T1\tPer 0 99\tAda\n", "a.ann:1, document 'a': T1 lies outside the text"),
        ("T1\tPer 0 99\tAda\n", "its positions are 0 to 99, and the text has"),
        ("T1\tPer 0\tAda\n", "a.ann:1: the positions of T1 cannot be read"),
        ("T1\tPer 3 0\tAda\n", "ends before it starts"),
        ("T1\tPer 0 3;2 5\tAda\n", "a.ann:1: the part [2,5) of span [0,5) overlaps the part before it"),
        ("A1\tSure T9\n", "a.ann:1: no line has the id 'T9'"),
        ("A1\tSure\n", "a.ann:1: an attribute needs a name and the id of a span"),
        ("T1\t 0 3\tAda\n", "a.ann:1: T1 has no type"),
    ],
)
def test_brat_error_names_the_line(annotations: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CluevalError) as caught:
        only(annotated(tmp_path, annotations))

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "start", "advice"),
    [
        ("😀 Ada met Bob.", 3, "offsets='utf16'"),
        ("ää Ada met Bob.", 5, "offsets='bytes'"),
        ("\ufeffAda met Bob.", 0, "without the byte-order mark"),
        ("x\r\nAda met Bob.", 2, "if lines end with LF"),
    ],
)
def test_brat_error_of_another_text_says_which_unit_fits(
    text: str, start: int, advice: str, tmp_path: Path
) -> None:
    path = annotated(tmp_path, f"T1\tPer {start} {start + 3}\tAda\n", text)

    with pytest.raises(CluevalError, match=advice):
        only(path)


@pytest.mark.parametrize(("unit", "start"), [("utf16", 3), ("bytes", 5)])
def test_brat_positions_are_read_in_the_unit_that_is_named(unit: str, start: int, tmp_path: Path) -> None:
    path = annotated(tmp_path, f"T1\tPer {start} {start + 3}\tAda\n", "😀 Ada met Bob.")

    assert only(path, offsets=unit).layers["label"][0].start == 2


def test_brat_without_a_text_is_an_error_that_says_where_it_belongs(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text("")

    with pytest.raises(FileError, match=r"a\.ann: the text .*a\.txt of this file does not exist"):
        only(tmp_path / "a.ann")


@pytest.mark.parametrize("more", ["", "T2\tPER 8 9;10 11\tB b\n", "T2\tPER 8 7\tBob\n"])
def test_brat_folders_are_scored_as_their_documents(more: str, tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        for name in "ab":
            (tmp_path / side).mkdir(exist_ok=True)
            annotated(tmp_path / side, f"T1\tPER 0 3\tAda\n{more if name == 'b' else ''}", name=f"{name}.ann")

    def outcome(*sides: Any) -> Any:
        try:
            return score(*sides, metrics="exact").scores()
        except CluevalError as error:
            return error.problem

    def documents(side: str) -> Any:
        return [document for name in "ab" for document in read(tmp_path / side / f"{name}.ann")]

    try:
        expected = outcome(documents("gold"), documents("predicted"))
    except CluevalError as error:
        expected = error.problem
    assert outcome(tmp_path / "gold", tmp_path / "predicted") == expected
