"""What the fast way takes, and what it leaves to documents (`Unusual`)."""

from __future__ import annotations

from collections.abc import Sequence

from clueval.core.bag import Bag
from clueval.core.case import HEAD, Key, case_of
from clueval.core.count import LARGE, Plan
from clueval.core.metric import require_countable, split_metrics
from clueval.files.errors import CluevalError
from clueval.transforms.changes import ALTERNATIVES, UNIT


class Unusual(Exception):
    """Something that the fast way leaves to documents, which say what is wrong if it is an error.

    It is raised for nothing else: any other exception is a mistake in the fast way.
    """


def require_usual(plan: Plan, layers: Sequence[str], *, are_tags: bool = False) -> None:
    """Raise `Unusual` for a plan that needs documents: metrics, steps, or filters that a metric does not take.

    Where spans `are_tags`, a metric of documents may have the method `count_tags`, which takes the tags of both sides
    between two positions outside all spans, and returns None if it needs documents.

    Alternatives change nothing, because tags and plain spans have none; nor do steps without a name, which compare
    texts and set spans without a place apart.
    """
    of_cases, of_documents = split_metrics(plan.metrics)
    needing = [metric for metric in of_documents if not (are_tags and hasattr(metric, "count_tags"))]
    if needing or not all(metric.keeps for metric in of_cases):
        raise Unusual("a metric needs documents")
    if plan.align is not None or not all(
        step.signature[0] in ("", ALTERNATIVES, UNIT) for step in plan.steps
    ):
        raise Unusual("documents are changed before they are counted")
    filters_spans = any(key in layers for key in plan.where)
    if filters_spans and any(metric.filters is not None for metric in plan.metrics):
        raise Unusual("a metric does not take filters on layers")


def is_in_characters(plan: Plan) -> bool:
    """Return whether positions become characters."""
    return any(step.signature[0] == UNIT for step in plan.steps)


def tells_documents_apart(plan: Plan, layers: Sequence[str]) -> bool:
    """Return whether documents must be told apart: for break-downs, units, and filters on other keys than layers."""
    return bool(plan.by or plan.units or any(key not in layers for key in plan.where))


def check_case(bag: Bag, sequence: str, key: Key, *, is_flat: bool) -> None:
    """Raise `Unusual` for a case, new in a bag, that a metric cannot count. `is_flat`: no spans of a side overlap.

    As in `clueval.core.count.count`, a large case is counted, and the bag keeps the counts.
    """
    large = len(key) - HEAD > LARGE
    if is_flat and not large:
        return
    metrics, _ = split_metrics(bag.metrics)
    if large or any(metric.flat for metric in metrics):
        try:
            case = case_of(key, sequence)
            for metric in metrics:
                require_countable(metric, case)
            if large:
                bag.keep_counts(sequence, key, [metric.count(case) for metric in metrics])
        except CluevalError as error:
            raise Unusual("a metric cannot count a case") from error
