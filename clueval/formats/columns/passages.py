"""Passages: the token lines of part of a document, raw, as the column formats deliver them.

Files of one token per line (VRT, CoNLL) are read as runs of token lines. A passage holds the sentences of one
document, each as the text of its lines, unparsed: what stands identically on both sides need not be taken
apart, and what must be is taken apart many lines at a time. A long document comes in several passages, cut
after the same number of sentences on both sides, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import Layout, fields_of


@dataclass(slots=True)
class Passage:
    """Some consecutive sentences of a document, raw.

    `sentences` holds the token lines of each, every line with its end; `heads` the line that opens the
    sentence in the file, if any. `start` is the corpus position of the first token, `tokens` how many there
    are; `begins` is true if the document begins here, `named` if the file gives its id.

    `anchors` say where the lines are: (sentence, row, line) for a token line of a sentence and its number in
    the file. Lines follow one another up to the next anchor, and sentences with two lines of structure between.
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

    def line_of(self, sentence: int, row: int) -> int:
        """The line number of a token line of a sentence, both counted from 0. Costs a look at all before it."""
        place = bisect_right(self.anchors, (sentence, row, sys.maxsize)) - 1
        known, before, line = self.anchors[place]
        between = sum(text.count("\n") + 2 for text in self.sentences[known:sentence])
        return line + between + row - before

    def lines(self) -> Iterator[int]:
        """The line number of every token line, in order."""
        anchors = {(sentence, row): line for sentence, row, line in self.anchors}
        line = 0
        for sentence, text in enumerate(self.sentences):
            for row in range(text.count("\n")):
                line = anchors.get((sentence, row), line)
                yield line
                line += 1
            line += 2

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Every token line in order: sentence, row in it, fields."""
        for sentence, text in enumerate(self.sentences):
            for row, line in enumerate(text[:-1].split("\n")):
                yield sentence, row, fields_of(line, self.layout.separator if self.layout else "\t")


def misfits(passage: Passage) -> Iterator[FormatError]:
    """The lines of a passage that do not fit its layout, as errors to raise or to list."""
    if passage.layout is None:
        return
    width = passage.layout.width
    for sentence, row, fields in passage.rows():
        if len(fields) != width:
            problem = f"the line has {len(fields)} column{'s' * (len(fields) != 1)}, the first token line has {width}"
        elif not fields[passage.layout.token]:
            problem = "the token is empty"
        else:
            continue
        yield FormatError(problem, file=passage.file, line=passage.line_of(sentence, row))
