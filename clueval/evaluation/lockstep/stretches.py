"""Compares the stretches of two lists of tags, which are counted in `clueval.tagging.stretches`."""

from __future__ import annotations

from collections.abc import Iterator

from clueval.evaluation.lockstep.compare import Decoders, compare_columns
from clueval.evaluation.lockstep.tag_runs import columns_of
from clueval.spans.compared import Compared
from clueval.spans.span import DEFAULT_LAYER
from clueval.tagging.stretches import StretchCounts


def compared_stretches(
    stretches: StretchCounts, tokens: int, decoders: Decoders, merge: bool
) -> Iterator[Compared]:
    """Compare all stretches, those of the same multiplicity together, and remove them; `tokens` is their number."""
    pairs = [((gold,), (predicted,)) for gold, predicted in stretches.pairs]
    for columns in columns_of(stretches.counts, pairs, (DEFAULT_LAYER,), tokens):
        yield Compared(0, 0, compare_columns(columns, decoders, merge))
    stretches.counts.clear()
