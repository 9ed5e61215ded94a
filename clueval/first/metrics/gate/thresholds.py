"""Score thresholds: the counts at every threshold in one sweep, and the precision-recall curve.

At threshold t the responses with a score of t or more are evaluated, with all targets. The responses of a component
enter by falling score, and the component is counted anew at every score. The change that a score makes is kept as a
difference, so that documents can be added: the counts at t are the sum of the differences of all scores from t up,
over all documents.

*Average precision* is the sum, from the highest threshold down, of precision times the gain in recall:
``AP = sum over n of (R_n - R_(n-1)) P_n``, as scikit-learn's `average_precision_score` defines it. Here
recall can fall while responses enter (a strict match can be lost), so the gain is measured from the highest
recall so far, and is 0 if recall is lower; if recall never falls the two definitions agree.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import add, sub
from typing import NamedTuple

from clueval.files.errors import UsageError
from clueval.first.metrics.gate.counts import NAMES, GateCounts
from clueval.first.metrics.gate.equality import java_string
from clueval.first.metrics.gate.pairing import Component, PairingProblem, components, count, count_component

GRIDS: Mapping[str, tuple[float, ...]] = {
    str(steps + 1): tuple(number / steps for number in range(steps + 1)) for steps in (10, 20, 50)
}
"""Thresholds from 0 to 1 in equal steps, by their number."""

ALL, ROUNDED = "all", "rounded"
"""Every score that occurs; every score rounded to two decimals."""

Thresholds = str | tuple[float, ...]


def thresholds_with(score_feature: str | None, given: Thresholds | None) -> Thresholds | None:
    """Return the thresholds of a metric: none without scores, by default all. Raises `UsageError`."""
    if score_feature is not None:
        return ALL if given is None else parse_thresholds(given)
    if given is not None:
        raise UsageError(
            "Gate.thresholds need scores",
            advice="name the feature that has the scores with Gate.score_feature",
        )
    return None


def parse_thresholds(given: str | Iterable[float]) -> Thresholds:
    """Parse ``"all"``, ``"rounded"``, the name of a grid, or thresholds: ``"0.2,0.5"`` or numbers.

    Raises `UsageError` for anything else.

    >>> parse_thresholds("11"), parse_thresholds("0.2,-inf"), parse_thresholds([1, 0.5])
    ('11', (-inf, 0.2), (0.5, 1.0))
    """
    if isinstance(given, str):
        if given in (ALL, ROUNDED, *GRIDS):
            return given
        parts: Iterable[float | str] = given.split(",")
    else:
        parts = given
    numbers = set()
    for part in parts:
        try:
            number = float(part)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            raise UsageError(
                f"the threshold {part!r} is not a number",
                advice=f"numbers such as 0.2,0.5, or one of {', '.join((ALL, ROUNDED, *GRIDS))}",
            )
        numbers.add(number + 0.0)  # -0.0 is 0.0
    if not numbers:
        raise UsageError("no threshold is named", advice=f"one of {', '.join((ALL, ROUNDED, *GRIDS))}")
    return tuple(sorted(numbers))


def threshold_name(threshold: float) -> str:
    """Return the name of a threshold in reports: ``0.5``, ``Infinity``, ``-Infinity``.

    >>> threshold_name(0.5), threshold_name(float("inf"))
    ('0.5', 'Infinity')
    """
    return java_string(threshold) if threshold in (float("inf"), -float("inf")) else repr(threshold)


def rounded(score: float) -> float:
    """Return a score rounded to two decimals, half up.

    >>> rounded(0.126), rounded(0.125), rounded(-0.125)
    (0.13, 0.13, -0.12)
    """
    hundredfold = score * 100 + 0.5
    return math.floor(hundredfold) / 100 if math.isfinite(hundredfold) else score


def grid_of(thresholds: Thresholds) -> tuple[float, ...] | None:
    """Return the thresholds in rising order, or None if the scores themselves are the thresholds."""
    return GRIDS.get(thresholds) if isinstance(thresholds, str) else thresholds


def differences(
    problem: PairingProblem, scores: Sequence[float], thresholds: Thresholds = ALL
) -> dict[float, list[int]]:
    """Return the changes that every score makes in the counts, in the order of `NAMES`; targets are not
    counted.

    With a grid, a score is replaced by the highest threshold that it reaches, and responses below all
    thresholds are not counted. With rounded scores, scores between the same two thresholds are replaced by
    the least.

    Raises `UsageError` if very many annotations overlap and have very many scores; see `MOST_WORK`.
    """
    grid = grid_of(thresholds)
    names: Mapping[float | None, float] = {}
    steps: Sequence[float | None]
    found: dict[float, list[int]] = {}
    if thresholds == ROUNDED:
        steps = [_hundredth(score) for score in scores]
        names = dict(sorted(zip(steps, scores, strict=True), reverse=True))
        found = {score: [0] * len(NAMES) for score in scores}
    else:
        steps = scores if grid is None else [_step(score, grid) for score in scores]
    for component in components(problem):
        if component.responses:
            for step, change in _changes(problem, component, steps):
                score = names.get(step, step)
                found[score] = list(map(add, found[score], change)) if score in found else change
    return found


MOST_WORK = 10_000_000
"""The greatest product of the scores of a component and of its annotations and possible pairings."""


def _changes(
    problem: PairingProblem, component: Component, scores: Sequence[float | None]
) -> Iterator[tuple[float, list[int]]]:
    """Yield each score of a component, falling, and its change in the counts; targets are not counted.

    Responses whose score is None are ignored.
    """
    targets = component.targets
    scored = [(score, number) for number in component.responses if (score := scores[number]) is not None]
    steps = sorted({score for score, _ in scored}, reverse=True)
    _require_little_work(problem, component, len(steps))
    before = [len(targets)] + [0] * (len(NAMES) - 1)
    for step in steps:
        entered = [number for score, number in scored if score >= step]
        known = set(entered)
        pairs = [pair for pair in component.pairs if pair.response in known]
        counts = count_component(problem, Component(targets, entered, pairs))
        yield step, list(map(sub, counts, before))
        before = counts


def _require_little_work(problem: PairingProblem, component: Component, scores: int) -> None:
    annotations = len(component.targets) + len(component.responses)
    if scores * (annotations + len(component.pairs)) > MOST_WORK:
        firsts = (problem.targets[component.targets[0]], problem.responses[component.responses[0]])
        raise UsageError(
            f"{annotations:,} annotations, from position {min(span.start for span in firsts)} on, overlap one another, "
            f"directly or through others, and have {scores:,} scores: counting them at every score takes too long",
            advice="set Gate.thresholds, for example to 11 or rounded",
        )


def _step(score: float, grid: Sequence[float]) -> float | None:
    """Return the highest threshold of the grid that a score reaches, or None."""
    place = bisect_right(grid, score)
    return grid[place - 1] if place else None


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


_LARGE = 1e12
"""Above this, hundredths are hardly more than the precision of a float."""


def counts_and_changes(
    problem: PairingProblem, scores: Sequence[float], thresholds: Thresholds | None
) -> tuple[Sequence[int], Mapping[float, Sequence[int]]]:
    """Return the counts, and the changes that every score makes: none without thresholds."""
    if thresholds is None:
        return count(problem), {}
    steps = differences(problem, scores, thresholds)
    if not steps or grid_of(thresholds) is not None:
        return count(problem), steps
    # Every response enters at some score, so the changes add up to the counts.
    return [len(problem.targets), *list(map(sum, zip(*steps.values(), strict=True)))[1:]], steps


# Results


class CurvePoint(NamedTuple):
    """A threshold and the counts of the responses that reach it."""

    threshold: float
    counts: GateCounts


def curve(
    found: Mapping[float, Sequence[int]], targets: int, thresholds: Thresholds = ALL
) -> list[CurvePoint]:
    """Return the counts at every threshold, rising; the last threshold is infinity, which no response
    reaches.

    `found` holds the differences by score, summed over all documents, `targets` the number of targets.
    """
    grid = grid_of(thresholds)
    if grid is not None:
        wanted = set(grid)
    elif thresholds == ROUNDED:
        wanted = {rounded(score) for score in found}
    else:
        wanted = set(found)
    wanted.add(math.inf)
    scores = sorted(found, reverse=True)
    total = [targets] + [0] * (len(NAMES) - 1)
    points = []
    entered = 0
    for threshold in sorted(wanted, reverse=True):
        while entered < len(scores) and scores[entered] >= threshold:
            total = list(map(add, total, found[scores[entered]]))
            entered += 1
        points.append(CurvePoint(threshold, GateCounts(*total)))
    points.reverse()
    return points


def average_precision(points: Iterable[CurvePoint], *, lenient: bool = False) -> float:
    """Return the area under the steps of the precision-recall curve; see the module's docstring.

    Without targets it is 0. It is exact for all scores; for a grid it is the area under the grid's steps.
    """
    highest = 0.0
    steps = []
    for _, counts in sorted(points, key=lambda point: -point.threshold):
        if counts.targets:
            recall = counts.recall_lenient if lenient else counts.recall_strict
            if recall > highest:
                precision = counts.precision_lenient if lenient else counts.precision_strict
                steps.append((recall - highest) * precision)
                highest = recall
    return math.fsum(steps)
