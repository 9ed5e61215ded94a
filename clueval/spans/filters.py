"""Filters and break-downs: which documents and spans are counted.

A filter is one or more conditions ``KEY=VALUE``. A key that is the name of a layer selects spans; any other
key selects documents by their metadata. Conditions on one key are alternatives; conditions on several keys
must all hold.

A condition on a layer applies to **gold spans for recall and to predicted spans for precision**: recall is
the share of the gold spans with that label that predicted spans of any label find; precision is the share of
the predicted spans with that label that gold spans of any label match. Spans that the filter excludes can
still be matched by spans of the other side. For the filter, a span of another layer has the label of the
named layer that covers most positions of the span on its own side (the earliest label if several cover the
same number, no label if no span of the named layer overlaps it). If the named layer has several such labels in one
place, the span has all of them: it is counted if any of them is asked for.

A name or value in a filter or break-down that never occurs is an error, not a score of zero (`SeenNames`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clueval.arguments import require_kind
from clueval.core.ranges import Ranges
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.spans.document import Document

if TYPE_CHECKING:
    from clueval.spans.index import SpanIndex

ID = "document"
"""The key for the id of the document."""


class Filter(NamedTuple):
    """Selects what is counted: the allowed values for each key."""

    conditions: tuple[tuple[str, frozenset[str]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __str__(self) -> str:
        return ";".join(f"{key}={'|'.join(sorted(values))}" for key, values in self.conditions)

    def on_layers(self, layers: Iterable[str]) -> Filter:
        """Return the conditions that select spans, given the names of the layers."""
        names = set(layers)
        return Filter(tuple(condition for condition in self.conditions if condition[0] in names))

    def on_documents(self, layers: Iterable[str]) -> Filter:
        """Return the conditions that select documents, given the names of the layers."""
        names = set(layers)
        return Filter(tuple(condition for condition in self.conditions if condition[0] not in names))

    def lets_through(self, document: str, metadata: Mapping[str, str]) -> bool:
        """Return whether a document, given by its id and metadata, meets all conditions."""
        known = {ID: document, **metadata}
        return all(known.get(key) in values for key, values in self.conditions)

    def counted(self, spans: Sequence[Span], document: Document) -> list[bool]:
        """Return for each span of `document` whether it meets the conditions on layers."""
        from clueval.spans.index import SpanIndex  # not needed without a filter on a layer

        indices = {key: SpanIndex(document.layers.get(key, ()), document) for key, _ in self.conditions}
        return [
            all(not values.isdisjoint(_labels(span, key, indices[key])) for key, values in self.conditions)
            for span in spans
        ]


def _labels(span: Span, layer: str, index: SpanIndex) -> set[str | None]:
    """Return the labels that a span has in a layer: several, if spans of that layer have them in one place."""
    if layer in span.by_layer:
        return {span.by_layer[layer]}
    positions: dict[str, int] = {}
    places: dict[str, tuple[int, int, Ranges]] = {}
    for other in index.overlapping(span):
        label = other.by_layer.get(layer)
        if label is not None:
            positions[label] = (
                positions.get(label, 0) + min(span.end, other.end) - max(span.start, other.start)
            )
            place = (other.start, other.end, other.fragments)
            places[label] = min(place, places.get(label, place))
    most = max(positions.values(), default=0)
    found = [label for label, number in positions.items() if number == most]
    earliest = min((places[label] for label in found), default=None)
    return {label for label in found if places[label] == earliest}


def parse_where(conditions: Iterable[str] | Mapping[str, str | Iterable[str]]) -> Filter:
    """Return a filter from ``["risk=high", "domain=civil"]`` or ``{"risk": ["high", "medium"]}``.

    Raises `UsageError` for a condition without an equals sign or a key.

    >>> str(parse_where(["risk=high", "risk=medium", "domain=civil"]))
    'risk=high|medium;domain=civil'
    """
    values: dict[str, set[str]] = {}
    require_kind(conditions, "Iterable", "where")
    if isinstance(conditions, str):
        conditions = [conditions]
    if isinstance(conditions, Mapping):
        for key, given in conditions.items():
            require_kind(given, "str | Iterable", "a value of where")
            several = [given] if isinstance(given, str) else list(given)
            for each in (key, *several):
                require_kind(each, "str", "each key and value of where")
            values.setdefault(key, set()).update(several)
    else:
        for condition in conditions:
            require_kind(condition, "str", "each condition of where")
            key, equals, value = condition.partition("=")
            if not key or not equals:
                raise UsageError(f"the filter {condition!r} cannot be read", advice="write it KEY=VALUE")
            values.setdefault(key, set()).add(value)
    return Filter(tuple((key, frozenset(given)) for key, given in values.items()))


class SeenNames:
    """The keys of metadata that occur in documents, and the values of the keys that a filter names."""

    __slots__ = ("metadata", "values", "where")

    def __init__(self, where: Filter) -> None:
        self.where = where
        self.metadata: set[str] = set()
        self.values: dict[str, set[str]] = {}

    def see(self, document: str, metadata: Mapping[str, str], on_documents: Filter) -> None:
        """Record a document; `on_documents` has the conditions on documents."""
        self.metadata.update(metadata)
        for key, _ in on_documents.conditions:
            value = {ID: document, **metadata}.get(key)
            if value is not None:
                self._add(key, (value,))

    def see_labels(self, documents: Iterable[Document], on_layers: Filter) -> None:
        """Record the labels in the layers that a filter names."""
        for document in documents:
            for key, _ in on_layers.conditions:
                labels = (span.by_layer.get(key) for span in document.layers.get(key, ()))
                self._add(key, filter(None, labels))

    def see_documents(self, documents: Sequence[Document], layers: Iterable[str]) -> None:
        """Record documents of the same text, of which the first has the metadata, and the labels of their spans."""
        names = list(layers)
        self.see(documents[0].id, documents[0].metadata, self.where.on_documents(names))
        self.see_labels(documents, self.where.on_layers(names))

    def include(self, other: SeenNames) -> None:
        """Add the names and values of another one."""
        self.metadata |= other.metadata
        for key, values in other.values.items():
            self._add(key, values)

    def require_all(self, by: Iterable[str], layers: Iterable[str]) -> None:
        """Raise `UsageError` for a key or value of the filter, or a key of the break-downs, that never occurs."""
        layers = list(layers)
        self._require_keys(by, layers)
        self._require_values(layers)

    def _add(self, key: str, values: Iterable[str]) -> None:
        self.values.setdefault(key, set()).update(values)

    def _require_keys(self, by: Iterable[str], layers: list[str]) -> None:
        in_filter = [key for key, _ in self.where.on_documents(layers).conditions]
        for key in (*in_filter, *by):
            if key != ID and key not in self.metadata:
                known = ", ".join(sorted(self.metadata | {ID}))
                raise UsageError(
                    f"no layer and no document's metadata is called {key!r}"
                    if key in in_filter
                    else f"no document's metadata is called {key!r}",
                    advice=f"layers: {', '.join(layers) or 'none'}; metadata: {known}"
                    + "; each report has its labels without it" * (key in ("label", "class", "type")),
                )

    def _require_values(self, layers: list[str]) -> None:
        on_documents = {key for key, _ in self.where.on_documents(layers).conditions}
        for key, required in self.where.conditions:
            seen = self.values.get(key, set())
            for value in sorted(required - seen):
                some = sorted(seen)[:10]
                raise UsageError(
                    f"no {'document' if key in on_documents else 'span'} has {key}={value}",
                    advice=f"values found: {', '.join(some) or 'none'}",
                )
