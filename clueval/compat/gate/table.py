"""GATE's report of a tagging evaluation: 31 columns of tab-separated values.

There are rows for every document, then for the corpus: for each type the response, the reference and one row
per score threshold; the same over all types; the macro average over the types. Rates are fractions, and are
not rounded; numbers are written as Java writes them. A row without a threshold has ``NaN`` as its threshold.

Rows of candidate lists have the same columns and are made by `list_lines`.

Source: the TSV of GATE's plugin Evaluation; the macro rows are named as such and have all columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate.counts import GateCounts, macro_report
from clueval.first.metrics.gate.equality import java_string, parse_types
from clueval.first.metrics.gate.metric import Gate
from clueval.reports.separated import guarded

COLUMNS: Mapping[str, str] = {
    "precisionStrict": "precision_strict",
    "recallStrict": "recall_strict",
    "F1Strict": "f1_strict",
    "accuracyStrict": "single_correct_accuracy_strict",
    "precisionLenient": "precision_lenient",
    "recallLenient": "recall_lenient",
    "F1Lenient": "f1_lenient",
    "accuracyLenient": "single_correct_accuracy_lenient",
    "targets": "targets",
    "responses": "responses",
    "correctStrict": "correct_strict",
    "singleCorrectStrict": "single_correct_strict",
    "incorrectStrict": "incorrect_strict",
    "missingStrict": "missing_strict",
    "trueMissingStrict": "true_missing_strict",
    "spuriousStrict": "spurious_strict",
    "trueSpuriousStrict": "true_spurious_strict",
    "correctPartial": "correct_partial",
    "singleCorrectPartial": "single_correct_partial",
    "incorrectPartial": "incorrect_partial",
    "missingLenient": "missing_lenient",
    "trueMissingLenient": "true_missing_lenient",
    "spuriousLenient": "spurious_lenient",
    "trueSpuriousLenient": "true_spurious_lenient",
}
"""The columns with numbers, and the names of their numbers in a report."""

PLACE = (
    "evaluationId",
    "evaluationType",
    "docName",
    "setName",
    "annotationType",
    "thresholdType",
    "threshold",
)
"""The columns that identify a row."""

CORPUS = "[doc:all:micro]"
ALL_TYPES = "[type:all:micro]"
MACRO = "[type:all:macro]"

Counted = tuple[str, Tally, Tally | None]
"""A document's name, the tally of the response, and the tally of the reference if there is one."""


def header() -> str:
    """Return the line with the names of the columns."""
    return "\t".join([*PLACE, *COLUMNS])


def tagging_lines(
    metric: Gate,
    documents: Iterable[Counted],
    *,
    evaluation: str = "",
    response_set: str = "",
    reference_set: str = "",
) -> Iterator[str]:
    """Yield the lines of the report, the header first, each document's as soon as it is given.

    Args:
        metric: the metric that counted the documents.
        documents: name, tally of the response, tally of the reference or None.
        evaluation, response_set, reference_set: the values of the columns with these names.

    Holds one document and the sums. F is F1, whatever the beta of the metric.
    """
    yield header()
    response, reference = Tally(), Tally()
    has_reference = False
    rows = _Rows(metric, evaluation)
    for name, own, other in documents:
        response.update(own)
        sides = [(response_set, own)]
        if other is not None:
            has_reference = True
            reference.update(other)
            sides.append((reference_set, other))
        yield from rows.of_document(name, sides)
    sides = [(response_set, response)] + [(reference_set, reference)] * has_reference
    yield from rows.of_corpus(sides)


class _Rows:
    """The rows of one evaluation."""

    def __init__(self, metric: Gate, evaluation: str) -> None:
        self._metric = metric
        self._evaluation = evaluation
        self._printed = {spec.target: str(spec) for spec in parse_types(metric.types)}

    def of_document(self, name: str, sides: Sequence[tuple[str, Tally]]) -> Iterator[str]:
        kinds: list[str | None] = [None] if len(self._metric.types) != 1 else []
        for kind in [*kinds, *self._types(sides)]:
            for set_name, tally in sides:
                yield self._normal(name, set_name, kind, tally)

    def of_corpus(self, sides: Sequence[tuple[str, Tally]]) -> Iterator[str]:
        kinds = self._types(sides)
        several = len(kinds) > 1 or not kinds
        for kind in [*kinds, None] if several else kinds:
            for set_name, tally in sides:
                yield self._normal(CORPUS, set_name, kind, tally)
            set_name, tally = sides[0]
            for threshold, counts in self._metric.curve(tally, kind):
                place = ("score", CORPUS, set_name, self._name(kind), "score", java_string(threshold))
                yield line((self._evaluation, *place), counts.report())
        for set_name, tally in sides if several else ():
            members = [self._metric.counts(tally, kind) for kind in kinds]
            place = ("normal", CORPUS, set_name, MACRO, "score", "NaN")
            yield line((self._evaluation, *place), macro_report(members))

    def _types(self, sides: Sequence[tuple[str, Tally]]) -> list[str]:
        """Return the types of both sides, in the order of the settings or, by default, in alphabetical order."""
        if self._printed:
            return list(self._printed)
        return sorted({name for _, tally in sides for name in self._metric.types_of(tally)})

    def _normal(self, document: str, set_name: str, kind: str | None, tally: Tally) -> str:
        place = ("normal", document, set_name, self._name(kind), "score", "NaN")
        return line((self._evaluation, *place), self._metric.counts(tally, kind).report())

    def _name(self, kind: str | None) -> str:
        return ALL_TYPES if kind is None else self._printed.get(kind, kind)


def line(place: Sequence[str], report: Mapping[str, float]) -> str:
    """Return one row: the columns of `PLACE`, then the numbers."""
    return "\t".join([*map(_cell, place), *(java_string(report[name]) for name in COLUMNS.values())])


def list_lines(
    evaluation_type: str,
    rows: Iterable[tuple[float, GateCounts]],
    *,
    evaluation: str = "",
    document: str = CORPUS,
    set_name: str = "",
    annotation_type: str = "",
) -> Iterator[str]:
    """Yield the rows of candidate lists at each threshold or rank.

    `evaluation_type` is ``list-best``, ``list-score``, ``list-rank``, ``list-disamb`` or
    ``list-disamb-best``; ``list-best`` (its threshold is NaN) and ``list-score`` use scores, the others
    ranks.
    """
    by_rank = evaluation_type in ("list-rank", "list-disamb", "list-disamb-best")
    for threshold, counts in rows:
        at = str(int(threshold)) if by_rank and math.isfinite(threshold) else java_string(float(threshold))
        kind = "rank" if by_rank else "score"
        place = (evaluation, evaluation_type, document, set_name, annotation_type, kind, at)
        yield line(place, counts.report())


def _cell(text: str) -> str:
    """Return a cell that a spreadsheet does not run; a threshold below zero stays a number."""
    return text if text.startswith("-") and _is_number(text) else guarded(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
