"""A file without a name, for what does not fit into memory; it is opened when something is written first."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, Any, Self

from clueval.writing import scratch_file


class KeptFile:
    """A context manager, which closes the file. Raises `FileError` if the file cannot be written."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._file = self._stack.enter_context(scratch_file())
        return self._file
