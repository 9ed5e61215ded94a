"""A table of alternatives of gold spans, as BioCreative has them in a file of their own.

The table is TSV with a header: ``document`` (the id; it may be missing if there is one document), ``start``, the end
as ``end_inclusive`` or ``end_exclusive``, and one column with labels for each layer; ``fragments`` may have the ranges
of a discontinuous span, as ``0-2;7-8``. A bare ``end`` is inclusive if positions are those of tokens, and exclusive if
they are characters, as in all tables of spans. Positions are those of gold. ``of_start`` and an ``of_end...`` name the
gold span that a row is an alternative of; without them it is the gold span of the layer that shares most positions with
it, the first of equal ones. A row without a label has that of its gold span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from typing import Any, ClassVar, NamedTuple

from clueval.core.document import GROUP, Document, Notes, Pair
from clueval.core.overlap import overlaps_between, shared_positions
from clueval.core.ranges import Ranges
from clueval.core.span import DEFAULT_LAYER, Frozen, Span, name_of
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.transforms.changes import (
    HIDDEN,
    EachPair,
    Note,
    hidden_names,
    in_counting_order,
    text_of_file,
    with_layers,
    with_notes,
)

_BARE = "end"
_ENDS = (_BARE, "end_inclusive", "end_exclusive")
_NOT_LAYERS = {"document", "start", "fragments", "of_start", *_ENDS, *(f"of_{name}" for name in _ENDS)}
_NAME = "alternatives-table"


class End(NamedTuple):
    """An end, and the name of its column, which says whether it is inclusive."""

    position: int
    name: str

    def exclusive(self, unit: str) -> int:
        """Return the position after the last one; `unit` is what positions count."""
        is_inclusive = unit == "token" if self.name == _BARE else self.name == "end_inclusive"
        return self.position + is_inclusive


class Row(NamedTuple):
    """An alternative.

    Attributes:
        line: its line in the table.
        layer: its layer.
        start, end: its first position, and its end.
        fragments: its ranges, if it has several.
        label: its label; None: that of the gold span.
        of: the first position and the end of its gold span, if they are given.
    """

    line: int
    layer: str
    start: int
    end: End
    fragments: Ranges
    label: str | None
    of: tuple[int, End] | None

    @property
    def has_bare_end(self) -> bool:
        """Whether the unit of gold says which positions the row means."""
        ends = [self.end] if self.of is None else [self.end, self.of[1]]
        return not self.fragments and any(end.name == _BARE for end in ends)


@dataclass(frozen=True)
class AlternativesTable(EachPair):
    """A step that adds the alternatives of a table to gold; one of their group counts then.

    Notes count the alternatives.

    Attributes:
        rows: the alternatives by the id of their document; None: of the only one.
        file: the path of the table.
        sha: the beginning of its hash.
    """

    rows: Mapping[str | None, Sequence[Row]]
    file: str
    sha: str

    zeros: ClassVar[Sequence[Note]] = (("gold",),)

    @classmethod
    def of(cls, given: str | PathLike[str]) -> AlternativesTable:
        """Return the step for a file. Raises `FormatError` for a file of another form, `FileError`."""
        path, text, sha = text_of_file(given, "alternatives")
        rows: dict[str | None, list[Row]] = {}
        for document, row in _rows(text, path):
            rows.setdefault(document, []).append(row)
        return cls(rows, path, sha)

    @property
    def signature(self) -> tuple[str, str]:
        return _NAME, self.sha

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        gold = pair.gold
        rows = [] if pair.beside else [*self.rows.get(gold.id, ()), *self.rows.get(None, ())]
        if rows:
            if gold.end is None and any(row.has_bare_end for row in rows):
                raise FormatError(
                    f"the ends under {_BARE!r} may be inclusive or exclusive: gold has neither a text nor tokens",
                    file=self.file,
                    line=1,
                    advice="name the column end_inclusive if it has the last position of each span, else end_exclusive",
                )
            of_layer: dict[str, list[tuple[int, Row]]] = {}
            for number, row in enumerate(rows):
                of_layer.setdefault(row.layer, []).append((number, row))
            changed = {
                layer: self._with_alternatives(gold, layer, numbered) for layer, numbered in of_layer.items()
            }
            pair = replace(pair, gold=with_layers(_having(gold, changed), changed))
        yield with_notes(
            pair, _NAME, {("gold",): len(rows), (HIDDEN, "document", gold.id): int(not pair.beside)}
        )

    def _with_alternatives(
        self, gold: Document, layer: str, numbered: Sequence[tuple[int, Row]]
    ) -> list[Span]:
        """Return the spans of a layer with the alternatives of the rows, each after the last of its group."""
        own = [self._span(row, gold) for _, row in numbered]
        members = _Members(in_counting_order(gold, layer))
        nearest = iter(
            members.nearest([span for span, (_, row) in zip(own, numbered, strict=True) if row.of is None])
        )
        for span, (number, row) in zip(own, numbered, strict=True):
            place = next(nearest) if row.of is None else members.at(row.of[0], row.of[1].exclusive(gold.unit))
            if place is None:
                what = "shares a position with it" if row.of is None else "has these positions"
                raise self._error(
                    UsageError,
                    f"no gold span of layer {layer!r} {what}, so the row is an alternative of nothing",
                    row,
                    gold,
                    "check document and positions",
                )
            members.add(place, span, row.label, f"table {number}")
        return members.spans()

    def _span(self, row: Row, gold: Document) -> Span:
        """Return the span of a row. Raises `CluevalError` for positions that gold does not have."""
        try:
            ranges = row.fragments or ((row.start, row.end.exclusive(gold.unit)),)
            span = Span.of_fragments(ranges, Frozen({row.layer: row.label}), line=row.line)
        except CluevalError as error:
            error.file = self.file
            raise
        if gold.end is not None and not gold.start <= span.start <= span.end <= gold.end:
            problem = f"the span {name_of(span)} lies outside the text"
            raise self._error(FormatError, problem, row, gold, "positions are those of gold")
        return span

    def _error(
        self, kind: type[CluevalError], problem: str, row: Row, gold: Document, advice: str
    ) -> CluevalError:
        return kind(problem, file=self.file, line=row.line, document=gold.id, advice=advice)

    def check(self, notes: Notes) -> Sequence[str]:
        """Raise `UsageError` for a document that gold does not have."""
        seen = hidden_names(notes, _NAME, "document")
        for document, rows in self.rows.items():
            if document is not None and document not in seen:
                raise UsageError(
                    f"gold has no document {document!r}",
                    file=self.file,
                    line=rows[0].line,
                    advice="check the column document",
                )
        if None in self.rows and len(seen) > 1:
            raise UsageError(
                "gold has several documents, so the table needs the column 'document'", file=self.file
            )
        return ()


def _having(document: Document, layers: Mapping[str, Any]) -> Document:
    """Return the document with at least these layers."""
    missing = {layer: () for layer in layers if layer not in document.layers}
    return replace(document, layers={**document.layers, **missing}) if missing else document


class _Members:
    """The gold spans of a layer, with the alternatives that were added to them.

    Of each group, and of each span without one, the first span is the main one; others are found by it.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._lists = [[span] for span in spans]  # each span, and the alternatives after it
        mains: dict[Any, int] = {}
        lasts: dict[Any, int] = {}
        for place, span in enumerate(spans):
            key = span.features.get(GROUP, place)
            mains.setdefault(key, place)
            lasts[key] = place
        self._mains = list(mains.values())
        self._lasts = {place: lasts[key] for key, place in mains.items()}
        self._by_range = {(spans[n].start, spans[n].end): n for n in reversed(self._mains)}

    def at(self, start: int, end: int) -> int | None:
        """Return the number of the first main span with these positions."""
        return self._by_range.get((start, end))

    def nearest(self, spans: Sequence[Span]) -> list[int | None]:
        """Return for each span the number of the main span that shares most positions, the first of equal ones."""
        mains = [self._lists[place][0] for place in self._mains]
        found: list[int | None] = []
        for span, around in zip(spans, overlaps_between(spans, mains)[0], strict=True):
            shared = [(-shared_positions(mains[number], span), self._mains[number]) for number in around]
            number, place = min(shared, default=(0, None))
            found.append(place if number else None)
        return found

    def add(self, place: int, span: Span, label: str | None, group: str) -> None:
        """Add an alternative of a main span, which gets the name of a group if it has none."""
        main = self._lists[place][0]
        if GROUP not in main.features:
            main = self._lists[place][0] = replace(main, features={**main.features, GROUP: group})
        labels = main.labels if label is None else span.labels
        added = replace(span, labels=labels, features=Frozen({GROUP: main.features[GROUP]}))
        self._lists[self._lasts[place]].append(added)

    def spans(self) -> list[Span]:
        """Return the spans, alternatives after the last of their group."""
        return list(chain.from_iterable(self._lists))


# Reading


def _rows(text: str, file: str) -> Iterator[tuple[str | None, Row]]:
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
        fragments = _ranges(cells.get("fragments", ""), file, number)
        of = None
        if of_ends and cells["of_start"]:
            first, last = (_position(cells[f"of_{name}"], file, number) for name in ("start", of_ends[0]))
            of = first, End(last, of_ends[0])
        for layer in [layer for layer in layers if cells.get(layer)] or layers[:1]:
            label = cells.get(layer) or None
            yield cells.get("document"), Row(number, layer, start, End(end, ends[0]), fragments, label, of)


def _ranges(given: str, file: str, line: int) -> Ranges:
    parts = [part.partition("-") for part in given.split(";")] if given else []
    return tuple((_position(first, file, line), _position(last, file, line) + 1) for first, _, last in parts)


def _position(text: str, file: str, line: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise FormatError(
            f"{text[:40]!r} is not a position", file=file, line=line, advice="a number from 0 on"
        )
    return int(text)
