"""Gold spans with alternatives: each group of them counts as one span, the one that fits the predicted spans.

The gold spans of a layer with the same value of the feature ``group`` are one group; the first is the main one. A group
becomes one of its members:

1. As many groups as possible become a member that a predicted span equals in range and label, one to one (augmenting
   paths, Kuhn 1955; groups by position, members in order). Gold spans outside groups are matched after all groups, so
   that a group leaves a predicted span to them if it can have another one.
2. Another group becomes the member that shares most positions with predicted spans of its label, the earlier of equal
   ones.
3. A group that shares no position becomes its main member, or nothing if a member has the feature ``optional``.

Gold [4,9) or [3,8) or [6,8), predicted [3,8) and [6,8): the group becomes [3,8), and [6,8) is a false positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.span import Span, name_of
from clueval.transforms.group import Group
from clueval.transforms.names import with_layers

if TYPE_CHECKING:
    from clueval.spans.regions import Regions

_Key = tuple[object, object]
"""The ranges and the label of a span."""


class Alternatives:
    """A transform that turns each group of gold spans into one span.

    `prepared` counts the groups, and those that are counted by another member than the main one.
    """

    signature: ClassVar[tuple[str, str]] = ("alternatives", "yes")

    def __init__(self) -> None:
        self.prepared: Counter[tuple[Any, ...]] = Counter({("groups",): 0, ("by_alternative",): 0})

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
    from clueval.spans.groups import GROUP  # column files that are counted without documents do not need it

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
                file=document.file,
                document=document.id,
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
    from clueval.spans.most_pairs import most_pairs

    return most_pairs(edges)[: len(groups)]


def _ranges_by_label(spans: Iterable[Span], layer: str) -> dict[str | None, Regions]:
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for span in spans:
        ranges.setdefault(span.by_layer.get(layer), []).extend(span.fragments)
    from clueval.spans.regions import Regions

    return {label: Regions(several) for label, several in ranges.items()}


def _nearest(members: Sequence[Span], of_label: dict[str | None, Regions], layer: str) -> Span | None:
    """Return the member that shares most positions with predicted spans of its label; if none does, see the module."""
    from clueval.spans.groups import OPTIONAL
    from clueval.spans.regions import Regions

    none = Regions(())
    shared = [of_label.get(member.by_layer.get(layer), none).shared(member) for member in members]
    if max(shared):
        return members[shared.index(max(shared))]
    return None if any(member.features.get(OPTIONAL) for member in members) else members[0]
