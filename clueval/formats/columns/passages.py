"""Passages: the raw token lines of a part of a document, as the column formats return them.

Files of one token per line (VRT, CoNLL) are read as runs of token lines. A passage holds sentences of one
document, each as the unparsed text of its lines: lines that are identical on both sides need not be parsed,
and all others are parsed many lines at a time. A long document comes in several passages, cut after the same
number of sentences on both sides, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import Layout, fields_of
from clueval.spans.span import Span


@dataclass(slots=True)
class Passage:
    """Some consecutive sentences of a document, unparsed.

    `sentences` holds the token lines of each sentence, every line with its end; `heads` holds the line that
    opens each sentence in the file, or an empty string. `start` is the corpus position of the first token,
    `tokens` the number of tokens; `begins` is true if the document begins here, `named` if its id comes from
    the file.

    `anchors` locate the lines: (sentence, row, line) means that this row of this sentence has this line
    number in the file. Up to the next anchor, the lines are consecutive, with `between` lines of structure between
    sentences. `spans` has the spans that end here of layers that have no column, by layer.
    """

    file: str
    document: str
    metadata: Mapping[str, str]
    layout: Layout | None
    start: int
    begins: bool
    named: bool = False
    tokens: int = 0
    sentences: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    anchors: list[tuple[int, int, int]] = field(default_factory=list)
    between: int = 2
    spans: dict[str, list[Span]] = field(default_factory=dict)

    def line_of(self, sentence: int, row: int, starts: Sequence[int] = ()) -> int:
        """Return the line number of a row of a sentence, both counted from 0.

        O(n) for n lines before it, unless `starts` has the number of rows before each sentence.
        """
        place = bisect_right(self.anchors, (sentence, row, sys.maxsize)) - 1
        known, before, line = self.anchors[place]
        if starts:
            rows = starts[sentence] - starts[known]
        else:
            rows = sum(text.count("\n") for text in self.sentences[known:sentence])
        return line + rows + (sentence - known) * self.between + row - before

    def lines(self) -> Iterator[int]:
        """Yield the line number of every token line, in order."""
        return chain.from_iterable(self.line_ranges())

    def line_ranges(self) -> Iterator[range]:
        """Yield the line numbers of the token lines, in order, as ranges of consecutive ones."""
        anchors: dict[int, list[tuple[int, int]]] = {}
        for sentence, row, line in self.anchors:
            anchors.setdefault(sentence, []).append((row, line))
        line = 0
        for sentence, text in enumerate(self.sentences):
            size, done = text.count("\n"), 0
            for row, known in anchors.get(sentence, ()):
                if row < size:
                    yield range(line, line + row - done)
                    line, done = known, row
            yield range(line, line + size - done)
            line += size - done + self.between

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield every token line in order, as the sentence, the row in the sentence and the fields."""
        for sentence, text in enumerate(self.sentences):
            for row, line in enumerate(text[:-1].split("\n")):
                yield sentence, row, fields_of(line, self.layout.separator if self.layout else "\t")


def misfits(passage: Passage) -> Iterator[FormatError]:
    """Yield an error for each line of a passage that does not match its layout, to raise or to list."""
    if passage.layout is None:
        return
    width = passage.layout.width
    for (_, _, fields), line in zip(passage.rows(), passage.lines(), strict=True):
        if len(fields) != width:
            problem = f"the line has {len(fields)} column{'s' * (len(fields) != 1)}, the first token line has {width}"
        elif not fields[passage.layout.token]:
            problem = "the token is empty"
        else:
            continue
        yield FormatError(problem, file=passage.file, line=line)
