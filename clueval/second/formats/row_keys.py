"""The keys of a row by the description of its dialect: the first that occurs, paths, sources of layers, and scalars."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError
from clueval.second.formats.dialect import Dialect, keys_of
from clueval.second.formats.options import FormatOptions

SCALAR = (str, int, float)
"""The types of values that are features and metadata."""


def sources_of(dialect: Dialect, options: FormatOptions, file: str | None) -> Mapping[str, str]:
    """Return the source of each layer. Raises `UsageError` for a source that the dialect does not have."""
    known = keys_of(dialect.sources)
    layers = options.layers
    if layers is None:
        return {DEFAULT_LAYER: known[0] if known else ""}
    for layer, source in layers.items():
        if isinstance(source, int) or (known and source not in known):
            raise UsageError(
                f"layer {layer!r} has no source {source!r} in this format",
                file=file,
                advice=f"its sources: {', '.join(known)}" if known else "name a source by its key",
            )
    return {layer: str(source) for layer, source in layers.items()}


def first_key(row: Mapping[str, Any], keys: str) -> str | None:
    """Return the first of several keys that a row has, or None."""
    if keys in row:
        return keys
    return next((key for key in keys_of(keys) if key in row), None)


def first_value(row: Mapping[str, Any], keys: str) -> Any:
    """Return the first value under one of several keys that is not None, or None."""
    return next((row[key] for key in keys_of(keys) if row.get(key) is not None), None)


def either(keys: str) -> str:
    """Return keys in words."""
    return " or ".join(map(repr, keys_of(keys)))


def paths(*keys: str) -> tuple[str, ...]:
    """Return those of several keys that are paths."""
    return tuple(key for each in keys for key in keys_of(each) if "." in key)


def with_paths(row: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Return an object with the values of these paths under the paths as keys, as far as it has them.

    >>> with_paths({"data": {"text": "Ada"}}, ["data.text", "data.id"])["data.text"]
    'Ada'
    """
    found = dict(row)
    for path in paths:
        value: Any = row
        for name in path.split("."):
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list | tuple) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                break
        else:
            found.setdefault(path, value)
    return found


def hidden_keys(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a row that are not metadata."""
    keys = (dialect.text, dialect.tokens, dialect.id, dialect.spans, dialect.metadata, dialect.passed_over)
    return frozenset(
        key for each in (*keys, dialect.annotator, dialect.not_metadata) for key in keys_of(each)
    )


def keys_of_no_features(dialect: Dialect) -> frozenset[str]:
    """Return the keys of a span that are no features, besides its label."""
    keys = (dialect.start, dialect.end, dialect.end_inclusive, dialect.span_id, dialect.reference)
    every = (*keys, dialect.of_span, dialect.noted, "optional|fragments")
    return frozenset(key for each in every for key in keys_of(each))


def scalars(values: Mapping[str, Any], is_kept: Any = lambda key: True) -> dict[str, str]:
    """Return the texts, numbers and truth values of an object, as texts."""
    return {
        str(key): value if type(value) is str else json.dumps(value)
        for key, value in values.items()
        if isinstance(value, SCALAR) and is_kept(key)
    }
