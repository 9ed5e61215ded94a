"""Slow, obvious models that the tests hold the library against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from clueval.metrics.counting import Tally
from clueval.metrics.fair import Fair
from clueval.metrics.metric import Side
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, Span


def naive_classes(gold: list[Span], predicted: list[Span]) -> list[str]:
    """CLUEval's classes of the gold spans, straight from the seed's pseudo-code, by scanning lists."""
    pairs = {(p.start, p.end) for p in predicted}
    exact = {(g.start, g.end) for g in gold} & pairs
    rest = sorted(pairs - exact)
    classes = []
    for g in gold:
        s0, e0 = g.start, g.end
        if (s0, e0) in exact:
            classes.append("exact")
            continue
        over = [(s, e) for s, e in rest if s < e0 and s0 < e]
        if any(s <= s0 and e >= e0 for s, e in over):
            classes.append("superset")
        elif not over or any(over[i][1] != over[i + 1][0] for i in range(len(over) - 1)):
            classes.append("missed")
        elif (over[0][0], over[-1][1]) == (s0, e0):
            classes.append("tiling")
        elif over[0][0] <= s0 and over[-1][1] >= e0:
            classes.append("overlap")
        else:
            classes.append("missed")
    return classes


def naive_components(spans: list[Span]) -> set[frozenset[int]]:
    """Connected components of the overlap graph as sets of numbers, by repeated joining."""
    sets = [{number} for number in range(len(spans))]
    for i, a in enumerate(spans):
        for j, b in enumerate(spans):
            if a.overlaps(b) or (a.start, a.end) == (b.start, b.end):
                one = next(s for s in sets if i in s)
                other = next(s for s in sets if j in s)
                if one is not other:
                    sets.remove(other)
                    one |= other
    return {frozenset(s) for s in sets}


def tally_pairs(
    pairs: Iterable[tuple[Document, Document]], metric: Fair, layer: str = DEFAULT_LAYER
) -> Tally:
    """Count one layer over pairs of gold and predicted documents; a document without the layer has no spans."""
    total: Tally = Counter()
    for gold, predicted in pairs:
        sides = (Side(document.layers.get(layer, ()), document=document) for document in (gold, predicted))
        total.update(metric.count(*sides))
    return total
