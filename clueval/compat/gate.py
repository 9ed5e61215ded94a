"""GATE's report of an evaluation: 31 columns of tab-separated values.

There are rows for every document, then for the corpus: for each type the response, the reference and one row
per score threshold; the same over all types; the macro average over the types. Rates are fractions, and are
not rounded; numbers are written as Java writes them. A row without a threshold has ``NaN`` as its threshold. Rows of
candidate lists have the same columns.

Source: the TSV of GATE's plugin Evaluation; the macro rows are named as such and have all columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from clueval.core.count import DOCUMENT, Unit
from clueval.core.tally import Tally, added
from clueval.files.errors import UsageError
from clueval.files.writing import whole_file
from clueval.metrics.gate import Gate, GateLists
from clueval.metrics.gate.counts import GateCounts, macro_report
from clueval.metrics.gate.equality import java_string, parse_types
from clueval.reports.forms import guarded
from clueval.results.result import Result

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

NAN = float("nan")


def table_lines(
    result: Result, *, evaluation: str = "", response_set: str = "", reference_set: str = ""
) -> Iterator[str]:
    r"""Yield the lines of GATE's table of a result, the header first.

    `evaluation`, `response_set` and `reference_set` are the values of the columns with these names. F is F1, whatever
    the beta of the metric. Raises `UsageError` unless the metric ``gate`` has counted one layer, with the counts of
    each document (``resample_by="document"``).

    >>> from clueval import score
    >>> gold = [[(0, 3, "Person")]]
    >>> result = score(gold, gold, metrics="gate", resample_by="document")
    >>> next(table_lines(result)).split("\t")[:2]
    ['evaluationId', 'evaluationType']
    """
    metric = _metric_of(result)
    if len(result.bag.layers) > 1 or result.plan.merge:
        raise UsageError("GATE's table has one layer", advice="name it with layers, and do not merge")
    if result.plan.units != DOCUMENT:
        raise UsageError("GATE's table has rows of each document", advice="add resample_by='document'")
    yield "\t".join([*PLACE, *COLUMNS])
    documents = _by_document(result, metric)
    rows = _Rows(metric, evaluation)
    if isinstance(metric, GateLists):
        yield from _of_lists(metric, documents, rows, response_set)
        return
    reference = None if result.reference is None else result.reference.result
    of_reference = {} if reference is None else _by_document(reference, _metric_of(reference))
    for unit, tally in documents.items():
        sides = [(response_set, tally)]
        if reference is not None:
            sides.append((reference_set, of_reference.get(unit, Tally())))
        yield from rows.of_document(unit.name or "", sides)
    totals = [(response_set, added((each, 1) for each in documents.values()))]
    if reference is not None:
        totals.append((reference_set, added((each, 1) for each in of_reference.values())))
    yield from rows.of_corpus(totals)


def write_table(
    result: Result, path: str | Path, *, evaluation: str = "", response_set: str = "", reference_set: str = ""
) -> None:
    r"""Write GATE's table of a result to a file; `evaluation` is by default the beginning of its name.

    The other arguments, and errors, are those of `table_lines`. Raises `FileError`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from clueval import score
    >>> result = score([[(0, 3, "A")]], [[(0, 3, "A")]], metrics="gate", resample_by="document")
    >>> with TemporaryDirectory() as folder:
    ...     write_table(result, f"{folder}/t.tsv")
    ...     Path(folder, "t.tsv").read_text().split("\t")[:2]
    ['evaluationId', 'evaluationType']
    """
    path = Path(path)
    name = evaluation or path.name.partition(".")[0]
    lines = table_lines(result, evaluation=name, response_set=response_set, reference_set=reference_set)
    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)


def _metric_of(result: Result) -> Gate:
    metric = next((each for each in result.plan.metrics if isinstance(each, Gate)), None)
    if metric is None:
        raise UsageError("GATE's table needs the metric 'gate'", advice="score with metrics='gate'")
    return metric


def _by_document(result: Result, metric: Gate) -> dict[Unit, Tally]:
    """Return what was counted in each document."""
    bag = result.bag
    found: dict[Unit, Tally] = {}
    for place, _, _, tally in bag.tallies_of([metric], bag.layers or [""]):
        assert isinstance(place, Unit)
        found[place._replace(values=(), sentence=None)] = tally
    return found


def _of_lists(
    metric: GateLists, documents: Mapping[Unit, Tally], rows: _Rows, set_name: str
) -> Iterator[str]:
    """Yield the rows of candidate lists: documents, the best of all, by score, by rank, disambiguation."""

    def lines(kind: str, points: Iterable[tuple[float, GateCounts]], document: str = CORPUS) -> Iterator[str]:
        by_rank = kind in ("list-rank", "list-disamb", "list-disamb-best")
        for threshold, counts in points:
            at = (
                str(int(threshold)) if by_rank and math.isfinite(threshold) else java_string(float(threshold))
            )
            place = kind, document, set_name, metric.type, "rank" if by_rank else "score", at
            yield rows.line(place, counts.report())

    def best(tally: Tally) -> list[tuple[float, GateCounts]]:
        return [(NAN, metric.of_best.counts(tally, metric.type))]

    for unit, tally in documents.items():
        yield from lines("list-best", best(tally), unit.name or "")
        yield from lines("list-disamb-best", [next(metric.disambiguation(tally))], unit.name or "")
    total = added((each, 1) for each in documents.values())
    yield from lines("list-best", best(total))
    yield from lines("list-score", metric.by_score(total))
    yield from lines("list-rank", metric.by_rank(total))
    yield from lines("list-disamb", metric.disambiguation(total))


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
                yield self.line(place, counts.report())
        for set_name, tally in sides if several else ():
            members = [self._metric.counts(tally, kind) for kind in kinds]
            place = ("normal", CORPUS, set_name, MACRO, "score", "NaN")
            yield self.line(place, macro_report(members))

    def line(self, place: Sequence[str], report: Mapping[str, float]) -> str:
        """Return a row: the columns of `PLACE` after the first, then the numbers."""
        cells = map(_cell, (self._evaluation, *place))
        return "\t".join([*cells, *(java_string(report[name]) for name in COLUMNS.values())])

    def _types(self, sides: Sequence[tuple[str, Tally]]) -> list[str]:
        """Return the types of both sides, in the order of the settings or, by default, in alphabetical order."""
        if self._printed:
            return list(self._printed)
        return sorted({name for _, tally in sides for name in self._metric.types_of(tally)})

    def _normal(self, document: str, set_name: str, kind: str | None, tally: Tally) -> str:
        place = ("normal", document, set_name, self._name(kind), "score", "NaN")
        return self.line(place, self._metric.counts(tally, kind).report())

    def _name(self, kind: str | None) -> str:
        return ALL_TYPES if kind is None else self._printed.get(kind, kind)


def _cell(text: str) -> str:
    """Return a cell that a spreadsheet does not run; a threshold below zero stays a number."""
    return text if text.startswith("-") and _is_number(text) else guarded(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
