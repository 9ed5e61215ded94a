"""Rows of datasets as documents: dictionaries with a text or tokens, and with spans or tags.

A row has its spans under `SPANS` (spaCy, Prodigy, doccano) and its text under ``text`` or ``data``; or it has its
tokens and tags under `TOKENS` and `TAGS` (Hugging Face datasets). ``id`` is the id of the document, else its number.
A pair ``(text, {"entities": [...]})``, as spaCy's training data has them, is a row, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clueval.exceptions import CluevalError, UsageError, described, require_kind
from clueval.spans.document import Document, MissingId
from clueval.spans.span import DEFAULT_LAYER, Frozen, Span
from clueval.spans.span_forms import as_spans
from clueval.tagging.decoder import decode, decode_tags

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
