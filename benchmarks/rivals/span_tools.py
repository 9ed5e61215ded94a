"""nervaluate on spans in memory.

nervaluate 1.2.1 pairs spans as SemEval-2013 does and counts five categories under four schemes, in one call. Metric
``muc`` gives the same numbers (where spans overlap several others, nervaluate's depend on their order). ``levels``,
``partial`` and ``gate`` count the agreement of partly overlapping spans in other ways, so a ratio to nervaluate
compares the cost of different jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

Plain = tuple[int, int, str]
"""Start, end (half-open) and label."""


def as_nervaluate_takes_them(spans: Iterable[Plain]) -> list[dict[str, Any]]:
    """Return the spans of one document for nervaluate's loader ``dict``, with inclusive ends."""
    return [{"label": label, "start": start, "end": end - 1} for start, end, label in spans]


def by_nervaluate(
    gold: Sequence[Sequence[Mapping[str, Any]]],
    predicted: Sequence[Sequence[Mapping[str, Any]]],
    labels: Sequence[str],
) -> dict[str, dict[str, int]]:
    """Return nervaluate's categories over all labels by scheme, for documents as lists of dicts."""
    evaluator = import_module("nervaluate").Evaluator(gold, predicted, tags=list(labels), loader="dict")
    categories = ("correct", "incorrect", "partial", "missed", "spurious")
    return {
        scheme: {category: getattr(result, category) for category in categories}
        for scheme, result in evaluator.evaluate()["overall"].items()
    }
