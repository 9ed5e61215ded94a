"""Counts parallel spans, in lists and in rows of two files, by clusters (`clueval.evaluation.span_clusters`).

In most lists ``(start, end, label)``, the spans are tuples of plain numbers and a text, come by position and do not
overlap. The spans of flat rows (`clueval.formats.flat_rows`) overlap none of their side. All other lists and rows are
counted as documents, which also say what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, zip_longest
from operator import le, lt
from typing import Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.span_clusters import SpanClusters
from clueval.formats.flat_rows import FlatRow
from clueval.reading.given import Given
from clueval.reading.given_sides import pairs, span_documents
from clueval.reading.pairing import ends_early, with_same_id
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.spans.document import same_id
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group

BATCH = 500
"""The number of lists that are checked together."""


# Lists in memory


def count_spans(evaluation: Evaluation, given: Given) -> bool:
    """Count all lists, and return whether it was possible; if not, nothing was counted. Holds some thousand spans.

    Raises the errors of `Given.documents`.
    """
    plan = evaluation.plan
    if given.golds or not plan.counts_clusters([DEFAULT_LAYER]):
        return False
    single = plan.counts_by_document([DEFAULT_LAYER])
    clusters = SpanClusters(DEFAULT_LAYER, has_text=False)
    done = 0
    both = pairs(given.gold, given.predicted, "documents")
    while batch := list(islice(both, BATCH)):
        gold, predicted = zip(*batch, strict=True)
        plain = are_plain(gold) and are_plain(predicted)
        for number, pair in enumerate(batch, done):
            ordered = pair if plain else [in_order(spans) for spans in pair]
            if not (plain or are_plain(ordered)):
                evaluation.count_group(Group(*span_documents(pair, number, given.ids)))
                continue
            clusters.add(*ordered)
            if single:
                clusters.count_into(evaluation, str(number) if given.ids is None else given.ids[number])
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


# Rows of files


def count_rows(evaluation: Evaluation, gold: Source, predicted: Source) -> bool:
    """Count two files of rows, and return whether it was possible; if not, nothing was counted.

    Some rows are counted only when `count_unfinished` is called.
    """
    layer, *others = {name for each in (gold, predicted) for name in each.options.layers or (DEFAULT_LAYER,)}
    of_sentences = gold.form.sentences is not None
    if (
        others
        or not evaluation.plan.counts_clusters([layer])
        or (of_sentences and evaluation.plan.unit is not None)
    ):
        return False
    if (own := gold.flat_items()) is None or (other := predicted.flat_items()) is None:
        return False
    single = evaluation.plan.counts_by_document([layer])
    rows = evaluation.unfinished.setdefault(
        layer, SpanClusters(layer, has_text=gold.form.has_text, of_tokens=of_sentences)
    )
    nameless = gold.form.nameless or predicted.form.nameless
    for first, second in zip_longest(own, other):
        if first is None or second is None:
            extra = own.document(first) if first is not None else other.document(second)
            raise ends_early(gold, predicted, first is None, extra.id, first_line(extra))
        if (
            isinstance(first, FlatRow)
            and isinstance(second, FlatRow)
            and (nameless or same_id(first.id, second.id))
            and first.text == second.text
        ):
            rows.add(first.spans, second.spans, len(first.text))
            if single:
                rows.count_into(evaluation, own.id_of(first), own.metadata_of(first))
            elif rows.is_full:
                rows.count_into(evaluation)
        else:
            pair = with_same_id(own.document(first), other.document(second), nameless)
            evaluation.count_group(Group(*pair, ()))
    return True


def count_unfinished(evaluation: Evaluation) -> None:
    """Count the rows that `count_rows` has not counted yet."""
    for rows in evaluation.unfinished.values():
        rows.count_into(evaluation)
