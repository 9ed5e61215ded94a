"""The benchmark of several processes measures real commands on corpora that it writes once. No time is asserted."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import benchmark

pytestmark = pytest.mark.long

jobs = benchmark("jobs")
generate = benchmark("generate")


@pytest.mark.long
def test_every_case_has_a_row_for_every_number_of_jobs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "FILES", 3)

    assert jobs.main(["--tokens", "300", "--runs", "1", "--jobs", "1", "2"]) == 0

    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.split("\n") if "tokens" in line]
    assert rows == [
        ["| one pair of files, 300 tokens", "jobs 1"],
        ["| one pair of files, 300 tokens", "jobs 2"],
        ["| 3 pairs of files, 300 tokens", "jobs 1"],
        ["| 3 pairs of files, 300 tokens", "jobs 2"],
    ]


def test_many_files_are_written_once_and_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "FILES", 4)
    corpus = generate.Corpus(400, seed=7)

    gold, predicted = jobs.many(corpus, tmp_path)
    written = {file: file.stat().st_mtime_ns for side in (gold, predicted) for file in side.iterdir()}

    assert sorted(file.name for file in gold.iterdir()) == ["0.vrt", "1.vrt", "2.vrt", "3.vrt"]
    assert len({file.read_bytes() for file in gold.iterdir()}) == 4
    assert jobs.many(corpus, tmp_path) == (gold, predicted)
    assert {file: file.stat().st_mtime_ns for file in written} == written


@pytest.mark.parametrize(
    "arguments", [["--runs", "0"], ["--tokens", "10"], ["--jobs", "0", "--tokens", "100", "--runs", "1"]]
)
def test_wrong_settings_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = jobs.main(arguments)
    except SystemExit as error:
        code = int(error.code or 0)

    assert code == 2
    assert capsys.readouterr().err.strip()
