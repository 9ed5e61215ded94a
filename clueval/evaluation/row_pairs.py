"""Counts two files of rows, without building documents of pairs of flat rows.

The spans of flat rows (`clueval.formats.flat_rows`) overlap none of their side, and are counted by clusters. All other
rows are counted as documents.
"""

from __future__ import annotations

from itertools import zip_longest

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.span_clusters import SpanClusters
from clueval.formats.flat_rows import FlatRow
from clueval.reading.pairing import ends_early, with_same_id
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.spans.missing_id import same_id
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group


def count_rows(evaluation: Evaluation, gold: Source, predicted: Source) -> bool:
    """Count two files of rows, and return whether it was possible; if not, nothing was counted.

    Some rows are counted only when `count_unfinished` is called.
    """
    plan = evaluation.plan
    of_sentences = gold.form.sentences is not None
    if plan.needs_documents or plan.observers or (of_sentences and plan.unit is not None):
        return False
    layer, *others = {name for each in (gold, predicted) for name in each.options.layers or (DEFAULT_LAYER,)}
    if others or (own := gold.flat_items()) is None or (other := predicted.flat_items()) is None:
        return False
    single = plan.counts_by_document([layer])
    if single and plan.where.on_layers([layer]):  # labels of documents that are left out are not seen
        return False
    has_text = gold.form.has_text
    rows = evaluation.unfinished.setdefault(
        layer, SpanClusters(layer, has_text=has_text, of_tokens=of_sentences)
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
