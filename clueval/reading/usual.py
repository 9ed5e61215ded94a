"""What the fast way takes, and what it leaves to documents (`Unusual`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat

from clueval.core.bag import LARGE, Bag
from clueval.core.case import HEAD, Key
from clueval.core.count import Plan
from clueval.core.document import Row
from clueval.core.metric import split_metrics
from clueval.core.span import SIDES
from clueval.files.errors import CluevalError
from clueval.transforms.changes import ALTERNATIVES, UNIT, EachLabel


class Unusual(Exception):
    """Something that the fast way leaves to documents, which say what is wrong if it is an error.

    It is raised for nothing else: any other exception is a mistake in the fast way.
    """


def require_usual(plan: Plan, layers: Sequence[str], *, are_tags: bool = False) -> None:
    """Raise `Unusual` for a plan that needs documents: metrics, steps, or filters that a metric does not take.

    Where spans `are_tags`, a metric of documents may have the method `count_tags`, which takes the tags of both sides
    between two positions outside all spans, and returns None if it needs documents.

    Alternatives change nothing, because tags and plain spans have none; nor do steps without a name, which compare
    texts and set spans without a place apart. Steps that change single labels are done by `NewLabels`.
    """
    of_cases, of_documents = split_metrics(plan.metrics)
    needing = [metric for metric in of_documents if not (are_tags and hasattr(metric, "count_tags"))]
    if needing or not all(metric.keeps for metric in of_cases):
        raise Unusual("a metric needs documents")
    if plan.align is not None or not all(
        isinstance(step, EachLabel) or step.signature[0] in ("", ALTERNATIVES, UNIT) for step in plan.steps
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


class NewLabels:
    """The labels that the steps of a plan give to the labels of each side, and what they note of it."""

    def __init__(self, plan: Plan) -> None:
        self.steps = [step for step in plan.steps if isinstance(step, EachLabel)]
        if self.steps and plan.sides != SIDES:
            raise Unusual("labels of other sides than gold and predicted are changed")
        self._of_side: dict[str, dict[str, str]] = {
            side: {} for side in SIDES
        }  # an empty one: its spans are left out
        self._read: Counter[tuple[str, str]] = Counter()  # sides and labels of spans

    def rows(self, rows: Sequence[Row], side: str, times: Iterable[int] | None = None) -> Sequence[Row]:
        """Return the spans of a side with new labels; each of them stands for some spans, by default for one."""
        if not self.steps:
            return rows
        new = self._of_side[side]
        for (_, _, label), number in zip(rows, repeat(1) if times is None else times, strict=False):
            self._read[side, label] += number
            if label not in new:
                new[label] = self._new(label, side)
        return [(start, end, new[label]) for start, end, label in rows if new[label]]

    def _new(self, label: str, side: str) -> str:
        for step in self.steps:
            label = (step.renamed(label, side) or "") if label else ""
        return label

    def notes(self) -> Counter[tuple[str, ...]]:
        """Return what all steps note of the spans so far."""
        notes: Counter[tuple[str, ...]] = Counter()
        for (side, label), number in self._read.items():
            for step in self.steps:
                new = step.renamed(label, side) or ""
                for note in step.noted([label], side, dropped=not new, renamed=bool(new) and new != label):
                    notes[step.signature[0], *note] += number
                label = new
                if not label:
                    break
        return notes


def check_case(bag: Bag, sequence: str, key: Key, *, is_flat: bool) -> None:
    """Raise `Unusual` for a case, new in a bag, that a metric cannot count. `is_flat`: no spans of a side overlap.

    A large case is counted, and the bag keeps the counts.
    """
    if is_flat and len(key) - HEAD <= LARGE:
        return
    try:
        bag.check(sequence, key)
    except CluevalError as error:
        raise Unusual("a metric cannot count a case") from error
