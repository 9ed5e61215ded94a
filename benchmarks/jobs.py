"""How much faster are several processes: ``clueval score --jobs N`` on one large pair of files, and on many files.

Measures whole processes, in turn, and prints a Markdown table with the ratio of the wall times. Peak memory is
that of the largest process of a command; all of them together hold at most so many times as much. More jobs than
cores gain nothing, and on a machine that does something else beside this the figures mean little.

    python benchmarks/jobs.py --corpora corpora
    python benchmarks/jobs.py --cases pair --tokens 200000 --runs 2 --jobs 1 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from generate import Corpus, write
from main_job import files, folder_for
from measure import CommandFailed, Measurement, environment, measure, progress, table

from clueval.exceptions import CluevalError

FILES = 50
"""So many pairs of files the many files are, of as many tokens all together as the large pair."""


def pair(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """One large pair of files."""
    return files(corpus, folder)


def many(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """Two folders of files, each with a seed of its own, written unless they are there."""
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


CASES: dict[str, Callable[[Corpus, Path], tuple[Path, Path]]] = {"pair": pair, "many": many}


def run_case(
    name: str, corpus: Corpus, jobs: Sequence[int], runs: int, folder: Path
) -> tuple[str, list[Measurement]]:
    """The title of a case and its measurements. Raises `CommandFailed` if a command does not succeed."""
    gold, predicted = CASES[name](corpus, folder)
    command = (sys.executable, "-m", "clueval", "score", str(gold), str(predicted), "--layer", "entity=2")
    commands = {f"jobs {number}": [*command, "--jobs", str(number)] for number in jobs}
    title = "one pair of files" if name == "pair" else f"{FILES} pairs of files"
    return f"{title}, {corpus.tokens:,} tokens", measure(commands, runs, progress)


def report(cases: Sequence[str], tokens: int, seed: int, jobs: Sequence[int], runs: int, folder: Path) -> str:
    """Measure the cases named and tell machine, versions, settings and figures in Markdown."""
    corpus = Corpus(tokens, seed=seed)
    measured = dict(run_case(name, corpus, jobs, runs, folder) for name in cases)
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    return f"{environment(['clueval'])}\n{settings}\n\n{table(measured)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure how much faster several processes are.")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="size of the corpora (%(default)s)")
    parser.add_argument(
        "--jobs", type=int, nargs="+", default=[1, 2], metavar="N", help="numbers of processes (1 2)"
    )
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES)
    )
    parser.add_argument(
        "--corpora",
        type=Path,
        metavar="DIR",
        help="keep the corpora here and use them again (default: forget them)",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.runs < 1:
        parser.error(f"--runs must be at least 1, not {options.runs}")
    if options.tokens < FILES:
        parser.error(f"--tokens must be at least {FILES}, not {options.tokens}")
    try:
        with folder_for(options.corpora) as folder:
            settings = (options.tokens, options.seed, options.jobs, options.runs)
            print(report(options.cases, *settings, Path(folder)))
    except (CluevalError, CommandFailed) as error:
        print(f"jobs.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
