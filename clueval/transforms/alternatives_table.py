"""A table of alternatives of gold spans, as BioCreative has them in a file of their own.

The table is TSV with a header: ``document`` (the id; it may be missing if there is one document), ``start``, the end
as ``end_inclusive`` (or ``end``) or ``end_exclusive``, and one column with labels for each layer; ``fragments`` may
have the ranges of a discontinuous span, as ``0-2;7-8``. Positions are those of gold. ``of_start`` and an
``of_end...`` name the gold span that a row is an alternative of; without them it is the gold span of the layer that
shares most positions with it, the first of equal ones. A row without a label has that of its gold span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from typing import Any, NamedTuple

from clueval.exceptions import CluevalError, FormatError, UsageError
from clueval.spans.document import Document
from clueval.spans.features import GROUP
from clueval.spans.index import SpanIndex
from clueval.spans.overlaps import shared_positions
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span, name_of
from clueval.textfiles import decoded
from clueval.transforms.group import Group
from clueval.transforms.names import HIDDEN, content_of, sha8, with_layers

_ENDS = {"end": 1, "end_inclusive": 1, "end_exclusive": 0}
_NOT_LAYERS = {"document", "start", "fragments", "of_start", *_ENDS, *(f"of_{name}" for name in _ENDS)}


class _Row(NamedTuple):
    """An alternative: its line, its layer, its ranges, its label (None: that of the gold span), its gold span."""

    line: int
    layer: str
    ranges: tuple[tuple[int, int], ...]
    label: str | None
    of: tuple[int, int] | None


class AlternativesTable:
    """A transform that adds the alternatives of a table to gold; one of their group counts then.

    `prepared` counts the alternatives.
    """

    def __init__(self, given: str | PathLike[str]) -> None:
        path, content = content_of(given, "Preparing.alternatives")
        self._file = str(path)
        text = decoded(content.removeprefix(b"\xef\xbb\xbf"), path, 1)
        self._rows: dict[str | None, list[_Row]] = {}
        for document, row in _rows(text, self._file):
            self._rows.setdefault(document, []).append(row)
        self.signature = ("alternatives-table", sha8(content))
        self.prepared: Counter[tuple[Any, ...]] = Counter({("gold",): 0})

    def __call__(self, group: Group) -> Group:
        gold = group.gold
        self.prepared[HIDDEN, "document", gold.id] += 1
        rows = [*self._rows.get(gold.id, ()), *self._rows.get(None, ())]
        if not rows:
            return group
        layers = {row.layer: _GroupsOfLayer(gold.layers.get(row.layer, ()), gold) for row in rows}
        for number, row in enumerate(rows):
            self._add(row, layers[row.layer], gold, number)
        self.prepared[("gold",)] += len(rows)
        changed = {layer: members.spans() for layer, members in layers.items()}
        return replace(group, gold=with_layers(gold, changed))

    def _add(self, row: _Row, members: _GroupsOfLayer, gold: Document, number: int) -> None:
        """Add an alternative after the members of its group."""
        try:
            own = Span.of_fragments(row.ranges, Frozen({row.layer: row.label}), line=row.line)
        except CluevalError as error:
            error.file = self._file
            raise
        if gold.end is not None and not gold.start <= own.start <= own.end <= gold.end:
            raise FormatError(
                f"the span {name_of(own)} lies outside the text",
                file=self._file,
                line=row.line,
                document=gold.id,
                advice="positions are those of gold",
            )
        place = members.nearest(own) if row.of is None else members.at(row.of)
        if place is None:
            what = "shares a position with it" if row.of is None else "has these positions"
            raise UsageError(
                f"no gold span of layer {row.layer!r} {what}, so the row is an alternative of nothing",
                file=self._file,
                line=row.line,
                document=gold.id,
                advice="check document and positions",
            )
        members.add(place, own, row.label, f"table {number}")

    def check(self, prepared: Mapping[tuple[Any, ...], int]) -> None:
        """Raise `UsageError` for a document that gold does not have."""
        seen = {key[2] for key in prepared if key[:2] == (HIDDEN, "document")}
        for document, rows in self._rows.items():
            if document is not None and document not in seen:
                raise UsageError(
                    f"gold has no document {document!r}",
                    file=self._file,
                    line=rows[0].line,
                    advice="check the column document",
                )
        if None in self._rows and len(seen) > 1:
            raise UsageError(
                "gold has several documents, so the table needs the column 'document'", file=self._file
            )


class _GroupsOfLayer:
    """The gold spans of a layer, with the alternatives that were added to them."""

    def __init__(self, spans: Sequence[Span], gold: Document) -> None:
        self._lists = [[span] for span in spans]  # each span, and the alternatives after it
        self._mains: dict[
            Any, int
        ] = {}  # the number of the first span of each group, and of each span without one
        lasts: dict[Any, int] = {}
        for place, span in enumerate(spans):
            key = span.features.get(GROUP, place)
            self._mains.setdefault(key, place)
            lasts[key] = place
        self._lasts = {place: lasts[key] for key, place in self._mains.items()}
        self._places = {id(spans[place]): place for place in reversed(self._mains.values())}
        self._by_range = {(spans[n].start, spans[n].end): n for n in reversed(self._mains.values())}
        self._index = SpanIndex((spans[place] for place in self._mains.values()), gold)

    def at(self, positions: tuple[int, int]) -> int | None:
        """Return the number of the first main span with these positions."""
        return self._by_range.get(positions)

    def nearest(self, own: Span) -> int | None:
        """Return the number of the main span that shares most positions with a span, the first of equal ones."""
        shared = [
            (-shared_positions(span, own), self._places[id(span)]) for span in self._index.overlapping(own)
        ]
        number, place = min(shared, default=(0, None))
        return place if number else None

    def add(self, place: int, own: Span, label: str | None, group: str) -> None:
        """Add an alternative of a main span, which gets the name of a group if it has none."""
        main = self._lists[place][0]
        if GROUP not in main.features:
            main = self._lists[place][0] = replace(main, features={**main.features, GROUP: group})
        labels = main.labels if label is None else own.labels
        added = replace(own, labels=labels, features=Frozen({GROUP: main.features[GROUP]}))
        self._lists[self._lasts[place]].append(added)

    def spans(self) -> list[Span]:
        """Return the spans, alternatives after the last of their group."""
        return list(chain.from_iterable(self._lists))


def _rows(text: str, file: str) -> Iterator[tuple[str | None, _Row]]:
    lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    names = lines[0][1].split("\t") if lines else []
    ends = [name for name in _ENDS if name in names]
    of_ends = [name for name in _ENDS if f"of_{name}" in names]
    if "start" not in names or len(ends) != 1 or len(set(names)) < len(names) or len(of_ends) > 1:
        raise FormatError(
            "the header lacks a column 'start' or one column for the end",
            file=file,
            line=1,
            advice="as in document, start, end_inclusive, label",
        )
    if bool(of_ends) != ("of_start" in names):
        raise FormatError(
            "of_start and of_end_inclusive need each other", file=file, line=1, advice="add both"
        )
    layers = [name for name in names if name not in _NOT_LAYERS] or [DEFAULT_LAYER]
    for number, line in lines[1:]:
        values = line.split("\t")
        if len(values) != len(names):
            raise FormatError(
                f"the line has {len(values)} fields, the header has {len(names)}",
                file=file,
                line=number,
                advice="each line needs a field for each column; fields may be empty",
            )
        cells = dict(zip(names, values, strict=True))
        start, end = (_position(cells[name], file, number) for name in ("start", ends[0]))
        ranges = _ranges(cells.get("fragments", ""), file, number) or ((start, end + _ENDS[ends[0]]),)
        of = None
        if of_ends and cells["of_start"]:
            first, last = (_position(cells[f"of_{name}"], file, number) for name in ("start", of_ends[0]))
            of = first, last + _ENDS[of_ends[0]]
        named = [layer for layer in layers if cells.get(layer)] or layers[:1]
        for layer in named:
            yield cells.get("document"), _Row(number, layer, ranges, cells.get(layer) or None, of)


def _ranges(given: str, file: str, line: int) -> tuple[tuple[int, int], ...]:
    parts = [part.partition("-") for part in given.split(";")] if given else []
    return tuple((_position(first, file, line), _position(last, file, line) + 1) for first, _, last in parts)


def _position(text: str, file: str, line: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise FormatError(
            f"{text[:40]!r} is not a position", file=file, line=line, advice="a number from 0 on"
        )
    return int(text)
