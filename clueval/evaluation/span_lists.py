"""Counts lists of spans ``(start, end, label)``, without building documents of most of them.

In most lists, the spans are tuples of plain numbers and a text, come by position and do not overlap; these are counted
by clusters. All other lists are counted as documents (`Given.documents`), which also say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from operator import le, lt
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.span_clusters import SpanClusters
from clueval.reading.given import Given, pairs, span_documents
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group

BATCH = 500
"""The number of lists that are checked together."""


def count_spans(evaluation: Evaluation, given: Given) -> bool:
    """Count all lists, and return whether it was possible; if not, nothing was counted. Holds some thousand spans.

    Raises the errors of `Given.documents`.
    """
    plan = evaluation.plan
    if plan.needs_documents or plan.observers or plan.counts_by_document([DEFAULT_LAYER]) or given.golds:
        return False
    clusters = SpanClusters(DEFAULT_LAYER, has_text=False)
    done = 0
    both = pairs(given.gold, given.predicted, "documents")
    while batch := list(islice(both, BATCH)):
        gold, predicted = zip(*batch, strict=True)
        if are_plain(gold) and are_plain(predicted):
            for pair in batch:
                clusters.add(*pair)
        else:
            for number, pair in enumerate(batch, done):
                ordered = [in_order(spans) for spans in pair]
                if are_plain(ordered):
                    clusters.add(*ordered)
                else:
                    evaluation.count_group(Group(*span_documents(pair, number, given.ids)))
        done += len(batch)
        if clusters.is_full:
            clusters.count_into(evaluation)
    clusters.count_into(evaluation)
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
