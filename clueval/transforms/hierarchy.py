"""Hierarchies of labels: a label is replaced by its ancestor at some depth (BRATEval's hierarchical types).

Generic labels, such as ``PII``, are replaced by labels below them.

A file has one name in each line, indented below its parent; the section ``[entities]`` of brat's configuration is
one. The separator ``.`` stands for labels that hold their path themselves, as ``LOC.city``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from clueval.exceptions import FormatError, UsageError
from clueval.spans.document import Document
from clueval.spans.index import SpanIndex
from clueval.spans.overlaps import shared_positions
from clueval.spans.span import Span
from clueval.textfiles import decoded
from clueval.transforms.group import Group
from clueval.transforms.names import HIDDEN, changed_labels, content_of, counted_names, sha8, with_labels

SEPARATOR = "."


class Hierarchy(NamedTuple):
    """The parent of each name (None: it is at the top) and a hash; without names, labels hold their path."""

    parents: Mapping[str, str | None] | None
    sha: str

    @classmethod
    def of(cls, given: str | Path) -> Hierarchy:
        """Return the hierarchy of a file, or of ``.``. Raises `CluevalError` for an invalid file."""
        if str(given) == SEPARATOR:
            return cls(None, SEPARATOR)
        path, content = content_of(given, "Preparing.hierarchy")
        text = decoded(content.removeprefix(b"\xef\xbb\xbf"), path, 1)
        return cls(_parents(text, str(path)), sha8(content))

    def path(self, label: str) -> list[str]:
        """Return the ancestors of a label from the top, and the label; of an unknown label only itself."""
        if self.parents is None:
            parts = label.split(SEPARATOR)
            return [SEPARATOR.join(parts[:n]) for n in range(1, len(parts) + 1)]
        found = [label]
        while (parent := self.parents.get(found[-1])) is not None:
            found.append(parent)
        return found[::-1]

    @property
    def depth(self) -> int | None:
        """The depth of the deepest name; None without names."""
        return None if self.parents is None else max(len(self.path(name)) for name in self.parents)

    def holds(self, label: str) -> bool:
        """Return whether the label is in the hierarchy."""
        return self.parents is None or label in self.parents


def _parents(text: str, file: str) -> dict[str, str | None]:
    parents: dict[str, str | None] = {}
    above: list[str] = []
    unit = 0
    for number, width, name in _names(text):
        unit = unit or width
        depth, rest = divmod(width, unit) if unit else (0, 0)
        if rest or depth > len(above):
            raise FormatError(
                f"{name!r} is indented too far",
                file=file,
                line=number,
                advice="indent by one step for each level",
            )
        if name in parents:
            raise FormatError(f"the name {name!r} occurs twice", file=file, line=number, advice="remove one")
        parents[name] = above[depth - 1] if depth else None
        above[depth:] = [name]
    if not parents:
        raise FormatError(
            "the hierarchy has no names", file=file, advice="one name a line, children indented"
        )
    return parents


def _names(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the names with their lines and indentations; in brat's configuration only those of entities."""
    lines = text.split("\n")
    in_sections = any(line.startswith("[") for line in lines)
    entities = not in_sections
    for number, line in enumerate(lines, 1):
        name = line.strip()
        if in_sections and line.startswith("["):
            entities = name.lower() == "[entities]"
        elif entities and name and not name.startswith(("#", "---")):
            name = name.split()[0].lstrip("!") if in_sections else name
            yield number, len(line) - len(line.lstrip()), name


class Depth:
    """A transform that replaces each label by its ancestor at a depth (1: the top); shallower labels stay.

    `prepared` counts the spans of each side with a new label.
    """

    def __init__(self, hierarchy: Hierarchy, depth: int) -> None:
        if depth < 1:
            raise UsageError(
                f"Preparing.depth must be from 1, not {depth}", advice="1 is the top of the hierarchy"
            )
        self._hierarchy, self._depth = hierarchy, depth
        self.signature = ("depth", f"{depth}({hierarchy.sha})")
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        return replace(
            group, gold=self._raised("gold", group.gold), predicted=self._raised("predicted", group.predicted)
        )

    def _raised(self, side: str, document: Document) -> Document:
        def change(span: Span, _: str) -> Span:
            changed = with_labels(span, {layer: self._at_depth(x) for layer, x in span.by_layer.items()})
            self.prepared[(side,)] += changed is not span
            return changed

        return changed_labels(document, change)

    def without_effect(self, prepared: Mapping[tuple[Any, ...], int]) -> Iterator[str]:
        """Yield that no label changes, if none does."""
        if not any(prepared.values()):
            yield f"the hierarchy changes no label to one at depth {self._depth}: names count as written"

    def _at_depth(self, label: str | None) -> str | None:
        return None if label is None else self._hierarchy.path(label)[: self._depth][-1]


class EachDepth:
    """Marks the place in the order of transforms where `Depth` is applied with each depth, and changes nothing.

    `deepest` is the depth of the hierarchy or, if labels hold their path, of the deepest label that it has seen since
    it was set to 1.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self.deepest = hierarchy.depth or 1
        self.signature = ("depth", f"each({hierarchy.sha})")
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        if self._hierarchy.parents is None:
            sides = (group.gold, group.predicted)
            spans = (span for document in sides for layer in document.layers.values() for span in layer)
            labels = {label for span in spans for label in span.by_layer.values() if label is not None}
            self.deepest = max([self.deepest, *(len(self._hierarchy.path(label)) for label in labels)])
        return group

    def begin(self) -> None:
        """Forget the labels that were seen."""
        if self._hierarchy.parents is None:
            self.deepest = 1

    def at(self, depth: int) -> Depth:
        """Return the transform that takes this place for one depth."""
        return Depth(self._hierarchy, depth)


class Generic:
    """A transform for the generic labels of one side, ``gold`` or ``predicted``.

    A span with a label such as ``PII`` takes the label of the span of the other side that it overlaps. The label that
    it takes must be below the generic one in the hierarchy; if the generic one is in no hierarchy, any label will do.
    Of several spans the one with an equal range is taken, then the one with which most positions are shared, then the
    earliest; of spans in one place the first by label, the generic label last. Without such a span the generic label
    stays.

    `prepared` counts, by label, the spans that took another label.
    """

    def __init__(self, side: str, labels: tuple[str, ...], hierarchy: Hierarchy | None = None) -> None:
        self._side, self._labels, self._hierarchy = side, frozenset(labels), hierarchy
        choice = ",".join(labels) + (f"({hierarchy.sha})" if hierarchy is not None else "")
        self.signature = ("generic" if side == "predicted" else "generic-gold", choice)
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        if self._side == "predicted":
            return replace(group, predicted=self._specific(group.predicted, group.gold))
        return replace(group, gold=self._specific(group.gold, group.predicted))

    def without_effect(self, prepared: Mapping[tuple[Any, ...], int]) -> Iterator[str]:
        """Yield which generic labels no span has."""
        for label in sorted(self._labels - counted_names(prepared, "label").keys()):
            yield f"no {self._side} span has the generic label {label!r}: names count as written"

    def _specific(self, own: Document, other: Document) -> Document:
        indices: dict[str, SpanIndex] = {}

        def change(span: Span, layer: str) -> Span:
            label = span.by_layer.get(layer)
            if label not in self._labels:
                return span
            self.prepared[HIDDEN, "label", label] += 1
            if layer not in indices:
                indices[layer] = SpanIndex(other.layers.get(layer, ()), other)
            found = self._label(span, label, layer, indices[layer])
            self.prepared[(label,)] += found != label
            return with_labels(span, {**span.by_layer, layer: found})

        return changed_labels(own, change)

    def _label(self, span: Span, label: str, layer: str, index: SpanIndex) -> str:
        candidates = [each for each in index.overlapping(span) if self._fits(each.by_layer.get(layer), label)]
        if not candidates:
            return label

        def rank(other: Span) -> tuple[Any, ...]:
            given = other.by_layer[layer] or label
            is_apart = other.fragments != span.fragments
            return is_apart, -shared_positions(other, span), other.start, other.end, given == label, given

        return min(candidates, key=rank).by_layer[layer] or label

    def _fits(self, label: str | None, generic: str) -> bool:
        """Whether a span with `label` can give it; the generic label itself counts, so that what is right stays."""
        if label is None or self._hierarchy is None or not self._hierarchy.holds(generic):
            return label is not None
        return generic in self._hierarchy.path(label)
