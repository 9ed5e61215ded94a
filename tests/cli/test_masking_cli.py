"""``clueval masking``: options, exit codes, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write

from clueval.cli import main
from clueval.findings.decisions import fingerprint

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


def test_limits_that_are_kept_are_not_mentioned(sides: list[str], capsys: Capture) -> None:
    assert main(["masking", *sides, *LAYERS, "--fail-under", "word_recall=0.5"]) == 0
    assert capsys.readouterr().err == ""


def test_limits_with_decisions_are_for_the_figures_as_counted_unless_reviewed(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    """Only the second Anna can be read, characters 23 to 26."""
    decisions = tmp_path / "decisions.tsv"
    spans = fingerprint([("gold", ((23, 27),), "PER")])
    decisions.write_text(
        f"document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\nd1\tlabel\t23\t26\t{spans}\tharmless\n",
        encoding="utf-8",
    )
    limit = ["--fail-under", "entity_recall=1", "--decisions", str(decisions)]

    assert main(["masking", *sides, *LAYERS, *limit]) == 1
    assert capsys.readouterr().err == "clueval masking: entity_recall is 0.5, under 1\n"
    assert main(["masking", *sides, *LAYERS, *limit, "--reviewed", "--jobs", "2"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "1 leak set apart: harmless, or an error of the annotation\n  d1 [23,27)" in captured.out


def test_decisions_of_another_corpus_are_said_to_be_lost(
    sides: list[str], tmp_path: Path, capsys: Capture
) -> None:
    decisions = tmp_path / "decisions.tsv"
    decisions.write_text(
        "document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\nother\tlabel\t1\t2\tf\tharmless\n",
        encoding="utf-8",
    )

    assert main(["masking", *sides, *LAYERS, "--decisions", str(decisions), "--format", "json"]) == 0

    captured = capsys.readouterr()
    assert "0 used, 0 stale, 1 lost, 0 in conflict" in captured.err
    metrics = json.loads(captured.out)["metrics"]
    assert metrics["reviewed"]["label"] == metrics["masking"]["label"] | {"conventions": {}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-under", "recall=1"], "there is no figure 'recall'"),
        (["--fail-under", "recall"], "cannot be read"),
        (["--ignore", "all"], "'all' is not one of: punctuation, none"),
        (["--ignore-words", "no-such-file"], "cannot be read"),
        (["--word-weights", "no-such-file"], "cannot be read"),
        (["--confidence", "1"], "confidence must be between 0 and 1"),
        (["--beta", "0"], "beta must be a number above 0"),
        (["--masks", "other"], "no predicted document has a layer 'other'"),
        (["--weight-column", "1"], "the weight 'Frau' of token 0 is not a number from 0 on"),
        (["--weight-column", "9"], "column"),
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

    assert main(["masking", *sides, *LAYERS, "--tsv", str(path), "--no-text"]) == 0

    assert "Anna" not in path.read_text() + capsys.readouterr().out
    assert len(path.read_text().splitlines()) == 2


def test_several_processes_find_the_leaks_of_one(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clueval.evaluation.parallel.schedule.SMALLEST", 100)
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


def test_empty_files_are_not_called_free_of_leaks(tmp_path: Path, capsys: Capture) -> None:
    empty = str(write(tmp_path / "empty.vrt", ""))

    assert main(["masking", empty, empty]) == 0
    assert "no documents, so nothing was checked" in capsys.readouterr().out


def test_texts_in_the_place_of_predicted_spans_lead_to_redacted(tmp_path: Path, capsys: Capture) -> None:
    for folder, name, text in (
        ("gold", "a.txt", "Ada met Bob."),
        ("gold", "a.ann", "T1\tPER 0 3\tAda\n"),
        ("published", "a.txt", "[PER] met Bob."),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(text, encoding="utf-8")

    assert main(["masking", str(tmp_path / "gold"), str(tmp_path / "published")]) == 2
    assert "for redacted texts add --redacted" in capsys.readouterr().err
