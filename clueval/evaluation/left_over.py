"""Counts compared texts without documents: the spans on which both sides agree, and those left over for the metrics.

A span that both sides have and that overlaps no other span is counted by its label. The other spans are left over for
the metrics, those of many texts together. The counts are those of the documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from clueval.evaluation.inputs import add_layer
from clueval.spans.compared import SIDES, Compared, ComparedSequence
from clueval.spans.flat import Flat
from clueval.spans.span import Frozen

if TYPE_CHECKING:
    from clueval.evaluation.engine import Evaluation

TOGETHER = 20_000
"""Approximate number of spans left over that are counted together."""

Located = tuple[int, int, str]
"""The start, the end and the label of a span."""

LeftOver = tuple[list[Located], list[Located]]
"""The spans of gold and of predicted that are left over, by position; they do not overlap those of their own side."""

start_of: Callable[[Any], int] = itemgetter(0)
end_of: Callable[[Any], int] = itemgetter(1)
label_of: Callable[[Any], str] = itemgetter(2)


def count_left_over(
    evaluation: Evaluation,
    layer: str,
    texts: Compared,
    agreed: Counter[str],
    left: LeftOver,
    equal: int,
    tags: tuple[list[str], list[str]] | None,
) -> None:
    """Count compared texts of one layer.

    `texts` is everything but the sequences, `agreed` counts the labels of the shared spans; see `ComparedSequence`
    for `equal` and `tags`.
    """
    labels = Counter({Frozen({layer: label}): number for label, number in agreed.items()})
    own, other = (Flat.of_tags(layer, *_columns(spans)) for spans in left)
    sequence = ComparedSequence(labels, own, other, equal, tags)
    evaluation.see_layers([layer])
    evaluation.count_compared(texts._replace(sequences={layer: sequence}))
    for side, spans in zip(SIDES, left, strict=True):
        if found := agreed.total() + len(spans):
            add_layer(evaluation.inputs, side, layer, spans=found)


def _columns(spans: Sequence[Located]) -> tuple[list[int], list[int], list[str]]:
    return list(map(start_of, spans)), list(map(end_of, spans)), list(map(label_of, spans))
