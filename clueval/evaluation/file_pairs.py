"""Counts a pair of files without building documents, where their format and the plan allow it."""

from __future__ import annotations

from clueval.evaluation.column_clusters import cluster_reading, raise_first_error
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd, FileReading
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
    if (rows is not None and rows.tagged is None) or gold.form.flat or gold.form.sentences:
        from clueval.evaluation.row_pairs import count_rows  # other formats do not need it

        return count_rows(evaluation, gold, predicted), None
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
