"""Flat rows: rows whose spans can be counted without building a document.

A row is flat if its positions are whole numbers within its text, its labels are text, none of its spans is empty, has
fragments or features, and nothing in it is refused or passed over. Every other row becomes a document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from clueval.spans.document import Document


class FlatSpans(NamedTuple):
    """The text or the tokens of a flat row, and its spans in the order of the document.

    A span is a list or a tuple of start, end and label.
    """

    text: str | list[str]
    spans: list[Any]


class ReadRow(NamedTuple):
    """A row as its format has read it: its id, and functions that return what else is needed of it.

    `flat` returns None unless the row is flat; `metadata` returns that of the document.
    """

    id: str
    document: Callable[[], Document]
    flat: Callable[[], FlatSpans | None] = lambda: None
    metadata: Callable[[], Mapping[str, str]] = dict


class TaggedRow(NamedTuple):
    """A row of tokens with their tags in the only layer; whether both are text is not checked yet."""

    id: str
    tokens: list[Any]
    tags: list[Any]


def flat_spans(text: str | list[str], spans: Any, *, sort: bool = True) -> FlatSpans | None:
    """Return a text or tokens and the spans ``[start, end, label]``, if they are those of a flat row.

    They are sorted as `clueval.spans.features.in_order` does in documents, or not.

    >>> flat_spans("Ada met Bob", [[8, 11, "PER"], [0, 3, "PER"]]).spans
    [[0, 3, 'PER'], [8, 11, 'PER']]
    >>> flat_spans("Ada", [[0, 4, "PER"]])
    """
    try:
        for start, end, label in spans:
            if not (type(start) is int is type(end) and type(label) is str and label):
                return None
            if not 0 <= start < end <= len(text):
                return None
    except (TypeError, ValueError):
        return None
    return FlatSpans(text, sorted(spans, key=itemgetter(0, 1)) if sort else spans)


def flat_objects(
    text: str, items: Any, keys: tuple[str, str, str], reference: str | None = None, *, sort: bool = True
) -> FlatSpans | None:
    """Return a text and its spans, given as objects with start, end and label under these keys.

    None, too, if an object has a text, under `reference`, that is not the one at its positions.

    >>> flat_objects("Ada", [{"start": 0, "end": 3, "label": "PER"}], ("start", "end", "label")).spans
    [(0, 3, 'PER')]
    """
    start, end, label = keys
    try:
        spans = [(item[start], item[end], item[label]) for item in items]
        for item, (first, last, _) in zip(items, spans, strict=True):
            if "fragments" in item or "alternatives" in item:
                return None
            if reference is not None and item.get(reference) not in (None, text[first:last]):
                return None
    except (KeyError, TypeError):
        return None
    return flat_spans(text, spans, sort=sort)
