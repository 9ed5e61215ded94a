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

from clueval.core.count import DOCUMENT, DocumentPlace
from clueval.core.metric import Tally, added
from clueval.files.errors import UsageError
from clueval.files.writing import whole_file
from clueval.metrics.gate import Gate, GateLists
from clueval.metrics.gate.counts import GateCounts, macro_report
from clueval.metrics.gate.equality import parse_types
from clueval.results.reference import CORPUS, PLACE, column_of, table_cell
from clueval.results.result import Result

_NUMBERS = (
    *("precision_strict", "recall_strict", "f1_strict", "single_correct_accuracy_strict"),
    *("precision_lenient", "recall_lenient", "f1_lenient", "single_correct_accuracy_lenient"),
    *("targets", "responses", "correct_strict", "single_correct_strict", "incorrect_strict"),
    *("missing_strict", "true_missing_strict", "spurious_strict", "true_spurious_strict"),
    *("correct_partial", "single_correct_partial", "incorrect_partial"),
    *("missing_lenient", "true_missing_lenient", "spurious_lenient", "true_spurious_lenient"),
)


COLUMNS: Mapping[str, str] = {column_of(number): number for number in _NUMBERS}
"""The columns with numbers, and the names of their numbers in a report."""

ALL_TYPES = "[type:all:micro]"
MACRO = "[type:all:macro]"


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
    if isinstance(metric, GateLists):
        rows = _rows_of_lists(metric, documents, response_set)
    else:
        sides = [(response_set, documents)]
        if result.reference is not None:
            before = result.reference.result
            sides.append((reference_set, _by_document(before, _metric_of(before))))
        rows = _rows_of_annotations(metric, sides)
    for place, report in rows:
        cells = (evaluation, *place, *(report[name] for name in COLUMNS.values()))
        yield "\t".join(map(table_cell, cells))


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
    name = evaluation or Path(path).name.partition(".")[0]
    lines = table_lines(result, evaluation=name, response_set=response_set, reference_set=reference_set)
    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)


def _metric_of(result: Result) -> Gate:
    metric = next((each for each in result.plan.metrics if isinstance(each, Gate)), None)
    if metric is None:
        raise UsageError("GATE's table needs the metric 'gate'", advice="score with metrics='gate'")
    return metric


def _by_document(result: Result, metric: Gate) -> dict[DocumentPlace, Tally]:
    bag = result.bag
    tallies: dict[DocumentPlace, Tally] = {}
    for place, _, _, tally in bag.tallies_of([metric], bag.layers or [""]):
        tallies[place._replace(values=(), sentence=None)] = tally
    return tallies


_Row = tuple[Sequence[object], Mapping[str, float]]
"""The columns of `PLACE` but the first, and the numbers by their names in a report."""


def _rows_of_lists(
    metric: GateLists, documents: Mapping[DocumentPlace, Tally], set_name: str
) -> Iterator[_Row]:
    """Yield the rows of candidate lists: documents, the best of all, by score, by rank, disambiguation."""

    def rows(kind: str, points: Iterable[tuple[float, GateCounts]], document: str = CORPUS) -> Iterator[_Row]:
        by = "rank" if kind in ("list-rank", "list-disamb", "list-disamb-best") else "score"
        for threshold, counts in points:
            yield (kind, document, set_name, metric.type, by, threshold), counts.report()

    def best(tally: Tally) -> list[tuple[float, GateCounts]]:
        return [(math.nan, metric.of_best.counts(tally, metric.type))]

    for unit, tally in documents.items():
        yield from rows("list-best", best(tally), unit.name or "")
        yield from rows("list-disamb-best", [next(metric.disambiguation(tally))], unit.name or "")
    total = added((each, 1) for each in documents.values())
    yield from rows("list-best", best(total))
    yield from rows("list-score", metric.by_score(total))
    yield from rows("list-rank", metric.by_rank(total))
    yield from rows("list-disamb", metric.disambiguation(total))


def _rows_of_annotations(
    metric: Gate, sides: Sequence[tuple[str, Mapping[DocumentPlace, Tally]]]
) -> Iterator[_Row]:
    """Yield the rows of annotations: of documents, then of the corpus; sides are response and maybe reference."""
    printed = {spec.target: str(spec) for spec in parse_types(metric.types)}

    def name_of(kind: str | None) -> str:
        return ALL_TYPES if kind is None else printed.get(kind, kind)

    def types_of(tallies: Iterable[tuple[str, Tally]]) -> list[str]:
        """Return the types in the order of the settings or, by default, in alphabetical order."""
        return list(printed) or sorted({name for _, tally in tallies for name in metric.types_of(tally)})

    def normal(document: str, set_name: str, kind: str | None, tally: Tally) -> _Row:
        place = ("normal", document, set_name, name_of(kind), "score", math.nan)
        return place, metric.counts(tally, kind).report()

    for unit in sides[0][1]:
        tallies = [(set_name, documents.get(unit, Tally())) for set_name, documents in sides]
        all_types: list[str | None] = [None] if len(metric.types) != 1 else []
        for kind in [*all_types, *types_of(tallies)]:
            yield from (normal(unit.name or "", set_name, kind, tally) for set_name, tally in tallies)
    totals = [(set_name, added((each, 1) for each in documents.values())) for set_name, documents in sides]
    kinds = types_of(totals)
    several = len(kinds) != 1
    for kind in [*kinds, None] if several else kinds:
        yield from (normal(CORPUS, set_name, kind, tally) for set_name, tally in totals)
        set_name, tally = totals[0]
        for threshold, counts in metric.curve(tally, kind):
            place = ("score", CORPUS, set_name, name_of(kind), "score", threshold)
            yield place, counts.report()
    for set_name, tally in totals if several else ():
        members = [metric.counts(tally, kind) for kind in kinds]
        yield ("normal", CORPUS, set_name, MACRO, "score", math.nan), macro_report(members)
