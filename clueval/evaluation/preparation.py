"""The transforms of an evaluation in its signature, and the numbers of their changes in its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clueval.evaluation.signature import SHORT
from clueval.exceptions import UsageError
from clueval.metrics.counting import Tally
from clueval.transforms.names import ANY_OF, HIDDEN
from clueval.transforms.preparation import ALTERNATIVES, added

if TYPE_CHECKING:
    from clueval.transforms.group import Transform


def choices_of(transforms: Sequence[Transform]) -> dict[str, str]:
    """The choices that transforms add to the signature. Raises `UsageError` for a name that occurs already."""
    choices: dict[str, str] = {}
    for name, choice in (transform.signature for transform in transforms):
        if name in choices or name in (*SHORT, "paired", "gold", ALTERNATIVES):
            raise UsageError(
                f"a transform cannot have the name {name!r}, which is in use", advice="give it another name"
            )
        choices[name] = choice
    return {name: choice for name, choice in choices.items() if name != ANY_OF}  # that is said of gold


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


def added_changes(
    first: Mapping[str, Tally] | None, second: Mapping[str, Tally] | None
) -> Mapping[str, Tally] | None:
    """The numbers of changes by transforms in both corpora together."""
    if first is None and second is None:
        return None
    both = first or {}, second or {}
    return {
        name: added(both[0].get(name, {}), both[1].get(name, {}))
        for name in dict.fromkeys([*both[0], *both[1]])
    }
