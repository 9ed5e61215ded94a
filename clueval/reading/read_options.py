"""How the files of one side are read: the options for reading, and what an evaluation adds to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path

from clueval.exceptions import FormatError, UsageError
from clueval.formats import all_formats, format_by_ending, format_named, format_of
from clueval.formats.columns.layout import SIZES, ColumnOptions, NamedColumns, Sizes, columns_of_layers
from clueval.formats.format import Format
from clueval.formats.recognition import Beginning
from clueval.limits import line_too_long
from clueval.reading.layers import LayerColumns, LayerSource, columns_of_side, meta_columns, require_name
from clueval.reading.options import Reading
from clueval.tagging.decoder import Decoder
from clueval.textfiles import Part, beginning_of

_FILTER = "where='label=PER' counts only spans with this label"
_FOR_ALL = ("input", "escapes", "max_line", "max_sentence", "max_document")
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
            require_name("layer", layer)
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
        idle = [name for name in self._set() if name not in _FOR_ALL]
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
            tuple(meta_columns(self.meta)),
            self.document_tag,
            self.sentence_tag,
            self.part,
            self.max_line,
            self.max_sentence,
            self.sizes,
            self.named,
        )


def formats_that_read(option: str) -> list[str]:
    """Return the names of the formats that read `option`, a field of `Reading` or ``layers``."""
    return [form.name for form in all_formats() if option in (*form.reads, *_FOR_ALL)]


def _given(name: str, value: object) -> str:
    """Return an option with its value, as it is given in Python."""
    if isinstance(value, PathLike):
        value = str(value)
    return f"Reading.{name}={list(value) if isinstance(value, tuple) else value!r}"
