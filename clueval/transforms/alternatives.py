"""Several golds: alternatives of single spans, a table of them, and the nearest of several golds.

A table of alternatives, as BioCreative has them in a file of their own, is TSV with a header: ``document`` (the id; it
may be missing if there is one document), ``start``, the end as ``end_inclusive`` or ``end_exclusive``, and one column
with labels for each layer; ``fragments`` may have the ranges of a discontinuous span, as ``0-2;7-8``. A bare ``end`` is
inclusive if positions are those of tokens, and exclusive if they are characters, as in all tables of spans.
Positions are those of gold. ``of_start`` and an ``of_end...`` name the gold span that a row is an alternative of;
without them it is the gold span of the layer that shares most positions with it, the first of equal ones. A row
without a label has that of its gold span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike, fsdecode
from typing import Any, ClassVar, NamedTuple, get_args

from clueval.core.ranges import Regions
from clueval.core.span import DEFAULT_LAYER, Frozen, Span, name_of
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.spans.document import Document, Unit
from clueval.spans.features import GROUP, OPTIONAL
from clueval.spans.index import SpanIndex
from clueval.spans.one_to_one import most_pairs
from clueval.spans.overlaps import shared_positions
from clueval.spans.table_columns import END_INCLUSIVE, SAY_WHICH_END
from clueval.textfiles import decoded
from clueval.transforms.group import (
    ALTERNATIVES,
    ANY_OF,
    HIDDEN,
    Changes,
    Group,
    content_of,
    sha8,
    with_layers,
)

_Key = tuple[object, object]
"""The ranges and the label of a span."""


class Alternatives:
    """A transform that turns each group of gold spans into one span: the one that fits the predicted spans.

    The gold spans of a layer with the same value of the feature ``group`` are one group; the first is the main one. A
    group becomes one of its members:

    1. As many groups as possible become a member that a predicted span equals in range and label, one to one
       (augmenting paths, Kuhn 1955; groups by position, members in order). Gold spans outside groups are matched after
       all groups, so that a group leaves a predicted span to them if it can have another one.
    2. Another group becomes the member that shares most positions with predicted spans of its label, the earlier of
       equal ones.
    3. A group that shares no position becomes its main member, or nothing if a member has the feature ``optional``.

    Gold [4,9) or [3,8) or [6,8), predicted [3,8) and [6,8): the group becomes [3,8), and [6,8) is a false positive.

    `prepared` counts the groups, and those that are counted by another member than the main one.
    """

    signature: ClassVar[tuple[str, str]] = (ALTERNATIVES, "yes")

    def __init__(self) -> None:
        self.prepared: Changes = Counter({("groups",): 0, ("by_alternative",): 0})

    def __call__(self, group: Group) -> Group:
        layers = {}
        for layer, spans in group.gold.layers.items():
            members = _groups(spans)
            if members:
                predicted = group.predicted.layers.get(layer, ())
                _refuse_groups(predicted, group.predicted)
                layers[layer] = self._one_of_each(spans, members, predicted, layer)
        return replace(group, gold=with_layers(group.gold, layers)) if layers else group

    def _one_of_each(
        self, gold: Sequence[Span], groups: Sequence[Sequence[Span]], predicted: Sequence[Span], layer: str
    ) -> list[Span]:
        in_groups = {id(member) for members in groups for member in members}
        matched = _matched(groups, [span for span in gold if id(span) not in in_groups], predicted, layer)
        of_label = _ranges_by_label(predicted, layer)
        left_out = set(in_groups)
        for number, members in enumerate(groups):
            chosen = matched[number]
            member = _nearest(members, of_label, layer) if chosen is None else members[chosen]
            self.prepared[("groups",)] += 1
            self.prepared[("by_alternative",)] += member is not None and member is not members[0]
            left_out.discard(id(member))
        return [span for span in gold if id(span) not in left_out]


def _groups(spans: Iterable[Span]) -> list[list[Span]]:
    """Return the members of each group; groups by the position of their main member."""
    found: dict[Hashable, list[Span]] = {}
    for span in spans:
        value = span.features.get(GROUP) if span.features else None
        if value is not None:
            key = value if isinstance(value, Hashable) else repr(value)
            found.setdefault(key, []).append(span)
    return sorted(found.values(), key=lambda members: (members[0].start, members[0].end))


def _refuse_groups(predicted: Iterable[Span], document: Document) -> None:
    for members in _groups(predicted):
        if len(members) > 1:
            raise UsageError(
                f"the predicted span {name_of(members[0])} has alternatives",
                **document.in_errors,
                advice="only gold spans may have alternatives",
            )


def _key(span: Span, layer: str) -> _Key:
    return span.fragments, span.by_layer.get(layer)


def _matched(
    groups: Sequence[Sequence[Span]], others: Iterable[Span], predicted: Iterable[Span], layer: str
) -> list[int | None]:
    """Return for each group the number of the member that a predicted span equals, if it gets one."""
    slots: dict[_Key, list[int]] = {}
    for number, span in enumerate(predicted):
        slots.setdefault(_key(span, layer), []).append(number)
    wanted = {_key(member, layer) for members in groups for member in members}
    single = [[span] for span in others if _key(span, layer) in wanted]
    edges = [
        [
            (slot, number)
            for number, member in enumerate(members)
            for slot in slots.get(_key(member, layer), ())
        ]
        for members in (*groups, *single)
    ]
    return most_pairs(edges)[: len(groups)]


def _ranges_by_label(spans: Iterable[Span], layer: str) -> dict[str | None, Regions]:
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for span in spans:
        ranges.setdefault(span.by_layer.get(layer), []).extend(span.fragments)
    return {label: Regions(several) for label, several in ranges.items()}


def _nearest(members: Sequence[Span], of_label: dict[str | None, Regions], layer: str) -> Span | None:
    """Return the member that shares most positions with predicted spans of its label; without one, step 3 applies."""
    none = Regions(())
    shared = [of_label.get(member.by_layer.get(layer), none).shared(member) for member in members]
    if max(shared):
        return members[shared.index(max(shared))]
    return None if any(member.features.get(OPTIONAL) for member in members) else members[0]


class AnyOf:
    """The choice of the gold that is nearest to predicted ("any annotator is right"); it changes nothing itself.

    Nearest is the gold with the fewest errors, false negatives and false positives together, where a span is right if
    the other side has one with the same fragments and label. All layers count, and of equally near golds the first is
    taken. The choice stands after the transforms that are applied to each gold before it.
    `prepared` counts the documents of each gold, by its name.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            if name in names[:number]:
                raise UsageError(f"two golds are called {name!r}", advice="give each gold once")
        self._names = list(names)
        self.signature = (ANY_OF, f"best-of-{len(self._names)}")
        self.prepared: Changes = Counter({(name,): 0 for name in self._names})

    def __call__(self, group: Group) -> Group:
        return group

    def nearest(self, groups: Sequence[Group]) -> int:
        """Return the number of the group whose gold has the fewest errors, and count it."""
        numbers = [_errors(group) for group in groups]
        nearest = numbers.index(min(numbers))
        self.prepared[self._names[nearest],] += 1
        return nearest


def _errors(group: Group) -> int:
    layers = dict.fromkeys([*group.gold.layers, *group.predicted.layers])
    return sum(len(_keys(group.gold, layer) ^ _keys(group.predicted, layer)) for layer in layers)


def _keys(document: Document, layer: str) -> set[_Key]:
    return {_key(span, layer) for span in document.layers.get(layer, ())}


def names_of_golds(gold: Any, further: Iterable[Any]) -> list[str]:
    """Return the names of golds: their paths as given, or their places among the arguments.

    >>> names_of_golds("a.vrt", ["b.vrt", []])
    ['a.vrt', 'b.vrt', 'any_of[1]']
    """
    names = ["gold", *(f"{ANY_OF}[{number}]" for number, _ in enumerate(further))]
    return [
        fsdecode(each) if isinstance(each, str | PathLike) else name
        for name, each in zip(names, [gold, *further], strict=True)
    ]


# Tables

_BARE = "end"
"""The name of an end that is inclusive if positions count tokens, and exclusive if they count characters."""

_ENDS = (_BARE, END_INCLUSIVE, "end_exclusive")
_NOT_LAYERS = {"document", "start", "fragments", "of_start", *_ENDS, *(f"of_{name}" for name in _ENDS)}


class _Row(NamedTuple):
    """An alternative: its line, its layer, its ranges, its label (None: that of the gold span), its gold span."""

    line: int
    layer: str
    ranges: tuple[tuple[int, int], ...]
    label: str | None
    of: tuple[int, int] | None
    has_bare_end: bool


class AlternativesTable:
    """A transform that adds the alternatives of a table to gold; one of their group counts then.

    `prepared` counts the alternatives.
    """

    def __init__(self, given: str | PathLike[str]) -> None:
        path, content = content_of(given, "Preparing.alternatives")
        self._file = str(path)
        text = decoded(content.removeprefix(b"\xef\xbb\xbf"), path, 1)
        self._of_unit = {unit: self._by_document(text, unit) for unit in get_args(Unit)}
        self.signature = ("alternatives-table", sha8(content))
        self.prepared: Changes = Counter({("gold",): 0})

    def _by_document(self, text: str, unit: str) -> dict[str | None, list[_Row]]:
        found: dict[str | None, list[_Row]] = {}
        for document, row in _rows(text, self._file, unit):
            found.setdefault(document, []).append(row)
        return found

    def __call__(self, group: Group) -> Group:
        gold = group.gold
        self.prepared[HIDDEN, "document", gold.id] += 1
        of_unit = self._of_unit[gold.unit]
        rows = [*of_unit.get(gold.id, ()), *of_unit.get(None, ())]
        if not rows:
            return group
        if gold.end is None and any(row.has_bare_end for row in rows):
            raise FormatError(
                f"the ends under {_BARE!r} may be inclusive or exclusive: gold has neither a text nor tokens",
                file=self._file,
                line=1,
                advice=SAY_WHICH_END,
            )
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
        for document, rows in self._of_unit["token"].items():
            if document is not None and document not in seen:
                raise UsageError(
                    f"gold has no document {document!r}",
                    file=self._file,
                    line=rows[0].line,
                    advice="check the column document",
                )
        if None in self._of_unit["token"] and len(seen) > 1:
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


def _rows(text: str, file: str, unit: str) -> Iterator[tuple[str | None, _Row]]:
    """Yield the rows of a table with their documents; `unit` is what its positions count."""
    past = {END_INCLUSIVE: 1, _BARE: int(unit == "token"), "end_exclusive": 0}
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
        ranges = _ranges(cells.get("fragments", ""), file, number) or ((start, end + past[ends[0]]),)
        of = None
        if of_ends and cells["of_start"]:
            first, last = (_position(cells[f"of_{name}"], file, number) for name in ("start", of_ends[0]))
            of = first, last + past[of_ends[0]]
        named = [layer for layer in layers if cells.get(layer)] or layers[:1]
        for layer in named:
            has_bare_end = _BARE in (*ends, *of_ends) and not cells.get("fragments")
            yield (
                cells.get("document"),
                _Row(number, layer, ranges, cells.get(layer) or None, of, has_bare_end),
            )


def _ranges(given: str, file: str, line: int) -> tuple[tuple[int, int], ...]:
    parts = [part.partition("-") for part in given.split(";")] if given else []
    return tuple((_position(first, file, line), _position(last, file, line) + 1) for first, _, last in parts)


def _position(text: str, file: str, line: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise FormatError(
            f"{text[:40]!r} is not a position", file=file, line=line, advice="a number from 0 on"
        )
    return int(text)
