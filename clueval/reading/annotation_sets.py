"""Selects one annotation set of a document that has several named sets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from clueval.exceptions import UsageError
from clueval.formats.format import EVERY_SET, SELECT_SETS
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER


def chosen_set(
    document: Document, name: str, types: Collection[str] = (), *, layer: str = DEFAULT_LAYER
) -> Document:
    """Return the document with the annotation set `name` as its only layer, called `layer`.

    Only annotations of the given `types` are kept; without types, all are. Formats with named annotation sets
    hold each set as a layer; the default set is called ``""``. Raises `UsageError` for a set that the document
    does not have.

    >>> from clueval import Document, Span
    >>> document = Document("d", {"Key": [Span(0, 1, {"Key": "A"}), Span(1, 2, {"Key": "B"})]})
    >>> [span.labels for span in chosen_set(document, "Key", ["B"]).layers["label"]]
    [{'label': 'B'}]
    """
    if name not in document.layers:
        known = ", ".join(repr(known) for known in document.layers) or "none"
        raise UsageError(
            f"the document has no annotation set {name!r}",
            file=document.file,
            document=document.id,
            advice=f"its sets: {known}",
        )
    chosen = [
        replace(span, labels={layer: span.label})
        for span in document.layers[name]
        if not types or span.label in types
    ]
    return replace(document, layers={layer: chosen}, tags={})


def wanted_set(document: Document, name: str | None, containing: str | None) -> Document:
    """Return the document with the annotation set `name` and, if `containing` is given, a layer of that name.

    `EVERY_SET` selects all sets, as they are. `containing` is ``SET:TYPE`` and selects the annotations of its
    layer. Raises `UsageError` if `name` is None and for a set that the document does not have.
    """
    if name is None:
        sets = (
            ", ".join(repr(known) if known else "'' (the default set)" for known in document.layers) or "none"
        )
        raise UsageError(
            "the file has annotation sets, but none is selected for one side",
            file=document.file,
            advice=f"its sets: {sets}; {SELECT_SETS}",
        )
    if name == EVERY_SET:
        return document
    chosen = chosen_set(document, name)
    if containing is None:
        return chosen
    set_name, colon, kind = containing.rpartition(":")
    if not colon or not kind:
        raise UsageError(
            f"{containing!r} does not select containing annotations",
            advice="write it SET:TYPE, as in Key:Section",
        )
    within = chosen_set(document, set_name, (kind,), layer=containing).layers[containing]
    return replace(chosen, layers={**chosen.layers, containing: within})
