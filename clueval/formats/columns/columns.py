"""Token lines taken apart into columns, many lines at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.columns.sizes import SIZES, Sizes


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
    sides: Sequence[Sequence[str]],
    layouts: Sequence[Layout],
    cut: Cut | None = None,
    sizes: Sizes = SIZES,
) -> Iterator[tuple[str, ...]]:
    """Parallel lists of sentences as parallel texts of some thousand lines, cut at the same lines.

    Every side has the same number of lines in each sentence; a border follows each sentence. `cut` says how
    one long sentence, given on all sides, is cut; None: after so many lines, wherever that is.
    """
    cut = cut or partial(_pieces, rows=sizes.rows)
    borders = [layout.border for layout in layouts]
    waiting: list[tuple[str, ...]] = []
    size = 0
    for sentence in zip(*sides, strict=True):
        if len(sentence[0]) > sizes.characters:
            if waiting:
                yield _joined(waiting, borders)
                waiting, size = [], 0
            yield from cut(tuple(text + border for text, border in zip(sentence, borders, strict=True)))
            continue
        waiting.append(sentence)
        size += len(sentence[0])
        if size > sizes.characters:
            yield _joined(waiting, borders)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting, borders)


def _joined(sentences: Sequence[tuple[str, ...]], borders: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        border.join((*texts, "")) for border, texts in zip(borders, zip(*sentences, strict=True), strict=True)
    )


def _pieces(sentence: tuple[str, ...], rows: int) -> Iterator[tuple[str, ...]]:
    """One long sentence, all sides cut after the same lines."""
    starts = [0] * len(sentence)
    for _ in range(0, sentence[0].count("\n"), rows):
        ends = [after_lines(text, start, rows) for text, start in zip(sentence, starts, strict=True)]
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


def parsed(passage: Passage) -> list[Table]:
    """All sentences of a passage as tables. Raises `FormatError` for the first line that does not fit."""
    if passage.layout is None:
        return []
    try:
        return list(tables(passage.sentences, passage.layout))
    except ValueError:
        raise next(misfits(passage)) from None
