"""What is held in a file without a name until a pass over files has ended, because a later error leaves no output."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

from clueval.files.writing import errors_of

Row = TypeVar("Row")

_BATCH = 100
"""The number of rows that are written to the file at a time; fewer are held in memory alone."""


class KeptRows(Generic[Row]):
    """The first `limit` rows (None: all) of what `take` is given, to be iterated any number of times.

    Rows are held in a file, so memory does not grow with their number. A context manager, which closes the file. Raises
    `FileError` if the file cannot be written; other errors within the block, such as those of standard output, are not
    changed.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._file: IO[bytes] | None = None
        self._batches = 0
        self._latest: list[Row] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return self._batches * _BATCH + len(self._latest)

    def take(self, rows: Iterable[Row]) -> None:
        """Add rows. No more are made than the limit has place for."""
        for row in self.within_limit(rows):
            self._latest.append(row)
            if len(self._latest) == _BATCH:
                self._write()

    def within_limit(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Return the first rows, as many as the limit has place for."""
        return islice(rows, None if self._limit is None else self._limit - len(self))

    def _write(self) -> None:
        with errors_of(Path(tempfile.gettempdir())):
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix=".clueval-")  # noqa: SIM115  # `__exit__` closes it
            pickle.dump(self._latest, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
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
