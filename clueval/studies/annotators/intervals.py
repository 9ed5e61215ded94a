"""Intervals of the numbers of agreement: the jackknife over documents (see `clueval.statistics.jackknife`).

F1 lies between 0 and 1 and has an interval on the logit scale. Coefficients, and the differences of a system to the
annotators, may be negative, so theirs is the number plus or minus Student's quantile times the standard error. A
document weighs as many spans as its annotators marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.statistics.checked import require_share
from clueval.statistics.interval import Interval
from clueval.statistics.jackknife import degrees_of_freedom, effective_number, logit_jackknife, standard_error
from clueval.statistics.student import t_quantile
from clueval.statistics.unitizing import unitizing
from clueval.studies.annotators.report import DOMAINS, Tables, ceiling_means, coefficients, unitized
from clueval.studies.annotators.study import Study, StudyCounts, report_of

FEW = 10
"""With fewer effective documents, a remark says so."""


def with_intervals(study: Study, confidence: float) -> dict[str, Any]:
    """Return the report of the study with intervals. Holds the counts of each document.

    Raises `UsageError` for a single shared document.
    """
    require_share("confidence", confidence)
    whole, units = StudyCounts(study), list[dict[str, Tally]]()
    for group in study.all_groups():
        whole.add(group)
        alone = StudyCounts(study)
        if alone.add(group):
            units.append({sequence: tables.tally for sequence, tables in alone.tables().items()})
    report = report_of(whole)
    if len(units) < 2:
        raise UsageError(
            "there is only one shared document, so the spread between documents is not known",
            advice="leave out the intervals",
        )
    scores = {
        sequence: _of_sequence(tables, [unit.get(sequence, Tally()) for unit in units], confidence)
        for sequence, tables in whole.tables().items()
    }
    remarks = [
        f"{sequence}: {len(units)} documents weigh as much as {least:.1f} of equal size; the intervals are rough"
        for sequence, found in scores.items()
        if (least := min((each.effective or 0 for each in found.values()), default=FEW)) < FEW
    ]
    report["intervals"] = {
        "method": "jackknife",
        "confidence": confidence,
        "resample_by": "document",
        "units": len(units),
        "resamples": None,
        "seed": None,
        "remarks": remarks,
        "scores": {
            sequence: {path: each.to_dict() for path, each in found.items()}
            for sequence, found in scores.items()
        },
    }
    return report


def numbers(tables: Tables) -> dict[str, float | None]:
    """Return the numbers that have intervals, by their paths below the sequence."""
    keys = tables.contests.keys
    found = {f"f1.{key}.mean": tables.mean_f1(key) for key in keys}
    for items, domains in DOMAINS.items():
        for which in domains:
            c = coefficients(tables, items, which)
            path = f"coefficients.{items}.{which}"
            found |= {f"{path}.{name}.mean": c[name]["mean"] for name in ("observed", "kappa", "pi")}
            found |= {f"{path}.{name}": c[name] for name in ("fleiss", "alpha")}
    if not tables.of("overlap"):
        units = unitizing(unitized(tables))
        found |= {f"unitizing.{name}": units[name] for name in ("u", "binary", "cu")}
    for key in keys if tables.has_system() else ():
        means = ceiling_means(tables, key)
        found |= {f"ceiling.{key}.{of}.difference": each["difference"] for of, each in means.items()}
    return found


def _of_sequence(whole: Tables, units: Sequence[Tally], confidence: float) -> dict[str, Interval]:
    score = numbers(whole)
    different: dict[frozenset[Any], Mapping[str, float | None]] = {}
    without = []
    for unit in units:
        key = frozenset(unit.items())
        if key not in different:
            rest = whole.tally.copy()
            rest.subtract(unit)
            different[key] = numbers(Tables(rest, whole.names, whole.contests))
        without.append(different[key])
    sizes = [sum(n for key, n in unit.items() if key[0] == "spans") for unit in units]
    return {
        path: _interval(path, value, [each.get(path) for each in without], sizes, confidence)
        for path, value in score.items()
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
