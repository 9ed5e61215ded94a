"""The result of an evaluation, made of everything that it has counted."""

from __future__ import annotations

from copy import deepcopy

from clueval.evaluation.counted import Counted
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import passed_over
from clueval.evaluation.observer import AddingObserver, sections_of
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.evaluation.totals import GroupReports, Totals
from clueval.evaluation.units.unit import Units
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.spans.span import MERGED
from clueval.transforms.preparation import warn_without_effect


def result_of(evaluation: Evaluation, signature: Signature, gold_sha256: str | None = None) -> Result:
    """The result of everything counted. Raises `UsageError` for names in options that never occurred."""
    evaluation.seen_names.require_all((*evaluation.plan.by, *evaluation.pieces.metadata()), evaluation.layers)
    for frame, number in evaluation.frames.items():
        if evaluation.total.documents and not number:
            raise UsageError(
                f"no annotation is in {frame!r}, within which the metric counts",
                advice="check its spelling",
            )
    units = evaluation.pieces.units(evaluation.total, evaluation.groups, gold_sha256)
    counted = _counted(evaluation, evaluation.total, units)
    scores = counted.scores()
    for metric in evaluation.plan.metrics:
        metric.check(counted.tally_of(metric))
    warn_without_effect([evaluation.preparation])
    return Result(
        evaluation.total.documents,
        evaluation.total.tokens,
        evaluation.repaired_tags(),
        scores,
        signature,
        groups={key: GroupReports(values, counted) for key, values in evaluation.groups.items()} or None,
        unprojected=evaluation.unprojected
        if evaluation.unprojected or evaluation.plan.lists_unplaced
        else None,
        counted=counted,
        scored_by=evaluation.plan.metrics,
        prepared=evaluation.preparation.checked(),
        sections=sections_of(evaluation.plan.observers),
        observers=[deepcopy(each) for each in evaluation.plan.observers if isinstance(each, AddingObserver)],
        inputs=evaluation.read(),
        passed_over=passed_over(evaluation.inputs),
    )


def choices_of_counts(evaluation: Evaluation) -> dict[str, str]:
    """What metrics say of the sums of their counts, for the signature."""
    found = evaluation.preparation.choices()
    for metric in evaluation.plan.metrics:
        if (choices := metric.needs.choices) is not None:
            found |= choices(_counted(evaluation, evaluation.total).tally_of(metric))
    return found


def _counted(evaluation: Evaluation, totals: Totals, units: Units | None = None) -> Counted:
    """A copy of the tallies, with the layers of each sequence."""
    layers = list(evaluation.layers)
    sequences = {MERGED: layers} if evaluation.plan.merge else {layer: [layer] for layer in layers}
    tallies = {key: Tally(tally) for key, tally in totals.tallies.items()}
    return Counted(evaluation.plan.metrics, tallies, sequences, units)
