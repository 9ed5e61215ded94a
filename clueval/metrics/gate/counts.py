"""The counts of GATE's tagging evaluation, the measures computed from them, and the counts at each threshold.

Fourteen numbers are counted and add over documents; everything else is computed from them. *Strict* requires
the same start and end, *lenient* is strict or partial (overlapping). Words: a *missing* target has no correct
response, a *truly missing* one not even an incorrect one; *spurious* and *truly spurious* mean the same for
responses.

**0/0** of precision and recall is 1 if the other side is empty too, otherwise 0: to find nothing is right if
there is nothing to find. Accuracies, error rates and F are 0 then. Recall in responses is 1 without
responses.

Counts at threshold t are the sum of the changes that all scores from t up make. Recall can fall while responses enter:
a strict match can be lost. So *average precision* measures the gain in recall from the highest recall so far
(`clueval.statistics.distributions.average_precision`).

Source: GATE's plugin Evaluation and the notes of its authors, whose identities are asserted in
`tests/metrics/test_gate.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import add
from sys import intern
from typing import NamedTuple

from clueval.core.metric import Counts, Tally, f_measure
from clueval.statistics.distributions import average_precision


class GateCounts(NamedTuple):
    """The counts of an evaluation; two of them add count by count.

    `correct_strict`, `correct_partial`, `incorrect_strict` and `incorrect_partial` count pairs; of the correct
    ones, `single_correct_*` counts those whose target is touched by no truly spurious response.
    `targets_with_*_responses` counts targets for which there is a response at the same place (strict) or one
    that overlaps (lenient), whether or not it was paired with them, `targets_with_several_*` those with more
    than one. A target is accurate if it has exactly one such response, and that one is equal.

    >>> GateCounts(targets=2, responses=1, correct_strict=1).recall_strict
    0.5
    """

    targets: int = 0
    responses: int = 0
    correct_strict: int = 0
    correct_partial: int = 0
    incorrect_strict: int = 0
    incorrect_partial: int = 0
    single_correct_strict: int = 0
    single_correct_partial: int = 0
    targets_with_strict_responses: int = 0
    targets_with_lenient_responses: int = 0
    targets_with_several_strict_responses: int = 0
    targets_with_several_lenient_responses: int = 0
    accurate_targets_strict: int = 0
    accurate_targets_lenient: int = 0

    def __add__(self, other: GateCounts) -> GateCounts:  # type: ignore[override]  # counts add, not tuples
        return GateCounts(*map(add, self, other))

    @property
    def correct_lenient(self) -> int:
        return self.correct_strict + self.correct_partial

    @property
    def precision_strict(self) -> float:
        return _share(self.correct_strict, self.responses, self.targets)

    @property
    def precision_lenient(self) -> float:
        return _share(self.correct_lenient, self.responses, self.targets)

    @property
    def recall_strict(self) -> float:
        return _share(self.correct_strict, self.targets, self.responses)

    @property
    def recall_lenient(self) -> float:
        return _share(self.correct_lenient, self.targets, self.responses)

    def report(self, beta: float = 1.0) -> dict[str, float]:
        """Return all counts and measures by name; the name of F has `beta` in it, as in ``f1_strict``."""
        return {**self.counts(), **self.measures(beta)}

    def counts(self) -> dict[str, int]:
        """Return all counts by name, those that are computed included."""
        targets, responses, strict, partial, mismatch, wrong, single_strict, single_partial = self[:8]
        with_strict, with_lenient, several_strict, several_lenient, accurate, accurate_lenient = self[8:]
        lenient, incorrect = strict + partial, mismatch + wrong
        return {
            "targets": targets,
            "responses": responses,
            "correct_strict": strict,
            "correct_partial": partial,
            "correct_lenient": lenient,
            "single_correct_strict": single_strict,
            "single_correct_partial": single_partial,
            "single_correct_lenient": single_strict + single_partial,
            "incorrect_strict": mismatch,
            "incorrect_partial": wrong,
            "incorrect_lenient": incorrect,
            "missing_strict": targets - strict,
            "missing_lenient": targets - lenient,
            "true_missing_strict": targets - strict - mismatch,
            "true_missing_lenient": targets - lenient - incorrect,
            "spurious_strict": responses - strict,
            "spurious_lenient": responses - lenient,
            "true_spurious_strict": responses - strict - mismatch,
            "true_spurious_lenient": responses - lenient - incorrect,
            "targets_with_strict_responses": with_strict,
            "targets_with_lenient_responses": with_lenient,
            "targets_with_no_strict_responses": targets - with_strict,
            "targets_with_no_lenient_responses": targets - with_lenient,
            "targets_with_several_strict_responses": several_strict,
            "targets_with_several_lenient_responses": several_lenient,
            "true_missing_in_responses_strict": with_strict - strict,
            "true_missing_in_responses_lenient": with_lenient - lenient,
            "accurate_targets_strict": accurate,
            "accurate_targets_lenient": accurate_lenient,
        }

    def measures(self, beta: float) -> dict[str, float]:
        """Return all measures by name."""
        precision_strict, precision_lenient = self.precision_strict, self.precision_lenient
        recall_strict, recall_lenient = self.recall_strict, self.recall_lenient
        f_strict = f_measure(precision_strict, recall_strict, beta)
        f_lenient = f_measure(precision_lenient, recall_lenient, beta)
        f = "f1" if beta == 1 else f"f{beta:g}"
        return {
            "precision_strict": precision_strict,
            "precision_lenient": precision_lenient,
            "recall_strict": recall_strict,
            "recall_lenient": recall_lenient,
            f"{f}_strict": f_strict,
            f"{f}_lenient": f_lenient,
            f"{f}_average": (f_strict + f_lenient) / 2,
            **{
                name: part / whole if whole else float(name.startswith("recall") and not responses)
                for name, (whole, responses, part) in self.shares().items()
            },
        }

    def average_f(self, beta: float) -> Counts:
        """Return the mean of the strict and the lenient F as a recall: both F have the same denominator."""
        weight = beta * beta
        weighted = weight * self.targets + self.responses
        return Counts(weighted, weighted, (1 + weight) * (self.correct_strict + self.correct_lenient) / 2)

    def shares(self) -> dict[str, tuple[int, int, int]]:
        """Return `gold`, `predicted` and `tp_gold` of those measures that are the recall of some `Counts`, by name.

        0/0 is 0, but 1 for the recall in responses if nothing is predicted.
        """
        targets, responses, strict, partial, mismatch, wrong, single_strict, single_partial = self[:8]
        return {
            "single_correct_accuracy_strict": (targets, targets, single_strict),
            "single_correct_accuracy_lenient": (targets, targets, single_strict + single_partial),
            "target_accuracy_strict": (targets, targets, self.accurate_targets_strict),
            "target_accuracy_lenient": (targets, targets, self.accurate_targets_lenient),
            "recall_in_responses_strict": (self.targets_with_strict_responses, responses, strict),
            "recall_in_responses_lenient": (self.targets_with_lenient_responses, responses, strict + partial),
            "error_rate_strict": (responses, responses, mismatch),
            "error_rate_lenient": (responses, responses, mismatch + wrong),
        }


NAMES = GateCounts._fields
"""The names of the counts."""


def _share(part: int, whole: int, size_of_other: int) -> float:
    if whole:
        return part / whole
    return 0.0 if size_of_other else 1.0


def macro_report(members: Iterable[GateCounts], beta: float = 1.0) -> dict[str, float]:
    """Return the unweighted means of the members' measures, with the sums of their counts.

    F is the mean of the members' F, not F of the means. A member without annotations is included, with the
    values of 0/0. Without any member every mean is 1. (The plugin has a macro F for beta = 1 only.)

    >>> macro_report([GateCounts(), GateCounts(targets=1, responses=1)])["precision_strict"]
    0.5
    """
    listed = list(members)
    total = sum(listed, GateCounts())
    measures = [member.measures(beta) for member in listed]
    means = {
        name: math.fsum(measure[name] for measure in measures) / len(measures) if measures else 1.0
        for name in total.measures(beta)
    }
    return {**total.counts(), **means}


# Tallies. The keys are ("all", name), ("type", type, name) and ("by", feature, value, name) for counts, with the names
# in `NAMES`; ("all", "score", score, changes) and ("type", type, "score", score, changes) for the number of cases in
# which a score changes the counts by these numbers, joined by blanks (see `clueval.metrics.gate.pairing`);
# the same with "threshold" and a threshold for the number of cases whose scores are rounded to it.

Path = tuple[str, ...]
"""How the keys of an evaluation begin."""

ALL: Path = ("all",)


def add_counts(tally: Tally, path: Path, counts: Sequence[int]) -> None:
    for name, number in zip(NAMES, counts, strict=True):
        if number:
            key = (*path, name)
            tally[key] = tally.get(key, 0) + number  # "+=" calls a method of Counter for each new key


def counts_at(total: Tally, path: Path) -> GateCounts:
    return GateCounts(*[total[(*path, name)] for name in NAMES])


def add_changes(tally: Tally, paths: Iterable[Path], changes: Mapping[float, Sequence[int]]) -> None:
    for score, change in changes.items():
        step = "score", repr(score), intern(" ".join(map(str, change)))  # most changes are equal
        for path in paths:
            tally[(*path, *step)] += 1


def changes_at(total: Tally, path: Path) -> dict[float, Sequence[int]]:
    """Return the changes that every score makes in the counts of all cases."""
    begin = (*path, "score")
    changes: dict[float, Sequence[int]] = {}
    for key, number in total.items():
        if key[:-2] == begin:
            score, change = float(key[-2]), [number * int(count) for count in key[-1].split()]
            changes[score] = list(map(add, changes[score], change)) if score in changes else change
    return changes


# The counts at each threshold


class CurvePoint(NamedTuple):
    """A threshold and the counts of the responses that reach it."""

    threshold: float
    counts: GateCounts


def curve(changes: Mapping[float, Sequence[int]], targets: int, wanted: Iterable[float]) -> list[CurvePoint]:
    """Return the counts at every threshold, rising, and at infinity, which no response reaches.

    `changes` are those that each score makes, summed over all cases, `targets` is the number of targets.
    """
    scores = sorted(changes, reverse=True)
    total = [targets] + [0] * (len(NAMES) - 1)
    points = []
    entered = 0
    for threshold in sorted({*wanted, math.inf}, reverse=True):
        while entered < len(scores) and scores[entered] >= threshold:
            total = list(map(add, total, changes[scores[entered]]))
            entered += 1
        points.append(CurvePoint(threshold, GateCounts(*total)))
    return points[::-1]


def average_precisions(points: Iterable[CurvePoint]) -> dict[str, float]:
    """Return the strict and the lenient average precision, 0 without targets; for a grid, of the grid's steps."""
    counted = [(at, counts) for at, counts in points if counts.targets]
    strict = ((at, point.precision_strict, point.recall_strict) for at, point in counted)
    lenient = ((at, point.precision_lenient, point.recall_lenient) for at, point in counted)
    return {"strict": average_precision(strict), "lenient": average_precision(lenient)}
