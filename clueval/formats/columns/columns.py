"""Splits token lines into columns, many lines at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern
from typing import NamedTuple

from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.columns.sizes import SIZES, Sizes

_WITHIN_FIELDS = {
    separator: bytes(byte for byte in range(256) if byte not in (ord(separator), ord("\n")))
    for separator in ("\t", " ")
}
"""All bytes except the separator and the line end, by separator."""


class TokenTable:
    """Many token lines split into columns, with a border line, which has O in every field, between sentences.

    Raises `ValueError` if a line has another number of fields than the layout or an empty token; the caller
    finds the line with `misfits`, which needs the passage.
    """

    __slots__ = ("_flat", "_has_entities", "_layout", "_tokens", "rows")

    def __init__(self, text: str, layout: Layout) -> None:
        separator, width = layout.separator, layout.width
        self._layout = layout
        ends = text.encode(errors="surrogatepass").translate(None, _WITHIN_FIELDS[separator])
        self.rows = len(ends) // width
        if ends != (separator * (width - 1) + "\n").encode() * self.rows:
            raise ValueError
        self._flat = text.replace("\n", separator).split(separator)
        self._has_entities = layout.entities and "&" in text
        self._tokens = self.column(layout.token)
        if "" in self._tokens:
            raise ValueError

    def column(self, number: int) -> list[str]:
        """Return a column including borders; entities are decoded if the format has them."""
        stride = self._layout.width
        column = self._flat[number : self.rows * stride : stride]
        if self._has_entities:
            return [unescape(value) if "&" in value else value for value in column]
        return column

    def tokens(self) -> list[str]:
        return self._tokens

    def token_ids(self) -> list[str] | None:
        return None if self._layout.token_id is None else self.column(self._layout.token_id)

    def tags(self) -> dict[str, list[str]]:
        """Return the tags of each layer."""
        return {name: self.column(number) for name, number in self._layout.layers}


def tables(sentences: Sequence[str], layout: Layout) -> Iterator[TokenTable]:
    """Return the sentences as tables of some thousand lines, with a border after each sentence.

    A longer sentence is split into several tables, without a border between them.
    """
    return (TokenTable(text, layout) for (text,) in batches([sentences], [layout]))


MANY = 20_000
"""Among more tokens than these, equal tokens and tags are one object, which takes time and saves memory."""


class Columns(NamedTuple):
    """The columns of sentences with borders; no ids if the layout has none."""

    tokens: list[str]
    token_ids: list[str]
    tags: dict[str, list[str]]
    flags: list[str]

    @classmethod
    def of(cls, sentences: Sequence[str], layout: Layout, *, are_many: bool = False) -> Columns:
        """Split the lines of sentences, some thousand at a time; if tokens are many, equal ones are one object.

        Raises `ValueError` for a line that does not fit.
        """
        columns = cls([], [], {layer: [] for layer, _ in layout.layers}, [])
        for table in tables(sentences, layout):
            tokens = table.tokens()
            columns.tokens.extend(map(intern, tokens) if are_many else tokens)
            columns.token_ids.extend(table.token_ids() or ())
            if layout.misc is not None:
                columns.flags.extend(table.column(layout.misc))
            for layer, tags in table.tags().items():
                columns.tags[layer].extend(map(intern, tags) if are_many else tags)
        return columns


def batches(
    sides: Sequence[Sequence[str]],
    layouts: Sequence[Layout],
    sizes: Sizes = SIZES,
) -> Iterator[tuple[str, ...]]:
    """Yield parallel lists of sentences as parallel texts of some thousand lines, cut at the same lines.

    Each sentence must have the same number of lines on all sides; a border follows each sentence. A long sentence is
    cut after every `sizes.rows` lines.
    """
    borders = [layout.border for layout in layouts]
    waiting: list[tuple[str, ...]] = []
    size = 0
    for sentence in zip(*sides, strict=True):
        if len(sentence[0]) > sizes.characters:
            if waiting:
                yield _joined(waiting, borders)
                waiting, size = [], 0
            ended = tuple(text + border for text, border in zip(sentence, borders, strict=True))
            yield from _pieces(ended, sizes.rows)
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
    """Cut one long sentence after every `rows` lines, on all sides."""
    starts = [0] * len(sentence)
    for _ in range(0, sentence[0].count("\n"), rows):
        ends = [_after_lines(text, start, rows) for text, start in zip(sentence, starts, strict=True)]
        yield tuple(text[start:end] for text, start, end in zip(sentence, starts, ends, strict=True))
        starts = ends


def _after_lines(text: str, start: int, lines: int) -> int:
    """Return the position after the next `lines` line ends from `start`, or the end of the text."""
    end = start
    while lines > 16 and end < len(text):
        step = min(end + 2 * lines, len(text))  # a line has at least two characters, so no step is too long
        lines -= text.count("\n", end, step)
        end = step
    if end == len(text):
        return end
    for _ in range(lines):
        end = text.find("\n", end) + 1 or len(text)
    return end if end == len(text) else text.rindex("\n", start, end) + 1


def parsed(passage: Passage) -> list[TokenTable]:
    """Return all sentences of a passage as tables. Raises `FormatError` for the first malformed line."""
    if passage.layout is None:
        return []
    try:
        return list(tables(passage.sentences, passage.layout))
    except ValueError:
        raise next(misfits(passage)) from None
