"""Counts lists of spans ``(start, end, label)``, without building documents of most of them.

In most lists, the spans are tuples of plain numbers and a text, come by position and do not overlap. Then a span that
both sides have overlaps no other span, and it is counted by its label; the others are left over for the metrics, those
of many lists together. All other lists are counted as documents (`Given.documents`), which also say what is wrong.
The counts are those of the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, compress, islice
from operator import le, lt, ne
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.left_over import TOGETHER, LeftOver, Located, count_left_over, label_of
from clueval.reading.given import Given, pairs, span_documents
from clueval.spans.compared import Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group

BATCH = 500
"""The number of lists that are checked together."""


def count_spans(evaluation: Evaluation, given: Given) -> bool:
    """Count all lists, and return whether it was possible; if not, nothing was counted. Holds some thousand spans.

    Raises the errors of `Given.documents`.
    """
    plan = evaluation.plan
    if plan.needs_documents or plan.observers or plan.merge or plan.wants_single_documents or given.golds:
        return False
    compared = ComparedSpans(evaluation)
    done = 0
    both = pairs(given.gold, given.predicted, "documents")
    while batch := list(islice(both, BATCH)):
        gold, predicted = zip(*batch, strict=True)
        if are_plain(gold) and are_plain(predicted):
            compared.add(gold, predicted)
        else:
            for number, pair in enumerate(batch, done):
                ordered = [in_order(spans) for spans in pair]
                if are_plain(ordered):
                    compared.add(ordered[:1], ordered[1:])
                else:
                    evaluation.count_group(Group(*span_documents(pair, number, given.ids)))
        done += len(batch)
    compared.count()
    return True


def are_plain(lists: Sequence[Any]) -> bool:
    """Return whether the spans of these lists are valid tuples ``(start, end, label)`` that need no document.

    They are not empty, come by position, and none overlaps another of its list.
    """
    if not set(map(type, lists)) <= {list, tuple}:
        return False
    spans = list(chain.from_iterable(lists))
    number = len(spans)
    if list(map(type, spans)).count(tuple) != number or list(map(len, spans)).count(3) != number:
        return False
    parts = list(chain.from_iterable(spans))
    if list(map(type, parts)) != [int, int, str] * number:
        return False
    starts, ends = parts[::3], parts[1::3]
    if min(starts, default=0) < 0 or not all(map(lt, starts, ends)):
        return False
    past = 0
    for length in map(len, lists):
        if length:
            past += length
            ends[past - 1] = 0  # the first span of the next list may be anywhere
    return all(map(le, ends, islice(starts, 1, None)))


def in_order(spans: Any) -> Any:
    """Return a list of spans by position if they can be ordered, else what was given."""
    if type(spans) is not list:
        return spans
    try:
        return sorted(spans)
    except TypeError:  # something else than tuples of numbers and a text
        return spans


class ComparedSpans:
    """Compared lists of both sides, the spans of which are not all counted yet."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._begin()

    def _begin(self) -> None:
        self._lists = self._length = 0
        self._labels: Counter[str] = Counter()
        self._left: LeftOver = [], []

    def add(self, gold: Sequence[Sequence[Located]], predicted: Sequence[Sequence[Located]]) -> None:
        """Add plain lists of spans."""
        self._lists += len(gold)
        self._labels.update(map(label_of, chain.from_iterable(gold)))
        differ = list(map(ne, gold, predicted))
        past = self._length
        for one, other in zip(compress(gold, differ), compress(predicted, differ), strict=True):
            own, others = set(one), set(other)
            for left, spans in zip(self._left, (own - others, others - own), strict=True):
                if spans:
                    left += [(start + past, end + past, label) for start, end, label in sorted(spans)]
            past += 1 + max(one[-1][1] if one else 0, other[-1][1] if other else 0)  # lists do not touch
        self._length = past
        if max(map(len, self._left)) > TOGETHER:
            self.count()

    def count(self) -> None:
        """Count the lists, and begin again."""
        agreed = self._labels.copy()
        agreed.subtract(map(label_of, self._left[0]))
        texts = Compared(self._lists, 0, has_text=False)
        if agreed or any(self._left):
            # no tags in place of none, so that positions without a text are not counted
            count_left_over(
                self._evaluation, DEFAULT_LAYER, texts, +agreed, self._left, equal=0, tags=([], [])
            )
        elif self._lists:
            self._evaluation.count_compared(texts)
        self._begin()
