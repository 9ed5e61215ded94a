"""Several golds: the nearest of several golds, and a table of alternatives of gold spans.

BioCreative has alternatives in a file of their own. The table is TSV with a header: ``document`` (the id; it may be
missing if there is one document), ``start``, the end as ``end_inclusive`` or ``end_exclusive``, and one column with
labels for each layer; ``fragments`` may have the ranges of a discontinuous span, as ``0-2;7-8``. A bare ``end`` is
inclusive if positions are those of tokens, and exclusive if they are characters, as in all tables of spans. Positions
are those of gold. ``of_start`` and an ``of_end...`` name the gold span that a row is an alternative of; without them it
is the gold span of the layer that shares most positions with it, the first of equal ones. A row without a label has
that of its gold span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fsdecode
from typing import Any, ClassVar, NamedTuple

from clueval.core.count import Step
from clueval.core.document import GROUP, UNANNOTATED, Document, Notes, Pair
from clueval.core.span import DEFAULT_LAYER, Frozen, Ranges, Span, name_of, overlaps_between, shared_positions
from clueval.files.errors import CluevalError, FormatError, UsageError, with_noun
from clueval.files.opening import tsv_cells
from clueval.transforms.changes import (
    ANY_OF,
    HIDDEN,
    EachPair,
    Note,
    hidden_names,
    in_counting_order,
    place_and_label,
    text_of_file,
    with_layers,
    with_notes,
)


@dataclass(frozen=True)
class AnyOf(Step):
    """A step that chooses, of each text, the gold that is nearest to predicted ("any annotator is right").

    It is given a pair for each gold, in the order of `names`, and returns one of them, with the pairs beside it.
    Nearest is the gold with the fewest errors, false negatives and false positives together, where a span is right if
    the other side has one with the same fragments and label. All layers count, and of equally near golds the first is
    taken. A gold that has not annotated the text, as the first has, is not chosen.

    Notes count the texts of each gold, by its name. What earlier steps changed in the pairs that are not chosen is
    dropped, except the names that they need for their checks: a label that only another annotator uses occurs.
    Raises `UsageError` for two golds of one name.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for number, name in enumerate(self.names):
            if name in self.names[:number]:
                raise UsageError(f"two golds are called {name!r}", advice="give each gold once")

    @property
    def signature(self) -> tuple[str, str]:
        return ANY_OF, f"best-of-{len(self.names)}"

    @property
    def zeros(self) -> list[Note]:
        return [(name,) for name in self.names]

    def __call__(self, pairs: Sequence[Pair]) -> list[Pair]:
        of_golds: list[list[Pair]] = []
        for pair in pairs:
            if pair.beside:
                of_golds[-1].append(pair)
            else:
                of_golds.append([pair])
        annotated = [n for n, (pair, *_) in enumerate(of_golds) if UNANNOTATED not in pair.gold.metadata]
        nearest = min(annotated, key=lambda number: _errors(of_golds[number][0]))
        notes: Counter[Note] = Counter({(ANY_OF, self.names[nearest]): 1})
        for number, several in enumerate(of_golds):
            for pair in several if number != nearest else ():
                notes.update({key: times for key, times in pair.notes.items() if key[1] == HIDDEN})
        chosen, *beside = of_golds[nearest]
        return [replace(chosen, notes=dict(notes + Counter(chosen.notes))), *beside]


def _errors(pair: Pair) -> int:
    number = 0
    for layer in dict.fromkeys([*pair.gold.layers, *pair.predicted.layers]):
        gold, predicted = (
            {place_and_label(span, layer) for span in side.layers.get(layer, ())} for side in pair.sides
        )
        number += len(gold ^ predicted)
    return number


def names_of_golds(gold: Any, further: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of golds: their paths as given, or their places among the arguments.

    >>> names_of_golds("a.vrt", ["b.vrt", []])
    ('a.vrt', 'b.vrt', 'any_of[1]')
    """
    golds = [gold, *further]
    names = ["gold", *(f"{ANY_OF}[{number}]" for number in range(len(golds) - 1))]
    return tuple(
        fsdecode(source) if isinstance(source, str | PathLike) else name
        for name, source in zip(names, golds, strict=True)
    )


# A table of alternatives

_BARE = "end"
_ENDS = (_BARE, "end_inclusive", "end_exclusive")
_NOT_LAYERS = {"document", "start", "fragments", "of_start", *_ENDS, *(f"of_{name}" for name in _ENDS)}
_NAME = "alternatives-table"


class Row(NamedTuple):
    """An alternative.

    Attributes:
        line: its line in the table.
        layer: its layer.
        place: its first position, and its end as the table has it.
        fragments: its ranges, if it has several.
        label: its label; None: that of the gold span.
        of: the first position and the end of its gold span, if they are given.
    """

    line: int
    layer: str
    place: tuple[int, int]
    fragments: Ranges
    label: str | None
    of: tuple[int, int] | None


@dataclass(frozen=True)
class AlternativesTable(EachPair):
    """A step that adds the alternatives of a table to gold; one of their group counts then.

    Notes count the alternatives.

    Attributes:
        rows: the alternatives by the id of their document; None: of the only one.
        ends: the names of the columns of the ends, of rows and of their gold spans.
        file: the path of the table.
        sha: the beginning of its hash.
    """

    rows: Mapping[str | None, Sequence[Row]]
    ends: tuple[str, str]
    file: str
    sha: str

    zeros: ClassVar[Sequence[Note]] = (("gold",),)

    @classmethod
    def of(cls, source: str | PathLike[str]) -> AlternativesTable:
        """Return the step for a file. Raises `FormatError` for a file of another form, `FileError`."""
        path, text, sha = text_of_file(source, "alternatives")
        lines = [(n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        names = tsv_cells(lines[0][1]) if lines else []
        ends = _ends_of(names, path)
        rows: dict[str | None, list[Row]] = {}
        for number, line in lines[1:]:
            values = tsv_cells(line)
            if len(values) != len(names):
                raise FormatError(
                    f"the line has {with_noun(len(values), 'fields')}, the header has {len(names)}",
                    file=path,
                    line=number,
                    advice="each line needs a field for each column; fields may be empty",
                )
            cells = dict(zip(names, values, strict=True))
            rows.setdefault(cells.get("document"), []).extend(_rows(cells, ends, path, number))
        return cls(rows, ends, path, sha)

    @property
    def signature(self) -> tuple[str, str]:
        return _NAME, self.sha

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        gold = pair.gold
        rows = [] if pair.beside else [*self.rows.get(gold.id, ()), *self.rows.get(None, ())]
        needing_unit = [
            row for row in rows if not row.fragments and _BARE in self.ends[: 1 if row.of is None else 2]
        ]
        if gold.end is None and needing_unit:
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
            layer: self._with_alternatives(gold, layer, several) for layer, several in of_layer.items()
        }
        if changed:
            with_empty_layers = replace(
                gold, layers={**gold.layers, **{layer: gold.layers.get(layer, ()) for layer in changed}}
            )
            pair = replace(pair, gold=with_layers(with_empty_layers, changed))
        yield with_notes(
            pair, _NAME, {("gold",): len(rows), (HIDDEN, "document", gold.id): int(not pair.beside)}
        )

    def _range(self, place: tuple[int, int], end: str, unit: str) -> tuple[int, int]:
        """Return a range whose end is in a column of this name; `unit` is what positions count."""
        is_inclusive = unit == "token" if end == _BARE else end == "end_inclusive"
        return place[0], place[1] + is_inclusive

    def _with_alternatives(
        self, gold: Document, layer: str, numbered: Sequence[tuple[int, Row]]
    ) -> list[Span]:
        """Return the spans of a layer with the alternatives of the rows, each after the last of its group."""
        spans = list(in_counting_order(gold, layer))
        groups: dict[Hashable, list[int]] = {}
        for number, span in enumerate(spans):
            value = span.features.get(GROUP)
            key = (value,) if isinstance(value, Hashable) else repr(value)
            groups.setdefault(number if GROUP not in span.features else key, []).append(number)
        last_of = {several[0]: several[-1] for several in groups.values()}
        at = {(spans[number].start, spans[number].end): number for number in reversed(last_of)}
        alternatives = [self._span(row, gold) for _, row in numbered]
        mains = list(last_of)
        around = overlaps_between(alternatives, [spans[number] for number in mains])[0]
        added: dict[int, list[Span]] = {}
        for span, near, (number, row) in zip(alternatives, around, numbered, strict=True):
            if row.of is None:
                shared = [(-shared_positions(spans[mains[other]], span), mains[other]) for other in near]
                most, nearest = min(shared, default=(0, -1))
                place = nearest if most else None
            else:
                place = at.get(self._range(row.of, self.ends[1], gold.unit))
            if place is None:
                what = "shares a position with it" if row.of is None else "has these positions"
                raise UsageError(
                    f"no gold span of layer {layer!r} {what}, so the row is an alternative of nothing",
                    file=self.file,
                    line=row.line,
                    document=gold.id,
                    advice="check document and positions",
                )
            main = spans[place]
            if GROUP not in main.features:
                main = spans[place] = replace(main, features={**main.features, GROUP: f"table {number}"})
            labels = main.labels if row.label is None else span.labels
            features = Frozen({GROUP: main.features[GROUP]})
            added.setdefault(last_of[place], []).append(replace(span, labels=labels, features=features))
        return [member for number, span in enumerate(spans) for member in (span, *added.get(number, ()))]

    def _span(self, row: Row, gold: Document) -> Span:
        """Return the span of a row. Raises `CluevalError` for positions that gold does not have."""
        try:
            ranges = row.fragments or (self._range(row.place, self.ends[0], gold.unit),)
            span = Span.of_fragments(ranges, Frozen({row.layer: row.label}), line=row.line)
        except CluevalError as error:
            error.file = self.file
            raise
        if gold.end is not None and not gold.start <= span.start <= span.end <= gold.end:
            raise FormatError(
                f"the span {name_of(span)} lies outside the text",
                file=self.file,
                line=row.line,
                document=gold.id,
                advice="positions are those of gold",
            )
        return span

    def check(self, notes: Notes) -> Sequence[str]:
        """Raise `UsageError` for a document that gold does not have."""
        names = hidden_names(notes, _NAME, "document")
        for document, rows in self.rows.items():
            if document is not None and document not in names:
                raise UsageError(
                    f"gold has no document {document!r}",
                    file=self.file,
                    line=rows[0].line,
                    advice="check the column document",
                )
        if None in self.rows and len(names) > 1:
            raise UsageError(
                "gold has several documents, so the table needs the column 'document'", file=self.file
            )
        return ()


# Reading


def _ends_of(names: Sequence[str], file: str) -> tuple[str, str]:
    """Return the names of the columns of the ends, of rows and of their gold spans (empty if there is none)."""
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
    return ends[0], of_ends[0] if of_ends else ""


def _rows(cells: Mapping[str, str], ends: tuple[str, str], file: str, line: int) -> Iterator[Row]:
    """Yield the alternatives of a line, one for each layer in which it has a label."""

    def position(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 18):
            raise FormatError(
                f"{text[:40]!r} is not a position", file=file, line=line, advice="a number from 0 on"
            )
        return int(text)

    place = position(cells["start"]), position(cells[ends[0]])
    cell = cells.get("fragments", "")
    parts = [part.partition("-") for part in cell.split(";")] if cell else []
    fragments = tuple((position(first), position(last) + 1) for first, _, last in parts)
    main_place = None
    if cells.get("of_start"):
        main_place = position(cells["of_start"]), position(cells[f"of_{ends[1]}"])
    layers = [name for name in cells if name not in _NOT_LAYERS] or [DEFAULT_LAYER]
    for layer in [layer for layer in layers if cells.get(layer)] or layers[:1]:
        yield Row(line, layer, place, fragments, cells.get(layer) or None, main_place)
