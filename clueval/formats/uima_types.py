"""What WebAnno TSV and UIMA CAS share when they are written: the types of layers, and features that are texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Span
from clueval.files.errors import UsageError
from clueval.formats.writer import ACROSS, Uses, Writer

STRUCTURE = frozenset(
    {"Token", "Sentence", "DocumentAnnotation", "DocumentMetaData", "TagsetDescription", "Annotation"}
)
"""Short names of types whose annotations are no spans."""

TYPES = "types of features that are no texts"
"""What is lost of features that are numbers or truth values."""

_TYPE = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)
_FEATURE = re.compile(r"[A-Za-z]\w*", re.ASCII)
_RESERVED = frozenset({"begin", "end", "sofa", "self", "type", "xmiID", "Governor", "Dependent"})
_EXAMPLE = "webanno.custom.Risk|value"


class UimaType(NamedTuple):
    """The type of the annotations of a layer, and its feature with the label."""

    name: str
    label: str


_ENTITY = UimaType("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "value")
"""The type of named entities, which every project of INCEpTION has, with the features ``value`` and ``identifier``."""


def types_of(type_names: Mapping[str, str], names: Iterable[str]) -> dict[str, UimaType]:
    """Return the type of each layer, given those that are named, as ``TYPE|FEATURE``.

    The only layer, and one called ``label``, are named entities. Raises `UsageError` for a layer without a type, and
    for two with the same one.

    >>> types_of({"risk": "a.Risk|level"}, ["label", "risk"])["risk"]
    UimaType(name='a.Risk', label='level')
    """
    layers = list(dict.fromkeys(names))
    for layer in type_names:
        if layer not in layers:
            raise UsageError(f"types names an unknown layer {layer!r}", advice=f"one of {', '.join(layers)}")
    types: dict[str, UimaType] = {}
    for layer in layers:
        if layer in type_names:
            name, _, label = type_names[layer].partition("|")
            types[layer] = UimaType(name, label)
        elif len(layers) == 1 or layer == DEFAULT_LAYER:
            types[layer] = _ENTITY
        elif _FEATURE.fullmatch(layer) and layer not in STRUCTURE:
            types[layer] = UimaType(f"webanno.custom.{layer}", "value")
        else:
            problem = f"the layer {layer!r} cannot be the name of a type"
            raise UsageError(problem, advice=f"name its type with types={ {layer: _EXAMPLE} }")
    for name, times in Counter(kind.name for kind in types.values()).items():
        if times > 1:
            raise UsageError(f"{times} layers have the type {name}", advice="name another one with types")
    return types


def with_texts(type_names: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document with positions from 0, and with features that are texts and do not replace the label.

    Numbers and truth values become texts; `lost` counts them.
    """
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        label = type_names[layer].partition("|")[2] if layer in type_names else _ENTITY.label
        layers[layer] = []
        for span in spans:
            lost["features"] += label in span.features
            values = {name: value for name, value in span.features.items() if name != label}
            texts = {
                name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()
            }
            lost[TYPES] += sum(not isinstance(value, str) for value in values.values())
            layers[layer].append(replace(span, features=texts) if span.features else span)
    return replace(document, layers=layers).from_position(0)


def values_of(span: Span, kind: UimaType) -> dict[str, str]:
    """Return the features of a span, with its label."""
    return {**span.features, **({} if span.label in ("", NO_LABEL) else {kind.label: span.label})}


def token_ranges(tokens: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Return the ranges of tokens that stand in a text one after the other, up to one that does not.

    >>> token_ranges(["in", "Ulm", "."], "in Ulm.")
    [(0, 2), (3, 6), (6, 7)]
    """
    ranges, place = [], 0
    for token in filter(None, tokens):
        start = text.find(token, place)
        if start < 0:
            break
        place = start + len(token)
        ranges.append((start, place))
    return ranges


def whole_tokens(tokens: list[str], text: str) -> list[str] | None:
    """Return the tokens if they make up the text but for white space; None for those of a part.

    >>> whole_tokens(["in", "Ulm", "."], "in Ulm."), whole_tokens(["Ulm"], "in Ulm.")
    (['in', 'Ulm', '.'], None)
    """
    return tokens if "".join("".join(tokens).split()) == "".join(text.split()) != "" else None


def writer(
    type_names: Mapping[str, str],
    ending: str,
    content: Callable[[Mapping[str, str], Document, Sequence[str]], str],
    fit: Callable[[Mapping[str, str], Document, Counter[str]], Document],
    *,
    of_folder: Callable[[Mapping[str, str], Uses, Sequence[str]], Mapping[str, str]] | None = None,
    empty: str = "",
) -> Writer:
    """Return the writer of a format; `empty` is the content of a file without a document.

    Raises `UsageError` for a type in `type_names` that is not ``TYPE|FEATURE``.
    """
    for type_name in type_names.values():
        name, _, label = type_name.partition("|")
        if not _TYPE.fullmatch(name) or not _FEATURE.fullmatch(label):
            raise UsageError(f"{type_name!r} is not TYPE|FEATURE", advice=f"as in {_EXAMPLE}")
        if name.startswith("uima.") or name.rpartition(".")[2] in STRUCTURE or label in _RESERVED:
            raise UsageError(f"{type_name!r} cannot be a layer", advice=f"as in {_EXAMPLE}")

    def hints(uses: Uses, layers: Sequence[str]) -> Iterator[str]:
        """Yield a line for each type, or for its features, that a project of INCEpTION may lack."""
        for layer, kind in types_of(type_names, [*layers, *uses.layers]).items():
            features = {kind.label, *uses.layers[layer].features} if layer in uses.layers else set()
            if kind.name == _ENTITY.name:
                features -= {"value", "identifier"}
            if features:
                yield f"before the import, the project needs {kind.name} with {', '.join(sorted(features))}"

    return Writer(
        pieces=lambda documents, layers, with_ids: (
            [content(type_names, document, layers) for document in documents] or [empty]
        ),
        ending=ending,
        unit="character",
        holds=frozenset({"layers", "features", "zero-length spans", "overlapping spans", ACROSS}),
        feature=_holds_feature,
        fit=lambda document, lost: fit(type_names, document, lost),
        hints=hints,
        keeps_tokens=True,
        of_folder=None if of_folder is None else lambda uses, layers: of_folder(type_names, uses, layers),
        single=True,
    )


def _holds_feature(name: str, value: object) -> bool:
    """Return whether a type can hold a feature: texts, numbers and truth values with plain names."""
    has_name = _FEATURE.fullmatch(name) and name not in _RESERVED and not name.startswith(("ROLE_", "BT_"))
    return bool(has_name) and isinstance(value, str | int | float) and value != ""
