"""The transforms that place the answers of language models on the text of gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clueval.evaluation.units.unit import SENTENCE
from clueval.exceptions import UsageError
from clueval.reading.options import MENTIONS, Reading, without_answers

if TYPE_CHECKING:
    from clueval.evaluation.plan import Plan
    from clueval.spans.document import Document
    from clueval.transforms.group import Transform
    from clueval.transforms.preparing import Preparing


def with_answers(plan: Plan, predicted: str, preparing: Preparing) -> Plan:
    """Return the plan with the transform for the format `predicted`. Raises `UsageError` for sentences as units."""
    if plan.resample_by == SENTENCE:
        raise UsageError(
            "answers are placed in whole documents, so sentences cannot be units",
            advice="resample by document",
        )
    return plan._replace(transforms=(_placing(plan, predicted, preparing), *plan.transforms))


def answers_in_memory(
    gold: Any, predicted: Any, readings: Sequence[Reading]
) -> tuple[list[Document], list[Document], tuple[Reading, ...]]:
    """Return the documents of gold and of the answers, and the options that are left for them."""
    from clueval.reading.given_answers import documents_of_answers

    documents = documents_of_answers(gold, predicted, readings[1])
    return *documents, (without_answers(readings[0]), Reading(), *readings[2:])


def _placing(plan: Plan, predicted: str, preparing: Preparing) -> Transform:
    if predicted == MENTIONS:
        from clueval.transforms.locating import Locating

        if plan.align is not None:
            raise UsageError(
                "mentions are located, so their texts are not aligned", advice="remove Counting.align"
            )
        return Locating(preparing.occurrence or "in-order", preparing.location_steps())
    from clueval.transforms.alignment import MAX_CELLS
    from clueval.transforms.locating import InlineAnswers

    preparing.require_no_answers()
    return InlineAnswers(MAX_CELLS if plan.align is None else plan.align)
