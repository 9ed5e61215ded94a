"""Reads the documents of one side, file by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.core.document import Document, Unit
from clueval.files.errors import UsageError
from clueval.files.options import checked_call, field_names, refuse_unknown, require_instance, with_fields
from clueval.formats.options import USUAL_READING, FormatOptions, LayerSource, Reading, require_layers
from clueval.formats.span_forms import REPAIRED_TAGS
from clueval.reading import spooled
from clueval.reading.file_sides import Side, require_use, with_layers
from clueval.reading.paths import as_path, named_files


@checked_call
def read(
    path: Any,
    layers: Mapping[str, LayerSource] | None = None,
    *,
    reading: Reading = USUAL_READING,
    unit: Unit | None = None,
    **options: Any,
) -> Iterator[Document]:
    r"""Yield the documents of a file, or of all files below a folder, one at a time.

    Args:
        path: a file (``.gz`` files are read, too), a folder, an archive, a pattern (`clueval.reading.paths`) or
            an open file.
        layers: the name and column of each layer; columns count from 1, or from -1 at the end; formats with
            named sources take their names. None: the last column or the usual source, called ``label``; if the last
            column holds no tags, the columns that do (`clueval.reading.tag_columns`); for a table of spans,
            every column without positions.
        reading: how files are read.
        unit: the unit of positions, for DocBin, which has both; None: ``character``.
        options: any field of `clueval.formats.options.Reading` by its own name, as in ``token_id=4``.

    Raises `CluevalError` for invalid input, with file and line, and `UsageError` for an option that does not
    exist or does not apply to the formats of these files.

    >>> from io import StringIO
    >>> [document] = read(StringIO("Ada B-PER\nslept O\n"))
    >>> document.tokens, document.layers["label"][0].label
    (['Ada', 'slept'], 'PER')
    """
    return documents_of(path, options_for_one_side("read", layers, reading, options, unit))


def options_for_one_side(
    caller: str,
    layers: Mapping[str, LayerSource] | None,
    reading: Reading,
    options: Mapping[str, Any],
    unit: Unit | None = None,
) -> FormatOptions:
    """Return how files are read. Raises `UsageError` for options that do not exist, and for two columns of a layer."""
    refuse_unknown(options, ["layers", *field_names(Reading)], caller)
    require_instance(reading, Reading, "reading")
    require_layers(layers)
    if options.get("missing", reading.missing) is not None:
        raise UsageError(f"missing is for answers to the documents of gold, and {caller} has one side")
    if layers is not None and not all(isinstance(source, int | str) for source in layers.values()):
        raise UsageError(
            f"{caller} has one side, so each layer has one column", advice="layers={'entity': 2}"
        )
    if layers is not None and not layers:
        raise UsageError("there is no layer", advice="name one, as in layers={'entity': 2}")
    return FormatOptions.of(with_fields(reading, options), layers, unit=unit)


def documents_of(
    path_or_file: Any, options: FormatOptions, passed_over: Counter[str] | None = None
) -> Iterator[Document]:
    """Yield the documents of a path or an open file; `passed_over` counts what is not read of each file, by kind.

    It also counts tags that are repaired.
    """
    with spooled(path_or_file) as (path,):
        for name, file, side in files_of_paths([path], options):
            source = side.source(file, name)
            if passed_over is None:
                yield from source.documents()
                continue
            from clueval.core.bag import Read  # reading alone needs neither
            from clueval.reading.source import treatment_of

            read = Read()
            for document in source.documents():
                read.add_tags(side.name, document)
                yield document
            source.see(read, side.name)
            passed_over.update(+source.file.passed_over)
            if treatment_of(source.form, options.invalid) == "conlleval":
                read.settle({side.name: options.scheme})
                passed_over[REPAIRED_TAGS] += read.repaired(side.name)


def files_of_paths(paths: Sequence[Any], options: FormatOptions) -> Iterator[tuple[str | None, Path, Side]]:
    """Yield the files of paths and folders with their names and their sides, before they are opened."""
    sides: Sequence[Side] = [Side(str(path), named_files(as_path(path)), options) for path in paths]
    require_use(options, sides)
    if options.layers is None:
        sides = with_layers(sides)
    for side in sides:
        for name, path in side.files:
            yield name, path, side
