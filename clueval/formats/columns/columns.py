"""Splits token lines into columns, many lines at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern
from typing import NamedTuple

from clueval.formats.columns.layout import Layout
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.columns.sizes import SIZES

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
    return (TokenTable(text, layout) for text in _texts(sentences, layout.border))


def _texts(sentences: Sequence[str], border: str) -> Iterator[str]:
    """Yield the lines of sentences, about `SIZES.characters` together."""
    waiting: list[str] = []
    size = 0
    for number, sentence in enumerate(sentences, 1):
        waiting.append(sentence)
        size += len(sentence)
        if size > SIZES.characters or number == len(sentences):
            text, start = border.join([*waiting, ""]), 0
            while start < len(text):
                end = text.find("\n", start + 2 * SIZES.characters) + 1 or len(text)
                yield text[start:end]
                start = end
            waiting, size = [], 0


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


def parsed(passage: Passage) -> list[TokenTable]:
    """Return all sentences of a passage as tables. Raises `FormatError` for the first malformed line."""
    if passage.layout is None:
        return []
    try:
        return list(tables(passage.sentences, passage.layout))
    except ValueError:
        raise next(misfits(passage)) from None
