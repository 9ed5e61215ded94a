"""Columns that have names: those of a file with a header, as in HIPE, and those of a shared task, as in GermEval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clueval.exceptions import UsageError
from clueval.spans.span import DEFAULT_LAYER


class NamedColumns(NamedTuple):
    """The columns of a file by their names.

    Attributes:
        kind: the name of the shared task.
        names: the name of each column.
        tags: the name of the column that is the layer ``label`` if no layer is named.
        token: the number of the column of the tokens, from 1.
        misc: the number of the column of flags about a token, from 0; None if there is none.
    """

    kind: str
    names: tuple[str, ...]
    tags: str
    token: int
    misc: int | None = None


def columns_of_layers(
    layers: Mapping[str, int | str] | None, named: NamedColumns | None, file: str
) -> Mapping[str, int] | None:
    """Return the column of each layer; a name stands for its column. Raises `UsageError` for an unknown name."""
    if layers is None:
        return None if named is None else {DEFAULT_LAYER: named.names.index(named.tags) + 1}
    return {layer: _column(layer, source, named, file) for layer, source in layers.items()}


def _column(layer: str, source: int | str, named: NamedColumns | None, file: str) -> int:
    if isinstance(source, int):
        return source
    if named is None:
        raise UsageError(
            f"layer {layer!r} has the source {source!r}, but the columns of this format have no names",
            file=file,
            advice="give the number of the column, as in layers={'entity': 2}",
        )
    if source not in named.names:
        raise UsageError(
            f"there is no column {source!r} for layer {layer!r}",
            file=file,
            advice=f"the columns are {', '.join(filter(None, named.names))}",
        )
    return named.names.index(source) + 1
