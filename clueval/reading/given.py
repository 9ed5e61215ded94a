"""What people give to a function as gold and predicted: paths, tags, spans or documents, in any usual form.

Each side is a file or folder; or it holds one item for each document: a list of tags, a list of spans
(`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc``, a row of a dataset. A
dictionary has the ids of documents as keys. A single list of tags or spans is one document. The first item
that is not empty decides; the other items must be of the same kind.

An item may be a row of a dataset: a dictionary with a text or tokens, and with spans or tags. A row has its spans under
`SPANS` (spaCy, Prodigy, doccano) and its text under ``text`` or ``data``; or it has its tokens and tags under `TOKENS`
and `TAGS` (Hugging Face datasets). ``id`` is the id of the document, else its number. A pair ``(text, {"entities":
[...]})``, as spaCy's training data has them, is a row, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from operator import is_
from typing import Any, Literal, NamedTuple

from clueval.exceptions import CluevalError, UsageError, described, require_kind
from clueval.reading.pairing import same_documents
from clueval.reading.paths import is_path_or_paths
from clueval.spans.document import Document, MissingId
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, SIDES, Frozen, Span
from clueval.spans.span_forms import as_span, as_spans, is_span
from clueval.tagging.decoder import decode, decode_tags

_FORMS = "give paths, documents or, for each document, a list of tags or a list of spans such as (start, end, label)"

_DOCUMENT_KEYS = ("document", "doc", "document_id", "doc_id", "docid", "file", "sentence", "sent_id")
"""Keys by which tables of spans tell documents apart."""


Kind = Literal["paths", "tags", "spans", "documents"]


InputSide = str | os.PathLike[str] | Document | Iterable[Any]
"""One side as people give it: a path, a document, or an open file, list, iterator or dictionary of items."""


class GivenSide(NamedTuple):
    """One side: its kind (None if it is empty), its items, one for each document, and their ids.

    `nested`: whether the items are lists; False: the side was one list of tags or spans; None: not known.
    """

    kind: Kind | None
    items: Iterable[Any]
    ids: Sequence[str] | None = None
    nested: bool | None = None


TEXT = ("text", "data")
TOKENS = ("tokens", "words")
SPANS = ("spans", "entities", "ents", "label", "labels")
TAGS = ("ner_tags", "tags", "ner", "labels")

Names = Mapping[str, Sequence[str]]
"""The names of the tags in a column of a dataset, where it has numbers."""


def is_row(item: object) -> bool:
    """Return whether an item is a row with a text or tokens, and spans or tags.

    >>> is_row({"text": "Anna", "spans": []}), is_row({"tokens": ["Anna"], "ner_tags": ["B-PER"]}), is_row({"d1": []})
    (True, True, False)
    """
    row = _as_row(item)
    if row is None or "start" in row:
        return False
    return (_key(row, TOKENS) is not None and _tags_of(row) is not None) or (
        _key(row, TEXT) is not None and _key(row, SPANS) is not None
    )


def _as_row(item: object) -> Mapping[str, Any] | None:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[1], Mapping):
        return {"text": item[0], **item[1]} if isinstance(item[0], str) else None
    return None


def document_of_row(item: Any, place: str, number: str, names: Names) -> Document:
    """Return a row as a document; `place` is its name in errors, `number` its id if it has none."""
    row = _as_row(item) or {}
    id_ = MissingId(number) if row.get("id") is None else str(row["id"])
    tokens, tags = _key(row, TOKENS), _tags_of(row)
    if tokens is not None and tags is not None:
        require_kind(row[tokens], "Iterable", f"{place}[{tokens!r}]")
        require_kind(row[tags], "Iterable", f"{place}[{tags!r}]")
        return document_of_tags(
            _named(row[tags], names.get(tags), f"{place}[{tags!r}]"), id_, place, tokens=list(row[tokens])
        )
    text, spans = _key(row, TEXT), _key(row, SPANS)
    if text is None or spans is None or not isinstance(row[text], str):
        raise UsageError(f"{place} has no text or no spans (its keys: {', '.join(map(repr, row))})")
    found = as_spans(row[spans] or (), f"{place}[{spans!r}]")
    return Document(id_, Frozen({DEFAULT_LAYER: found}), text=row[text], unit="character")


def document_of_tags(
    tags: Sequence[str],
    id_: str,
    place: str,
    *,
    scheme: str | None = None,
    invalid: str = "conlleval",
    tokens: Sequence[str] | None = None,
) -> Document:
    """Return the tags of one sentence as a document; without `tokens`, its tokens are empty.

    Raises `UsageError` if the numbers of tags and tokens differ, `TagError` for tags outside the scheme.
    """
    if tokens is not None and len(tokens) != len(tags):
        raise UsageError(
            f"{place} has {len(tokens)} tokens and {len(tags)} tags", advice="each token needs a tag"
        )
    for position, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise UsageError(f"{place}[{position}] is {described(tag)}, not a tag such as 'B-PER'")
    try:
        chunks = decode(tags) if scheme is None else decode_tags(tags, scheme, invalid)
        spans = [Span(start, end, Frozen({DEFAULT_LAYER: label})) for start, end, label in chunks]
    except CluevalError as error:
        error.problem = f"{place}: {error.problem}"
        raise
    return Document(
        id_,
        Frozen({DEFAULT_LAYER: spans}),
        tokens=("",) * len(tags) if tokens is None else tokens,
        tags=Frozen({DEFAULT_LAYER: list(tags)}),
    )


def _key(row: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((key for key in keys if key in row), None)


def _tags_of(row: Mapping[str, Any]) -> str | None:
    known = _key(row, TAGS)
    if known is not None:
        return known
    others = [key for key in row if isinstance(key, str) and key.endswith("_tags")]
    return others[0] if len(others) == 1 else None


def _named(tags: Iterable[Any], names: Sequence[str] | None, place: str) -> list[str]:
    found = tags.tolist() if hasattr(tags, "tolist") else list(tags)
    if any(isinstance(tag, int) for tag in found):
        if names is None:
            raise UsageError(
                f"{place} has numbers for tags",
                advice="give names: row | {'ner_tags': [names[number] for number in row['ner_tags']]}",
            )
        found = [names[tag] for tag in found]
    return found


def side_of(side: Any, name: str) -> GivenSide:
    """Return one side with its kind; `name` is its name in errors."""
    if is_path_or_paths(side):
        return GivenSide("paths", side)
    if isinstance(side, Document):
        return GivenSide("documents", [side])
    if hasattr(side, "iterrows") or hasattr(side, "iter_rows"):
        raise UsageError(
            f"{name} must not be {described(side)}",
            advice="give a list of spans for each document; clueval guide start-lists shows how",
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
        from clueval.reading.records import names_of_labels  # only for documents

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


def is_spacy_doc(item: object) -> bool:
    """Return whether an item is a spaCy ``Doc``."""
    return hasattr(item, "ents") and hasattr(item, "text") and hasattr(item, "has_annotation")


def document_of_spacy(doc: Any, id_: str) -> Document:
    """Return a spaCy ``Doc`` as a document: the characters of its text, and its entities in the layer `label`."""
    from clueval.formats import docbin  # not needed without spaCy

    return docbin.document_of_spacy(doc, {DEFAULT_LAYER: docbin.ENTS}, None, id=id_)


def as_examples(gold: Any) -> tuple[Any, Any]:
    """Return the documents of both sides of spaCy's ``Example`` objects. Raises `UsageError` for anything else."""
    items = [gold] if _is_example(gold) else gold
    items = list(items) if isinstance(items, Iterable) else []
    if not items or not all(map(_is_example, items)):
        raise UsageError(
            "predicted is missing",
            advice="give gold and predicted; only a file, a folder or spaCy's Examples hold both sides",
        )
    return [example.reference for example in items], [example.predicted for example in items]


def _is_example(item: object) -> bool:
    return hasattr(item, "reference") and hasattr(item, "predicted")


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
    if is_path_or_paths(gold) and (predicted is None or is_path_or_paths(predicted)):
        return Given("paths", gold, predicted)
    if predicted is None:
        gold, predicted = as_examples(gold)
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
