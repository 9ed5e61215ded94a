"""The transforms of an evaluation, and the numbers of their changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from clueval.evaluation.depths import DepthGroup, DepthGroups
from clueval.evaluation.signature import SHORT
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.transforms.alternatives import Alternatives
from clueval.transforms.names import HIDDEN

if TYPE_CHECKING:
    from clueval.transforms.group import Group, Transform


FRAGMENTS = "fragments"
"""The name of the transform of fragments, which comes after alternatives have been chosen."""


class Preparation:
    """Copies of transforms for one evaluation. Earlier changes of the transforms are not counted.

    Gold spans with alternatives need no option, so their transform is always applied: after the others, except that of
    fragments and those after it.
    """

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self._transforms = in_order(deepcopy(transforms))
        self._before = [Tally(transform.prepared) for transform in self._transforms]
        self._included = [Tally() for _ in self._transforms]
        self._depths = DepthGroups.of(self._transforms)

    def __call__(self, group: Group) -> Group:
        """Apply the transforms to a group, in their order."""
        for transform in self._transforms:
            if self._depths is not None and transform is self._depths.mark:
                self._depths.group = group
            group = transform(group)
        return group

    def by_depth(self) -> Iterator[DepthGroup]:
        """Yield the latest group with its labels raised to each depth, if reports have all depths."""
        if self._depths is not None:
            yield from self._depths.each()

    def changed(self) -> dict[str, Tally]:
        """The numbers of changes by each transform, by its name."""
        parts = zip(self._transforms, self._before, self._included, strict=True)
        return {
            transform.signature[0]: added(dict.fromkeys(before, 0), transform.prepared - before, included)
            for transform, before, included in parts
        }

    def checked(self) -> dict[str, Tally] | None:
        """The numbers of all changes; None without transforms. Raises `UsageError` for names that one refuses."""
        changed = self.changed()
        if len(changed) == 1 and not self.choices():
            return None
        from clueval.transforms.group import CheckingTransform

        for transform in self._transforms:
            if isinstance(transform, CheckingTransform):
                transform.check(changed[transform.signature[0]])
        return {name: tally for name, tally in changed.items() if name != ALTERNATIVES or self.choices()}

    def choices(self) -> dict[str, str]:
        """The choices that follow from the documents, for the signature."""
        return {"gold": ALTERNATIVES} if self.changed()[ALTERNATIVES][("groups",)] else {}

    def include(self, changed: Mapping[str, Tally]) -> None:
        """Add the numbers of changes of another evaluation."""
        for transform, included in zip(self._transforms, self._included, strict=True):
            included.update(changed[transform.signature[0]])


ALTERNATIVES = Alternatives.signature[0]


def in_order(transforms: Sequence[Transform]) -> list[Transform]:
    """The transforms of an evaluation with that of alternatives.

    >>> [transform.signature[0] for transform in in_order([])]
    ['alternatives']
    """
    names = [transform.signature[0] for transform in transforms]
    place = names.index(FRAGMENTS) if FRAGMENTS in names else len(names)
    return [*transforms[:place], Alternatives(), *transforms[place:]]


def added(*tallies: Mapping[tuple[Any, ...], int]) -> Tally:
    """The sum of some tallies; unlike ``+``, it keeps the keys of zeros."""
    total: Tally = Tally()
    for tally in tallies:
        total.update(tally)
    return total


def choices_of(transforms: Sequence[Transform]) -> dict[str, str]:
    """The choices that transforms add to the signature. Raises `UsageError` for a name that occurs already."""
    choices: dict[str, str] = {}
    for name, choice in (transform.signature for transform in transforms):
        if name in choices or name in (*SHORT, "paired", "gold", ALTERNATIVES):
            raise UsageError(f"the name {name!r} of a transform is taken", advice="give it another one")
        choices[name] = choice
    return choices


def plain_tally(tally: Tally) -> dict[str, int]:
    """A tally for JSON; the parts of a key are joined by slashes. Names that were counted for a check are left out.

    >>> plain_tally(Tally({("spans", "PER"): 2}))
    {'spans/PER': 2}
    """
    return {
        "/".join(map(str, key)): number
        for key, number in sorted(tally.items(), key=str)
        if key[:1] != (HIDDEN,)
    }


def plain_changes(prepared: Mapping[str, Tally]) -> dict[str, Any]:
    """The numbers of changes for JSON, by transform; those of alternatives stand by themselves."""
    plain: dict[str, Any] = {}
    for name, tally in prepared.items():
        if name == ALTERNATIVES:
            plain |= plain_tally(tally)
        else:
            plain[name] = plain_tally(tally)
    return plain
