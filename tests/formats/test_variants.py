"""Files as other programs write them: variants of each format, and what is wrong in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, read

Found = list[tuple[int, int, str]]


def written(folder: Path, name: str, content: object) -> Path:
    """A file of this content, which is text, or a list of JSON rows."""
    path = folder / name
    rows = content if isinstance(content, list) else []
    text = content if isinstance(content, str) else "\n".join(map(json.dumps, rows))
    path.write_bytes(text.encode())
    return path


def spans_of(path: Path, **options: Any) -> Found:
    """The spans of all layers and documents."""
    return [
        (span.start, span.end, span.label)
        for document in read(path, **options)
        for spans in document.layers.values()
        for span in spans
    ]


PRODIGY = {"_input_hash": 1, "answer": "accept"}
LABEL = {"from_name": "label", "type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}
BEGIN = "#begin document (bc/cnn_01); part 000\n"


def task(*results: object) -> dict[str, object]:
    """A task of Label Studio."""
    return {"id": 1, "data": {"text": "Ada sat"}, "annotations": [{"completed_by": 1, "result": results}]}


VARIANTS = {
    "doccano with start and end": [{"text": "Ada", "entities": [{"start": 0, "end": 3, "label": "PER"}]}],
    "doccano with the spans of a pipeline of hugging face": [
        {"text": "Ada", "entities": [{"start": 0, "end": 3, "entity_group": "PER", "score": 0.9}]}
    ],
    "spacy in one object": [
        {"classes": ["PER"], "annotations": [None, ["Ada", {"entities": [[0, 3, "PER"]]}]]}
    ],
    "prodigy without hashes": [{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "PER"}]}],
    "prodigy with tokens alone": [
        {
            "tokens": [{"text": "Ada", "start": 0, "end": 3}, {"text": "sat", "start": 4, "end": 7}],
            "spans": [{"start": 0, "end": 3, "label": "PER"}],
            **PRODIGY,
        }
    ],
    "doccano with null first": [
        {"text": "", "label": None},
        {"text": "Ada", "label": [[0, 3, "PER"]]},
    ],
    "label studio with a line end in a text, which the text of a span has as two characters": [
        {
            **task({**LABEL, "value": {**LABEL["value"], "text": "A\\na"}}),
            "data": {"text": "A\na sat"},
        }
    ],
    "label studio with a note on a region": [
        task(LABEL, {"from_name": "note", "type": "textarea", "value": {"start": 0, "end": 3, "text": ["?"]}})
    ],
    "token rows with labels": [{"words": ["Ada", "sat"], "labels": ["B-PER", "O"]}],
    "multiconer": "# id 5239d808-f300\tdomain=en\nAda _ _ B-PER\nsat _ _ O\n\n# id 77\tdomain=en\nsat _ _ O\n",
    "conll with # and brackets": "[ O\n# O\nAda B-PER\n",
    "i2b2 without line ends": '<?xml version="1.0"?>\n<deIdi2b2><TEXT>Ada</TEXT>'
    '<TAGS><NAME start="0" end="3" TYPE="PER"/></TAGS></deIdi2b2>',
    "meddocan": '<?xml version="1.0"?>\n<MEDDOCAN><TEXT><![CDATA[Ada]]></TEXT>'
    '<TAGS><NAME start="0" end="3" text="Ada" TYPE="PER"/></TAGS></MEDDOCAN>\n',
    "conll-2012 without brackets": BEGIN.replace("(bc/cnn_01);", "bc/cnn_01").replace(" part 000", "")
    + "x 0 0 Ada NNP * - - - - (PER) -\nx 0 1 sat VBD * - - - - _ -\n#end document\n",
}

PLACES = {"multiconer": (0, 1), "token rows with labels": (0, 1), "conll with # and brackets": (2, 3)} | {
    "conll-2012 without brackets": (0, 1)
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_of_a_format_is_recognised_and_read(variant: str, tmp_path: Path) -> None:
    path = written(tmp_path, "file.dat", VARIANTS[variant])

    assert spans_of(path) == [(*PLACES.get(variant, (0, 3)), "PER")]


def test_i2b2_2006_has_a_document_for_each_record() -> None:
    path = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "i2b2-2006" / "records.xml"
    first, second = read(path)

    assert (first.id, second.id, list(second.layers["label"])) == ("501", "502", [])
    assert [(span.label, first.text_of(span)) for span in first.layers["label"]] == [
        ("DATE", "02/29"),
        ("HOSPITAL", "St. Brendan"),
        ("DOCTOR", "Ada Lindqvist"),
    ]
    assert {span.label for span in next(read(path, {"x": "category"})).layers["x"]} == {"PHI"}


@pytest.mark.parametrize(
    "names",
    [
        ["O", "B-PER"],
        {"0": "O", "1": "B-PER"},
        {"label2id": {"O": 0, "B-PER": 1}},
        {"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}}}},
        {"features": {"ner_tags": [{"names": ["O", "B-PER"], "_type": "ClassLabel"}]}},
        {"conll2003": {"features": {"ner_tags": {"feature": {"names": ["O", "B-PER"]}, "length": -1}}}},
        {"features": [{"name": "ner_tags", "sequence": {"class_label": {"names": {"0": "O", "1": "B-PER"}}}}]},
    ],
)  # fmt: skip
def test_names_of_tags_stand_in_any_file_of_hugging_face(names: object, tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", [{"tokens": ["Ada", "sat"], "ner_tags": [1, 0]}])
    (tmp_path / "names.json").write_text(json.dumps(names), encoding="utf-8")

    assert spans_of(path, names=tmp_path / "names.json") == [(0, 1, "PER")]


def test_brat_keeps_several_values_of_one_attribute(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada", encoding="utf-8")
    lines = [
        "T1-x\tPER 0 3\tAda",
        "N1\tRef T1-x W:Q1\tAda",
        "N2\tRef T1-x W:Q2\tAda",
        "#1\tNote T1-x\tx",
        "# free",
    ]
    (document,) = read(written(tmp_path, "a.ann", "\n".join(lines)))

    assert document.layers["label"][0].features == {"Ref": ["W:Q1", "W:Q2"]}


WRONG = {
    '{"text": "a", "_input_hash": 1, "answer": "accept", "options": [], "accept": ["A"]}': "1: the row classifies its",
    '{"text": "a", "label": [[NaN, 1, "A"]]}': r"1: the start of a span is nan, not a whole number",
    '{"text": "a", "label": [[0, 1e999, "A"]]}': r"1: the end of a span is inf, not a whole number",
    '{"text": "a", "entities": [{"start": 0}]}': r"1: the end_offset of a span is missing",
    '{"001": [[0, 1], [3, 2]]}': r"span \[3,2\) '_' ends before it starts",
    '{"text": "a", "ents": [{"start": 0, "end": 1, "text": ["a"]}]}': "1: the text of a span is not a text",
    '[{"text": "a", "label": [[0, 1, "A"]]},]': "2: not JSON: '\\]' where a value is expected",
    '{"text": "a", "label": []},\n{"text": "a", "label": []}': "2: not JSON: ',' where a value is expected",
    '["a", {"label": [[0, 1, "A"]]}]': "1: a row has 'label' and no 'entities'",
    '<?xml version="1.0"?>\n<deIdi2b2><TEXT>' + "<a>" * 100_000 + "</TEXT>": ":2: an element <a> in the text",
    '<?xml version="1.0"?>\n<!DOCTYPE x SYSTEM "file:///etc/passwd">\n<ROOT><RECORD ID="1">': "type declaration",
    "# x | value\n#id=1\n#text=Ada\n1-1\tAda\tB-PER\n": "version 1 or 2 of WebAnno TSV",
    "#FORMAT=WebAnno TSV 3.3#T_SP=a.X|v#Text=a1-1\t0-1\ta\t*\t": ":1: the first line has more .* line breaks",
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.X|v\n\n\n#Text=a\n1-1\t99999999999-99999999999\ta\t*\n": ":6: a gap of",
}


@pytest.mark.parametrize("content", WRONG, ids=lambda content: content[:40])
def test_wrong_value_is_refused_with_its_place(content: str, tmp_path: Path) -> None:
    path = written(tmp_path, "file.dat", content)

    with pytest.raises(CluevalError, match=WRONG[content]):
        list(read(path))


@pytest.mark.parametrize(
    ("rows", "layers"),
    [([task(LABEL)], {"x": "nope"}), ([{"text": "a", "ents": [], "spans": {"sc": []}}], {"x": "spans.nope"})],
)
def test_source_that_no_row_has_is_refused(
    rows: list[object], layers: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises(CluevalError, match=r"no row has '.*nope', the source of layer 'x'"):
        list(read(written(tmp_path, "a.jsonl", rows), layers))


def test_event_without_its_span_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada", encoding="utf-8")
    path = written(tmp_path, "a.ann", "T1\tPER 0 3\tAda\nE1\tPER:T9\n")

    with pytest.raises(CluevalError, match=r"a.ann:2: no line has the span 'T9' of an event"):
        list(read(path))
