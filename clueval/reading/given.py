"""What people give to a function as gold and predicted: paths, tags, spans or documents, in any usual form.

Each side is a file or folder; or it holds one item for each document: a list of tags, a list of spans
(`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc``, a row of a dataset (`clueval.reading.rows`). A dictionary
has the ids of documents as keys. A single list of tags or spans is one document. The first item that is not empty
decides; the other items must be of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from operator import is_
from typing import Any, Literal, NamedTuple

from clueval.exceptions import UsageError, described, require_kind
from clueval.reading.pairing import same_documents
from clueval.reading.rows import (
    SPANS,
    TAGS,
    TEXT,
    TOKENS,
    document_of_row,
    document_of_tags,
    is_row,
)
from clueval.reading.spacy_docs import as_examples, document_of_spacy, is_spacy_doc
from clueval.reading.spooled import is_open_file
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.missing_id import MissingId
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.spans.span_forms import as_span, as_spans, is_span
from clueval.tagging.schemes import is_tag

InputSide = str | os.PathLike[str] | Document | Iterable[Any]
"""One side as people give it: a path, a document, or an open file, list, iterator or dictionary of items."""

Kind = Literal["paths", "tags", "spans", "documents"]

_FORMS = "give paths, documents or, for each document, a list of tags or a list of spans such as (start, end, label)"

_DOCUMENT_KEYS = ("document", "doc", "document_id", "doc_id", "docid", "file", "sentence", "sent_id")
"""Keys by which tables of spans tell documents apart."""


class GivenSide(NamedTuple):
    """One side: its kind (None if it is empty), its items, one for each document, and their ids.

    `nested`: whether the items are lists; False: the side was one list of tags or spans; None: not known.
    """

    kind: Kind | None
    items: Iterable[Any]
    ids: Sequence[str] | None = None
    nested: bool | None = None


class Given(NamedTuple):
    """Both sides, of one kind. The items are lists of tags, lists of spans or documents; paths are left as given.

    `golds` are other golds, as they were given.
    """

    kind: Kind
    gold: Any
    predicted: Any
    ids: Sequence[str] | None = None
    golds: Sequence[Any] = ()

    def documents(self) -> Iterator[tuple[Document, Document]]:
        """Yield pairs of documents, of spans or documents, one at a time.

        Raises `UsageError` if one side has more of them.
        """
        if self.kind == "documents":
            yield from same_documents(self.gold, self.predicted)
            return
        for number, pair in enumerate(pairs(self.gold, self.predicted, "documents")):
            yield span_documents(pair, number, self.ids)


def given(gold: Any, predicted: Any) -> Given:
    """Return both sides, with their kind. Reads no more of an iterator than its first items.

    Raises `UsageError` for something else, and for sides of different kinds.
    """
    if predicted is None and not is_path_or_paths(gold):
        gold, predicted = as_examples(gold)
    if predicted is None:
        return Given("paths", gold, None)
    sides = [side_of(side, name) for side, name in zip((gold, predicted), SIDES, strict=True)]
    kinds = dict.fromkeys(side.kind for side in sides if side.kind is not None)
    if len({side.kind == "paths" for side in sides}) > 1:
        one, other = ("paths" if side.kind == "paths" else "in memory" for side in sides)
        raise UsageError(
            f"gold is {one} and predicted is {other}", advice="give both sides as files, or both in memory"
        )
    if len(kinds) > 1:
        raise UsageError(
            f"gold is {sides[0].kind} and predicted is {sides[1].kind}", advice="give both sides in one form"
        )
    if any(side.nested is False for side in sides):  # the other side may be one empty list
        sides = [side if side.kind or side.items else GivenSide(None, [[]]) for side in sides]
    if len({side.nested for side in sides if side.nested is not None}) > 1:
        one, other = SIDES if sides[1].nested else SIDES[::-1]
        raise UsageError(
            f"{one} is a list of {sides[0].kind} and {other} a list of lists",
            advice="give a list for each document on both sides",
        )
    kind: Kind = next(iter(kinds), "spans")
    if kind == "documents" and any(side.kind is None and side.items for side in sides):
        raise UsageError("one side has documents and the other lists", advice="give both sides in one form")
    if kind == "paths":
        return Given(kind, gold, predicted)
    return _paired_by_id(kind, sides[0], sides[1])


def _paired_by_id(kind: Kind, gold: GivenSide, predicted: GivenSide) -> Given:
    if gold.ids is None and predicted.ids is None:
        return Given(kind, gold.items, predicted.items)
    if gold.ids is None or predicted.ids is None:
        one, other = SIDES if gold.ids is not None else SIDES[::-1]
        raise UsageError(
            f"{one} is a dictionary by document id and {other} is not", advice="give both in one form"
        )
    for name, own, others in (("gold", gold.ids, predicted.ids), ("predicted", predicted.ids, gold.ids)):
        if alone := sorted(set(own).difference(others)):
            more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
            raise UsageError(
                f"only {name} has document {', '.join(map(repr, alone[:3]))}{more}",
                advice="both sides need the same documents; an empty list is a document without spans",
            )
    by_id = dict(zip(predicted.ids, predicted.items, strict=True))
    return Given(kind, gold.items, [by_id[id_] for id_ in gold.ids], gold.ids)


def side_of(side: Any, name: str) -> GivenSide:
    """Return one side with its kind; `name` is its name in errors."""
    if is_path_or_paths(side):
        return GivenSide("paths", side)
    if isinstance(side, Document):
        return GivenSide("documents", [side])
    if hasattr(side, "iterrows") or hasattr(side, "iter_rows"):
        raise UsageError(
            f"{name} must not be {described(side)}",
            advice="give a list of spans for each document; clueval guide howto-pandas shows how",
        )
    if is_spacy_doc(side) or is_row(side):
        return GivenSide("documents", [_as_document(side, f"{name}[0]", 0, None)])
    if isinstance(side, Mapping) and not is_span(side):
        found = _of_items(list(side.values()), name, list(map(str, side)))
        return found._replace(ids=list(map(str, side)))
    if isinstance(side, str | bytes | Mapping) or is_span(side) or not isinstance(side, Iterable):
        what = "one span" if is_span(side) else described(side)
        raise UsageError(f"{name} must not be {what}", advice=_FORMS)
    return _of_items(side, name, None)


def documents_of(side: Any, name: str) -> Iterator[Document]:
    """Yield the documents of one side that is in memory; `name` is its name in errors."""
    found = side_of(side, name)
    if found.kind == "paths":
        raise UsageError(f"{name} has paths", advice="give one file or one folder, or what is in memory")
    for number, item in enumerate(found.items):
        if isinstance(item, Document):
            yield item
            continue
        id_, place = (
            str(number) if found.ids is None else found.ids[number],
            place_of(name, number, found.ids),
        )
        if found.kind == "tags":
            tags = materialised(item)
            require_kind(tags, "Sequence", place)
            yield document_of_tags(tags, id_, place)
        else:
            yield document_of_spans(as_spans(item, place), id_)


def _of_items(side: Iterable[Any], name: str, ids: Sequence[str] | None) -> GivenSide:
    seen: list[Any] = []
    items = iter(side)
    for item in items:
        seen.append(materialised(item))
        kind, nested = _kind_of(seen[-1], place_of(name, len(seen) - 1, ids))
        if kind is not None:
            break
    else:
        return GivenSide(None, seen)
    rest = chain(seen, items)
    if kind == "documents":
        from clueval.formats.records import names_of_labels  # only for documents

        labels = names_of_labels(side)
        numbered = enumerate(rest)
        documents = (_as_document(item, place_of(name, n, ids), n, labels) for n, item in numbered)
        if ids is not None:
            documents = (replace(each, id=id_) for each, id_ in zip(documents, ids, strict=True))
        return GivenSide(kind, documents)
    if nested:
        unchanged = isinstance(side, list) and all(map(is_, seen, side))
        return GivenSide(kind, side if unchanged else rest, nested=True)
    if ids is not None:
        raise UsageError(
            f"{place_of(name, len(seen) - 1, ids)} must be a list of {kind}",
            advice="a list for each document",
        )
    spans = list(rest)
    _require_one_document(spans, name)
    return GivenSide(kind, [spans], nested=False)


def _require_one_document(spans: Sequence[Any], name: str) -> None:
    """Raise `UsageError` for dictionaries that name their document: the spans of a list without lists are one's."""
    for number, span in enumerate(spans):
        named = [key for key in _DOCUMENT_KEYS if isinstance(span, Mapping) and key in span]
        if named:
            raise UsageError(
                f"{name}[{number}] has the key {named[0]!r}, but one list of spans is one document",
                advice="give a list of spans for each document, or {id: spans}",
            )


def _kind_of(item: Any, place: str) -> tuple[Kind | None, bool]:
    """Return the kind of an item of a side, and whether the item is a list; None if it is an empty list."""
    if isinstance(item, Document) or is_spacy_doc(item) or is_row(item):
        return "documents", True
    if isinstance(item, str):
        return "tags", False
    if is_span(item):
        return "spans", False
    if isinstance(item, Sequence) and not isinstance(item, bytes):
        if not item:
            return None, True
        if _begins_with_label(item):
            as_span(item, place)  # raises an error that says so
        if isinstance(item[0], str) or item[0] is None:
            return "tags", True
        if is_span(item[0]):
            return "spans", True
        if hasattr(item[0], "__index__"):
            raise UsageError(
                f"{place} has numbers for tags", advice="give names: [names[number] for number in tags]"
            )
        _refuse_span(item[0], f"{place}[0]")
        inner = f"a list that begins with {described(item[0])}"
        raise UsageError(f"{place} is {inner}", advice=_FORMS)
    _refuse_span(item, place)
    raise UsageError(f"{place} is {described(item)}", advice=_FORMS)


def _begins_with_label(item: Sequence[Any]) -> bool:
    """Whether a list is a span with its label before its positions."""
    return (
        len(item) == 3
        and isinstance(item[0], str)
        and all(type(each) is int and each >= 0 for each in item[1:])
    )


def _refuse_span(item: Any, place: str) -> None:
    """Raise `UsageError` that names the wrong part of a span, for a dictionary or tuple that is no span."""
    if isinstance(item, Mapping) and not {*TEXT, *TOKENS}.isdisjoint(item):
        keys = ", ".join(map(repr, item))
        raise UsageError(
            f"{place} has a text but no spans or tags (its keys: {keys})",
            advice=f"spans are under {SPANS[0]!r} or {SPANS[1]!r}, tags under {TAGS[0]!r} or {TAGS[1]!r}",
        )
    if isinstance(item, Mapping) and "entities" in item:
        raise UsageError(
            f"{place} has entities but no text",
            advice="add the text to each row, or, for answers without positions, input='mentions'",
        )
    if isinstance(item, Mapping | tuple):
        as_span(item, place)


def materialised(item: Any) -> Any:
    """Return an array or an iterator as a list, and everything else unchanged."""
    if type(item) in (list, tuple) or isinstance(item, str | bytes | Sequence | Mapping | Span | Document):
        return item
    if hasattr(item, "tolist"):
        return item.tolist()
    if is_spacy_doc(item) or is_span(item) or not isinstance(item, Iterable):
        return item
    return list(item)


def _as_document(item: Any, place: str, number: int, labels: Mapping[str, Sequence[str]] | None) -> Document:
    """Return a document, a spaCy ``Doc`` or a row as a document."""
    if isinstance(item, Document):
        return item
    if is_spacy_doc(item):
        return document_of_spacy(item, MissingId(number))
    if is_row(item):
        return document_of_row(item, place, str(number), labels or {})
    raise UsageError(f"{place} is {described(item)}, not a document like those before it", advice=_FORMS)


def place_of(name: str, number: int, ids: Sequence[str] | None) -> str:
    """Return the name of an item of a side in errors, such as ``gold[0]`` or ``gold['d1']``."""
    return f"{name}[{number if ids is None else repr(ids[number])}]"


def _is_path(side: object) -> bool:
    return isinstance(side, os.PathLike) or is_open_file(side)


def is_path_or_paths(side: object) -> bool:
    """Return whether a side is a path, an open file, or a list of them; strings that are tags are tags."""
    if isinstance(side, str) or _is_path(side):
        return True
    if not isinstance(side, list | tuple) or not side:
        return False
    return all(_is_path(item) or isinstance(item, str) for item in side) and not (
        isinstance(side[0], str) and is_tag(side[0])
    )


def pairs(gold: Iterable[Any], predicted: Iterable[Any], what: str) -> Iterator[tuple[Any, Any]]:
    """Yield the items of both sides in pairs. Raises `UsageError` if one side has more."""
    if isinstance(gold, Sequence) and isinstance(predicted, Sequence):
        require_as_many(gold, predicted, what)
    nothing = object()
    for number, (own, other) in enumerate(zip_longest(gold, predicted, fillvalue=nothing)):
        if own is nothing or other is nothing:
            raise UsageError(
                f"{'gold' if own is nothing else 'predicted'} has only {number} {what}, the other side has more"
            )
        yield own, other


def require_as_many(gold: Sequence[Any], predicted: Sequence[Any], what: str) -> None:
    """Raise `UsageError` if the sides have different numbers of items."""
    if len(gold) != len(predicted):
        own, other = (f"{n} {what[:-1] if n == 1 else what}" for n in (len(gold), len(predicted)))
        raise UsageError(f"gold has {own} and predicted has {other}", advice="give both sides the same ones")


def span_documents(pair: Sequence[Any], number: int, ids: Sequence[str] | None) -> tuple[Document, Document]:
    """Return the documents of two lists of spans, which have this number on their sides."""
    id_ = str(number) if ids is None else ids[number]
    gold, predicted = (
        document_of_spans(as_spans(spans, place_of(side, number, ids)), id_)
        for side, spans in zip(SIDES, pair, strict=True)
    )
    return gold, predicted


def document_of_spans(spans: Sequence[Span], id_: str) -> Document:
    """Return spans as a document without text, with one span for each layer of a span."""
    layers: dict[str, list[Span]] = {}
    for span in spans:
        labels = span.by_layer or {DEFAULT_LAYER: NO_LABEL}
        for layer, label in labels.items():
            if label is not None:
                of_layer = span if len(span.by_layer) < 2 else replace(span, labels=Frozen({layer: label}))
                layers.setdefault(layer, []).append(of_layer)
    return Document(id_, Frozen(layers))
