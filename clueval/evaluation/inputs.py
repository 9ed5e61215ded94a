"""The inputs of an evaluation: for each side the format, the number of files, and for each layer its column, its
scheme and its number of spans.

Inputs are plain dictionaries, as in the JSON of a result. When they are added, numbers are added, and different
formats, columns or schemes are joined by ``+``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clueval.core.span import SIDES
from clueval.formats.columns.layout import Layout
from clueval.tagging.decoder import Decoder

Inputs = dict[str, dict[str, Any]]
"""By side: ``format``, ``files``, ``passed_over``, and in ``layers`` by name ``source``, ``scheme`` and ``spans``."""

DOCUMENTS = "documents"
"""The format of a side that consists of documents, not files."""


PASSED_OVER = "passed_over"
"""The key of what the formats of a side do not read: numbers by kind. A result has them apart."""


_NO_LAYER: dict[str, Any] = {"source": None, "scheme": None, "spans": 0}


def no_inputs() -> Inputs:
    """Inputs without files and layers."""
    return {side: {"format": None, "files": 0, "layers": {}, PASSED_OVER: {}} for side in SIDES}


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
    """Add a layer with its column, its scheme and its number of spans."""
    layers = inputs[side]["layers"]
    found = layers.get(layer)
    if found is None:
        found = layers[layer] = dict(_NO_LAYER)
    found["spans"] += spans
    if source is not None:
        found["source"] = _joined(found["source"], source)
    if scheme is not None:
        found["scheme"] = _joined(found["scheme"], scheme)


def add_passed_over(inputs: Inputs, side: str, numbers: Mapping[str, int]) -> None:
    """Add what a format did not read."""
    total = inputs[side][PASSED_OVER]
    for kind, number in (each for each in numbers.items() if each[1]):
        total[kind] = total.get(kind, 0) + number


def passed_over(inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """What the formats of each side did not read, by kind."""
    return {side: dict(sorted(found[PASSED_OVER].items())) for side, found in inputs.items()}


def include(inputs: Inputs, other: Mapping[str, Mapping[str, Any]]) -> None:
    """Add other inputs."""
    for side, found in other.items():
        add_files(inputs, side, found["format"], found["files"])
        for layer, of_layer in found["layers"].items():
            add_layer(inputs, side, layer, **of_layer)
        add_passed_over(inputs, side, found.get(PASSED_OVER, {}))


def reported(inputs: Inputs, layers: Iterable[str], without: Iterable[str]) -> Inputs:
    """Inputs for a result: both sides have all `layers`, in this order, none of `without`, and no `PASSED_OVER`."""
    every = dict.fromkeys([*layers, *(name for found in inputs.values() for name in found["layers"])])
    names = [name for name in every if name not in without]
    return {
        side: {
            "format": found["format"] or DOCUMENTS,
            "files": found["files"],
            "layers": {name: _NO_LAYER | found["layers"].get(name, {}) for name in names},
        }
        for side, found in inputs.items()
    }


def schemes_of(inputs: Mapping[str, Mapping[str, Any]]) -> str:
    """The schemes of both sides for a signature; ``GOLD:PREDICTED`` if they differ.

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


def _joined(first: int | str | None, second: int | str | None) -> int | str | None:
    """Both values joined; a value alone if both are equal or the other is None."""
    if first is None or second is None or first == second:
        return second if first is None else first
    return "+".join(sorted({*str(first).split("+"), *str(second).split("+")}))


class FileEnd(NamedTuple):
    """The results of reading two files that are complete only at their end.

    Attributes:
        layouts: of the token lines of each file; None if it has none.
        decoders: by side and layer; they have counted the pairs of adjacent tags.
    """

    layouts: tuple[Layout | None, Layout | None]
    decoders: Mapping[tuple[str, str], Decoder]

    def schemes(self) -> dict[tuple[str, str], str | None]:
        """The scheme of each side and layer, named or detected; None if no tag determines it.

        Raises `TagError` for tags of two schemes.
        """
        return {place: decoder.scheme() for place, decoder in self.decoders.items()}

    def spans(self) -> dict[tuple[str, str], tuple[int | None, int]]:
        """The column, from 1, or None, and the number of spans of each side and layer."""
        columns = {
            (side, layer): column
            for side, layout in zip(SIDES, self.layouts, strict=True)
            for layer, column in (layout.columns.items() if layout is not None else ())
        }
        return {place: (columns.get(place), decoder.spans()) for place, decoder in self.decoders.items()}

    def repaired(self) -> dict[str, int]:
        """The number of repaired tags of each side. Raises `TagError` as `schemes` does."""
        numbers = dict.fromkeys(SIDES, 0)
        for (side, _), decoder in self.decoders.items():
            numbers[side] += decoder.repaired()
        return numbers
