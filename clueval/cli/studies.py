"""The commands ``conventions``, ``compare``, ``threshold``, ``profile`` and ``faireval``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import clueval
from clueval.cli.declared import FromOne, Input, Keywords, OptionValues, fields, without_none
from clueval.cli.options import (
    METRICS_OPTION,
    PREPARING,
    READING,
    NamedInput,
    by_name,
    named_path,
    one_metric,
    runs_in,
    say_what_was_read,
)
from clueval.cli.outputs import LINES, REPORT, ReportOutput, put_result
from clueval.cli.printing import complain
from clueval.cli.progress import JOBS, Jobs, progress
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError
from clueval.files.opening import lines
from clueval.files.options import note_input, number
from clueval.files.overwriting import refuse_to_overwrite
from clueval.files.writing import made_folder
from clueval.formats.options import Reading
from clueval.reading import spooled
from clueval.results.options import Counting, Trust
from clueval.studies.span_values import ALL_FEATURES
from clueval.transforms.options import Preparing

_FEATURES = ", ".join(ALL_FEATURES)


def conventions(
    gold: Input,
    predicted: Input | None = None,
    *,
    report: ReportOutput = REPORT,
    preparing: Keywords = PREPARING,
    reading: Keywords = READING,
    pairing: Keywords = fields(Counting, "reading", "pair_by"),
) -> int:
    """Score predicted spans against gold under every usual convention: conlleval, seqeval (default and strict),
    CLUEval's levels, MUC, FairEval, loio, GATE. The table has a row for each, with its rule for correct spans.

    GOLD and PREDICTED are files or folders, as for clueval score; with GOLD alone, the file has both sides.

    usage: GOLD PREDICTED

    examples:
        clueval conventions gold.conll predicted.conll
        clueval conventions gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --format markdown
        clueval conventions both.conll -o conventions.html
    """
    with progress(gold, predicted) as advance:
        content = clueval.conventions(gold, predicted, progress=advance, **preparing, **reading, **pairing)
    code = report.put(content)
    say_what_was_read(content.result)
    return code


def profile(
    gold: Input,
    predicted: Input | None = None,
    *,
    feature: str | None = None,
    train: Input | None = None,
    buckets: FromOne | None = None,
    metric: AnyMetric = one_metric("a profile"),
    counting: Keywords = fields(Counting, "counting", "merge where pair_by"),
    preparing: Keywords = PREPARING,
    report: ReportOutput = REPORT,
    reading: Keywords = READING,
) -> int:
    """Show which spans go wrong: precision, recall and F1 by buckets of a feature.

    A bucket is a group of spans with the same value of the feature, such as the same length. Its gold spans give the
    recall, its predicted spans the precision. Buckets with fewer than 20 spans on a side are marked.

    usage: GOLD PREDICTED

    counting:
        feature NAME,...: the features: {_FEATURES} (the last three with --train; default: all)
        train FILE: the training data, which is read like GOLD
        buckets K: sort numbers into K buckets of about equal size

    examples:
        clueval profile gold.conll predicted.conll
        clueval profile gold.conll predicted.conll --feature length,seen --train train.conll --format markdown
        clueval profile gold.vrt predicted.vrt --layer entity=2 --feature length --buckets 4
    """
    options = without_none(feature=feature, train=train, buckets=buckets)
    with progress(gold, predicted) as advance, spooled(gold, predicted) as (gold, predicted):
        content = clueval.profile(
            gold, predicted, progress=advance, metric=metric, **options, **counting, **preparing, **reading
        )
        code = report.put(content)
        if not report.prints_text:  # the text on the terminal has these lines
            say_what_was_read(content.result)
    return code


def threshold(
    gold: Input,
    predicted: Input | None = None,
    *,
    metric: AnyMetric = one_metric("a threshold"),
    maximise: str = "f1",
    per_label: bool = False,
    counting: Keywords = fields(Counting, "counting", "score_feature thresholds merge where pair_by"),
    preparing: Keywords = fields(Preparing, "counting", without="min_score same_data"),
    report: ReportOutput = REPORT,
    reading: Keywords = READING,
) -> int:
    """Choose the threshold for the scores of predicted spans that is best on GOLD and PREDICTED: development data,
    not the data on which the result is reported.

    A JSON file that -o writes is for clueval score --min-score FILE, with other data than GOLD. If several thresholds
    are equally good, the highest is chosen. The exit code is 1 if no threshold meets the condition of --maximise.

    usage: GOLD PREDICTED --score-feature F

    counting:
        maximise MEASURE: f1, precision@recall>=X or recall@precision>=X
        per_label: choose a threshold for each label

    examples:
        clueval threshold dev.jsonl predicted.jsonl --score-feature score -o t.json
        clueval score test.jsonl predicted-test.jsonl --metric exact --min-score t.json
        clueval threshold dev.jsonl predicted.jsonl --score-feature score --maximise 'precision@recall>=0.95'
    """
    from clueval.studies.threshold import NoThreshold

    if "score_feature" not in counting:
        raise UsageError(
            "--score-feature is required",
            advice="name the feature of the predicted spans that has their scores",
        )
    how: Any = {"metric": metric, "maximise": maximise, "per_label": per_label}
    try:
        with progress(gold, predicted) as advance, spooled(gold, predicted) as (gold, predicted):
            content = clueval.threshold(
                gold, predicted, progress=advance, **how, **counting, **preparing, **reading
            )
    except NoThreshold as error:
        complain(f"clueval threshold: {error}")
        return 1
    return report.put(content)


def faireval(
    config: Input | None = None, *, named_config: Input | None = None, output: Path | None = LINES
) -> int:
    """Run a FairEval config file and print its report.

    The config file names the input and the settings; python -m pydoc clueval.compat.faireval.config describes it. The
    report is written to the file of -o, to the file that the config names (eval_out), or to standard output. If
    eval_out is a folder, or ends with /, the report is the file eval.csv in it.

    usage: CONFIG

    arguments:
        config CONFIG: the config file
    options:
        named_config --config CONFIG: the config file, as FairEval's own program takes it

    example:
        clueval faireval ner.config
    """
    from clueval.compat.faireval.config import output_file, parse_config, run_config

    files = {path for path in (config, named_config) if path is not None}
    if not files:
        raise UsageError("CONFIG is missing", advice="name a config file of FairEval")
    if len(files) > 1:
        raise UsageError("two config files are named", advice="leave out --config, or the other")
    (path,) = files
    settings = parse_config(lines(path), file=str(path))
    target = output or output_file(settings)
    note_input(settings.target_in)
    note_input(settings.system_in)
    refuse_to_overwrite([target])
    text = run_config(settings)
    is_in_folder = output is None and target is not None and (settings.eval_out or "").endswith("/")
    with made_folder(target.parent) if target is not None and is_in_folder else nullcontext():
        put_result([text.removesuffix("\n")], target)
    return 0


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
    with jobs.counting(gold, *chain.from_iterable(runs_of.values())) as work, spooled(gold) as (gold,):
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
    from clueval.studies.comparison.study import is_result  # the other studies need no comparison

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
