"""Counts a pair of files without building documents, where their format and the plan allow it."""

from __future__ import annotations

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd, FileReading, compared
from clueval.exceptions import CluevalError
from clueval.reading.source import Source


def count_without_documents(
    evaluation: Evaluation, gold: Source, predicted: Source
) -> tuple[bool, FileEnd | None]:
    """Count two files and return whether it was possible; if not, nothing was counted.

    The `FileEnd` counts spans and repaired tags that are not counted yet; None if there is no such end. Raises the
    errors of the files; those of token rows and token pairs are raised when documents are counted.
    """
    rows = gold.form.rows
    if rows is not None and rows.tagged is not None:
        from clueval.evaluation.token_row_pairs import token_row_reading  # other formats do not need it

        try:
            return _counted(
                evaluation, token_row_reading(gold, predicted, evaluation.plan, evaluation.seen_names)
            )
        except CluevalError:
            return False, None
    if rows is not None or gold.form.flat is not None:
        from clueval.evaluation.row_pairs import count_rows  # other formats do not need it

        return count_rows(evaluation, gold, predicted), None
    if evaluation.leaves_out_spans or evaluation.plan.unit == "character":
        from clueval.evaluation.clusters import cluster_reading  # most evaluations do not need it

        try:
            return _counted(
                evaluation, cluster_reading(gold, predicted, evaluation.plan, evaluation.seen_names)
            )
        except CluevalError:
            return False, None
    reading = compared(gold, predicted, evaluation.plan)
    if reading is None and gold.token_lines is not None and predicted.token_lines is not None:
        from clueval.evaluation.token_pairs import token_pair_reading  # few metrics can use it

        try:
            return _counted(evaluation, token_pair_reading(gold, predicted, evaluation.plan))
        except CluevalError:
            return False, None
    return _counted(evaluation, reading)


def _counted(evaluation: Evaluation, reading: FileReading | None) -> tuple[bool, FileEnd | None]:
    return (False, None) if reading is None else (True, evaluation.count_reading(reading))
