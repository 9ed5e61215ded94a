"""The transforms of an evaluation, and the numbers of their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from clueval.evaluation.signature import SHORT
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.transforms.names import HIDDEN

if TYPE_CHECKING:
    from clueval.transforms.group import Group, Transform


class Preparation:
    """Copies of transforms for one evaluation. Earlier changes of the transforms are not counted."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self._transforms = deepcopy(transforms)
        self._before = [Tally(transform.prepared) for transform in transforms]
        self._included = [Tally() for _ in transforms]

    def __call__(self, group: Group) -> Group:
        """Apply the transforms to a group, in their order."""
        for transform in self._transforms:
            group = transform(group)
        return group

    def changed(self) -> dict[str, Tally]:
        """The numbers of changes by each transform, by its name."""
        parts = zip(self._transforms, self._before, self._included, strict=True)
        return {
            transform.signature[0]: added(dict.fromkeys(before, 0), transform.prepared - before, included)
            for transform, before, included in parts
        }

    def checked(self) -> dict[str, Tally] | None:
        """The numbers of all changes; None without transforms. Raises `UsageError` for names that one refuses."""
        if not self._transforms:
            return None
        from clueval.transforms.group import CheckingTransform

        changed = self.changed()
        for transform in self._transforms:
            if isinstance(transform, CheckingTransform):
                transform.check(changed[transform.signature[0]])
        return changed

    def include(self, changed: Mapping[str, Tally]) -> None:
        """Add the numbers of changes of another evaluation."""
        for transform, included in zip(self._transforms, self._included, strict=True):
            included.update(changed[transform.signature[0]])


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
        if name in choices or name in (*SHORT, "paired"):
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
