"""Cases and spans for tests of metrics, written as ``A[0,4) B[3,5)[7,9)``, and what holds for counts of any metric."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from clueval.core.case import Case
from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.metric import AnyMetric, Tally, added
from clueval.core.span import DEFAULT_LAYER, Span

_SPAN = re.compile(r"(?P<label>\w+)(?P<ranges>(?:\[\d+,\d+\))+)")


def spans(text: str) -> list[Span]:
    """Return the spans that a text writes, in its order.

    >>> [(span.label, span.fragments) for span in spans("A[0,3)[7,9) B[4,4)")]
    [('A', ((0, 3), (7, 9))), ('B', ((4, 4),))]
    """
    found = []
    for part in text.split():
        match = _SPAN.fullmatch(part)
        assert match is not None, part
        ranges = [tuple(map(int, each)) for each in re.findall(r"(\d+),(\d+)", match["ranges"])]
        found.append(Span.of_fragments(ranges, match["label"]))
    return found


def case(gold: str, predicted: str) -> Case:
    """Return the case of two sides, whose spans are in the order of the texts."""
    return Case((tuple(spans(gold)), tuple(spans(predicted))), (None, None))


def report(metric: AnyMetric, gold: str, predicted: str) -> dict[str, Any]:
    """Return the report on a text with these spans, in any order."""
    return metric.scores(counted(metric, spans(gold), spans(predicted)), [DEFAULT_LAYER])


def counted(
    metric: AnyMetric, gold: Sequence[Span], predicted: Sequence[Span], *, ordered: bool = False
) -> Tally:
    """Return the counts of one text without tokens; `ordered`: the order of the spans counts."""
    sides = (Document("d", {DEFAULT_LAYER: side}, ordered=ordered) for side in (gold, predicted))
    bag = count([[Pair(*sides)]], Plan((metric,)), [DEFAULT_LAYER])
    return added((tally, 1) for *_, tally in bag.tallies_of([metric], [DEFAULT_LAYER]))


# Any spans


@st.composite
def any_span(
    draw: st.DrawFn, size: int = 14, labels: str = "AB", *, empty: bool = True, gaps: bool = True
) -> Span:
    """A span, maybe of zero length, maybe of two fragments."""
    start = draw(st.integers(0, size - 1))
    end = draw(st.integers(start if empty else start + 1, size))
    label = draw(st.sampled_from(labels))
    if gaps and end - start >= 3 and draw(st.integers(0, 3)) == 0:
        return Span.of_fragments([(start, start + 1), (draw(st.integers(start + 2, end - 1)), end)], label)
    return Span(start, end, label)


def any_spans(most: int = 8, **shape: Any) -> st.SearchStrategy[list[Span]]:
    """Spans that may nest, cross and repeat."""
    return st.lists(any_span(**shape), max_size=most)


def flat(spans: list[Span]) -> list[Span]:
    """The spans without gaps that overlap, and equal, none before them."""
    kept: list[Span] = []
    for span in spans:
        ranges = span.start, span.end
        if span.parts is None and not any(
            span.overlaps(other) or (other.start, other.end) == ranges for other in kept
        ):
            kept.append(span)
    return kept


def moved(side: Sequence[Span], by: int) -> list[Span]:
    """Return the spans, each further on by a number of positions."""
    return [span.placed(lambda start, end: (start + by, end + by)) for span in side]


def renamed(side: Sequence[Span], names: dict[str, str]) -> list[Span]:
    """Return the spans with other labels."""
    return [replace(span, labels=names[span.label]) for span in side]
