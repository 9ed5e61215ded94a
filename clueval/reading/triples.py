"""Plain spans ``(start, end, label)`` of gold and predicted become a bag: lists in memory, and texts of rows in files.

No `Span` is made: `keys_of_triples` makes the keys of cases of the triples themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import inf
from operator import itemgetter
from typing import Any, NamedTuple

from clueval.core.bag import Bag
from clueval.core.case import HEAD, TOKENS, Key, are_flat, keys_of_triples
from clueval.core.count import DocumentPlace, Plan
from clueval.core.document import GROUP, UNPLACED, Document, Row
from clueval.core.metric import features_read
from clueval.core.span import DEFAULT_LAYER, NOTHING
from clueval.files.errors import CluevalError
from clueval.formats.dialect import Dialect
from clueval.reading.clusters import (
    NewLabels,
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
_AFTER_ALL = (inf,)


class PlainText(NamedTuple):
    """One text with the spans of both sides in one layer, in any order; positions count from 0.

    `positions` is the number of positions; None: the text is not there. A side that is None lacks the layer. If the
    order of spans counts (`ordered`), they come by position. `unit` is that of the positions.
    """

    gold: Sequence[Row] | None
    predicted: Sequence[Row] | None
    positions: int | None = None
    metadata: Mapping[str, str] = NOTHING
    ordered: bool = False
    unit: str = "token"


def bag_of_triples(gold: Any, predicted: Any, plan: Plan) -> Bag | None:
    """Count parallel lists, one of tuples ``(start, end, label)`` for each document; the layer is ``label``.

    The bag is that of `clueval.core.count.count` for documents without a text. Returns None as `bag_of_texts` does, and
    for sides that are no lists, for other spans than such tuples of numbers and text, and for different numbers of
    documents. Iterators are left as they are.
    """
    if type(gold) not in _LISTS or type(predicted) not in _LISTS or len(gold) != len(predicted):
        return None
    return bag_of_texts(_texts(gold, predicted), plan)


def _texts(gold: Sequence[Any], predicted: Sequence[Any]) -> Iterator[PlainText]:
    for gold_rows, predicted_rows in zip(gold, predicted, strict=True):
        for rows in (gold_rows, predicted_rows):
            if type(rows) not in _LISTS:
                raise Unusual("a document that is no list")
            for row in rows:
                if type(row) is not tuple or len(row) != 3:
                    raise Unusual("a span that is no tuple of three values")
                start, end, label = row
                if type(start) is not int or type(end) is not int or type(label) is not str:
                    raise Unusual("a span that is no tuple of two numbers and a label")
                if not 0 <= start <= end:
                    raise Unusual("a span that starts before 0, or ends before it begins")
        # a document without spans has no layer
        yield PlainText(gold_rows or None, predicted_rows or None)


def bag_of_row_files(
    sources: Sequence[Source], texts: Iterable[Sequence[Document]], plan: Plan
) -> Bag | None:
    """Count two parallel files whose spans are rows in one layer, given their documents, which need not be read.

    The bag is that of `clueval.core.count.count`. Returns None, and documents must be counted, for metrics that read
    features of spans, for spans that are not plain rows, for other texts on the other side, for what `bag_of_rows`
    leaves to documents, and for every error.
    """
    names = {name for source in sources for name in source.options.layers or (DEFAULT_LAYER,)}
    if len(names) > 1 or features_read(plan.metrics) - {TOKENS}:
        return None
    have_tags = {isinstance(source.form, Dialect) and bool(source.form.tags) for source in sources}
    layer = names.pop()
    if have_tags == {False}:
        bag = bag_of_rows(_same_texts(texts), plan, layer)
        if bag is not None and "token" in bag.read.units:
            bag.read.tagged |= bag.read.spans.keys()
        return bag
    if len(have_tags) > 1:
        return None
    readings = [source.options for source in sources]
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
    more than rows in this layer, tags, or an order that counts and is not by position; some pairs have been taken then.
    """
    features: set[str] = set()
    bag = bag_of_texts((_text(pair, layer, features) for pair in pairs), plan, layer)
    if bag is not None:
        bag.read.features |= features
    return bag


def _text(pair: Sequence[Document], layer: str, features: set[str]) -> PlainText:
    """Return a pair as a text; `features` gets the names of the features of its spans."""
    gold, predicted = pair
    if UNPLACED in predicted.metadata:
        raise Unusual("spans without a place")
    sides: list[Sequence[Row] | None] = []
    for document in pair:
        rows = document.ranges_in(layer)
        is_plain = len(document.layers) == (rows is not None) and document.unit == gold.unit
        if not is_plain or document.tags or document.start:
            raise Unusual("a document of other things than rows in one layer")
        if document.ordered and any(after[:2] <= before[:2] for before, after in pairwise(rows or ())):
            raise Unusual("spans that are not by position, and whose order counts")
        features.update(*map(_FEATURES, document.details_in(layer)))
        sides.append(rows)
    if GROUP in features:
        raise Unusual("a group of spans")
    end = predicted.end if gold.end is None else gold.end
    return PlainText(sides[0], sides[1], end, gold.metadata, gold.ordered or predicted.ordered, gold.unit)


def bag_of_texts(texts: Iterable[PlainText], plan: Plan, layer: str = DEFAULT_LAYER) -> Bag | None:
    """Count texts with plain spans in one layer.

    The bag is that of `clueval.core.count.count` for the documents. Memory holds the bag. Returns None, and documents
    must be counted, for plans that need documents, tell them apart or convert positions, for no texts,
    and for cases that a metric cannot count, as spans that overlap for some metrics.
    """
    try:
        require_usual(plan, [layer])
        if plan.by or plan.units or plan.where or plan.merge:
            raise Unusual("documents are told apart, or layers are merged")
        bag, new_labels = Bag(plan.metrics), NewLabels(plan)
        texts = iter(texts)
        while batch := list(islice(texts, BATCH)):
            _add(bag, plan, layer, batch, new_labels)
        if new_labels.steps:
            bag.notes.update(new_labels.notes())
    except Unusual:
        return None
    return bag if bag.documents else None


def _add(bag: Bag, plan: Plan, layer: str, texts: Sequence[PlainText], new_labels: NewLabels) -> None:
    """Add texts to a bag, and what was read of them; a corpus without spans has no layer."""
    units = {text.unit for text in texts}
    if is_in_characters(plan) and units != {"character"}:
        raise Unusual("positions must be converted")
    bag.read.units |= units
    sides = [text.gold for text in texts], [text.predicted for text in texts]
    for name, rows_of_texts in zip(plan.sides, sides, strict=True):
        present = [rows for rows in rows_of_texts if rows is not None]
        if present:
            bag.see_layers([layer])
            bag.read.spans[name, layer] += sum(map(len, present))
    keys: list[Key] = []
    alone: list[tuple[int, str, bool]] = []  # length, label and text, of each case of two equal spans
    for text in texts:
        bag.read.without_text += text.positions is None
        bag.read.keys.update(dict.fromkeys(text.metadata))
        gold, predicted = text.gold or (), text.predicted or ()
        if new_labels.steps:
            gold, predicted = (
                new_labels.rows(rows, side, [1] * len(rows))
                for side, rows in zip(plan.sides, (gold, predicted), strict=True)
            )
        has_text = text.positions is not None
        if are_flat(gold) and (gold == predicted or are_flat(predicted)):
            equal, gold, predicted = _take_equal(gold, predicted)
            alone += [(end - start, label, has_text) for start, end, label in equal]
        if gold or predicted:
            of_text = keys_of_triples(gold, predicted, has_text=has_text)
            if text.ordered:
                of_text = [(*key[:HEAD], *sorted(key[HEAD:], key=itemgetter(2))) for key in of_text]
            keys += of_text
    counts = Counter(keys)
    for (length, label, has_text), times in Counter(alone).items():
        row = 0, length, label
        counts[keys_of_triples([row], [row], has_text=has_text)[0]] += times
    place = DocumentPlace()
    bag.add_text(place, sum(text.positions or 0 for text in texts), len(texts))
    if bag.layers:
        occurrences: dict[int, int] = {}
        for key in bag.add_keys(layer, counts, occurrences):
            check_case(bag, layer, key)
        bag.add_occurrences([place], occurrences)
    if bag.is_full:
        bag.fold()


def _take_equal(gold: Sequence[Row], predicted: Sequence[Row]) -> tuple[Sequence[Row], list[Row], list[Row]]:
    """Return the rows that both sides have, and the other rows of each side; the rows of both must be flat.

    A row that both sides have is a case of two spans, since all others of each side are before it or after it.
    """
    if gold == predicted:
        return gold, [], []
    equal: list[Row] = []
    only_gold: list[Row] = []
    only_predicted: list[Row] = []
    remaining = iter(predicted)
    other: Any = next(remaining, _AFTER_ALL)
    for row in gold:
        while other < row:
            only_predicted.append(other)
            other = next(remaining, _AFTER_ALL)
        if row == other:
            equal.append(row)
            other = next(remaining, _AFTER_ALL)
        else:
            only_gold.append(row)
    if other is not _AFTER_ALL:
        only_predicted += [other, *remaining]
    return equal, only_gold, only_predicted
