"""``clueval compare``: is one system better than another?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import clueval
from clueval.cli.declared import Keywords, OptionValues, fields, without_none
from clueval.cli.options import METRICS_OPTION, PREPARING, READING, NamedInput, by_name, named_path, runs_in
from clueval.cli.outputs import REPORT, ReportOutput
from clueval.cli.progress import JOBS, Jobs
from clueval.core.metric import AnyMetric
from clueval.files.options import number
from clueval.formats.options import Reading
from clueval.results.options import Counting, Trust
from clueval.studies.comparison.study import is_result


def compare(
    systems: list[NamedInput],
    *,
    baseline: str | None = None,
    score: list[str] | None = None,
    detect: Annotated[float, number] | None = None,
    force: bool = False,
    all_pairs: bool = False,
    trust: Keywords = fields(Trust, "tests", "confidence resamples seed"),
    metrics: Sequence[AnyMetric] | None = METRICS_OPTION,
    counting: Keywords = fields(Counting, "counting", "merge where unit pair_by"),
    units: Keywords = fields(Trust, "counting", "resample_by"),
    preparing: Keywords = PREPARING,
    reading: Keywords = READING,
    jobs: Jobs = JOBS,
    report: ReportOutput = REPORT,
) -> int:
    """Compare systems on the same gold: with intervals, the difference to the first system, a paired test of each
    difference, and the difference that this test set can show.

    A, B, ... are files or folders of predicted spans if GOLD comes first, without a name; or files that clueval score
    --save has written, without GOLD. Several runs of one system are separated by commas, or named by a pattern:
    base=a1.clueval,a2.clueval or base='a*.clueval'.

    usage: [GOLD] [NAME=]A [NAME=]B ...

    arguments:
        systems [NAME=]SYSTEM: a system: a saved result, or predicted spans if the first path is gold; several runs are
            separated by commas, or a pattern
    tests:
        baseline NAME: the system with which the others are compared (default: the first)
        score PATH: a rate by its place below metrics in the JSON, as exact.entity.micro.f1; can be repeated
            (default: precision, recall and F1 of every headline)
        detect X: print how many such units it takes to show a difference of X, a fraction such as 0.01
        force: compare although signatures or gold files differ
        all_pairs: test the differences of F1 of all pairs of systems, too

    examples:
        clueval compare gold.conll base=a.conll large=b.conll --metric exact
        clueval score gold.conll a.conll --metric exact --save a.clueval
        clueval score gold.conll b.conll --metric exact --save b.clueval
        clueval compare a.clueval b.clueval
        clueval compare base='a*.clueval' large=b1.clueval,b2.clueval --score f1 --format latex
    """
    gold, runs_of = _gold_and_systems(systems)
    scoring: dict[str, Any] = {**counting, **units, **preparing, **reading}
    if "names" in scoring:  # of tags, not of systems
        scoring["reading"] = Reading(names=scoring.pop("names"))
    with jobs.counting(gold, *chain.from_iterable(runs_of.values())) as work:
        comparison = clueval.compare(
            runs_of,
            gold=gold,
            baseline=baseline,
            scores=score,
            detect=detect,
            force=force,
            all_pairs=all_pairs,
            **without_none(metrics=metrics),
            **trust,
            **scoring,
            **(work if gold is not None else {}),
        )
    return report.put(comparison)


def compare_needs(values: OptionValues) -> Collection[str] | None:
    """Return the options that do not need gold; None with gold."""
    return None if _gold_and_systems(values["systems"])[0] is not None else _OF_SAVED.split()


_OF_SAVED = """systems baseline score detect force all_pairs all digits format written lang quiet no_config
Trust.confidence Trust.resamples Trust.seed"""
"""The options that saved results need no gold for."""


def _gold_and_systems(texts: Sequence[str]) -> tuple[Path | None, dict[str, list[Path]]]:
    """Return gold, if it comes first, and the runs of each system. Raises `UsageError` for a name twice."""
    named_texts = list(map(named_path, texts))
    gold = None
    if named_texts[0][0] is None and not any(map(is_result, runs_in(named_texts[0][1]))):
        gold = Path(named_texts.pop(0)[1])
    short = names_of([text for name, text in named_texts if name is None])
    runs = [(name, list(map(Path, runs_in(text)))) for name, text in named_texts]
    return gold, by_name(runs, short, "systems")


def names_of(systems: Sequence[str]) -> list[str]:
    """Return the names of systems: of their files without folder and ending, if these differ."""
    short = [",".join(_stem(run) for run in name.split(",") if run) for name in systems]
    if len({*short}) == len(short):
        return short
    if len({*systems}) == len(systems):
        return list(systems)
    return [f"{n}: {name}" for n, name in enumerate(systems, 1)]


def _stem(run: str) -> str:
    name = Path(run.removesuffix(".gz"))
    return name.name if name.suffix == ".*" else name.stem
