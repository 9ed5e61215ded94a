"""Collecting what is counted in each unit while documents go by, and making units of it.

A document is cut at sentence ends that no span crosses, so that the pieces can be counted one by one:

>>> from clueval.spans.document import Sentence
>>> gold = Document("d", {"label": [Span(0, 1), Span(3, 5)]}, tokens=list("abcdef"),
...                 sentences=[Sentence(0, 2), Sentence(2, 4), Sentence(4, 6)])
>>> [(number, piece.start, piece.end) for number, piece, _ in pieces_of(gold, gold)]
[(1, 0, 2), (2, 2, 6)]
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from clueval.core.span import NOTHING, Frozen, Span
from clueval.evaluation.totals import Totals, UnitPiece
from clueval.evaluation.units.unit import (
    CORPUS,
    DOCUMENT,
    SENTENCE,
    SharedTallies,
    Unit,
    Units,
    different_keys,
    document_key,
    joined,
)
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.spans.document import Document
from clueval.spans.filters import ID

WITHOUT_VALUE = "(none)"
"""The value of documents that lack the metadata of a break-down or of a unit."""


class Pieces:
    """The pieces of an evaluation, in the order of the documents; none if `by` is None.

    `file` is the name of the file that is being counted; it is part of the keys if the sides are folders.
    The pieces of a document, and of its sentences, stay apart, and share equal counts as soon as they have ended; those
    of other units with equal keys and values are counted together. So memory grows with the number of units.
    """

    def __init__(self, by: str | None, in_folders: bool) -> None:
        self.by, self._in_folders = by, in_folders
        self.file: str | None = None
        self.listed: list[UnitPiece] = []
        self._known: dict[tuple[str, tuple[str, ...]], UnitPiece] = {}
        self._shared, self._ended = SharedTallies(), 0

    def key(self, document: str, metadata: Mapping[str, str] = NOTHING, sentence: int | None = None) -> str:
        """Return the key of the unit of a document, or of a sentence of it."""
        if self.by in (DOCUMENT, SENTENCE):
            return document_key(self.file, document, self._in_folders, sentence)
        return value_of(str(self.by), document, metadata)

    def metadata(self) -> Sequence[str]:
        """Return the key of metadata whose values are the units, if they are that."""
        return () if self.by in (None, DOCUMENT, SENTENCE) else (self.by,)

    def totals_of(self, key: str, values: tuple[str, ...], *, begins: bool) -> Totals:
        """Return the totals that count a unit; a document that does not begin here goes on."""
        if self.by in (DOCUMENT, SENTENCE):
            if begins or not self.listed:
                self._append([UnitPiece(key, values, Totals())])
            return self.listed[-1].totals
        piece = self._known.get((key, values))
        if piece is None:
            piece = self._known[key, values] = UnitPiece(key, values, Totals())
            self.listed.append(piece)
        return piece.totals

    def include(self, pieces: Iterable[UnitPiece]) -> None:
        """Add the pieces of another evaluation, which must not change afterwards."""
        if self.by in (DOCUMENT, SENTENCE):
            self._append(pieces)
            return
        for piece in pieces:
            self.totals_of(piece.key, piece.values, begins=True).include(piece.totals)

    def _append(self, pieces: Iterable[UnitPiece]) -> None:
        """Add pieces to the list; all but the last one have ended."""
        self.listed += pieces
        shared: dict[int, tuple[dict[tuple[str, str], Tally], dict[tuple[str, str], Tally]]] = {}
        for piece in self.listed[self._ended : -1]:
            own = piece.totals.tallies
            if id(own) not in shared:
                shared[id(own)] = own, self._shared(own)
            piece.totals.tallies = shared[id(own)][1]
        self._ended = max(0, len(self.listed) - 1)

    def units(self, total: Totals, by: Mapping[str, Mapping[str, Totals]], sha256: str | None) -> Units:
        """Return the units, and those of each value of the break-downs; the corpus as one if none were kept."""
        if self.by is None:
            return _whole_corpus(total, by)
        keys: Sequence[str] = [piece.key for piece in self.listed]
        together: Callable[[Iterable[Unit]], list[Unit]] = joined
        if self.by in (DOCUMENT, SENTENCE):
            keys, together = different_keys(keys), list
        units = [_unit(key, piece.totals) for key, piece in zip(keys, self.listed, strict=True)]
        groups: dict[str, dict[str, list[Unit]]] = {}
        for place, by_key in enumerate(by):
            values: dict[str, list[Unit]] = {}
            for unit, piece in zip(units, self.listed, strict=True):
                values.setdefault(piece.values[place], []).append(unit)
            groups[by_key] = {value: together(of_value) for value, of_value in sorted(values.items())}
        return Units(self.by, together(units), groups, sha256)


def _whole_corpus(total: Totals, groups: Mapping[str, Mapping[str, Totals]]) -> Units:
    """Return the whole corpus as one unit, where no units were kept."""
    return Units(
        CORPUS,
        [_unit(CORPUS, total)],
        {
            key: {value: [_unit(CORPUS, totals)] for value, totals in sorted(values.items())}
            for key, values in groups.items()
        },
    )


def value_of(key: str, document: str, metadata: Mapping[str, str]) -> str:
    """Return the value of a key of metadata, or the id of the document for the key of ids."""
    return document if key == ID else metadata.get(key, WITHOUT_VALUE)


def require_sum(pieces: Iterable[UnitPiece], whole: Totals, document: str) -> None:
    """Raise `UsageError` if the counts of the pieces of a document are not those of the whole.

    They are not if a setting of a metric joins spans across the end of a sentence.
    """
    together = Totals()
    for piece in pieces:
        together.include(piece.totals)
    for place in {*whole.tallies, *together.tallies}:
        if whole.tallies.get(place, Tally()) != together.tallies.get(place, Tally()):
            raise UsageError(
                f"metric {place[0]!r} does not count sentences one by one: their counts do not add up",
                document=document,
                advice="resample by document",
            )


def _unit(key: str, totals: Totals) -> Unit:
    return Unit(key, totals.documents, totals.tokens, totals.tallies)


def pieces_of(gold: Document, predicted: Document) -> Iterator[tuple[int, Document, Document]]:
    """Yield the pieces of a pair of documents, each with the number, from 1, of its first sentence.

    A document without sentences, or without its text, is one piece.
    """
    end = gold.end
    cuts = [] if end is None else _cuts(gold, predicted, end)
    if not cuts:
        yield 1, gold, predicted
        return
    assert end is not None
    ends = [sentence.end for sentence in gold.sentences]
    starts = [gold.start, *cuts]
    layers = zip(_layers(gold, starts), _layers(predicted, starts), strict=True)
    for start, stop, (own, others) in zip(starts, [*cuts, end], layers, strict=True):
        number = bisect_left(ends, start + 1) + 1
        yield number, _part(gold, own, start, stop), _part(predicted, others, start, stop)


def _cuts(gold: Document, predicted: Document, end: int) -> list[int]:
    """The sentence ends within the text that no span of either side crosses."""
    found = sorted({sentence.end for sentence in gold.sentences if gold.start < sentence.end < end})
    spans = sorted(
        (span.start, span.end)
        for document in (gold, predicted)
        for layer in document.layers.values()
        for span in layer
    )
    free, reach, place = [], gold.start, 0
    for cut in found:
        while place < len(spans) and spans[place][0] < cut:
            reach = max(reach, spans[place][1])
            place += 1
        if reach <= cut:
            free.append(cut)
    return free


def _layers(document: Document, starts: Sequence[int]) -> list[dict[str, list[Span]]]:
    """The layers of each part of a document; a span of length 0 on a cut belongs to the part that it begins."""
    parts: list[dict[str, list[Span]]] = [{name: [] for name in document.layers} for _ in starts]
    for name, layer in document.layers.items():
        for span in layer:
            parts[bisect_right(starts, span.start) - 1][name].append(span)
    return parts


def _part(document: Document, layers: Mapping[str, Sequence[Span]], start: int, stop: int) -> Document:
    """The part of a document between two cuts, which has these layers."""
    first, last = start - document.start, stop - document.start
    in_tokens = document.unit == "token"
    return replace(
        document,
        layers=Frozen(layers),
        start=start,
        tokens=document.tokens if document.tokens is None or not in_tokens else document.tokens[first:last],
        text=document.text if document.text is None or in_tokens else document.text[first:last],
        token_ids=None if document.token_ids is None or not in_tokens else document.token_ids[first:last],
        sentences=(),
        tags=Frozen({name: tags[first:last] for name, tags in document.tags.items()})
        if in_tokens
        else Frozen(),
        lines=None if document.lines is None or not in_tokens else document.lines[first:last],
    )
