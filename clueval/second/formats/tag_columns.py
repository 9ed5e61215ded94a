"""Which columns are layers where none is named: the last one if it holds tags, else all that do.

The first lines of the files of each side tell it. Only files whose columns have neither names nor numbers of tokens are
asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import OUTSIDE, is_tag
from clueval.files.errors import CluevalError
from clueval.second.formats.column_format import Blocks, ColumnFormat
from clueval.second.formats.column_input import Columns, Layout
from clueval.second.formats.columns import ColumnReader
from clueval.second.formats.documents import form_of_file
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.options import FormatOptions

ENOUGH = 2000
"""The number of lines that are examined."""


class TagColumns(NamedTuple):
    """The columns of tags in the first lines of the files of one side; columns count from 1.

    In columns of `tags`, nine of ten values are tags, at least, because reading another value must raise its error; in
    those of `used`, not all are O. The columns of the tokens, their ids, the documents and the metadata are not among
    them. `last` is the last column; `is_read`: it is the layer, because most of its values are tags.
    """

    tags: frozenset[int]
    used: frozenset[int]
    last: int
    is_read: bool

    @property
    def own(self) -> frozenset[int]:
        """The columns that are layers if this side is alone and the last column is not the layer."""
        return frozenset() if self.is_read else self.used or self.tags


class _FirstLines(ColumnReader):
    """Counts the values of each column, and decodes nothing."""

    def __init__(self, form: ColumnFormat, blocks: Blocks, options: FormatOptions, file: str) -> None:
        super().__init__(replace(form, at_end=lambda reader: None), blocks, options, file)
        self.seen: list[Counter[str]] = []

    def document(self) -> Document:
        separator = "\t" if self.layout is None else self.layout.separator
        rows = [line.split(separator) for line in self.lines.text.split("\n")[:-1]]
        if rows and not self.seen:
            self.seen = [Counter() for _ in rows[0]]
        columns = zip(*(fields for fields in rows if len(fields) == len(self.seen)), strict=True)
        for values, column in zip(self.seen, columns, strict=False):
            values.update(column)
        return Document("", {})


def tag_columns_of(
    files: Iterable[InputFile], options: FormatOptions, name: str | None = None
) -> TagColumns | None:
    """Return the columns of tags in the files of a side, up to the first that has no plain columns.

    None if the options name layers or an annotation set, and for files without tokens or that cannot be read, because
    reading them raises the error.
    """
    if options.layers is not None or options.annotation_set is not None:
        return None
    layout: Layout | None = None
    seen: list[Counter[str]] = []
    left = ENOUGH
    try:
        for file in files:
            form = form_of_file(file, name)
            if not isinstance(form, ColumnFormat) or form.ragged:
                break
            reader = _FirstLines(form, partial(_first, file, left), options, file.name)
            if reader.columns != Columns():
                break
            for _ in reader.documents():
                pass
            layout = layout or reader.layout
            seen = seen or [Counter() for _ in reader.seen]
            for values, further in zip(seen, reader.seen, strict=False):
                values.update(further)
            left -= sum(reader.seen[0].values()) if reader.seen else 0
            if left <= 0:
                break
    except CluevalError:
        return None
    return None if layout is None or not seen else _tag_columns(layout, seen)


def _first(file: InputFile, most: int) -> Iterator[tuple[int, str]]:
    """Yield the blocks of a file up to a number of lines."""
    for number, block in file.blocks():
        lines = block.split("\n")[:-1][: most - number + 1]
        if lines:
            yield number, "".join(f"{line}\n" for line in lines)
        if number + len(lines) > most:
            return


def _tag_columns(layout: Layout, seen: Sequence[Mapping[str, int]]) -> TagColumns:
    (last,) = layout.layers.values()
    assert isinstance(last, int)
    others = {layout.token, layout.token_id, layout.document, *(column for _, column in layout.meta)}
    free = {column + 1: values for column, values in enumerate(seen) if column not in others and values}
    shares = {column: _share_of_tags(values) for column, values in free.items()}
    tags = frozenset(column for column, share in shares.items() if share >= 0.9)
    used = frozenset(column for column in tags if {*free[column]} != {OUTSIDE})
    return TagColumns(tags, used, last + 1, shares.get(last + 1, 0) > 0.5)


def _share_of_tags(values: Mapping[str, int]) -> float:
    return sum(number for value, number in values.items() if is_tag(value)) / sum(values.values())


def layers_of_sides(found: Sequence[TagColumns | None]) -> list[tuple[dict[str, int] | None, str | None]]:
    """Return the layers of each side, None as they are, and what is said of them.

    Sides have the same columns if these hold tags on each of them.

    >>> layers_of_sides([TagColumns(frozenset({2, 3}), frozenset({2, 3}), 4, False)])[0][0]
    {'2': 2, '3': 3}
    """
    asked = [side for side in found if side is not None]
    shared = frozenset[int]().union(*(side.used for side in asked if not side.is_read))
    return [(None, None) if side is None else _layers(side, shared) for side in found]


def _layers(side: TagColumns, shared: frozenset[int]) -> tuple[dict[str, int] | None, str | None]:
    few = 1 if side.is_read else 0  # one column on another side has the same name as the last one here
    columns = sorted(shared if len(shared) > few and shared <= side.tags else side.own)
    layers = layers_in(columns)
    if len(columns) > 1:
        return layers, (
            f"columns {listed(columns)} hold tags, so they are the layers {listed(layers)}; "
            f"layers={ {'entity': columns[0]} } names one"
        )
    if not columns and (others := sorted(side.used - {side.last})):
        return None, (
            f"the last column is read, but column{'s' * (len(others) > 1)} {listed(others)} "
            f"hold{'s' * (len(others) == 1)} tags, too; layers={ {'entity': others[0]} } names one"
        )
    return layers or None, None


def layers_in(columns: Collection[int]) -> dict[str, int]:
    """Return columns of tags by the names of their layers: one is called ``label``, several by their numbers."""
    return {DEFAULT_LAYER if len(columns) == 1 else str(column): column for column in columns}


def listed(columns: Iterable[int | str]) -> str:
    """Return columns in words.

    >>> listed([2, 3, 4])
    '2, 3 and 4'
    """
    *others, last = map(str, columns)
    return f"{', '.join(others)} and {last}" if others else last
