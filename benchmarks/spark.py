"""Measures counting on Spark: each partition counts its pairs of files, and the results are added.

Writes a corpus of many pairs of files, counts it on Spark in local mode and in this process, asserts that the reports
have the same bytes, and prints a Markdown table. Needs Java 17 and `pip install pyspark` (about 450 MB), for which
clueval has no extra. The times do not include the start of Spark; the first includes that of its Python processes.

    python benchmarks/spark.py --tokens 2000000 --files 50
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from generate import Corpus, write
from main_job import folder_for
from measure import Spread, environment, progress

from clueval import Result, score
from clueval.files.errors import CluevalError, MissingExtra

LAYERS = {"entity": 2}


# --- the recipe, which needs only these two functions ------------------------------------------------------------


def count(pairs: Iterable[tuple[str, str]]) -> Iterator[Result]:
    """Yield the result of one partition, given its pairs of paths, which must be the same on every machine."""
    files = list(pairs)
    if files:
        gold, predicted = zip(*files, strict=True)
        yield score(gold, predicted, layers=LAYERS, jobs=1)


def count_on_spark(context: Any, pairs: Sequence[tuple[str, str]], partitions: int) -> Result:
    """Return the result of all pairs: adds the counts of the partitions and computes the scores from the sums."""
    result: Result = context.parallelize(pairs, partitions).mapPartitions(count).reduce(Result.add)
    return result


# --- the experiment ----------------------------------------------------------------------------------------------


@contextmanager
def spark(cores: int) -> Iterator[Any]:
    """Provide a Spark context on this machine. Raises `MissingExtra` without pyspark or Java."""
    try:
        pyspark = importlib.import_module("pyspark")
    except ImportError:
        raise MissingExtra("pyspark is not installed", advice="pip install pyspark") from None
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise MissingExtra("Spark needs Java, which is not installed", advice="install Java 17") from None
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = pyspark.SparkConf().setMaster(f"local[{cores}]").setAppName("clueval")
    for key, value in {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}.items():
        settings.set(key, value)
    context = pyspark.SparkContext(conf=settings)
    try:
        yield context
    finally:
        context.stop()


def corpus_of(tokens: int, number: int, seed: int, folder: Path) -> list[tuple[str, str]]:
    """Write `number` pairs of files with `tokens` tokens in total, each with its own seed; return their paths."""
    pairs = []
    for part in range(number):
        written = write(Corpus(max(tokens // number, 1), seed=seed + part), folder / str(part))
        pairs.append((str(written[0]), str(written[1])))
    return pairs


def timed(action: Callable[[], Result], runs: int) -> tuple[Result, list[float]]:
    """Return the result of an action, and the seconds of each run."""
    seconds = []
    for _ in range(runs):
        started = perf_counter()
        result = action()
        seconds.append(perf_counter() - started)
    return result, seconds


def report(tokens: int, number: int, seed: int, runs: int, cores: int, folder: Path) -> str:
    """Count on Spark and here, and compare; return machine, versions, settings and seconds in Markdown.

    Raises `MissingExtra`, and `AssertionError` if the reports do not have the same bytes.
    """
    with spark(cores) as context:
        progress(f"writing {number} pairs of files")
        pairs = corpus_of(tokens, number, seed, folder)
        gold, predicted = zip(*pairs, strict=True)
        progress("Spark")
        on_spark, seconds = timed(lambda: count_on_spark(context, pairs, 2 * cores), runs + 1)
        progress("one process")
        here, alone = timed(lambda: score(gold, predicted, layers=LAYERS, jobs=1), runs)
        progress(f"{cores} processes")
        _, pool = timed(lambda: score(gold, predicted, layers=LAYERS, jobs=cores), runs)
    assert on_spark.to_json() == here.to_json(), "Spark and one process do not report the same"
    rows = [
        (f"Spark, local[{cores}], first time", Spread.of(seconds[:1])),
        (f"Spark, local[{cores}]", Spread.of(seconds[1:])),
        ("one process", Spread.of(alone)),
        (f"{cores} processes", Spread.of(pool)),
    ]
    told = f"* {here.tokens:,} tokens a side in {number} pairs of files, seed {seed}; {2 * cores} partitions"
    table = "\n".join(f"| {name} | {spread.show()} |" for name, spread in rows)
    return (
        f"{environment(['clueval', 'pyspark'])}\n{told}\n* median of {runs} (least-greatest); "
        f"the reports are the same bytes\n\n| where | seconds |\n| --- | ---: |\n{table}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Count on Spark in local mode, and compare.")
    parser.add_argument("--tokens", type=int, default=2_000_000, help="size of the corpus (%(default)s)")
    parser.add_argument("--files", type=int, default=50, metavar="N", help="pairs of files (%(default)s)")
    parser.add_argument("--cores", type=int, default=2, help="threads of Spark, and processes (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the corpus here")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, compare and print; return 2 if this fails."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in ("tokens", "files", "cores", "runs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, not {getattr(options, name)}")
    try:
        with folder_for(options.corpora) as folder:
            print(
                report(options.tokens, options.files, options.seed, options.runs, options.cores, Path(folder))
            )
    except CluevalError as error:
        print(f"spark.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
