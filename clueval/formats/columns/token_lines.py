"""The properties of a format with one token per line, and the passages of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clueval.formats.columns.builder import PassageBuilder
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.named import NamedColumns, Sources
from clueval.formats.columns.passages import Passage
from clueval.textfiles import Complain, Progress, blocks, refuse

if TYPE_CHECKING:
    from clueval.formats.opened import Opened


class LineReader(Protocol):
    """Reads the lines of one file, block by block, and builds passages from them."""

    builder: PassageBuilder

    def feed(self, number: int, text: str) -> None: ...
    def finish(self) -> None: ...


class TokenLines(NamedTuple):
    """How to find the sentences of a file, and the id of a sentence in the line that opens it.

    `reader` is called with the name of the file, the options, the prefix of document ids (for a file of a
    folder, or None) and the function that is called with errors. `named` returns the columns of a file, given its
    beginning, if this shows how they are used. `sources` returns the sources of layers, given a file and the option,
    for a format whose reader makes lines of its own (`clueval.formats.columns.made_lines`).
    """

    reader: Callable[[str, ColumnOptions, str | None, Complain], Any]
    sentence_id: Callable[[str], str | None]
    named: Callable[[str], NamedColumns | None] | None = None
    sources: Callable[[Opened, Mapping[str, int | str] | None], Sources] | None = None

    def passages(
        self,
        path: Path,
        options: ColumnOptions,
        *,
        name: str | None = None,
        progress: Progress | None = None,
        complain: Complain = refuse,
        passed_over: Counter[str] | None = None,
    ) -> Iterator[Passage]:
        """Yield the passages of a file; `name` is the prefix of document ids (for files of a folder).

        Memory holds a passage of at most `Sizes.sentences` sentences and a block. Calls `complain` with a
        `FormatError` with the line for each error; the default raises it. At the end, `passed_over` gets the numbers
        of rows that were not read, by kind.
        """
        found: LineReader = self.reader(str(path), options, name, complain)
        for number, text in blocks(
            path, progress, complain, options.part, options.max_line, options.sizes.block
        ):
            try:
                found.feed(number, text)
            finally:
                yield from found.builder.take()
        found.finish()
        yield from found.builder.take()
        if passed_over is not None:
            # the greater number, because a file may be read more than once
            passed_over |= found.builder.passed_over
