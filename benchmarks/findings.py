"""Measures ``clueval errors``, compared with ``clueval score`` on the same files.

Measures, in turn and as whole processes, the score alone, and the errors as TSV, as a web page and as a spreadsheet;
prints a Markdown table. Our aim: a web page of ten thousand errors in a million tokens takes less than three times as
long as the score. Caveat: ``clueval score`` compares the files as bytes, which ``clueval errors`` cannot do; XlsxWriter
writes the spreadsheet, and its time grows with the errors, not with the files.

    python benchmarks/findings.py
    python benchmarks/findings.py --tokens 50000 --runs 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from generate import Corpus, write
from main_job import put_report
from measure import environment, measure, progress, require_from_1, table

ERRORS = 0.18
"""The share of sentences with an error, so that a million tokens have about ten thousand errors."""

_OUTPUTS = {"TSV": "tsv", "web page": "html", "spreadsheet": "xlsx"}


def commands(gold: Path, predicted: Path, folder: Path) -> dict[str, list[str]]:
    """Return the commands by name."""
    files = [str(gold), str(predicted), "--layer", "entity=2", "--token-id", "3"]
    errors = [sys.executable, "-m", "clueval", "errors", *files, "--level", "1", "--labelled", "entity"]
    named = {"score": [sys.executable, "-m", "clueval", "score", *files]}
    for name, option in _OUTPUTS.items():
        named[name] = [*errors, f"--{option}", str(folder / f"errors.{option}")]
    return named


def report(tokens: int, seed: int, runs: int, folder: Path) -> str:
    """Write the corpus and measure; return machine, versions, settings and figures in Markdown."""
    gold, predicted = write(Corpus(tokens=tokens, seed=seed, errors=ERRORS, token_ids=True), folder)
    measured = measure(commands(gold, predicted, folder), runs, progress)
    packages = environment(["clueval", "jinja2", "XlsxWriter"])
    settings = f"* seed {seed}; one run to warm up, then {runs} in turn; median (least-greatest)"
    return f"{packages}\n{settings}\n\n{table({f'{tokens:,} tokens': measured})}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; return 2 if a command fails or the settings are wrong."""
    parser = argparse.ArgumentParser(description="Measure the cost of showing the errors.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="size of the corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    settings = options.tokens, options.seed, options.runs
    return put_report("findings.py", None, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
