"""Counts the documents of two column files as tokens and flat layers, for metrics that need documents otherwise.

Many short documents are read and counted together. Those that a metric cannot count so are built and counted plainly.
Long documents are counted in parts. Anything else that is unusual makes the reading an error; then all documents are
counted plainly, which says what is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Hashable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise, product, zip_longest
from typing import Any, NamedTuple

from clueval.evaluation.file_reading import FileEnd, FileReading
from clueval.evaluation.observer import TokenObserver
from clueval.evaluation.plan import Plan
from clueval.evaluation.tallies import count_sides
from clueval.evaluation.units.unit import SENTENCE
from clueval.exceptions import CluevalError
from clueval.formats.columns.documents import documents
from clueval.formats.columns.flat_columns import MANY, FlatColumns, changed_columns
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric, Side
from clueval.reading.layers import layer_names
from clueval.reading.source import Source
from clueval.spans.compared import SIDES, Compared
from clueval.spans.document import Document
from clueval.spans.filters import ID
from clueval.spans.span import MERGED
from clueval.spans.token_pair import TokenPair
from clueval.tagging.decoder import BadTag, Decoder


class UnusualPair(CluevalError):
    """Documents that must be counted plainly."""


class PassagePair(NamedTuple):
    """The passages of one document on both sides."""

    gold: list[Passage]
    predicted: list[Passage]

    @property
    def tokens(self) -> int:
        """The number of tokens of gold."""
        return sum(passage.tokens for passage in self.gold)


class Batch(NamedTuple):
    """Documents that are counted together, or a part of one: whether it begins and ends here."""

    pairs: list[PassagePair]
    begins: bool = True
    ends: bool = True

    @property
    def is_long(self) -> bool:
        """Whether its lines should not be held while it is counted."""
        is_part = not (self.begins and self.ends)
        return is_part or (len(self.pairs) == 1 and self.pairs[0].tokens > MANY)


def are_token_pairs(plan: Plan) -> bool:
    """Return whether all that is counted and seen can be made of tokens and flat layers."""
    in_pairs = all(metric.needs.count_pair is not None for metric in plan.metrics)
    see_tokens = all(isinstance(each, TokenObserver) for each in plan.observers)
    needs_documents = (
        plan.transforms or plan.merge or plan.resample_by == SENTENCE or plan.unit == "character"
    )
    return in_pairs and see_tokens and not needs_documents and not plan.texts_may_differ


def token_pair_reading(gold: Source, predicted: Source, plan: Plan) -> FileReading | None:
    """Return two column files compared; None if their documents must be counted."""
    layers = list(
        dict.fromkeys(name for each in (gold, predicted) for name in layer_names(each.options.layers))
    )
    lenient = gold.options.reads_leniently and predicted.options.reads_leniently
    if not lenient or MERGED in layers or not are_token_pairs(plan):
        return None
    return FileReading(_compared(gold, predicted, plan, layers), layers)


def _compared(
    gold: Source, predicted: Source, plan: Plan, layers: Sequence[str]
) -> Generator[Compared, None, FileEnd]:
    observers = [each for each in plan.observers if isinstance(each, TokenObserver)]
    seeing = [each.anew() for each in observers]
    counter = PairCounter(gold, predicted, plan.metrics, layers)
    most = 1 if plan.wants_single_documents else gold.options.sizes.rows
    let_through = plan.where.on_documents(layers).lets_through
    need_ids = gold.options.part is not None and (observers or ID in plan.metadata_keys(layers))
    in_parts = not observers and gold.options.token_id is None and predicted.options.token_id is None
    for batch in _batches(gold, predicted, most, in_parts=in_parts):
        if need_ids and not all(pair.gold[0].named for pair in batch.pairs):
            raise UnusualPair("documents of a part of a file are known by their numbers in the file")
        first = batch.pairs[0].gold[0]
        see = seeing if let_through(first.document, first.metadata) else ()
        tokens = sum(pair.tokens for pair in batch.pairs)
        tallies = counter.count(batch, see)
        documents = len(batch.pairs) if batch.begins else 0
        yield Compared(documents, tokens, document=first.document, metadata=first.metadata, tallies=tallies)
    for observer, other in zip(observers, seeing, strict=True):
        observer.add(other)
    return FileEnd((counter.layouts[0], counter.layouts[1]), counter.decoders)


def _batches(gold: Source, predicted: Source, most: int, *, in_parts: bool) -> Iterator[Batch]:
    """Yield documents of both files, together until they have `most` tokens; with `in_parts`, long ones in parts.

    Raises `UnusualPair` for a document that only one side has, and for sides that are not cut alike.
    """
    waiting: list[PassagePair] = []
    size = 0  # the tokens of the documents that wait
    limit = min(gold.options.max_document, predicted.options.max_document)
    for passages in _by_document(gold, predicted):
        pair, here, before = PassagePair([], []), 0, 0
        for own, other in passages:
            if in_parts and here >= gold.options.sizes.rows:
                if waiting:
                    yield Batch(waiting)
                    waiting, size = [], 0
                yield Batch([pair], begins=not before, ends=False)
                pair, here, before = PassagePair([], []), 0, before + here
            pair.gold.append(own)
            pair.predicted.append(other)
            here += own.tokens
            if before + here > limit:
                raise UnusualPair("a document is too long")
        waiting.append(pair)
        size += here
        if before or max(size, len(waiting)) >= most:
            yield Batch(waiting, begins=not before)
            waiting, size = [], 0
    if waiting:
        yield Batch(waiting)


def _by_document(gold: Source, predicted: Source) -> Iterator[Iterator[tuple[Passage, Passage]]]:
    """Yield the passages of each document. Raises `UnusualPair` for a document that only one side has."""
    number = 0

    def number_of(sides: tuple[Passage | None, Passage | None]) -> int:
        nonlocal number
        own, other = sides
        if own is None or other is None or own.begins != other.begins or own.document != other.document:
            raise UnusualPair("a document has no counterpart, or is cut in other places")
        number += own.begins
        return number

    for _, passages in groupby(zip_longest(gold.passages(), predicted.passages()), key=number_of):
        yield passages


class PairCounter:
    """Counts documents of two files with all metrics, in all layers."""

    def __init__(
        self, gold: Source, predicted: Source, metrics: Sequence[Metric], layers: Sequence[str]
    ) -> None:
        self._sources, self._metrics, self._layers = (gold, predicted), metrics, layers
        self._decoders = [source.decoders() for source in self._sources]
        self.layouts: list[Layout | None] = [None, None]
        self._held: dict[Hashable, Any] = {}

    @property
    def decoders(self) -> dict[tuple[str, str], Decoder]:
        """The decoders by side and layer."""
        sides = zip(SIDES, self._decoders, strict=True)
        return {(side, layer): decoder for side, of in sides for layer, decoder in of.items()}

    def count(self, batch: Batch, observers: Sequence[TokenObserver] = ()) -> dict[tuple[str, str], Tally]:
        """Return the counts by metric and layer, and show the pairs to observers. Raises `UnusualPair`.

        If something in several documents must be counted plainly, they are counted one by one.
        """
        pairs = batch.pairs
        pair = self._read(pairs)
        if batch.is_long:
            return self._of_long(batch, pair, observers)
        found = self._tallies(pair, pairs[0] if len(pairs) == 1 else None, observers)
        if found is not None:
            return found
        total: dict[tuple[str, str], Tally] = defaultdict(Tally)
        for number, passages in enumerate(pairs):
            for key, tally in (self._tallies(pair.document(number), passages, observers) or {}).items():
                total[key].update(tally)
        return total

    def _of_long(
        self, batch: Batch, pair: TokenPair, observers: Sequence[TokenObserver]
    ) -> dict[tuple[str, str], Tally]:
        """Return the counts of a long document or of a part of one, whose lines are dropped before."""
        for passages in batch.pairs[0]:
            passages.clear()
        if not (batch.begins and batch.ends):
            pair = pair._replace(held=self._held, ended=batch.ends)
        found = self._tallies(pair, None, observers)
        if found is None:
            raise UnusualPair("a long document must be counted plainly")
        if batch.ends:
            self._held.clear()
        return found

    def _tallies(
        self, pair: TokenPair, passages: PassagePair | None, observers: Sequence[TokenObserver]
    ) -> dict[tuple[str, str], Tally] | None:
        """Return the counts, and show the pair to observers; None if a document must be counted plainly.

        `passages` are those of a single document, which is built if it must be.
        """
        found: dict[tuple[str, str], Tally] = {}
        built: tuple[Document, Document] | None = None
        for layer, metric in product(self._layers, self._metrics):
            assert metric.needs.count_pair is not None
            tally = metric.needs.count_pair(pair, layer)
            if tally is None:
                if passages is None:
                    return None
                built = built or self._built(passages)
                tally = _counted_plainly(metric, built, layer)
            found[metric.name, layer] = tally
        for observer in observers:
            observer.see_tokens(pair)
        return found

    def _read(self, pairs: Sequence[PassagePair]) -> TokenPair:
        """Read documents. Raises `UnusualPair` for what is no column file, and for different texts."""
        sides = [[passage for pair in pairs for passage in pair[number]] for number in range(2)]
        try:
            own, other = self._columns(*sides)
        except (ValueError, BadTag):
            raise UnusualPair("a line cannot be read") from None
        rows = [sum(passage.tokens + len(passage.sentences) for passage in pair.gold) for pair in pairs]
        ends = list(accumulate(rows))
        if own.tokens != other.tokens or own.borders != other.borders:
            raise UnusualPair("the sides have different texts")
        if own.token_ids and other.token_ids and own.token_ids != other.token_ids:
            raise UnusualPair("the sides have different token ids")
        for ids in (own.token_ids, other.token_ids):
            for place, pair in zip(pairwise((0, *ends)), pairs, strict=True) if ids else ():
                different = len(set(ids[slice(*place)]))  # the borders have the same one
                if different != pair.tokens + (pair.tokens > 0):
                    raise UnusualPair("a token id is repeated")
        ids = [each.gold[0].document for each in pairs]
        return TokenPair(own.tokens, own.borders, ends, ids, own.spans, other.spans)

    def _columns(
        self, gold: Sequence[Passage], predicted: Sequence[Passage]
    ) -> tuple[FlatColumns, FlatColumns]:
        """Return the columns of both sides; of predicted, sentences that are the same in gold are not parsed."""
        layouts = [self._layout(number, passages) for number, passages in enumerate((gold, predicted))]
        sides = (
            [sentence for passage in gold for sentence in passage.sentences],
            [sentence for passage in predicted for sentence in passage.sentences],
        )
        own = FlatColumns.of(sides[0], layouts[0], self._decoders[0])
        if layouts[0] != layouts[1]:
            return own, FlatColumns.of(sides[1], layouts[1], self._decoders[1])
        other = changed_columns(own, sides, layouts[1], self._decoders[1])
        if other is None:
            raise UnusualPair("the sides have different texts")
        return own, other

    def _layout(self, number: int, passages: Sequence[Passage]) -> Layout | None:
        layouts = (passage.layout for passage in passages)
        layout = self.layouts[number] = self.layouts[number] or next(filter(None, layouts), None)
        if layout is not None and layout.misc is not None:
            raise UnusualPair("flags of tokens say where blanks are")
        return layout

    def _built(self, pair: PassagePair) -> tuple[Document, Document]:
        """Return a document as it is read plainly."""
        own, other = (
            next(documents(passages, source.decoders(), source.token_lines.sentence_id))
            for source, passages in zip(self._sources, pair, strict=True)
            if source.token_lines is not None
        )
        return own, other


def _counted_plainly(metric: Metric, built: tuple[Document, Document], layer: str) -> Tally:
    own, other = (Side(each.layers.get(layer, ()), None, each, each.tags.get(layer), layer) for each in built)
    return count_sides(metric, own, other)
