"""The keys of the tally of each metric, to tell a tally from something else.

A shape says of each place of a key what may stand there: one of some names, or any value of a kind. Numbers of these
metrics are whole and not negative. A metric that is not one of `METRICS` has no shapes: its keys are any tuples of
plain values, and its numbers any finite ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import cache

from clueval.classes import KINDS
from clueval.metric import Metric
from clueval.metrics import METRICS

Place = Collection[str] | Callable[[object, Collection[str]], bool]
"""The names that may stand there, or a function of what stands there and of the names of all layers."""

Shape = tuple[Place, ...]

_SIDES = ("gold", "predicted")


def shapes_of(metric: Metric) -> tuple[Shape, ...] | None:
    """The shapes of the keys of a metric; None for a metric that is not one of `METRICS`."""
    module, name = METRICS.get(metric.name, ("", ""))
    if (type(metric).__module__.startswith(module), type(metric).__name__) != (True, name) or not module:
        return None
    return _shapes(metric.name)


def fits(key: tuple[object, ...], shapes: Collection[Shape], layers: Collection[str]) -> bool:
    """Whether a key has one of the shapes, where these are the layers.

    >>> fits(("label", "A"), [(("label",), ("A", "B"))], []), fits(("label",), [(("label",), ("A", "B"))], [])
    (True, False)
    """
    return any(
        len(shape) == len(key)
        and all(
            place(value, layers) if callable(place) else value in place
            for place, value in zip(shape, key, strict=True)
        )
        for shape in shapes
    )


def _text(value: object, _: Collection[str]) -> bool:
    return type(value) is str


def _text_or_none(value: object, _: Collection[str]) -> bool:
    return value is None or type(value) is str


def _layer(value: object, layers: Collection[str]) -> bool:
    return value in layers


def _whole(value: object, _: Collection[str]) -> bool:
    return type(value) is int and value >= 0


def _change(value: object, _: Collection[str]) -> bool:
    return type(value) is int


def _flag(value: object, _: Collection[str]) -> bool:
    return type(value) is bool


def _score(value: object, _: Collection[str]) -> bool:
    """A score as `repr` writes it; a threshold may be infinite."""
    try:
        return type(value) is str and not math.isnan(float(value))
    except ValueError:
        return False


@cache
def _shapes(name: str) -> tuple[Shape, ...]:
    return _SHAPES[name]()


def _levels() -> tuple[Shape, ...]:
    return (("class",), _SIDES, KINDS), (("label",), _SIDES, _layer, _text, KINDS, _flag)


def _exact() -> tuple[Shape, ...]:
    return (("gold", "predicted", "tp_gold", "tp_predicted"), _text), (("positions",), ("all", "equal"))


def _fair() -> tuple[Shape, ...]:
    from clueval.metrics.fair.weights import KINDS as ERRORS
    from clueval.metrics.fair.weights import PARTS

    return (("traditional",), PARTS, _text), (("fair",), ERRORS, _text), (("fair",), ERRORS, _text, _text)


def _partial() -> tuple[Shape, ...]:
    return (("gold", "predicted", "exact"), _text), (("shared",), _text, _whole), (("glued",), _text, _SIDES)


def _noisy() -> tuple[Shape, ...]:
    return (("gold", "predicted", "matched"), _text), (("document",), _whole, _whole, _whole)


def _gate() -> tuple[Shape, ...]:
    from clueval.metrics.gate.counts import NAMES

    changes = (_change,) * len(NAMES)
    return (
        (("all",), NAMES),
        (("type",), _text, NAMES),
        (("by",), _text, _text, NAMES),
        (("all",), ("score",), _score, *changes),
        (("type",), _text, ("score",), _score, *changes),
        (("seen",), ("all",)),
        (("seen",), ("type", "feature"), _text),
    )


def _muc() -> tuple[Shape, ...]:
    from clueval.metrics.muc import CATEGORIES, SCHEMES

    return ((SCHEMES, _text, CATEGORIES),)


def _confusion() -> tuple[Shape, ...]:
    return ((_SIDES, _layer, _text, KINDS, _text_or_none),)


_SHAPES: dict[str, Callable[[], tuple[Shape, ...]]] = {
    "levels": _levels,
    "exact": _exact,
    "fair": _fair,
    "partial": _partial,
    "noisy": _noisy,
    "gate": _gate,
    "muc": _muc,
    "confusion": _confusion,
}
