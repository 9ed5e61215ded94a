"""Reads gold and the output of two systems in parallel: three files, three folders or three iterables of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, tee
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.files.errors import UsageError
from clueval.reading.items import documents_of
from clueval.reading.pairing import document_groups, document_pairs, files_of_side, parallel, same_documents
from clueval.reading.paths import path_pairs
from clueval.reading.read_options import ReadOptions, columns_of_sides, with_columns_of_tags
from clueval.reading.same_text import require_same_text
from clueval.reading.source import Source, beside, source_of
from clueval.reading.tag_sentences import documents_beside, kept
from clueval.second.formats.options import Reading
from clueval.second.reading.options import (
    InputSide,
    LayerColumns,
    Readings,
    readings_of,
    require_none,
    require_positions,
)
from clueval.spans.document import Document

Trio = tuple[Document, Document, Document]
"""A document of gold and of each system, of the same text."""


def trios(
    sides: Mapping[str, InputSide],
    layers: LayerColumns | None,
    reading: Readings,
    options: Mapping[str, Any],
) -> Iterator[Trio]:
    """Yield the documents of gold and of two systems, which are read alike; the options are those of `clueval.errors`.

    `sides` has gold and the two systems by their names in errors. Holds one document of each. Raises `UsageError` for
    a path beside what is in memory, `TextMismatch` if a system has another text than gold, and the errors of reading.
    """
    readings = readings_of(reading, options)
    require_positions(readings, "diff")
    paths = [Path(side) for side in sides.values() if isinstance(side, str | PathLike)]
    if 0 < len(paths) < len(sides):
        kinds = {
            name: "a path" if isinstance(side, str | PathLike) else "in memory"
            for name, side in sides.items()
        }
        raise UsageError(
            ", ".join(f"{name} is {kind}" for name, kind in kinds.items()), advice="give three paths, or none"
        )
    pair_by = options.get("pair_by")
    if are_files(sides, options):
        return chain.from_iterable(map(documents_of_files, sources_of(sides, layers, reading, options)))
    if paths:
        columns = _columns(readings, layers, paths)
        columns[0].require_use(path for side in paths for _, path in files_of_side(side))
        gold, *systems = paths
        one, two = (
            document_groups(gold, system, columns, pair_by, options.get("progress")) for system in systems
        )
        if pair_by is None or pair_by == "name":
            return _same_text(zip(one, two, strict=True))
        return _same_text((each[:2], each[2:]) for each in parallel(one, two, pair_by))
    if pair_by is not None:
        raise UsageError(
            "pair_by pairs documents of files", advice="give dictionaries by id, or the same order"
        )
    for each in readings:
        require_none(each)
    own, *others = sides
    kept_gold = kept(sides[own])
    first, second = (documents_beside(kept_gold, sides[name], name, readings[0]) for name in others)
    once, again = tee(documents_of(kept_gold, own, readings[0].names))
    return _same_text(zip(same_documents(once, first), same_documents(again, second), strict=True))


def are_files(sides: Mapping[str, InputSide], options: Mapping[str, Any]) -> bool:
    """Return whether gold and two systems are paths whose files are paired by their names, and documents in order."""
    return all(isinstance(side, str | PathLike) for side in sides.values()) and options.get("pair_by") is None


def sources_of(
    sides: Mapping[str, InputSide],
    layers: LayerColumns | None,
    reading: Readings,
    options: Mapping[str, Any],
) -> Iterator[tuple[Source, Source, Source]]:
    """Yield the files of gold and of two systems, for which `are_files` holds; the arguments are those of `trios`."""
    paths = [Path(side) for side in sides.values() if isinstance(side, str | PathLike)]
    columns = _columns(readings_of(reading, options), layers, paths)
    columns[0].require_use(path for side in paths for _, path in files_of_side(side))
    of_side = [columns[0], columns[1], columns[1]]
    gold, *systems = paths
    for (name, own, one), (_, _, two) in zip(*(path_pairs(gold, each) for each in systems), strict=True):
        first, second, third = (
            source_of(path, of_path, name=name, progress=options.get("progress"))
            for path, of_path in zip((own, one, two), of_side, strict=True)
        )
        first, second, third = beside(first, second, third)
        yield first, second, third


def _columns(
    readings: Sequence[Reading], layers: LayerColumns | None, paths: Sequence[Path]
) -> list[ReadOptions]:
    """Return how gold and the systems are read; `paths` are those of gold and of both systems."""
    gold, *systems = ([path for _, path in files_of_side(side)] for side in paths)
    sides = columns_of_sides([ReadOptions.of(each) for each in readings], layers, False)
    return with_columns_of_tags(sides, [gold, [path for files in systems for path in files]])


def documents_of_files(sources: Sequence[Source]) -> Iterator[Trio]:
    """Yield the documents of the files of gold and of two systems. Raises `TextMismatch` for different texts."""
    gold, first, second = sources
    again = replace(gold, progress=None)
    return _same_text(zip(document_pairs(gold, first), document_pairs(again, second), strict=True))


def _same_text(pairs: Iterable[tuple[tuple[Document, ...], tuple[Document, ...]]]) -> Iterator[Trio]:
    """Yield gold and both systems, given pairs of gold and the first and of gold and the second system."""
    for (gold, first), (_, second) in pairs:
        for system in (first, second):
            require_same_text(gold, system)
        yield gold, first, second
