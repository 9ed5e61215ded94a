"""Plain spans ``(start, end, label)`` of gold and predicted become a bag: lists in memory, and texts of rows in files.

No `Span` is made: `keys_of_triples` makes the keys of cases of the triples themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from operator import itemgetter, le
from typing import Any, NamedTuple

from clueval.core.bag import Bag
from clueval.core.case import TOKENS, Key, Where, are_flat, keys_of, keys_of_triples
from clueval.core.count import EITHER, FEW_DOCUMENTS, DocumentPlace, Plan, in_documents
from clueval.core.document import GROUP, ID, UNPLACED, Document, Layers, Row
from clueval.core.span import DEFAULT_LAYER, MERGED, NOTHING
from clueval.files.errors import CluevalError, OverlapError
from clueval.formats.dialect import Dialect
from clueval.reading.clusters import (
    NewLabels,
    TagReading,
    Unusual,
    bag_of_tagged_documents,
    check_case,
    is_in_characters,
    require_usual,
)
from clueval.reading.source import Source

BATCH = 200
"""The number of documents that are counted together; more would no longer fit in the processor's cache."""

_LISTS = frozenset({list, tuple})
_FEATURES = itemgetter(0)
_PARTS = [int, int, str]


class PlainText(NamedTuple):
    """One text with the spans of both sides in one layer, in any order; positions count from 0.

    `positions` is the number of positions; None: the text is not there. A side that is None lacks the layer. The order
    of the spans counts if the text is `ordered`.
    """

    id: str
    gold: Sequence[Row] | None
    predicted: Sequence[Row] | None
    positions: int | None = None
    metadata: Mapping[str, str] = NOTHING
    ordered: bool = False


def bag_of_triples(
    gold: Any,
    predicted: Any,
    plan: Plan,
    *,
    ids: Sequence[str] | None = None,
) -> Bag | None:
    """Count parallel lists, one of tuples ``(start, end, label)`` for each document; the layer is ``label``.

    The bag is that of `clueval.core.count.count` for documents without a text, whose ids are `ids`, by default their
    numbers from 0. Returns None as `bag_of_texts` does, and for sides that are no lists, for other spans than such
    tuples of numbers and text, and for different numbers of documents. Iterators are left as they are.
    """
    if type(gold) not in _LISTS or type(predicted) not in _LISTS or len(gold) != len(predicted):
        return None
    return bag_of_texts(_texts(gold, predicted, ids), plan)


def _texts(gold: Sequence[Any], predicted: Sequence[Any], ids: Sequence[str] | None) -> Iterator[PlainText]:
    for start in range(0, len(gold), BATCH):
        batch = [side[start : start + BATCH] for side in (gold, predicted)]
        _require_plain(list(chain.from_iterable(batch)))
        names = map(str, count(start)) if ids is None else ids[start : start + BATCH]
        for name, gold_rows, predicted_rows in zip(names, *batch, strict=False):
            # a document without spans has no layer
            yield PlainText(name, gold_rows or None, predicted_rows or None)


def _require_plain(lists: Sequence[Any]) -> None:
    """Raise `Unusual` unless these are lists of tuples of a start, an end and a label."""
    if not _LISTS.issuperset(map(type, lists)):
        raise Unusual("a document that is no list")
    spans = list(chain.from_iterable(lists))
    if list(map(type, spans)).count(tuple) != len(spans) or list(map(len, spans)).count(3) != len(spans):
        raise Unusual("a span that is no tuple of three values")
    parts = list(chain.from_iterable(spans))
    if list(map(type, parts)) != _PARTS * len(spans):
        raise Unusual("a span that is no tuple of two numbers and a label")
    starts, ends = parts[::3], parts[1::3]
    if min(starts, default=0) < 0 or not all(map(le, starts, ends)):
        raise Unusual("a span that ends before it begins")


def bag_of_row_files(
    sources: Sequence[Source], texts: Iterable[Sequence[Document]], plan: Plan
) -> Bag | None:
    """Count two parallel files whose spans are rows in one layer, given their documents, which need not be read.

    The bag is that of `clueval.core.count.count`. Returns None, and documents must be counted, for metrics that read
    features of spans, for spans that are not plain rows, for other texts on the other side, for what `bag_of_rows`
    leaves to documents, and for every error.
    """
    names = {name for source in sources for name in source.options.layers or (DEFAULT_LAYER,)}
    if len(names) > 1 or plan.reads - {TOKENS}:
        return None
    have_tags = {isinstance(source.form, Dialect) and bool(source.form.tags) for source in sources}
    layer = names.pop()
    if have_tags == {False}:
        return bag_of_rows(_same_texts(texts), plan, layer)
    if len(have_tags) > 1:
        return None
    readings = [TagReading.of(source.options.scheme, source.options.invalid) for source in sources]
    files = [source.file.name for source in sources]
    try:
        return bag_of_tagged_documents(_same_texts(texts), plan, layer, readings, files)
    except Unusual:
        return None


def _same_texts(texts: Iterable[Sequence[Document]]) -> Iterator[Sequence[Document]]:
    """Yield the documents of each text. Raises `Unusual` for different texts, and for an error of reading."""
    try:
        for gold, predicted in texts:
            if (gold.id, gold.text, gold.tokens) != (predicted.id, predicted.text, predicted.tokens):
                raise Unusual("different texts")
            yield gold, predicted
    except CluevalError as error:
        raise Unusual("a file cannot be read") from error


def bag_of_rows(
    pairs: Iterable[Sequence[Document]],
    plan: Plan,
    layer: str = DEFAULT_LAYER,
) -> Bag | None:
    """Count the documents of gold and predicted whose spans in `layer` are rows (`clueval.core.document.Layers`).

    The bag is that of `clueval.core.count.count`. Returns None as `bag_of_texts` does, and for documents that have
    more than rows in this layer, tags, an order that counts, or several sentences where sentences are told apart; some
    of the pairs have been taken then.
    """
    features: set[str] = set()
    try:
        remaining = iter(pairs)
        first = next(remaining, None)
        if first is None:
            raise Unusual("there are no documents")
        unit, in_sentences = first[0].unit, plan.counts_sentences
        texts = (_text(pair, layer, unit, in_sentences, features) for pair in chain([first], remaining))
        bag = bag_of_texts(texts, plan, layer, unit=unit)
    except Unusual:
        return None
    if bag is not None:
        bag.read.features |= features
        if unit == "token" and first[0].file is not None:
            bag.read.tagged |= bag.read.spans.keys()
    return bag


def _text(
    pair: Sequence[Document], layer: str, unit: str, in_sentences: bool, features: set[str]
) -> PlainText:
    """Return a pair as a text; `features` gets the names of the features of its spans."""
    gold, predicted = pair
    if in_sentences and (len(gold.sentences) > 1 or len(predicted.sentences) > 1):
        raise Unusual("a document of several sentences")
    if UNPLACED in predicted.metadata:
        raise Unusual("spans without a place")
    ordered = gold.ordered or predicted.ordered
    sides = [_rows_of(document, layer, unit, ordered, features) for document in pair]
    end = predicted.end if gold.end is None else gold.end
    return PlainText(gold.id, sides[0], sides[1], end, gold.metadata, ordered)


def _rows_of(
    document: Document, layer: str, unit: str, ordered: bool, features: set[str]
) -> Sequence[Row] | None:
    """Return the rows of a document in the order in which spans are counted, None if it has no layer."""
    layers: Layers = document.layers  # type: ignore[assignment]  # they are `Layers`
    rows, number = layers.rows(layer), len(layers)
    is_plain = number == (rows is not None) and document.unit == unit
    if not is_plain or document.tags or document.start:
        raise Unusual("a document of other things than rows in one layer")
    details = layers.details(layer)
    features.update(*map(_FEATURES, details))
    if GROUP in features:
        raise Unusual("a group of spans")
    if rows is None or not ordered:
        return rows
    if not document.ordered:
        return sorted(rows)
    if all(isinstance(identifier, int) for _, identifier, _ in details) and len(details) == len(rows):
        places = [(start, end, detail[1]) for (start, end, _), detail in zip(rows, details, strict=True)]
        return [rows[number] for number in sorted(range(len(rows)), key=places.__getitem__)]
    return rows


def bag_of_texts(
    texts: Iterable[PlainText],
    plan: Plan,
    layer: str = DEFAULT_LAYER,
    *,
    unit: str = "token",
) -> Bag | None:
    """Count texts with plain spans in one layer; `unit` is that of their positions.

    The bag is that of `clueval.core.count.count` for the documents. Memory holds the bag. Returns None, and documents
    must be counted, for plans that need documents or convert positions, for no texts, and for cases that a metric
    cannot count, as spans that overlap for some metrics.
    """
    try:
        require_usual(plan, [layer])
        if is_in_characters(plan) and unit != "character":
            raise Unusual("positions must be converted")
        counting = _Counting(plan, layer, unit)
        texts = iter(texts)
        if plan.by or plan.units or plan.where:
            for text in texts:
                counting.add(text)
        else:
            while batch := list(islice(texts, BATCH)):
                counting.add_together(batch)
        return counting.finished()
    except Unusual:
        return None


class _Counting:
    def __init__(self, plan: Plan, layer: str, unit: str) -> None:
        self._plan, self._layer, self._unit = plan, layer, unit
        self._bag = Bag(plan.metrics)
        self._new_labels = NewLabels(plan)
        self._in_sentences = plan.counts_sentences
        self._documents = 0  # that count
        self._ids: Counter[str] = Counter()

    def add_together(self, texts: Sequence[PlainText]) -> None:
        """Count texts that are not told apart."""
        keys: list[
            tuple[Any, ...]
        ] = []  # or length, label and text, of one gold and one equal predicted span
        every_is_flat = True
        for text in self._read(texts):
            gold, predicted = text.gold or (), text.predicted or ()
            is_flat = not self._plan.merge and are_flat(gold) and (gold == predicted or are_flat(predicted))
            every_is_flat &= is_flat
            if is_flat and gold == predicted:
                has_text = text.positions is not None
                keys += [(end - start, label, has_text) for start, end, label in gold]
            else:
                keys += self._keys_of(text, NOTHING)
        counts: Counter[Key] = Counter()
        for key, times in Counter(keys).items():
            if len(key) == 3:
                row = 0, *key[:2]
                key = keys_of_triples([row], [row], has_text=key[2])[0]
            counts[key] += times
        self._bag.add_text(DocumentPlace(), sum(text.positions or 0 for text in texts), len(texts))
        self._add_keys(DocumentPlace(), counts, is_flat=every_is_flat)

    def add(self, text: PlainText) -> None:
        """Count a text by itself."""
        (text,) = self._read([text])
        plan, layers = self._plan, self._bag.layers
        metadata = {**text.metadata, ID: text.id}
        if not plan.takes(metadata, layers):
            return
        if self._layer in plan.where and (text.gold is not None or text.predicted is not None):
            labels = self._bag.read.values.setdefault(self._layer, set())
            labels.update(row[2] for rows in (text.gold, text.predicted) for row in rows or ())
        place = plan.place(metadata, layers)
        if place.name == text.id:
            self._ids[text.id] += 1
            place = place._replace(repeat=self._ids[text.id])
        self._documents += not place.waits
        if self._documents == FEW_DOCUMENTS and plan.units == EITHER and self._in_sentences:
            self._bag, self._in_sentences = in_documents(self._bag), False
        if self._in_sentences:
            place = place._replace(sentence=1)
        self._bag.add_text(place, text.positions or 0)
        self._add_keys(place, self._keys_of(text, plan.on_spans(metadata, layers)))

    def _read(self, texts: Sequence[PlainText]) -> Sequence[PlainText]:
        """Note what was read, and return the texts with the labels that steps give to their spans."""
        read = self._bag.read
        read.units.add(self._unit)
        sides = [text.gold for text in texts], [text.predicted for text in texts]
        for side, of_side in zip(self._plan.sides, sides, strict=True):
            present = [rows for rows in of_side if rows is not None]
            if present:
                self._bag.see_layers([self._layer])
                read.spans[side, self._layer] += sum(map(len, present))
        for text in texts:
            read.without_text += text.positions is None
            if text.metadata or self._plan.where:
                document = Document(text.id, {}, metadata=text.metadata)
                read.add([(self._plan.sides[0], document)], self._plan.where)
        if not self._new_labels.steps:
            return texts
        renamed = []
        for text in texts:
            gold, predicted = (
                None if rows is None else self._new_labels.rows(rows, side)
                for side, rows in zip(self._plan.sides, (text.gold, text.predicted), strict=True)
            )
            renamed.append(text._replace(gold=gold, predicted=predicted))
        return renamed

    def _keys_of(self, text: PlainText, where: Where) -> list[Key]:
        gold, predicted = text.gold or (), text.predicted or ()
        if not (where or self._plan.merge):
            has_text = text.positions is not None
            return keys_of_triples(gold, predicted, has_text=has_text, ordered=text.ordered)
        characters = None if text.positions is None else "x" * text.positions
        documents = [
            Document(
                "",
                Layers({}, {self._layer: rows}),
                text=characters,
                unit="character",
                ordered=text.ordered,
            )
            for rows in (gold, predicted)
        ]
        try:
            (column,) = keys_of(documents, [self._layer], merge=self._plan.merge, where=where)
        except OverlapError as error:
            raise Unusual("spans of one layer overlap, and are to be merged") from error
        return column.keys

    def _add_keys(self, place: DocumentPlace, keys: Iterable[Key], *, is_flat: bool = False) -> None:
        """Add keys to a place; with `is_flat`, no spans of a side overlap. A corpus without spans has no layer."""
        if self._plan.merge or self._bag.layers:
            sequence = MERGED if self._plan.merge else self._layer
            for key in self._bag.add(place, sequence, keys):
                check_case(self._bag, sequence, key, is_flat=is_flat)
        if self._bag.is_full:
            self._bag.fold()

    def finished(self) -> Bag:
        """Return the bag. Raises `Unusual` if there are no texts."""
        if not self._bag.read.units:
            raise Unusual("there are no texts")
        self._bag.notes.update(self._new_labels.notes())
        self._bag.close()
        return self._bag
