"""Several golds: alternatives of single spans, and the nearest of several golds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fsdecode
from typing import Any, ClassVar

from clueval.core.document import GROUP, OPTIONAL, Document, Notes, Pair
from clueval.core.ranges import Regions
from clueval.core.span import Span, by_position, name_of
from clueval.files.errors import UsageError
from clueval.transforms.changes import (
    ALTERNATIVES,
    ANY_OF,
    HIDDEN,
    EachPair,
    Note,
    in_counting_order,
    with_layers,
    with_notes,
)

_Key = tuple[object, object]
"""The ranges and the label of a span."""


@dataclass(frozen=True)
class Alternatives(EachPair):
    """A step that turns each group of gold spans into one span: the one that fits the predicted spans.

    The gold spans of a layer with the same value of the feature ``group`` are one group; the first is the main one. A
    group becomes one of its members:

    1. As many groups as possible become a member that a predicted span equals in range and label, one to one
       (augmenting paths, Kuhn 1955; groups by position, members in order). Gold spans outside groups are matched after
       all groups, so that a group leaves a predicted span to them if it can have another one.
    2. Another group becomes the member that shares most positions with predicted spans of its label, the earlier of
       equal ones.
    3. A group that shares no position becomes its main member, or nothing if a member has the feature ``optional``.

    Gold [4,9) or [3,8) or [6,8), predicted [3,8) and [6,8): the group becomes [3,8), and [6,8) is a false positive.

    Notes count the groups, and those that are counted by another member than the main one. Raises `UsageError` for
    predicted spans with alternatives, if gold has groups.
    """

    signature: ClassVar[tuple[str, str]] = (ALTERNATIVES, "yes")
    zeros: ClassVar[Sequence[Note]] = (("groups",), ("by_alternative",))

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        notes: Counter[Note] = Counter()
        layers: dict[str, Sequence[Span]] = {}
        for layer in pair.gold.layers:
            groups, others = _groups_and_others(pair.gold, layer)
            if groups:
                _refuse_groups(pair.predicted, layer)
                layers[layer] = _one_of_each(pair, groups, others, layer, notes)
        if layers:
            pair = replace(pair, gold=with_layers(pair.gold, layers))
        yield with_notes(pair, ALTERNATIVES, notes)


def _one_of_each(
    pair: Pair,
    groups: Sequence[Sequence[Span]],
    others: Sequence[Span],
    layer: str,
    notes: Counter[Note],
) -> list[Span]:
    predicted = pair.predicted.layers.get(layer, ())
    matched = _matched(groups, others, predicted, layer)
    of_label = _regions_by_label(predicted, layer)
    left_out = {id(member) for members in groups for member in members}
    for members, chosen in zip(groups, matched, strict=True):
        member = _nearest(members, of_label, layer) if chosen is None else members[chosen]
        notes[("groups",)] += 1
        notes[("by_alternative",)] += member is not None and member is not members[0]
        left_out.discard(id(member))
    return [span for span in pair.gold.layers[layer] if id(span) not in left_out]


def _groups_and_others(document: Document, layer: str) -> tuple[list[list[Span]], list[Span]]:
    """Return the members of each group of a layer, by the position of their main member, and the other spans.

    Nothing if there is no group.
    """
    if document.rows_in(layer) is not None:  # rows have no features
        return [], []
    if not any(GROUP in span.features for span in document.layers.get(layer, ())):
        return [], []
    groups: dict[Hashable, list[Span]] = {}
    others: list[Span] = []
    for span in in_counting_order(document, layer):
        value = span.features.get(GROUP)
        if value is None:
            others.append(span)
        else:
            key = value if isinstance(value, Hashable) else repr(value)
            groups.setdefault(key, []).append(span)
    return sorted(groups.values(), key=lambda members: by_position(members[0])), others


def _refuse_groups(predicted: Document, layer: str) -> None:
    for members in _groups_and_others(predicted, layer)[0]:
        if len(members) > 1:
            raise UsageError(
                f"the predicted span {name_of(members[0])} has alternatives",
                **predicted.in_errors,
                advice="only gold spans may have alternatives",
            )


def _key(span: Span, layer: str) -> _Key:
    return span.fragments, span.by_layer.get(layer)


def _matched(
    groups: Sequence[Sequence[Span]], others: Iterable[Span], predicted: Iterable[Span], layer: str
) -> list[int | None]:
    """Return for each group the number of the member that a predicted span equals, if it gets one."""
    from clueval.core.one_to_one import most_pairs  # few golds have alternatives

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


def _regions_by_label(spans: Iterable[Span], layer: str) -> dict[str | None, Regions]:
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for span in spans:
        ranges.setdefault(span.by_layer.get(layer), []).extend(span.fragments)
    return {label: Regions(several) for label, several in ranges.items()}


def _nearest(members: Sequence[Span], of_label: Mapping[str | None, Regions], layer: str) -> Span | None:
    """Return the member that shares most positions with predicted spans of its label; without one, step 3 applies."""
    none = Regions(())
    shared = [of_label.get(member.by_layer.get(layer), none).shared(member) for member in members]
    if max(shared):
        return members[shared.index(max(shared))]
    return None if any(member.features.get(OPTIONAL) for member in members) else members[0]


@dataclass(frozen=True)
class AnyOf:
    """A step that chooses, of each text, the gold that is nearest to predicted ("any annotator is right").

    It is given a pair for each gold, in the order of `names`, and returns one of them, with the pairs beside it.
    Nearest is the gold with the fewest errors, false negatives and false positives together, where a span is right if
    the other side has one with the same fragments and label. All layers count, and of equally near golds the first is
    taken.

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
        errors = [_errors(pair) for pair, *_ in of_golds]
        nearest = errors.index(min(errors))
        notes: Counter[Note] = Counter({(ANY_OF, self.names[nearest]): 1})
        for number, several in enumerate(of_golds):
            for pair in several if number != nearest else ():
                notes.update({key: times for key, times in pair.notes.items() if key[1] == HIDDEN})
        chosen, *beside = of_golds[nearest]
        return [replace(chosen, notes=dict(notes + Counter(chosen.notes))), *beside]

    def check(self, notes: Notes) -> Sequence[str]:
        return ()


def _errors(pair: Pair) -> int:
    layers = dict.fromkeys([*pair.gold.layers, *pair.predicted.layers])
    return sum(len(_keys(pair.gold, layer) ^ _keys(pair.predicted, layer)) for layer in layers)


def _keys(document: Document, layer: str) -> set[_Key]:
    return {_key(span, layer) for span in document.layers.get(layer, ())}


def names_of_golds(gold: Any, further: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of golds: their paths as given, or their places among the arguments.

    >>> names_of_golds("a.vrt", ["b.vrt", []])
    ('a.vrt', 'b.vrt', 'any_of[1]')
    """
    golds = [gold, *further]
    names = ["gold", *(f"{ANY_OF}[{number}]" for number in range(len(golds) - 1))]
    return tuple(
        fsdecode(given) if isinstance(given, str | PathLike) else name
        for name, given in zip(names, golds, strict=True)
    )
