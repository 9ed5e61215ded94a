"""The transforms that place the answers of language models on gold's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clueval.evaluation.units.unit import SENTENCE
from clueval.files.errors import UsageError
from clueval.second.reading.options import MENTIONS

if TYPE_CHECKING:
    from clueval.evaluation.plan import Plan
    from clueval.transforms.group import Transform


def with_answers(plan: Plan, predicted: str, preparing: Any) -> Plan:
    """Return the plan with the transform for the format `predicted`. Raises `UsageError` for sentences as units."""
    if plan.resample_by == SENTENCE:
        raise UsageError(
            "answers are placed in whole documents, so sentences cannot be units",
            advice="resample by document",
        )
    return plan._replace(transforms=(_placing(plan, predicted, preparing), *plan.transforms))


def _placing(plan: Plan, predicted: str, preparing: Any) -> Transform:
    if predicted == MENTIONS:
        from clueval.transforms.locating import FREE, Locating

        if plan.align is not None:
            raise UsageError(
                "mentions are located, so their texts are not aligned", advice="remove Counting.align"
            )
        return Locating(preparing.occurrence or FREE, preparing.location_steps())
    from clueval.statistics.alignment import MAX_CELLS
    from clueval.transforms.locating import InlineAnswers

    preparing.require_no_answers()
    return InlineAnswers(MAX_CELLS if plan.align is None else plan.align)
