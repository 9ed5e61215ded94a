"""Counts a pair of files without building documents, where their format and the plan allow it."""

from __future__ import annotations

from clueval.evaluation.column_clusters import cluster_readings
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_reading import FileEnd, FileReading
from clueval.exceptions import CluevalError
from clueval.reading.source import Source


def count_without_documents(
    evaluation: Evaluation, gold: Source, predicted: Source
) -> tuple[bool, FileEnd | None]:
    """Count two files and return whether it was possible; if not, nothing was counted.

    The `FileEnd` counts spans and repaired tags that are not counted yet; None if there is no such end. Raises the
    errors of the files; those of token rows are raised when documents are counted.
    """
    rows = gold.form.rows
    if (rows is not None and rows.tagged is None) or gold.form.flat or gold.form.sentences:
        from clueval.evaluation.span_lists import count_rows  # other formats do not need it

        return count_rows(evaluation, gold, predicted), None
    error = None
    for reading in cluster_readings(gold, predicted, evaluation.plan, evaluation.seen_names):
        try:
            return True, evaluation.count_reading(reading)
        except CluevalError as found:
            error = found
    if error is not None:
        if gold.options.part is not None:
            raise error  # the whole files are counted again
        if gold.in_brackets or predicted.in_brackets:  # which may nest
            return False, None
        from clueval.reading.first_error import raise_first_error  # files without errors do not need it

        raise_first_error(gold, predicted)
        if evaluation.plan.observers:
            raise error  # they have seen passages, so they must not see documents
        return False, None
    try:
        tokens = _token_reading(evaluation, gold, predicted)
        return (False, None) if tokens is None else (True, evaluation.count_reading(tokens))
    except CluevalError:
        return False, None


def _token_reading(evaluation: Evaluation, gold: Source, predicted: Source) -> FileReading | None:
    """Two files of token rows; None if their documents must be counted."""
    if gold.form.rows is None:
        return None
    from clueval.evaluation.tag_lists import token_row_reading  # other formats do not need it

    return token_row_reading(gold, predicted, evaluation.plan, evaluation.seen_names)
