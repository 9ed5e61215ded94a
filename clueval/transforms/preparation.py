"""The transforms of an evaluation in their order, and the numbers of their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.exceptions import LimitError, UsageError, warn
from clueval.spans.document import Document
from clueval.spans.span import Span, name_of
from clueval.transforms.group import Group, Transform
from clueval.transforms.names import ANY_OF, HIDDEN, with_layers

if TYPE_CHECKING:
    from clueval.spans.ranges import Regions
    from clueval.transforms.hierarchy import EachDepth

FRAGMENTS = "fragments"
"""The name of the transform of fragments, which comes after alternatives have been chosen."""

ALTERNATIVES = "alternatives"

Changes = Counter[tuple[Any, ...]]
"""The numbers of the changes by one transform."""


class DepthGroup(NamedTuple):
    """A prepared group with its labels raised to a depth; `deepest` is the depth of its deepest label."""

    depth: int
    deepest: int
    group: Group


class Preparation:
    """Copies of transforms for one evaluation. Earlier changes of the transforms are not counted.

    Gold spans with alternatives need no option, so their transform is always applied: after the others, except that of
    fragments and those after it.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self._applied = _Applied(in_order(deepcopy(transforms)))
        self._transforms = self._applied.transforms
        self._before = [Counter(transform.prepared) for transform in self._transforms]
        self._included: list[Changes] = [Counter() for _ in self._transforms]
        self._mark = _mark(self._transforms) if transforms else None
        self._at_depth: dict[int, _Applied] = {}
        self._group: Group | None = None

    def __call__(self, group: Group) -> Group:
        """Apply the transforms to a group, in their order."""
        if self._mark is not None:
            self._mark.begin()
            self._group = group
        return self._applied(group)

    def by_depth(self) -> Iterator[DepthGroup]:
        """Yield the latest group as it is with the labels of each depth, if reports have all depths."""
        if self._mark is None or self._group is None:
            return
        for depth in range(1, self._mark.deepest + 1):
            if depth not in self._at_depth:
                self._at_depth[depth] = self._of_depth(depth, self._mark)
            yield DepthGroup(depth, self._mark.deepest, self._at_depth[depth](self._group))

    def _of_depth(self, depth: int, mark: EachDepth) -> _Applied:
        transforms = [mark.at(depth) if each is mark else each for each in self._transforms]
        return _Applied(deepcopy(transforms))

    def changed(self) -> dict[str, Changes]:
        """The numbers of changes by each transform, by its name."""
        parts = zip(self._transforms, self._before, self._applied.not_chosen, self._included, strict=True)
        return {
            transform.signature[0]: added(
                dict.fromkeys(before, 0), transform.prepared - before - not_chosen, included
            )
            for transform, before, not_chosen, included in parts
        }

    def checked(self) -> dict[str, Changes] | None:
        """The numbers of all changes; None without transforms. Raises `UsageError` for names that one refuses."""
        has_alternatives = ALTERNATIVES in self.choices().get("gold", "")
        if len(self._transforms) == 1 and not has_alternatives:
            return None
        changed = self.changed()
        for transform in self._transforms:
            if hasattr(transform, "check"):
                transform.check(changed[transform.signature[0]])
        return {name: tally for name, tally in changed.items() if name != ALTERNATIVES or has_alternatives}

    @property
    def transforms(self) -> Sequence[Transform]:
        """The transforms in their order."""
        return self._transforms

    def choices(self) -> dict[str, str]:
        """The choices about gold, which partly follow from the documents, for the signature."""
        found = [each.signature[1] for each in self._transforms if each.signature[0] == ANY_OF]
        if self._number_of_groups():
            found.append(ALTERNATIVES)
        return {"gold": "+".join(found)} if found else {}

    def _number_of_groups(self) -> int:
        """The number of groups of alternatives."""
        key = ("groups",)
        place = next(n for n, each in enumerate(self._transforms) if each.signature[0] == ALTERNATIVES)
        left_out = self._before[place][key] + self._applied.not_chosen[place][key]
        return self._transforms[place].prepared[key] - left_out + self._included[place][key]

    def include(self, changed: Mapping[str, Changes]) -> None:
        """Add the numbers of changes of another evaluation."""
        for transform, included in zip(self._transforms, self._included, strict=True):
            included.update(changed[transform.signature[0]])


def warn_without_effect(preparations: Sequence[Preparation]) -> None:
    """Warn of options that have no effect in any of the evaluations with the same transforms, once all are read."""
    for transform in preparations[0].transforms:
        if hasattr(transform, "without_effect"):
            name = transform.signature[0]
            changed = added(*(each.changed()[name] for each in preparations))
            for option in transform.without_effect(changed):
                warn(option)


def _mark(transforms: Sequence[Transform]) -> EachDepth | None:
    """The transform that marks the place of the depths, if reports have all depths."""
    from clueval.transforms.hierarchy import EachDepth

    return next((each for each in transforms if isinstance(each, EachDepth)), None)


class _Applied:
    """Transforms that are applied one after the other; `not_chosen` has the changes to golds that do not count."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = transforms
        self.not_chosen: list[Changes] = [Counter() for _ in transforms]
        self._choice = next((n for n, each in enumerate(transforms) if each.signature[0] == ANY_OF), None)

    def __call__(self, group: Group) -> Group:
        if self._choice is None or not group.golds:
            return _through(self.transforms, group)
        return _through(self.transforms[self._choice :], self._nearest(group, self._choice))

    def _nearest(self, group: Group, place: int) -> Group:
        """The group with the nearest gold, after the transforms before the choice, which stands at `place`."""

        choice, transforms = self.transforms[place], self.transforms[:place]
        assert isinstance(choice, AnyOf)
        groups, changes = [], []
        for gold in (group.gold, *group.golds):
            before = [Counter(transform.prepared) for transform in transforms]
            groups.append(_through(transforms, replace(group, gold=gold, golds=())))
            changes.append([each.prepared - own for each, own in zip(transforms, before, strict=True)])
        nearest = choice.nearest(groups)
        for number, of_gold in enumerate(changes):
            for not_chosen, numbers in zip(self.not_chosen, of_gold, strict=False):
                if number != nearest:
                    not_chosen.update({key: n for key, n in numbers.items() if key[:1] != (HIDDEN,)})
        return groups[nearest]


def _through(transforms: Sequence[Transform], group: Group) -> Group:
    """Apply transforms to a group, in their order, and to its spans without a place."""
    for transform in transforms:
        unplaced, gold = group.unplaced, group.gold
        try:
            group = transform(group)
        except LimitError as error:
            error.document, error.file = gold.id, gold.file
            raise
        if unplaced is not None:
            nothing = Document(gold.id, {}, unit=unplaced.unit, metadata=gold.metadata, file=gold.file)
            alone = transform(Group(nothing, unplaced))
            group = replace(group, unplaced=alone.predicted)
    return group


def in_order(transforms: Sequence[Transform]) -> list[Transform]:
    """The transforms of an evaluation with that of alternatives.

    >>> [transform.signature[0] for transform in in_order([])]
    ['alternatives']
    """
    names = [transform.signature[0] for transform in transforms]
    place = next((names.index(name) for name in (ANY_OF, FRAGMENTS) if name in names), len(names))
    return [*transforms[:place], Alternatives(), *transforms[place:]]


def added(*tallies: Mapping[tuple[Any, ...], int]) -> Changes:
    """The sum of some tallies; unlike ``+``, it keeps the keys of zeros."""
    total: Changes = Counter()
    for tally in tallies:
        total.update(tally)
    return total


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
    from clueval.spans.features import GROUP  # column files that are counted without documents do not need it

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
    from clueval.spans.one_to_one import most_pairs

    return most_pairs(edges)[: len(groups)]


def _ranges_by_label(spans: Iterable[Span], layer: str) -> dict[str | None, Regions]:
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for span in spans:
        ranges.setdefault(span.by_layer.get(layer), []).extend(span.fragments)
    from clueval.spans.ranges import Regions

    return {label: Regions(several) for label, several in ranges.items()}


def _nearest(members: Sequence[Span], of_label: dict[str | None, Regions], layer: str) -> Span | None:
    """Return the member that shares most positions with predicted spans of its label; without one, step 3 applies."""
    from clueval.spans.features import OPTIONAL
    from clueval.spans.ranges import Regions

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
        self.prepared: Counter[tuple[Any, ...]] = Counter({(name,): 0 for name in self._names})

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
