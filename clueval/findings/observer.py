"""Finding errors in the pass that counts: observers of an evaluation.

The observers have the interface of `clueval.evaluation.observer`. They see what has been checked and counted
already, so no error of the input is found here first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Generic, TypeVar

from clueval.findings.choice import Choice, ReasonKey, findings
from clueval.findings.clusters import ClusterErrors, DifferingRows
from clueval.findings.stream import within_sentences
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.transforms.group import Group

Row = TypeVar("Row")


class DocumentsObserver(Generic[Row]):
    """Gives the documents that are counted to `find`, and what that finds to `take`."""

    name: ClassVar[str] = "errors"

    def __init__(
        self, find: Callable[[Document, Document], Iterable[Row]], take: Callable[[Iterable[Row]], None]
    ) -> None:
        self._find, self._take = find, take

    def see(self, group: Group) -> None:
        self._take(self._find(group.gold, group.predicted))

    def section(self) -> dict[str, Any]:
        """Return nothing: errors have outputs of their own."""
        return {}


class FindingsObserver(DocumentsObserver[Any]):
    """Finds the errors of a choice, also in passages of column files, of which it parses what differs.

    `counts`, if given, gets the numbers of `findings`, whichever errors are taken.
    """

    def __init__(
        self,
        choice: Choice,
        take: Callable[[Iterable[Any]], None],
        counts: Counter[ReasonKey] | None = None,
    ) -> None:
        super().__init__(lambda gold, predicted: findings(gold, predicted, choice, counts), take)
        self._choice, self._counts = choice, counts
        self._errors: ClusterErrors | None = None

    def reads_passages(self, gold: Source, predicted: Source) -> bool:
        self._errors = ClusterErrors((gold, predicted), self._choice, self._counts)
        return within_sentences(gold, predicted, self._choice)

    def see_passages(self, sources: tuple[Source, Source], passages: tuple[Passage, Passage]) -> None:
        assert self._errors is not None
        self._take(self._errors.findings(DifferingRows(passages)))
