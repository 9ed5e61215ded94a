"""The rivals count the same, and the picture shows what was measured."""

from __future__ import annotations

import random
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from scripts import benchmark

from clueval import score

pytestmark = pytest.mark.long


generate = benchmark("generate")
main_job = benchmark("main_job")
measure = benchmark("measure")


# --- rivals --------------------------------------------------------------------------------------------------


def printed(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path, int]:
    """A corpus with an error in every sentence, where its files go, and how many spans level 1 finds right."""
    folder = tmp_path_factory.mktemp("corpora")
    settings = generate.Corpus(3_000, errors=1.0)
    report = score(*main_job.files(settings, folder), layers={"entity": 2}).metrics["levels"]["entity"]
    return settings, folder, report["labelled"]["entity"]["1"]["micro"]["tp_gold"]


def test_nervaluate_finds_as_many_spans_right(corpus: tuple[Any, Path, int]) -> None:
    pytest.importorskip("nervaluate")
    settings, folder, right = corpus

    report = printed(main_job.filled(main_job.COMMANDS["nervaluate"], settings, folder))

    strict = next(line.split() for line in report.splitlines() if line.split()[:1] == ["strict"])
    assert strict[1] == str(right)


def test_seqscore_finds_as_many_spans_right(corpus: tuple[Any, Path, int]) -> None:
    pytest.importorskip("seqscore")
    settings, folder, right = corpus

    report = printed(main_job.filled(main_job.COMMANDS["seqscore"], settings, folder))

    everything = next(line.split() for line in report.splitlines() if line.startswith("| ALL"))
    assert everything[-2] == str(right)


@pytest.mark.parametrize("command", main_job.COMMANDS)
def test_every_command_of_the_main_job_gets_the_same_words(
    command: str, corpus: tuple[Any, Path, int]
) -> None:
    settings, folder, _ = corpus

    parts = main_job.filled(main_job.COMMANDS[command], settings, folder)

    paths = [Path(part) for part in parts if part.startswith(str(folder))]
    words = [re.findall(r"^(?!-DOCSTART-)(\S+)\t", path.read_text(encoding="utf-8"), re.M) for path in paths]
    assert [path.stem for path in paths] == ["gold", "predicted"]
    assert words[0] == words[1]
    assert len(words[0]) == 3_000


# --- aims ----------------------------------------------------------------------------------------------------


def measurement(name: str, wall: float, mebibytes: float = 1) -> Any:
    return measure.Measurement(name, (name,), (measure.Run(wall, wall, mebibytes * 2**20),))


def test_the_aims_are_told_as_met_or_not_met() -> None:
    usual = [measurement("clueval", 0.5, 30), measurement("seqeval", 10.0), measurement("line loop", 0.25)]
    large = [measurement("clueval", 5.0, 61)]

    assert main_job.aims({"usual": usual, "large": large}).splitlines() == [
        "* usual, seqeval / clueval: 20.00, at least 25 wanted: **not met**",
        "* usual, clueval / line loop: 2.00, at most 2.5 wanted: met",
        "* ten times the tokens, clueval: 10.00, at most 10.5 wanted: met",
        "* usual, peak memory: 30 MiB, at most 60 wanted: met",
        "* large, peak memory: 61 MiB, at most 60 wanted: **not met**",
    ]


# The script that doubles hostile documents: its shapes are what they claim, and every outcome is told


growth = benchmark("growth")


@pytest.mark.parametrize("shape", growth.SHAPES)
def test_every_shape_has_about_as_many_spans_as_asked_for(shape: str) -> None:
    case = growth.SHAPES[shape](20)

    numbers = [sum(len(spans) for document in side for spans in document.layers.values()) for side in case]
    assert max(numbers) in (20, 21)
    assert [document.tokens for document in case.gold] == [document.tokens for document in case.predicted]


def test_a_row_has_the_last_two_sizes_and_their_power(capsys: pytest.CaptureFixture[str]) -> None:
    assert growth.main(["--size", "20", "--doublings", "1", "--shapes", "nested", "--jobs", "exact"]) == 0

    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("| nested | exact | 20: ")
    assert "| 40: " in last


def test_a_job_that_is_refused_says_why() -> None:
    assert "overlap" in growth.measured("nested", "merge", 20, limit=60).error


def test_a_job_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: Any) -> None:
        time.sleep(60)

    monkeypatch.setitem(growth.JOBS, "exact", never)

    assert growth.measured("nested", "exact", 20, limit=0.3) == growth.Point(None, error="stopped")


# The benchmarks of intervals run at a small size, and say what they should


coverage = benchmark("coverage")
trust = benchmark("trust")

Capture = pytest.CaptureFixture[str]


def test_the_coverage_of_every_setting_and_test_is_printed(capsys: Capture) -> None:
    assert coverage.main(["--corpora", "4", "--units", "5,8"]) == 0

    printed = capsys.readouterr().out
    for name in (*(setting.name for setting in coverage.SETTINGS), *coverage.CASES, *coverage.TESTS):
        assert re.search(rf"^\| {re.escape(name)} \| [\d/-]+ \| [\d/-]+ \|$", printed, re.MULTILINE)


def test_the_true_score_is_that_of_a_large_corpus() -> None:
    setting = coverage.SETTINGS[0]
    units = coverage.corpus(setting, 20_000, random.Random(1))
    totals = [sum(column) for column in zip(*units, strict=True)]

    assert coverage.score(setting, *totals) == pytest.approx(coverage.true_score(setting), abs=0.01)


def test_speed_is_printed_for_every_row_and_command(capsys: Capture) -> None:
    pytest.importorskip("scipy")

    assert trust.main(["--units", "12", "--sentences", "20", "--tokens", "2000", "--runs", "1"]) == 0
    printed = capsys.readouterr().out

    assert "the same, scipy.stats.bootstrap" in printed
    assert re.search(r"^\| score --save \| [\d.]+ \| [\d.]+ \|$", printed, re.MULTILINE)


# The benchmark of several processes measures real commands on corpora that it writes once. No time is asserted


jobs = benchmark("jobs")


@pytest.mark.long
def test_every_case_has_a_row_for_every_number_of_jobs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "FILES", 3)

    assert jobs.main(["--tokens", "300", "--runs", "1", "--jobs", "1", "2"]) == 0

    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.split("\n") if "tokens" in line]
    assert rows == [
        ["| 3 pairs of files, 300 tokens", "jobs 1"],
        ["| 3 pairs of files, 300 tokens", "jobs 2"],
    ]


# What the benchmarks say at a small size is true there


worst = benchmark("worst")


@pytest.fixture
def _nothing_but_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the benchmark is the loop over the lines, which takes no time."""
    for name in main_job.COMMANDS:
        monkeypatch.setitem(main_job.COMMANDS, name, main_job.COMMANDS["line loop"])


@pytest.mark.usefixtures("_nothing_but_loops")
def test_the_aims_are_not_judged_at_another_size_than_theirs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_job.main(["--cases", "usual", "--tokens", "200", "--runs", "1"]) == 0

    printed = capsys.readouterr().out
    assert "met" not in printed.split()
    assert "**not met**" not in printed
    assert printed.endswith("The aims are for 1,000,000 tokens: this run does not check them.\n")


@pytest.mark.long
def test_lists_in_memory_are_measured_in_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    in_memory = benchmark("in_memory")

    assert in_memory.main(["--tokens", "500", "--runs", "1"]) == 0

    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.splitlines() if " | " in line][2:]
    of_tags = len(in_memory.CASES) * len(in_memory.CALLS)
    assert rows[:of_tags] == [[f"| {case}", name] for case in in_memory.CASES for name in in_memory.CALLS]
    assert len(rows[of_tags + 2 :]) == len(in_memory.LENGTHS)


@pytest.mark.long
def test_every_command_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands = benchmark("commands")

    assert commands.main(["--tokens", "500", "--runs", "1", "--borders", "no documents"]) == 0

    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.splitlines() if " | " in line][2:]
    assert [name for _, name in rows] == [name for _, of in commands.GROUPS.values() for name in of]


@pytest.mark.long
def test_the_overview_begins_with_what_loses(capsys: pytest.CaptureFixture[str]) -> None:
    overview = benchmark("overview")

    assert overview.main(["--tokens", "2000", "--runs", "1"]) == 0

    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if " | " in line][2:]
    times = [float(row[-1].strip(" |")) for row in rows]
    assert len(times) == 9
    assert times == sorted(times)
