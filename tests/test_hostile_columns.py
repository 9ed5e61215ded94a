"""Column files that are hard for clusters: what is done grows no faster than the rows, and memory has a bound.

Each function of `HOSTILE` returns the tags of gold, of predicted, and how many rows a sentence has. The time of such
files, which includes what happens in C, is measured by `benchmarks/worst.py`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import chain, islice, product
from pathlib import Path

import pytest
from ran_lines import LIMIT, Lines

from clueval.cli import main

pytestmark = pytest.mark.long

Sides = tuple[list[str], list[str], int]

SENTENCE = 20


def no_outside(rows: int) -> Sides:
    """One sentence without any O, in which overlaps connect all spans."""
    return ["B-A", "I-A", "I-A"] * (rows // 3), ["I-A", "B-B", "I-B"] * (rows // 3), rows


def one_span(rows: int) -> Sides:
    """One sentence in which gold is one span, over many blocks of the file, and predicted is two."""
    half = rows // 2
    return ["B-A", *["I-A"] * (2 * half - 1)], [*["I-A"] * half, "B-A", *["I-A"] * (half - 1)], rows


def different_tags(rows: int) -> Sides:
    """Every fifth row has a tag that occurs once, half of them on both sides."""
    gold = [f"B-L{n}" if n % 5 == 0 else "O" for n in range(rows)]
    return gold, [tag.replace("L", "M") if n % 2 else tag for n, tag in enumerate(gold)], SENTENCE


def different_clusters(rows: int) -> Sides:
    """No cluster occurs twice, though there are few tags; each is a sentence."""
    choices = product(("B-A", "I-A", "B-B", "I-B"), repeat=SENTENCE - 1)
    spans = islice(chain.from_iterable((*cluster, "O") for cluster in choices), rows)
    gold = list(spans)
    return gold, ["B-C" if n % SENTENCE == 1 else tag for n, tag in enumerate(gold)], SENTENCE


HOSTILE: dict[str, Callable[[int], Sides]] = {
    each.__name__: each for each in (no_outside, one_span, different_tags, different_clusters)
}


def write_hostile(shape: str, rows: int, folder: Path) -> tuple[Path, Path]:
    """Write both sides, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    *sides, size = HOSTILE[shape](rows)
    paths = folder / "gold.conll", folder / "predicted.conll"
    for path, tags in zip(paths, sides, strict=True):
        with path.open("w") as file:
            for start in range(0, len(tags), size):
                file.writelines(f"w{n % 9} {tag}\n" for n, tag in enumerate(tags[start : start + size]))
                file.write("\n")
    return paths


COMMANDS = {
    "score": ["GOLD", "PREDICTED", "--jobs", "1"],
    "errors": ["GOLD", "PREDICTED", "-o", "OUT"],
    "agree": ["GOLD", "PREDICTED"],
    "diff": ["GOLD", "PREDICTED", "GOLD"],
}

A_ROW = 12
"""The most kilobytes that memory may grow by a row: the errors of a sentence, and labels, are held."""

A_BAG = 80_000
"""The most kilobytes of a bag: it holds 65,536 different cases before it is folded (`clueval.core.bag.Bounds`)."""

CHILD = """
import sys
from clueval.cli import main
assert main(sys.argv[1:]) == 0
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")), file=sys.stderr)
"""


def written_command(command: str, shape: str, rows: int, folder: Path) -> list[str]:
    """Write the files of a shape, and return the arguments of the command line for them."""
    gold, predicted = write_hostile(shape, rows, folder)
    words = {"GOLD": str(gold), "PREDICTED": str(predicted), "OUT": str(folder / "out.tsv")}
    return [command, *(words.get(word, word) for word in COMMANDS[command])]


def memory_of(command: str, shape: str, rows: int, folder: Path) -> int:
    """Return the kilobytes that the process of a command takes."""
    arguments = written_command(command, shape, rows, folder)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=True
    )
    return int(done.stderr.split()[-1])


@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("command", COMMANDS)
def test_twice_the_rows_add_twice_the_work(command: str, shape: str, tmp_path: Path) -> None:
    commands = [written_command(command, shape, rows, tmp_path / f"{rows}") for rows in (2_000, 4_000, 8_000)]
    main(commands[0])  # imports, and what is computed only once
    found = []
    for arguments in commands:
        with Lines() as lines:
            assert main(arguments) == 0
        found.append(lines)
    few, more, most = found

    # few rows may take more work than many, since only long clusters are divided
    added = max(more.number - few.number, more.number // 2)
    assert most.number - more.number <= LIMIT * 2 * added
    assert most.characters <= LIMIT * 2 * more.characters


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("command", COMMANDS)
def test_memory_grows_with_what_is_held(command: str, shape: str, tmp_path: Path) -> None:
    # with 50,000, the clusters of `different_clusters` are counted and forgotten before the smaller file ends
    rows = 50_000 if shape == "different_clusters" else 5_000

    memory = memory_of(command, shape, rows, tmp_path / "few")
    more_memory = memory_of(command, shape, 4 * rows, tmp_path / "many")

    assert more_memory - memory <= 3 * rows * A_ROW
    if shape == "different_clusters":  # they count into a bag, or hold some sentences
        assert more_memory <= memory + A_BAG


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("shape", ["no_outside", "one_span"])
def test_a_million_rows_without_o_are_scored_in_little_memory(shape: str, tmp_path: Path) -> None:
    assert memory_of("score", shape, 999_000, tmp_path) < 400_000
