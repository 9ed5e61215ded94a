"""What is said of steps: warnings, choices for the signature, and the numbers of changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clueval.core.count import Step
from clueval.core.document import Notes
from clueval.transforms.changes import ALTERNATIVES, ANY_OF, HIDDEN, UNIT


def checked(steps: Iterable[Step], notes: Notes) -> list[str]:
    """Return the warnings of all steps, given the sum of all notes. Raises `UsageError` for a name that is wrong."""
    return [warning for step in steps for warning in step.check(notes)]


def choices_of(steps: Iterable[Step], notes: Notes) -> dict[str, str]:
    """Return what the signature says of steps that have a name; choices among golds are one.

    >>> from clueval.transforms.options import Preparing
    >>> from clueval.transforms.steps import steps_of
    >>> choices_of(steps_of(Preparing(any_of=[[]], untyped=True)), {})
    {'untyped': 'yes', 'gold': 'best-of-2'}
    """
    choices = dict(step.signature for step in steps if step.signature[0])
    groups = choices.pop(ALTERNATIVES, None) is not None and notes.get((ALTERNATIVES, "groups"))
    golds = [choices.pop(ANY_OF, ""), ALTERNATIVES if groups else ""]
    said = "+".join(filter(None, golds))
    return {**choices, "gold": said} if said else choices


def changes_of(steps: Iterable[Step], notes: Notes) -> dict[str, Any] | None:
    """Return how often each step changed what, for a report; the numbers of groups stand by themselves.

    None if there are neither groups nor other steps than of the unit.

    >>> from clueval.transforms.options import Preparing
    >>> from clueval.transforms.steps import steps_of
    >>> changes_of(steps_of(Preparing(untyped=True)), {("untyped", "gold"): 2})
    {'untyped': {'gold': 2}}
    """
    found: dict[str, Any] = {}
    for step in steps:
        name, _ = step.signature
        if name in ("", UNIT):
            continue
        changed = {(name, *what): 0 for what in step.zeros}
        changed |= {key: number for key, number in notes.items() if key[0] == name and key[1] != HIDDEN}
        plain = {"/".join(key[1:]): changed[key] for key in sorted(changed)}
        if name != ALTERNATIVES:
            found[name] = plain
        elif notes.get((ALTERNATIVES, "groups")):
            found |= plain
    return found or None
