"""What `convert` writes is read as what it was; what a format cannot hold is refused, or left out and counted."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from corpora import write

from clueval import Document, Span, UsageError, convert, read, score, to_rows
from clueval.cli import main
from clueval.formats.catalogue import writer_named

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"


def written_and_read(document: Document, name: str, **layers: str) -> Document:
    writer = writer_named(name)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{document.id}{writer.ending}"
        pieces = writer.pieces([document], list(document.layers), False)
        path.write_bytes("".join(pieces).encode("utf-8", "surrogatepass"))
        for ending, content in writer.beside.items():
            path.with_suffix(ending).write_bytes(content(document).encode("utf-8"))
        (found,) = read(path, layers or None, input=name)
    return found


def test_brat_splits_spans_at_line_ends_and_reads_them_as_one() -> None:
    document = Document("d", {"label": [Span(0, 5, "A")]}, text="ab\r\ncd", unit="character")
    writer = writer_named("brat")

    assert [*writer.pieces([document], ["label"], False)] == ["T1\tA 0 2;4 5\tab c\n"]
    assert written_and_read(document, "brat").layers["label"][0].fragments == ((0, 5),)


def test_what_a_format_cannot_hold_is_refused_or_left_out_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    brat = str(SAMPLES / "brat" / "one.ann")

    assert main(["convert", brat, "--to", "doccano"]) == 2
    error = capsys.readouterr().err
    assert "document 'one': the format doccano cannot hold 4 features, 1 gaps" in error
    assert "--lossy" in error
    assert main(["convert", brat, "--to", "doccano", "--lossy"]) == 0
    output, error = capsys.readouterr()
    assert len(json.loads(output)["label"]) == 5
    assert error.startswith("left out: 4 features, 1 gaps\n")


def converted(folder: Path, name: str, content: str, *options: str) -> int:
    return main(["convert", str(write(folder / name, content)), *options])


TEXT = {"id": "a", "text": "Dr. Ada-Eva sat. Yes", "label": [[4, 7, "PER"], [12, 20, "X"]]}


def test_texts_get_the_tokens_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = write(
        tmp_path / "tokens.vrt", "<text>\n<s>\nDr.\nAda\n-\nEva\nsat\n.\n</s>\n<s>\nYes\n</s>\n</text>\n"
    )

    assert (
        converted(tmp_path, "a.jsonl", json.dumps(TEXT), "--to", "conll", "--tokens", str(tokens), "--lossy")
        == 0
    )

    out, err = capsys.readouterr()
    assert out.split("\n")[1:] == [
        "Dr.\tO",
        "Ada\tB-PER",
        "-\tO",
        "Eva\tO",
        "sat\tO",
        ".\tO",
        "",
        "Yes\tO",
        "",
        "",
    ]
    assert err == "left out: 1 spans across sentences\n"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("<text>\nDr.\nEva\n</text>\n", "token 2 is 'Eva' where the other text has"),
        ("", "the file with tokens does not have this document"),
        ("<text>\nDr.\nAda-Eva\nsat.\nYes\n</text>\n<text>\na\n</text>\n", "has more documents"),
        ("<text>\nDr.\nAda-Eva\nsat.\nYes\n</text>\n", "span [4,7) 'PER' does not begin"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(
    tokens: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "tokens.vrt", tokens)
    lossy = ["--lossy"] if "more" in message else []

    assert (
        converted(tmp_path, "a.jsonl", json.dumps(TEXT), "--to", "token-rows", "--tokens", str(path), *lossy)
        == 2
    )
    assert message in capsys.readouterr().err


def test_tokens_are_refused_for_a_format_with_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converted(tmp_path, "a.jsonl", json.dumps(TEXT), "--to", "doccano", "--tokens", "x") == 2
    assert "the format doccano has no tokens, so a file with tokens does not apply" in capsys.readouterr().err


def test_folder_of_texts_becomes_one_table_of_spans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.ann", "T1\tPER 0 3\tAda\n")
        write(tmp_path / f"{name}.txt", "Ada")

    assert main(["convert", str(tmp_path), "--to", "spans"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["a\t0\t2\tPER", "b\t0\t2\tPER"]


def test_flags_for_spaces_give_the_text_of_hipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "TOKEN\tNE-COARSE-LIT\tMISC\n# document_id = d\nUlm\tB-loc\tNoSpaceAfter\n.\tO\t_\n"

    assert converted(tmp_path, "a.tsv", text, "--to", "doccano") == 0
    assert json.loads(capsys.readouterr().out) == {"id": "d", "text": "Ulm.", "label": [[0, 3, "loc"]]}


RELATED = "T1\tPER 0 3\tAda\nT2\tLOC 7 10\tUlm\nR1\tIn Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T1\tx\n"


def test_annotations_that_are_not_read_are_refused_or_left_out_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.ann", RELATED)
        write(tmp_path / f"{name}.txt", "Ada in Ulm")
    given = ["convert", f"{tmp_path}/*.ann", "--to"]

    for to, *output in (("doccano",), ("doccano", "-o", f"{tmp_path}/x"), ("inline", "-o", f"{tmp_path}/x/")):
        assert main([*given, to, *output]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith(
            "clueval convert: passed over: 2 notes, 2 relations (leave them out with --lossy"
        )
        assert not (tmp_path / "x").exists()
    assert main([*given, "doccano", "--lossy"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2
    assert err == "passed over: 2 notes, 2 relations\n"
    with pytest.raises(UsageError, match="passed over: 1 notes, 1 relations"):
        convert(tmp_path / "a.ann", "doccano")
    assert len(convert(tmp_path / "a.ann", "doccano", lossy=True)) == 1


def test_drafts_and_ignored_documents_need_no_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"_input_hash": n, "text": "Ada", "spans": [], "answer": n} for n in ("accept", "ignore")]

    assert converted(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)), "--to", "doccano") == 0
    assert capsys.readouterr().err == "passed over: 1 ignored\n"


def test_losses_of_all_documents_are_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": str(n), "text": "A a", "label": [[0, 3, "A"], [0, 1, "B"]][: n % 3]} for n in range(6)]
    content = "\n".join(map(json.dumps, rows))

    assert converted(tmp_path, "a.jsonl", content, "--to", "conll") == 2
    said = capsys.readouterr().err
    assert "clueval convert: the format conll cannot hold 2 overlapping spans (" in said
    assert "write another format, such as spans)" in said


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("brat", {"as_": "predictions"}, "does not apply to the format brat"),
        ("brat", {"types": {}}, "does not apply to the format brat"),
    ],
)
def test_option_that_a_writer_does_not_have_is_refused(name: str, options: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        writer_named(name, **options)


def test_token_ids_are_written_where_they_are_asked_for() -> None:
    document = Document("d", {"label": [Span(0, 1, "LOC")]}, tokens=["Ulm", "."], token_ids=["t1", "t2"])

    spans = "".join(writer_named("spans").pieces([document], ["label"], True))
    columns = "".join(writer_named("conll").pieces([document], ["label"], True))

    assert spans == "document\tstart\tend_inclusive\tlabel\tstart_id\tend_id\nd\t0\t0\tLOC\tt1\tt1\n"
    assert columns == "# newdoc id = d\nUlm\tB-LOC\tt1\n.\tO\tt2\n\n"


# Tables of spans have all that the file has

VRT = """<text id="empty"></text>
<text id="one">
Anna	B-PER	t1
Weiß	I-PER	t2
kam	O	t3
</text>
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(write(tmp_path / "a.vrt", VRT.replace("></text>\n", ">\n</text>\n", 1)))


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert main([*arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


EXPECTED = [
    ["document", "start", "end_inclusive", "entity", "start_id", "end_id"],
    ["one", "0", "1", "PER", "t1", "t2"],
]


@pytest.mark.parametrize(("ids", "width"), [(["--token-id", "3"], 6), ([], 4)], ids=["with ids", "without"])
def test_converted_table_has_columns_for_token_ids_if_these_were_read(
    path: str, capsys: pytest.CaptureFixture[str], ids: list[str], width: int
) -> None:
    expected = [row[:width] for row in EXPECTED]

    assert table(capsys, "convert", path, "--to", "spans", "--layer", "entity=2", *ids) == expected
    assert table(capsys, "merge", path, "--layer", "entity=2", *ids) == expected


def test_converted_table_has_its_layer_if_the_first_document_is_empty_and_no_layer_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(
        write(tmp_path / "b.vrt", '<text id="empty">\n</text>\n<text id="one">\nAnna\tB-PER\n</text>\n')
    )

    expected = [["document", "start", "end_inclusive", "label"], ["one", "0", "0", "PER"]]
    assert table(capsys, "convert", path, "--to", "spans") == expected
    assert table(capsys, "merge", path) == expected


# Layers that are not read by default

TWO = [
    Document(
        "1",
        {"label": [Span(0, 3, "PER")], "risk": [Span(0, 3, "high"), Span(4, 11, "low")]},
        text="Ada met Bob",
        unit="character",
    )
]


def of_two_layers(name: str, folder: Path) -> str:
    """A file with two layers, of which one is read by default."""
    ending = {"docbin": "spacy", "spacy-json": "jsonl", "webanno": "tsv", "uima-json": "json"}.get(name, name)
    if name == "xmi":  # its type system lies in the same folder
        convert(TWO, name, f"{folder}/out/")
        return f"{folder}/out/1.xmi"
    convert(TWO, name, f"{folder}/1.{ending}")
    return f"{folder}/1.{ending}"


UNREAD = {
    "spacy-json": "spans.risk",
    "docbin": "spans.risk",
    "webanno": "risk",
    "xmi": "risk",
    "uima-json": "risk",
}


@pytest.mark.parametrize("name", UNREAD)
def test_layers_that_are_not_read_by_default_are_named_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path, kind = of_two_layers(name, tmp_path), f"spans of {UNREAD[name]}"

    assert score(path, path).passed_over == {"gold": {kind: 2}, "predicted": {kind: 2}}
    for command in (["score", path, path], ["convert", path, "--to", "spans"]):
        assert main(command) == 0
        assert f"2 {kind}" in capsys.readouterr().err
    assert main(["check", path]) == 0
    assert f"2 {kind}" in capsys.readouterr().out

    layer = {"webanno": "risk.value", "xmi": "risk.value", "uima-json": "risk.value"}.get(name, UNREAD[name])
    assert main(["score", path, path, "--layer", f"risk={layer}"]) == 0
    assert "passed over" not in capsys.readouterr().err


@pytest.mark.parametrize("groups", [None, [], {"sc": None}, {"sc": 3}, {"sc": []}])
def test_groups_of_spacy_that_hold_nothing_are_not_named(tmp_path: Path, groups: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "Ada", "ents": [], "spans": groups}), encoding="utf-8")

    assert score(path, path).passed_over == {"gold": {}, "predicted": {}}


@pytest.mark.parametrize(
    "name", ["label-studio", "presidio", "gliner", "spert", "prodigy", "spacy-json", "token-rows", "w2ner"]
)
def test_a_document_without_layers_is_written(name: str) -> None:
    unit: dict[str, Any] = {"tokens": ["Ada"]}
    if name in ("label-studio", "presidio", "prodigy", "spacy-json"):
        unit = {"text": "Ada", "unit": "character"}

    (row,) = to_rows([Document("d", {}, **unit)], name)

    assert "Ada" in repr(row)
