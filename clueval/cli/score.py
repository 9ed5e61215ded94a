"""``clueval score``: scores predicted spans against gold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import clueval
from clueval.cli.declared import FromOne, Input, Keywords, OptionValues, OutputFolder, fields, shared
from clueval.cli.options import (
    METRICS_OPTION,
    PREPARING,
    READING,
    SEVERAL_LAYERS,
    say_what_was_read,
    sides_of,
)
from clueval.cli.outputs import REPORT_OF_SCORES, ReportOutput
from clueval.cli.printing import complain, remark, remark_passed_over, wrote
from clueval.cli.progress import JOBS, Jobs
from clueval.core.count import DOCUMENT, EITHER
from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError, cut_label, visible, warn, with_noun
from clueval.files.options import changed_values, options_of
from clueval.metrics import metric_named, with_settings
from clueval.results.inputs import layers_not_predicted
from clueval.results.options import Counting, Trust
from clueval.results.result import Result, load_result

if TYPE_CHECKING:
    from clueval.studies.comparison.gates import Limit


def _drop(text: str) -> float:
    from clueval.studies.comparison.gates import drop_of  # few results have gates

    return drop_of(text)


class Gates(NamedTuple):
    """What makes the exit code 1 if a score is too low.

    gates:
        fail_under PATH=X: exit with 1 if this score (its place below metrics in the JSON, or f1 of the headline) is
            below X, a fraction or a percentage (0.72 or 72%); PATH.low=X tests the low end of its interval
        fail_if_worse BASELINE: exit with 1 if a score is below that of this saved result
        score PATH: with --fail-if-worse: the score that is compared (default: F1 of every headline)
        allow_drop X: with --fail-if-worse: how far a score may fall, a fraction or a percentage: 0.01 or 1% is one
            point (default: 0)
        significant: with --fail-if-worse: a score fails only if it has also fallen significantly by more than
            --allow-drop
    """

    fail_under: list[str] | None = None
    fail_if_worse: Input | None = None
    score: list[str] | None = None
    allow_drop: Annotated[float, _drop] | None = None
    significant: bool = False

    def limits(self) -> list[Limit]:
        """Return the limits of scores. Raises `UsageError` for one that cannot be read."""
        if not self.fail_under:
            return []
        from clueval.studies.comparison.gates import limit_of

        try:
            return [limit_of(text) for text in self.fail_under]
        except ValueError as error:
            raise UsageError(f"--fail-under: {error}") from None

    def need_units(self) -> bool:
        """Return whether counts by unit are needed."""
        return self.significant or any(limit.end is not None for limit in self.limits())

    def baseline(self, trust: Trust) -> Result | None:
        """Return the saved result that ``--fail-if-worse`` names.

        Raises `UsageError` if it cannot be tested by units, and that is asked for, and for options that need it.
        """
        if self.fail_if_worse is None:
            flags = {"--score": self.score, "--allow-drop": self.allow_drop}
            for flag, value in {**flags, "--significant": self.significant or None}.items():
                if value is not None:
                    raise UsageError(f"{flag} needs --fail-if-worse", advice="add --fail-if-worse BASELINE")
            return None
        baseline = load_result(self.fail_if_worse)
        if self.significant:
            from clueval.studies.comparison.paired_tests import least_p, require_for_tests

            units = require_for_tests(baseline.units, str(self.fail_if_worse))
            if trust.resample_by not in (None, units.by):
                raise UsageError(
                    f"the units of the baseline are {units.by}, not {trust.resample_by}",
                    advice="leave out --resample-by",
                )
            least = least_p(len(units.keys), trust.resamples)
            if not self.allow_drop and least > 1 - trust.confidence:
                raise UsageError(
                    f"--significant: no score can fail, since p is at least {least:.3g} with the "
                    f"{len(units.keys)} units of the baseline ({units.by})",
                    advice="save the baseline with --resample-by sentence, or give --allow-drop X (another test)",
                )
        return baseline

    def applied(self, result: Result, baseline: Result | None, trust: Trust) -> Result:
        """Return the result with the outcomes of all gates, and print those that have failed."""
        limits = self.limits()
        if not limits and baseline is None:
            return result
        from clueval.studies.comparison.gates import fail_if_worse, fail_under

        outcomes = list(fail_under(result, limits, trust))
        if baseline is not None:
            drop = self.allow_drop or 0.0
            outcomes += fail_if_worse(result, baseline, self.score, drop, trust, significant=self.significant)
        for gate in outcomes:
            if not gate.passed:
                complain(f"clueval score: {gate.score}: {gate.why}")
        return replace(result, gates=[gate.to_dict() for gate in outcomes])


GATES = shared(Gates)


def score(
    gold: Input,
    predicted: Input | None = None,
    *,
    metrics: Sequence[AnyMetric] | None = METRICS_OPTION,
    counting: Keywords = fields(Counting, "counting"),
    preparing: Keywords = PREPARING,
    reading: Keywords = READING,
    report: ReportOutput = REPORT_OF_SCORES,
    trusted: Keywords = fields(Trust, "output"),
    gates: Gates = GATES,
    jobs: Jobs = JOBS,
    max_alignment: FromOne | None = None,
    pairs: Input | None = None,
    signature: str | None = None,
    reference: Input | None = None,
    reference_set: str | None = None,
    write_indicators: OutputFolder | None = None,
) -> int:
    """Score predicted spans against gold.

    GOLD and PREDICTED are two files (.gz files are read too) or two folders, whose files are paired by name. Without
    PREDICTED, GOLD has both sides: in the last two columns, in the columns that --layer names, or in two annotation
    sets (--gold-set, --predicted-set). Both sides must have the same text; the first difference is an error. SAVED is
    a file that --save wrote: it is shown or, with --metric, scored by other metrics.

    usage: GOLD PREDICTED | SAVED

    counting:
        max_alignment CELLS: with --align: the maximum product of the lengths of two texts in characters; longer texts
            are an error (default: 100000000000, for two texts of 316,000 characters)
        pairs CSV: a CSV table of pairs of files, gold and predicted; GOLD is then the folder with all of them
        signature TEXT: count as the signature of another result, in double quotes, says; an option that contradicts it
            is an error
        reference FILE: another system, such as an older run: how the scores differ from its scores; with --metric
            gate, the changes, too
        reference_set SET: the annotation set of the reference, without --reference in the predicted files
        write_indicators FOLDER: with --metric gate: write copies of the predicted files (GATE's XML) that show the
            result of each annotation, and tables of candidate lists

    examples:
        clueval score gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4
        clueval score gold.conll predicted.conll --metric levels,exact --format markdown
        clueval score both.conll                            (gold and predicted in the last two columns)
        clueval score gold/ predicted/ --layer entity=2 --by domain --where risk=high
        clueval score gold.conll predicted.conll --metric 'fair(focus=system)'
    """
    if max_alignment is not None:
        if "align" not in counting:
            raise UsageError(
                "--max-alignment needs --align",
                advice="add --align, or write --metric 'noisy(max_alignment=N)'",
            )
        counting = {**counting, "align": max_alignment}
    if report.form == "conlleval":
        metrics = [metric_named("exact")] if metrics is None else metrics
        others = {*map(with_settings, metrics)} - {"exact"}
        if others or {"where", "by"} & {*counting} or counting.get("unit") == "character":
            raise UsageError(
                "--format conlleval shows the metric exact for all spans and tokens",
                advice="remove --metric, --where, --by and --unit",
            )
    of_gold, of_predicted = sides_of(gold, predicted, pairs, counting.get("pair_by"), "score")
    trust = Trust(**trusted)
    baseline = gates.baseline(trust)
    tables = [path for path in report.files if path.name.lower().endswith(".gate.tsv")]  # GATE's own table
    units = EITHER if gates.need_units() else trust.units
    if units is not None and trust.resample_by is None:
        of_baseline = None if baseline is None or baseline.units is None else baseline.units.by
        trust = replace(trust, resample_by=of_baseline or units)
    elif tables and trust.resample_by is None:
        trust = replace(trust, resample_by=DOCUMENT)
    _warn_of_no_effect(trusted, needs_units=gates.need_units(), has_baseline=baseline is not None)

    if pairs is None and _is_saved(gold, predicted):
        of_texts = {**counting, **preparing, **reading, "reference": reference, "signature": signature}
        of_texts |= {"reference_set": reference_set, "write_indicators": write_indicators}
        of_texts |= {"scheduler": jobs.scheduler, "resample_by": trusted.get("resample_by")}
        for name, value in of_texts.items():
            if value is not None:
                raise UsageError(
                    f"{name}=... is for texts, and {gold} is a saved result",
                    advice="remove it, or score the texts again",
                )
        result = load_result(gold)
        result = result if metrics is None else result.scored(metrics)
        result = replace(result, trust=trust) if trust.intervals else result
    else:
        with jobs.counting(gold, predicted) as work:
            result = clueval.score(
                of_gold,
                of_predicted,
                metrics=metrics,
                signature=signature,
                reference=reference,
                reference_set=reference_set,
                write_indicators=write_indicators,
                **{**counting, **preparing, **work, **changed_values(replace(trust, save=None))},
                **reading,
            )
    if trust.save is not None:
        result.save(trust.save)
        wrote(Path(trust.save))
    if trust.units is not None and not trust.intervals and not tables and result.plan.units is not None:
        from clueval.results.units import number_of_units  # few commands need it

        number = number_of_units(result.bag)
        remark(f"counts of {with_noun(number, 'units')} (by {visible(result.plan.units)})")

    result = gates.applied(result, baseline, trust)
    _put(result, report, tables, (reading.get("predicted_set", ""), reference_set or ""))
    if write_indicators is not None:
        wrote(write_indicators)
    if not report.prints_text:
        say_what_was_read(result)  # the text on the terminal has these lines
    remark_passed_over(result.passed_over)
    for layer in layers_not_predicted(result.inputs):
        remark(f"layer {cut_label(visible(layer))}: not predicted; {SEVERAL_LAYERS}")
    return int(any(not gate["passed"] for gate in result.gates or ()))


def _put(result: Result, report: ReportOutput, tables: Sequence[Path], sets: tuple[str, str]) -> None:
    """Write a result to its files: `tables` are those with GATE's table, in which the `sets` are named."""

    def render(form: str, **shown: Any) -> str:
        if form != "conlleval":
            return result.render(form, **shown)
        from clueval.compat.conlleval import render

        remark(f"signature: {result.signature}")  # conlleval's format has no place for it
        return render(result.to_dict())

    if tables:
        report = report._replace(written=[path for path in report.written or () if path not in tables])
    if report.files or not tables:
        report.put(result, render)
    for path in tables:
        from clueval.compat.gate import write_table

        write_table(result, path, response_set=sets[0], reference_set=sets[1])
        wrote(path)


# --- saved results


def _is_saved(gold: Path, predicted: Path | None) -> bool:
    """Return whether the only file is a saved result."""
    if predicted is not None:
        return False
    from clueval.results.saved import is_saved

    return is_saved(gold)


_OF_SAVED = """format written lang all digits verbose quiet no_config Workers.jobs fail_under fail_if_worse score
allow_drop significant Trust.intervals Trust.confidence Trust.method Trust.resamples Trust.seed Trust.save"""
"""The options that need no texts."""


def score_needs(values: OptionValues) -> Collection[str] | None:
    """Return the options that a saved result can use; None: there are texts. Raises `UsageError` for others."""
    is_saved = values["pairs"] is None and _is_saved(values["gold"], values["predicted"])
    return _OF_SAVED.split() if is_saved else None


# --- intervals and gates


def _warn_of_no_effect(trusted: Keywords, *, needs_units: bool, has_baseline: bool) -> None:
    """Warn of options for intervals where nothing of the kind is computed."""
    if "intervals" in trusted or needs_units:
        return
    used = {"save"} | ({"resample_by"} if "save" in trusted or has_baseline else set())
    for field, declared in options_of(Trust):
        if field.name in trusted.keys() - used:
            warn(f"{declared.flag} has no effect without --intervals")
