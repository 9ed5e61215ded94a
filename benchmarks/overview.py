"""Measures what a user does with clueval against what one would use instead: the table on top of ``README.md``.

Files: whole processes, each with the start of Python and all imports. In memory: calls in this process, the input
exists already. Least CPU seconds of some runs in turn.

    python benchmarks/overview.py
    python benchmarks/overview.py --tokens 50000 --runs 1
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generate import Corpus
from main_job import RIVALS, files, put_report
from measure import environment, least, measure, progress, require_from_1
from rivals.seqeval_report import read_tags
from trust import RESAMPLES, by_scipy, columns_of

import clueval
from clueval.compat.spacy import make_span_scorer
from clueval.statistics.resampling import BOOTSTRAP, weighted_sums

PACKAGES = (
    "clueval", "seqeval", "nervaluate", "seqscore", "spacy", "scikit-learn", "krippendorff", "scipy", "pandas",
)  # fmt: skip
_CLUEVAL = (sys.executable, "-m", "clueval")
_SEQSCORE = ("score", "-q", "--labels", "BIO", "--repair-method", "conlleval", "--reference")

Row = tuple[str, str, float, str, float]
"""What a user does, the call, its seconds, what one would use instead, and its seconds."""


def of_files(tokens: int, runs: int, folder: Path) -> Iterator[Row]:
    """Yield the rows for files, which are CoNLL files with documents."""
    sides = [str(path) for path in files(Corpus(tokens, format="conll"), folder)]
    table = str(folder / "errors.tsv")
    seqscore = str(Path(sys.executable).with_name("seqscore"))
    python = (sys.executable,)
    jobs: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
        "score two files": (
            ("score", *sides, "--jobs", "1", "--quiet"),
            {
                "seqeval": (*python, str(RIVALS / "seqeval_report.py"), *sides),
                "nervaluate": (*python, str(RIVALS / "nervaluate_report.py"), *sides),
                "seqscore": (seqscore, *_SEQSCORE, *sides),
            },
        ),
        "list the errors of two files": (
            ("errors", *sides, "--level", "1", "--labelled", "label", "-o", table),
            {"pandas, without contexts": (*python, str(RIVALS / "pandas_errors.py"), *sides, table)},
        ),
        "agreement of two annotators": (
            ("agree", *sides),
            {"sklearn and krippendorff, on tags": (*python, str(RIVALS / "agreement_scores.py"), *sides)},
        ),
    }
    for name, (own, instead) in jobs.items():
        found = measure(
            {"clueval": [*_CLUEVAL, *own], **{k: list(v) for k, v in instead.items()}}, runs, progress
        )
        seconds = {each.name: each.cpu.least for each in found}
        for other in instead:
            yield name, f"clueval {own[0]}", seconds["clueval"], other, seconds[other]


def in_memory(tokens: int, runs: int, folder: Path) -> Iterator[Row]:
    """Yield the rows for functions."""
    from seqeval.metrics import classification_report
    from spacy.scorer import Scorer

    gold, predicted = (read_tags(path, 2) for path in files(Corpus(tokens, format="conll"), folder))
    yield _row(
        "score lists of tags", "clueval.score", lambda: clueval.score(gold, predicted),
        "seqeval", lambda: classification_report(gold, predicted, zero_division=0), runs,
    )  # fmt: skip
    few = examples(gold[: tokens // 100], predicted[: tokens // 100])
    yield _row(
        "score entities in a spaCy pipeline", "clueval.compat.spacy", lambda: make_span_scorer()(few),
        "spaCy's scorer", lambda: Scorer.score_spans(few, "ents"), runs,
    )  # fmt: skip
    rows = columns_of(2_000, 4, 2)
    yield _row(
        "9,999 resamples of 2,000 documents", "score --intervals",
        lambda: weighted_sums(rows, 4, BOOTSTRAP, RESAMPLES, 1),
        "scipy.stats.bootstrap", by_scipy(rows), runs,
    )  # fmt: skip
    spans = [spans_of(random.Random(side)) for side in (1, 2)]
    yield _row(
        "score spans of 200 documents", "clueval.score", lambda: clueval.score(*spans),
        "nervaluate", lambda: nervaluate(*spans), runs,
    )  # fmt: skip


def examples(gold: Sequence[list[str]], predicted: Sequence[list[str]]) -> list[Any]:
    """Return spaCy's examples of some sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    def documents(side: Sequence[list[str]]) -> list[Doc]:
        lenient = [_begun(tags) for tags in side]
        return [Doc(vocab, words=["x"] * len(tags), ents=tags) for tags in lenient]

    vocab = spacy.blank("en").vocab
    return [Example(*pair) for pair in zip(documents(predicted), documents(gold), strict=True)]


def _begun(tags: list[str]) -> list[str]:
    """Return tags in which each span begins with B, as spaCy needs them."""
    before = ["O", *tags]
    return [
        f"B{tag[1:]}" if tag[0] == "I" and before[place][1:] != tag[1:] else tag
        for place, tag in enumerate(tags)
    ]


def spans_of(rng: random.Random) -> list[list[tuple[int, int, str]]]:
    """Return 100 spans of each of 200 documents, of which two sides share about half."""
    shared = random.Random(0)
    found = []
    for _ in range(200):
        places = sorted(shared.sample(range(0, 2_000, 4), 100))
        found.append([(start, start + rng.choice((2, 3)), shared.choice("AB")) for start in places])
    return found


def nervaluate(gold: list[list[tuple[int, int, str]]], predicted: list[list[tuple[int, int, str]]]) -> object:
    """Return nervaluate's results of these spans, whose ends it takes as inclusive."""
    from nervaluate import Evaluator

    sides = [
        [[{"start": start, "end": end - 1, "label": label} for start, end, label in spans] for spans in side]
        for side in (gold, predicted)
    ]
    return Evaluator(*sides, tags=["A", "B"], loader="dict").evaluate()


def _row(
    what: str, call: str, own: Callable[[], object], other: str, instead: Callable[[], object], runs: int
) -> Row:
    return what, call, least(own, runs), other, least(instead, runs)


def report(tokens: int, runs: int, folder: Path) -> str:
    """Return machine, versions and the table in Markdown, what loses first. Raises `CommandFailed`."""
    lines = ["| what a user does | with | CPU s | instead | its CPU s | times |"]
    lines.append("| --- | --- | ---: | --- | ---: | ---: |")
    rows = [*of_files(tokens, runs, folder), *in_memory(tokens, runs, folder)]
    for what, call, own, other, instead in sorted(rows, key=lambda row: row[4] / row[2]):
        lines.append(f"| {what} | `{call}` | {own:.2f} | {other} | {instead:.2f} | {instead / own:.1f} |")
    chosen = f"* {tokens:,} tokens a side; least CPU seconds of {runs}"
    return "\n".join([environment(PACKAGES), chosen, "", *lines])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 2 if a command fails or the settings are wrong."""
    parser = argparse.ArgumentParser(description="Measure clueval against what one would use instead.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="size of the corpus (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs (%(default)s)")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the corpora in this folder")
    options = parser.parse_args(arguments)
    require_from_1(parser, options, "runs")
    settings = options.tokens, options.runs
    return put_report("overview.py", options.corpora, lambda folder: report(*settings, folder))


if __name__ == "__main__":
    sys.exit(main())
