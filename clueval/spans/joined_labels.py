"""Joined labels: the label that several partners of a span have together, in each layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clueval.spans.span import Frozen, Labels, Span


def joined_labels(span: Span, partners: Sequence[Span]) -> Labels:
    """Return for each layer the label of the partners with most positions inside `span`.

    If several labels have the same number of positions, the earliest one wins. `partners` must come by
    position. A partner without a label in a layer is ignored there; the label is None if no partner has one.

    >>> joined_labels(Span(2, 8), [Span(0, 4, "A"), Span(4, 6, "B"), Span(6, 9, "B")])
    {'label': 'B'}
    """
    ranges = [(partner.start, partner.end) for partner in partners]
    return joined((span.start, span.end), ranges, [partner.by_layer for partner in partners])


def joined(range_: tuple[int, int], ranges: Iterable[tuple[int, int]], labels: Sequence[Labels]) -> Labels:
    """Return what `joined_labels` does, for partners given by their ranges and labels."""
    first = labels[0]
    if labels.count(first) == len(labels):
        return first
    start, end = range_
    positions: dict[str, dict[str, int]] = {}
    for (other_start, other_end), by_layer in zip(ranges, labels, strict=True):
        inside = (end if end < other_end else other_end) - (start if start > other_start else other_start)
        for layer, label in by_layer.items():
            of_layer = positions.setdefault(layer, {})
            if label is not None:
                of_layer[label] = of_layer.get(label, 0) + inside
    return Frozen({layer: most(of_layer) for layer, of_layer in positions.items()})


def most(positions: Mapping[str, int]) -> str | None:
    """Return the label with most positions, the first of equals; labels were added by position."""
    return max(positions, key=positions.__getitem__, default=None)
