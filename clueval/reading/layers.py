"""The layers that the caller names: for each, one column of both files, or one column of each side."""

from __future__ import annotations

from collections.abc import Mapping

from clueval.exceptions import UsageError
from clueval.spans.span import DEFAULT_LAYER

LayerColumns = Mapping[str, int | tuple[int, int | None]]
"""Layer names and their columns, from 1 (from -1 at the end); a pair has the gold and the predicted column.

The predicted column is None if only gold has the layer.
"""


def layer_names(layers: LayerColumns | None) -> list[str]:
    """Return the names of the layers; without `layers`, there is one, called `DEFAULT_LAYER`."""
    return [DEFAULT_LAYER] if layers is None else list(layers)


def columns_of_side(layers: LayerColumns | None, side: int, single_file: bool) -> Mapping[str, int] | None:
    """Return the columns of the gold (0) or predicted (1) side: by default, the last two of a single file."""
    if layers is None:
        return {DEFAULT_LAYER: side - 2} if single_file else None
    if single_file and (alone := [name for name, columns in layers.items() if isinstance(columns, int)]):
        raise UsageError(
            f"layer {alone[0]!r} has one column, but gold and predicted are in one file",
            advice="give both columns, as in entity=2:3",
        )
    found = {name: columns if isinstance(columns, int) else columns[side] for name, columns in layers.items()}
    return {name: column for name, column in found.items() if column is not None}
