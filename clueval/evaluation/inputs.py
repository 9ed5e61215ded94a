"""What was read of each side: the format, the files, and of each layer its column, its scheme and its spans.

Inputs are plain, as in the JSON of a result, and they add up: numbers are added; where files have different
formats, columns or schemes, all of them are named, joined by ``+``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clueval.spans.compared import SIDES

Inputs = dict[str, dict[str, Any]]
"""By side: ``format``, ``files``, and in ``layers`` by name ``source``, ``scheme`` and ``spans``."""

DOCUMENTS = "documents"
"""The format of a side that is documents, not files."""


def no_inputs() -> Inputs:
    """Nothing read yet."""
    return {side: {"format": None, "files": 0, "layers": {}} for side in SIDES}


def add_files(inputs: Inputs, side: str, form: str | None, files: int) -> None:
    """Add files of a format."""
    of_side = inputs[side]
    of_side["format"] = _joined(of_side["format"], form)
    of_side["files"] += files


def add_layer(
    inputs: Inputs,
    side: str,
    layer: str,
    source: int | str | None = None,
    scheme: str | None = None,
    spans: int = 0,
) -> None:
    """Add what was read of a layer."""
    found = inputs[side]["layers"].setdefault(layer, {"source": None, "scheme": None, "spans": 0})
    found["spans"] += spans
    if source is not None:
        found["source"] = _joined(found["source"], source)
    if scheme is not None:
        found["scheme"] = _joined(found["scheme"], scheme)


def include(inputs: Inputs, other: Mapping[str, Mapping[str, Any]]) -> None:
    """Add what was read elsewhere."""
    for side, found in other.items():
        add_files(inputs, side, found["format"], found["files"])
        for layer, of_layer in found["layers"].items():
            add_layer(inputs, side, layer, **of_layer)


def reported(inputs: Inputs, layers: Iterable[str], without: Iterable[str]) -> Inputs:
    """Inputs for a result: with all these layers on both sides, in this order, and without some others."""
    result = no_inputs()
    include(result, inputs)
    names = dict.fromkeys([*layers, *(name for found in inputs.values() for name in found["layers"])])
    for side, found in result.items():
        for name in names:
            add_layer(result, side, name)
        found["format"] = found["format"] or DOCUMENTS
        found["layers"] = {name: found["layers"][name] for name in names if name not in without}
    return result


def schemes_of(inputs: Mapping[str, Mapping[str, Any]]) -> str:
    """The schemes of both sides as signatures have them; ``GOLD:PREDICTED`` where they differ.

    >>> found = no_inputs()
    >>> add_layer(found, "gold", "entity", 2, "BIO")
    >>> add_layer(found, "gold", "risk", 3, "IO")
    >>> add_layer(found, "predicted", "entity", 2, "BIO")
    >>> schemes_of(found)
    'BIO+IO:BIO'
    """
    sides = [
        dict.fromkeys(
            part
            for layer in of_side["layers"].values()
            if layer["scheme"]
            for part in layer["scheme"].split("+")
        )
        for of_side in inputs.values()
    ]
    return ":".join(dict.fromkeys("+".join(schemes) or "none" for schemes in sides))


def _joined(own: int | str | None, other: int | str | None) -> int | str | None:
    """Both values, one of them where they are equal or one is None."""
    if own is None or other is None or own == other:
        return other if own is None else own
    return "+".join(sorted({*str(own).split("+"), *str(other).split("+")}))
