"""How the files of one side are read: the options for reading, and what an evaluation adds to them.

Where no layer is named, the first lines of column files tell which columns are layers (`with_columns_of_tags`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import CluevalError, FormatError, UsageError, warn
from clueval.formats import format_by_ending, format_named, format_of
from clueval.formats.columns.layout import (
    SIZES,
    ColumnOptions,
    Layout,
    NamedColumns,
    Sizes,
    columns_of_layers,
)
from clueval.formats.columns.passages import Passage
from clueval.formats.format import Format
from clueval.formats.recognition import Beginning
from clueval.limits import line_too_long
from clueval.second.formats.options import Reading, require_encodable
from clueval.second.reading.options import LayerColumns, LayerSource, chosen_options, columns_of_side
from clueval.second.reading.source import formats_that_read
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import OUTSIDE, is_tag
from clueval.textfiles import Part, beginning_of

_FILTER = "where='label=PER' counts only spans with this label"
_FOR_ALL = ("input", "max_line", "max_sentence", "max_document")
"""The options that every format reads."""


def columns_of_sides(
    readings: Sequence[ReadOptions], layers: LayerColumns | None, single: bool
) -> list[ReadOptions]:
    """Return how gold, predicted and further sets are read, with the columns of their layers.

    If `single` is true, the same files hold both sides, in different columns or in different annotation sets.
    """
    both_columns = single and readings[0].annotation_set is None
    return [
        replace(
            each,
            layers=columns_of_side(layers, min(number, 1), both_columns),
            single=both_columns,
        )
        for number, each in enumerate(readings)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions(Reading):
    """How the files of one side are read: the options for reading, and further options of the evaluation.

    `layers`: the column or named source of each layer. `whole_text`: whether lines of a token and a tag are one
    text (Nerval). `containing`: ``SET:TYPE``, annotations that become a further layer of that name. `part`: bytes
    of a column file, which are read like a whole file. `sizes`: amounts that are read and held at a time.
    `unit`: the unit of the positions, for formats that have both. `named`: the columns of a column file whose
    beginning shows how they are used, once it is known which file is read. `single`: whether the file holds gold and
    predicted in different columns. `unplaced`: whether spans without a place are read, as mentions.
    """

    layers: Mapping[str, LayerSource] | None = None
    whole_text: bool = False
    containing: str | None = None
    part: Part | None = None
    sizes: Sizes = SIZES
    unit: str | None = None
    named: NamedColumns | None = None
    single: bool = False
    unplaced: bool = False

    def __post_init__(self) -> None:
        Reading.__post_init__(self)
        for layer in self.layers or ():
            require_encodable("layer", layer)
        if self.layers is not None and not self.layers:
            raise UsageError("there is no layer", advice="name one, as in layers={'entity': 2}")

    @classmethod
    def of(
        cls,
        reading: Reading,
        layers: Mapping[str, LayerSource] | None = None,
        *,
        whole_text: bool = False,
        containing: str | None = None,
        unit: str | None = None,
    ) -> ReadOptions:
        """Return the options `reading` for files with these layers."""
        given = {each.name: getattr(reading, each.name) for each in fields(Reading)}
        return cls(**given, layers=layers, whole_text=whole_text, containing=containing, unit=unit)

    def format_at(self, path: Path) -> Format:
        """Return the format of a file, recognised by its beginning if `input` is None. Raises `FormatError`."""
        if self.input is not None:
            return format_named(self.input)
        if (decided := format_by_ending(path.name)) is not None:
            return decided  # many small files need not be opened for it
        text = beginning_of(path)
        if len(text.partition("\n")[0].encode()) > self.max_line and not text.lstrip().startswith(("[", "{")):
            raise line_too_long(str(path), 1, self.max_line)
        try:
            return format_of(Beginning(path.name, text, self.whole_text), str(path))
        except FormatError:
            longer = (
                "" if "\n" in text else beginning_of(path, self.max_line)
            )  # the keys may come after a long text
            if len(longer) <= len(text):
                raise
            return format_of(Beginning(path.name, longer, self.whole_text), str(path))

    def with_names(self, form: Format, path: Path) -> ReadOptions:
        """Return the options with the columns of a file, if its beginning shows how they are used.

        Raises `UsageError` for a layer whose column has a name that the file does not have.
        """
        if form.token_lines is None or form.token_lines.sources is not None:
            return self
        find = form.token_lines.named
        named = None if find is None else find(beginning_of(path))
        columns_of_layers(self.layers, named, str(path))
        return self if named is self.named else replace(self, named=named)

    def require_use(self, paths: Iterable[Path]) -> None:
        """Raise `UsageError` for an option that is set but applies to the format of no file.

        Files are opened until each option applies to one of them; if no option is set, none is opened.
        """
        idle = [name for name in chosen_options(self) if name not in _FOR_ALL]
        formats: dict[str, Path] = {}
        for path in paths if idle else ():
            form = self.format_at(path)
            formats.setdefault(form.name, path)
            idle = [name for name in idle if name not in form.reads]
            if not idle:
                return
        for name in idle if formats else ():
            raise UsageError(
                f"{_given(name, getattr(self, name))} does not apply to the format {' or '.join(formats)}",
                file=str(next(iter(formats.values()))),
                advice=f"remove it; it applies to {', '.join(formats_that_read(name))}"
                + (f"; {_FILTER}" if name == "labels" else ""),
            )

    @property
    def reads_leniently(self) -> bool:
        """Whether ill-formed tags of column files are repaired, which does not depend on their scheme."""
        return self.invalid in (None, "conlleval")

    def decoder(self, file: str | None = None) -> Decoder:
        """Return a new decoder of tags; `file` names the file in errors."""
        return Decoder(self.scheme, self.invalid or "conlleval", file)

    def has_columns_of(self, other: ReadOptions) -> bool:
        """Return whether the columns of two files have the same uses; the parts that are read may differ."""
        return replace(self, part=None).columns() == replace(other, part=None).columns()

    def columns(self) -> ColumnOptions:
        token = self.token
        if token is None and self.named is not None:
            token = self.named.token
        elif token is None and self.single:
            token = 1
        return ColumnOptions(
            columns_of_layers(self.layers, self.named, ""),
            token,
            self.token_id,
            self.document_column,
            self.columns_of_metadata,
            self.document_tag,
            self.sentence_tag,
            self.part,
            self.max_line,
            self.max_sentence,
            self.sizes,
            self.named,
        )


ENOUGH = 2000
"""The number of lines that are examined."""


def first_values(
    passages: Iterable[Passage], lines: int = ENOUGH
) -> tuple[Layout, Sequence[Mapping[str, int]]] | None:
    """Return the layout of column files, and how often each value occurs in each column of their first lines.

    None for files without tokens, and for those that cannot be read, because reading them raises the error.
    """
    layout, seen = None, list[Counter[str]]()
    try:
        for passage in passages:
            rows = [fields for _, _, fields in islice(passage.rows(), lines)]
            if passage.layout is None or not rows:
                continue
            if layout is None:
                layout, seen = passage.layout, [Counter() for _ in rows[0]]
            columns = zip(*(fields for fields in rows if len(fields) == len(seen)), strict=True)
            for values, column in zip(seen, columns, strict=False):
                values.update(column)
            lines -= len(rows)
            if not lines:
                break
    except CluevalError:
        return None
    return None if layout is None else (layout, seen)


def _share_of_tags(values: Mapping[str, int]) -> float:
    return sum(number for value, number in values.items() if is_tag(value)) / sum(values.values())


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

    @classmethod
    def of(cls, paths: Iterable[Path], options: ReadOptions) -> TagColumns | None:
        """Return the columns of the files of a side; None if their layers do not depend on their first lines."""
        if options.layers is not None or options.annotation_set is not None:
            return None
        found = first_values(_passages(paths, options))
        if found is None:
            return None
        layout, seen = found
        last = layout.layers[0][1]
        others = {layout.token, layout.token_id, layout.document, *(column for _, column in layout.meta)}
        free = {column + 1: values for column, values in enumerate(seen) if column not in others}
        shares = {column: _share_of_tags(values) for column, values in free.items()}
        tags = frozenset(column for column, share in shares.items() if share >= 0.9)
        used = frozenset(column for column in tags if {*free[column]} != {OUTSIDE})
        return cls(tags, used, last + 1, shares.get(last + 1, 0) > 0.5)

    @property
    def own(self) -> frozenset[int]:
        """The columns that are layers if this side is alone and the last column is not the layer."""
        return frozenset() if self.is_read else self.used or self.tags


def _passages(paths: Iterable[Path], options: ReadOptions) -> Iterator[Passage]:
    """Yield the passages of column files that do not say how columns are used, up to the first other file."""
    for path in paths:
        form = options.format_at(path)
        if form.token_lines is None or not form.has_columns:
            return
        of_file = options.with_names(form, path)
        if of_file.named is not None:
            return
        yield from form.token_lines.passages(path, of_file.columns(), complain=lambda _: None)


def layers_in(columns: Collection[int]) -> dict[str, int]:
    """Return columns of tags by the names of their layers: one is called ``label``, several by their numbers."""
    return {DEFAULT_LAYER if len(columns) == 1 else str(column): column for column in columns}


def with_columns_of_tags(sides: Sequence[ReadOptions], files: Sequence[Iterable[Path]]) -> list[ReadOptions]:
    """Return how each side is read, with the columns of tags as layers where no layer is named.

    If the last column holds tags, it is the layer ``label``. Else the columns from 2 on are layers in which every value
    is a tag and, on some side, not every value is O: one is the layer ``label``, several are called by their numbers.
    Sides have the same columns if these hold tags on each of them. Warns of columns that are layers without a name, and
    of columns of tags that are not read.

    Reads the first lines of each side. Sides without `files` stay as they are.
    """
    found = [TagColumns.of(paths, side) for side, paths in zip(sides, files, strict=False)]
    shared = frozenset[int]().union(*(each.used for each in found if each is not None and not each.is_read))
    chosen = list(sides)
    warnings: dict[str, str] = {}
    for number, (each, paths) in enumerate(zip(found, files, strict=False)):
        if each is None:
            continue
        few = 1 if each.is_read else 0  # one column on another side has the same name as the last one here
        is_shared = len(shared) > few and shared <= each.tags
        columns = sorted(shared if is_shared else each.own)
        layers = layers_in(columns)
        if layers:
            chosen[number] = replace(sides[number], layers=layers)
        if len(columns) > 1:
            said = (
                f"columns {listed(columns)} hold tags, so they are the layers {listed(layers)}; "
                f"layers={ {'entity': columns[0]} } names one"
            )
        elif others := sorted(each.used - {each.last} if not columns else ()):
            said = (
                f"the last column is read, but column{'s' * (len(others) > 1)} {listed(others)} "
                f"hold{'s' * (len(others) == 1)} tags, too; layers={ {'entity': others[0]} } names one"
            )
        else:
            continue
        warnings.setdefault(said, next(iter(paths)).name)  # standard input has a path that is not the user's
    for said, file in warnings.items():
        warn(f"{file}: {said}")
    return chosen


def listed(columns: Iterable[int | str]) -> str:
    """Return columns in words.

    >>> listed([2, 3, 4])
    '2, 3 and 4'
    """
    *others, last = map(str, columns)
    return f"{', '.join(others)} and {last}" if others else last


def _given(name: str, value: object) -> str:
    """Return an option with its value, as it is given in Python."""
    if isinstance(value, PathLike):
        value = str(value)
    return f"Reading.{name}={list(value) if isinstance(value, tuple) else value!r}"
