"""What WebAnno TSV and UIMA CAS share when they are written: the types of layers, and features that are texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from clueval.exceptions import UsageError
from clueval.formats.format import Uses
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Span

_TYPE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)
_FEATURE = re.compile(r"[A-Za-z]\w*", re.ASCII)
_RESERVED = frozenset({"begin", "end", "sofa", "self", "type", "xmiID"})
_SLOTS = ("ROLE_", "BT_")


class UimaType(NamedTuple):
    """The type of the annotations of a layer, and its feature with the label."""

    name: str
    label: str


ENTITY = UimaType("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "value")
"""The type of named entities, which every project of INCEpTION has."""

_BUILT_IN = {ENTITY.name: ("value", "identifier")}


def require_types(types: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the types of layers. Raises `UsageError` for one that is not ``TYPE|FEATURE``."""
    for written in (types or {}).values():
        name, _, label = written.partition("|")
        if not _TYPE.fullmatch(name) or not _FEATURE.fullmatch(label):
            raise UsageError(f"{written!r} is not TYPE|FEATURE", advice="as in webanno.custom.Risk|value")
    return types or {}


def types_of(given: Mapping[str, str], names: Iterable[str]) -> dict[str, UimaType]:
    """Return the type of each layer, given those that are named, as ``TYPE|FEATURE``.

    The only layer, and one called ``label``, are named entities. Raises `UsageError` for a layer without a type.

    >>> types_of({"risk": "a.Risk|level"}, ["label", "risk"])["risk"]
    UimaType(name='a.Risk', label='level')
    """
    layers = list(dict.fromkeys(names))
    for layer in given.keys() - set(layers):
        raise UsageError(f"types names an unknown layer {layer!r}", advice=f"one of {', '.join(layers)}")
    return {layer: _type_of(layer, given, alone=len(layers) == 1) for layer in layers}


def _type_of(layer: str, given: Mapping[str, str], *, alone: bool) -> UimaType:
    if layer in given:
        name, _, label = given[layer].partition("|")
        return UimaType(name, label)
    if alone or layer == DEFAULT_LAYER:
        return ENTITY
    if not _FEATURE.fullmatch(layer):
        raise UsageError(
            f"the layer {layer!r} cannot be the name of a type",
            advice=f"name its type with types={ {layer: 'webanno.custom.Risk|value'} }",
        )
    return UimaType(f"webanno.custom.{layer}", "value")


def holds_feature(name: str, value: object) -> bool:
    """Return whether a type can hold a feature: texts, numbers and truth values with plain names."""
    fits = _FEATURE.fullmatch(name) is not None and name not in _RESERVED and not name.startswith(_SLOTS)
    return fits and isinstance(value, str | int | float) and value != ""


def with_texts(document: Document, given: Mapping[str, str], lost: Counter[str]) -> Document:
    """Return the document with positions from 0, and with features that are texts and do not replace the label."""
    layers = {}
    for layer, spans in document.layers.items():
        label = given[layer].partition("|")[2] if layer in given else ENTITY.label
        lost["features"] += sum(label in span.features for span in spans)
        layers[layer] = [_with_texts(span, label) if span.features else span for span in spans]
    return replace(document, layers=layers).from_position(0)


def _with_texts(span: Span, label: str) -> Span:
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in span.features.items()
        if name != label
    }
    return replace(span, features=texts)


def values_of(span: Span, of: UimaType) -> dict[str, str]:
    """Return the features of a span, with its label."""
    return {**span.features, **({} if span.label in ("", NO_LABEL) else {of.label: span.label})}


def types_to_create(given: Mapping[str, str], uses: Uses, layers: Sequence[str]) -> Iterator[str]:
    """Yield a line for each type, or for its features, that a project of INCEpTION may lack."""
    for layer, of in types_of(given, [*layers, *uses]).items():
        if layer in uses:
            features = {of.label, *uses[layer].features} - {*_BUILT_IN.get(of.name, ())}
            if features:
                yield f"before the import, the project needs {of.name} with {', '.join(sorted(features))}"
