"""Measures intervals, resampling and saving: CPU seconds, the least of several runs, and peak memory where it matters.

The corpora are drawn from a seed. scipy's bootstrap is given the same columns; it resamples by drawing units, clueval
by weights from hashes, which depend on no order. scipy needs numpy, clueval the standard library.

    python benchmarks/trust.py
    python benchmarks/trust.py --units 200 --runs 2
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generate import Corpus, write
from measure import environment, least, measure

from clueval import Document, Result, Span, score
from clueval.statistics.resampling import BOOTSTRAP, SWAP, weighted_sums

LABELS = 35
RESAMPLES = 9_999


def least_and_peak(function: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the least CPU time of several runs, in seconds, and the peak memory of one more, in bytes."""
    seconds = least(function, runs)
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak


def scored(number: int, seed: int) -> Result:
    """Return the result of the metric `levels` for this number of documents, with spans of 35 labels."""
    rng = random.Random(seed)
    sides: tuple[list[Document], list[Document]] = ([], [])
    for name in range(number):
        spans: tuple[list[Span], list[Span]] = ([], [])
        for place in range(1 + int(rng.lognormvariate(2.3, 1))):
            label = f"L{rng.randrange(LABELS)}"
            if rng.random() < 0.9:
                spans[0].append(Span(5 * place, 5 * place + 3, label))
            if rng.random() < 0.9:
                spans[1].append(Span(5 * place, 5 * place + rng.choice([3, 3, 3, 2]), label))
        for documents, found in zip(sides, spans, strict=True):
            documents.append(Document(f"d{name}", {"label": found}))
    return score(*sides, metrics=["levels"], resample_by="document")


def columns_of(number: int, columns: int, seed: int) -> list[tuple[str, dict[int, int]]]:
    """Return rows of small counts, as sentences have them."""
    rng = random.Random(seed)
    return [
        (f"d{unit}", {column: rng.choice([1, 1, 1, 2, 2, 3]) for column in range(columns)})
        for unit in range(number)
    ]


def by_scipy(rows: Sequence[tuple[str, dict[int, int]]]) -> Callable[[], object]:
    """Return a function that computes scipy's percentile interval of F1 of the first four columns."""
    import numpy
    from scipy import stats  # type: ignore[import-untyped]

    data = tuple(numpy.array([row[column] for _, row in rows], float) for column in range(4))

    def f1(*columns: Any, axis: int) -> Any:
        gold, predicted, own, other = (column.sum(axis) for column in columns)
        precision, recall = other / predicted, own / gold
        return 2 * precision * recall / (precision + recall)

    return lambda: stats.bootstrap(
        data, f1, paired=True, vectorized=True, n_resamples=RESAMPLES, method="percentile", batch=100
    )


def rows(units: int, sentences: int, runs: int) -> Iterator[list[str]]:
    """Yield the rows of the first table."""
    result = scored(units, 1)
    entries = 4 * (LABELS + 3)
    yield _row(
        f"default intervals of {entries} entries, {units:,} units",
        *least_and_peak(result.intervals, runs),
    )
    four = columns_of(units, 4, 2)
    ours, memory = least_and_peak(lambda: weighted_sums(four, 4, BOOTSTRAP, RESAMPLES, 12345), runs)
    yield _row(f"{RESAMPLES:,} resamples of 4 columns, {units:,} units", ours, memory)
    theirs, memory = least_and_peak(by_scipy(four), max(1, runs - 2))
    yield [*_row("the same, scipy.stats.bootstrap", theirs, memory)[:3], f"{theirs / ours:.1f}"]
    eight = columns_of(units, 8, 4)
    yield _row(
        f"{RESAMPLES:,} swaps of 4 columns between two systems, {units:,} units",
        *least_and_peak(lambda: weighted_sums(eight, 8, SWAP, RESAMPLES, 12345), runs),
    )
    many = columns_of(sentences, 4, 3)
    yield _row(
        f"{RESAMPLES:,} resamples of 4 columns, {sentences:,} units",
        *least_and_peak(lambda: weighted_sums(many, 4, BOOTSTRAP, RESAMPLES, 12345), max(1, runs - 2)),
    )


def _row(name: str, seconds: float, memory: float) -> list[str]:
    return [name, f"{seconds:.2f}", f"{memory / 1e6:.0f}", ""]


def commands(folder: Path, tokens: int) -> dict[str, list[str]]:
    """Return the commands of the second table; the saved results exist."""
    gold, predicted = write(Corpus(tokens=tokens, seed=1), folder)
    files = [str(gold), str(predicted), "--jobs", "1", "-o", str(folder / "out.txt")]
    score = [sys.executable, "-m", "clueval", "score", *files]
    for name in ("a", "b"):
        subprocess.run([*score, "--save", str(folder / name)], check=True, stderr=subprocess.DEVNULL)
    return {
        "score": score,
        "score --save": [*score, "--save", str(folder / "c")],
        "score --save --intervals": [*score, "--save", str(folder / "c"), "--intervals"],
        "compare": [sys.executable, "-m", "clueval", "compare", str(folder / "a"), str(folder / "b")],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=2_000)
    parser.add_argument("--sentences", type=int, default=75_000)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(arguments)
    print(environment(["clueval", "scipy"]), end="\n\n")
    print("| | CPU s | peak MB | times ours |\n| --- | ---: | ---: | ---: |")
    for row in rows(options.units, options.sentences, options.runs):
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n| {options.tokens:,} tokens | CPU s | times score |\n| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        results = measure(commands(Path(folder), options.tokens), runs=options.runs)
        least_cpu = {found.name: min(run.cpu for run in found.runs) for found in results}
        for name, seconds in least_cpu.items():
            print(f"| {name} | {seconds:.2f} | {seconds / least_cpu['score']:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
