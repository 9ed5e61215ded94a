"""`check` finds the same problems whether it looks at all tags of a passage together or at one after the other."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import at_most

import clueval
from clueval.cli import main
from clueval.formats.options import FormatOptions
from clueval.reading import check

TAGS = st.sampled_from(
    ["O", "O", "B-X", "I-X", "I-Y", "B-X&amp;", "I-X&#38;", "E-X", "S-X", "L-X", "M-X", "XX"]
)
ROWS = st.one_of(
    st.builds("{}\t{}\tt{}".format, st.sampled_from("ab"), TAGS, st.integers(0, 50)),
    st.builds("a\t{}\tt{}".format, TAGS, st.integers(0, 10**6)),
)
LINES = st.one_of(
    ROWS, ROWS, ROWS, st.just(""), st.sampled_from(["-DOCSTART-", "a\tO", "\tO\tt1", "a\tO\tt1\tx"])
)


def _found(path: Path, form: str, scheme: str | None) -> tuple[Any, ...]:
    layers = {"label": 2}
    options = FormatOptions(input=form, token_id=3, scheme=scheme, layers=layers)
    (each,) = (each for _, each in check.checks([path], options))
    problems = list(map(str, each.problems()))
    return problems, each.documents, each.tokens, each.schemes


@given(
    st.lists(LINES, min_size=1), st.sampled_from(["conll", "vrt"]), st.sampled_from([None, "BIO", "BIOES"])
)
@example(["a\tI-X\tt1", "", "a\tI-X\tt2", "", "a\tB-X\tt3", "a\tI-X\tt4"], "conll", None)
@at_most(60)
def test_check_of_all_lines_together_finds_what_a_check_of_single_lines_finds(
    lines: list[str], form: str, scheme: str | None
) -> None:
    """The scheme depends on the tags read before; here it is named, or blank lines end each sentence."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a"
        marks = {"-DOCSTART-": "</s></text><text><s>", "": "</s>\n<s>"}
        text = [line if form == "conll" else marks.get(line, line) for line in lines]
        path.write_text("a\tO\tt0\n" + "\n".join(text) + "\n", encoding="utf-8")
        together = _found(path, form, scheme or "BIO")
        with patch.object(check, "ROWS", 1):
            alone = _found(path, form, scheme or "BIO")

    assert together[1:] == alone[1:]
    assert sorted(together[0]) == sorted(alone[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of brat with overlapping spans, a gap, a feature, a relation and a note."""
    file = tmp_path / "a.ann"
    spans = "T1\tPER 0 3\tAda\nT2\tX 0 1;2 3\tA a\nA1\tSure T1\n"
    file.write_text(f"{spans}R1\tIn Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T1\tx\n", encoding="utf-8")
    file.with_suffix(".txt").write_text("Ada", encoding="utf-8")
    return file


def test_check_lists_what_is_not_read_and_what_another_format_would_lose(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(path)]) == 0
    summary = f"{path}: no problems; 1 document, 3 positions"
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [summary, f"{path}: not read: 1 notes, 1 relations"]
    assert lines[2].startswith(f"{path}: 2 overlapping spans; ")
    for to, says in (
        ("doccano", "cannot hold 1 features, 1 gaps"),
        ("conll", "cannot hold 1 spans within tokens, 1 features"),
        ("brat", "holds all that is read"),
    ):
        assert main(["check", str(path), "--to", to]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[1] == f"{path}: not read: 1 notes, 1 relations"
        assert lines[3:] == [f"{path}: {to} {says}"]


def test_check_names_no_kind_of_which_there_is_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"tokenized_text": ["Ulm"], "ner": [[0, 0, "LOC"]]}\n', encoding="utf-8")

    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: no problems; 1 document, 1 position\n"


def test_check_to_a_format_lists_what_convert_to_it_would_lose(path: Path) -> None:
    (of_doccano,) = clueval.check(path, to="doccano")
    (of_brat,) = clueval.check(path, to="brat")

    said = "the format doccano cannot hold 1 features, 1 gaps; passed over: 1 relations, 1 notes"
    assert (of_doccano.file, of_doccano.problem) == (str(path), said)
    assert of_brat.problem == "passed over: 1 relations, 1 notes"
    assert clueval.check(path) == []
    with pytest.raises(clueval.UsageError, match="the format vrt cannot be written"):
        clueval.check(path, to="vrt")


def test_check_to_a_format_names_what_cannot_be_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tagging format has one layer."""
    path = tmp_path / "two.conll"
    path.write_text("Ada\tB-PER\tB-X\n", encoding="utf-8")

    assert main(["check", str(path), "--layer", "a=2", "--layer", "b=3", "--to", "ltf"]) == 1
    said = "the format ltf holds one layer, not 2"
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"{path}: ltf cannot be written: {said} (name one with --layer)"
    ]
    (problem,) = clueval.check(path, layers={"a": 2, "b": 3}, to="ltf")
    assert (problem.file, problem.problem) == (str(path), said)


def test_rows_of_json_are_checked_on_after_one_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = ['"label": []', '"label": [[0, 9, "X"]]', '"label": 5', '"label": []', '"label": [[2, 1, "X"]]']
    path.write_text("".join(f'{{"text": "abc", {row}}}\n' for row in rows) + "no JSON\n{}\n")

    problems = clueval.check(path)

    assert [problem.line for problem in problems] == [2, 3, 5, 6]
    assert [problem.line for problem in clueval.check(path, max_errors=2)] == [2, 3]


def test_set_whose_last_row_cannot_be_read_is_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = ['"spans": []', '"spans": [[0, 9, "X"]]']
    path.write_text("".join(f'{{"text": "abc", "_annotator_id": "anna", {row}}}\n' for row in rows))

    assert [problem.line for problem in clueval.check(path, annotation_set="anna")] == [2]


def test_tags_of_json_that_were_refused_are_no_problem_of_later_rows(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = ["B-X", "foo", "B-X", "S-X", "L-X"]
    path.write_text("".join(f'{{"tokens": ["a"], "ner_tags": ["{tag}"]}}\n' for tag in rows))

    assert [problem.line for problem in clueval.check(path)] == [2, 5]


def test_rows_that_are_read_as_answers_lead_to_the_option_for_other_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text('{"text": "abc", "response": [{"start": 0, "end": 1, "label": "X"}]}\n')

    assert main(["check", str(path)]) == 1
    assert "--row text=KEY,spans=KEY" in capsys.readouterr().out
    assert main(["check", str(path), "--row", "text=text,spans=response"]) == 0


def test_check_names_spans_that_only_some_metrics_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One span is repeated, [4,4) is empty, [0,7) overlaps both others, and [8,11) has no label; none is a problem."""
    spans = [[0, 3, "PER"], [0, 3, "PER"], [4, 4, "LOC"], [0, 7, "ORG"], [8, 11, None]]
    path = tmp_path / "a.jsonl"
    rows = [{"id": 7, "text": "Ada met Bob", "label": of_row} for of_row in (spans, [])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        f"{path}: 1 repeated document ids, 1 spans without label, 1 repeated spans, 1 zero-length spans, "
        "3 overlapping spans; "
        "some metrics, such as levels, refuse spans that overlap; exact, fair, gate and muc count them, exact and fair "
        "repeated ones once"
    )
    assert clueval.check(path) == []


@pytest.mark.parametrize(
    ("spans", "overlapping"),
    [
        ([[3, 3, "X"], [3, 3, "Y"]], 2),
        ([[1, 3, "X"], [3, 3, "X"], [3, 5, "X"]], 0),
        ([[0, 9, "X"], [2, 3, "Y"], [3, 4, "Y"], [9, 9, "X"]], 3),
    ],
)
def test_check_counts_as_overlapping_what_metrics_of_flat_spans_refuse(
    spans: list[list[Any]], overlapping: int, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "Ada met Bob", "label": spans}), encoding="utf-8")
    [(_, file_check)] = check.checks([tmp_path / "a.jsonl"], FormatOptions())

    assert list(file_check.problems()) == []
    assert file_check.unusual["overlapping spans"] == overlapping


def test_check_names_each_wrong_document_of_one_object(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [[0, 3], [5, 4]], "b": [[-1, 2]], "c": [[0, 3]]}', encoding="utf-8")

    assert [problem.problem for problem in clueval.check(path)] == [
        "span [5,4) '_' ends before it starts",
        "span [-1,2) '_' starts before position 0",
    ]


def test_check_of_rows_holds_no_ids(tmp_path: Path) -> None:
    """2,000 ids of 4,000 characters would be 8 MB."""
    path = tmp_path / "a.jsonl"
    rows = ({"id": f"{number:4000}", "text": "Ada", "label": []} for number in [*range(2000), 7])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    [(_, file_check)] = check.checks([path], FormatOptions())

    tracemalloc.start()
    assert list(file_check.problems()) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (file_check.documents, file_check.unusual["repeated document ids"]) == (2001, 1)
    assert peak < 4_000_000
