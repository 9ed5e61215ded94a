"""The script that doubles hostile documents: its shapes are what they claim, and every outcome is told."""

from __future__ import annotations

import time
from typing import Any

import pytest
from scripts import benchmark

pytestmark = pytest.mark.long

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
