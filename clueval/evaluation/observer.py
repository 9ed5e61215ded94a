"""Observers: they receive every group that is counted, and each has a section in the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from clueval.files.errors import UsageError

if TYPE_CHECKING:
    from clueval.clusters.rows import ParallelRows
    from clueval.reading.source import Source
    from clueval.transforms.group import Group

OTHER_PARTS = (
    *("clueval", "schema", "signature", "inputs", "passed_over", "documents", "tokens", "repaired_tags"),
    *("metrics", "by", "unprojected", "prepared", "intervals", "gates"),
)
"""The names of the other parts of a result."""


class Observer(Protocol):
    """Receives every group that is counted, after the transforms, and reports a section for the result.

    It does not receive groups that a filter on documents leaves out. With an observer, one process reads and
    counts everything, unless it is a `WorkerObserver`.
    """

    @property
    def name(self) -> str:
        """The name of its section."""
        ...

    def see(self, group: Group) -> None: ...

    def section(self) -> Mapping[str, Any]:
        """Its report: plain dictionaries, lists, strings and numbers. The result omits an empty one."""
        ...


@runtime_checkable
class RowObserver(Observer, Protocol):
    """An observer to which the rows of column files can be shown in place of documents, which costs less."""

    def reads_rows(self, gold: Source, predicted: Source) -> bool:
        """Return whether the rows of two files are enough; if not, it sees their documents."""
        ...

    def see_rows(self, rows: ParallelRows) -> None:
        """See rows of gold and of predicted, after they have been compared without an error.

        With a filter on documents, they are those of one passage of each side.
        """
        ...


@runtime_checkable
class WorkerObserver(Observer, Protocol):
    """An observer of which each process can have a copy, which must be one that can be pickled.

    `sent` returns what it has seen, which is pickled, and `join` adds that of a copy, which has seen documents that
    come after its own.
    """

    def sent(self) -> Any: ...

    def join(self, sent: Any) -> None: ...


@runtime_checkable
class AddingObserver(Observer, Protocol):
    """An observer that can add the counts of another one; results with other observers cannot be added."""

    def include(self, other: Self) -> None: ...


@runtime_checkable
class ReportingObserver(AddingObserver, Protocol):
    """An observer that adds numbers to the reports of metrics instead of a section."""

    def reports(self, reports: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]: ...


def sections_of(observers: Iterable[Observer]) -> dict[str, Mapping[str, Any]]:
    """The sections of observers that are not empty, by name."""
    return {observer.name: section for observer in observers if (section := observer.section())}


def added(first: Sequence[AddingObserver], second: Sequence[AddingObserver]) -> list[AddingObserver]:
    """New observers with the counts of both. Raises `UsageError` if their names differ."""
    if [observer.name for observer in first] != [observer.name for observer in second]:
        raise UsageError("the results have sections of other observers", advice="use the same observers")
    copies = [deepcopy(observer) for observer in first]
    for observer, further in zip(copies, second, strict=True):
        observer.include(further)
    return copies


def require_names(observers: Sequence[Observer]) -> None:
    """Raise `UsageError` for an observer whose name another part of the result has."""
    names = list(OTHER_PARTS)
    for observer in observers:
        if observer.name in names:
            raise UsageError(
                f"an observer cannot have the name {observer.name!r}, which is in use",
                advice="give it another name",
            )
        names.append(observer.name)
