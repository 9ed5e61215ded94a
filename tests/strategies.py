"""Hypothesis strategies for spans, layers and corpora."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st

from clueval.core.span import Span

LABELS = ("PER", "LOC", "ORG")


FULL = 100
"""The examples of the profile "full"."""


def at_most(examples: int) -> settings:
    """Return the settings of a property that is slow to check: this number of examples where others have 100.

    It never has more examples than others. A search with more than 100 examples of each property has more of these,
    too, in the same proportion.
    """
    asked = settings().max_examples
    return settings(max_examples=min(asked, max(examples, asked * examples // FULL)))


@st.composite
def flat_spans(
    draw: st.DrawFn, layers: tuple[str, ...] = ("label",), size: int = 14, zero_length: bool = False
) -> list[Span]:
    """A flat sequence by position, of labels in all the given layers."""
    cuts = sorted(draw(st.lists(st.integers(0, size), max_size=10, unique=not zero_length)))
    spans = []
    for start, end in pairwise(cuts):
        if draw(st.booleans()) and not (spans and spans[-1].start == spans[-1].end == start == end):
            spans.append(Span(start, end, {layer: draw(st.sampled_from(LABELS)) for layer in layers}))
    return spans
