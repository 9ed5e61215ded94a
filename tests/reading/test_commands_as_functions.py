"""`clueval.check` and `clueval.merge`: the functions of the commands with these names."""

from __future__ import annotations

from pathlib import Path

import pytest

import clueval
from clueval import Problem, UsageError
from clueval.cli import main

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german" / "gold.vrt"
LAYERS = {"entity": 2, "risk": 3}


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
    with pytest.raises(UsageError, match="no file"):
        clueval.check()


def test_merge_gives_the_spans_of_the_table_that_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    merged = [
        f"{document.id}\t{span.start}\t{span.end - 1}\t{span.labels['entity'] or ''}\t{span.labels['risk'] or ''}"
        for document in clueval.merge(SAMPLE, LAYERS)
        for span in document.layers["merged"]
    ]

    assert main(["merge", str(SAMPLE), "--layer", "entity=2", "--layer", "risk=3"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == merged


def test_merged_documents_score_as_the_option_merge_does() -> None:
    predicted = SAMPLE.with_name("predicted.vrt")
    both = [list(clueval.merge(path, LAYERS)) for path in (SAMPLE, predicted)]

    of_files = clueval.score(SAMPLE, predicted, layers=LAYERS, merge=True, metrics="levels")
    assert clueval.score(*both, metrics="levels").f1 == of_files.f1
