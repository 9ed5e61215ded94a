"""``clueval agree`` and ``clueval curate`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import clueval
from clueval.cli import main
from clueval.reports import FORMS

Capture = pytest.CaptureFixture[str]

ANNA = "# newdoc id = d1\nAda\tB-PER\nLovelace\tI-PER\nin\tO\nParis\tB-LOC\n\n# newdoc id = d2\nBob\tB-PER\n"
BOB = "# newdoc id = d1\nAda\tB-PER\nLovelace\tO\nin\tO\nParis\tB-LOC\n\n# newdoc id = d2\nBob\tO\n"
CARL = "# newdoc id = d1\nAda\tB-PER\nLovelace\tI-PER\nin\tO\nParis\tB-ORG\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("anna", ANNA), ("bob", BOB), ("carl", CARL)):
        (tmp_path / f"{name}.conll").write_text(text)
    return tmp_path


def report_of(*arguments: str, capsys: Capture) -> dict:
    assert main(["agree", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_agree_names_annotators_by_the_ends_of_their_paths(files: Path, capsys: Capture):
    report = report_of("anna.conll", "bob.conll", "third=carl.conll", capsys=capsys)

    assert report["annotators"] == ["anna.conll", "bob.conll", "third"]
    assert report["common"] == [[2, 2, 1], [2, 2, 1], [1, 1, 1]]
    assert report["agreement"]["label"]["f1"]["exact"]["matrix"][0][1] == 2 / 5


def test_agree_reads_annotators_from_columns(files: Path, capsys: Capture):
    rows = zip(ANNA.split("\n"), BOB.split("\n"), strict=True)
    both = "\n".join(own + "\t" + other.split("\t")[1] if "\t" in own else own for own, other in rows)
    (files / "both.conll").write_text(both)
    command = ["both.conll", "--annotator", "anna=2", "--annotator", "bob=3"]
    report = report_of(*command, capsys=capsys)
    assert main(["agree", *command, "--system", "carl"]) == 2
    assert "carl: there is no such file or folder (the annotators are anna, bob)" in capsys.readouterr().err

    assert report["agreement"] == report_of("anna=anna.conll", "bob=bob.conll", capsys=capsys)["agreement"]


@pytest.mark.parametrize("layout", ["annotator/document", "document/annotator"])
def test_agree_reads_annotators_from_one_folder(files: Path, capsys: Capture, layout: str):
    for name, text in (("anna", ANNA), ("bob", BOB)):
        place = (name, "one.conll") if layout.startswith("annotator") else ("one", f"{name}.conll")
        (files / "all" / place[0]).mkdir(parents=True, exist_ok=True)
        (files / "all" / place[0] / place[1]).write_text(text)
    report = report_of("all", "--layout", layout, capsys=capsys)

    assert (report["annotators"], report["documents"]) == (["anna", "bob"], 2)
    assert report["agreement"]["label"]["f1"]["exact"]["mean"] == 2 / 5


def test_agree_names_a_file_beside_the_folders_of_annotators(files: Path, capsys: Capture):
    for name in ("anna", "bob"):
        (files / "all" / name).mkdir(parents=True)
        (files / "all" / name / "d.conll").write_text((files / f"{name}.conll").read_text())
    (files / "all" / "carl.conll").write_text((files / "anna.conll").read_text())

    assert main(["agree", "all"]) == 0
    found = capsys.readouterr()
    assert found.out.startswith("Agreement of anna, bob\n")
    assert "left out of all: 1 file beside the folders (carl.conll)" in found.err


def test_agree_pairs_files_of_folders_by_name_whatever_one_lacks(files: Path, capsys: Capture):
    for name in ("a", "b"):
        (files / name).mkdir()
    for folder, file, text in (("a", "x", ANNA), ("b", "x", BOB), ("a", "y", ANNA)):
        (files / folder / f"{file}.conll").write_text(text)
    report = report_of("a", "b", capsys=capsys)

    assert (report["documents"], report["left_out"]) == (2, 2)


@pytest.mark.parametrize("tag", ["?", "O"])
@pytest.mark.parametrize("invalid", ["conlleval", "discard", "error"])
def test_agree_leaves_out_documents_that_are_tagged_as_not_annotated(
    files: Path, capsys: Capture, invalid: str, tag: str
):
    (files / "bob.conll").write_text(BOB.replace("Bob\tO", f"Bob\t{tag}"))
    report = report_of("anna.conll", "bob.conll", "--unannotated", tag, "--invalid", invalid, capsys=capsys)

    assert (report["documents"], report["left_out"], report["common"][0][1]) == (1, 1, 1)


def test_agree_reads_a_document_that_has_the_tag_on_some_tokens(files: Path, capsys: Capture):
    (files / "bob.conll").write_text(BOB.replace("Lovelace\tO", "Lovelace\t?"))

    assert main(["agree", "anna.conll", "bob.conll", "--unannotated", "?"]) == 2
    assert "bob.conll:3, document 'd1': '?' is not a tag" in capsys.readouterr().err


def test_agree_lists_disagreements(files: Path, capsys: Capture):
    assert main(["agree", "anna=anna.conll", "bob=bob.conll", "--disagreements"]) == 0
    assert capsys.readouterr().out.startswith(
        "d1 label 0–1\n    [{Ada} Lovelace] in Paris\n  boundary (end)\n"
        "  anna PER “Ada Lovelace” token 0–1\n  bob PER “Ada” token 0\n\n"
    )


def test_agree_begins_with_the_number_that_counts(files: Path, capsys: Capture):
    assert main(["agree", "anna=anna.conll", "bob=bob.conll"]) == 0
    assert capsys.readouterr().out.split("\n")[:3] == [
        "Agreement of anna, bob",
        "Mean F1 of pairs 40.00, alpha 0.438",
        "2 annotators, 2 shared documents, 5 positions, 2 places where annotators differ",
    ]


def test_agree_writes_a_table_of_disagreements_that_is_a_file_of_decisions(files: Path, capsys: Capture):
    assert main(["agree", "a=anna.conll", "b=bob.conll", "c=carl.conll", "-o", "d.tsv"]) == 0
    header, *rows = [line.split("\t") for line in (files / "d.tsv").read_text().splitlines()]
    assert header == [
        *("document", "layer", "start", "end_inclusive", "fingerprint"),
        *("choice", "comment", "reviewer", "time"),
        *("kind", "boundary", "a", "b", "c", "votes", "context"),
    ]
    assert [row[:4] + row[9:15] for row in rows] == [
        ["d1", "label", "0", "1", "boundary", "end", "0-1 PER", "0-0 PER", "0-1 PER", "2"],
        ["d1", "label", "3", "3", "label", "", "3-3 LOC", "3-3 LOC", "3-3 ORG", "2"],
        ["d2", "label", "4", "4", "missing", "", "4-4 PER", "", "-", "1"],
    ]
    rows[1][5] = "c"
    (files / "d.tsv").write_text("\n".join("\t".join(row) for row in [header, *rows]))
    command = ["curate", "a=anna.conll", "b=bob.conll", "c=carl.conll", "--decisions", "d.tsv"]
    assert main(command) == 0
    assert "Paris\tB-ORG\n" in capsys.readouterr().out


def test_agree_writes_a_spreadsheet_in_which_nothing_is_a_formula(files: Path):
    openpyxl = pytest.importorskip("openpyxl")
    for name in ("anna", "bob"):
        path = files / f"{name}.conll"
        path.write_text(path.read_text().replace("Ada", "=1+1"))

    assert main(["agree", "anna=anna.conll", "bob=bob.conll", "-o", "d.xlsx"]) == 0
    rows = list(openpyxl.load_workbook(files / "d.xlsx")["places"].iter_rows())
    assert rows[1][-1].value == "=1+1 Lovelace in Paris"
    assert {cell.data_type for row in rows for cell in row} <= {"s", "n", "inlineStr"}


def test_agree_writes_files_for_pygamma_beside_its_report(files: Path, capsys: Capture):
    assert main(["agree", "a=anna.conll", "b=bob.conll", "--pygamma", "gamma"]) == 0
    assert "Agreement of a, b" in capsys.readouterr().out
    assert (files / "gamma" / "d1.csv").read_text() == "a,PER,0,2\na,LOC,3,4\nb,PER,0,1\nb,LOC,3,4\n"


def test_agree_warns_of_what_files_for_pygamma_lack(files: Path, capsys: Capture):
    for name, lines in (("a", "T1\tX 0 1;2 3\ta b\n"), ("b", "")):
        (files / name).mkdir()
        (files / name / "d.txt").write_text("a b")
        (files / name / "d.ann").write_text(lines)

    assert main(["agree", "a", "b", "--pygamma", "gamma"]) == 0
    errors = capsys.readouterr().err
    assert "an annotator without spans in a document is not in its file for pygamma, 1 time" in errors
    assert "the gaps of 1 span are filled in the files for pygamma" in errors


def test_agree_says_how_a_system_compares(files: Path, capsys: Capture):
    (files / "system.conll").write_text((files / "anna.conll").read_text())

    assert main(["agree", "anna.conll", "bob.conll", "--system", "system.conll"]) == 0
    out = capsys.readouterr().out
    assert "the system agrees with annotators more than they do with each other" in out
    assert "it is like another annotator, which does not mean that it is right" in out


# curate


def test_curate_writes_a_table_of_spans_and_the_same_bytes_twice(files: Path, capsys: Capture):
    command = ["curate", "anna.conll", "bob.conll", "carl.conll", "-o", "gold.tsv", "--undecided", "open.tsv"]
    written = []
    for _ in range(2):
        assert main(command) == 0
        written.append([(files / name).read_bytes() for name in ("gold.tsv", "open.tsv")])

    assert written[0] == written[1]
    assert written[0][0].decode() == "document\tstart\tend_inclusive\tlabel\nd1\t0\t1\tPER\nd1\t3\t3\tLOC\n"
    assert capsys.readouterr().err.endswith("2 spans kept; 1 undecided, 0 outvoted, 0 tied\n")


def test_curate_lists_undecided_places_in_the_columns_of_disagreements(files: Path):
    assert main(["curate", "a=anna.conll", "b=bob.conll", "--undecided", "open.tsv"]) == 0
    assert main(["agree", "a=anna.conll", "b=bob.conll", "-o", "places.tsv"]) == 0

    assert (files / "open.tsv").read_text() == (files / "places.tsv").read_text()


def test_curate_writes_the_header_of_undecided_places_if_there_are_none(files: Path):
    assert main(["curate", "a=anna.conll", "b=anna.conll", "--undecided", "open.tsv"]) == 0
    assert (files / "open.tsv").read_text() == (
        "document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\tcomment\treviewer\ttime\t"
        "kind\tboundary\ta\tb\tvotes\tcontext\n"
    )


def test_curate_says_how_many_decisions_were_used(files: Path, capsys: Capture):
    folder = files / "decisions"
    folder.mkdir()
    header = "document\tstart\tend_inclusive\tfingerprint\tchoice\treviewer\n"
    for name in ("ada", "eve"):
        (folder / f"{name}.tsv").write_text(f"{header}d1\t0\t1\tf\tanna\t{name}\nd9\t0\t1\tf\tanna\t{name}\n")

    assert main(["curate", "anna=anna.conll", "bob=bob.conll", "--decisions", "decisions"]) == 0
    assert "decisions: 0 used, 1 stale, 1 lost, 0 in conflict; lost: d9 0-1\n" in capsys.readouterr().err


def test_curate_writes_the_format_of_the_ending(files: Path):
    for name, beginning in (("gold.conll", "# newdoc id = d1"), ("gold.tsv", "document\tstart")):
        assert main(["curate", "anna.conll", "bob.conll", "-o", name]) == 0
        assert (files / name).read_text(encoding="utf-8").startswith(beginning)


@pytest.mark.parametrize("form", ["conll", "gliner", "doccano"])
def test_curate_writes_the_format_of_the_first_annotator(form: str, files: Path):
    for name in ("anna", "bob"):
        assert main(["convert", f"{name}.conll", "--to", form, "--lossy", "-o", f"{name}-{form}"]) == 0

    assert main(["curate", f"anna-{form}", f"bob-{form}", "-o", "gold"]) == 0

    report = clueval.score("gold", f"anna-{form}").to_dict()
    assert report["inputs"]["gold"]["format"] == form
    assert report["metrics"]["levels"]["label"]["labelled"]["label"]["1"]["micro"]["gold"] == 1


def test_curate_writes_conll_for_tokens_that_cannot_be_written(files: Path, capsys: Capture):
    text = "<text>\n<s>\nAda\tB-PER\nin\tO\n</s>\n</text>\n"
    for name in ("a.vrt", "b.vrt"):
        (files / name).write_text(text, encoding="utf-8")

    assert main(["curate", "a.vrt", "b.vrt"]) == 0

    assert capsys.readouterr().out.endswith("Ada\tB-PER\nin\tO\n\n")


@pytest.mark.parametrize(
    ("lines", "options", "are_left_out"),
    [
        (("Ada\tNN\tB-PER\tx\n", "Ada\tNN\tO\tx\n"), ("--layer", "name=3"), True),
        (("#\tNN\tO\tx\n", "#\tNN\tO\tx\n"), ("--layer", "name=3"), True),
        (("Ada\tB-PER\n", "Ada\tO\n"), (), False),
        (("Ada\tB-PER\tO\n",), ("--annotator", "a=2", "--annotator", "b=3"), False),
    ],
)
def test_curate_says_if_other_columns_are_left_out(
    lines: tuple[str, ...],
    options: tuple[str, ...],
    are_left_out: bool,
    tmp_path: Path,
    capsys: Capture,
):
    paths = [tmp_path / f"{number}.conll" for number in range(len(lines))]
    for path, line in zip(paths, lines, strict=True):
        path.write_text(line)

    assert main(["curate", *map(str, paths), *options, "-o", str(tmp_path / "gold.conll")]) == 0
    assert ("other columns of the annotators' files are left out" in capsys.readouterr().err) is are_left_out


def test_curate_says_that_columns_are_left_out_whatever_the_sources_of_other_layers(
    tmp_path: Path, capsys: Capture
):
    text = "# newdoc id = d\n1\tAda" + "\t_" * 7 + "\tNER=B-PER|Risk=B-high\n\n"
    paths = [tmp_path / f"{number}.conllu" for number in range(2)]
    for path in paths:
        path.write_text(text)

    code = main(["curate", *map(str, paths), "--layer", "name=NER", "-o", str(tmp_path / "gold.conll")])

    assert code == 0
    assert (
        "written as conll: tokens and layers; other columns of the annotators' files are left out"
        in capsys.readouterr().err
    )


def test_curate_writes_other_formats(files: Path):
    assert main(["curate", "anna.conll", "bob.conll", "--to", "ltf", "-o", "gold/"]) == 0
    assert sorted(path.name for path in (files / "gold").iterdir()) == ["d1.xml", "d2.xml"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("agree anna.conll", "one file has one annotator"),
        ("agree anna.conll anna.conll", "two annotators have the path anna.conll"),
        ("agree a=anna.conll a=bob.conll", "two annotators have the name 'a'"),
        (
            "agree anna.conll bob.conll --system bob.conll",
            "the system has the file of the annotator bob.conll",
        ),
        ("agree anna.conll --annotator a=2 --annotator b=2", "two annotators have the column or set 2"),
        ("agree anna.conll nothing.conll", "nothing.conll: there is no such file"),
        ("agree =anna.conll bob.conll", "lacks a name or a path"),
        ("agree anna.conll bob.conll --annotator x", "'x' cannot be read"),
        ("agree anna.conll bob.conll --annotator x=2", "need one source"),
        ("agree anna.conll bob.conll --confidence 0.9", "add --intervals"),
        ("agree anna.conll bob.conll --layer x=7", "anna.conll:2, document 'd1': there is no column 7 for"),
        (
            "agree anna.conll bob.conll --unannotated ? --input ltf",
            "the format ltf has no tags, so no document can have the tag '?'",
        ),
        ("curate anna.conll bob.conll --votes none", "votes cannot be 'none'"),
        ("curate anna.conll bob.conll --votes 2 --union", "--union and --votes cannot be used together"),
        ("curate anna.conll bob.conll --decisions nothing.tsv", "nothing.tsv: there is no such file"),
        ("curate anna.conll bob.conll -o x.tsv --undecided x.tsv", "two results would be written to x.tsv"),
    ],
)
def test_agree_and_curate_refuse_in_one_line(files: Path, capsys: Capture, command: str, message: str):
    assert main(command.split()) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("form", FORMS)
def test_agree_shows_intervals_in_every_form(files: Path, capsys: Capture, form: str):
    assert main(["agree", "anna.conll", "bob.conll", "--intervals", "--format", form]) == 0
    assert ("alpha" if form not in ("csv", "tsv") else "fingerprint") in capsys.readouterr().out
