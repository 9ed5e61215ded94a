"""``clueval masking``: options, exit codes, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval.cli import main
from clueval.reports.place import fingerprint

GOLD = """\
<text id="d1">
Frau	O	O	e
Anna	B-PER	B-high	B-p1
Weiß	I-PER	I-high	I-p1
aus	O	O	O
Ulm	B-LOC	B-low	B-u
Anna	B-PER	B-high	B-p1
</text>
""".replace("\te\n", "\tO\n")
PREDICTED = """\
<text id="d1">
Frau	O
Anna	B-X
Weiß	I-X
aus	O
Ulm	B-X
Anna	O
</text>
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    return [str(write(tmp_path / "g.vrt", GOLD)), str(write(tmp_path / "p.vrt", PREDICTED))]


LAYERS = ["--layer", "label=2", "--entity", "4"]


def test_ids_of_entities_may_stand_in_a_column_of_gold(sides: list[str], capsys: Capture) -> None:
    assert main(["masking", *sides, *LAYERS, "--format", "json"]) == 0

    found = json.loads(capsys.readouterr().out)
    row = found["metrics"]["masking"]["label"]["classes"]["all"]
    assert list(found["metrics"]["masking"]) == ["label"]
    assert (row["entities"], row["entities_in_part"], row["entities_protected"]) == (2, 1, 1)
    assert found["leaks"][0]["mentions"] == 2
    assert "|entities:by id|" in found["signature"]


def test_a_limit_that_is_not_kept_exits_with_one_and_a_line(sides: list[str], capsys: Capture) -> None:
    limits = ["--fail-under", "entity_recall=1", "--fail-under", "word_recall=0.5", "--fail-over", "masks=1"]

    assert main(["masking", *sides, *LAYERS, *limits]) == 1

    captured = capsys.readouterr()
    assert captured.err == (
        "clueval masking: entity_recall is 0.5, under 1\nclueval masking: masks is 2, over 1\n"
    )
    assert "riskiest first" in captured.out


@pytest.mark.parametrize(
    ("figure", "names"),
    [
        ("recall", "did you mean mention_recall or entity_recall?"),
        ("recall[high]", "did you mean mention_recall[high] or entity_recall[high]?"),
        ("label.recall", "did you mean label.mention_recall or label.entity_recall?"),
        ("Recall", "did you mean mention_recall or entity_recall?"),
        ("recal", "did you mean mention_recall or entity_recall?"),
        ("word_recal", "did you mean word_recall?"),
        ("entity_recal[high]", "did you mean entity_recall"),
    ],
)
def test_a_recall_without_its_unit_leads_to_the_strict_figures(
    sides: list[str], capsys: Capture, figure: str, names: str
) -> None:
    for option in ("--fail-under", "--fail-over"):
        assert main(["masking", *sides, *LAYERS, option, f"{figure}=.99"]) == 2
        assert names in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["mention_recall=67%", "mention_recall=0.67", "mention_recall= 67 %"])
def test_a_limit_may_be_a_percentage(sides: list[str], capsys: Capture, limit: str) -> None:
    """Two of three mentions are protected: 66.7 %."""
    assert main(["masking", *sides, *LAYERS, "--fail-under", limit]) == 1
    assert capsys.readouterr().err == "clueval masking: mention_recall is 0.666667, under 0.67\n"
    assert main(["masking", *sides, *LAYERS, "--fail-under", "mention_recall=66%"]) == 0
    assert main(["masking", *sides, *LAYERS, "--fail-over", "document_leak_upper=100%"]) == 0
    assert main(["masking", *sides, *LAYERS, "--fail-over", "mention_recall=66%"]) == 1


@pytest.mark.parametrize("limit", ["mention_recall=%", "mention_recall=9%%", "mention_recall=high%"])
def test_a_percentage_that_is_no_number_is_an_error(sides: list[str], capsys: Capture, limit: str) -> None:
    assert main(["masking", *sides, *LAYERS, "--fail-under", limit]) == 2
    assert "cannot be read" in capsys.readouterr().err


LEAK = "clueval masking: 1 leak: a mention that must be masked can be read"


def test_a_leak_exits_with_one_and_says_where_the_list_is(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    gate = ["masking", *sides, *LAYERS, "--fail-on-leak"]
    table, page, output = tmp_path / "leaks.tsv", tmp_path / "page.html", tmp_path / "report.json"

    assert main(gate) == 1
    captured = capsys.readouterr()
    assert captured.err == f"{LEAK} (see the leaks in the report; -o FILE.tsv lists all)\n"
    assert ["d1", "23–26", "no", "class", "PER"] in [line.split()[:5] for line in captured.out.splitlines()]
    for options, where in (
        (["-o", str(table)], f"listed in {table}"),
        (["-o", str(table), "-o", str(page)], f"listed in {table}, {page}"),
        (["-o", str(output)], f"listed in {output}"),
        (["--format", "json"], "listed in standard output"),
        (["--format", "csv"], "listed in standard output"),
        (["-o", str(tmp_path / "r.md")], "see the leaks in the report; -o FILE.tsv lists all"),
    ):
        assert main([*gate, *options]) == 1
        lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("wrote")]
        assert lines == [f"{LEAK} ({where})"]


def test_leaks_are_mentions_that_must_be_masked(sides: list[str], tmp_path: Path, capsys: Capture) -> None:
    nothing = str(write(tmp_path / "n.vrt", PREDICTED.replace("B-X", "O").replace("I-X", "O")))
    gate = ["masking", sides[0], nothing, *LAYERS, "--fail-on-leak"]

    assert main(gate) == 1
    assert capsys.readouterr().err.startswith(
        "clueval masking: 3 leaks: mentions that must be masked can be read"
    )
    assert main([*gate, "--keep", "PER"]) == 1
    assert capsys.readouterr().err.startswith("clueval masking: 1 leak: ")
    assert main([*gate, "--keep", "PER,LOC"]) == 1  # nothing was checked
    assert "leak:" not in capsys.readouterr().err


def test_without_a_leak_the_gate_passes_and_says_nothing(sides: list[str], capsys: Capture) -> None:
    assert main(["masking", sides[0], sides[0], "--layer", "label=2", "--fail-on-leak"]) == 0
    assert capsys.readouterr().err == ""


def test_a_leak_beside_limits_has_a_line_of_its_own(sides: list[str], capsys: Capture) -> None:
    limits = ["--fail-on-leak", "--fail-under", "mention_recall=70%", "--fail-under", "word_recall=1%"]
    assert main(["masking", *sides, *LAYERS, *limits]) == 1
    assert [line.partition(" (")[0] for line in capsys.readouterr().err.splitlines()] == [
        LEAK,
        "clueval masking: mention_recall is 0.666667, under 0.7",
    ]


def test_a_leak_that_a_review_sets_apart_is_none_if_reviewed(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    decisions = tmp_path / "decisions.tsv"
    spans = fingerprint([("gold", ((23, 27),), "PER")])
    decisions.write_text(
        f"document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\nd1\tlabel\t23\t26\t{spans}\tharmless\n",
        encoding="utf-8",
    )
    gate = ["masking", *sides, *LAYERS, "--fail-on-leak", "--decisions", str(decisions)]

    assert main(gate) == 1
    assert capsys.readouterr().err.startswith(LEAK)
    assert main([*gate, "--reviewed"]) == 0


def test_python_has_the_gate_of_leaks_too(sides: list[str]) -> None:
    options: dict[str, Any] = {"layers": {"label": 2}, "entity": 4}
    report = clueval.masking(*sides, **options)

    assert report.failures(fail_on_leak=True) == ["1 leak: a mention that must be masked can be read"]
    assert len(report.leaks) == 1
    assert report.failures() == []
    assert report.failures("word_recall=0", fail_on_leak=False) == []
    assert clueval.masking(sides[0], sides[0], layers={"label": 2}).failures(fail_on_leak=True) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-under", "recall=1"], "there is no figure 'recall'"),
        (["--fail-under", "recall"], "cannot be read"),
        (["--ignore", "all"], "'all' is unknown; one of punctuation, none"),
        (["--ignore-words", "no-such-file"], "there is no such file"),
        (["--word-weights", "no-such-file"], "there is no such file"),
        (["--confidence", "1"], "confidence must be between 0 and 1"),
        (["--beta", "0"], "beta must be a number above 0"),
        (["--masks", "other"], "no predicted document has a layer 'other'"),
        (["--weight-column", "1"], "the weight 'Frau' of token 0 is not a number from 0 on"),
        (["--weight-column", "9"], "there is no column 9 with a weight"),
        (["--annotators", "all", "--where", "label=PER"], "cannot leave spans out of the count"),
    ],
)
def test_wrong_use_exits_with_two_and_one_line(
    sides: list[str], capsys: Capture, arguments: list[str], message: str
) -> None:
    try:
        code: object = main(["masking", *sides, "--layer", "label=2", *arguments])
    except SystemExit as stop:  # as argparse ends
        code = stop.code
    assert code == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_weights_of_tokens_may_stand_in_a_column(tmp_path: Path, capsys: Capture) -> None:
    gold = write(tmp_path / "g.conll", "Anna\tB-PER\t1\nWeiß\tI-PER\t0.5\naus\tO\t0\nUlm\tB-LOC\t1\n")
    predicted = write(tmp_path / "p.conll", "Anna\tB-PER\nWeiß\tO\naus\tO\nUlm\tB-LOC\n")

    options = "--layer x=2 --weight-column 3 --format json"
    assert main(["masking", str(gold), str(predicted), *options.split()]) == 0

    row = json.loads(capsys.readouterr().out)["metrics"]["masking"]["x"]["classes"]["all"]
    assert row["weighted_word_recall"] == 2 / 2.5


def test_leaks_are_written_as_a_table_without_text_if_asked(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "leaks.tsv"

    assert main(["masking", *sides, *LAYERS, "-o", str(path), "-o", "-", "--no-text"]) == 0

    assert "Anna" not in path.read_text() + capsys.readouterr().out
    assert len(path.read_text().splitlines()) == 2


def test_without_text_an_error_in_a_file_has_its_place_only(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    text = Path(sides[0]).read_text(encoding="utf-8")
    other = tmp_path / "other.vrt"
    other.write_text(text.replace("Anna", "Hanna"), encoding="utf-8")

    assert main(["masking", sides[0], str(other), *LAYERS, "--no-text"]) == 2

    error = capsys.readouterr().err
    assert f"{Path(sides[0]).name}:3: there is an error here" in error
    assert "anna" not in error.casefold()


def test_several_processes_find_the_leaks_of_one(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clueval.results.workers.SMALL", 100)
    folders = []
    for name, of in (("gold", "B-PER\tB-high\nI-PER\tO"), ("predicted", "B-X\tO\nO\tO")):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        for number in range(4):
            first, second = of.split("\n")
            text = f"Karl\t{first}\nÖz{number}\t{second}\nist\tO\tO\nKarl\t{first}\n"
            (folders[-1] / f"{number}.conll").write_text(text * (number + 1))
    layers = [
        "--layer",
        "entity=2",
        "--layer",
        "risk=3",
        "--by",
        "document",
        "--conventions",
        "i2b2,tab,presidio",
    ]

    found = []
    for jobs in ("1", "2"):
        assert main(["masking", *map(str, folders), *layers, "--jobs", jobs, "--format", "json", "-v"]) == 0
        output = capsys.readouterr()
        found.append(json.loads(output.out))

    assert "2 processes" in output.err
    assert len(found[0]["leaks"]) == 10
    assert found[0] == found[1]


@pytest.mark.parametrize("entity", ["person", "5", "-1"])
def test_a_column_of_a_table_of_spans_has_the_entities_and_is_no_layer(
    tmp_path: Path, capsys: Capture, entity: str
) -> None:
    head = "document\tstart\tend_inclusive\tname"
    text = write(tmp_path / "text.vrt", '<text id="d">\nAnna\nund\nAnna\nund\nAnne\n</text>\n')
    gold = write(
        tmp_path / "g.tsv", f"{head}\tperson\nd\t0\t0\tPER\te1\nd\t2\t2\tPER\te2\nd\t4\t4\tPER\te1\n"
    )
    predicted = write(tmp_path / "p.tsv", f"{head}\nd\t0\t0\tX\nd\t2\t2\tX\n")

    arguments = ["--text", str(text), "--entity", entity, "--format", "json"]
    assert main(["masking", str(gold), str(predicted), *arguments]) == 0

    reports = json.loads(capsys.readouterr().out)["metrics"]["masking"]
    assert list(reports) == ["name"]
    row = reports["name"]["classes"]["all"]
    assert (row["entities"], row["entities_protected"], row["entities_in_part"]) == (2, 1, 1)


def test_string_leaks_have_a_limit_too(sides: list[str], capsys: Capture) -> None:
    assert main(["masking", *sides, "--layer", "entity=2", "--fail-over", "string_leaks=1"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("spans", "options"), [([], []), ([[0, 3, "PER"]], ["--keep", "PER"])])
def test_a_gate_without_mentions_that_must_be_masked_fails(
    tmp_path: Path, capsys: Capture, spans: list[list[object]], options: list[str]
) -> None:
    gold = write(tmp_path / "gold.jsonl", json.dumps({"id": "1", "text": "Ada met Bob", "label": spans}))

    arguments = ["masking", str(gold), str(gold), *options]
    assert main([*arguments, "--fail-on-leak"]) == 1
    assert (
        "clueval masking: there is no mention that must be masked, so nothing was checked: check the gold file, its "
        "layer (--layer) and --keep\n"
    ) in capsys.readouterr().err
    assert main([*arguments, "--fail-on-leak", "--lang", "de"]) == 1
    assert (
        "clueval masking: es gibt keine Erwähnung, die maskiert werden muss, es wurde also nichts geprüft: prüfen Sie "
        "die Gold-Datei, ihre Ebene (--layer) und --keep\n"
    ) in capsys.readouterr().err
    assert main(arguments) == 0

    report = clueval.masking(gold, gold, keep=[label for *_, label in spans])
    assert report.failures(fail_on_leak=True) == [
        "there is no mention that must be masked, so nothing was checked: check the gold file, its layer (layers=...) "
        "and keep=..."
    ]


def test_a_gate_without_documents_fails(tmp_path: Path, capsys: Capture) -> None:
    empty = str(write(tmp_path / "empty.jsonl", ""))

    assert main(["masking", empty, empty, "--fail-on-leak"]) == 1
    assert "clueval masking: no documents, so nothing was checked\n" in capsys.readouterr().err
    assert main(["masking", empty, empty]) == 0
