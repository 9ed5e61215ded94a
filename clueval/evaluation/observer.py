"""What sees every group that is counted, and has a section of its own in the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Protocol, Self, runtime_checkable

from clueval.exceptions import UsageError
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.transforms.group import Group

_TAKEN = (
    *("clueval", "schema", "signature", "inputs", "passed_over", "documents", "tokens", "repaired_tags"),
    *("metrics", "by", "unprojected", "prepared"),
)
"""The names of the other parts of a result."""


class Observer(Protocol):
    """Sees every group that is counted, as the transforms have left it, and reports what it has seen.

    Groups that a filter on documents leaves out are not seen. An observer may hold anything, and only plain counts
    travel between processes, so one process reads and counts everything if there is an observer.
    """

    @property
    def name(self) -> str:
        """The name of its section."""
        ...

    def see(self, group: Group) -> None: ...

    def section(self) -> Mapping[str, Any]:
        """Its report, for JSON: plain dictionaries, lists, strings and numbers. An empty one is left out."""
        ...


@runtime_checkable
class PassageObserver(Observer, Protocol):
    """An observer to which passages of column files can be shown in place of documents, which costs less."""

    def reads_passages(self, gold: Source, predicted: Source) -> bool:
        """Return whether the passages of two files are enough; if not, it sees their documents."""
        ...

    def see_passages(self, sources: tuple[Source, Source], passages: tuple[Passage, Passage]) -> None:
        """See a passage of gold and of predicted, after they have been compared without an error."""
        ...


@runtime_checkable
class AddingObserver(Observer, Protocol):
    """An observer that can add what another one has seen; results with others do not add."""

    def include(self, other: Self) -> None: ...


def sections_of(observers: Iterable[Observer]) -> dict[str, Mapping[str, Any]]:
    """What observers report, by their names."""
    return {observer.name: section for observer in observers if (section := observer.section())}


def added(own: Sequence[AddingObserver], other: Sequence[AddingObserver]) -> list[AddingObserver]:
    """New observers that have seen what both sides have. Raises `UsageError` if these are not the same ones."""
    if [observer.name for observer in own] != [observer.name for observer in other]:
        raise UsageError("the results have sections of other observers", advice="use the same observers")
    copies = [deepcopy(observer) for observer in own]
    for observer, further in zip(copies, other, strict=True):
        observer.include(further)
    return copies


def require_names(observers: Sequence[Observer]) -> None:
    """Raise `UsageError` for an observer whose name another part of the result has."""
    taken = list(_TAKEN)
    for observer in observers:
        if observer.name in taken:
            raise UsageError(
                f"the name {observer.name!r} of an observer is taken", advice="give it another one"
            )
        taken.append(observer.name)
