"""Rows of any number of parallel column files: sentences that are equal on all sides are split into columns once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from itertools import compress
from operator import methodcaller, ne, not_, or_

from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, batches
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes


class IrregularRows(CluevalError):
    """Something is wrong or unusual in parallel files, which must be read as documents; the place is not known."""


def differing(passages: Sequence[Passage]) -> list[bool]:
    """Return for each sentence of parallel passages whether its lines are different on some sides.

    Raises `IrregularRows` for different numbers of sentences, and for different numbers of lines in one that differs.
    """
    first, *others = [passage.sentences for passage in passages]
    if any(len(sentences) != len(first) for sentences in others):
        raise IrregularRows("different numbers of sentences")
    if any(passage.layout != passages[0].layout for passage in passages):
        found = [True] * len(first)
    elif all(sentences == first for sentences in others):
        return [False] * len(first)
    else:
        found = list(reduce(partial(map, or_), (map(ne, first, sentences) for sentences in others)))
    lengths = list(map(LINES, compress(first, found)))
    if any(list(map(LINES, compress(sentences, found))) != lengths for sentences in others):
        raise IrregularRows("sentences of different lengths")
    return found


LINES = methodcaller("count", "\n")


class ParallelSentences:
    """Sentences of parallel passages, which wait to be split into columns; holds them.

    If they must stay `in_order`, all sides are split.
    """

    def __init__(self, sizes: Sizes, *, in_order: bool = False) -> None:
        self._sizes, self._in_order = sizes, in_order
        self._layouts: list[Layout] = []
        self._same: list[str] = []
        self._others: list[list[str]] = []
        self.number = 0
        """The number of sentences that wait."""

    def add(self, passages: Sequence[Passage]) -> None:
        """Add the sentences of a passage of each side; the layouts of a side do not change while sentences wait.

        Raises `IrregularRows` as `differing` does.
        """
        self._layouts = [passage.layout for passage in passages if passage.layout is not None]
        differ = differing(passages)
        if self._in_order:
            differ = [True] * len(differ)
        self.number += len(differ)
        self._same += compress(passages[0].sentences, map(not_, differ))
        self._others = self._others or [[] for _ in passages]
        for waiting, passage in zip(self._others, passages, strict=True):
            waiting += compress(passage.sentences, differ)

    def tables(self) -> Iterator[Sequence[TokenTable]]:
        """Remove and yield the sentences: a table of those that all sides have in common, or a table of each side.

        Raises `IrregularRows` for lines that do not fit, and for different tokens or token ids; a side may have no ids.
        """
        same, others, layouts = self._same, self._others, self._layouts
        self._same, self._others, self.number = [], [], 0
        for texts in batches([same], layouts[:1], self._sizes):
            yield _split(texts, layouts[:1])
        for texts in batches(others, layouts, self._sizes) if others else ():
            tables = _split(texts, layouts)
            if any(table.tokens() != tables[0].tokens() for table in tables):
                raise IrregularRows("different tokens")
            ids = [found for table in tables if (found := table.token_ids()) is not None]
            if any(found != ids[0] for found in ids):
                raise IrregularRows("different token ids")
            yield tables


def _split(texts: Iterable[str], layouts: Iterable[Layout]) -> list[TokenTable]:
    try:
        return list(map(TokenTable, texts, layouts))
    except ValueError as error:
        raise IrregularRows("a line does not fit") from error
