"""Text that is held until a pass over files has ended, because an error later in the files must leave no output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import TextIOWrapper

from clueval.findings.kept_file import KeptFile

_BLOCK = 1 << 16
"""The number of characters that are written to the file, or read from it, at a time; fewer are held in memory alone."""


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
