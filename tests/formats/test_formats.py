"""Formats are records: each is recognised as itself alone, and one written here does all that the others do."""

from __future__ import annotations

import gzip
import pickle
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from corpora import write

from clueval import Span, read
from clueval.files.errors import FormatError, UsageError
from clueval.formats import ENDINGS, FORMATS, ORDER, all_formats, format_named, format_of
from clueval.formats.opened import Opened
from clueval.formats.recognition import Beginning, first_lines
from clueval.reading.read_options import ReadOptions, formats_that_read
from clueval.second.formats.options import Reading
from clueval.tagging.schemes import INVALID

Capture = pytest.CaptureFixture[str]


GATE = (
    '<?xml version="1.0"?>\n<GateDocument version="3">\n<TextWithNodes>a</TextWithNodes>\n</GateDocument>\n'
)
BDOC = '{"text": "spans", "offset_type": "p", "annotation_sets": {"": {"annotations": []}}}\n'
SAMPLES = {
    "vrt": [("a.txt", '<text id="d">\na\tO\n</text>\n'), ("a.vrt", "w\n"), ("a.vert.gz", "a\tO\n")],
    "conll": [
        ("a.txt", "a\tO\n"),
        ("a.conll", "-DOCSTART-\n\na B-X\n"),
        ("a", "# sent_id = 1\na O\n"),
        ("a", ""),
    ],
    "spans": [("a.tsv", "document\tstart\tend\tlabel\n"), ("a.csv", "start,end_exclusive\n0,1\n")],
    "tags": [("a.pred.conll", "O\nB-X\nI-X\n\n\nO\n"), ("a", "# id 1\tdomain=en\nO\n")],
    "fair-spans": [("a.csv", "PER\t1\t2\t1, 2\n")],
    "ltf": [("a.xml", "<body>a <e>b</e></body>\n"), ("a.xml", '<?xml version="1.0"?>\n<body/>\n')],
    "gate-xml": [("a.xml", GATE)],
    "bdoc": [("a.bdocjs", BDOC), ("a", f"\n {BDOC}")],
}
ANY = {"vrt", "conll"}
"""The formats that any XML and any columns fit; they come last."""

BEGINNINGS = [(name, Beginning(*sample)) for name, samples in SAMPLES.items() for sample in samples]


# Recognition


@pytest.mark.parametrize(("name", "beginning"), BEGINNINGS, ids=lambda value: getattr(value, "text", value))
def test_sample_is_recognised_as_its_format_and_as_no_other(name: str, beginning: Beginning) -> None:
    fitting = {form.name for form in all_formats() if form.has(beginning)}

    assert format_of(beginning, "a").name == name
    assert fitting - ANY == {name} - ANY


SAMPLE_FILES: dict[str, list[Path]] = {
    folder.name: sorted(path for path in folder.iterdir() if path.suffix not in (".txt", ".conf"))
    for folder in sorted((Path(__file__).parents[2] / "clueval" / "samples" / "formats").iterdir())
    if folder.name in FORMATS and folder.name != "brat"
}
"""The samples of each format that is recognised by its content."""


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param(name, path, id=f"{name}/{path.name}")
        for name, paths in SAMPLE_FILES.items()
        for path in paths
        if path.name not in ("dataset_info.json", "TypeSystem.xml")
    ],
)
def test_sample_file_is_recognised_as_its_format_and_as_no_other(name: str, path: Path) -> None:
    beginning = Beginning(path.name, path.read_text(encoding="utf-8"))
    recognised = [form for form in ORDER if format_named(form).has(beginning)]

    assert format_of(beginning, str(path)).name == name
    assert name in recognised
    assert not [form for form in recognised if format_named(form).is_sought_in(json=True) and form != name]


def test_order_has_each_recognised_format_once() -> None:
    assert sorted(ORDER) == sorted(form.name for form in all_formats() if form.signs)
    assert {*SAMPLES, "nerval", *SAMPLE_FILES} >= set(ORDER)
    assert {ending: form.name for form in all_formats() for ending in form.endings} == ENDINGS


def test_lines_of_a_token_and_a_tag_are_one_text_with_whole_text() -> None:
    assert format_of(Beginning("a", "a O\n", whole_text=True), "a").name == "nerval"
    assert format_of(Beginning("a.vrt", "a\tO\n", whole_text=True), "a").name == "vrt"


@pytest.mark.parametrize("content", ['{"text": "a"}\n', '[{"words": []}]', "Sesam\n"])
def test_file_that_is_not_recognised_is_refused_with_the_formats_that_were_tried(
    tmp_path: Path, content: str
) -> None:
    path = write(tmp_path / "a.json", content)

    with pytest.raises(FormatError, match="the format is not recognised") as caught:
        list(read(path))

    assert caught.value.file == str(path)
    for form in map(format_named, ORDER):
        looked_for = form.is_sought_in(json=content[0] in "{[")
        assert (f" {form.name}," in f"{str(caught.value.advice).replace(';', ',')},") == looked_for
    assert "input=..." in str(caught.value)
    assert len(str(caught.value).removeprefix(str(path))) < 300


def test_named_format_is_not_recognised_from_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '{"text": "a"}\n')

    with pytest.raises(FormatError, match="offset_type"):
        list(read(path, input="bdoc", annotation_set=""))


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('{"a": {"b": 1}, "c": [{"d": 2}]}', {"a", "c"}),
        ('[{"a": [1]}, {"b": 1}]', {"a"}),
        ('["text", {"entities": []}]', {"entities"}),
        (' \n{"a": "x\\"b\\": {", "c', {"a"}),
        ("[1, 2]", set()),
        ("[ ( O\n", set()),
        ('"a": 1', set()),
        ("", set()),
    ],
)
def test_keys_are_those_of_the_first_object(text: str, keys: set[str]) -> None:
    assert Beginning("a", text).keys == keys


def test_keys_of_text_that_is_full_of_quotes_are_found_in_one_pass() -> None:
    assert Beginning("a", '{"a": "' + '\\"' * 300_000).keys == {"a"}


def test_signs_see_the_name_without_gz_and_three_lines() -> None:
    assert Beginning("x.a.b.gz", "").ending == ".b"
    assert Beginning("x", "").ending == ""
    assert first_lines("<c>").holds(Beginning("x", "1\n\n2\n3 <c>\n"))
    assert not first_lines("<c>").holds(Beginning("x", "1\n2\n3\n<c>\n"))


# Records


@pytest.mark.parametrize("name", FORMATS)
def test_record_has_valid_fields_and_options(name: str) -> None:
    form = format_named(name)

    assert form.name == name
    assert form.reads <= {each.name for each in fields(ReadOptions)}
    assert set(form.treatments) <= set(INVALID)
    assert not form.sets or form.single
    assert not form.nameless or form.single


def test_options_apply_to_the_formats_whose_records_name_them() -> None:
    assert formats_that_read("annotation_set")[:3] == ["gate-xml", "bdoc", "doccano"]
    assert formats_that_read("invalid")[:4] == ["vrt", "conll", "conll2000", "nerval"]
    assert formats_that_read("layers")[:4] == ["vrt", "conll", "spans", "brat"]
    assert formats_that_read("answers") == ["prodigy"]
    assert formats_that_read("max_line") == list(FORMATS)


# Reading


def test_reading_is_a_frozen_value_that_can_be_sent_and_compared() -> None:
    reading = Reading(input="spans", text="a.vrt", token=2)

    assert reading == Reading(input="spans", text=Path("a.vrt"), token=2)
    assert pickle.loads(pickle.dumps(reading)) == reading
    assert len({reading, Reading(), Reading()}) == 2
    with pytest.raises(FrozenInstanceError):
        reading.token = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "options",
    [{"input": "nope"}, {"invalid": "nope"}, {"scheme": "nope"}, {"max_line": 0}, {"document_tag": "\ud800"}],
    ids=str,
)
def test_reading_refuses_invalid_values(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Reading(**options)  # type: ignore[arg-type]


# What a format reads from


def opened(tmp_path: Path, content: bytes, max_line: int = 1000) -> Opened:
    path = tmp_path / "a.toy"
    path.write_bytes(content)
    return Opened(path, max_line)


def test_text_has_the_line_ends_of_the_file(tmp_path: Path) -> None:
    assert opened(tmp_path, b"\xef\xbb\xbfa\r\nb\rc\n d").text() == "a\r\nb\rc\n d"
    assert opened(tmp_path, gzip.compress(b"a\r\n")).text() == "a\r\n"


def test_text_that_is_not_utf8_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="0xff") as caught:
        opened(tmp_path, b"a\nb\xff").text()

    assert caught.value.line == 2


def test_path_beside_a_file_has_another_ending(tmp_path: Path) -> None:
    assert Opened(tmp_path / "a.b.ann.gz").beside(".txt") == tmp_path / "a.b.txt"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}\n{"b": "ä\\n"}\n', [{"a": 1}, {"b": "ä\n"}]),
        ('[{"a": [1, 2]}, 12, "x]" ,null ]\n', [{"a": [1, 2]}, 12, "x]", None]),
        ('{"a":\n 1}', [{"a": 1}]),
        ("12 345", [12, 345]),
        ("[ ]", []),
        (" \n", []),
        ("", []),
    ],
)
def test_json_values_are_the_same_for_any_size_of_blocks(text: str, values: list[object], size: int) -> None:
    from clueval.formats.opened import JsonValues

    data = text.encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]

    assert list(JsonValues("a.json", 1000).of(blocks)) == list(enumerate(values, 1))


@pytest.mark.parametrize(
    ("content", "problem", "number"),
    [
        (b'{"a": 1}\n{"b" 2}\n', "not JSON", 2),
        (b'[{"a": 1}, {"b": 2}', "not closed", 3),
        (b'[{"a": 1} {"b": 2}]', "comma", 2),
        (b'{"a": "\xff"}', "not UTF-8", 1),
        (b"[" * 100_000, "nested too deep", 1),
        (b'[1, "' + b"x" * 300_000, "more than 1,000 characters", 2),
    ],
    ids=["no colon", "not closed", "no comma", "not UTF-8", "too deep", "too long"],
)
def test_json_values_that_cannot_be_read_are_errors_with_their_number(
    tmp_path: Path, content: bytes, problem: str, number: int
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        list(opened(tmp_path, content).values())

    assert caught.value.line == number


def test_a_layer_of_a_table_of_spans_is_named_by_the_number_or_the_name_of_its_column(tmp_path: Path) -> None:
    (tmp_path / "a.vrt").write_text("<text id='d'>\nAda\nspoke\n</text>\n", encoding="utf-8")
    table = tmp_path / "a.tsv"
    table.write_text("document\tstart\tend\tentity\trisk\nd\t0\t0\tPER\thigh\n", encoding="utf-8")

    by_number, by_name = (next(iter(read(table, {"r": source}))).layers for source in (5, "risk"))

    assert by_number == by_name == {"r": [Span(0, 1, {"r": "high"})]}
    with pytest.raises(FormatError, match="there is no column color for layer 'r'"):
        list(read(table, {"r": "color"}))
