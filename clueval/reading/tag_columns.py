"""The columns of tags in files that do not say which columns are layers: their first lines tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import OUTSIDE, is_tag, split_tag
from clueval.files.errors import CluevalError, UsageError, warn
from clueval.formats.column_format import LINES, ColumnFormat, Layout
from clueval.formats.columns import ColumnReader
from clueval.formats.options import FormatOptions
from clueval.reading.source import Source

ENOUGH = 2000
"""The number of lines that are examined."""


class _Enough(Exception):
    """Enough lines were read."""


class _FirstRows(ColumnReader):
    """Keeps the first lines of a file as rows of their values, without reading its tags."""

    def __init__(self, source: Source, most: int) -> None:
        assert isinstance(source.form, ColumnFormat)
        options = replace(source.options, scheme=None, invalid=None)
        super().__init__(source.form, source.again().file, options)
        self.left, self.rows = most, list[list[str]]()

    def read(self) -> None:
        """Read the lines. Raises the errors of the file."""
        with suppress(_Enough):
            for _ in self.documents():
                pass

    def document(self) -> Document:
        return Document("", {})

    def complain(self, error: CluevalError) -> None:
        """Read on, because reading the file raises the error."""

    def add(self, number: int, run: str) -> None:
        assert self.layout is not None
        self.require_document()
        lines = run.removesuffix("\n").split("\n")[: self.left]
        self.rows += [line.split(self.layout.separator) for line in lines]
        self.left -= len(lines)
        if not self.left:
            raise _Enough

    def add_sentences(self, number: int, heads: Sequence[str], runs: Sequence[str], between: int) -> int:
        for run in runs:
            self.add(number, run)
        return number + sum(map(LINES, runs)) + between * len(runs)


def first_rows(source: Source, most: int) -> tuple[Layout, list[list[str]]] | None:
    """Return the layout of a column file and its first rows; None for a file without tokens."""
    reader = _FirstRows(source, most)
    reader.read()
    return None if reader.layout is None else (reader.layout, reader.rows)


def _first_values(sources: Iterable[Source]) -> tuple[Layout, Sequence[Mapping[str, int]]] | None:
    """Return the layout of column files, and how often each value occurs in each column of their first lines."""
    layout, counts, rows_left = None, list[Counter[str]](), ENOUGH
    try:
        for source in sources:
            if not isinstance(source.form, ColumnFormat) or not source.form.has_columns:
                break
            reader = _FirstRows(source, rows_left)
            if isinstance(reader.columns.default, str):  # the file names its columns
                break
            reader.read()
            rows_left = reader.left
            if reader.rows:
                layout = layout or reader.layout
                width = len(reader.rows[0])
                counts = counts or [Counter() for _ in range(width)]
                columns = zip(*(row for row in reader.rows if len(row) == width), strict=True)
                for values, column in zip(counts, columns, strict=False):
                    values.update(column)
            if not rows_left:
                break
    except CluevalError:  # reading the file raises it
        return None
    return None if layout is None else (layout, counts)


class TagColumns(NamedTuple):
    """The columns of tags in the first lines of the files of one side; columns count from 1.

    In columns of `tags`, nine of ten values are tags, at least, because reading another value must raise its error; in
    those of `used`, not all are O. The columns of the tokens, their ids, the documents and the metadata are not among
    them. `default` is the column that the format reads, mostly the last; `is_read`: it is the layer, because most of
    its values are tags.
    """

    tags: frozenset[int]
    used: frozenset[int]
    default: int
    is_read: bool

    @classmethod
    def of(cls, sources: Iterable[Source], options: FormatOptions) -> TagColumns | None:
        """Return the columns of the files of a side; None if their layers do not depend on their first lines."""
        if options.layers is not None or options.annotation_set is not None:
            return None
        first_values = _first_values(sources)
        if first_values is None:
            return None
        layout, counts = first_values
        default = layout.layers[DEFAULT_LAYER]
        assert isinstance(default, int)
        others = {layout.token, layout.token_id, layout.document, *(column for _, column in layout.meta)}
        free = {column + 1: values for column, values in enumerate(counts) if column not in others}
        shares = {
            column: sum(number for value, number in values.items() if is_tag(value)) / sum(values.values())
            for column, values in free.items()
        }
        tags = frozenset(column for column, share in shares.items() if share >= 0.9)
        used = frozenset(column for column in tags if {*free[column]} != {OUTSIDE})
        return cls(tags, used, default + 1, shares.get(default + 1, 0) > 0.5)

    @property
    def own(self) -> frozenset[int]:
        """The columns that are layers if this side is alone and the default column is not the layer."""
        return frozenset() if self.is_read else self.used or self.tags


def layers_in(columns: Collection[int]) -> dict[str, int]:
    """Return columns of tags by the names of their layers: one is called ``label``, several by their numbers."""
    return {DEFAULT_LAYER if len(columns) == 1 else str(column): column for column in columns}


def with_columns_of_tags(
    sides: Sequence[FormatOptions], files: Sequence[Iterable[Source]], names: Sequence[str]
) -> list[FormatOptions]:
    """Return how each side is read, with the columns of tags as layers where no layer is named.

    If the last column holds tags, it is the layer ``label``; where tokens are numbered, the first one of tags. Else the
    columns from 2 on are layers in which every value is a tag and, on some side, not every value is O: one is the layer
    ``label``, several are called by their numbers. Sides have the same columns if these hold tags on each of them.
    Warns of columns that are layers without a name, and of columns of tags that are not read.

    Reads the first lines of each side; `names` are those of the first files, for warnings.
    """
    columns_of_sides = [TagColumns.of(*side) for side in zip(files, sides, strict=True)]
    shared = frozenset[int]().union(
        *(side.used for side in columns_of_sides if side is not None and not side.is_read)
    )
    chosen = list(sides)
    warnings: dict[str, str] = {}
    for number, (tag_columns, name) in enumerate(zip(columns_of_sides, names, strict=True)):
        if tag_columns is None:
            continue
        # one column on another side has the same name as the default one here
        few = 1 if tag_columns.is_read else 0
        is_shared = len(shared) > few and shared <= tag_columns.tags
        columns = sorted(shared if is_shared else tag_columns.own)
        layers = layers_in(columns)
        if layers:
            chosen[number] = replace(sides[number], layers=layers)
        if len(columns) > 1:
            warning = (
                f"columns {listed(columns)} hold tags, so they are the layers {listed(layers)}; "
                f"layers={ {'entity': columns[0]} } names one"
            )
        elif others := sorted(tag_columns.used - {tag_columns.default} if not columns else ()):
            warning = (
                f"column {tag_columns.default} is read, but column{'s' * (len(others) > 1)} {listed(others)} "
                f"hold{'s' * (len(others) == 1)} tags, too; layers={ {'label': tag_columns.default} } names one"
            )
        else:
            continue
        warnings.setdefault(warning, name)
    for warning, file in warnings.items():
        warn(f"{file}: {warning}")
    return chosen


def columns_of_tags(source: Source) -> list[int]:
    """Return the columns of a file, from 1, that hold only tags in its first lines, not all O."""
    return [*_labels_of_columns(source)]


def _labels_of_columns(source: Source) -> dict[int, frozenset[str]]:
    """Return the labels in each of the `columns_of_tags`."""
    first_values = _first_values([source])
    columns = () if first_values is None else enumerate(first_values[1], 1)
    return {
        column: frozenset(split_tag(value)[1] for value in values if value != OUTSIDE)
        for column, values in columns
        if {*values} != {OUTSIDE} and all(map(is_tag, values))
    }


def require_two_tag_columns(sources: Iterator[Source]) -> None:
    """Raise `UsageError` for a single file in which further columns of tags have labels of the last two.

    Columns with other labels, as chunks before the tags of names, are neither gold nor predicted.
    """
    for source in sources:
        labels = _labels_of_columns(source)
        last_two = frozenset[str]().union(*list(labels.values())[-2:])
        tags = [column for column, of_column in labels.items() if of_column & last_two]
        if len(tags) > 2:
            raise UsageError(
                f"columns {listed(tags)} hold tags, so gold and predicted are not known",
                file=source.file.name,
                advice=f"name both, as in layers={ {'label': (tags[0], tags[1])} }",
            )


def listed(columns: Iterable[int | str]) -> str:
    """Return columns in words.

    >>> listed([2, 3, 4])
    '2, 3 and 4'
    """
    *others, last = map(str, columns)
    return f"{', '.join(others)} and {last}" if others else last
