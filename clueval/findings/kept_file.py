"""A file without a name, for what does not fit into memory; it is opened when something is written first."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any, Self

from clueval.writing import errors_of


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
