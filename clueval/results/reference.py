"""A third side: another system, usually an older run of the same one, with which a result is compared.

The reference is scored by the same metrics, into a bag of its own. Its differences have the shape of the reports: each
number is that of predicted less that of the reference. For the metric `gate`, there are the changes, too: the targets
that both, one or none got right (strict, lenient), with McNemar's exact test (1947) of whether each of the two alone is
right about equally many, and each annotation whose group changes (`clueval.metrics.gate.outcomes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from operator import add
from typing import Any

from clueval.core.document import Pair
from clueval.core.metric import AnyMetric
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics.gate import Gate, GateLists
from clueval.metrics.gate.outcomes import TargetOutcome, changes_of_targets, outcome_of
from clueval.metrics.gate.pairing import Touching
from clueval.reports.language import numeral, phrase
from clueval.reports.table import Rate, Table
from clueval.results.options import Groups
from clueval.results.pairs import Pairs
from clueval.results.reports import headline_paths, number_at
from clueval.statistics import mcnemar_exact

MOST_CHANGES = 100_000
"""The number of changes that a report lists; it counts all."""

WARNING = (
    "McNemar's test takes spans for independent; spans of one document are not, so its p is too small "
    "(clueval compare tests documents)"
)

_NAMES = {"+": "better", "-": "worse", "+-": "neither"}
_RATES = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Reference:
    """What a result is compared with.

    Attributes:
        result: the `Result` of the reference.
        changes: of each sequence, the changes under the metric `gate`; None without that metric.
    """

    result: Any
    changes: Mapping[str, Mapping[str, Any]] | None = None

    def to_dict(self, of: Mapping[str, Any]) -> dict[str, Any]:
        """Return everything as plain values; `of` are the reports of the result that is compared."""
        metrics = {name: dict(sequences) for name, sequences in self.result.metrics.items()}
        found = {"metrics": metrics, "differences": less(of, metrics)}
        return found if self.changes is None else {**found, "changes": dict(self.changes)}


def less(one: Any, other: Any) -> Any:
    """Return the numbers of a report less those of another; what only one of them has is left out.

    >>> less({"a": {"f1": 0.75, "gold": 3}, "b": 1}, {"a": {"f1": 0.5, "gold": 3}})
    {'a': {'f1': 0.25, 'gold': 0}}
    """
    if isinstance(one, Mapping):
        both = {name: less(each, other[name]) for name, each in one.items() if name in other}
        return {name: each for name, each in both.items() if each is not None}
    return one - other if isinstance(one, int | float) and isinstance(other, int | float) else None


def without_scores(groups: Groups) -> Groups:
    """Return options without scores of predicted spans, which a reference need not have."""
    if groups.preparing.min_score is not None:
        return groups
    return groups._replace(counting=replace(groups.counting, score_feature=None, thresholds=None))


def metric_without_scores(metric: AnyMetric) -> AnyMetric:
    """Return a metric without scores of predicted spans."""
    return replace(metric, score_feature=None, thresholds=None) if isinstance(metric, Gate) else metric


# The changes of GATE


@dataclass(frozen=True, slots=True)
class Contingency:
    """The numbers of targets that both, only the reference, only the response, or none got right; can be
    added.

    >>> Contingency(3, 1, 2, 4) + Contingency(both=1)
    Contingency(both=4, reference_only=1, response_only=2, neither=4)
    """

    both: int = 0
    reference_only: int = 0
    response_only: int = 0
    neither: int = 0

    def __add__(self, other: Contingency) -> Contingency:
        return Contingency(*map(add, astuple(self), astuple(other)))

    @property
    def table(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the rows: the reference right, wrong; columns: the response right, wrong."""
        return (self.both, self.reference_only), (self.response_only, self.neither)

    @property
    def p_value(self) -> float:
        """Return the two-sided p-value of McNemar's exact test."""
        return mcnemar_exact(self.reference_only, self.response_only)

    def report(self) -> dict[str, float]:
        """Return the four counts and the p-value by name."""
        return {**asdict(self), "p_value": self.p_value}


def contingency(
    targets: Iterable[Span], reference: TargetOutcome, response: TargetOutcome
) -> tuple[Contingency, Contingency]:
    """Return the strict and the lenient table of one document.

    An outcome is strictly right about a target if one of its single correct strict responses has the target's
    range; leniently if it is strictly right, or a single correct partial response touches the target. Only
    the place of the response counts, not the target that it was paired with.
    """
    sides = [_Right(outcome) for outcome in (reference, response)]
    tables: list[list[int]] = [[0] * 4, [0] * 4]
    for target in targets:
        answers = [side.about(target) for side in sides]
        for leniency, cells in enumerate(tables):
            cells[2 * (not answers[0][leniency]) + (not answers[1][leniency])] += 1
    return Contingency(*tables[0]), Contingency(*tables[1])


class _Right:
    """Tests which targets an outcome is right about."""

    def __init__(self, outcome: TargetOutcome) -> None:
        self._strict = {span.fragments for span in outcome.single_correct("CS")}
        self._partial = Touching(outcome.single_correct("CP"))

    def about(self, target: Span) -> tuple[bool, bool]:
        strict = target.fragments in self._strict
        return strict, strict or bool(self._partial.find(target))


def require_no_lists(metric: Gate) -> None:
    """Raise `UsageError` for candidate lists."""
    if isinstance(metric, GateLists):
        raise UsageError("candidate lists are not compared with a reference", advice="leave one out")


def changes_of(metric: Gate, after: Pairs, before: Pairs) -> dict[str, dict[str, Any]]:
    """Return the changes between two sets of pairs with the same gold, by sequence. Holds one text of each.

    Raises `UsageError` for layers that are merged.
    """
    if after.plan.merge:
        raise UsageError("GATE's types are not merged into one sequence", advice="leave out merge")
    found: dict[str, _Changes] = {}
    for new, old in zip(_counted(after), _counted(before), strict=True):
        for sequence in after.layers_of(new) or ():
            if sequence not in after.plan.frames:
                found.setdefault(sequence, _Changes(metric)).add(old, new, sequence)
    return {sequence: changes.report() for sequence, changes in found.items()}


def _counted(pairs: Pairs) -> Iterator[Pair]:
    for pair in pairs:
        if not pair.beside and pairs.plan.takes(pair.first, pairs.layers_of(pair)):
            yield pair


class _Changes:
    """The changes in one sequence."""

    def __init__(self, metric: Gate) -> None:
        self._metric = metric
        self._tables: dict[str | None, list[Contingency]] = {None: [Contingency(), Contingency()]}
        self._signs: Counter[str] = Counter()
        self._listed: list[dict[str, Any]] = []

    def add(self, old: Pair, new: Pair, sequence: str) -> None:
        """Add the pairs of a text with the reference and with predicted."""
        metric = self._metric
        before, after = (outcome_of(metric, pair, sequence) for pair in (old, new))
        self._count(None, contingency([target for target, _ in after.targets], before, after))
        kinds = [spec.target for spec in metric.specs]
        if not kinds:
            spans = (
                span for outcome in (before, after) for group in outcome.groups().values() for span in group
            )
            kinds = sorted({span.label for span in (*spans, *(target for target, _ in after.targets))})
        for kind in kinds:
            of_kind = [outcome_of(metric, pair, sequence, kind) for pair in (old, new)]
            self._count(kind, contingency([target for target, _ in of_kind[1].targets], *of_kind))
        changes = changes_of_targets(before, after)
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

    def _count(self, kind: str | None, tables: Sequence[Contingency]) -> None:
        known = self._tables.setdefault(kind, [Contingency(), Contingency()])
        for number, table in enumerate(tables):
            known[number] += table

    def report(self) -> dict[str, Any]:
        tables = {
            kind: {name: table.report() for name, table in zip(("strict", "lenient"), both, strict=True)}
            for kind, both in sorted(self._tables.items(), key=lambda entry: entry[0] or "")
        }
        return {
            "contingency": {"all": tables.pop(None), "per_type": tables, "warning": WARNING},
            "change_counts": {name: self._signs[sign] for sign, name in _NAMES.items()},
            "changes": self._listed,
            "changes_left_out": self._signs.total() - len(self._listed),
        }


# Tables


def tables_of(reference: Reference, of: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables for readers: the differences of the headlines, and GATE's changes; `of` as in `to_dict`."""
    yield Table(
        phrase("predicted less reference"),
        ["", phrase("predicted"), phrase("reference"), phrase("difference")],
        list(_differences(of, reference.result.metrics)),
    )
    for sequence, found in (reference.changes or {}).items():
        counts = {phrase(name): number for name, number in found["change_counts"].items()}
        yield Table(phrase("{layer}: changes", layer=sequence), [*counts], [[*counts.values()]])
        yield Table(
            phrase("{layer}: targets that are right (McNemar's exact test)", layer=sequence),
            ["", *(phrase(name) for name in ("both", "only reference", "only predicted", "neither")), "p"],
            [[phrase(kind), *table.values()] for kind, table in found["contingency"]["all"].items()],
        )


def _differences(of: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[list[Any]]:
    for path in headline_paths(of):
        if not set(_RATES) & {*path[-1].split("_")}:
            continue
        numbers = [number_at(each, path) for each in (of, other)]
        if None in numbers:
            continue
        one, two = (100 * (number or 0) for number in numbers)
        yield [".".join(path), *map(Rate, numbers), numeral(one - two, "+.2f")]
