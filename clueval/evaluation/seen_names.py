"""What filters and break-downs name must occur: a name or value that nothing has is a slip, not a result of zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.filters import ID, Filter


class Known:
    """The keys of metadata that documents have had, and the values of those that a filter names."""

    __slots__ = ("metadata", "values", "where")

    def __init__(self, where: Filter) -> None:
        self.where = where
        self.metadata: set[str] = set()
        self.values: dict[str, set[str]] = {}

    def see(self, document: str, metadata: Mapping[str, str], on_documents: Filter) -> None:
        """Take note of a document; `on_documents` are the conditions that speak of such."""
        self.metadata.update(metadata)
        for key, _ in on_documents.conditions:
            value = {ID: document, **metadata}.get(key)
            if value is not None:
                self._add(key, (value,))

    def see_labels(self, documents: Iterable[Document], on_layers: Filter) -> None:
        """Take note of the labels in the layers that a filter names."""
        for document in documents:
            for key, _ in on_layers.conditions:
                labels = (span.by_layer.get(key) for span in document.layers.get(key, ()))
                self._add(key, filter(None, labels))

    def include(self, other: Known) -> None:
        """Take in what somebody else has seen."""
        self.metadata |= other.metadata
        for key, values in other.values.items():
            self._add(key, values)

    def require_all(self, by: Iterable[str], layers: Iterable[str]) -> None:
        """Raise `UsageError` for a key or value of the filter, or a key of the break-downs, that nothing has."""
        layers = list(layers)
        self._require_keys(by, layers)
        self._require_values()

    def _add(self, key: str, values: Iterable[str]) -> None:
        self.values.setdefault(key, set()).update(values)

    def _require_keys(self, by: Iterable[str], layers: list[str]) -> None:
        asked = [key for key, _ in self.where.on_documents(layers).conditions]
        for key in (*asked, *by):
            if key != ID and key not in self.metadata:
                known = ", ".join(sorted(self.metadata | {ID}))
                raise UsageError(
                    f"no layer and no document's metadata is called {key!r}"
                    if key in asked
                    else f"no document's metadata is called {key!r}",
                    advice=f"layers: {', '.join(layers)}; metadata: {known}",
                )

    def _require_values(self) -> None:
        for key, wanted in self.where.conditions:
            known = self.values.get(key, set())
            for value in sorted(wanted - known):
                some = sorted(known)[:10]
                raise UsageError(
                    f"nothing has {key}={value}", advice=f"there are {', '.join(some) or 'no values'}"
                )
