"""The keys of the tally of each metric, to check that a value is such a tally.

A shape gives for each part of a key its allowed values: some names, or any value of a type. Each metric of
`METRICS` has its shapes as `tally_keys`; its counts are whole and not negative. Another metric has no shapes:
its keys may be any tuples of plain values, and its counts any finite numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from clueval.metrics import METRICS, metric_class
from clueval.metrics.metric import Metric

Place = Collection[str] | Callable[[Sequence[Any], Collection[str]], bool]
"""The allowed names, or a function of the values of a column and the names of all layers that checks them."""

Shape = tuple[Place, ...]


def shapes_of(metric: Metric) -> tuple[Shape, ...] | None:
    """Return the shapes of the keys of a metric; None for a metric that is not one of `METRICS`."""
    if metric.name not in METRICS or type(metric) is not metric_class(metric.name):
        return None
    shapes: tuple[Shape, ...] = metric_class(metric.name).tally_keys
    return shapes


def fit(columns: Sequence[Sequence[Any]], shapes: Collection[Shape], layers: Collection[str]) -> bool:
    """Return whether all keys, given as columns, have the same one of the shapes, for these layers.

    >>> shapes = [(("label",), ("A", "B"))]
    >>> fit([["label", "label"], ["A", "B"]], shapes, []), fit([["label", "label"], ["A", "C"]], shapes, [])
    (True, False)
    """
    return any(
        len(shape) == len(columns)
        and all(
            place(column, layers) if callable(place) else _are_among(column, place)
            for place, column in zip(shape, columns, strict=True)
        )
        for shape in shapes
    )


def types_of(values: Iterable[object]) -> set[type]:
    """Return the types of the values."""
    return set(map(type, values))


def _are_among(values: Sequence[Any], names: Collection[str]) -> bool:
    return types_of(values) <= {str} and set(values) <= set(names)


def any_layer(values: Sequence[Any], layers: Collection[str]) -> bool:
    return _are_among(values, layers)


def any_text(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {str}


def text_or_none(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {str, type(None)}


def any_count(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {int} and min(values) >= 0


def any_change(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {int}


def any_flag(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {bool}


def any_score(values: Sequence[Any], _: Collection[str]) -> bool:
    """Check scores as `repr` writes them; a threshold may be infinite."""
    try:
        return types_of(values) <= {str} and not any(math.isnan(float(value)) for value in values)
    except ValueError:
        return False
