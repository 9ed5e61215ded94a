"""Counts a pair of files without building documents, where their format and the plan allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval.evaluation.column_clusters import cluster_reading, raise_first_error
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd, FileReading
from clueval.evaluation.plan import Plan
from clueval.exceptions import CluevalError
from clueval.reading.source import Source
from clueval.spans.compared import Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.textfiles import blocks

if TYPE_CHECKING:
    from clueval.metrics.fair import Fair


def count_without_documents(
    evaluation: Evaluation, gold: Source, predicted: Source
) -> tuple[bool, FileEnd | None]:
    """Count two files and return whether it was possible; if not, nothing was counted.

    The `FileEnd` counts spans and repaired tags that are not counted yet; None if there is no such end. Raises the
    errors of the files; those of token rows and token pairs are raised when documents are counted.
    """
    rows = gold.form.rows
    if (rows is not None and rows.tagged is None) or gold.form.flat is not None:
        from clueval.evaluation.row_pairs import count_rows  # other formats do not need it

        return count_rows(evaluation, gold, predicted), None
    if (metric := _fair_alone(gold, predicted, evaluation.plan)) is not None:
        return True, _count_span_files(evaluation, gold, predicted, metric)
    plan, seen_names = evaluation.plan, evaluation.seen_names
    reading = cluster_reading(gold, predicted, plan, seen_names)
    if reading is not None:
        try:
            return True, evaluation.count_reading(reading)
        except CluevalError:
            if gold.options.part is not None:
                raise  # the whole files are counted again
            if gold.in_brackets or predicted.in_brackets:  # which may nest
                return False, None
        raise_first_error(gold, predicted)
        return False, None
    try:
        reading = _token_reading(evaluation, gold, predicted)
        return (False, None) if reading is None else (True, evaluation.count_reading(reading))
    except CluevalError:
        return False, None


def _token_reading(evaluation: Evaluation, gold: Source, predicted: Source) -> FileReading | None:
    """Two files of token rows, or the tokens of two column files; None if their documents must be counted."""
    if gold.form.rows is not None:
        from clueval.evaluation.token_row_pairs import token_row_reading  # other formats do not need it

        return token_row_reading(gold, predicted, evaluation.plan, evaluation.seen_names)
    if gold.token_lines is None or predicted.token_lines is None or evaluation.leaves_out_spans:
        return None
    from clueval.evaluation.token_pairs import token_pair_reading  # few metrics can use it

    return token_pair_reading(gold, predicted, evaluation.plan)


def _fair_alone(gold: Source, predicted: Source, plan: Plan) -> Fair | None:
    """The metric `fair`, if it is the only one and counts all spans of two files in FairEval's format, else None."""
    (metric, *others) = plan.metrics
    same_format = gold.format == predicted.format == "fair-spans"
    by_itself = (
        plan.merge or plan.wants_single_documents or plan.unit or plan.needs_documents or plan.observers
    )
    if others or by_itself or not same_format:
        return None
    from clueval.metrics.fair import Fair

    return metric if isinstance(metric, Fair) and gold.options.layers is None else None


def _count_span_files(evaluation: Evaluation, gold: Source, predicted: Source, metric: Fair) -> FileEnd:
    """Count two files of FairEval's spans; comparing their spans sentence by sentence takes twice as long."""
    from clueval.evaluation.lockstep.fair_spans import run_blocks

    target, system = (
        blocks(
            source.path, source.progress, max_line=source.options.max_line, size=source.options.sizes.block
        )
        for source in (gold, predicted)
    )
    run = run_blocks(
        target,
        system,
        metric,
        target_file=str(gold.path),
        system_file=str(predicted.path),
        ignore_punct=gold.options.ignore_punct is not False,
        max_sentence=gold.options.max_sentence,
    )
    evaluation.see_layers([DEFAULT_LAYER])
    evaluation.count_compared(
        Compared(run.sentences, 0, tallies={(metric.name, DEFAULT_LAYER): run.tally}, has_text=False)
    )
    return FileEnd((None, None), {}, run.repaired, run.spans)
