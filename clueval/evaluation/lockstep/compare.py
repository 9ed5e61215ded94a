"""Compares two passages of the same text, or their tags.

The spans of sentences with identical lines, and other spans that are the same on both sides, are only counted by
their labels. The others are built as spans and left over for the metrics. Spans come from tags or from merging, so
those of one side never overlap, and a span that both sides have overlaps no other span. Positions of left-over spans
are numbers of decoded lines, the same on both sides; they can be compared, but not be reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, repeat
from operator import ne, not_
from sys import intern

from clueval.evaluation.lockstep.tag_runs import Columns, Tags
from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import TokenTable, batches
from clueval.formats.columns.documents import located, repeated_ids
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage, misfits
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.reading.same_text import first_difference, require_same_frame
from clueval.spans.compared import SIDES, ComparedSequence
from clueval.spans.flat import Flat
from clueval.spans.making import making_many
from clueval.spans.span import MERGED, Frozen, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.transitions import Seams

Decoders = Mapping[tuple[str, str], Decoder]
"""The decoder of each (side, layer)."""


def compare(
    pairs: Sequence[tuple[Passage, Passage]], decoders: Decoders, merge: bool, sizes: Sizes = SIZES
) -> dict[str, ComparedSequence]:
    """Each sequence of several pairs of passages compared as if each side were one passage; empty without tokens.

    Costs less than comparing short passages one by one. After an error, they are compared one by one to find its
    place. Raises `TextMismatch` for the first difference of the texts, `FormatError` and `TagError` with the line.
    """
    try:
        return _compare_passages(pairs, decoders, merge, sizes)
    except CluevalError:
        for pair in pairs if len(pairs) > 1 else ():
            _compare_passages([pair], decoders, merge, sizes)
        raise


def _compare_passages(
    pairs: Sequence[tuple[Passage, Passage]], decoders: Decoders, merge: bool, sizes: Sizes
) -> dict[str, ComparedSequence]:
    for gold, predicted in pairs:
        require_same_frame(gold, predicted)
    sides = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    own, other = (next((each.layout for each in side if each.layout is not None), None) for side in sides)
    if own is None or other is None or not any(gold.sentences for gold in sides[0]):
        return {}
    passages = _Passages(sides, (own, other), sizes)
    by_neighbours = all(decoder.reads_neighbours for decoder in decoders.values())
    alike = len({decoder.treatment for decoder in decoders.values()}) == 1
    passages.read(shortcut=own == other and by_neighbours and alike)
    try:
        return compare_columns(passages.columns, decoders, merge)
    except _BadTagOf as bad:
        raise bad if len(pairs) > 1 else located(bad.error, sides[bad.side][0], bad.layer) from None


def compare_columns(columns: Columns, decoders: Decoders, merge: bool) -> dict[str, ComparedSequence]:
    """Each sequence compared. Raises an error without a place for a bad tag; `compare` adds the place."""
    with making_many(sum(map(len, columns.disputed[0].values()))):
        if merge:
            return {MERGED: _compare_merged(columns, decoders)}
        return {layer: _compare_layer(layer, columns, decoders) for layer in columns.same}


class _BadTagOf(CluevalError):
    """A bad tag of one side and layer, not yet located."""

    def __init__(self, error: BadTag, side: int, layer: str) -> None:
        super().__init__(error.problem)
        self.error, self.side, self.layer = error, side, layer


class _Passages:
    """Parallel passages of each side, and the columns of their tags."""

    def __init__(
        self, passages: tuple[list[Passage], list[Passage]], layouts: tuple[Layout, Layout], sizes: Sizes
    ) -> None:
        self.passages, self.layouts, self._sizes = passages, layouts, sizes
        same, gold, predicted = ({layer: list[str]() for layer, _ in layouts[0].layers} for _ in range(3))
        self.columns = Columns(sum(passage.tokens for passage in passages[0]), same, (gold, predicted))
        self._ids: tuple[list[str], list[str]] = ([], [])

    def read(self, shortcut: bool) -> None:
        """Collect the tags; with the shortcut, those of identical sentences once."""
        gold, predicted = ([text for each in side for text in each.sentences] for side in self.passages)
        differs = list(map(ne, gold, predicted)) if shortcut else [True] * len(gold)
        same = list(compress(gold, map(not_, differs)))
        disputed = [list(compress(side, differs)) for side in (gold, predicted)]
        gold_rows, predicted_rows = (list(map(str.count, texts, repeat("\n"))) for texts in disputed)
        if gold_rows != predicted_rows:
            raise self._difference()
        try:
            for (text,) in batches([same], self.layouts[:1], self._sizes):
                self._read_same(text)
            for texts in batches(disputed, self.layouts, self._sizes):
                self._read_disputed(texts)
        except ValueError as error:
            if isinstance(error, CluevalError):
                raise
            raise next(self._misfits()) from None
        self._require_unique_ids(len(gold))

    def _read_same(self, text: str) -> None:
        table = TokenTable(text, self.layouts[0])
        self._collect(table, self.columns.same)
        for ids in self._ids:
            ids += table.token_ids() or ()

    def _read_disputed(self, texts: tuple[str, ...]) -> None:
        gold, predicted = (TokenTable(text, layout) for text, layout in zip(texts, self.layouts, strict=True))
        ids = gold.token_ids(), predicted.token_ids()
        if gold.tokens() != predicted.tokens() or (None not in ids and ids[0] != ids[1]):
            raise self._difference()
        for table, tags, seen in zip((gold, predicted), self.columns.disputed, self._ids, strict=True):
            self._collect(table, tags)
            seen += table.token_ids() or ()

    def _collect(self, table: TokenTable, tags: Tags) -> None:
        """Add the tags of a table to `tags`."""
        for layer, column in table.tags().items():
            # interned if there are many: one object per tag, not one per token
            tags[layer].extend(map(intern, column) if len(tags[layer]) > self._sizes.rows else column)

    def _difference(self) -> CluevalError:
        """The error for the first line that does not fit its layout, or else for the first difference."""
        (gold, *more), (predicted, *_) = self.passages
        found = CluevalError("somewhere the texts differ") if more else first_difference(gold, predicted)
        return next(self._misfits(), found)

    def _misfits(self) -> Iterator[CluevalError]:
        return (misfit for side in self.passages for passage in side for misfit in misfits(passage))

    def _require_unique_ids(self, sentences: int) -> None:
        for ids, passages in zip(self._ids, self.passages, strict=True):
            # there is an O between sentences, too
            if ids and len(set(ids)) < len(ids) - sentences + 1:
                for error in repeated_ids(passages):
                    raise error


def _compare_layer(layer: str, columns: Columns, decoders: Decoders) -> ComparedSequence:
    same = columns.same[layer]
    seams = Seams(same)
    labels, _ = (_counted(columns, side, layer, decoders, same, seams) for side in (0, 1))
    gold, predicted = (_decoded(columns, side, layer, decoders) for side in (0, 1))
    agreed, gold, predicted = gold.compared(predicted)
    labels.update(agreed)
    gold_tags, predicted_tags = (side[layer] for side in columns.disputed)
    differs = list(map(ne, gold_tags, predicted_tags))
    unequal = list(compress(gold_tags, differs)), list(compress(predicted_tags, differs))
    return ComparedSequence(
        Counter({Frozen({layer: label}): n for label, n in labels.items()}),
        gold,
        predicted,
        columns.tokens - len(unequal[0]),
        unequal,
        columns.times,
    )


def _counted(
    columns: Columns, side: int, layer: str, decoders: Decoders, tags: Sequence[str], seams: Seams
) -> Counter[str]:
    """The labels of the spans in `tags`, which are the same on both sides."""
    decoder = decoders[SIDES[side], layer]
    try:
        decoder.accept(tags, seams.neighbours, columns.times)
        return decoder.labels(tags, seams, columns.times)
    except BadTag as error:
        raise _BadTagOf(error, side, layer) from None


def _compare_merged(columns: Columns, decoders: Decoders) -> ComparedSequence:
    same = Columns(columns.tokens, columns.same, (columns.same, columns.same), columns.times)
    for layer, tags in columns.same.items():
        _counted(columns, 1, layer, decoders, tags, Seams(tags))
    agreed = Counter(span.by_layer for span in _merged(same, 0, decoders))
    gold_spans, predicted_spans = (set(_merged(columns, side, decoders)) for side in (0, 1))
    agreed.update(span.by_layer for span in gold_spans & predicted_spans)
    gold, predicted = (
        sorted(left, key=lambda span: span.start)
        for left in (gold_spans - predicted_spans, predicted_spans - gold_spans)
    )
    covered = {position for span in (*gold, *predicted) for position in range(span.start, span.end)}
    equal = columns.tokens - len(covered)
    return ComparedSequence(agreed, gold, predicted, equal, None, columns.times)  # type: ignore[arg-type]  # by_layer is a Frozen


def _merged(columns: Columns, side: int, decoders: Decoders) -> list[Span]:
    from clueval.spans.merging import merge_layers

    return merge_layers({layer: _decoded(columns, side, layer, decoders) for layer in columns.same})


def _decoded(columns: Columns, side: int, layer: str, decoders: Decoders) -> Flat:
    """The spans of disputed lines."""
    decoder, tags = decoders[SIDES[side], layer], columns.disputed[side][layer]
    seams = Seams(tags)
    try:
        decoder.accept(tags, seams.neighbours, columns.times)
        decoder.accept((), columns.seams.get((SIDES[side], layer), Counter()))
        return decoder.columns(layer, tags, seams, columns.times)
    except BadTag as error:
        raise _BadTagOf(error, side, layer) from None
