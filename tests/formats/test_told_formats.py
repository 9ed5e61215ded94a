"""Formats are recognised by names, first lines or the first row, from files and from memory, in one place."""

from __future__ import annotations

import bz2
import json
import lzma
from pathlib import Path

import pytest

import clueval
from clueval.files.errors import FormatError, UsageError
from clueval.formats.form import ENTRIES, NAMES, Described, form_of_rows, forms_named
from clueval.formats.input_file import Head, InputFile
from clueval.reading.source import form_of_file

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

NAMED = {"conllup": "conllu", "germeval": "conll", "hipe": "conll", "wnut": "conll"}
"""The formats of samples whose folders have other names."""

BESIDE = {".txt", ".xml", ".conf"}
"""The endings of files that belong to others."""


def told(path: Path) -> str:
    return form_of_file(InputFile(path)).name


def of_samples() -> list[Path]:
    files = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.name != "dataset_info.json")
    named_only = {"inline"}
    return [
        path
        for path in files
        if path.parent.name not in named_only
        and not (path.suffix in BESIDE and path.parent.name in ("brat", "xmi"))
        and path.parent.name != "mentions"
    ]


@pytest.mark.parametrize("path", of_samples(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sample_is_told_as_its_format_and_as_no_other(path: Path) -> None:
    assert told(path) == NAMED.get(path.parent.name, path.parent.name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "conll"),
        ("[]", "doccano"),
        ("{}", "tab"),
        ('[]\n[{"entity_type": "A", "start": 0, "end": 1}]', "presidio"),
        ("[\tO\n]\tO\n", "conll"),
        ('{"text": "a", "data": {"text": "a"}, "annotations": []}', "label-studio"),
        ('{"tokens": ["a"], "entities": []}', "spert"),
        ("<deIdi2b2>", "i2b2"),
        ("#\tO\n", "conll"),
        ("#FORMAT=WebAnno TSV 3.3\n\n", "webanno"),
        ("#id=1\n#text=Ada\n", "webanno"),
        ("<?xml version='1.0'?>\n<GateDocument version='3'>\n", "gate-xml"),
        ('<?xml version="1.0"?>\n<xmi:XMI xmlns:xmi="a">', "xmi"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "uima-json"),
        ("document;von;bis;label\n", "spans"),
        ("PER\t6\t7\t6, 7\n", "fair-spans"),
        ("B-PER\nO\n\nO\n", "tags"),
        ("# c\nB-X\n", "tags"),
        ("O\nO\nO\nanything", "tags"),
        ("\ufeffO\r\n\r\nO\r\n", "tags"),
        ("# c\n", "conll"),
        ("O O\n", "conll"),
        ("O\tO\n", "conll"),
        ("10\u00a0000\tO\n", "conll"),
        ('("a",\tO\n', "conll"),
        ("-DOCSTART-\n", "conll"),
        ('{"id": 1, "response": "[]"}', "mentions"),
        ('{"id": 1, "text": "Ada", "completion": "[]"}', "mentions"),
        ('{"text": "Ada", "label": [], "output": "[]"}', "doccano"),
        ('<text id="d">\na\tO\n</text>\n', "vrt"),
        ("-DOCSTART-\n\na B-X\n", "conll"),
        ("A sentence\nof\ntext", "conll"),
        ("# sent_id = 1\na O\n", "conll"),
        ("document\tstart\tend\tlabel\n", "spans"),
        ("start,end_exclusive\n0,1\n", "spans"),
        ("# id 1\tdomain=en\nO\n", "tags"),
        ("<body>a <e>b</e></body>\n", "ltf"),
        ('<?xml version="1.0"?>\n<body/>\n', "ltf"),
        ('\n {"text": "spans", "offset_type": "p", "annotation_sets": {}}\n', "bdoc"),
    ],
)
def test_beginnings_are_told(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8")

    assert told(path) == name


def test_inline_tags_are_read_by_name_only() -> None:
    path = SAMPLES / "inline" / "answer.txt"

    (document,) = clueval.read(path, input="inline")

    assert document.id == "answer"
    assert told(path) != "inline"


OFFICE = "is a file of Word, Excel or another office program, or a zip archive .*as plain text.*unpack"
BIOC = """<?xml version="1.0"?>
<!DOCTYPE collection SYSTEM 'BioC.dtd'>
<collection>
  <source>PubMed</source>
  <document><id>1</id></document>
</collection>
"""
PUBTATOR = "%s|t|BRCA1 in cancer\n%s|a|Text.\n%s\t0\t5\tBRCA1\tGene\t672\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("a\nO\n", "the format is not recognised"),
        ("O\nO\na\n", "the format is not recognised"),
        ('{"a": 1}', "no format has such keys"),
        ('{"clueval": "1", "signature": ""}', "is a report or a saved result"),
        (b"PK\x03\x04\x14\0\x06\0\x08\0!\0\xdf\xd2", OFFICE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", OFFICE),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is a PDF file, which clueval does not read .*as plain text"),
        (PUBTATOR.replace("%s", "123"), "is PubTator's format.*clueval guide howto-brat"),
        ("\ufeff" + PUBTATOR.replace("%s", "PMC12.3-4"), "is PubTator's format.*clueval guide howto-brat"),
        (BIOC, "is BioC's format.*clueval guide howto-brat"),
        (BIOC.replace("<!DOCTYPE collection SYSTEM 'BioC.dtd'>\n", ""), "is BioC's format"),
        ('{"documents": [{"id": "1", "passages": [{"offset": 0, "text": "Ada"}]}]}\n', "is BioC's format"),
        ("{'text': 'Ada', 'label': [[0, 3, 'PER']]}\n", "is a literal of Python, .*json.dumps"),
        ('TRAIN_DATA = [("Ada", {"entities": [(0, 3, "PER")]})]\n', "is a literal of Python"),
        (b"PAR1\x15\x04\0", "is a Parquet or Arrow file, .*the data frame or data set itself in Python"),
        (
            '{"id": 1, "entities": [{"text": "Ada", "lab',
            "not JSON: .*input='mentions' if the file has the answers",
        ),
        (bz2.compress(b"Ada\tB-PER\n"), "is packed by bzip2 or xz, .*unpack it"),
        (lzma.compress(b"Ada\tB-PER\n"), "is packed by bzip2 or xz"),
        ('c="the patient" 1:0 1:1||t="problem"\n', "has concepts of i2b2 .* howto-i2b2"),
        ("Sentence #,Word,POS,Tag\nSentence: 1,Anna,NNP,B-per\n,lives,VBZ,O\n", "commas or semicolons"),
        ('"id","text"\n"1","Anna lives in Ulm"\n', "commas or semicolons .* howto-conll"),
        ("id;text;label\n1;Anna;PER\n", "commas or semicolons"),
    ],
)
def test_files_that_are_not_read_are_named_with_what_to_do(
    data: str | bytes, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())

    with pytest.raises(FormatError, match=problem) as caught:
        told(path)

    assert (caught.value.file, caught.value.line) == (str(path), 1)


def test_named_format_of_several_descriptions_is_the_one_whose_spans_a_row_has() -> None:
    assert form_of_rows({"entities": [[0, 3, "PER"]]}, "spacy-json").holds.startswith("spaCy's JSON")
    assert form_of_rows({"spans": []}, "presidio").holds.startswith("Presidio's samples")
    assert form_of_rows({"results": []}, "presidio").holds.startswith("Presidio's results")


def test_format_of_files_alone_is_no_format_of_rows() -> None:
    with pytest.raises(UsageError, match="documents of the format 'brat' are not rows") as caught:
        form_of_rows({}, "brat")

    assert "doccano" in (caught.value.advice or "")
    assert "mentions" in (caught.value.advice or "")


def test_unknown_name_is_refused_with_all_names() -> None:
    with pytest.raises(UsageError, match="unknown format 'x'") as caught:
        forms_named("x")

    assert caught.value.advice == f"did you mean xmi? one of {', '.join(NAMES)}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_way_of_recognition_is_printed_in_one_line(entry: Described) -> None:
    words = entry.recognised_by

    assert words or entry.name == "inline"
    assert not entry.is_json or words.startswith(("JSON", "lists"))
    assert "\n" not in words


@pytest.mark.parametrize("cut", range(1990, 2000))
def test_long_lines_of_json_are_json_whatever_word_stands_where_it_is_cut(cut: int) -> None:
    text = json.dumps({"text": "x" * (cut - 10) + " O O", "label": []})

    assert Head("a.json", text, lambda: json.loads(text)).is_json
    assert not Head("a.conll", "{ B-X\n", lambda: None).is_json


@pytest.mark.parametrize("word", ["E-Mail", "S-Bahn", "I-95", "B-PER", "O", "L-x,", "E-Bike."])
@pytest.mark.parametrize("row", [["id", "label", "text"], ["label", "text"], ["text", "label", "title"]])
def test_json_whose_line_ends_in_what_looks_like_a_tag_is_json(
    word: str, row: list[str], tmp_path: Path
) -> None:
    text = f"Ada sent an {word}"
    values = {"id": "1", "label": [[0, 3, "PER"]], "text": text, "title": text}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({key: values[key] for key in row}) + "\n", encoding="utf-8")

    assert told(path) == "doccano"
