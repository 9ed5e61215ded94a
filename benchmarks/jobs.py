"""Measures ``clueval score --jobs N`` on many pairs of files, of which each process counts some.

Measures whole processes, in turn, and prints a Markdown table with the ratio of the wall times. Peak memory is
that of the largest process of a command; all N processes together take at most N times as much. More processes than
cores are not faster, and if other programs run at the same time, the figures mean little.

    python benchmarks/jobs.py --corpora corpora
    python benchmarks/jobs.py --tokens 200000 --runs 2 --jobs 1 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from generate import Corpus, write
from main_job import put_report
from measure import environment, measure, progress, require_from_1, table

FILES = 50
"""The number of pairs of files."""


def many(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """Return two folders of files, each with its own seed; write them unless they exist."""
    home = folder / f"{FILES}-files-of-{corpus.tokens // FILES}-from-{corpus.seed}"
    sides = home / "gold", home / "predicted"
    for number in range(FILES):
        targets = [side / f"{number}.{corpus.format}" for side in sides]
        if all(target.exists() for target in targets):
            continue
        part = replace(corpus, tokens=corpus.tokens // FILES, seed=corpus.seed + number)
        for written, target in zip(write(part, home / "one"), targets, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            written.rename(target)
    return sides


def report(tokens: int, seed: int, jobs: Sequence[int], runs: int, folder: Path) -> str:
    """Measure; return machine, versions, settings and figures in Markdown. Raises `CommandFailed`."""
    gold, predicted = many(Corpus(tokens, seed=seed), folder)
    command = (sys.executable, "-m", "clueval", "score", str(gold), str(predicted), "--layer", "entity=2")
    commands = {f"jobs {number}": [*command, "--jobs", str(number)] for number in jobs}
    title = f"{FILES} pairs of files, {tokens:,} tokens"
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    return f"{environment(['clueval'])}\n{settings}\n\n{table({title: measure(commands, runs, progress)})}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the speed of several processes.")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="size of the corpora (%(default)s)")
    parser.add_argument(
        "--jobs", type=int, nargs="+", default=[1, 2], metavar="N", help="numbers of processes (1 2)"
    )
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--corpora",
        type=Path,
        metavar="DIR",
        help="keep the corpora in this folder and reuse them (default: delete them)",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; return 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    if options.tokens < FILES:
        parser.error(f"--tokens must be at least {FILES}, not {options.tokens}")
    settings = options.tokens, options.seed, options.jobs, options.runs
    return put_report("jobs.py", options.corpora, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
