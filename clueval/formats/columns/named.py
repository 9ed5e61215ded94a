"""Columns whose uses a file shows: by a header (HIPE), or by numbers of tokens before the words (GermEval)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from clueval.exceptions import UsageError
from clueval.spans.span import DEFAULT_LAYER

KINDS_OF_ROWS = {"-": "multiword tokens", ".": "empty nodes"}
"""What the rows ``3-4`` and ``5.1`` stand for where the first column numbers the tokens of a sentence."""

NO_TOKEN = re.compile(r"^ *[0-9]+([-.])[0-9]+[\t ]", re.MULTILINE)
"""The beginning of such a row."""


class NamedColumns(NamedTuple):
    """The columns of a file whose first lines show how they are used.

    Attributes:
        names: the name of each column; none if columns have no names.
        tags: the number of the column that is the layer ``label`` if no layer is named, from 1, or from -1 at the end.
        token: the number of the column of the tokens, from 1.
        misc: the number of the column of flags about a token, from 0; None if there is none.
        is_hipe: whether the file has the format of HIPE, in which tags are decoded over the whole document; otherwise,
            the first column has the numbers of the tokens in their sentence.
    """

    names: tuple[str, ...]
    tags: int
    token: int
    misc: int | None = None
    is_hipe: bool = False


class Sources(NamedTuple):
    """Where a format whose reader makes lines (`clueval.formats.columns.made_lines`) finds the values of each layer.

    Attributes:
        of: the column or the name of each layer's source.
        in_brackets: the layers whose values are brackets; those of the others are tags.
        has_flags: whether the last column of the lines that are made has flags about a token.
    """

    of: Mapping[str, int | str]
    in_brackets: tuple[str, ...] = ()
    has_flags: bool = False


def columns_of_layers(
    layers: Mapping[str, int | str] | None, named: NamedColumns | None, file: str
) -> Mapping[str, int] | None:
    """Return the column of each layer; a name stands for its column. Raises `UsageError` for an unknown name."""
    if layers is None:
        return None if named is None else {DEFAULT_LAYER: named.tags}
    return {layer: _column(layer, source, named, file) for layer, source in layers.items()}


def _column(layer: str, source: int | str, named: NamedColumns | None, file: str) -> int:
    if isinstance(source, int):
        return source
    if named is None or not named.names:
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
