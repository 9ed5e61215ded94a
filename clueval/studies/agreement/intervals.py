"""Intervals of agreement, from the jackknife over documents; see `clueval.statistics.jackknife`.

F1 lies between 0 and 1 and has an interval on the logit scale. Coefficients, and the differences of a system to the
annotators, may be negative, so theirs is the number plus or minus Student's quantile times the standard error. A
document weighs as many spans as its annotators marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clueval.core.bag import Bag
from clueval.core.tally import Tally, added
from clueval.files.errors import UsageError
from clueval.statistics.distributions import t_quantile
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    effective_number,
    logit_jackknife,
    standard_error,
)
from clueval.studies.agreement.metric import AgreementMetric
from clueval.studies.agreement.report import numbers


def intervals(
    bag: Bag, metric: AgreementMetric, sequences: Sequence[str], confidence: float = 0.95
) -> dict[str, dict[str, Interval]]:
    """Return the intervals of `numbers`, by sequence and path; each place of the bag is a document.

    Raises `UsageError` for a single shared document.
    """
    shared = {place for present, of in bag.shared.items() if metric.shares(present) for place in of}
    if len(shared) < 2:
        raise UsageError(
            "there is only one shared document, so the spread between documents is not known",
            advice="leave out the intervals",
        )
    units: dict[str, list[Tally]] = {sequence: [] for sequence in sequences}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        if place in shared:
            units[sequence].append(tally)
    return {sequence: _of_sequence(metric, tallies, confidence) for sequence, tallies in units.items()}


def _of_sequence(metric: AgreementMetric, units: Sequence[Tally], confidence: float) -> dict[str, Interval]:
    whole = added((unit, 1) for unit in units)
    different: dict[frozenset[object], Mapping[str, float | None]] = {}
    without = []
    for unit in units:
        key = frozenset(unit.items())
        if key not in different:
            different[key] = numbers(metric.numbers(added([(whole, 1), (unit, -1)])))
        without.append(different[key])
    sizes = [sum(n for key, n in unit.items() if key[0] == "spans") for unit in units]
    return {
        path: _interval(path, value, [each.get(path) for each in without], sizes, confidence)
        for path, value in numbers(metric.numbers(whole)).items()
    }


def _interval(
    path: str, value: float | None, without: Sequence[float | None], sizes: Sequence[int], confidence: float
) -> Interval:
    """Return the interval of a number from its values without each document."""
    effective = effective_number(sizes)
    defined = [each for each in without if each is not None]
    used = sum(size > 0 for size in sizes)
    if value is None or len(defined) < len(without) or used < 2:
        reason = "not defined" if value is None else "not defined without one of the documents"
        return Interval(None, None, None, used, effective, reason)
    if path.startswith("f1.") or ".observed." in path:
        return logit_jackknife(value, defined, used, effective, confidence)
    se = standard_error(defined)
    if not se:
        reason = "the agreement is the same in all documents, so the spread between documents is not known"
        return Interval(None, None, se, used, effective, reason)
    half = t_quantile((1 + confidence) / 2, degrees_of_freedom(effective)) * se
    return Interval(value - half, min(1.0, value + half), se, used, effective)
