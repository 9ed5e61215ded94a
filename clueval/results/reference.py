"""A third side: another system, usually an older run of the same one, with which a result is compared.

The reference is scored by the same metrics, into a bag of its own. Its differences have the shape of the reports: each
number is that of predicted less that of the reference. For the metric `gate`, there are the changes, too: the targets
that both, one or none got right (strict, lenient), with McNemar's exact test (1947) of whether each of the two alone is
right about equally many, and each annotation whose group changes (`clueval.metrics.gate.outcomes`).

GATE's indicators are copies of the predicted files that show the outcome of each annotation. A copy has further
annotation sets: ``clueval_Res`` has the outcome of the response, ``clueval_Ref`` that of a reference, ``clueval_Diff``
the changes; candidate lists have sets of their own (`clueval.metrics.gate.outcomes`), and two tables. Everything else
in a file is unchanged, and no file is overwritten. In contrast to GATE, indicators do not change the annotations that
they are made from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from clueval.core.document import Document, Pair, metadata_with_id
from clueval.core.metric import Tally
from clueval.core.span import Span
from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.files.opening import beginning_of
from clueval.files.options import Limits
from clueval.files.writing import whole_file
from clueval.formats.gate_xml import write_gate_xml
from clueval.formats.input_file import Head, InputFile
from clueval.formats.options import LayerColumns
from clueval.formats.recognition import begins_with
from clueval.metrics import headline_paths, number_at
from clueval.metrics.gate import Gate, GateLists
from clueval.metrics.gate.equality import java_string
from clueval.metrics.gate.lists import maximum_recall
from clueval.metrics.gate.outcomes import (
    TargetOutcome,
    changes,
    changes_of_targets,
    indicators_of_lists,
    outcome_of,
)
from clueval.metrics.gate.pairing import Touching
from clueval.reading import spooled
from clueval.reports.forms import guarded
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Rate, Table, difference
from clueval.results.options import Groups
from clueval.results.pairs import Pairs, pairs_with
from clueval.statistics import mcnemar_exact

MOST_CHANGES = 100_000
"""The number of changes that a report lists; it counts all."""

WARNING = (
    "McNemar's test takes spans for independent; spans of one document are not, so its p is too small "
    "(clueval compare tests documents)"
)

PREFIX = "clueval"
"""What the names of the annotation sets of indicators begin with."""

_ANY_SIZE = 1 << 62
_NAMES = {"+": "better", "-": "worse", "+-": "neither"}
_LENIENCIES = ("strict", "lenient")
_RIGHT = {
    (True, True): "both",
    (True, False): "reference_only",
    (False, True): "response_only",
    (False, False): "neither",
}
"""Who is right about a target, by whether the reference and the response are."""


@dataclass(frozen=True)
class Reference:
    """What a result is compared with.

    Attributes:
        result: the `Result` of the reference.
        changes: of each sequence, the changes under the metric `gate`; None without that metric.
    """

    result: Any
    changes: Mapping[str, Changes] | None = None

    def add(self, other: Reference, *, force: bool) -> Reference:
        """Return the reference of both corpora together; the results that are compared have the same metrics."""
        result = self.result.add(other.result, force=force)
        if self.changes is None or other.changes is None:
            return Reference(result)
        total: dict[str, Changes] = {}
        for sequence, of_corpus in chain(self.changes.items(), other.changes.items()):
            total.setdefault(sequence, Changes()).include(of_corpus)
        return Reference(result, total)

    def to_dict(self, reports: Mapping[str, Any]) -> dict[str, Any]:
        """Return everything as plain values; `reports` are those of the result that is compared."""
        metrics = {name: dict(sequences) for name, sequences in self.result.metrics.items()}
        content = {"metrics": metrics, "differences": less(reports, metrics)}
        if self.changes is None:
            return content
        return {**content, "changes": {name: changes.report() for name, changes in self.changes.items()}}


def less(report: Any, other: Any) -> Any:
    """Return the numbers of a report less those of another; what only one of them has is left out.

    >>> less({"a": {"f1": 0.75, "gold": 3}, "b": 1}, {"a": {"f1": 0.5, "gold": 3}})
    {'a': {'f1': 0.25, 'gold': 0}}
    """
    if isinstance(report, Mapping):
        differences = {name: less(value, other[name]) for name, value in report.items() if name in other}
        return {name: value for name, value in differences.items() if value is not None}
    return report - other if isinstance(report, int | float) and isinstance(other, int | float) else None


def with_reference(
    result: Any,
    sides: tuple[Any, Any, Any],
    reference_set: str | None,
    layers: LayerColumns | None,
    groups: Groups,
    indicators: str | Path | None,
    scored: Callable[..., Any],
) -> Any:
    """Return the result with its reference, the last of the sides, if there is one; write indicators to a folder.

    `scored` makes the result of the reference. A reference need not have the scores of predicted spans.
    """
    gold, predicted, reference = sides
    has_reference = reference is not None or reference_set is not None
    metrics = tuple(metric for metric in result.plan.metrics if not hasattr(metric, "with_curves"))
    gate = next((metric for metric in metrics if isinstance(metric, Gate)), None)
    if has_reference and isinstance(gate, GateLists):
        raise UsageError("candidate lists are not compared with a reference", advice="leave one out")
    if groups.preparing is None or groups.preparing.min_score is None:
        counting = replace(groups.counting, score_feature=None, thresholds=None)
        groups = groups._replace(counting=counting)
    of_reference = groups
    if reference_set is not None:
        gold_reading, reading = groups.readings[:2]
        of_reference = groups._replace(
            readings=(gold_reading, replace(reading, annotation_set=reference_set))
        )
    with spooled(predicted if reference is None else reference) as (reference,):
        before = pairs_with(gold, (reference,), metrics, layers, [of_reference]) if has_reference else None
        after = None if gate is None else pairs_with(gold, (predicted,), metrics, layers, [groups])
        if before is not None:
            without_scores = tuple(
                replace(metric, score_feature=None, thresholds=None) if isinstance(metric, Gate) else metric
                for metric in metrics
            )
            try:
                second = scored(gold, reference, without_scores, layers, of_reference)
            except CluevalError as error:
                error.problem = error.problem.replace("predicted", "reference")
                raise
            gate_changes = None if gate is None or after is None else changes_of(gate, after, before)
            result = replace(result, reference=Reference(second, gate_changes))
        if indicators is not None:
            if gate is None or after is None:
                raise UsageError("indicators are those of the metric gate", advice="add it to the metrics")
            write_indicators(Path(indicators), gate, after, before)
            if isinstance(gate, GateLists):
                write_list_tables(Path(indicators), gate, after, groups.readings[1].annotation_set or "")
    return result


# The changes of GATE


def contingency(
    targets: Iterable[Span], reference: TargetOutcome, response: TargetOutcome
) -> Counter[tuple[str, str]]:
    """Return how many targets of a document both, one or none of two outcomes got right, strictly and leniently.

    An outcome is strictly right about a target if one of its single correct strict responses has the target's
    range; leniently if it is strictly right, or a single correct partial response touches the target. Only
    the place of the response counts, not the target that it was paired with.
    """
    sides = [
        ({span.fragments for span in outcome.single_correct("CS")}, Touching(outcome.single_correct("CP")))
        for outcome in (reference, response)
    ]
    numbers = Counter({(leniency, who): 0 for leniency in _LENIENCIES for who in _RIGHT.values()})
    for target in targets:
        strict = [target.fragments in places for places, _ in sides]
        lenient = [
            is_right or bool(side[1].find(target)) for is_right, side in zip(strict, sides, strict=True)
        ]
        for leniency, are_right in zip(_LENIENCIES, (strict, lenient), strict=True):
            numbers[leniency, _RIGHT[are_right[0], are_right[1]]] += 1
    return numbers


def changes_of(metric: Gate, after: Pairs, before: Pairs) -> dict[str, Changes]:
    """Return the changes between two sets of pairs with the same gold, by sequence. Holds one text of each.

    Raises `UsageError` for layers that are merged.
    """
    if after.plan.merge:
        raise UsageError("GATE's types are not merged into one sequence", advice="leave out merge")
    by_sequence: dict[str, Changes] = {}
    for new, old in zip(_pairs_to_count(after), _pairs_to_count(before), strict=True):
        for sequence in after.layers_of(new) or ():
            if sequence not in after.plan.frames:
                by_sequence.setdefault(sequence, Changes()).count(metric, old, new, sequence)
    return by_sequence


def _pairs_to_count(pairs: Pairs) -> Iterator[Pair]:
    for pair in pairs:
        if not pair.beside and pairs.plan.takes(metadata_with_id(pair.first), pairs.layers_of(pair)):
            yield pair


class Changes:
    """The changes in one sequence; can be added."""

    def __init__(self) -> None:
        self._targets: Counter[tuple[str | None, str, str]] = Counter()
        self._signs: Counter[str] = Counter()
        self._listed: list[dict[str, Any]] = []

    def include(self, other: Changes) -> None:
        """Add the changes of another corpus."""
        self._targets.update(other._targets)
        self._signs.update(other._signs)
        self._listed += other._listed[: MOST_CHANGES - len(self._listed)]

    def count(self, metric: Gate, old: Pair, new: Pair, sequence: str) -> None:
        """Add the pairs of a text with the reference and with predicted."""
        both = [outcome_of(metric, pair, sequence) for pair in (old, new)]
        kinds = [spec.target for spec in metric.specs]
        if not kinds:
            groups = [group for outcome in both for group in outcome.groups().values()]
            spans = chain((target for target, _ in both[1].targets), *groups)
            kinds = sorted({span.label for span in spans})
        for kind in (None, *kinds):
            sides = (
                both if kind is None else [outcome_of(metric, pair, sequence, kind) for pair in (old, new)]
            )
            numbers = contingency([target for target, _ in sides[1].targets], *sides)
            self._targets.update({(kind, *key): number for key, number in numbers.items()})
        changes = changes_of_targets(*both)
        self._signs.update(change.sign for change in changes)
        for change in changes[: MOST_CHANGES - len(self._listed)]:
            of_response = change.before == "SL" or change.after == "SL"
            document = new.predicted if of_response else new.gold
            self._listed.append(
                {
                    "document": new.gold.id,
                    "id": change.span.id,
                    "label": change.span.label,
                    "start": change.span.start,
                    "end_exclusive": change.span.end,
                    "before": change.before,
                    "after": change.after,
                    "change": change.sign,
                    "text": document.text_of(change.span),
                }
            )

    def report(self) -> dict[str, Any]:
        tables: dict[str | None, dict[str, dict[str, float]]] = {}
        for kind in sorted({None, *(kind for kind, *_ in self._targets)}, key=lambda kind: kind or ""):
            tables[kind] = {}
            for leniency in _LENIENCIES:
                numbers = {who: self._targets[kind, leniency, who] for who in _RIGHT.values()}
                p_value = mcnemar_exact(numbers["reference_only"], numbers["response_only"])
                tables[kind][leniency] = {**numbers, "p_value": p_value}
        return {
            "contingency": {"all": tables.pop(None), "per_type": tables, "warning": WARNING},
            "change_counts": {name: self._signs[sign] for sign, name in _NAMES.items()},
            "changes": self._listed,
            "changes_left_out": self._signs.total() - len(self._listed),
        }


# Tables


def tables_of(reference: Reference, reports: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables for readers: differences of headlines, GATE's changes; `reports` as in `to_dict`."""
    rows: list[list[Cell]] = []
    for path in headline_paths(reports):
        new, old = (number_at(side_reports, path) for side_reports in (reports, reference.result.metrics))
        if path[-1] != "entity_recall" and new is not None and old is not None:
            rows.append([".".join(path), Rate(new), Rate(old), difference(old, new)])
    header = ["", phrase("predicted"), phrase("reference"), phrase("difference")]
    yield Table(phrase("predicted less reference"), header, rows)
    for sequence, of_sequence in (reference.changes or {}).items():
        report = of_sequence.report()
        counts = {phrase(name): number for name, number in report["change_counts"].items()}
        yield Table(phrase("{layer}: changes", layer=sequence), [*counts], [[*counts.values()]])
        yield Table(
            phrase("{layer}: targets that are right (McNemar's exact test)", layer=sequence),
            ["", *(phrase(name) for name in ("both", "only reference", "only predicted", "neither")), "p"],
            [[phrase(kind), *table.values()] for kind, table in report["contingency"]["all"].items()],
        )


# Indicators


def write_indicators(folder: Path, metric: Gate, after: Pairs, before: Pairs | None) -> None:
    """Write a copy of the file of each predicted document into a folder.

    `before` are the pairs with a reference. Raises `UsageError` for files of another format than GATE's XML, and for a
    set that a file has; `FileError` for a file that already exists or cannot be written.
    """
    older = iter(() if before is None else before)
    for pair in after:
        old = next(older, None)
        for sequence in after.layers_of(pair)[:1]:
            if isinstance(metric, GateLists):
                sets = indicators_of_lists(metric, pair, sequence)
            else:
                response = outcome_of(metric, pair, sequence)
                sets = {"Res": response.indicators()}
                if old is not None:
                    reference = outcome_of(metric, old, sequence)
                    difference = changes(reference, response, metric.features)
                    sets["Ref"] = reference.indicators()
                    sets["Diff"] = [change.annotation() for change in difference]
            _write(folder, pair.predicted, {f"{PREFIX}_{name}": spans for name, spans in sets.items()})


CORPUS = "[doc:all:micro]"
"""The document of the rows of the corpus in GATE's tables."""

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

_MATCH_COLUMNS = (
    "evaluationId",
    "evaluationType",
    "annotationId",
    "docName",
    "setName",
    "annotationType",
    "nrKeys",
    "rankOfStrictMatch",
    "rankOfPartialMatch",
    "scoreAtStrictMatch",
    "scoreAtPartialMatch",
)


def column_of(number: str) -> str:
    """Return the name of the column of a number, as ``F1Strict`` of ``f1_strict``."""
    first, *further = number.replace("single_correct_accuracy", "accuracy").replace("f1", "F1").split("_")
    return first + "".join(map(str.title, further))


def write_list_tables(folder: Path, metric: GateLists, after: Pairs, response_set: str) -> None:
    """Write GATE's tables of candidate lists into a folder, with numbers as in `clueval.compat.gate`.

    ``clueval-matches.tsv`` has for each list how many targets touch it, and rank and score of its first strict and
    first partial match: -1 without the match; the score is -infinity if the list has neither, else NaN.
    ``clueval-maxrec.tsv`` has the maximum recall of each document, of the candidates up to each rank, and of all: -1.
    Raises the errors of files of `write_indicators`.
    """
    lists: list[Sequence[object]] = [_MATCH_COLUMNS]
    total = Tally()
    names = [name for name in maximum_recall(total)["all"] if name != "lists_spurious"]
    recalls: list[Sequence[object]] = [[*PLACE, *map(column_of, names)]]

    def add_recall(document: str, rank: int, numbers: Mapping[str, float]) -> None:
        place = PREFIX, "list-maxrecall", document, response_set, metric.type, "rank", rank
        recalls.append([*place, *(numbers[name] for name in names)])

    for pair in _pairs_to_count(after):
        for sequence in after.layers_of(pair)[:1]:
            matches, tally = metric.matches(pair, sequence), Tally()
            for candidates, touching, *ranks in matches.first_matches():
                place = candidates.span.id, pair.gold.id, response_set, metric.type, touching
                of_list = candidates.scores
                scores = [of_list[rank] if of_list and rank is not None else math.nan for rank in ranks]
                if ranks == [None, None]:
                    scores = [-math.inf, -math.inf]
                shown = [-1 if rank is None else rank for rank in ranks]
                lists.append([PREFIX, "list-matches", *place, *shown, *scores])
            matches.count_recall(tally)
            add_recall(pair.gold.id, -1, maximum_recall(tally)["all"])
            total.update(tally)
    recall = maximum_recall(total)
    for rank, numbers in recall["ranks"].items():
        add_recall(CORPUS, int(rank), numbers)
    add_recall(CORPUS, -1, recall["all"])
    for name, rows in (("matches", lists), ("maxrec", recalls)):
        lines = ("\t".join(map(table_cell, row)) + "\n" for row in rows)
        _write_file(folder / f"{PREFIX}-{name}.tsv", "".join(lines))


def table_cell(value: object) -> str:
    """Return a cell of GATE's tables, with a number as Java writes it, that a spreadsheet does not run."""
    text = java_string(value)
    try:
        float(text)
    except ValueError:
        return guarded(text)
    return text if text.startswith("-") else guarded(text)


def _write(folder: Path, document: Document, annotation_sets: Mapping[str, Sequence[Span]]) -> None:
    if document.file is None:
        raise UsageError(
            "indicators are added to files, and this document is not from a file",
            document=document.id,
            advice="give predicted as files",
        )
    path = Path(document.file)
    file = InputFile(path, Limits(max_line=_ANY_SIZE))  # it has been read before
    if not begins_with("<GateDocument")(Head(path.name, beginning_of(path), lambda: None)):
        raise UsageError(
            "indicators are written into GATE's XML only", file=document.file, advice="save it as XML in GATE"
        )
    text = write_gate_xml(file.data(), annotation_sets, file=file.name)
    # the id of a document in a folder is its relative path without ending; of two single files it is not
    relative = Path(document.id).parent / path.name
    inside = path.parts[-len(relative.parts) :] == relative.parts and ".." not in relative.parts
    _write_file(folder / (relative if inside and not relative.is_absolute() else path.name), text)


def _write_file(target: Path, text: str) -> None:
    if target.exists():
        raise FileError(
            "already exists and cannot be overwritten", file=str(target), advice="name another folder"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: not a possible name for a folder
        reason = getattr(error, "strerror", None) or "check its name"
        raise FileError(f"the folder cannot be made: {reason}", file=str(target.parent)) from error
    with whole_file(target) as output:
        output.write(text)
