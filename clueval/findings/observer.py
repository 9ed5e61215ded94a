"""Finding errors in the pass that counts: observers of an evaluation, and a file that holds what they find.

The observers have the interface of `clueval.evaluation.observer`. They see what has been checked and counted
already, so no error of the input is found here first. Whatever is shown at the end is held until the pass has
ended, because an error of the input later in the files must leave no half of an output.
"""

from __future__ import annotations

import pickle
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

from clueval.findings.choice import Choice, ReasonKey, findings
from clueval.findings.clusters import ClusterErrors, DifferingRows
from clueval.findings.kept_file import KeptFile
from clueval.findings.stream import within_sentences
from clueval.formats.columns.passages import Passage
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.transforms.group import Group

Row = TypeVar("Row")

_BATCH = 100
"""The number of rows that are written to the file at a time; fewer are held in memory alone."""


class KeptRows(KeptFile, Generic[Row]):
    """The first `limit` rows (None: all) of what `take` is given, to be iterated any number of times.

    Rows are held in a file, so memory does not grow with their number.
    """

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self._limit = limit
        self._batches = 0
        self._latest: list[Row] = []

    def __len__(self) -> int:
        return self._batches * _BATCH + len(self._latest)

    def take(self, rows: Iterable[Row]) -> None:
        """Add rows. No more are made than the limit has place for."""
        for row in islice(rows, None if self._limit is None else self._limit - len(self)):
            self._latest.append(row)
            if len(self._latest) == _BATCH:
                self._write()

    def _write(self) -> None:
        self._write_to_file(pickle.dumps(self._latest, pickle.HIGHEST_PROTOCOL))
        self._batches += 1
        self._latest = []

    def __iter__(self) -> Iterator[Row]:
        place = 0
        for _ in range(self._batches):
            assert self._file is not None
            self._file.seek(place)
            batch = pickle.load(self._file)
            place = self._file.tell()
            yield from batch
        yield from self._latest


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
        def take_all(found: Iterable[Any]) -> None:
            take(rest := iter(found))
            if counts is not None:
                deque(rest, maxlen=0)  # the errors beyond a limit are counted, too

        super().__init__(lambda gold, predicted: findings(gold, predicted, choice, counts), take_all)
        self._choice, self._counts = choice, counts
        self._errors: ClusterErrors | None = None

    def reads_passages(self, gold: Source, predicted: Source) -> bool:
        self._errors = ClusterErrors((gold, predicted), self._choice, self._counts)
        return within_sentences(gold, predicted, self._choice)

    def see_passages(self, sources: tuple[Source, Source], passages: tuple[Passage, Passage]) -> None:
        assert self._errors is not None
        self._take(self._errors.findings(DifferingRows(passages)))
