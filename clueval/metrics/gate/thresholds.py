"""Score thresholds: at threshold t the responses with a score of t or more are evaluated, with all targets.

A case is counted at each score of its responses, and what changes from the next higher score is kept, so that cases
can be added; `clueval.metrics.gate.counts` has the sums.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import sub

from clueval.core.metric import finite_number
from clueval.core.span import Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.metrics.gate.counts import NAMES
from clueval.metrics.gate.equality import java_string
from clueval.metrics.gate.pairing import Evaluation

GRIDS: Mapping[str, tuple[float, ...]] = {
    str(steps + 1): tuple(number / steps for number in range(steps + 1)) for steps in (10, 20, 50)
}
"""Thresholds from 0 to 1 in equal steps, by their number."""

EVERY, ROUNDED = "all", "rounded"
"""Every score that occurs; every score rounded to two decimals."""

Thresholds = str | tuple[float, ...]

MOST_WORK = 10_000_000
"""The greatest product of the scores of a case and of its annotations and possible pairings."""

_LARGE = 1e12
"""Above this, hundredths are hardly more than the precision of a float."""


def parse_thresholds(given: str | Iterable[float]) -> Thresholds:
    """Parse ``"all"``, ``"rounded"``, the name of a grid, or thresholds: ``"0.2,0.5"`` or numbers.

    Raises `UsageError` for anything else.

    >>> parse_thresholds("11"), parse_thresholds("0.2,-inf"), parse_thresholds([1, 0.5])
    ('11', (-inf, 0.2), (0.5, 1.0))
    """
    names = EVERY, ROUNDED, *GRIDS
    if isinstance(given, str) and given in names:
        return given
    numbers = set()
    for part in given.split(",") if isinstance(given, str) else given:
        try:
            number = float(part)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise UsageError(
                f"the threshold {part!r} is not a number",
                advice=f"numbers such as 0.2,0.5, or one of {', '.join(names)}",
            )
        numbers.add(number + 0.0)  # -0.0 is 0.0
    if not numbers:
        raise UsageError("no threshold is named", advice=f"one of {', '.join(names)}")
    return tuple(sorted(numbers))


def grid_of(thresholds: Thresholds) -> tuple[float, ...] | None:
    """Return the thresholds in rising order, or None if they follow from the scores."""
    return GRIDS.get(thresholds) if isinstance(thresholds, str) else thresholds


def threshold_name(threshold: float) -> str:
    """Return the name of a threshold in reports: ``0.5``, ``Infinity``, ``-Infinity``.

    >>> threshold_name(0.5), threshold_name(float("inf"))
    ('0.5', 'Infinity')
    """
    return java_string(threshold) if math.isinf(threshold) else repr(threshold)


def score_of(span: Span, feature: str, *, as_text: bool = True, whose: str = "predicted annotation") -> float:
    """Return the score of an annotation: a number or, with `as_text`, a string that can be read as one.

    Raises `FormatError` for an annotation without a score and for a score that is not a finite number; `whose` is the
    kind of annotations that need one.
    """
    value = span.features.get(feature)
    score = None if isinstance(value, str) and not as_text else finite_number(value)
    if score is not None:
        return score
    problem = f"has the score {value!r:.40}, which is not a number"
    if value is None:
        problem = f"has no score {feature!r}"
    raise FormatError(
        f"annotation {annotation_name(span)} {problem}",
        line=span.line,
        advice=f"every {whose} needs a finite number as Gate.score_feature",
    )


def annotation_name(span: Span) -> str:
    """Return the name of an annotation in errors: its id, if it has one, position and label."""
    return name_of(span) if span.id is None else f"{span.id} {name_of(span)}"


def rounded(score: float) -> float:
    """Return a score rounded to two decimals, half up.

    >>> rounded(0.126), rounded(0.125), rounded(-0.125)
    (0.13, 0.13, -0.12)
    """
    hundredfold = score * 100 + 0.5
    return math.floor(hundredfold) / 100 if math.isfinite(hundredfold) else score


def _hundredth(score: float) -> float:
    """Return the highest hundredth that a score reaches; rounded thresholds do not separate equal results."""
    if abs(score) > _LARGE:
        return score
    number = math.floor(score * 100)
    while number / 100 > score:
        number -= 1
    while (number + 1) / 100 <= score:
        number += 1
    return number / 100


def step_of(thresholds: Thresholds) -> Callable[[float], float]:
    """Return the function that gives the score at which a response counts: the highest threshold that it reaches.

    It is -infinity for a score below all thresholds.
    """
    if thresholds == ROUNDED:
        return _hundredth
    grid = grid_of(thresholds)
    if grid is None:
        return float
    return lambda score: grid[place - 1] if (place := bisect_right(grid, score)) else -math.inf


def changes_of(
    whole: Evaluation, counts: Sequence[int], scores: Mapping[int, float], thresholds: Thresholds
) -> dict[float, list[int]]:
    """Return the changes that every score makes in the counts, in the order of `NAMES`; targets are not counted.

    `counts` are those of all responses, `scores` those of the responses, by number. Raises `UsageError` if very many
    annotations overlap and have very many scores; see `MOST_WORK`.
    """
    step = step_of(thresholds)
    steps = {number: step(scores[number]) for number in whole.responses}
    wanted = sorted({*steps.values()}, reverse=True)
    annotations = len(whole.targets) + len(whole.responses)
    if len(wanted) * (annotations + len(whole.pairs)) > MOST_WORK:
        first = min(span.start for spans in whole.case.sides for span in (spans or ())[:1])
        raise UsageError(
            f"{annotations:,} annotations, from position {first} on, overlap one another, directly or through others, "
            f"and have {len(wanted):,} scores: counting them at every score takes too long",
            advice="set Gate.thresholds, for example to 11 or rounded",
        )
    changes: dict[float, list[int]] = {}
    before = [len(whole.targets)] + [0] * (len(NAMES) - 1)
    for score in wanted:
        after = counts
        if score != wanted[-1]:
            entered = [number for number in whole.responses if steps[number] >= score]
            after = whole.among(whole.targets, entered).counts()
        changes[score] = list(map(sub, after, before))
        before = list(after)
    return changes
