"""The weights of tokens from a column of the gold files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from clueval.exceptions import FormatError, UsageError
from clueval.spans.document import Document
from clueval.textfiles import lines
from clueval.transforms.group import Group


class TokenWeights:
    """A transform that puts the weights of gold's tokens in the place of their ids, where the metric looks.

    Reads the lines of each gold file once more, in the order of the documents; holds one line.
    """

    def __init__(self, column: int) -> None:
        self._column = column
        self._file = ""
        self._lines: Iterator[tuple[int, str]] = iter(())
        self._last = 0
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    @property
    def signature(self) -> tuple[str, str]:
        return "weights", f"column {self._column}"

    def __call__(self, group: Group) -> Group:
        """Return the group with weights. Raises `UsageError` for gold that does not come from columns."""
        return replace(group, gold=replace(group.gold, token_ids=list(self._weights(group.gold))))

    def _weights(self, document: Document) -> Iterator[str]:
        if document.lines is None or document.file is None:
            raise UsageError(
                "weights of tokens need a column of a file with one token per line",
                document=document.id,
                file=document.file,
                advice="use VRT or CoNLL",
            )
        for number in document.lines:
            cells = self._line(document.file, number).split("\t")
            place = self._column - 1 if self._column > 0 else self._column
            try:
                yield cells[place].strip()
            except IndexError:
                raise FormatError(
                    f"there is no column {self._column} with a weight", file=document.file, line=number
                ) from None

    def _line(self, file: str, number: int) -> str:
        """Return a line of a file; the file is opened again for a line that has passed."""
        if file != self._file or number <= self._last:
            self._file, self._lines = file, lines(Path(file))
        for found, text in self._lines:
            self._last = found
            if found == number:
                return text if "\t" in text else "\t".join(text.split())
        raise FormatError(f"the file has no line {number} any more", file=file)
