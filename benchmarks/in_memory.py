"""Measures `clueval.score` on lists of tags in memory, compared with seqeval's `classification_report`.

All functions are called in turn in this process, with the garbage of the previous call collected. The table has the
least CPU seconds of the calls, the ratio to seqeval, and the memory that Python allocates at most during one more
call, which is traced and takes several times as long; so at most `TRACED` tokens are traced. The micro F1 of all
functions must be the same.

    python benchmarks/in_memory.py
    python benchmarks/in_memory.py --tokens 100000 --runs 3
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from time import process_time

import seqeval.metrics
from compat_seqeval import CASES, Sentences, corpus
from measure import environment, progress

from clueval import score

CALLS: dict[str, Callable[[Sentences, Sentences], float]] = {
    "seqeval, classification_report": lambda gold, predicted: seqeval.metrics.classification_report(
        gold, predicted, output_dict=True
    )["micro avg"]["f1-score"],
    "clueval.score, exact": lambda gold, predicted: score(gold, predicted, metrics="exact").metrics["exact"][
        "label"
    ]["micro"]["f1"],
    "clueval.score, levels": lambda gold, predicted: score(gold, predicted).metrics["levels"]["label"][
        "labelled"
    ]["label"]["1"]["micro"]["f1"],
}
"""What is measured; each function returns the micro F1 of equal spans."""


TRACED = 100_000
"""The most tokens of a call whose memory is traced."""


def table(tokens: int, seed: int, runs: int) -> str:
    """Return a Markdown table with a row for each case and function. Raises `RuntimeError` if an F1 differs."""
    traced = min(tokens, TRACED)
    lines = [
        f"| case | function | CPU s | seqeval / this | peak MB ({traced:,} tokens) |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for case, settings in CASES.items():
        progress(f"{case}: corpus of {tokens} tokens")
        sides, few = (corpus(number, seed, *settings) for number in (tokens, traced))
        measured = {}
        for name, call in CALLS.items():
            progress(f"{case}: {name}")
            measured[name] = _least_seconds(call, sides, runs), _peak(call, few)
        if len({round(call(*sides), 9) for call in CALLS.values()}) > 1:
            raise RuntimeError(f"{case}: the micro F1 differs")
        (theirs, _) = next(iter(measured.values()))
        lines += [
            f"| {case} | {name} | {seconds:.3f} | {theirs / seconds:.1f} | {peak / 1e6:.1f} |"
            for name, (seconds, peak) in measured.items()
        ]
    return "\n".join(lines)


def _least_seconds(call: Callable[..., float], sides: tuple[Sentences, Sentences], runs: int) -> float:
    taken = []
    for _ in range(runs):
        gc.collect()
        start = process_time()
        call(*sides)
        taken.append(process_time() - start)
    return min(taken)


def _peak(call: Callable[..., float], sides: tuple[Sentences, Sentences]) -> int:
    tracemalloc.start()
    call(*sides)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description="Compare clueval.score with seqeval on lists of tags in memory."
    )
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of each corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="measured calls of each function (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the corpora (%(default)s)")
    options = parser.parse_args(arguments)
    figures = table(options.tokens, options.seed, options.runs)
    settings = f"* tokens: {options.tokens}, seed: {options.seed}, least of {options.runs} runs"
    print(f"{environment(('clueval', 'seqeval', 'numpy'))}\n{settings}", figures, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
