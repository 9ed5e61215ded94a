"""Rates and averages from counts, with seqeval's warnings, in plain floats.

A rate is undefined where its denominator is 0; it then is `zero_division` ("warn" is 0.0 with a warning). The
F-score of precision p and recall r is ``(1 + beta²) p r / (beta² p + r)``, and 0 if both are 0. *micro* adds the
counts first, *macro* is the mean over types, *weighted* the mean weighted by true spans.

Sums are made in numpy's order, so scores equal seqeval's to the last bit. Over no types
at all seqeval's macro average is nan; here it is undefined like any other 0/0.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Sequence
from functools import cache

from clueval.compat.seqeval.counting import TypeCounts
from clueval.files.errors import UsageError

AVERAGES = (None, "micro", "macro", "weighted")
ZERO_DIVISION = ("warn", 0, 1)

ZeroDivision = str | float
PerType = tuple[list[float], list[float], list[float], list[int]]
Averaged = tuple[float, float, float, int]


class UndefinedMetricWarning(UserWarning, RuntimeWarning):
    """A rate is undefined (0/0) and set to 0.0; replaces scikit-learn's warning of this name.

    If scikit-learn is loaded, the warning is an instance of its class, too, so that filters for that class apply.
    """


def undefined_metric_warning() -> type[UndefinedMetricWarning]:
    """Return the class to warn with."""
    loaded = sys.modules.get("sklearn.exceptions")
    other = getattr(loaded, "UndefinedMetricWarning", None)
    return UndefinedMetricWarning if other is None else _with(other)


@cache
def _with(other: type[Warning]) -> type[UndefinedMetricWarning]:
    return type(UndefinedMetricWarning.__name__, (UndefinedMetricWarning, other), {"__module__": __name__})


def check_arguments(average: str | None, beta: float, zero_division: ZeroDivision) -> None:
    """Raise `UsageError` (a ValueError) for an invalid argument."""
    if beta < 0:
        raise UsageError(f"beta should be >=0 in the F-beta score, not {beta!r}")
    if average not in AVERAGES:
        raise UsageError(f"average has to be one of {AVERAGES}, not {average!r}")
    if zero_division not in ZERO_DIVISION:
        raise UsageError(f"zero_division has to be one of {ZERO_DIVISION}, not {zero_division!r}")


def averaged(
    counts: TypeCounts,
    average: str | None,
    *,
    warn_for: Collection[str],
    beta: float,
    zero_division: ZeroDivision,
) -> PerType | Averaged:
    """Return precision, recall, F-score and support: lists over the types in order, or averages."""
    check_arguments(average, beta, zero_division)
    predicted, right, true = counts.predicted, counts.right, counts.true
    if average == "micro" or (average == "macro" and not true):
        predicted, right, true = [sum(predicted)], [sum(right)], [sum(true)]
    undefined = 1.0 if zero_division == 1 else 0.0
    if zero_division == "warn":
        _warn(predicted, true, warn_for)
    precision = [part / whole if whole else undefined for part, whole in zip(right, predicted, strict=True)]
    recall = [part / whole if whole else undefined for part, whole in zip(right, true, strict=True)]
    f = [f_score(p, r, beta) for p, r in zip(precision, recall, strict=True)]
    if average is None:
        return precision, recall, f, true
    support = sum(true)
    if average == "weighted" and not support:
        without_any = 0.0 if sum(predicted) else undefined
        return without_any, undefined, without_any, support
    weights = [float(n) for n in true] if average == "weighted" else None
    return _mean(precision, weights), _mean(recall, weights), _mean(f, weights), support


def f_score(precision: float, recall: float, beta: float) -> float:
    """Return the F-score; the order of the operations is seqeval's."""
    if math.isinf(beta):
        return recall
    square = beta**2
    return (1 + square) * precision * recall / (square * precision + recall or 1.0)


def _warn(predicted: Sequence[int], true: Sequence[int], warn_for: Collection[str]) -> None:
    for rate, wholes, modifier in (("precision", predicted, "predicted"), ("recall", true, "true")):
        if rate in warn_for and 0 in wholes:
            start = f"{rate.title()} and F-score are" if "f-score" in warn_for else f"{rate.title()} is"
            _warn_of(start, modifier, len(wholes))
    if tuple(warn_for) == ("f-score",) and (0, 0) in zip(predicted, true, strict=True):
        _warn_of("F-score is", "true nor predicted", len(true))


def _warn_of(start: str, modifier: str, n: int) -> None:
    where = "due to" if n == 1 else "in labels with"
    warnings.warn(
        f"{start} ill-defined and being set to 0.0 {where} no {modifier} samples. "
        "Use `zero_division` parameter to control this behavior.",
        undefined_metric_warning(),
        stacklevel=5,
    )


def _mean(values: Sequence[float], weights: Sequence[float] | None) -> float:
    if weights is None:
        return pairwise_sum(values) / len(values)
    products = [value * weight for value, weight in zip(values, weights, strict=True)]
    return pairwise_sum(products) / pairwise_sum(weights)


def pairwise_sum(values: Sequence[float]) -> float:
    """Return the sum in numpy's order: up to 128 values in eight rows that are added in pairs, more by
    halves.

    >>> pairwise_sum([0.1] * 3) == 0.1 + 0.1 + 0.1, pairwise_sum([0.1] * 10) == 8 * 0.1 + 0.1 + 0.1
    (True, True)
    """
    n = len(values)
    if n > 128:
        half = n // 2 - n // 2 % 8
        return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
    whole = n - n % 8
    rows = [_sum_in_order(values[row:whole:8]) for row in range(8)] if whole else []
    while len(rows) > 1:
        rows = [a + b for a, b in zip(rows[0::2], rows[1::2], strict=True)]
    return _sum_in_order([*rows, *values[whole:]])


def _sum_in_order(values: Sequence[float]) -> float:
    total = 0.0  # not the built-in sum, which compensates for rounding from Python 3.12 on
    for value in values:
        total += value
    return total
