"""What items in memory lack, and the caller or the other side has: names of tags that are numbers; texts and tokens.

Lists of numbers come from models: `IGNORED` in gold marks positions that do not count on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, tee
from operator import index
from typing import Any

from clueval.arguments import require_kind
from clueval.core.span import DEFAULT_LAYER, SIDES, Frozen
from clueval.files.errors import UsageError
from clueval.reading.items import (
    IGNORED,
    TagNames,
    document_of_tags,
    materialised,
    named,
    pairs,
    place_of,
)
from clueval.spans.document import Document
from clueval.spans.span_forms import as_spans, is_number
from clueval.tagging.schemes import OUTSIDE


def named_sides(
    gold: Iterable[Any], predicted: Iterable[Any], names: Mapping[int, str], ids: Sequence[str] | None
) -> tuple[Iterator[list[Any]], Iterator[list[Any]]]:
    """Return lists of tags, without the positions that gold ignores; both iterators advance together."""
    first, second = tee(_named_pairs(gold, predicted, names, ids))
    return (own for own, _ in first), (other for _, other in second)


def _named_pairs(
    gold: Iterable[Any], predicted: Iterable[Any], names: Mapping[int, str], ids: Sequence[str] | None
) -> Iterator[tuple[list[Any], list[Any]]]:
    for number, pair in enumerate(pairs(gold, predicted, "sentences")):
        places = [place_of(side, number, ids) for side in SIDES]
        for tags, place in zip(pair, places, strict=True):
            require_kind(tags, "Iterable", place)
        own, other = (list(materialised(tags)) for tags in pair)
        if len(own) != len(other):
            yield [OUTSIDE] * len(own), [OUTSIDE] * len(other)  # an error, which says so
            continue
        if set(map(type, own)) != {int} or IGNORED in own:
            counts = [not (is_number(tag) and index(tag) == IGNORED) for tag in own]
            own, other = (list(compress(tags, counts)) for tags in (own, other))
        yield named(own, names, places[0]), named(other, names, places[1])


def completed(
    documents: Iterable[Document], items: Iterable[Any], side: str, names: TagNames
) -> tuple[Iterator[Document], Iterator[Document]]:
    """Return the documents of one side, and the items of the other, `side`, as documents with the same text or tokens.

    Both iterators advance together.
    """
    first, second = tee(_pairs(documents, items, side, names))
    return (own for own, _ in first), (other for _, other in second)


def _pairs(
    documents: Iterable[Document], items: Iterable[Any], side: str, names: TagNames
) -> Iterator[tuple[Document, Document]]:
    is_gold = side == SIDES[0]
    both = pairs(items, documents, "documents") if is_gold else pairs(documents, items, "documents")
    for number, pair in enumerate(both):
        item, document = pair if is_gold else pair[::-1]
        yield document, with_text_of(document, item, f"{side}[{number}]", names)


def with_text_of(document: Document, item: Any, place: str, names: TagNames) -> Document:
    """Return spans or tags as a document with the text or the tokens of another one."""
    if isinstance(item, Document):
        return item
    item = materialised(item)
    are_tags = isinstance(item, list | tuple) and all(
        isinstance(each, str) or is_number(each) for each in item
    )
    if document.tokens is not None and document.unit == "token":
        if not are_tags:
            raise UsageError(
                f"{place} has spans, and the other side has tokens",
                advice="give tags on both sides, or documents with positions of tokens: "
                "Document(id, {'label': spans}, tokens=row['tokens'])",
            )
        return document_of_tags(named(item, names.others, place), document.id, place, tokens=document.tokens)
    if document.text is None:
        raise UsageError(
            f"{place} has spans, and the document on the other side has no text",
            advice="give documents on both sides",
        )
    if are_tags and item:
        raise UsageError(
            f"{place} has tags, and the other side has a text",
            advice="give spans, whose positions are characters",
        )
    if item is None:
        raise UsageError(f"{place} is None", advice="a document without spans is an empty list")
    spans = as_spans(item, place, document.text)
    return Document(document.id, Frozen({DEFAULT_LAYER: spans}), text=document.text, unit="character")
