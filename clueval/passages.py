"""Passages: the token lines of part of a document, raw, as the column formats deliver them.

Files of one token per line (VRT, CoNLL) are read as runs of token lines. A passage holds the sentences of one
document, each as the text of its lines, unparsed: what stands identically on both sides need not be taken
apart, and what must be is taken apart many lines at a time. A long document comes in several passages, cut
after the same number of sentences on both sides, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clueval.exceptions import FormatError, UsageError
from clueval.limits import MAX_LINE, MAX_SENTENCE
from clueval.sources import Part
from clueval.spans import DEFAULT_LAYER

SENTENCES = 2000
"""A passage is cut after so many sentences."""

TOKENS = 1 << 20
"""A passage is cut after the sentence that brings it to so many tokens."""

ROWS = 1 << 14
CHARACTERS = 16 * ROWS
"""About so many lines and characters are taken apart at a time."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What the caller says of a column file: which column holds what, counted from 1 (from -1 at the end).

    `layers` maps the name of a layer to the column of its tags; None is the last column, called ``label``.
    `token` None is the first column that holds neither token ids nor tags. `part` is a part of the file to be
    read as if it were a file. `max_line` bounds the bytes of a line, `max_sentence` the tokens of a sentence.
    """

    layers: Mapping[str, int] | None = None
    token: int | None = None
    token_id: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    part: Part | None = None
    max_line: int = MAX_LINE
    max_sentence: int = MAX_SENTENCE


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a line are, numbered from 0, once its width is known."""

    width: int
    separator: str
    token: int
    token_id: int | None
    layers: tuple[tuple[str, int], ...]
    entities: bool

    @property
    def border(self) -> str:
        """A line that parts two sentences in a table: O in every field."""
        return self.separator.join(["O"] * self.width) + "\n"


def layout_of(
    line: str, separator: str, options: ColumnOptions, entities: bool, file: str, number: int
) -> Layout:
    """The layout of a file whose first token line is `line`. Raises `FormatError` for columns it lacks."""
    width = len(fields_of(line, separator))

    def place(column: int, use: str) -> int:
        if column == 0:
            raise UsageError(
                f"column 0 named for {use}", advice="columns count from 1, or from -1 at the end"
            )
        if abs(column) > width:
            raise FormatError(
                f"there is no column {column} for {use}: the line has {width} column{'s' * (width != 1)}",
                file=file,
                line=number,
                advice="name the columns with --layer NAME=COLUMN"
                + (", parted by TAB" if separator == "\t" and width == 1 else ""),
            )
        return column - 1 if column > 0 else width + column

    wanted = {DEFAULT_LAYER: -1} if options.layers is None else options.layers
    layers = tuple((name, place(column, f"layer {name!r}")) for name, column in wanted.items())
    token_id = None if options.token_id is None else place(options.token_id, "the token ids")
    taken = {token_id, *(column for _, column in layers)}
    if options.token is not None and place(options.token, "the tokens") in taken:
        raise FormatError(
            f"column {options.token} would hold both tokens and tags: the line has {width} columns",
            file=file,
            line=number,
            advice="give PREDICTED, or one file with tokens, gold and predicted tags; --token names the column",
        )
    free = [column for column in range(width) if column not in taken]
    if options.token is None and not free:
        raise FormatError(
            f"no column is left for the tokens: the line has {width} column{'s' * (width != 1)}",
            file=file,
            line=number,
            advice="name the columns with --layer NAME=COLUMN",
        )
    token = free[0] if options.token is None else place(options.token, "the tokens")
    return Layout(width, separator, token, token_id, layers, entities)


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of a line; blanks may stand several in a row, tabs may not."""
    return line.split("\t") if separator == "\t" else line.split(" ")


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


class Table:
    """Many token lines taken apart into columns, with a border line of O between sentences.

    Raises `ValueError` if a line has another number of fields than the layout says or an empty token; the
    caller, who knows the passage, finds the line with `misfits`.
    """

    __slots__ = ("_flat", "_layout", "rows")

    def __init__(self, text: str, layout: Layout) -> None:
        separator, width = layout.separator, layout.width
        self._layout = layout
        self._flat = text.replace("\n", f"{separator}\n{separator}").split(separator)
        self.rows = text.count("\n")
        # A line end is a field of its own; if all of them stand in every (width + 1)th place, every line fits.
        if self._flat[width :: width + 1].count("\n") != self.rows:
            raise ValueError
        if "" in self.column(layout.token):
            raise ValueError

    def column(self, number: int) -> list[str]:
        """A column, decoded if the format has entities, borders included."""
        stride = self._layout.width + 1
        column = self._flat[number : self.rows * stride : stride]
        if self._layout.entities and "&" in "".join(column):
            return [unescape(value) if "&" in value else value for value in column]
        return column

    def tokens(self) -> list[str]:
        return self.column(self._layout.token)

    def token_ids(self) -> list[str] | None:
        return None if self._layout.token_id is None else self.column(self._layout.token_id)

    def tags(self) -> dict[str, list[str]]:
        """The tags of every layer."""
        return {name: self.column(number) for name, number in self._layout.layers}


def tables(sentences: Sequence[str], layout: Layout) -> Iterator[Table]:
    """The sentences as tables of some thousand lines, a border after each sentence.

    A sentence that is longer than that comes in several tables, without a border between them.
    """
    return (Table(text, layout) for (text,) in batches([sentences], [layout]))


Cut = Callable[[tuple[str, ...]], Iterator[tuple[str, ...]]]
"""How a long sentence is cut, all sides after the same lines."""


def batches(
    sides: Sequence[Sequence[str]], layouts: Sequence[Layout], cut: Cut | None = None
) -> Iterator[tuple[str, ...]]:
    """Parallel lists of sentences as parallel texts of some thousand lines, cut at the same lines.

    Every side has the same number of lines in each sentence; a border follows each sentence. `cut` says how
    one long sentence, given on all sides, is cut; None: after so many lines, wherever that is.
    """
    cut = cut or _pieces
    borders = [layout.border for layout in layouts]
    waiting: list[tuple[str, ...]] = []
    size = 0
    for sentence in zip(*sides, strict=True):
        if len(sentence[0]) > CHARACTERS:
            if waiting:
                yield _joined(waiting, borders)
                waiting, size = [], 0
            yield from cut(tuple(text + border for text, border in zip(sentence, borders, strict=True)))
            continue
        waiting.append(sentence)
        size += len(sentence[0])
        if size > CHARACTERS:
            yield _joined(waiting, borders)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting, borders)


def _joined(sentences: Sequence[tuple[str, ...]], borders: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        border.join((*texts, "")) for border, texts in zip(borders, zip(*sentences, strict=True), strict=True)
    )


def _pieces(sentence: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """One long sentence, all sides cut after the same lines."""
    starts = [0] * len(sentence)
    for _ in range(0, sentence[0].count("\n"), ROWS):
        ends = [after_lines(text, start, ROWS) for text, start in zip(sentence, starts, strict=True)]
        yield tuple(text[start:end] for text, start, end in zip(sentence, starts, ends, strict=True))
        starts = ends


def after_lines(text: str, start: int, lines: int) -> int:
    """The position after so many line ends from `start`, or the end of the text, found by counting."""
    end = start
    while lines > 16 and end < len(text):
        step = min(end + 2 * lines, len(text))  # a line has two characters at least: no step goes too far
        lines -= text.count("\n", end, step)
        end = step
    for _ in range(lines):
        end = text.find("\n", end) + 1 or len(text)
    return end if end == len(text) else text.rindex("\n", start, end) + 1


_ENTITY = re.compile("&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def unescape(text: str) -> str:
    """XML's five entities and character references decoded; any other ampersand stays as it is.

    >>> unescape("R&amp;D &#167; & &co;")
    'R&D § & &co;'
    """
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


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


def parsed(passage: Passage) -> list[Table]:
    """All sentences of a passage as tables. Raises `FormatError` for the first line that does not fit."""
    if passage.layout is None:
        return []
    try:
        return list(tables(passage.sentences, passage.layout))
    except ValueError:
        raise next(misfits(passage)) from None
