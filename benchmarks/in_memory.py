"""Measures `clueval.score` on lists in memory: of tags, compared with seqeval's `classification_report`, and of spans
``(start, end, label)``, compared with nervaluate.

All functions are called in turn in this process, with the garbage of the previous call collected. The first table has
the least CPU seconds of the calls, the ratio to seqeval, and the memory that Python allocates at most during one more
call, which is traced and takes several times as long; so at most `TRACED` tokens are traced. The micro F1 of all
functions must be the same. The second table has a row for each length of documents, since nervaluate compares each
span with each of its document; the numbers of spans that are equal on both sides must be the same. nervaluate gets
its dictionaries ready-made.

    python benchmarks/in_memory.py
    python benchmarks/in_memory.py --tokens 100000 --runs 3
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from time import process_time
from typing import Any

import seqeval.metrics
from compat_seqeval import CASES, Sentences, corpus
from generate import Corpus, stretches
from measure import environment, progress
from mistakes import KINDS
from rivals import span_tools

from clueval import score
from clueval.core.metric import AnyMetric
from clueval.metrics.partial import Partial

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


LENGTHS = (1, 2, 5, 10, 20, 50, 100, 1_000, 10_000)
"""The least numbers of gold spans in a document; a document has whole sentences."""

THEIRS = 20_000
"""nervaluate gets documents with up to this number of gold spans, or one document, because it takes long."""

WELL_FORMED = tuple(kind for kind in KINDS if kind != "ill-formed")
"""Lists of spans cannot have ill-formed tags."""

Documents = list[list[span_tools.Plain]]


SPANS_FOUND: dict[str, tuple[str | AnyMetric, Callable[[Any], int]]] = {
    "muc": ("muc", lambda report: report["strict"]["correct"]),
    "levels": ("levels", lambda report: report["labelled"]["label"]["1"]["micro"]["tp_gold"]),
    "exact": ("exact", lambda report: report["micro"]["tp_gold"]),
    "partial": (Partial(factor=0), lambda report: report["micro"]["tp_gold"]),
    "gate": ("gate", lambda report: report["all"]["correct_strict"]),
    "fair": ("fair", lambda report: report["overall"]["traditional"]["TP"]),
    "confusion": ("confusion", lambda report: _diagonal(report["label"]["levels"]["1"]["gold"]["found"])),
}
"""What is measured on spans: metrics, and where their reports have the number of equal spans."""

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


def span_table(tokens: int, seed: int, runs: int) -> str:
    """Return a Markdown table with a row for each length of documents. Raises `RuntimeError` if counts differ."""
    head = [
        "spans in a document",
        "nervaluate, µs / span",
        *SPANS_FOUND,
    ]
    lines = [_row(head), _row(["---:"] * len(head))]
    for length in LENGTHS:
        progress(f"documents of {length} spans")
        gold, predicted = documents(tokens, seed, length)
        few = max(1, THEIRS // length)
        labels = sorted({label for side in (gold, predicted) for own in side for _, _, label in own})
        given = [list(map(span_tools.as_nervaluate_takes_them, side[:few])) for side in (gold, predicted)]
        nervaluate = partial(span_tools.by_nervaluate, labels=labels)
        theirs = _least_seconds(nervaluate, given, runs if length < THEIRS // 10 else 1) / sum(
            map(len, gold[:few])
        )
        correct = nervaluate(given[0], given[1])["strict"]["correct"]
        spans = sum(map(len, gold))
        cells = [f"{spans / len(gold):.1f}", f"{1e6 * theirs:.1f}"]
        for name, (metric, number_of) in SPANS_FOUND.items():
            measured = partial(score, metrics=metric)
            (report,) = measured(gold[:few], predicted[:few]).metrics.values()
            if number_of(report["label"]) != correct:
                raise RuntimeError(f"{name}: the numbers of equal spans differ")
            seconds = _least_seconds(measured, (gold, predicted), runs) / spans
            cells.append(f"{1e6 * seconds:.2f} ({theirs / seconds:.1f})")
        lines.append(_row(cells))
    return "\n".join(lines)


def _diagonal(matrix: dict[str, dict[str, int]]) -> int:
    return sum(row.get(label, 0) for label, row in matrix.items())


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def documents(tokens: int, seed: int, length: int) -> tuple[Documents, Documents]:
    """Return the spans of both sides; each document but the last has at least `length` gold spans."""
    sides: tuple[Documents, Documents] = [[]], [[]]
    first = 0
    for stretch in stretches(Corpus(tokens, seed, kinds=WELL_FORMED)):
        if len(sides[0][-1]) >= length:
            first = 0
            for side in sides:
                side.append([])
        for side, (marks,) in zip(sides, (stretch.gold, stretch.predicted), strict=True):
            side[-1].extend((first + mark.start, first + mark.end, mark.label) for mark in marks)
        first += len(stretch.words)
    return sides


def _least_seconds(call: Callable[..., Any], sides: Sequence[Any], runs: int) -> float:
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
        description="Compare clueval.score with seqeval and nervaluate on lists in memory."
    )
    parser.add_argument("--tokens", type=int, default=1_000_000, help="tokens of each corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="measured calls of each function (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the corpora (%(default)s)")
    options = parser.parse_args(arguments)
    figures = table(options.tokens, options.seed, options.runs)
    settings = f"* tokens: {options.tokens}, seed: {options.seed}, least of {options.runs} runs"
    of_spans = span_table(options.tokens, options.seed, options.runs)
    packages = environment(("clueval", "seqeval", "nervaluate", "numpy"))
    print(f"{packages}\n{settings}", figures, of_spans, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
