"""Filters and break-downs: which documents and spans are counted.

A filter is one or more conditions ``KEY=VALUE``. A key that is the name of a layer selects spans; any other
key selects documents by their metadata. Conditions on one key are alternatives; conditions on several keys
must all hold.

A condition on a layer applies to **gold spans for recall and to predicted spans for precision**: recall is
the share of the gold spans with that label that predicted spans of any label find; precision is the share of
the predicted spans with that label that gold spans of any label match. Spans that the filter excludes can
still be matched by spans of the other side. For the filter, a span of another layer has the label of the
named layer that covers most positions of the span on its own side (the earliest label if several cover the
same number, no label if no span of the named layer overlaps it).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from clueval.exceptions import UsageError, require_kind
from clueval.spans.document import Document
from clueval.spans.match_classes import joined_labels
from clueval.spans.span import Span

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
            all(_label(span, key, indices[key]) in values for key, values in self.conditions)
            for span in spans
        ]


def _label(span: Span, layer: str, index: SpanIndex) -> str | None:
    if layer in span.by_layer:
        return span.by_layer[layer]
    overlapping = index.overlapping(span)
    return joined_labels(span, overlapping).get(layer) if overlapping else None


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
