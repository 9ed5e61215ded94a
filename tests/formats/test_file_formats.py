"""Formats with readers of their own, and answers of models as they are stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.document import Document
from clueval.files.errors import FormatError, UsageError
from clueval.files.options import Limits
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.reading.source import Source, form_of_file
from tests.formats.outcomes import outcome, read_as

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def new(path: Path, name: str | None, texts: Any = tuple, **options: Any) -> Any:
    return outcome(lambda: read_as(InputFile(path, texts=texts), FormatOptions(**options), name))


# Tables

HEAD = "document\tstart\tend_inclusive\tlabel"
TEXTS = [Document("a", {}, ["Ada", "in", "Ulm"]), Document("b", {}, ["Bob"], start=3)]

TABLES = {
    f"{HEAD}\na\t0\t0\tPER\na\t2\t2\tLOC\nb\t3\t3\tPER\n": [(0, 1, "PER"), (2, 3, "LOC"), (3, 4, "PER")],
    'document,start,end_exclusive,label\na,0,1,PER\n\nb,3,4,"L,C"\n': [(0, 1, "PER"), (3, 4, "L,C")],
    "Dok;Von;Bis;risk;kind\na;0;0;high;\na;2;2;;x\n": [(0, 1, "high"), (2, 3, "x")],
    f"{HEAD}\tscore\tfragments\na\t0\t2\tPER\t0.5\t0-0;2-2\n": [(0, 3, "PER")],
    "document\tstart\tend_inclusive\nb\t\t\na\t0.0\t0.0\n": [(0, 1, "_")],
    "Unnamed: 0\tdocument\tstart\tend_inclusive\tlabel\n0\ta\t0\t0\tPER\n": [(0, 1, "PER")],
    "start\tend_inclusive\tlabel\n0\t0\tPER\n3\t3\tLOC\n": [(0, 1, "PER"), (3, 4, "LOC")],
    'start,end_exclusive,label\n3,4,"a ""b"""\n0,1,PER\n': [(0, 1, "PER"), (3, 4, 'a "b"')],
    "": [],
}

WRONG_TABLES = [
    (f"{HEAD}\nc\t0\t0\tPER\n", "the text has no document 'c'", 2),
    (f"{HEAD}\na\t0\t9\tPER\n", "the span from 0 to 9 (inclusive) lies outside the document", 2),
    (f"{HEAD}\na\tx\t9\tPER\n", "'x' is not a position", 2),
    (f"{HEAD}\na\t-1\t1\tPER\n", "'-1' is not a position", 2),
    (f"{HEAD}\na\t0\t0\n", "the line has 3 fields, the header has 4", 2),
    (f"{HEAD}\na\t2\t0\tPER\n", "the span ends before it starts: 2 to 0", 2),
    (f"{HEAD}\na\t0\t0\t\n", "the span has no label in any layer", 2),
    (f"{HEAD}\ttext\na\t0\t1\tPER\tAda\n", "the ends under 'end_inclusive' are inclusive, but the text", 2),
    (f"{HEAD}\tend\na\t0\t0\tPER\t0\n", "several columns of the header are for the end: end_inclusive, end", 1),
    ("document\tstart\tlabel\na\t0\tPER\n", "the header lacks a column 'start' or one column for the end", 1),
    ("start\tstart\tend_inclusive\n0\t0\t0\n", "two columns of the header have the same name", 1),
    (f"{HEAD}\tfragments\na\t0\t0\tPER\tx\n", "'x' are not fragments", 2),
    (f"{HEAD}\tscore\na\t0\t0\tPER\tx\n", "the score 'x' is not a number", 2),
    ('document,start,end_exclusive,label\na,0,1,"PER\n', "a quotation mark is not closed", 2),
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_table_of_spans_is_read(table: str, tmp_path: Path) -> None:
    file = InputFile(written(tmp_path, "a.tsv", table), texts=lambda: TEXTS)

    documents = list(read_as(file, FormatOptions(), "spans"))

    spans = [span for document in documents for own in document.layers.values() for span in own]
    assert [(span.start, span.end, span.label) for span in spans] == TABLES[table]
    assert [document.id for document in documents] == ["a", "b"]


@pytest.mark.parametrize(("table", "problem", "line"), WRONG_TABLES)
def test_wrong_table_is_refused_with_its_line(table: str, problem: str, line: int, tmp_path: Path) -> None:
    _, found, number = new(written(tmp_path, "a.tsv", table), "spans", lambda: TEXTS)

    assert (found[: len(problem)], number) == (problem, line)


@pytest.mark.parametrize(
    ("layers", "problem"),
    [
        ({"x": 5}, "there is no column 5 for layer 'x'"),
        ({"x": "document"}, "column document is 'document', which cannot be a layer"),
    ],
)
def test_column_that_cannot_be_a_layer_is_refused(layers: Any, problem: str, tmp_path: Path) -> None:
    found = new(written(tmp_path, "a.tsv", f"{HEAD}\n"), "spans", lambda: TEXTS, layers=layers)

    assert found == (FormatError, problem, 1)


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("table", [*TABLES][3:5] + [wrong for wrong, _, _ in WRONG_TABLES[:3]])
def test_table_in_a_workbook_is_read_as_one_with_tabs(table: str, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in table.splitlines()]
    cells = [[int(cell) if cell.isdecimal() else cell or None for cell in row] for row in rows]

    found = new(workbook(tmp_path / "a.xlsx", [["a note"]], cells), None, lambda: TEXTS)

    assert found == new(written(tmp_path, "a.tsv", table), None, lambda: TEXTS)


def test_workbook_needs_one_sheet_with_a_table(tmp_path: Path) -> None:
    none = workbook(tmp_path / "a.xlsx", [["a note"]])
    two = workbook(tmp_path / "b.xlsx", *[[["start", "end", "label"]]] * 2)
    damaged = written(tmp_path, "c.xlsx", none.read_bytes()[:200])

    assert new(none, None) == (FormatError, "no sheets have a header with start and end", 1)
    assert new(two, None) == (FormatError, "2 sheets have a header with start and end", 1)
    assert new(damaged, None)[:2] == (FormatError, "is no workbook that can be read (BadZipFile)")


GATE = (
    '<?xml version="1.0"?>\n<GateDocument version="3">\n<TextWithNodes><Node id="0"/>\U0001f600<Node id="2"/>Ada'
    '<Node id="5"/></TextWithNodes>\n<AnnotationSet Name="Key">\n<Annotation Id="7" Type="Person" StartNode="2" '
    'EndNode="5">\n<Feature><Name className="java.lang.String">score</Name>\n'
    '<Value className="java.lang.Double">0.9</Value></Feature>\n</Annotation>\n</AnnotationSet>\n</GateDocument>\n'
)


def test_only_annotation_set_is_read_and_of_several_one_must_be_named(tmp_path: Path) -> None:
    one = written(tmp_path, "a.xml", GATE)
    two = written(
        tmp_path, "b.xml", GATE.replace("</GateDocument>", '<AnnotationSet Name="Run"/></GateDocument>')
    )

    assert new(one, None) == new(one, None, annotation_set="Key")
    with pytest.raises(UsageError, match="several annotation sets, but none is named") as caught:
        list(read_as(InputFile(two), FormatOptions()))
    assert (caught.value.advice or "").startswith("its sets: 'Key', 'Run'; ")


@pytest.mark.parametrize(
    ("file", "sets"),
    [
        ("label-studio/tasks.json", None),
        ("tab/gold.json", ["annotator1", "annotator2"]),
        ("doccano/gold.jsonl", None),
        ("gliner/gold.json", []),
        ("brat/one.ann", []),
        ("webanno/gold.tsv", []),
    ],
)
def test_annotation_sets_of_a_file_are_those_that_its_error_lists(file: str, sets: list[str] | None) -> None:
    path = InputFile(SAMPLES / file)
    found = Source(path, form_of_file(path), FormatOptions()).sets()

    assert sets is None or found == sets
    if found:
        with pytest.raises(UsageError, match="there is no annotation set 'none'") as caught:
            list(read_as(path, FormatOptions(annotation_set="none")))
        assert all(repr(name) in (caught.value.advice or "") for name in found)


def test_annotation_sets_of_gate_are_named_but_not_an_empty_default_set(tmp_path: Path) -> None:
    sets = '<AnnotationSet/><AnnotationSet Name="Run"/></GateDocument>'

    path = InputFile(written(tmp_path, "a.xml", GATE.replace("</GateDocument>", sets)))

    assert Source(path, form_of_file(path), FormatOptions()).sets() == ["Key", "Run"]


@pytest.mark.parametrize("name", ["nerval", "fair-spans", "conll2000", "gate-xml"])
def test_layers_of_a_format_without_sources_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"the format {name} has no columns to name as layers"):
        read_as(InputFile(written(tmp_path, "a", "")), FormatOptions(layers={"x": 1}), name)


# Limits


WEBANNO = "#FORMAT=WebAnno TSV 3.3\n\n#Text=a b\n1-1\t0-1\ta\n1-2\t2-3\tb\n"


@pytest.mark.parametrize(
    ("name", "text", "limits", "problem"),
    [
        ("conll", "a\tO\nb\tO\nc\tO\n", {"max_sentence": 2}, "the sentence that begins here has more tokens than 2"),
        ("conll", "a\tO\n\nb\tO\n\nc\tO\n", {"max_document": 2}, "the document that begins here is held as a whole"),
        ("conll", "a\tO\n" + "b" * 300 + "\tO\n", {"max_line": 200}, "a line of more than 200 bytes"),
        ("conll2000", "a b O\n" * 3, {"max_sentence": 2}, "the sentence that begins here has more tokens than 2"),
        ("nerval", "a O\n" * 3, {"max_sentence": 10}, "the file is held as a whole and has more lines than 2"),
        ("spans", "start\tend_inclusive\n0\t0\n0\t0\n", {"max_sentence": 10}, "the file is held as a whole"),
        ("ltf", "<body><e>a</e></body>", {"max_sentence": 10}, "the file is held as a whole and has more tags"),
        ("gate-xml", GATE, {"max_sentence": 10}, "the file is held as a whole and has more tags"),
        ("ltf", "<body>a</body>", {"max_line": 5}, "a file of more than 5 bytes"),
        ("doccano", '{"text": "' + "a" * 300 + '", "label": []}', {"max_line": 200}, "a value of more than 200 char"),
        ("doccano", '{"text": ' + "[" * 100_000, {}, "JSON that is nested too deep"),
        ("webanno", WEBANNO, {"max_sentence": 1}, "the sentence that begins here"),
    ],
)  # fmt: skip
def test_input_above_a_limit_is_refused(
    name: str, text: str, limits: dict[str, int], problem: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "a", text)

    with pytest.raises(FormatError) as caught:
        list(read_as(InputFile(path, Limits(**limits)), FormatOptions(), name))

    assert caught.value.problem.startswith(problem)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("value", [0, -1, True, "1"])
def test_limit_that_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"max_line=.* is not a limit"):
        Limits(max_line=value)


def test_json_is_not_refused_for_its_commas(tmp_path: Path) -> None:
    spans = [{"type": "P", "start": 0, "end": 1, "id": number, "features": {}} for number in range(300)]
    row = {"text": "Ada", "offset_type": "p", "annotation_sets": {"Key": {"annotations": spans}}}
    path = written(tmp_path, "a.bdocjs", json.dumps(row))

    (document,) = read_as(InputFile(path, Limits(max_sentence=10)), FormatOptions())

    assert len(document.layers["label"]) == 300
