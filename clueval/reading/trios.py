"""Reads gold and the output of two systems in parallel: three files, three folders or three iterables of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Readings, ReadOptions, columns_of_sides, readings_of
from clueval.reading.pairing import document_pairs, same_documents
from clueval.reading.paths import pairs_of
from clueval.reading.same_text import require_same_text
from clueval.reading.source import source_of
from clueval.spans.document import Document
from clueval.textfiles import Progress

Trio = tuple[Document, Document, Document]
"""A document of gold and of each system, of the same text."""


def trios(
    gold: str | Path | Iterable[Document],
    one: str | Path | Iterable[Document],
    two: str | Path | Iterable[Document],
    layers: LayerColumns | None,
    reading: Readings,
    options: Mapping[str, Any],
) -> Iterator[Trio]:
    """Yield the documents of gold and of two systems, which are read alike; the options are those of `clueval.errors`.

    Holds one document of each side. Raises `UsageError` for a path with documents, `TextMismatch` if a system has
    another text than gold, and the errors of reading.
    """
    if isinstance(gold, str | Path):
        if not isinstance(one, str | Path) or not isinstance(two, str | Path):
            raise UsageError("gold is a path and a run is not", advice="give three paths or three iterables")
        sides = columns_of_sides(
            [ReadOptions.of(each) for each in readings_of(reading, options)], layers, False
        )
        found = _of_files(Path(gold), Path(one), Path(two), sides, options.get("progress"))
    else:
        if isinstance(one, str | Path) or isinstance(two, str | Path):
            raise UsageError("gold is no path and a run is one", advice="give three paths or three iterables")
        found = _of_documents(gold, one, two)
    return _same_text(found)


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
