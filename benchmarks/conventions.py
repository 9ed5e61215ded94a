"""Measures ``clueval conventions``, compared with ``clueval score`` on the same files, in one process each.

The cases are files in which all tags are valid; files with an error in 20 % of the sentences, some of which are
invalid tags; and files with an error in every sentence. With invalid tags, a second pass counts seqeval's strict mode.
Our aim: at most 2.5 times the time of `score`, and memory that does not grow with the corpus.

    python benchmarks/conventions.py
    python benchmarks/conventions.py --tokens 50000 --runs 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from generate import Corpus, write
from main_job import put_report
from measure import environment, measure, progress, require_from_1, table
from mistakes import KINDS

VALID = tuple(kind for kind in KINDS if kind != "ill-formed")

CASES = {
    "valid tags": (0.2, VALID),
    "some invalid tags": (0.2, tuple(KINDS)),
    "an error in every sentence": (1.0, tuple(KINDS)),
}
"""The share of sentences with an error, and the kinds of errors."""


def report(tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Measure; return machine, versions, settings and figures in Markdown. Raises `CommandFailed`."""
    measured = {}
    for number, (case, (errors, kinds)) in enumerate(CASES.items()):
        paths = write(Corpus(tokens=tokens, seed=seed, errors=errors, kinds=kinds), folder / str(number))
        commands = {
            name: [sys.executable, "-m", "clueval", name, "--quiet", *map(str, paths), *more]
            for name, more in (("score", ["--jobs", "1"]), ("conventions", []))
        }
        measured[case] = measure(commands, runs, progress)
    chosen = (
        f"* seed {seed}, {tokens:,} tokens; one run to warm up, then {runs} in turn; median (least-greatest)"
    )
    return f"{environment(['clueval'])}\n{chosen}\n\n{table(measured, against=['score'])}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; 2 if a command fails."""
    parser = argparse.ArgumentParser(description="Measure how fast all conventions are counted.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="of each corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "tokens", "runs")
    return put_report(
        "conventions.py", None, lambda folder: report(options.tokens, options.seed, options.runs, folder)
    )


if __name__ == "__main__":
    sys.exit(main())
