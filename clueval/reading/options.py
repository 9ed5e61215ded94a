"""How the sides of a corpus are given and read: paths or values, the options of each side, the layers that are named.

`Reading` (`clueval.formats.options`) has the options; here they become those of each side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.core.document import UNANNOTATED, Document, same_id
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import is_tag
from clueval.files.errors import UsageError, described, with_noun
from clueval.files.options import changed_values, field_names, require_instance, require_kind, with_fields
from clueval.formats.options import Reading

if TYPE_CHECKING:
    from clueval.core.bag import Read

# Sides


Readings = Reading | tuple[Reading, ...]
"""How files are read: one value for both sides, or one for gold, predicted and each further set of predicted."""

InputSide = str | PathLike[str] | Document | Iterable[Any]
"""One side as people give it: a path, a document, or an open file, list, iterator or dictionary of items."""

PAIR_BY = ("id", "name", "content")
"""The ways to pair documents: by the id of the document, by the name of its file, by its text."""

SETS = ("gold_set", "predicted_set")

MENTIONS, INLINE = ANSWER_FORMATS = ("mentions", "inline")
"""The formats of answers of language models; only predicted can have the first."""


def readings_of(reading: Readings, options: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return how gold, predicted and further sets are read; single `options` replace fields of `reading`."""
    several = reading if isinstance(reading, tuple) else (reading, reading)
    if len(several) < 2:
        raise UsageError("reading has one side only", advice="pass one Reading, or one for each side")
    for side_reading in several:
        require_instance(side_reading, Reading, "reading")
    readings = [with_fields(side_reading, options) for side_reading in several]
    if readings[1].input in (MENTIONS, INLINE):
        if readings[0].input != INLINE or readings[0].row is not None:
            readings[0] = without_answers(readings[0])
        readings[1] = replace(readings[1], row=None)
    for side, name in enumerate(SETS):
        require_kind(options.get(name), "str | None", name)
        if options.get(name) is not None:
            readings[side] = with_fields(readings[side], {"annotation_set": options[name]})
    return tuple(readings)


def without_answers(reading: Reading) -> Reading:
    """Return the options of gold, whose text answers are placed on, without those for answers."""
    format_name = None if reading.input in (MENTIONS, INLINE) else reading.input
    return replace(reading, input=format_name, unparsable=None, missing=None, labels=None)


def chosen_options(reading: Reading) -> list[str]:
    """Return the names of the options that are set, except the input and the annotation set.

    ``ignore_punct=False`` applies to every format, because no other format removes punctuation.
    """
    return [
        name
        for name, value in changed_values(reading).items()
        if name in _APPLYING and (name, value) != ("ignore_punct", False)
    ]


_APPLYING = frozenset(field_names(Reading)) - {"input", "annotation_set"}


def require_none(reading: Reading, allowed: Collection[str]) -> None:
    """Raise `UsageError` for an option that is set, except the `allowed`, because there are no files to read."""
    always = [name for name in ("input", "annotation_set") if getattr(reading, name)]
    for name in [*chosen_options(reading), *always]:
        if name not in allowed:
            from clueval.files.names import in_memory  # only for options that do not apply

            setting = name if name == "text" else f"{name}={getattr(reading, name)!r}"
            raise UsageError(
                f"{setting} applies to files, but both sides are in memory",
                advice=in_memory(name) or "remove it, or pass it to read",
            )


# Layers

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
                f"layer {name!r} has {with_noun(len(both), 'columns')}",
                advice="give one column, or one for gold and one for predicted",
            )
        for number, column in enumerate(both):
            named = " | str" if not str(column).lstrip("+-").isdigit() else ""  # "2" is meant as a column
            kinds = f"int{named} | None" if number else f"int{named}"
            require_kind(column, kinds, f"the column of layer {name!r}")


def layer_names(layers: LayerColumns | None) -> list[str]:
    """Return the names of the layers; without `layers`, there is one, called `DEFAULT_LAYER`."""
    return [DEFAULT_LAYER] if layers is None else list(layers)


def columns_of_side(
    layers: LayerColumns | None, side: int, single_file: bool
) -> Mapping[str, LayerSource] | None:
    """Return the sources of the gold (0) or predicted (1) side: by default, the last two columns of a single file."""
    if layers is None:
        return {DEFAULT_LAYER: side - 2} if single_file else None
    if single_file and (
        alone := [name for name, columns in layers.items() if not isinstance(columns, tuple)]
    ):
        raise UsageError(
            f"layer {alone[0]!r} has one column, but gold and predicted are in one file",
            advice="give both columns, as in layers={'entity': (2, 3)}",
        )
    sources = {
        name: columns[side] if isinstance(columns, tuple) else columns for name, columns in layers.items()
    }
    return {name: source for name, source in sources.items() if source is not None}


# Texts

Text = tuple[Document, ...]
"""The documents of one text, one for each side."""


def answers_in_gold(side: str, file: str | None) -> UsageError:
    return UsageError(
        f"{side} has answers of a language model, which have no text",
        file=file,
        advice="give gold with texts and spans; rows with other keys need row='text=...,spans=...'",
    )


def with_id_of(first: Document, other: Document, *, is_nameless: bool = False) -> Document:
    """Return a document with the id of the first of its text if one has none; `is_nameless`: in any case."""
    if first.id == other.id or not (is_nameless or same_id(first.id, other.id)):
        return other
    return replace(other, id=first.id)


def checked_texts(texts: Iterable[Text], names: Sequence[str], read: Read | None) -> Iterator[Text]:
    """Yield the texts that the first side has annotated; sides after the second must have the text of the first.

    `read` gets the number of the other texts.
    """
    for text in texts:
        if UNANNOTATED in text[0].metadata:
            if read is not None:
                read.passed_over[names[0], UNANNOTATED] += 1
            continue
        if len(text) > 2:
            from clueval.reading.same_text import require_same_text  # two sides: where they are counted

            for name, document in zip(names[2:], text[2:], strict=True):
                require_same_text(text[0], document, (names[0], name))
        yield text


# Paths and open files

STDIN = "-"
"""The path that stands for standard input."""


def _is_path(side: object) -> bool:
    return isinstance(side, str | PathLike) or is_open_file(side)


def is_path_or_paths(side: object) -> bool:
    """Return whether a side is a path, an open file, or a list of them; strings that are tags are tags."""
    if not isinstance(side, list | tuple):
        return _is_path(side)
    return bool(side) and all(map(_is_path, side)) and not (isinstance(side[0], str) and is_tag(side[0]))


def is_open_file(side: object) -> bool:
    """Return whether an argument is an open file, of text or bytes."""
    return hasattr(side, "read") and hasattr(side, "readline")


def is_read_once(side: object) -> bool:
    """Return whether a side can be read only once: an open file or an iterator, or a list or dictionary with one."""
    items = side.values() if isinstance(side, Mapping) else side if isinstance(side, list | tuple) else ()
    return _needs_spooling(side) or any(
        issubclass(kind, Iterator) for kind in {type(side), *map(type, items)}
    )


def _needs_spooling(side: object) -> bool:
    """Return whether an argument is standard input, an open file, or a list of files with one of them."""
    files: Iterable[object] = [side]
    if isinstance(side, list | tuple) and side and not isinstance(side[0], list | tuple):
        files = side
    return any(map(_is_open, files))


def _is_open(file: object) -> bool:
    return is_open_file(file) or (isinstance(file, str | Path) and str(file) == STDIN)


@contextmanager
def spooled(*sides: Any) -> Iterator[list[Any]]:
    """Provide the arguments with a path in place of standard input and of each open file; other arguments unchanged.

    Raises `UsageError` if standard input is used twice, `FileError` for a file that cannot be read.
    """
    if not any(map(_needs_spooling, sides)):
        yield list(sides)
        return
    from clueval.files.opening import copies  # not needed for what is in memory

    with copies() as copy:

        def path(file: Any) -> Any:
            return copy(file) if _is_open(file) else file

        yield [list(map(path, side)) if isinstance(side, list | tuple) else path(side) for side in sides]
