"""The layers that the caller names: for each, one source of both files, or one source of each side.

A source is the number of a column, or the name by which a format knows it.
"""

from __future__ import annotations

from collections.abc import Mapping

from clueval.exceptions import UsageError
from clueval.spans.span import DEFAULT_LAYER

LayerSource = int | str
"""Where the labels of a layer stand: a column, from 1 (from -1 at the end), or the name of a source of the format."""

LayerColumns = Mapping[str, LayerSource | tuple[LayerSource, LayerSource | None]]
"""Layer names and their sources; a pair has the gold and the predicted source.

The predicted source is None if only gold has the layer.
"""


def layer_names(layers: LayerColumns | None) -> list[str]:
    """Return the names of the layers; without `layers`, there is one, called `DEFAULT_LAYER`."""
    return [DEFAULT_LAYER] if layers is None else list(layers)


def columns_of_side(
    layers: LayerColumns | None, side: int, single_file: bool
) -> Mapping[str, LayerSource] | None:
    """Return the sources of the gold (0) or predicted (1) side: by default, the last two columns of a single file."""
    if layers is None:
        return {DEFAULT_LAYER: side - 2} if single_file else None
    if single_file and (alone := [name for name, given in layers.items() if not isinstance(given, tuple)]):
        raise UsageError(
            f"layer {alone[0]!r} has one column, but gold and predicted are in one file",
            advice="give both columns, as in entity=2:3",
        )
    found = {name: given[side] if isinstance(given, tuple) else given for name, given in layers.items()}
    return {name: source for name, source in found.items() if source is not None}
