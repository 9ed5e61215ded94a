"""What the transforms of labels share: documents with other labels, names that must occur, hashes of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import is_
from os import PathLike, fsencode
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError, require_kind
from clueval.spans.document import Document
from clueval.spans.span import Frozen, Span
from clueval.textfiles import raw_content


def names_of(given: str | Iterable[str], option: str) -> tuple[str, ...]:
    """Return the names of a list, or of a text in which commas separate them. Raises `UsageError` for an empty one.

    >>> names_of("A, B", "generic")
    ('A', 'B')
    """
    names = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
    for name in names:
        require_kind(name, "str", f"each name of {option}")
        if not name:
            raise UsageError(f"{option} has an empty name", advice="separate names by single commas")
    return tuple(dict.fromkeys(names))


def content_of(given: str | PathLike[str], option: str) -> tuple[Path, bytes]:
    """Return the path and the content of a file. Raises `UsageError` for what is no path, `FileError`."""
    path = Path(given)
    try:
        valid = "\0" not in fsencode(path).decode("latin-1")
    except UnicodeError:
        valid = False
    if not valid:
        raise UsageError(f"{option} is not the path of a file", advice="check the name")
    return path, raw_content(path)


def with_layers(document: Document, layers: Mapping[str, list[Span]]) -> Document:
    """Return the document with other spans; the same document, with its tags, if all spans stay the same."""
    if all(
        len(spans) == len(document.layers[layer]) and all(map(is_, spans, document.layers[layer]))
        for layer, spans in layers.items()
    ):
        return document
    return replace(document, layers={**document.layers, **layers}, tags={})


def changed_labels(document: Document, change: Callable[[Span, str], Span | None]) -> Document:
    """Return the document with `change(span, layer)` for each span; None leaves a span out."""
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        new = (change(span, layer) for span in spans)
        layers[layer] = [span for span in new if span is not None]
    return with_layers(document, layers)


def with_labels(span: Span, labels: Mapping[str, str | None]) -> Span:
    """Return the span with these labels; the same span if it has them already."""
    if labels == span.labels:
        return span
    new = Frozen(labels)
    return Span(span.start, span.end, new, span.features, span.tokens, span.id, span.line, span.parts)


def sha8(content: str | bytes) -> str:
    """Return the first eight digits of the SHA-256 of a text."""
    from hashlib import sha256  # loads OpenSSL, so it is imported only here

    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:8]


def counted_names(prepared: Mapping[tuple[Any, ...], int], kind: str) -> dict[str, int]:
    """Return the names that a transform has counted under the hidden key `kind`, sorted."""
    return {str(key[2]): n for key, n in sorted(prepared.items(), key=str) if key[:2] == (HIDDEN, kind)}


ANY_OF = "any_of"
"""The name of the choice among several golds, and of its changes."""

HIDDEN = "hidden"
"""The first part of the keys with which transforms count names, to check them at the end; no report shows them."""

LOCATED = "located"
"""The name, in signatures and results, of the transforms that place the answers of language models."""
