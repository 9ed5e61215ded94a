"""``clueval score``: scores predicted spans against gold."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from clueval.cli import options as common
from clueval.cli import printing
from clueval.cli.fields import add_fields, given_fields, group_of, typed
from clueval.cli.outputs import add_report, form_of, prints_text, put_report
from clueval.cli.parser import Command, CommandParser
from clueval.cli.progress import add_jobs, workers
from clueval.core.count import DOCUMENT, EITHER
from clueval.core.exact import Exact
from clueval.core.metric import AnyMetric
from clueval.files.errors import CluevalWarning, UsageError
from clueval.files.options import changed_values, options_of, whole
from clueval.files.overwriting import input_path, output_folder
from clueval.files.visible import visible
from clueval.reports.files import FORMS
from clueval.reports.table import cut
from clueval.results.options import Counting, Trust
from clueval.results.result import Result, load_result
from clueval.results.score import score
from clueval.results.summary import layers_not_predicted

if TYPE_CHECKING:
    from clueval.studies.gates import Limit


USAGE = "GOLD PREDICTED | SAVED"
DESCRIPTION = """\
Score predicted spans against gold.

GOLD and PREDICTED are two files (.gz files are read too) or two folders, whose files are paired by name. Without
PREDICTED, GOLD has both sides: in the last two columns, in the columns that --layer names, or in two annotation
sets (--gold-set, --predicted-set). Both sides must have the same text; the first difference is an error.
SAVED is a file that --save wrote: it is shown or, with --metric, scored by other metrics."""
EPILOG = """\
examples:
  clueval score gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4
  clueval score gold.conll predicted.conll --metric levels,exact --format markdown
  clueval score both.conll                            (gold and predicted in the last two columns)
  clueval score gold/ predicted/ --layer entity=2 --by domain --where risk=high
  clueval score gold.conll predicted.conll --metric 'fair(focus=system)'"""

GATE_TABLE = ".gate.tsv"
"""The ending of a file with GATE's own table."""

_FORMS = (*FORMS, "conlleval")

_NEED_BASELINE = {"score": "--score", "allow_drop": "--allow-drop", "significant": "--significant"}


def add_arguments(parser: CommandParser) -> None:
    common.add_sides(parser)
    common.add_metrics(parser, "counting")
    add_fields(parser, Counting, "counting")
    common.add_preparing(parser)
    common.add_reading(parser, sides=2)
    add_report(parser, _FORMS)
    add_fields(parser, Trust, "output")
    _add_gates(parser)
    add_jobs(parser)
    parser.topic("counting").add_argument(
        "--max-alignment",
        type=typed(whole),
        metavar="CELLS",
        help="with --align: the maximum product of the lengths of two texts in characters; longer texts are an error "
        "(default: 100000000000, for two texts of 316,000 characters)",
    )
    common.add_pairs(parser, "counting")
    group = parser.topic("counting")
    group.add_argument(
        "--signature",
        metavar="TEXT",
        help="count as the signature of another result says; an option that contradicts it is an error",
    )
    group.add_argument(
        "--reference",
        type=input_path,
        metavar="FILE",
        help="another system, such as an older run: how the scores differ from its scores; with --metric gate, the "
        "changes, too",
    )
    group.add_argument(
        "--reference-set",
        metavar="SET",
        help="the annotation set of the reference, without --reference in the predicted files",
    )
    group.add_argument(
        "--write-indicators",
        type=output_folder,
        metavar="FOLDER",
        help="with --metric gate: write copies of the predicted files (GATE's XML) that show the result of each "
        "annotation",
    )


def run(options: argparse.Namespace) -> int:
    from_saved = is_saved_alone(options)
    if from_saved:
        _refuse_counting(options)
    counting = _counting(options)
    metrics = _metrics(options, counting)
    common.check_pairing(options)
    gold, predicted = common.sides_of(options)
    _require_gates(options)
    baseline = _baseline_of(options)
    trust = _trust(options, _units_of(baseline))
    tables = [path for path in options.written if path.name.lower().endswith(GATE_TABLE)]
    if tables and trust.resample_by is None:
        trust = replace(trust, resample_by=DOCUMENT)
    _warn_of_no_effect(options)
    if from_saved:
        result = _of_saved(options, metrics, trust)
    else:
        with workers(options, [options.gold, options.predicted]) as work:
            result = score(
                gold,
                predicted,
                metrics="levels" if options.signature and not options.metric else metrics,
                signature=options.signature,
                layers=common.layers(options),
                gold_set=options.gold_set,
                predicted_set=options.predicted_set,
                reference=options.reference,
                reference_set=options.reference_set,
                write_indicators=options.write_indicators,
                **counting,
                **common.preparing_of(options),
                **work,
                **changed_values(replace(trust, save=None)),
                **common.reading(options),
            )
    if trust.save is not None:
        result.save(trust.save)
        printing.wrote(Path(trust.save))
    if trust.units is not None and not trust.intervals and not tables:
        _say_units(result)
    result = _with_gates(result, options, trust, baseline)
    options.written = [path for path in options.written if path not in tables]
    if options.written or not tables:
        put_report(result, options, partial(_rendered, result))
    for path in tables:
        _write_gate_table(result, path, options)
    if options.write_indicators is not None:
        printing.wrote(options.write_indicators)
    if not prints_text(options):
        common.say_what_was_read(options, result)  # the text on the terminal has these lines
    printing.remark_passed_over(result.passed_over)
    for layer in layers_not_predicted(result.inputs):
        printing.remark(f"layer {cut(visible(layer))}: not predicted; {common.SEVERAL_LAYERS}")
    return int(any(not gate["passed"] for gate in result.gates or ()))


def _write_gate_table(result: Result, path: Path, options: argparse.Namespace) -> None:
    from clueval.compat.gate import write_table

    sets = (options.predicted_set or "", options.reference_set or "")
    write_table(result, path, response_set=sets[0], reference_set=sets[1])
    printing.wrote(path)


# Saved results


def is_saved_alone(options: argparse.Namespace) -> bool:
    """Return whether the only file is a saved result."""
    if options.predicted is not None or options.pairs is not None:
        return False
    from clueval.results.saved import is_saved

    return is_saved(options.gold)


def _of_saved(options: argparse.Namespace, metrics: Sequence[AnyMetric], trust: Trust) -> Result:
    """Return the saved result, by other metrics if these are given."""
    result = load_result(options.gold)
    if options.metric is not None or form_of(options) == "conlleval":
        result = result.scored(metrics)
    return replace(result, trust=trust) if trust.intervals else result


def _refuse_counting(options: argparse.Namespace) -> None:
    """Raise `UsageError` for an option that says how texts are read or counted."""
    for action in _actions().values():
        given = getattr(options, action.dest, action.default)
        if given != action.default and action.dest not in (*_OF_SAVED, "metric"):
            raise UsageError(
                f"{action.option_strings[-1]} is for texts, and {options.gold} is a saved result",
                advice="remove it, or score the texts again",
            )


def drop_counting(options: argparse.Namespace, flags: Collection[str]) -> None:
    """Unset those of these options that a saved result does not need."""
    if is_saved_alone(options):
        actions = _actions()
        for action in map(actions.__getitem__, flags):
            if action.dest not in _OF_SAVED:
                setattr(options, action.dest, action.default)


def _actions() -> Mapping[str, argparse.Action]:
    parser = CommandParser(prog="score")
    add_arguments(parser)
    return parser.option_actions()


_OF_SAVED = (
    *("format", "written", "lang", "all", "digits", "verbose", "Workers.jobs"),
    *("fail_under", "fail_if_worse", "score", "allow_drop", "significant"),
    *(f"Trust.{name}" for name in ("intervals", "confidence", "method", "resamples", "seed", "save")),
)
"""The options, besides metrics and their settings, that need no texts."""


# Intervals and output


def _trust(options: argparse.Namespace, of_baseline: str | None) -> Trust:
    """The options for intervals; with a baseline, its units are the default of what is counted by unit."""
    trust = group_of(Trust, options)
    needed = EITHER if _needs_units(options) else trust.units
    return trust if needed is None else replace(trust, resample_by=trust.resample_by or of_baseline or needed)


def _say_units(result: Result) -> None:
    """Print what the units are whose counts were kept."""
    if result.units is not None:
        number = len(result.units.keys)
        printing.remark(
            f"counts of {number:,} unit{'s' * (number != 1)} (by {visible(result.units.by or '')})"
        )


def _warn_of_no_effect(options: argparse.Namespace) -> None:
    """Warn of options for intervals where nothing of the kind is computed."""
    given = given_fields(Trust, options)
    if given.keys() & {"intervals"} or _needs_units(options):
        return
    idle = {"intervals", "save"} | ({"resample_by"} if "save" in given or options.fail_if_worse else set())
    for field, declared in options_of(Trust):
        if field.name in given.keys() - idle:
            warn(f"{declared.flag} has no effect without --intervals", CluevalWarning, stacklevel=2)


def _rendered(result: Result, form: str, **shown: Any) -> str:
    if form != "conlleval":
        return result.render(form, **shown)
    from clueval.compat.conlleval import render

    printing.remark(f"signature: {result.signature}")  # conlleval's format has no place for it
    return render(result.to_dict())


def _counting(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of `Counting` for which options were given."""
    counting = given_fields(Counting, options)
    if options.max_alignment is not None:
        if "align" not in counting:
            raise UsageError(
                "--max-alignment needs --align",
                advice="add --align, or write --metric 'noisy(max_alignment=N)'",
            )
        counting["align"] = options.max_alignment
    return counting


def _metrics(options: argparse.Namespace, counting: dict[str, Any]) -> list[AnyMetric]:
    """Return the selected metrics; conlleval's format allows only one."""
    if form_of(options) != "conlleval":
        return common.chosen_metrics(options)
    metrics = common.chosen_metrics(options, "exact")
    if metrics != [Exact()] or "where" in counting or "by" in counting or counting.get("unit") == "character":
        raise UsageError(
            "--format conlleval shows the metric exact for all spans and tokens",
            advice="remove --metric, --where, --by and --unit",
        )
    return metrics


def _add_gates(parser: CommandParser) -> None:
    """The options that make a command exit with 1 if a score is too low."""
    group = parser.topic("gates")
    group.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="PATH=X",
        help="exit with 1 if this score (its place below metrics in the JSON, or f1 of the headline) is below X, a "
        "fraction or a percentage (0.72 or 72%%); PATH.low=X tests the low end of its interval",
    )
    group.add_argument(
        "--fail-if-worse",
        type=input_path,
        metavar="BASELINE",
        help="exit with 1 if a score is below that of this saved result",
    )
    group.add_argument(
        "--score",
        action="append",
        metavar="PATH",
        help="with --fail-if-worse: the score that is compared (default: F1 of every headline)",
    )
    group.add_argument(
        "--allow-drop",
        type=typed(_drop),
        metavar="X",
        help="with --fail-if-worse: how far a score may fall, a fraction or a percentage: 0.01 or 1%% is one point "
        "(default: 0)",
    )
    group.add_argument(
        "--significant",
        action="store_true",
        help="with --fail-if-worse: a score fails only if it has also fallen significantly by more than --allow-drop",
    )


def _require_gates(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options of gates that cannot be read, or lack the baseline."""
    if options.fail_if_worse is None:
        for name, flag in _NEED_BASELINE.items():
            given = getattr(options, name)
            if given is not None and given is not False:
                raise UsageError(f"{flag} needs --fail-if-worse", advice="add --fail-if-worse BASELINE")
    for text in options.fail_under:
        _limit(text)


def _baseline_of(options: argparse.Namespace) -> Result | None:
    """The saved result that ``--fail-if-worse`` names.

    Raises `UsageError` if it cannot be tested by units, and that is asked for.
    """
    if options.fail_if_worse is None:
        return None
    baseline = load_result(options.fail_if_worse)
    if options.significant:
        from clueval.results.comparing import require_for_tests

        units = require_for_tests(baseline.units, str(options.fail_if_worse))
        asked = given_fields(Trust, options).get("resample_by", units.by)
        if asked != units.by:
            raise UsageError(
                f"the units of the baseline are {units.by}, not {asked}", advice="leave out --resample-by"
            )
    return baseline


def _units_of(baseline: Result | None) -> str | None:
    """What the units of a baseline are, so that a result can be compared with it; None if it has none."""
    return None if baseline is None or baseline.units is None else baseline.units.by


def _needs_units(options: argparse.Namespace) -> bool:
    """Whether a gate needs counts by unit."""
    return options.significant or any(_limit(text).end is not None for text in options.fail_under)


def _with_gates(result: Result, options: argparse.Namespace, trust: Trust, baseline: Result | None) -> Result:
    """The result with the outcomes of all gates; the result itself if there are none."""
    if not options.fail_under and baseline is None:
        return result
    from clueval.studies.gates import ScoreGate, fail_if_worse, fail_under

    of_intervals = trust

    def gates() -> Iterator[ScoreGate]:
        yield from fail_under(result, map(_limit, options.fail_under), of_intervals)
        if baseline is not None:
            yield from fail_if_worse(
                result,
                baseline,
                options.score,
                options.allow_drop or 0.0,
                of_intervals,
                significant=options.significant,
            )

    found = list(gates())
    for gate in found:
        if not gate.passed:
            printing.complain(f"clueval {options.command}: {gate.score}: {gate.why}")
    return replace(result, gates=[gate.to_dict() for gate in found])


def _drop(text: str) -> float:
    from clueval.studies.gates import drop_of

    return drop_of(text)


def _limit(text: str) -> Limit:
    from clueval.studies.gates import limit_of

    try:
        return limit_of(text)
    except ValueError as error:
        raise UsageError(f"--fail-under: {error}") from None


SCORE_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
