"""The transforms of an evaluation in their order, and the numbers of their changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.files.errors import LimitError, warn
from clueval.spans.document import Document
from clueval.spans.ordering import in_counting_order
from clueval.transforms.alternatives import Alternatives, AnyOf
from clueval.transforms.group import ALTERNATIVES, ANY_OF, HIDDEN, Changes, Group, Transform

if TYPE_CHECKING:
    from clueval.transforms.labels import EachDepth

FRAGMENTS = "fragments"
"""The name of the transform of fragments, which comes after alternatives have been chosen."""


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
        """Apply the transforms to a group, in their order, and return its spans in the order in which they count."""
        group = _in_counting_order(group)
        if self._mark is not None:
            self._mark.begin()
            self._group = group
        return _in_counting_order(self._applied(group))

    def by_depth(self) -> Iterator[DepthGroup]:
        """Yield the latest group as it is with the labels of each depth, if reports have all depths."""
        if self._mark is None or self._group is None:
            return
        for depth in range(1, self._mark.deepest + 1):
            if depth not in self._at_depth:
                self._at_depth[depth] = self._of_depth(depth, self._mark)
            at_depth = _in_counting_order(self._at_depth[depth](self._group))
            yield DepthGroup(depth, self._mark.deepest, at_depth)

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
        key = ("groups",)
        place = next(n for n, each in enumerate(self._transforms) if each.signature[0] == ALTERNATIVES)
        left_out = self._before[place][key] + self._applied.not_chosen[place][key]
        return self._transforms[place].prepared[key] - left_out + self._included[place][key]

    def include(self, changed: Mapping[str, Changes]) -> None:
        """Add the numbers of changes of another evaluation."""
        for transform, included in zip(self._transforms, self._included, strict=True):
            included.update(changed[transform.signature[0]])


def _in_counting_order(group: Group) -> Group:
    """Return the group with its spans in the order in which they count; those without a place count one by one."""
    gold, predicted = in_counting_order(group.gold), in_counting_order(group.predicted)
    further = tuple(map(in_counting_order, group.further))
    golds = tuple(map(in_counting_order, group.golds))
    before = group.gold, group.predicted, *group.further, *group.golds
    if all(map(is_, (gold, predicted, *further, *golds), before)):
        return group
    return replace(group, gold=gold, predicted=predicted, further=further, golds=golds)


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
    from clueval.transforms.labels import EachDepth

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
