"""Measures `clueval.compat.seqeval` and seqeval itself on the same tags in memory.

Both are called in turn in this process, after a warm-up call of each and with the garbage of the previous call
collected. The table has the median seconds of each function (minimum and maximum in brackets) and the ratio of the
medians. The results of all calls are compared; if they differ, there are no figures. `CASES` are the corpora: in
most of them tags are shared strings, as from a model's list of labels; in *read*, every tag is a string object of its
own, as from a file.

    python benchmarks/compat_seqeval.py
    python benchmarks/compat_seqeval.py --tokens 100000 --runs 3
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import seqeval.metrics
import seqeval.scheme
from generate import Corpus, write
from measure import Spread, environment, progress, require_from_1
from rivals.seqeval_report import read_tags

from clueval.compat import seqeval as ours

Sentences = list[list[str]]

CASES: dict[str, tuple[float, bool]] = {"usual": (0.2, True), "hard": (1.0, True), "read": (0.2, False)}
"""The share of sentences with an error, and whether equal tags are one object."""

CALLS: dict[str, Callable[[Any, Any, Sentences, Sentences], Any]] = {
    "f1_score": lambda metrics, _, true, predicted: metrics.f1_score(true, predicted),
    "f1_score, strict IOB2": lambda metrics, scheme, true, predicted: metrics.f1_score(
        true, predicted, mode="strict", scheme=scheme.IOB2
    ),
    "classification_report": lambda metrics, _, true, predicted: metrics.classification_report(
        true, predicted
    ),
    "classification_report, strict IOB2": lambda metrics, scheme, true, predicted: (
        metrics.classification_report(true, predicted, mode="strict", scheme=scheme.IOB2)
    ),
}
"""What is measured, given a module of metrics and one of schemes."""


class Different(RuntimeError):
    """The two results differ, so there are no figures."""


def corpus(tokens: int, seed: int, errors: float, shared: bool) -> tuple[Sentences, Sentences]:
    """Return the true and the predicted tags of an artificial corpus."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Corpus(tokens, seed=seed, errors=errors), Path(folder))
        true, predicted = (read_tags(path, 2) for path in paths)
    if shared:
        true, predicted = ([list(map(sys.intern, tags)) for tags in side] for side in (true, predicted))
    return true, predicted


def seconds_by_turns(one: Callable[[], Any], other: Callable[[], Any], runs: int) -> tuple[Spread, Spread]:
    """Return the seconds that two functions take. Raises `Different` if their results differ."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(runs + 1):
        results = []
        for function, taken in zip((one, other), seconds, strict=True):
            gc.collect()
            start = perf_counter()
            results.append(function())
            if number:
                taken.append(perf_counter() - start)
        if results[0] != results[1]:
            raise Different(f"results differ: {results[0]!r} and {results[1]!r}")
    return Spread.of(seconds[0]), Spread.of(seconds[1])


def table(tokens: int, seed: int, runs: int, cases: Sequence[str]) -> str:
    """Return a Markdown table with a row for each case and function."""
    lines = ["| case | function | seqeval s | clueval s | ratio |", "| --- | --- | ---: | ---: | ---: |"]
    for case in cases:
        progress(f"{case}: corpus of {tokens} tokens")
        true, predicted = corpus(tokens, seed, *CASES[case])
        for name, call in CALLS.items():
            progress(f"{case}: {name}")
            theirs, own = seconds_by_turns(
                partial(call, seqeval.metrics, seqeval.scheme, true, predicted),
                partial(call, ours, ours.scheme, true, predicted),
                runs,
            )
            ratio = theirs.median / own.median
            lines.append(
                f"| {case} | {name} | {theirs.show(digits=3)} | {own.show(digits=3)} | {ratio:.1f} |"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table; return 2 if the results differ."""
    parser = argparse.ArgumentParser(description="Compare clueval.compat.seqeval with seqeval, in memory.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of each corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="measured calls of each function (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the corpora (%(default)s)")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="(all)")
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    try:
        figures = table(options.tokens, options.seed, options.runs, options.cases)
    except Different as error:
        print(f"compat_seqeval.py: {error}", file=sys.stderr)
        return 2
    settings = f"* tokens: {options.tokens}, seed: {options.seed}, runs: {options.runs}"
    print(f"{environment(('clueval', 'seqeval', 'numpy'))}\n{settings}", figures, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
