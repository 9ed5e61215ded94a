"""Flat rows: rows of JSON formats whose spans can be counted without building a document.

A row is flat if its id is text or a whole number, its positions are whole numbers within its text, its labels are
text, none of its spans is empty, has fragments or features, and nothing in it is refused or passed over. Every other
row becomes a document, and its reader says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clueval.spans.document import MissingId

if TYPE_CHECKING:
    from clueval.spans.document import Document


class FlatRow(NamedTuple):
    """A flat row: its id, its text or tokens, its spans, the row itself, its number and the name of its annotation set.

    A span is a list or a tuple of start, end and label; the spans come in the order of the document.
    """

    id: str | int
    text: str | list[str]
    spans: list[Any]
    number: int
    row: Any
    set: str | None


class TaggedRow(NamedTuple):
    """A row of tokens with their tags in the only layer; whether both are text is not checked yet."""

    id: str
    tokens: list[Any]
    tags: list[Any]


class FlatItems(Protocol):
    """The documents of one side: flat rows where possible, else documents."""

    def __iter__(self) -> Iterator[Document | FlatRow]: ...

    def document(self, item: Document | FlatRow) -> Document:
        """Return the document of an item."""

    def id_of(self, item: FlatRow) -> str:
        """Return the id of the document of a flat row."""

    def metadata_of(self, item: FlatRow) -> Mapping[str, str]:
        """Return the metadata of a flat row."""


class FlatFile:
    """The only document of a file: as a flat row if it was read so, else what `documents` yields."""

    def __init__(self, row: FlatRow | None, name: str, documents: Callable[[], Iterable[Document]]) -> None:
        self._row, self._name, self._documents = row, name, documents

    def __iter__(self) -> Iterator[Document | FlatRow]:
        return iter(self._documents() if self._row is None else (self._row,))

    def document(self, item: Document | FlatRow) -> Document:
        if isinstance(item, FlatRow):
            (item,) = self._documents()
        return item

    def id_of(self, item: FlatRow) -> str:
        return self._name

    def metadata_of(self, item: FlatRow) -> Mapping[str, str]:
        return {}


def flat_row(
    identifier: Any, text: Any, spans: Any, number: int, row: Any, annotation_set: Any = None
) -> FlatRow | None:
    """Return the flat row of a text and its spans ``[start, end, label]``; None if it is not flat.

    >>> flat_row(None, "Ada met Bob", [[8, 11, "PER"], [0, 3, "PER"]], 1, {}).spans
    [[0, 3, 'PER'], [8, 11, 'PER']]
    >>> flat_row(None, "Ada", [[0, 4, "PER"]], 1, {})
    """
    if identifier is None:
        identifier = MissingId(number)
    elif type(identifier) is not str and type(identifier) is not int:
        return None
    if type(text) is not str or type(spans) is not list:
        return None
    try:
        for start, end, label in spans:
            if not (type(start) is int is type(end) and type(label) is str and label):
                return None
            if not 0 <= start < end <= len(text):
                return None
    except (TypeError, ValueError):
        return None
    spans = sorted(spans, key=itemgetter(0, 1))  # as `clueval.spans.features.in_order` does in documents
    return FlatRow(identifier, text, spans, number, row, annotation_set)


def has_more(item: Mapping[str, Any]) -> bool:
    """Return whether an object is more than one range: it has fragments or alternatives."""
    return "fragments" in item or "alternatives" in item


def flat_items(
    items: Any, text: Any, keys: tuple[str, str, str], reference: str = "text"
) -> list[Any] | None:
    """Return the spans of objects with start, end and label under these keys; None if some have no label.

    None, too, if an object has a text, under `reference`, that is not the one at its positions.

    >>> flat_items([{"start": 0, "end": 3, "label": "PER"}], "Ada", ("start", "end", "label"))
    [(0, 3, 'PER')]
    """
    start, end, label = keys
    try:
        spans = [(item[start], item[end], item[label]) for item in items]
        for item, (first, last, _) in zip(items, spans, strict=True):
            if has_more(item):
                return None
            if reference in item and item[reference] not in (None, text[first:last]):
                return None
    except (KeyError, TypeError):
        return None
    return spans
