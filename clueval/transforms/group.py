"""The parallel documents of one text, and transforms, which change them before counting: interface and common parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from os import PathLike, fsencode
from pathlib import Path
from typing import Any, ClassVar, Protocol

from clueval.arguments import require_kind
from clueval.core.span import Frozen, Span
from clueval.files.errors import UsageError
from clueval.spans.document import Document
from clueval.textfiles import raw_content

Changes = Counter[tuple[Any, ...]]
"""The numbers of the changes by one transform."""

ALTERNATIVES = "alternatives"
"""The name of the transform that chooses among alternatives of gold spans, in signatures and results."""

ANY_OF = "any_of"
"""The name of the choice among several golds, and of its changes."""

HIDDEN = "hidden"
"""The first part of the keys with which transforms count names, to check them at the end; no report shows them."""

LOCATED = "located"
"""The name, in signatures and results, of the transforms that place the answers of language models."""


@dataclass(frozen=True, slots=True)
class Group:
    """The documents of one text: gold, predicted, and further ones, such as those of other annotators.

    `unplaced` has predicted spans without a place in the text, in a text of their own: each counts as spurious.
    `golds` are other golds, of which, with `gold`, the nearest one counts (`clueval.transforms.alternatives`).
    `lost` has the spans of gold and predicted, by layer, that have no place in the positions of the documents: they
    are counted, but match nothing.
    """

    gold: Document
    predicted: Document
    further: tuple[Document, ...] = ()
    unplaced: Document | None = None
    golds: tuple[Document, ...] = ()
    lost: tuple[Mapping[str, Sequence[Span]], ...] = ()

    def with_side(self, side: str, document: Document) -> Group:
        """Return the group with this document as its ``gold`` or ``predicted`` side."""
        return replace(self, gold=document) if side == "gold" else replace(self, predicted=document)


class Transform(Protocol):
    """Changes every group before merging, filtering and counting; the signature names it.

    An evaluation calls a transform once for each group, in the order of the documents, and returns the
    changed group; the transform may read all documents of the group. It must keep no state except `prepared`,
    because the evaluation uses a copy of the transform in each process and adds the tallies of the copies.

    It may have two more methods, which are called with the tally of all changes once all documents are read: `check`
    raises `UsageError` for a name that is wrong, for example a label that it does not know; `without_effect` yields in
    words what has no effect, which is often a mistake.
    """

    @property
    def signature(self) -> tuple[str, str]:
        """The name of the transform, which must be unique, and its setting: ``("fragments", "split")``."""
        ...

    @property
    def prepared(self) -> Counter[tuple[Any, ...]]:
        """The tally of the changes made so far; its counts never decrease."""
        ...

    def __call__(self, group: Group) -> Group: ...


class EachSpan:
    """Base of transforms that change the spans of some `sides` one by one.

    A subclass has `changed`. `prepared` has the keys `counted`, and what `changed` counts.
    """

    sides: ClassVar[tuple[str, ...]] = ("gold", "predicted")

    def __init__(self, name: str, choice: str, *counted: tuple[Any, ...]) -> None:
        self.signature = (name, choice)
        self.prepared: Changes = Counter(dict.fromkeys(counted, 0))

    def __call__(self, group: Group) -> Group:
        for side in self.sides:
            group = group.with_side(side, self._of_side(side, getattr(group, side)))
        return group

    def _of_side(self, side: str, document: Document) -> Document:
        changed = {
            layer: [each for span in spans for each in self.changed(span, layer, side, document)]
            for layer, spans in document.layers.items()
        }
        return with_layers(document, changed)

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        """Return what takes the place of a span: nothing, a span or several."""
        raise NotImplementedError


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
