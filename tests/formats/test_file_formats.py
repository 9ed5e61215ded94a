"""Formats with readers of their own, and answers of models as they are stored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.document import Document
from clueval.files.errors import FormatError, UsageError
from clueval.files.limits import Limits
from clueval.formats.documents import read_file, read_rows, sets_of_file
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.tables import read_table
from tests.formats.outcomes import contents, outcome

Check = Callable[[Any], None]

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

OF_SAMPLES: list[tuple[str, str, dict[str, Any]]] = [
    ("brat", "brat/one.ann", {}),
    ("brat", "brat/two.ann", {}),
    ("brat", "brat/two.ann", {"layers": {"sure": "Sure"}}),
    ("brat", "brat/two.ann", {"layers": {"x": 2}}),
    ("inline", "inline/answer.txt", {}),
    ("inline", "inline/answer.txt", {"labels": ["LOC"]}),
    ("webanno", "webanno/gold.tsv", {}),
    ("webanno", "webanno/gold.tsv", {"layers": {"x": "none"}}),
]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def new(path: Path, name: str | None, texts: Any = tuple, **options: Any) -> Any:
    return outcome(lambda: read_file(InputFile(path, texts=texts), FormatOptions(**options), name=name))


@pytest.mark.parametrize(("name", "file", "options"), OF_SAMPLES)
def test_samples_are_read_as_recorded(
    name: str, file: str, options: dict[str, Any], is_recorded: Check
) -> None:
    is_recorded(new(SAMPLES / file, name, **options))


@pytest.mark.long
@pytest.mark.parametrize("file", ["xmi/gold.xmi", "uima-json/gold.json"])
@pytest.mark.parametrize("options", [{}, {"layers": {"x": "none"}}, {"annotation_set": "none"}])
def test_samples_of_uima_are_read_as_recorded(file: str, options: dict[str, Any], is_recorded: Check) -> None:
    is_recorded(new(SAMPLES / file, None, **options))


def without_layers(documents: Iterator[Document]) -> Iterator[Document]:
    return (replace(document, layers={}, tags={}) for document in documents)


# Files by hand

BRAT = "T1\tPerson 0 3\tAda\nT2\tPlace 7 10;11 14\tUlm Ulm\nA1\tSure T1\nA2\tKind T1 a b\nA3\tKind T1 c\n"
BRAT += "N1\tReference T2 Wikidata:Q1\tUlm\nE1\tBirth:T1 Where:T2\nR1\tIn Arg1:T1 Arg2:T2\n*\tEquiv T1 T2\n"
BRAT += "#1\tAnnotatorNotes T1\tnote\nM1\tNegated E1\n"

BRATS = [
    ("Ada in Ulm Ulm", BRAT),
    ("Ada in Ulm Ulm", BRAT.replace("\n", "\r\n")),
    ("\ufeffAda", "T1\tP 1 4\tAda\n"),
    ("a\r\nb", "T1\tP 0 1;3 4\ta b\n"),
    ("a\r\nb", "T1\tP 0 4\ta b\n"),
    ("Ada", ""),
    ("Ada", "X1\tP 0 3\tAda\n"),
    ("Ada", "T1\tP 0 9\tAda\n"),
    ("Ada", "T1\tP 3 0\tAda\n"),
    ("Ada", "T1\tP 0 3\tEva\n"),
    ("\U0001f600 Ada", "T1\tP 3 6\tAda\n"),
    ("Ada", "T1\tP 0 x\tAda\n"),
    ("Ada", "T1\t 0 3\tAda\n"),
    ("Ada", "T1\tP 0 3\tAda\nT1\tP 0 3\tAda\n"),
    ("Ada", "A1\tSure\n"),
    ("Ada", "A1\tSure T7\n"),
    ("Ada", "E1\tBirth:T9\n"),
    ("Ada", "*\tEquiv T1 T2\n"),
    ("Ada", "T1\tP 0 2;1 3\tAda\n"),
]


@pytest.mark.parametrize(("text", "annotations"), BRATS)
@pytest.mark.parametrize("options", [{}, {"layers": {"sure": "Sure", "kind": "Kind"}}, {"offsets": "utf16"}])
def test_stand_off_files_are_read_as_recorded(
    text: str, annotations: str, options: dict[str, Any], tmp_path: Path, is_recorded: Check
) -> None:
    written(tmp_path, "a.txt", text)
    path = written(tmp_path, "a.ann", annotations)

    is_recorded(new(path, None, **options))


def test_annotations_in_two_files_are_one_document(tmp_path: Path, is_recorded: Check) -> None:
    written(tmp_path, "a.txt", "Ada in Ulm")
    path = written(tmp_path, "a.a1", "T1\tPerson 0 3\tAda\n")
    written(tmp_path, "a.a2", "T2\tPlace 7 10\tUlm\nE1\tBirth:T2\n")

    is_recorded(new(path, None))


def test_stand_off_file_without_its_text_is_refused(tmp_path: Path, is_recorded: Check) -> None:
    path = written(tmp_path, "a.ann", "")

    is_recorded(new(path, None))


TABLES = [
    "document\tstart\tend_inclusive\tlabel\na\t0\t0\tPER\na\t2\t2\tLOC\nb\t0\t0\tPER\n",
    'document,start,end_exclusive,label\na,0,1,PER\n\nb,0,1,"L,C"\n',
    "Dok;Von;Bis;risk;kind\na;0;0;high;\na;2;2;;x\n",
    "document\tstart\tend\tlabel\na\t0\t0\tPER\n",
    "document\tstart\tend_inclusive\tlabel\ttext\na\t0\t0\tPER\tAda\n",
    "document\tstart\tend_inclusive\tlabel\ttext\na\t0\t1\tPER\tAda\n",
    "document\tstart\tend_inclusive\tlabel\tscore\tfragments\na\t0\t2\tPER\t0.5\t0-0;2-2\n",
    "document\tstart\tend_inclusive\nb\t\t\na\t0.0\t0.0\n",
    "Unnamed: 0\tdocument\tstart\tend_inclusive\tlabel\n0\ta\t0\t0\tPER\n",
    "document\tstart\tend_inclusive\tlabel\nc\t0\t0\tPER\n",
    "document\tstart\tend_inclusive\tlabel\na\t0\t9\tPER\n",
    "document\tstart\tend_inclusive\tlabel\na\tx\t9\tPER\n",
    "document\tstart\tend_inclusive\tlabel\na\t0\t0\n",
    "document\tstart\tend_inclusive\tlabel\na\t2\t0\tPER\n",
    "document\tstart\tend_inclusive\tlabel\na\t0\t0\t\n",
    "document\tstart\tend_inclusive\tend\tlabel\na\t0\t0\t0\tPER\n",
    "document\tstart\tlabel\na\t0\tPER\n",
    "start\tstart\tend_inclusive\n0\t0\t0\n",
    "document\tstart\tend_inclusive\tlabel\tfragments\na\t0\t0\tPER\tx\n",
    "document\tstart\tend_inclusive\tlabel\tscore\na\t0\t0\tPER\tx\n",
    'document,start,end_exclusive,label\na,0,1,"PER\n',
    "start\tend_inclusive\tlabel\n0\t0\tPER\n3\t3\tLOC\n",
    "id\tstart\tend_inclusive\tlabel\na\t0\t0\tPER\nb\t0\t0\tLOC\n",
    "",
]
VRT = "<text id='a'>\nAda\nin\nUlm\n</text>\n<text id='b'>\nBob\n</text>\n"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("layers", [None, {"x": "label"}, {"x": 4}])
def test_tables_of_spans_are_read_as_recorded(
    table: str, layers: Any, tmp_path: Path, is_recorded: Check
) -> None:
    path = written(tmp_path, "a.tsv", table)
    text = written(tmp_path, "a.vrt", VRT)

    def texts() -> Iterator[Document]:
        return without_layers(read_file(InputFile(text), FormatOptions(layers={}), name="vrt"))

    is_recorded(new(path, "spans", texts, layers=layers))


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("table", [TABLES[0], TABLES[6], TABLES[7], TABLES[9], TABLES[11], TABLES[14]])
def test_table_in_a_workbook_is_read_as_one_with_tabs(table: str, tmp_path: Path) -> None:
    rows = [line.split("\t") for line in table.splitlines()]
    cells = [[int(cell) if cell.isdecimal() else cell or None for cell in row] for row in rows]
    text = [Document("a", {}, ["Ada", "in", "Ulm"]), Document("b", {}, ["Bob"], start=3)]

    found = new(workbook(tmp_path / "a.xlsx", [["a note"]], cells), None, lambda: text)

    assert found == new(written(tmp_path, "a.tsv", table), None, lambda: text)


def test_workbook_needs_one_sheet_with_a_table(tmp_path: Path) -> None:
    none = workbook(tmp_path / "a.xlsx", [["a note"]])
    two = workbook(tmp_path / "b.xlsx", *[[["start", "end", "label"]]] * 2)
    damaged = written(tmp_path, "c.xlsx", none.read_bytes()[:200])

    assert new(none, None) == (FormatError, "no sheets have a header with start and end", 1)
    assert new(two, None) == (FormatError, "2 sheets have a header with start and end", 1)
    assert new(damaged, None)[:2] == (FormatError, "is no workbook that can be read (BadZipFile)")


def test_ends_of_a_table_in_memory_are_exclusive() -> None:
    text = Document("a", {}, tokens=["Ada", "in", "Ulm"])

    def spans_of(end: str, value: str) -> list[tuple[int, int]]:
        records = [(0, ["document", "start", end, "label"]), (1, ["a", "0", value, "PER"])]
        (document,) = read_table(records, [text], FormatOptions(), in_memory=True)
        return [(span.start, span.end) for span in document.layers["label"]]

    assert spans_of("end", "1") == spans_of("end_inclusive", "0") == [(0, 1)]


MARKED = [
    "<PER>Ada</PER> in [Ulm](LOC:Q3)",
    "<PER>Ada <LOC>Ulm</LOC></PER>",
    "```\n<PER>Ada</PER>\n```",
    "a &lt; <b>c</b> [d] (e)",
    "<PER>Ada",
    "Ada</PER>",
    "<PER>a<LOC>b</PER>c</LOC>",
    "a](PER)",
    '{"id": "x", "text": "<PER>Ada</PER>"}\n{"text": "Ulm"}\n',
    '{"id": "x", "text": "<PER>Ada"}\n{"no": "y"}\nno\n',
    "",
]


@pytest.mark.parametrize("text", MARKED)
@pytest.mark.parametrize("unparsable", [None, "empty", "lenient"])
def test_inline_tags_are_read_as_recorded(
    text: str, unparsable: str | None, tmp_path: Path, is_recorded: Check
) -> None:
    path = written(tmp_path, "a.txt", text)

    is_recorded(new(path, "inline", unparsable=unparsable))


GATE = (
    '<?xml version="1.0"?>\n<GateDocument version="3">\n<TextWithNodes><Node id="0"/>\U0001f600<Node id="2"/>Ada'
    '<Node id="5"/></TextWithNodes>\n<AnnotationSet Name="Key">\n<Annotation Id="7" Type="Person" StartNode="2" '
    'EndNode="5">\n<Feature><Name className="java.lang.String">score</Name>\n'
    '<Value className="java.lang.Double">0.9</Value></Feature>\n</Annotation>\n</AnnotationSet>\n</GateDocument>\n'
)


@pytest.mark.parametrize(
    ("old", "changed"),
    [
        ("", ""),
        ('StartNode="2"', 'StartNode="9"'),
        ('StartNode="2" EndNode="5"', 'StartNode="5" EndNode="2"'),
        ('Id="7"', 'Id="x"'),
        ("0.9", "x"),
        ("</Annotation>", "</Annotation><Annotation Id='7' Type='A' StartNode='0' EndNode='2'/>"),
        ("<GateDocument", "<!DOCTYPE a><GateDocument"),
        ("<AnnotationSet", "<b/><AnnotationSet"),
        ("java.lang.Double", "java.util.ArrayList"),
        ("</GateDocument>", ""),
        ('<Node id="5"/>', '<Node id="2"/>'),
        ("<TextWithNodes>", "<TextWithNodes></TextWithNodes><TextWithNodes>"),
        ('version="1.0"', 'version="1.0" encoding="latin-1"'),
        ('version="1.0"', 'version="1.0" encoding="x"'),
    ],
)
def test_gate_documents_are_read_as_recorded(
    old: str, changed: str, tmp_path: Path, is_recorded: Check
) -> None:
    path = written(tmp_path, "a.xml", GATE.replace(old, changed, 1))

    for options in ({"annotation_set": "Key"}, {"annotation_set": "*"}):
        is_recorded(new(path, "gate-xml", **options))


def test_only_annotation_set_is_read_and_of_several_one_must_be_named(tmp_path: Path) -> None:
    one = written(tmp_path, "a.xml", GATE)
    two = written(
        tmp_path, "b.xml", GATE.replace("</GateDocument>", '<AnnotationSet Name="Run"/></GateDocument>')
    )

    assert new(one, None) == new(one, None, annotation_set="Key")
    with pytest.raises(UsageError, match="several annotation sets, but none is named") as caught:
        list(read_file(InputFile(two), FormatOptions()))
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
    found = sets_of_file(path)

    assert sets is None or found == sets
    if found:
        with pytest.raises(UsageError, match="there is no annotation set 'none'") as caught:
            list(read_file(path, FormatOptions(annotation_set="none")))
        assert all(repr(name) in (caught.value.advice or "") for name in found)


def test_annotation_sets_of_gate_are_named_but_not_an_empty_default_set(tmp_path: Path) -> None:
    sets = '<AnnotationSet/><AnnotationSet Name="Run"/></GateDocument>'

    path = written(tmp_path, "a.xml", GATE.replace("</GateDocument>", sets))

    assert sets_of_file(InputFile(path)) == ["Key", "Run"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nerval", "Roy B-PER\nde I-PER\nFrance B-LOC\n\net I-PER\ndort O\nici I-LOC\n"),
        ("nerval", "Roy\tB-PER\n"),
        ("nerval", "Roy B-PER x\n"),
        ("nerval", "Roy X\n"),
        ("nerval", "\n"),
        ("conll2000", "Ruhr NE B-ORG\nBochum NE I-ORG|B-LOC\n. $. I-ORG\n\nUlm NE I-LOC\n"),
        ("conll2000", "Ulm NE\n"),
        ("conll2000", "Ulm NE X-LOC\n"),
        ("conll2000", " NE B-LOC\n"),
        ("fair-spans", "PER\t6\t7\t6, 7\nLOC\t1\t3\t1,3\nNONE\t1\t1\t-\n\nPER\t1\t2\t-\n"),
        ("fair-spans", "PER\t0\t7\t6\n"),
        ("fair-spans", "PER\t8\t7\t6\n"),
        ("fair-spans", "PER\tx\t7\t6\n"),
        ("fair-spans", "PER\t1\t7\n"),
        ("fair-spans", "\t1\t7\t1\n"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"invalid": "error"}, {"layers": {"x": 1}}])
def test_tagged_and_listed_sentences_are_read_as_recorded(
    name: str, text: str, options: dict[str, Any], tmp_path: Path, is_recorded: Check
) -> None:
    if name == "fair-spans" and "invalid" in options:
        return
    path = written(tmp_path, "a.txt", text)

    is_recorded(new(path, name, **options))


@pytest.mark.parametrize(
    "tags",
    [
        "B-PER\nO\nB-LOC\n\nB-PER\n",
        "# id a\nB-PER\nO\nB-LOC\n\n\n# id b\nO\n",
        "# id c\nB-PER\nO\nB-LOC\n\nO\n",
        "B-PER\nO\n\nO\n",
        "B-PER\nO\nO\n",
        "B-PER\nO\nO\n\nO\n\nO\n",
        "B-PER x\n",
        "B-PER\nX\n",
        "O\nI-PER\nO\n\nO\n",
    ],
)
def test_tags_alone_get_the_tokens_of_gold(tags: str, tmp_path: Path, is_recorded: Check) -> None:
    gold = written(tmp_path, "gold.conll", "# id a x=y\nAda\tO\nin\tO\nUlm\tO\n\n# id b x=y\nBob\tO\n")
    path = written(tmp_path, "a.txt", tags)

    def texts() -> Iterator[Document]:
        return without_layers(read_file(InputFile(gold), FormatOptions()))

    for options in ({}, {"scheme": "BIO", "invalid": "error"}):
        is_recorded(new(path, "tags", texts, **options))


# Answers of language models

ADA = '{"PER": ["Ada"]}'


def mentions(documents: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (document.id, [(span.features["mention"], span.label) for span in document.layers["label"]])
        for document in documents
    ]


def test_run_in_rows_is_recognised_and_read_from_files_and_memory_alike(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "response": ADA},
        {"id": "b", "text": "Ada in Ulm", "completion": f"```json\n{ADA}\n```"},
        {"id": "c", "output": '{"PER": ["Ada",],}'},
    ]
    path = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    file, passed_over = InputFile(path), Counter[str]()

    found = mentions(read_file(file, FormatOptions()))

    assert found == [(name, [("Ada", "PER")]) for name in "abc"]
    assert found == mentions(read_rows(enumerate(rows, 1), FormatOptions(), passed_over=passed_over))
    assert file.passed_over["repaired answers"] == passed_over["repaired answers"] == 2


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (ADA, 0),
        ('{"PER": ["Ada, ]",]}', 1),
        ('{"PER": ["Ada, ]"]}', 0),
        (f"```\n{ADA}\n```", 1),
        ('["Ada" "PER"]', None),
    ],
)
def test_comma_too_many_is_repaired_but_not_one_in_a_text(text: str, repaired: int | None) -> None:
    passed_over = Counter[str]()
    found = outcome(lambda: read_rows([(1, text)], FormatOptions(), name="mentions", passed_over=passed_over))

    assert isinstance(found, list) == (repaired is not None)
    assert passed_over["repaired answers"] == (repaired or 0)


def test_all_unreadable_answers_of_a_run_are_named_together(tmp_path: Path) -> None:
    lines = [ADA if number % 2 else f"no answer {number}" for number in range(30)]
    path = written(tmp_path, "a.txt", "\n".join(lines))

    with pytest.raises(FormatError) as caught:
        list(read_file(InputFile(path), FormatOptions(), name="mentions"))

    assert caught.value.problem.startswith(
        "15 answers cannot be read, in lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, ...; the first: it is not JSON"
    )
    assert caught.value.line == 1
    with pytest.raises(FormatError, match="2 answers cannot be read, in rows 1, 2; the first"):
        list(read_rows([(1, "a"), (2, "b")], FormatOptions(), name="mentions"))


def test_answers_in_memory_are_read_as_in_files(tmp_path: Path) -> None:
    rows: list[Any] = ["<PER>Ada</PER>", {"id": "b", "text": "in <LOC>Ulm</LOC>"}]
    lines = [{"text": row} if isinstance(row, str) else row for row in rows]
    path = written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines)))

    in_file = [contents(each) for each in read_file(InputFile(path), FormatOptions(), name="inline")]
    in_memory = [contents(each) for each in read_rows(enumerate(rows, 1), FormatOptions(), name="inline")]

    assert in_file == in_memory


# Limits


WEBANNO = "#FORMAT=WebAnno TSV 3.3\n\n#Text=a b\n1-1\t0-1\ta\n1-2\t2-3\tb\n"


@pytest.mark.parametrize(
    ("name", "text", "limits", "problem"),
    [
        (
            "conll",
            "a\tO\nb\tO\nc\tO\n",
            {"max_sentence": 2},
            "the sentence that begins here has more tokens than 2",
        ),
        (
            "conll",
            "a\tO\n\nb\tO\n\nc\tO\n",
            {"max_document": 2},
            "the document that begins here is held as a whole",
        ),
        ("conll", "a\tO\n" + "b" * 300 + "\tO\n", {"max_line": 200}, "a line of more than 200 bytes"),
        (
            "conll2000",
            "a b O\n" * 3,
            {"max_sentence": 2},
            "the sentence that begins here has more tokens than 2",
        ),
        (
            "nerval",
            "a O\n" * 3,
            {"max_sentence": 10},
            "the file is held as a whole and has more lines than 2",
        ),
        (
            "spans",
            "start\tend_inclusive\n0\t0\n0\t0\n",
            {"max_sentence": 10},
            "the file is held as a whole and has more lines",
        ),
        (
            "ltf",
            "<body><e>a</e></body>",
            {"max_sentence": 10},
            "the file is held as a whole and has more tags",
        ),
        ("gate-xml", GATE, {"max_sentence": 10}, "the file is held as a whole and has more tags"),
        ("ltf", "<body>a</body>", {"max_line": 5}, "a file of more than 5 bytes"),
        (
            "doccano",
            '{"text": "' + "a" * 300 + '", "label": []}',
            {"max_line": 200},
            "a value of more than 200 char",
        ),
        ("doccano", '{"text": ' + "[" * 100_000, {}, "JSON that is nested too deep"),
        (
            "webanno",
            "#FORMAT=WebAnno TSV 3.3\n\n#Text=a b\n1-1\t0-1\ta\n1-2\t2-3\tb\n",
            {"max_sentence": 1},
            "the sent",
        ),
    ],
)
def test_input_above_a_limit_is_refused(
    name: str, text: str, limits: dict[str, int], problem: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "a", text)

    with pytest.raises(FormatError) as caught:
        list(read_file(InputFile(path, Limits(**limits)), FormatOptions(), name=name))

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

    (document,) = read_file(InputFile(path, Limits(max_sentence=10)), FormatOptions())

    assert len(document.layers["label"]) == 300
