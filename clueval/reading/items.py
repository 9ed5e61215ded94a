"""The items of one side in memory, one for each document: lists of tags or spans, documents, rows.

An item may be a row of a dataset: a dictionary with a text or tokens, and with spans or tags. A row has its spans under
`SPANS` (spaCy, Prodigy, doccano) and its text under ``text`` or ``data``; or it has its tokens and tags under `TOKENS`
and `TAGS` (Hugging Face datasets). ``id`` is the id of the document, else its number. A pair ``(text, {"entities":
[...]})``, as spaCy's training data has them, is a row, too. Tags that are numbers need names (`TagNames`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from operator import index, is_
from typing import Any, Literal, NamedTuple

from clueval.arguments import require_kind
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, SIDES, Frozen, Span
from clueval.files.errors import CluevalError, UsageError, described
from clueval.second.reading.paths import is_path_or_paths
from clueval.spans.document import Document, MissingId
from clueval.spans.span_forms import KEYS, as_span, as_spans, fields_of, is_number, is_span
from clueval.spans.table_columns import DOCUMENTS, END_INCLUSIVE
from clueval.tagging.decoder import decode, decode_tags
from clueval.tagging.schemes import is_tag

_FORMS = "give paths, documents or, for each document, a list of tags or a list of spans such as (start, end, label)"

Kind = Literal["paths", "tags", "spans", "documents"]


class GivenSide(NamedTuple):
    """One side: its kind (None if it is empty), its items, one for each document, and their ids.

    `nested`: whether the items are lists; False: the side was one list of tags or spans; None: not known.
    `is_partial`: whether documents without spans may be missing, as in a data frame.
    """

    kind: Kind | None
    items: Iterable[Any]
    ids: Sequence[str] | None = None
    nested: bool | None = None
    is_partial: bool = False


TEXT = ("text", "data")
TOKENS = ("tokens", "words")
SPANS = ("spans", "entities", "ents", "label", "labels")
TAGS = ("ner_tags", "tags", "ner", "labels")

IGNORED = -100
"""The number of a position that does not count, PyTorch's default."""

GIVE_NAMES = "give names=[...], the tags in the order of their numbers"


class TagNames(NamedTuple):
    """The names of tags that are numbers: those of columns of a dataset, and those for all other numbers."""

    by_column: Mapping[str, Mapping[int, str]] = {}
    others: Mapping[int, str] | None = None

    @classmethod
    def of(cls, given: Any, side: Any, other: Any = None) -> TagNames:
        """Return the names of the numbers of one side.

        A dataset has its own names. Other numbers have the names that a caller gives (`Reading.names`), or, without
        these, those of the same column of the other side.
        """
        columns = {
            column: dict(enumerate(names))
            for each in ((side,) if given is not None else (other, side))
            for column, names in names_of_labels(each).items()
        }
        if given is None:
            return cls(columns)
        from clueval.formats.token_rows import read_names  # only for numbers

        return cls(columns, read_names(given, "labels"))


def names_of_labels(dataset: Any) -> Mapping[str, Sequence[str]]:
    """Return the names of the tags of a Hugging Face dataset, by column; empty for anything else."""
    features = getattr(dataset, "features", None)
    if not isinstance(features, Mapping):
        return {}
    found = {
        column: getattr(getattr(kind, "feature", None), "names", None) for column, kind in features.items()
    }
    return {column: names for column, names in found.items() if names}


def named(tags: Iterable[Any], names: Mapping[int, str] | None, place: str) -> list[Any]:
    """Return tags with names in place of numbers. Raises `UsageError` for a number without name."""
    found = list(materialised(tags))
    if names is not None and set(map(type, found)) == {int} and names.keys() >= set(found):
        return [names[tag] for tag in found]  # the usual case
    if not any(map(is_number, found)):
        return found
    if names is None:
        raise UsageError(f"{place} has numbers for tags", advice=GIVE_NAMES)
    for position, tag in enumerate(found):
        if is_number(tag) and index(tag) not in names:
            raise UsageError(
                f"{place}[{position}]: no tag has the number {index(tag)}",
                advice="it marks positions that do not count: give lists of numbers without tokens, with -100 in gold"
                if index(tag) == IGNORED
                else "names has the tags in the order of their numbers",
            )
    return [names[index(tag)] if is_number(tag) else tag for tag in found]


def is_row(item: object) -> bool:
    """Return whether an item is a row with a text or tokens, and spans or tags.

    >>> is_row({"text": "Anna", "spans": []}), is_row({"tokens": ["Anna"], "ner_tags": ["B-PER"]}), is_row({"d1": []})
    (True, True, False)
    """
    row = _as_row(item)
    if row is None or "start" in row:
        return False
    spans = _key(row, SPANS)
    return (_key(row, TOKENS) is not None and _tags_of(row) is not None) or (
        _key(row, TEXT) is not None and spans is not None and not isinstance(row[spans], str)
    )


def _as_row(item: object) -> Mapping[str, Any] | None:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[1], Mapping):
        return {"text": item[0], **item[1]} if isinstance(item[0], str) else None
    return None


def document_of_row(item: Any, place: str, number: str, names: TagNames) -> Document:
    """Return a row as a document; `place` is its name in errors, `number` its id if it has none."""
    row = _as_row(item) or {}
    id_ = MissingId(number) if row.get("id") is None else str(row["id"])
    tokens, tags = _key(row, TOKENS), _tags_of(row)
    if tokens is not None and tags is not None:
        if isinstance(row[tags], list | tuple) and row[tags] and isinstance(row[tags][0], list | tuple):
            raise UsageError(
                f"{place} has columns of a data set", advice="give the data set itself, or its rows"
            )
        require_kind(row[tokens], "Iterable", f"{place}[{tokens!r}]")
        require_kind(row[tags], "Iterable", f"{place}[{tags!r}]")
        return document_of_tags(
            named(row[tags], names.by_column.get(tags, names.others), f"{place}[{tags!r}]"),
            id_,
            place,
            tokens=list(row[tokens]),
            metadata=_metadata(row, (tokens, tags)),
        )
    text, spans = _key(row, TEXT), _key(row, SPANS)
    if text is None or spans is None or not isinstance(row[text], str):
        raise UsageError(f"{place} has no text or no spans (its keys: {', '.join(map(repr, row))})")
    answer = row.get("answer")
    if isinstance(answer, str) and answer in ("reject", "ignore"):
        raise UsageError(
            f"{place} has the answer {answer!r} of Prodigy",
            advice="leave out such rows: [row for row in rows if row['answer'] == 'accept']",
        )
    items = () if row[spans] is None else materialised(row[spans])
    found = as_spans(items, f"{place}[{spans!r}]", row[text])
    return Document(
        id_,
        Frozen({DEFAULT_LAYER: found}),
        text=row[text],
        unit="character",
        metadata=_metadata(row, (*TEXT, spans)),
    )


_ANNOTATORS = (("_annotator_id", "_session_id"), ("username", "user", "annotator"))
"""The keys of the annotator of a row or a span in Prodigy, and in doccano and Label Studio; the first counts."""


def _annotators_of(row: Mapping[str, Any]) -> set[str]:
    """Return the annotators of a row, and of each of its spans."""
    spans = row.get(_key(row, SPANS) or "")
    items = [item for item in spans if isinstance(item, Mapping)] if isinstance(spans, list | tuple) else []
    found = (
        next((each[key] for key in keys if each.get(key) is not None), None)
        for each in (row, *items)
        for keys in _ANNOTATORS
    )
    return {str(name) for name in found if isinstance(name, str | int)}


def _metadata(row: Mapping[str, Any], used: Sequence[str]) -> Mapping[str, str]:
    """Return what a row says of its document: the values of ``meta``, and other keys unless Prodigy wrote them."""
    others = [key for key in row if key not in (*used, "id")]
    if not others:
        return {}
    from clueval.formats.json_rows import scalars  # most rows in memory have nothing else

    is_of_prodigy = not {"_input_hash", "answer"}.isdisjoint(row)
    own = {} if is_of_prodigy else scalars({key: row[key] for key in others}, ("meta",))
    return Frozen({**own, **scalars(row.get("meta"))})


def document_of_tags(
    tags: Sequence[str],
    id_: str,
    place: str,
    *,
    scheme: str | None = None,
    invalid: str = "conlleval",
    tokens: Sequence[str] | None = None,
    metadata: Mapping[str, str] | None = None,
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
        metadata=metadata or {},
    )


def _key(row: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((key for key in keys if key in row), None)


def _tags_of(row: Mapping[str, Any]) -> str | None:
    known = _key(row, TAGS)
    if known is not None:
        return known
    others = [key for key in row if isinstance(key, str) and key.endswith("_tags")]
    return others[0] if len(others) == 1 else None


def side_of(side: Any, name: str, names: TagNames) -> GivenSide:
    """Return one side with its kind; `name` is its name in errors."""
    if is_path_or_paths(side):
        return GivenSide("paths", side)
    if isinstance(side, Document):
        return GivenSide("documents", [side])
    if is_frame(side):
        return _of_frame(side, name, names)
    if is_spacy_doc(side) or is_row(side):
        return GivenSide("documents", [_as_document(side, f"{name}[0]", 0, names, set())])
    if isinstance(side, Mapping) and not is_span(side):
        found = _of_items(list(side.values()), name, list(map(str, side)), names)
        return found._replace(ids=list(map(str, side)))
    if isinstance(side, str | bytes | Mapping) or is_span(side) or not isinstance(side, Iterable):
        what = "one span" if is_span(side) else described(side)
        raise UsageError(f"{name} must not be {what}", advice=_FORMS)
    return _of_items(side, name, None, names)


def is_frame(side: object) -> bool:
    """Return whether a side is a data frame of pandas or polars."""
    return hasattr(side, "iterrows") or hasattr(side, "iter_rows")


def _of_frame(frame: Any, name: str, names: TagNames) -> GivenSide:
    from clueval.second.reading.data_frames import records_of, spans_by_document

    records = records_of(frame)
    if records and is_row(records[0]):
        return _of_items(records, name, None, names)
    return side_of(spans_by_document(records, list(frame.columns), name), name, names)._replace(
        is_partial=True
    )


def documents_of(side: Any, name: str, names: Any = None) -> Iterator[Document]:
    """Yield the documents of one side that is in memory; `name` is its name in errors, `names` those of numbers."""
    known = TagNames.of(names, side)
    found = side_of(side, name, known)
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
            yield document_of_tags(named(tags, known.others, place), id_, place)
        else:
            yield document_of_spans(as_spans(item, place), id_)


def _of_items(side: Iterable[Any], name: str, ids: Sequence[str] | None, names: TagNames) -> GivenSide:
    seen: list[Any] = []
    items = iter(side)
    for item in items:
        first = item
        seen.append(materialised(item))
        kind, nested = _kind_of(seen[-1], place_of(name, len(seen) - 1, ids), names)
        if kind is not None:
            break
    else:
        return GivenSide(None, seen)
    rest = chain(seen, items)
    if kind == "documents":
        numbered = enumerate(rest)
        annotators: set[str] = set()
        documents = (_as_document(item, place_of(name, n, ids), n, names, annotators) for n, item in numbered)
        if ids is not None:
            documents = (replace(each, id=id_) for each, id_ in zip(documents, ids, strict=True))
        return GivenSide(kind, documents)
    if nested and is_frame(first):
        return GivenSide(kind, map(materialised, rest), nested=True)
    if nested:
        unchanged = isinstance(side, list) and all(map(is_, seen, side))
        return GivenSide(kind, side if unchanged else rest, nested=True)
    if ids is not None:
        raise UsageError(
            f"{place_of(name, len(seen) - 1, ids)} must be a list of {kind}",
            advice="a list for each document",
        )
    spans = list(map(materialised, rest))
    _require_one_document(spans, name)
    return GivenSide(kind, [spans], nested=False)


def _require_one_document(spans: Sequence[Any], name: str) -> None:
    """Raise `UsageError` for dictionaries that name their document: the spans of a list without lists are one's."""
    for number, span in enumerate(spans):
        fields = fields_of(span) or {}
        keys = [key for key in DOCUMENTS if key in fields]
        if keys:
            raise UsageError(
                f"{name}[{number}] has the key {keys[0]!r}, but one list of spans is one document",
                advice="give a list of spans for each document, or {id: spans}",
            )


def _kind_of(item: Any, place: str, names: TagNames) -> tuple[Kind | None, bool]:
    """Return the kind of an item of a side, and whether the item is a list; None if it is an empty list."""
    if isinstance(item, Document) or is_spacy_doc(item) or is_row(item):
        return "documents", True
    if isinstance(item, tuple) and len(item) == 2 and is_frame(item[1]):
        raise UsageError(f"{place} is a pair with a data frame", advice="give the data frame, or {id: frame}")
    if isinstance(item, str):
        _refuse_text(item, place)
        return "tags", False
    if names.others is not None and (is_number(item) or _are_numbers(item)):
        return "tags", not is_number(item)
    if is_span(item):
        return "spans", False
    if isinstance(item, Sequence) and not isinstance(item, bytes):
        if not item:
            return None, True
        if _begins_with_label(item):
            as_span(item, place)  # raises an error that says so
        if isinstance(item[0], str) or item[0] is None:
            _refuse_text(item[0], f"{place}[0]")
            return "tags", True
        are_batches = names.others is not None and _are_numbers(item[0])
        if are_batches or (isinstance(item[0], list) and item[0] and _is_tag(item[0][0])):
            raise UsageError(
                f"{place} is a list of lists of tags",
                advice="give each batch to Accumulator.update, or join them",
            )
        if is_span(item[0]):
            return "spans", True
        if is_number(item[0]) or isinstance(item[0], bool):
            raise UsageError(f"{place} has numbers for tags", advice=GIVE_NAMES)
        _refuse_list(item[0], place)
        _refuse_span(item[0], f"{place}[0]")
        inner = f"a list that begins with {described(item[0])}"
        raise UsageError(f"{place} is {inner}", advice=_FORMS)
    if is_number(item):
        raise UsageError(f"{place} is {described(item)}", advice=GIVE_NAMES)
    _refuse_span(item, place)
    raise UsageError(f"{place} is {described(item)}", advice=_advice_on(item))


def _are_numbers(item: Any) -> bool:
    return isinstance(item, list | tuple) and bool(item) and all(map(is_number, item))


def _is_tag(value: object) -> bool:
    return isinstance(value, str) and is_tag(value)


def _refuse_text(tag: str | None, place: str) -> None:
    """Raise `UsageError` for a text that holds several tags."""
    parts = tag.split() if tag else []
    if len(parts) > 1 and all(is_tag(part) for part in parts):
        raise UsageError(
            f"{place} has several tags in one text", advice="split it: [line.split() for line in lines]"
        )
    if tag and tag.startswith("[") and tag.endswith("]"):
        raise UsageError(
            f"{place} is a list that is written as text", advice="read it with ast.literal_eval or json.loads"
        )


def _refuse_list(first: Any, place: str) -> None:
    """Raise `UsageError` for lists that are too deep, as splits, batches and scores; `first` is the first item."""
    if (
        isinstance(first, list | tuple)
        and len(first) == 2
        and isinstance(first[0], str)
        and _is_tag(first[1])
    ):
        raise UsageError(
            f"{place} has pairs of a token and its tag",
            advice="give lists of tags, or rows: {'tokens': [...], 'tags': [...]}",
        )
    if is_row(first):
        raise UsageError(
            f"{place} is a list of rows", advice="give one split of the data set, as in data['test']"
        )
    if isinstance(first, list | tuple) and first and all(isinstance(each, float) for each in first):
        raise UsageError(
            f"{place} has several numbers for each token, as a model has scores",
            advice="give the numbers of the best tags, predictions.argmax(-1), and names",
        )


def _advice_on(item: Any) -> str:
    """Return what to do with an object that is no item."""
    if item is None:
        return "a document without spans is an empty list"
    if hasattr(item, "get_spans"):
        return "give the spans of each sentence: [sentence.get_spans('ner') for sentence in sentences]"
    if hasattr(item, "ents"):
        return "give the entities of each document: [doc.ents for doc in docs]"
    return _FORMS


def _begins_with_label(item: Sequence[Any]) -> bool:
    return (
        len(item) == 3
        and isinstance(item[0], str)
        and all(type(each) is int and each >= 0 for each in item[1:])
    )


def _refuse_span(item: Any, place: str) -> None:
    """Raise `UsageError` that names the wrong part of a span, for a dictionary or tuple that is no span."""
    if (
        isinstance(item, Mapping)
        and not {*TEXT, *TOKENS}.isdisjoint(item)
        and _key(item, KEYS["label"]) is None
    ):
        keys = ", ".join(map(repr, item))
        raise UsageError(
            f"{place} has a text but no spans or tags (its keys: {keys})",
            advice=f"spans are under {SPANS[0]!r} or {SPANS[1]!r}, tags under {TAGS[0]!r} or {TAGS[1]!r}; "
            "documents_from(rows, 'label-studio') reads rows of a format",
        )
    if isinstance(item, Mapping) and "entities" in item:
        raise UsageError(
            f"{place} has entities but no text",
            advice="add the text to each row, or, for answers without positions, input='mentions'",
        )
    if isinstance(item, Mapping):
        _refuse_unknown_keys(item, place)
    if isinstance(item, Mapping | tuple):
        as_span(item, place)


def _refuse_unknown_keys(item: Mapping[str, Any], place: str) -> None:
    """Raise `UsageError` for a dictionary without any position or text."""
    if not any(key in item for key in (*KEYS["start"], *KEYS["end"], END_INCLUSIVE, *TEXT)):
        keys = ", ".join(map(repr, item)) or "none"
        raise UsageError(
            f"{place} is neither a span nor a row (its keys: {keys})",
            advice="a span has start, end and label; a row has text and spans, or tokens and ner_tags; "
            "documents_from(rows, 'gliner') reads rows of a format; answers of language models without positions need "
            "input='mentions'",
        )


def materialised(item: Any) -> Any:
    """Return an array or an iterator as a list, and everything else unchanged."""
    if type(item) in (list, tuple) or isinstance(item, str | bytes | Sequence | Mapping | Span | Document):
        return item
    if is_frame(item):
        from clueval.second.reading.data_frames import records_of

        return records_of(item)
    if hasattr(item, "tolist"):
        return item.tolist()
    if is_spacy_doc(item) or is_span(item) or not isinstance(item, Iterable):
        return item
    return list(item)


def _as_document(item: Any, place: str, number: int, names: TagNames, annotators: set[str]) -> Document:
    """Return an item as a document; `annotators` are those of the items before it, and get its own."""
    if isinstance(item, Document):
        return item
    if is_spacy_doc(item):
        return document_of_spacy(item, MissingId(number))
    if is_row(item):
        annotators |= _annotators_of(_as_row(item) or {})
        if len(annotators) > 1:
            raise UsageError(
                f"{place}: the rows have the spans of several annotators: {', '.join(map(repr, sorted(annotators)))}",
                advice="give the rows and spans of one; documents_from(rows, 'doccano', annotation_set=...) chooses",
            )
        return document_of_row(item, place, str(number), names)
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
                f"{'gold' if own is nothing else 'predicted'} has only {number} "
                f"{what[:-1] if number == 1 else what}, the other side has more"
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
