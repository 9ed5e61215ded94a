"""The layers that the caller names: for each, one source of both files, or one source of each side.

A source is the number of a column, or the name by which a format knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval.arguments import require_kind
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError, described
from clueval.options import column

LayerSource = int | str
"""Where the labels of a layer stand: a column, from 1 (from -1 at the end), or the name of a source of the format."""

LayerColumns = Mapping[str, LayerSource | tuple[LayerSource, LayerSource | None]]
"""Layer names and their sources; a pair has the gold and the predicted source.

The predicted source is None if only gold has the layer.
"""


def require_layers(layers: object) -> None:
    """Raise `UsageError` unless layers are None or a dictionary of names and columns."""
    if layers is None:
        return
    if not isinstance(layers, Mapping):
        raise UsageError(
            f"layers must be a dictionary, not {described(layers)}", advice="layers={'entity': 2}"
        )
    for name, columns in layers.items():
        require_kind(name, "str", "the name of a layer")
        both = columns if isinstance(columns, tuple) else (columns, columns)
        if len(both) != 2:
            raise UsageError(
                f"layer {name!r} has {len(both)} columns",
                advice="give one column, or one for gold and one for predicted",
            )
        for number, each in enumerate(both):
            named = " | str" if not str(each).lstrip("+-").isdigit() else ""  # "2" is meant as a column
            kinds = f"int{named} | None" if number else f"int{named}"
            require_kind(each, kinds, f"the column of layer {name!r}")


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
            advice="give both columns, as in layers={'entity': (2, 3)}",
        )
    found = {name: given[side] if isinstance(given, tuple) else given for name, given in layers.items()}
    return {name: source for name, source in found.items() if source is not None}


def meta_columns(meta: Any) -> tuple[tuple[str, int], ...]:
    """Return the names and columns of metadata, given as a dictionary, as pairs or as ``NAME=COLUMN``.

    Raises `UsageError` for anything else.
    """
    found: dict[str, int] = {}
    for item in meta.items() if isinstance(meta, Mapping) else [meta] if isinstance(meta, str) else meta:
        name, number = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        if isinstance(item, str):
            name, _, text = item.partition("=")
            try:
                number = column(text)
            except ValueError:
                number = None
        if not isinstance(name, str) or not name or not isinstance(number, int) or isinstance(number, bool):
            raise UsageError("Reading.meta needs a name and a column", advice="NAME=COLUMN, as in domain=4")
        if name in found:
            raise UsageError(f"meta names {name!r} twice", advice="give each name once")
        found[name] = number
    return tuple(found.items())


def require_name(option: str, name: str) -> None:
    """Raise `UsageError` for a name that UTF-8 cannot represent, so that no file can contain it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{option}={name!r} is not valid UTF-8", advice="check the name") from None
