"""What a format of one token per line says of itself, and its passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from clueval.formats.columns.builder import PassageBuilder
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.passages import Passage
from clueval.textfiles import Complain, Progress, blocks, refuse


class LineReader(Protocol):
    """Takes in the lines of one file, block by block, and builds passages of them."""

    builder: PassageBuilder

    def feed(self, number: int, text: str) -> None: ...
    def finish(self) -> None: ...


class TokenLines(NamedTuple):
    """How the sentences of a file are found, and how the line that opens a sentence names it.

    `reader` is given the file's name, the options, the name before document ids (of a file of a folder) and what
    is done with an error.
    """

    reader: Callable[[str, ColumnOptions, str | None, Complain], Any]
    sentence_id: Callable[[str], str | None]

    def passages(
        self,
        path: Path,
        options: ColumnOptions,
        *,
        name: str | None = None,
        progress: Progress | None = None,
        complain: Complain = refuse,
    ) -> Iterator[Passage]:
        """The passages of a file. `name` stands before the document ids (files of a folder).

        Held in memory: a passage of at most `Sizes.sentences` sentences and a block. Raises `FormatError` with the
        line, unless `complain` keeps what is wrong.
        """
        found: LineReader = self.reader(str(path), options, name, complain)
        for number, text in blocks(
            path, progress, complain, options.part, options.max_line, options.sizes.block
        ):
            found.feed(number, text)
            yield from found.builder.take()
        found.finish()
        yield from found.builder.take()
