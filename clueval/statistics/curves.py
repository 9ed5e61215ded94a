"""Precision-recall curves: the area below."""

from __future__ import annotations

import math
from collections.abc import Iterable


def average_precision(points: Iterable[tuple[float, float, float]]) -> float:
    """Return the area under the steps of a precision-recall curve: of thresholds with precision and recall.

    It is the sum, from the highest threshold down, of precision times the gain in recall over the highest recall
    before, ``sum over n of (R_n - R_(n-1)) P_n``; where recall never falls, scikit-learn's `average_precision_score`.

    >>> average_precision([(0.5, 0.5, 1.0), (0.9, 1.0, 0.5)])
    0.75
    """
    highest, steps = 0.0, []
    for _, precision, recall in sorted(points, reverse=True):
        if recall > highest:
            steps.append((recall - highest) * precision)
            highest = recall
    return math.fsum(steps)
