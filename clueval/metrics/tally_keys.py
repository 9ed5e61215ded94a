"""The keys of the tally of each metric, to check that a value is such a tally.

A shape gives for each part of a key its allowed values: some names, or any value of a type. The counts of
these metrics are whole and not negative. A metric that is not one of `METRICS` has no shapes: its keys may be
any tuples of plain values, and its counts any finite numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import Any

from clueval.metrics import METRICS
from clueval.metrics.metric import Metric
from clueval.spans.compared import SIDES
from clueval.spans.match_classes import KINDS

Place = Collection[str] | Callable[[Sequence[Any], Collection[str]], bool]
"""The allowed names, or a function of the values of a column and the names of all layers that checks them."""

Shape = tuple[Place, ...]


def shapes_of(metric: Metric) -> tuple[Shape, ...] | None:
    """Return the shapes of the keys of a metric; None for a metric that is not one of `METRICS`."""
    module, name = METRICS.get(metric.name, ("", ""))
    if not module or type(metric).__name__ != name or not type(metric).__module__.startswith(module):
        return None
    return _shapes(metric.name)


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


def _layers(values: Sequence[Any], layers: Collection[str]) -> bool:
    return _are_among(values, layers)


def _texts(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {str}


def _texts_or_none(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {str, type(None)}


def _wholes(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {int} and min(values) >= 0


def _changes(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {int}


def _flags(values: Sequence[Any], _: Collection[str]) -> bool:
    return types_of(values) <= {bool}


def _scores(values: Sequence[Any], _: Collection[str]) -> bool:
    """Check scores as `repr` writes them; a threshold may be infinite."""
    try:
        return types_of(values) <= {str} and not any(math.isnan(float(value)) for value in values)
    except ValueError:
        return False


@cache
def _shapes(name: str) -> tuple[Shape, ...]:
    return _SHAPES[name]()


def _levels() -> tuple[Shape, ...]:
    return (("class",), SIDES, KINDS), (("label",), SIDES, _layers, _texts, KINDS, _flags)


def _exact() -> tuple[Shape, ...]:
    return (("gold", "predicted", "tp_gold", "tp_predicted"), _texts), (("positions",), ("all", "equal"))


def _fair() -> tuple[Shape, ...]:
    from clueval.metrics.fair.weights import KINDS as ERRORS
    from clueval.metrics.fair.weights import PARTS

    return (("traditional",), PARTS, _texts), (("fair",), ERRORS, _texts), (("fair",), ERRORS, _texts, _texts)


def _partial() -> tuple[Shape, ...]:
    return (
        (("gold", "predicted", "exact"), _texts),
        (("shared",), _texts, _wholes),
        (("glued",), _texts, SIDES),
    )


def _noisy() -> tuple[Shape, ...]:
    return (("gold", "predicted", "matched"), _texts), (("document",), _wholes, _wholes, _wholes)


def _gate() -> tuple[Shape, ...]:
    from clueval.metrics.gate.counts import NAMES

    changes = (_changes,) * len(NAMES)
    return (
        (("all",), NAMES),
        (("type",), _texts, NAMES),
        (("by",), _texts, _texts, NAMES),
        (("all",), ("score",), _scores, *changes),
        (("type",), _texts, ("score",), _scores, *changes),
        (("seen",), ("all",)),
        (("seen",), ("type", "feature"), _texts),
    )


def _muc() -> tuple[Shape, ...]:
    from clueval.metrics.muc import CATEGORIES, SCHEMES

    return ((SCHEMES, _texts, CATEGORIES),)


def _confusion() -> tuple[Shape, ...]:
    return ((SIDES, _layers, _texts, KINDS, _texts_or_none),)


def _masking() -> tuple[Shape, ...]:
    from clueval.metrics.masking.counts import FIELDS, PRECISION_FIELDS, REDACTED_FIELDS, REPLACEMENT_FIELDS

    rows = ("all", "class", "label")
    return (
        (rows, _texts, FIELDS),
        (("precision",), PRECISION_FIELDS),
        (("replacements",), REPLACEMENT_FIELDS),
        (("redacted",), (*REDACTED_FIELDS, "documents")),
        (("string_leaks",), ("all",)),
        (("weighted",), (*rows, "precision"), _texts, FIELDS + PRECISION_FIELDS, _scores),
        (("entities",), ("by id", "by surface")),
        (("seen",), _texts),
        (("gold",), ("layer",)),
    )


_SHAPES: dict[str, Callable[[], tuple[Shape, ...]]] = {
    "levels": _levels,
    "exact": _exact,
    "fair": _fair,
    "partial": _partial,
    "noisy": _noisy,
    "gate": _gate,
    "muc": _muc,
    "confusion": _confusion,
    "masking": _masking,
}
