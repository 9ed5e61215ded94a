"""The names and values that occur in documents.

A name or value in a filter or break-down that never occurs is an error, not a score of zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.filters import ID, Filter


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
                    advice=f"layers: {', '.join(layers) or 'none'}; metadata: {known}",
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
