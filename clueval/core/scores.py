"""The scores of predicted spans, which are features."""

from __future__ import annotations

import math

from clueval.core.document import Document
from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError


def number_of(value: object) -> float | None:
    """Return a number, also one that is written as a string, if it is finite, otherwise None.

    >>> number_of("0.5"), number_of(True), number_of("nan")
    (0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and "_" in value:  # only Python reads underscores in numbers
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def score_of(span: Span, feature: str, document: Document) -> float:
    """Return the score of a predicted span. Raises `UsageError` for a score that is missing or no finite number."""
    value = span.features.get(feature)
    number = number_of(value)
    if number is None:
        problem = "has no score" if value is None else "has no number as its score"
        raise UsageError(
            f"the predicted span {name_of(span)} {problem} {feature!r}",
            **document.in_errors,
            line=span.line,
            advice="every predicted span needs a finite number in this feature",
        )
    return number
