"""The benchmarks of intervals run at a small size, and say what they should."""

from __future__ import annotations

import re

import pytest
from scripts import benchmark

pytestmark = pytest.mark.long

coverage = benchmark("coverage")
trust = benchmark("trust")

Capture = pytest.CaptureFixture[str]


def test_the_coverage_of_every_setting_and_test_is_printed(capsys: Capture) -> None:
    assert coverage.main(["--corpora", "4", "--units", "5,8"]) == 0

    printed = capsys.readouterr().out
    for name in (*(setting.name for setting in coverage.SETTINGS), *coverage.CASES, *coverage.TESTS):
        assert re.search(rf"^\| {re.escape(name)} \| [\d/-]+ \| [\d/-]+ \|$", printed, re.MULTILINE)


def test_the_same_seed_gives_the_same_table(capsys: Capture) -> None:
    printed = []
    for _ in range(2):
        coverage.main(["--corpora", "3", "--units", "5", "--seed", "7"])
        printed.append(capsys.readouterr().out)

    assert printed[0] == printed[1]


def test_the_true_score_is_that_of_a_large_corpus() -> None:
    import random

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
