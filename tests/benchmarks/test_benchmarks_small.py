"""What the benchmarks say at a small size is true there."""

from __future__ import annotations

import random

import pytest
from scripts import benchmark

pytestmark = pytest.mark.long

main_job = benchmark("main_job")
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


@pytest.mark.usefixtures("_nothing_but_loops")
def test_the_aims_are_judged_at_their_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main_job, "TOKENS", 200)

    assert main_job.main(["--cases", "usual", "--tokens", "200", "--runs", "1"]) == 0

    printed = capsys.readouterr().out
    assert "* usual, peak memory: " in printed
    assert "nothing is judged" not in printed


@pytest.mark.parametrize("size", [100, 20_000])
def test_the_title_of_the_labels_holds_at_any_size(size: int) -> None:
    gold, predicted = worst.many_labels(size, random.Random(1))
    labels = {tag[2:] for tag in (*gold, *predicted) if tag != "O"}

    assert worst.CASES["labels"].title == "each span has one of 100,000 labels"
    assert labels <= {f"{number:05}" for number in range(100_000)}
    assert len(labels) > 0.4 * size


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
