"""Which column of a file has what, by its options and its first token line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError
from clueval.formats.column_format import ColumnFormat
from clueval.formats.column_input import ColumnInput, Layout


def wanted_layers(reader: ColumnInput) -> Mapping[str, int | str]:
    """Return the source of each layer: of those that the options name, or of the default layer."""
    layers = reader.options.layers
    return {DEFAULT_LAYER: reader.columns.default} if layers is None else layers


def layout_of(form: ColumnFormat, reader: ColumnInput, number: int, line: str) -> Layout:
    """Return the use of the columns, given the first token line."""
    options, names = reader.options, reader.columns.names
    if form.ragged:
        cut = {layer: place for place, layer in enumerate(ragged_columns(reader), 1)}
        return Layout(len(cut) + 1, "\t", 0, cut)
    separator = form.separator or ("\t" if "\t" in line else " ")
    if options.layers is None and reader.columns.default == -1:
        line = line.rstrip("\t")  # the last column that has a value holds the tags
    fields = line.split("\t") if separator == "\t" else list(filter(None, line.split(" ")))
    width = len(names) if form.is_named else len(fields)

    place = partial(_place, reader, number, width, separator)
    token_id = None if options.token_id is None else place(options.token_id, "the token ids")
    document = None if options.document_column is None else place(options.document_column, "the documents")
    meta = tuple(
        (name, place(column, f"the metadata {name!r}")) for name, column in options.columns_of_metadata
    )
    described = {document, *(column for _, column in meta)} - {None}
    wanted = wanted_layers(reader)
    if options.layers is None and reader.columns.default == -1:
        wanted = {DEFAULT_LAYER: max({*range(width)} - described or {width - 1}) + 1}
    layers: dict[str, int | str] = {}
    for layer, source in wanted.items():
        found = source if isinstance(source, int) else _named(form, reader, layer, source)
        layers[layer] = place(found, f"layer {layer!r}") if isinstance(found, int) else found
    token = options.token or reader.columns.token
    taken = {token_id, *described, *layers.values()}
    free = [column for column in range(width) if column not in taken]
    if token is not None and place(token, "the tokens") in taken:
        reader.refuse(
            number,
            f"column {token} cannot hold both tokens and tags: the line has {width} columns",
            "give PREDICTED, or one file with tokens, gold and predicted tags; token=... names the column",
        )
    if token is None and not free:
        reader.refuse(
            number,
            f"no column is left for the tokens: the line has {width} column{'s' * (width != 1)}",
            "name the columns with layers={'NAME': COLUMN}",
        )
    return Layout(
        width,
        separator,
        free[0] if token is None else place(token, "the tokens"),
        layers,
        token_id,
        document,
        meta,
    )


def ragged_columns(reader: ColumnInput) -> dict[str, int]:
    """Return the column of each layer of a ragged file."""
    names = reader.columns.names
    numbers = {}
    for layer, source in wanted_layers(reader).items():
        if isinstance(source, str) and source not in names:
            raise UsageError(
                f"there is no source {source!r} for layer {layer!r}",
                file=reader.file,
                advice=f"{', '.join(filter(None, names))}, or the number of a column",
            )
        numbers[layer] = names.index(source) + 1 if isinstance(source, str) else source
    return numbers


def _place(reader: ColumnInput, number: int, width: int, separator: str, column: int, use: str) -> int:
    """Return the number of a column from 0. Raises `UsageError` for 0, `FormatError` for one that is missing."""
    if column == 0:
        raise UsageError(f"column 0 named for {use}", advice="columns count from 1, or from -1 at the end")
    if abs(column) > width:
        reader.refuse(
            number,
            f"there is no column {column} for {use}: the line has {width} column{'s' * (width != 1)}",
            "name columns with layers={'NAME': COLUMN}, layers={'NAME': (GOLD, PREDICTED)}, or "
            "layers={'NAME': (GOLD, None)} if only gold has it"
            + (", separated by tabs" if separator == "\t" and width == 1 else ""),
        )
    return column - 1 if column > 0 else width + column


def _named(form: ColumnFormat, reader: ColumnInput, layer: str, source: str) -> int | str:
    """Return the column with a name, from 1, or the name of a key of pairs."""
    names = reader.columns.names
    if not names:
        raise UsageError(
            f"layer {layer!r} has the source {source!r}, but the columns of this format have no names",
            file=reader.file,
            advice="give the number of the column, as in layers={'entity': 2}",
        )
    place = place_of(source, names) if form.pairs else names.index(source) if source in names else None
    if place is not None:
        return place + 1
    if form.pairs:
        return source
    raise UsageError(
        f"there is no column {source!r} for layer {layer!r}",
        file=reader.file,
        advice=f"the columns are {', '.join(filter(None, names))}",
    )


def place_of(name: str, names: Sequence[str]) -> int | None:
    """Return the number of the column with a name, from 0, in any case; None if there is none."""
    if name in names:
        return names.index(name)
    folded = [each.casefold() for each in names]
    return folded.index(name.casefold()) if name.casefold() in folded else None
