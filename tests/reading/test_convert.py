"""`clueval.convert`: documents in another format, in memory and on disk."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval import Document, Problem, Span, UsageError, read
from clueval.cli import main
from clueval.files.errors import CluevalError, FileError
from clueval.reading.convert import merged_lines


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conll"
    path.write_text("Anna\tB-PER\nin\tO\nParis\tB-LOC\n", encoding="utf-8")
    return path


def test_convert_returns_the_documents_as_the_format_holds_them(gold: Path) -> None:
    (document,) = clueval.convert(gold, "brat")

    assert (document.unit, document.text) == ("character", "Anna in Paris")
    assert [(span.start, span.end, span.label) for span in document.layers["label"]] == [
        (0, 4, "PER"),
        (8, 13, "LOC"),
    ]


def test_convert_writes_what_the_command_writes(gold: Path, tmp_path: Path) -> None:
    written = clueval.convert(gold, to="doccano", output_file=tmp_path / "gold.jsonl", label="PER")

    assert [each.layers for each in clueval.read(tmp_path / "gold.jsonl")] == [
        each.layers for each in written
    ]


def test_convert_of_documents_writes_a_file_each(tmp_path: Path) -> None:
    documents = [Document(name, {"label": [Span(0, 1, "A")]}, tokens=["x"]) for name in "ab"]

    clueval.convert(documents, "brat", f"{tmp_path}/out/")

    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.ann", "a.txt", "b.ann", "b.txt"}


def test_convert_leaves_out_what_a_format_cannot_hold_only_if_asked() -> None:
    nested = Document("d", {"label": [Span(0, 2, "A"), Span(1, 2, "B")]}, tokens=["x", "y"])

    with pytest.raises(UsageError, match="cannot hold 1 overlapping spans"):
        clueval.convert([nested], "conll")
    (document,) = clueval.convert([nested], "conll", lossy=True)
    assert [span.label for span in document.layers["label"]] == ["A"]


def test_convert_refuses_wrong_use(gold: Path) -> None:
    with pytest.raises(UsageError, match="unknown format 'x'"):
        clueval.convert(gold, "x")
    with pytest.raises(UsageError, match="cannot be written"):
        clueval.convert(gold, "gate-xml")
    with pytest.raises(FileError, match="is an input"):
        clueval.convert(gold, "conll", gold)
    with pytest.raises(UsageError, match=r"source\[0\]"):
        clueval.convert([["B-PER"]], "conll")  # type: ignore[list-item]
    with pytest.raises(UsageError, match="apply to files, not to documents"):
        clueval.convert([], "conll", token=1)


@pytest.mark.parametrize("form", ["conll", "token-rows", "w2ner", "doccano", "spacy-json", "inline"])
@pytest.mark.parametrize("unit", ["token", "character"])
def test_convert_refuses_documents_without_text_where_the_format_has_it(form: str, unit: str) -> None:
    document = Document("d", {"label": [Span(0, 1, "A")]}, unit=unit)

    with pytest.raises(UsageError, match=r"document 'd': .*without text"):
        clueval.convert([document], form)


def test_convert_writes_positions_of_documents_without_text(tmp_path: Path) -> None:
    document = Document("d", {"label": [Span(0, 1, "A")]}, unit="character")

    clueval.convert([document], "tab", tmp_path / "out.json")

    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == {"d": [[0, 1]]}


def test_convert_refuses_a_file_in_place_of_a_folder(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "out").touch()

    with pytest.raises(FileError, match="cannot be written: there is a file of this name"):
        clueval.convert(gold, "brat", f"{tmp_path}/out/")


@pytest.mark.parametrize("name", ["a.txt", "a.ann", "a"])
def test_files_are_not_named_after_the_ending_of_an_id(tmp_path: Path, name: str) -> None:
    row = {"id": name, "text": "Ada", "label": [[0, 3, "PER"]]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")

    assert main(["convert", str(tmp_path / "a.jsonl"), "--to", "brat", "-o", f"{tmp_path}/out/"]) == 0

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.ann", "a.txt"]


@pytest.mark.parametrize("ending", ["txt", "xml", "conll", "jsonl"])
def test_ids_from_files_of_a_folder_are_their_names_without_ending(tmp_path: Path, ending: str) -> None:
    content = {
        "txt": "<PER>Ada</PER>",
        "xml": "<body><e>Ada</e></body>",
        "conll": "Ada\tB-PER\n",
        "jsonl": '{"text": "Ada", "label": []}',
    }
    for name in ("a", "b"):
        (tmp_path / f"{name}.{ending}").write_text(content[ending], encoding="utf-8")

    found = [document.id for document in read(tmp_path, input={"txt": "inline", "xml": "ltf"}.get(ending))]

    assert found == (["a:1", "b:1"] if ending == "jsonl" else ["a", "b"])


def test_ids_keep_the_endings_of_names_that_are_equal_without_them(tmp_path: Path) -> None:
    for name in ("a.1", "a.2"):
        (tmp_path / name).write_text("Ada\tB-PER\n", encoding="utf-8")

    assert [document.id for document in read(tmp_path)] == ["a.1", "a.2"]


# The table of merged spans: its header, its lines, and the errors of files


LAYERS = ("--layer", "risk=3", "--layer", "entity=2", "--token-id", "4")

HEADER = "document\tstart\tend_inclusive"


@pytest.mark.parametrize(
    ("layers", "texts", "expected"),
    [
        ({}, [], [f"{HEADER}\tlabel"]),
        ({"x": "X", "y": "Y"}, [], [f"{HEADER}\tx\ty"]),
        ({}, [{"X": "AB", "Y": "BC"}, {"Y": "D"}], [f"{HEADER}\tX\tY", "0\t0\t2\tAB\tBC", "1\t3\t3\t\tD"]),
    ],
)
def test_merged_rows_of_documents_have_the_layers_of_the_first_or_those_that_are_named(
    layers: dict[str, str], texts: list[dict[str, str]], expected: list[str]
) -> None:
    """Each layer has a span, from its first letter to its last."""
    documents = [
        Document(
            str(number),
            {name: [Span(ord(of[0]) - 65, ord(of[-1]) - 64, {name: of})] for name, of in text.items()},
        )
        for number, text in enumerate(texts)
    ]

    assert list(merged_lines(iter(documents), list(layers), with_ids=False)) == expected


@pytest.mark.parametrize("text", ["", "-DOCSTART-\n"])
def test_merged_rows_of_a_column_file_without_tokens_are_the_header(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text(text)

    assert main(["merge", str(tmp_path / "a"), *LAYERS, "--input", "conll"]) == 0
    assert capsys.readouterr().out == f"{HEADER}\trisk\tentity\tstart_id\tend_id\n"


def test_merged_rows_of_a_token_id_that_comes_again_are_an_error_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("a O O 1\nb O O 1\n")

    assert main(["merge", str(tmp_path / "a"), *LAYERS, "--input", "conll"]) == 2
    assert capsys.readouterr().err.startswith(f"clueval merge: {tmp_path / 'a'}:2")


def test_merged_rows_of_overlapping_spans_are_an_error_that_names_the_document() -> None:
    document = Document("d7", {"x": [Span(0, 2, {"x": "A"}), Span(1, 3, {"x": "B"})]})

    with pytest.raises(CluevalError, match="document 'd7': spans"):
        list(merged_lines(iter([document]), [], with_ids=False))


# `clueval.check` and `clueval.merge`: the functions of the commands with these names


SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german" / "gold.vrt"
BOTH_LAYERS = {"entity": 2, "risk": 3}


def test_check_lists_problems_as_the_command_prints_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.conll"
    bad.write_text("a\tB-PER\nb\tI-LOC\nc\n", encoding="utf-8")

    problems = clueval.check(bad, SAMPLE, layers={"label": 2})

    assert [(problem.file, problem.line) for problem in problems] == [(str(bad), 2), (str(bad), 3)]
    assert main(["check", str(bad)]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [*map(str, problems)]


def test_check_stops_a_file_after_as_many_problems(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text("x\tB-PER\ny\tI-LOC\n\n" * 5, encoding="utf-8")

    problems = clueval.check(tmp_path, max_errors=2, input="conll")

    assert [Path(str(problem.file)).name for problem in problems] == ["a", "a", "b", "b"]
    assert clueval.check(tmp_path / "a", input="conll", invalid="conlleval")[0] == Problem(
        str(tmp_path / "a"),
        2,
        None,
        "layer 'label': ill-formed tags: 'I-LOC' may not follow 'B-PER' in the scheme BIO",
    )


def test_check_needs_a_file() -> None:
    with pytest.raises(UsageError, match="there is no file to check"):
        clueval.check()


def test_merge_gives_the_spans_of_the_table_that_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    merged = [
        f"{document.id}\t{span.start}\t{span.end - 1}\t{span.labels['entity'] or ''}\t{span.labels['risk'] or ''}"
        for document in clueval.merge(SAMPLE, BOTH_LAYERS)
        for span in document.layers["merged"]
    ]

    assert main(["merge", str(SAMPLE), "--layer", "entity=2", "--layer", "risk=3"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == merged


def test_merged_documents_score_as_the_option_merge_does() -> None:
    predicted = SAMPLE.with_name("predicted.vrt")
    both = [list(clueval.merge(path, BOTH_LAYERS)) for path in (SAMPLE, predicted)]

    of_files = clueval.score(SAMPLE, predicted, layers=BOTH_LAYERS, merge=True, metrics="levels")
    assert clueval.score(*both, metrics="levels").f1 == of_files.f1


@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-X", "I-X", "B-Y"])] * 3), min_size=1, max_size=12))
def test_layers_of_a_file_are_merged_as_their_spans_are(rows: list[tuple[str, ...]]) -> None:
    lines = "".join("\t".join(("a", *row)) + "\n" for row in rows)
    layers = {"a": 2, "b": 3, "c": 4}

    (merged,) = clueval.merge(StringIO(lines), layers)
    (document,) = clueval.read(StringIO(lines), layers)
    spans = {layer: list(of_layer) for layer, of_layer in document.layers.items()}

    assert merged.layers["merged"] == clueval.merge_layers(spans)
