"""What is held in a file without a name until a pass over files has ended, because a later error leaves no output."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

from clueval.writing import errors_of

Row = TypeVar("Row")

_BLOCK = 1 << 16
"""The number of characters that are written to the file, or read from it, at a time; fewer are held in memory alone."""

_BATCH = 100
"""The number of rows that are written to the file at a time; fewer are held in memory alone."""


class KeptFile:
    """A context manager, which closes the file. Raises `FileError` if the file cannot be written.

    Other errors within the block, such as those of standard output, are not changed.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._file is not None:
            self._file.close()

    def _write_to_file(self, data: bytes) -> None:
        with errors_of(Path(tempfile.gettempdir())):
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix=".clueval-")  # noqa: SIM115  # `__exit__` closes it
            self._file.write(data)
            self._file.flush()


class KeptText(KeptFile):
    """Text that was added piece by piece, to be iterated any number of times in blocks that end anywhere.

    It is held in a file, so memory does not grow with it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        """Add text to the end."""
        self._waiting.append(text)
        self._size += len(text)
        if self._size > _BLOCK:
            self._write_to_file("".join(self._waiting).encode("utf-8", "surrogatepass"))
            self._waiting, self._size = [], 0

    def __iter__(self) -> Iterator[str]:
        yield from self._read(lambda reader: iter(lambda: reader.read(_BLOCK), ""))
        yield "".join(self._waiting)

    def lines(self) -> Iterator[str]:
        """Yield the lines without their ends, if every text that was added consists of whole lines."""
        yield from (line[:-1] for line in self._read(iter))
        yield from "".join(self._waiting).split("\n")[:-1]

    def _read(self, split: Callable[[TextIOWrapper], Iterator[str]]) -> Iterator[str]:
        """Yield the parts of the file, as `split` makes them."""
        if self._file is not None:
            self._file.seek(0)
            reader = TextIOWrapper(self._file, encoding="utf-8", errors="surrogatepass", newline="\n")
            try:
                yield from split(reader)
            finally:
                reader.detach()


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
