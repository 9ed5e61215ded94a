"""Changes of labels: maps, hierarchies, generic labels, no labels at all.

A map gives the labels of one side or both other names, and leaves out spans of labels without a name. A file has
``FROM<TAB>TO`` in each line, or is a JSON object; an empty TO drops the spans. A name that has been given is not looked
up again. A label that is not in the map is an error, unless the last entry is ``*``: ``*<TAB>*`` keeps these labels,
``*<TAB>`` drops them.

In a hierarchy, a label is replaced by its ancestor at some depth (BRATEval's hierarchical types). A file has one name
in each line, indented below its parent; the section ``[entities]`` of brat's configuration is one. The separator ``.``
stands for labels that hold their path themselves, as ``LOC.city``. Generic labels, such as ``PII``, are replaced by
labels below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clueval.core.span import NO_LABEL, Span
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.spans.document import Document
from clueval.spans.index import SpanIndex
from clueval.spans.overlaps import shared_positions
from clueval.textfiles import decoded
from clueval.transforms.group import (
    HIDDEN,
    Changes,
    EachSpan,
    Group,
    content_of,
    counted_names,
    sha8,
    with_labels,
    with_layers,
)

OTHERS = "*"
"""The entry for all labels that no other entry names."""


class LabelNames(NamedTuple):
    """A label map: the new names, what happens to other labels (None: an error), its hash and its file."""

    names: Mapping[str, str]
    others: str | None
    sha: str
    source: str

    @classmethod
    def of(cls, given: Any, option: str) -> LabelNames:
        """Return the map of a file or dictionary. Raises `CluevalError` for an invalid one."""
        if isinstance(given, Mapping):
            import json  # only maps that are given need it

            return cls._made(list(given.items()), sha8(json.dumps(list(given.items()))), option)
        try:
            path, content = content_of(given, option)
        except FileError as error:
            if "=" in str(given):
                error.advice = (
                    'give a file with a line FROM<TAB>TO for each label, or in Python {"FROM": "TO"}'
                )
            raise
        text = decoded(content.removeprefix(b"\xef\xbb\xbf"), path, 1)
        if text.lstrip().startswith("{"):
            return cls._made(_of_json(text, str(path)), sha8(content), str(path))
        return cls._made(_of_lines(text, str(path)), sha8(content), str(path))

    @classmethod
    def _made(cls, entries: list[tuple[Any, Any]], sha: str, source: str) -> LabelNames:
        names: dict[str, str] = {}
        for old, new in entries:
            if not isinstance(old, str) or not isinstance(new, str) or not old:
                raise FormatError(
                    f"the entry {old!r} is not a label and its name", file=source, advice="both are text"
                )
            if old in names:
                raise FormatError(f"the label {old!r} has two entries", file=source, advice="remove one")
            names[old] = new
        if OTHERS in names and list(names)[-1] != OTHERS:
            raise FormatError(
                f"the entry {OTHERS!r} is not the last", file=source, advice="move it to the end"
            )
        others = names.pop(OTHERS, None)
        if others not in (None, "", OTHERS):
            raise FormatError(
                f"the entry {OTHERS!r} has the name {others!r}",
                file=source,
                advice=f"{OTHERS!r} keeps all other labels, an empty name drops them",
            )
        return cls(names, others, sha, source)

    def new_name(self, label: str) -> str | None:
        """Return the new name of a label; empty: drop it; None: the map does not have it."""
        if label in self.names:
            return self.names[label]
        return label if self.others == OTHERS else self.others


def _of_lines(text: str, file: str) -> list[tuple[str, str]]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.strip(" "):
            if line.count("\t") != 1:
                raise FormatError(
                    f"the line has {line.count(chr(9))} tabs", file=file, line=number, advice="FROM<TAB>TO"
                )
            old, _, new = line.partition("\t")
            entries.append((old.strip(), new.strip()))
    return entries


def _of_json(text: str, file: str) -> list[tuple[Any, Any]]:
    import json  # only maps that are given need it

    try:
        found = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise FormatError("is not valid JSON", file=file, line=line, advice='{"FROM": "TO"}') from None
    return list(found)


class LabelMap(EachSpan):
    """A transform that gives the labels of each side the names of its map (None: the labels stay).

    `prepared` counts the spans of each side that were renamed and dropped.
    """

    def __init__(self, gold: LabelNames | None, predicted: LabelNames | None) -> None:
        self._maps = {"gold": gold, "predicted": predicted}
        if gold == predicted and gold is not None:
            choice = f"map({gold.sha})"
        else:
            choice = "+".join(f"{side}-map({each.sha})" for side, each in self._maps.items() if each)
        super().__init__("labels", choice)

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        names = self._maps[side]
        if names is None:
            return [span]
        new = {}
        for name, label in span.by_layer.items():
            found = None if label is None else names.new_name(label)
            if label is not None and found is None:
                self.prepared[HIDDEN, side, label] += 1
            new[name] = label if found is None else found
        if "" in new.values():
            self.prepared[side, "dropped"] += 1
            return []
        renamed = with_labels(span, new)
        self.prepared[side, "renamed"] += renamed is not span
        return [renamed]

    def check(self, prepared: Mapping[tuple[Any, ...], int]) -> None:
        """Raise `UsageError` for labels that are not in the map of their side."""
        for side, names in self._maps.items():
            found = counted_names(prepared, side)
            if names is not None and found:
                raise UsageError(
                    f"the label map has no entry for {_listed(found.items())} of {side}",
                    file=names.source,
                    advice='add them, or as the last entry "*": "*" (keep all others) or "*": "" (drop them)'
                    if names.source.endswith(".json")
                    else "add them, or end the map with * (a tab, then * to keep all others or nothing to drop them)",
                )

    def without_effect(self, prepared: Mapping[tuple[Any, ...], int]) -> Iterator[str]:
        """Yield that the maps change no span, if they change none."""
        if not any(prepared.get((side, what)) for side in self._maps for what in ("renamed", "dropped")):
            files = dict.fromkeys(names.source for names in self._maps.values() if names is not None)
            yield f"the label map {' and '.join(files)} changes no span: names count as written"


_LISTED = 5


def _listed(found: Iterable[tuple[str, int]]) -> str:
    every = [f"{label!r} ({number:,} span{'s' * (number != 1)})" for label, number in found]
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more


class Untyped(EachSpan):
    """A transform that gives every span the label ``_``, so that only positions are compared.

    `prepared` counts the spans of each side.
    """

    def __init__(self) -> None:
        super().__init__("untyped", "yes")

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        untyped = with_labels(span, dict.fromkeys(span.by_layer, NO_LABEL))
        self.prepared[(side,)] += untyped is not span
        return [untyped]


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


class Depth(EachSpan):
    """A transform that replaces each label by its ancestor at a depth (1: the top); shallower labels stay.

    `prepared` counts the spans of each side with a new label.
    """

    def __init__(self, hierarchy: Hierarchy, depth: int) -> None:
        if depth < 1:
            raise UsageError(
                f"Preparing.depth must be from 1, not {depth}", advice="1 is the top of the hierarchy"
            )
        self._hierarchy, self._depth = hierarchy, depth
        super().__init__("depth", f"{depth}({hierarchy.sha})")

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        raised = with_labels(span, {name: self._at_depth(label) for name, label in span.by_layer.items()})
        self.prepared[(side,)] += raised is not span
        return [raised]

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
        self.prepared: Changes = Counter()

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
        self.prepared: Changes = Counter()

    def __call__(self, group: Group) -> Group:
        own, other = group.predicted, group.gold
        if self._side == "gold":
            own, other = other, own
        layers = {layer: self._specific(spans, layer, other) for layer, spans in own.layers.items()}
        return group.with_side(self._side, with_layers(own, layers))

    def without_effect(self, prepared: Mapping[tuple[Any, ...], int]) -> Iterator[str]:
        """Yield which generic labels no span has."""
        for label in sorted(self._labels - counted_names(prepared, "label").keys()):
            yield f"no {self._side} span has the generic label {label!r}: names count as written"

    def _specific(self, spans: Sequence[Span], layer: str, other: Document) -> list[Span]:
        if not any(span.by_layer.get(layer) in self._labels for span in spans):
            return list(spans)
        index = SpanIndex(other.layers.get(layer, ()), other)
        return [self._named(span, layer, index) for span in spans]

    def _named(self, span: Span, layer: str, index: SpanIndex) -> Span:
        label = span.by_layer.get(layer)
        if label not in self._labels:
            return span
        self.prepared[HIDDEN, "label", label] += 1
        found = self._label(span, label, layer, index)
        self.prepared[(label,)] += found != label
        return with_labels(span, {**span.by_layer, layer: found})

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
