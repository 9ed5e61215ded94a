"""Measures FairEval's evaluation of two span files, and compares it with a version that uses plain lists.

Writes two span files of about 76,000 spans in 10,500 sentences, four of five without an error, and two more with
nested spans. Measures, in turn and as whole processes, ``clueval score GOLD PREDICTED --metric fair`` and a
straightforward version of the same definition (`rivals/fair_by_lists.py`), and prints a Markdown table. Before the
measurement, both are run once to compare their output: if the overall counts or rates differ, there are no figures.
See ``README.md`` for the caveats.

    python benchmarks/fair.py
    python benchmarks/fair.py --tokens 20000 --runs 2
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generate import Corpus, write
from measure import CommandFailed, Measurement, environment, measure, progress, require_from_1, table

from clueval.files.errors import CluevalError

HERE = Path(__file__).parent

COMMANDS: dict[str, tuple[str, ...]] = {
    "clueval": (
        sys.executable,
        "-m",
        "clueval",
        "score",
        "{gold}",
        "{predicted}",
        "--metric",
        "fair",
        "--all",
    ),
    "lists": (sys.executable, str(HERE / "rivals" / "fair_by_lists.py"), "{gold}", "{predicted}"),
}
"""The commands by name; ``{gold}`` and ``{predicted}`` stand for the two files."""

CASES: dict[str, int] = {"flat": 1, "nested": 3}
"""The maximum depth of nested spans, by case."""

TOKENS = 236_250
DENSITY = 321_700
"""Spans per million tokens, as dense as chunks: 76,000 in `TOKENS`."""

VERSIONS = ("traditional", "fair")
"""The tables that both commands print first, in this order."""

Overall = dict[str, dict[str, str]]
"""The row ``overall`` of each version, by column."""


class Different(RuntimeError):
    """The two outputs differ, so there are no figures."""


@dataclass(frozen=True, slots=True)
class Size:
    """The content of the files of a case: spans of each side, sentences, and equal sentences."""

    gold: int
    predicted: int
    sentences: int
    same: int

    @classmethod
    def of(cls, gold: Path, predicted: Path) -> Size:
        pairs = list(zip(*map(_sentences, (gold, predicted)), strict=True))
        return cls(
            gold=sum(_spans(one) for one, _ in pairs),
            predicted=sum(_spans(other) for _, other in pairs),
            sentences=len(pairs),
            same=sum(one == other for one, other in pairs),
        )

    def __str__(self) -> str:
        same = 100 * self.same / self.sentences
        return f"{self.gold:,} and {self.predicted:,} spans in {self.sentences:,} sentences, {same:.0f} % the same"


def _sentences(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n\n")[:-1]


def _spans(sentence: str) -> int:
    return sum(not line.startswith("EMPTY\t") for line in sentence.split("\n"))


def overall_of(printed: str) -> Overall:
    """Return the rows ``overall`` of the first printed tables, by version; thousands without commas.

    >>> overall_of("label  TP  f1\\noverall  1,234  90.00\\n")
    {'traditional': {'label': 'overall', 'TP': '1234', 'f1': '90.00'}}
    """
    columns: list[str] = []
    rows = []
    for line in printed.splitlines():
        fields = line.replace(",", "").split()
        if fields[:1] == ["label"]:
            columns = fields
        elif fields[:1] == ["overall"]:
            rows.append(dict(zip(columns, fields, strict=True)))
    return dict(zip(VERSIONS, rows, strict=False))  # clueval prints further versions


def require_same(commands: Mapping[str, Sequence[str]]) -> None:
    """Run every command once. Raises `Different` if their overall counts or rates differ.

    Raises `CommandFailed` for a command that fails.
    """
    printed = {name: overall_of(_output(name, command)) for name, command in commands.items()}
    (first, expected), *others = printed.items()
    if set(expected) != set(VERSIONS):
        raise Different(f"{first} prints no table for each of {' and '.join(VERSIONS)}")
    for name, found in others:
        if found != expected:
            raise Different(f"{first} and {name} differ: {expected} and {found}")


def _output(name: str, command: Sequence[str]) -> str:
    finished = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if finished.returncode:
        complaint = finished.stderr.strip().rpartition("\n")[2]
        raise CommandFailed(name, command, finished.returncode, complaint)
    return finished.stdout


def run_case(nesting: int, tokens: int, seed: int, runs: int, folder: Path) -> tuple[Size, list[Measurement]]:
    """Write the files of one case, compare what the commands print, and measure them."""
    corpus = Corpus(tokens, seed=seed, format="fair-spans", density=DENSITY, errors=0.2, nesting=nesting)
    gold, predicted = write(corpus, folder)
    paths = {"{gold}": str(gold), "{predicted}": str(predicted)}
    commands = {name: [paths.get(part, part) for part in command] for name, command in COMMANDS.items()}
    require_same(commands)
    return Size.of(gold, predicted), measure(commands, runs, progress)


def report(cases: Sequence[str], tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Measure `cases`; return machine, versions, settings and figures in Markdown."""
    measured = {}
    for name in cases:
        progress(f"{name}: writing {tokens:,} tokens")
        size, measurements = run_case(CASES[name], tokens, seed, runs, folder / name)
        measured[f"{name}: {size}"] = measurements
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    return f"{environment(['clueval'])}\n{settings}\n\n{table(measured)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; return 2 if a command fails, the outputs differ or the settings are wrong."""
    parser = argparse.ArgumentParser(description="Measure the speed of FairEval's evaluation.")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="size of the corpora (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES)
    )
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    try:
        with tempfile.TemporaryDirectory(prefix="clueval-benchmark-") as folder:
            print(report(options.cases, options.tokens, options.seed, options.runs, Path(folder)))
    except (CluevalError, CommandFailed, Different) as error:
        print(f"fair.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
