"""Reads gold and the output of two systems in parallel: three files, three folders or three iterables of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import tee
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.reading.given import InputSide, documents_of
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Readings, readings_of, require_positions
from clueval.reading.pairing import document_pairs, same_documents
from clueval.reading.paths import pairs_of
from clueval.reading.read_options import ReadOptions, columns_of_sides
from clueval.reading.same_text import require_same_text
from clueval.reading.source import source_of
from clueval.spans.document import Document
from clueval.textfiles import Progress

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
    if paths:
        columns = columns_of_sides([ReadOptions.of(each) for each in readings], layers, False)
        return _same_text(_of_files(paths[0], paths[1], paths[2], columns, options.get("progress")))
    for each in readings:
        each.require_none()
    return _same_text(_of_documents(*(documents_of(side, name) for name, side in sides.items())))


def _of_files(
    gold: Path, one: Path, two: Path, options: Sequence[ReadOptions], progress: Progress | None
) -> Iterator[Trio]:
    pairs = pairs_of(gold, one), pairs_of(gold, two)
    options[0].require_use(path for listed in pairs for _, *both in listed for path in both)
    for (name, own, before), (_, _, after) in zip(*pairs, strict=True):
        runs = []
        for path in (before, after):
            golds = source_of(own, options[0], name=name, progress=progress)
            runs.append(document_pairs(golds, source_of(path, options[1], name=name, progress=progress)))
        for (document, first), (_, second) in zip(*runs, strict=True):
            yield document, first, second


def _of_documents(
    gold: Iterable[Document], one: Iterable[Document], two: Iterable[Document]
) -> Iterator[Trio]:
    golds, again = tee(gold)
    for (document, first), (_, second) in zip(
        same_documents(golds, one), same_documents(again, two), strict=True
    ):
        yield document, first, second


def _same_text(found: Iterable[Trio]) -> Iterator[Trio]:
    for gold, *systems in found:
        for system in systems:
            require_same_text(gold, system)
        yield gold, systems[0], systems[1]
