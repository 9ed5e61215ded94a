"""Column files that are hard for clusters: time grows no faster than the rows, and memory has a bound."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_columns import HOSTILE, write_hostile

pytestmark = pytest.mark.long

COMMANDS = {
    "score": ["GOLD", "PREDICTED", "--jobs", "1"],
    "errors": ["GOLD", "PREDICTED", "--tsv", "OUT"],
    "agree": ["GOLD", "PREDICTED"],
    "diff": ["GOLD", "PREDICTED", "GOLD"],
}

ROWS = {("errors", "no_outside"): 10_000, ("diff", "no_outside"): 20_000, ("agree", "different_tags"): 10_000}
"""The rows of the smaller files; others have 50,000."""

A_ROW = 12
"""The most kilobytes that memory may grow by a row: the errors of a sentence, and labels, are held."""

CHILD = """
import sys, time
from clueval.cli import main
assert main(sys.argv[1:]) == 0
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")), file=sys.stderr)
print(time.process_time(), file=sys.stderr)
"""


def cost(command: str, shape: str, rows: int, folder: Path) -> tuple[int, float]:
    """Return the kilobytes and the seconds of the processor that a command takes."""
    gold, predicted = write_hostile(shape, rows, folder)
    words = {"GOLD": str(gold), "PREDICTED": str(predicted), "OUT": str(folder / "out.tsv")}
    arguments = [words.get(word, word) for word in COMMANDS[command]]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, command, *arguments], capture_output=True, text=True, check=True
    )
    *_, memory, seconds = done.stderr.split()
    return int(memory), float(seconds)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("command", COMMANDS)
def test_four_times_the_rows_take_four_times_the_time(command: str, shape: str, tmp_path: Path) -> None:
    rows = ROWS.get((command, shape), 50_000)

    memory, seconds = cost(command, shape, rows, tmp_path / "few")
    more_memory, more_seconds = cost(command, shape, 4 * rows, tmp_path / "many")

    assert more_seconds <= 1.5 * 4 * seconds
    assert more_memory - memory <= 3 * rows * A_ROW
    if shape == "different_clusters":
        assert more_memory <= 1.5 * memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("shape", ["no_outside", "one_span"])
def test_a_million_rows_without_o_are_scored_in_little_memory(shape: str, tmp_path: Path) -> None:
    memory, _ = cost("score", shape, 999_000, tmp_path)

    assert memory < 400_000
