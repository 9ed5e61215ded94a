"""The commands ``conventions``, ``threshold``, ``profile`` and ``faireval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import clueval
from clueval.cli.declared import FromOne, Input, Keywords, fields, without_none
from clueval.cli.options import PREPARING, READING, one_metric, say_what_was_read
from clueval.cli.outputs import LINES, REPORT, ReportOutput, put_result
from clueval.cli.printing import complain
from clueval.cli.progress import progress
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError
from clueval.files.overwriting import note_input, refuse_to_overwrite
from clueval.results.options import Counting
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
    with progress(gold, predicted) as advance:
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
        with progress(gold, predicted) as advance:
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
    from clueval.files.opening import lines
    from clueval.files.writing import make_folder

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
    if output is None and target is not None and (settings.eval_out or "").endswith("/"):
        make_folder(target.parent)
    put_result([text.removesuffix("\n")], target)
    return 0
