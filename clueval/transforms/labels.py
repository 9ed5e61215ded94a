"""Changes of labels: maps, hierarchies, generic labels, no labels at all.

A map gives the labels of one side or both other names, and leaves out spans of labels without a name. A file has
``FROM<TAB>TO`` in each line, or is a JSON object; an empty TO drops the spans. A name that has been given is not looked
up again. A label that is not in the map is an error, unless the last entry is ``*``: ``*<TAB>*`` keeps these labels,
``*<TAB>`` drops them. A text ``PERSON=PER,LOC=PLACE`` is a map that keeps all other labels.

In a hierarchy, a label is replaced by its ancestor at some depth (BRATEval's hierarchical types). A file has one name
in each line, indented below its parent; the section ``[entities]`` of brat's configuration is one. The separator ``.``
stands for labels that hold their path themselves, as ``LOC.city``. Generic labels, such as ``PII``, are replaced by
labels below them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from clueval.core.document import Notes, Pair
from clueval.core.span import NO_LABEL, SIDES, Span, overlaps_between, shared_positions
from clueval.files.errors import FormatError, UsageError, with_noun
from clueval.transforms.changes import (
    HIDDEN,
    EachLabel,
    EachPair,
    Note,
    hidden_names,
    sha8,
    text_of_file,
    with_labels,
    with_layers,
    with_notes,
    without_tags,
)

# Label maps

OTHERS = "*"
"""The entry for all labels that no other entry names."""

_LISTED = 5
"""How many labels an error names."""


def is_written(text: str) -> bool:
    """Return whether a text is a label map itself, as ``PERSON=PER,LOC=PLACE``, and no file."""
    return all(part.find("=") > 0 for part in text.split(",")) and not Path(text).exists()


class LabelNames(NamedTuple):
    """A label map: the new names, what happens to other labels (None: an error), its hash and its file.

    `is_object` says whether it is a dictionary or a JSON object, and no lines with tabs.
    """

    names: Mapping[str, str]
    others: str | None
    sha: str
    source: str
    is_object: bool

    @classmethod
    def of(cls, label_map: Any, option: str) -> LabelNames:
        """Return the map of a file, of a text such as ``PERSON=PER``, or of a dictionary.

        Raises `CluevalError` for an invalid one.
        """
        if isinstance(label_map, str) and is_written(label_map):
            parts = (part.partition("=") for part in label_map.split(","))
            label_map = [(old.strip(), new.strip()) for old, _, new in parts]
            if OTHERS not in dict(label_map):
                label_map.append((OTHERS, OTHERS))
        if isinstance(label_map, Mapping | list):
            import json  # only maps that are given need it

            entries = list(label_map.items() if isinstance(label_map, Mapping) else label_map)
            source, sha, is_object = option, sha8(json.dumps(entries, default=str)), True
        else:
            source, text, sha = text_of_file(label_map, option)
            entries, is_object = list(_entries(text, source)), text.lstrip().startswith("{")

        def refusal(problem: str, advice: str) -> FormatError:
            return FormatError(problem, file=source, advice=advice)

        names: dict[str, str] = {}
        for old, new in entries:
            if not isinstance(old, str) or not isinstance(new, str) or not old:
                advice = (
                    "write '' to drop the spans with this label" if old and new is None else "both are text"
                )
                raise refusal(f"the entry {old!r} is not a label and its name", advice)
            if old in names:
                raise refusal(f"the label {old!r} has two entries", "remove one")
            names[old] = new
        if OTHERS in names and list(names)[-1] != OTHERS:
            raise refusal(f"the entry {OTHERS!r} is not the last", "move it to the end")
        name_of_others = names.pop(OTHERS, None)
        if name_of_others not in (None, "", OTHERS):
            raise refusal(
                f"the entry {OTHERS!r} has the name {name_of_others!r}",
                f"{OTHERS!r} keeps all other labels, an empty name drops them",
            )
        return cls(names, name_of_others, sha, source, is_object)

    def new_name(self, label: str) -> str | None:
        """Return the new name of a label; empty: drop it; None: the map does not have it."""
        if label in self.names:
            return self.names[label]
        return label if self.others == OTHERS else self.others


def _entries(text: str, file: str) -> Iterator[tuple[Any, Any]]:
    """Yield the entries of a file, which is a JSON object or has a line for each."""
    if text.lstrip().startswith("{"):
        import json  # only maps that are given need it

        try:
            yield from json.loads(text, object_pairs_hook=list)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            raise FormatError("is not valid JSON", file=file, line=line, advice='{"FROM": "TO"}') from None
        return
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.strip(" "):
            if line.count("\t") != 1:
                raise FormatError(
                    f"the line has {line.count(chr(9))} tabs", file=file, line=number, advice="FROM<TAB>TO"
                )
            old, _, new = line.partition("\t")
            yield old.strip(), new.strip()


@dataclass(frozen=True)
class LabelMap(EachLabel):
    """A step that gives the labels of each side the names of its map (None: the labels stay).

    Notes count the spans of each side that were renamed and dropped.
    """

    gold: LabelNames | None
    predicted: LabelNames | None

    @property
    def signature(self) -> tuple[str, str]:
        if self.gold == self.predicted and self.gold is not None:
            return "labels", f"map({self.gold.sha})"
        return "labels", "+".join(f"{side}-map({names.sha})" for side, names in self._maps)

    @property
    def _maps(self) -> list[tuple[str, LabelNames]]:
        """The maps that there are, with their sides."""
        return [(side, names) for side in SIDES if (names := getattr(self, side)) is not None]

    @property
    def may_rename(self) -> bool:
        return any(
            names.others == "" or any(old != new for old, new in names.names.items())
            for _, names in self._maps
        )

    def _new_name(self, label: str | None, side: str) -> str | None:
        """Return the name that the map of a side has for a label; None: it has none."""
        names: LabelNames | None = getattr(self, side)
        return label if names is None or label is None else names.new_name(label)

    def renamed(self, label: str | None, side: str) -> str | None:
        new = self._new_name(label, side)
        return label if new is None else new

    def noted(
        self, labels: Iterable[str | None], side: str, *, dropped: bool, renamed: bool
    ) -> Iterator[Note]:
        for label in labels:
            if label is not None and self._new_name(label, side) is None:
                yield HIDDEN, side, label
        if dropped or renamed:
            yield side, "dropped" if dropped else "renamed"

    def check(self, notes: Notes) -> Iterator[str]:
        """Raise `UsageError` for labels that are not in the map of their side; yield that no span was changed."""
        for side, names in self._maps:
            missing = [
                f"{label!r} ({with_noun(number, 'spans')})"
                for label, number in hidden_names(notes, "labels", side).items()
            ]
            if missing:
                more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
                raise UsageError(
                    f"the label map has no entry for {', '.join(missing[:_LISTED])}{more} of {side}",
                    file=names.source,
                    advice='add them, or as the last entry "*": "*" (keep all others) or "*": "" (drop them)'
                    if names.is_object
                    else "add them, or end the map with * (a tab, then * to keep all others or nothing to drop them)",
                )
        if not any(notes.get(("labels", side, what)) for side in SIDES for what in ("renamed", "dropped")):
            files = dict.fromkeys(names.source for _, names in self._maps)
            yield f"the label map {' and '.join(files)} changes no span: names count as written"


# No labels


@dataclass(frozen=True)
class Untyped(EachLabel):
    """A step that gives every span the label ``_``, so that only positions are compared.

    Notes count the spans of each side.
    """

    @property
    def signature(self) -> tuple[str, str]:
        return "untyped", "yes"

    def renamed(self, label: str | None, side: str) -> str:
        return NO_LABEL


# Hierarchies

SEPARATOR = "."
"""Stands for the hierarchy of labels that hold their path."""


class Hierarchy(NamedTuple):
    """The parent of each name (None: it is at the top) and a hash; without names, labels hold their path."""

    parents: Mapping[str, str | None] | None
    sha: str

    @classmethod
    def of(cls, source: str | PathLike[str]) -> Hierarchy:
        """Return the hierarchy of a file, or of ``.``. Raises `CluevalError` for an invalid file."""
        if str(source) == SEPARATOR:
            return cls(None, SEPARATOR)
        file, text, sha = text_of_file(source, "hierarchy")
        parents: dict[str, str | None] = {}
        above: list[str] = []
        unit = 0  # the indentation of one level
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
                raise FormatError(
                    f"the name {name!r} occurs twice", file=file, line=number, advice="remove one"
                )
            parents[name] = above[depth - 1] if depth else None
            above[depth:] = [name]
        if not parents:
            raise FormatError(
                "the hierarchy has no names", file=file, advice="one name a line, children indented"
            )
        return cls(parents, sha)

    def path(self, label: str) -> list[str]:
        """Return the ancestors of a label from the top, and the label; of an unknown label only itself.

        >>> Hierarchy({"LOC": None, "city": "LOC"}, "").path("city"), Hierarchy(None, ".").path("LOC.city")
        (['LOC', 'city'], ['LOC', 'LOC.city'])
        """
        if self.parents is None:
            parts = label.split(SEPARATOR)
            return [SEPARATOR.join(parts[:n]) for n in range(1, len(parts) + 1)]
        path = [label]
        while (parent := self.parents.get(path[-1])) is not None:
            path.append(parent)
        return path[::-1]

    def holds(self, label: str) -> bool:
        """Return whether the label is in the hierarchy."""
        return self.parents is None or label in self.parents


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


@dataclass(frozen=True)
class Depth(EachLabel):
    """A step that replaces each label by its ancestor at a depth (1: the top); shallower labels stay.

    Notes count the spans of each side with a new label. Raises `UsageError` for a depth below 1.
    """

    hierarchy: Hierarchy
    depth: int

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise UsageError(
                f"depth must be from 1, not {self.depth}", advice="1 is the top of the hierarchy"
            )

    @property
    def signature(self) -> tuple[str, str]:
        return "depth", f"{self.depth}({self.hierarchy.sha})"

    def renamed(self, label: str | None, side: str) -> str | None:
        return None if label is None else self.hierarchy.path(label)[: self.depth][-1]

    def check(self, notes: Notes) -> Iterator[str]:
        """Yield that no label changes, if none does."""
        if not any(notes.get(("depth", side)) for side in SIDES):
            yield f"the hierarchy changes no label to one at depth {self.depth}: names count as written"


# Generic labels


@dataclass(frozen=True)
class Generic(EachPair):
    """A step for generic labels of predicted spans, such as ``PII``.

    A predicted span with one takes the label of the gold span that it overlaps. The label that it takes must be below
    the generic one in the hierarchy; if the generic one is in no hierarchy, any label will do. Of several gold spans
    the one with an equal range is taken, then the one with which most positions are shared, then the earliest; of
    spans in one place the first by label, the generic label last. Without such a span the generic label stays.

    Notes count, by label, the spans that took another label.
    """

    labels: tuple[str, ...]
    hierarchy: Hierarchy | None = None

    @property
    def signature(self) -> tuple[str, str]:
        sha = "" if self.hierarchy is None else f"({self.hierarchy.sha})"
        return "generic", ",".join(self.labels) + sha

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        pair = without_tags(pair)
        notes: Counter[Note] = Counter()
        layers: dict[str, list[Span]] = {}
        for layer, spans in pair.predicted.layers.items():
            gold, changed = pair.gold.layers.get(layer, ()), list(spans)
            numbers = [n for n, span in enumerate(spans) if span.by_layer.get(layer) in self.labels]
            around, _ = overlaps_between([spans[number] for number in numbers], gold)
            for number, overlapping in zip(numbers, around, strict=True):
                span = spans[number]
                label = str(span.by_layer[layer])
                taken = self._label(span, label, layer, [gold[gold_number] for gold_number in overlapping])
                notes[HIDDEN, "label", label] += 1
                notes[(label,)] += taken != label
                changed[number] = with_labels(span, {**span.by_layer, layer: taken})
            layers[layer] = changed
        yield with_notes(replace(pair, predicted=with_layers(pair.predicted, layers)), "generic", notes)

    def _label(self, span: Span, label: str, layer: str, around: Iterable[Span]) -> str:
        """Return the label that a span takes from the gold spans that it overlaps; its own without a suitable one."""
        any_will_do = self.hierarchy is None or not self.hierarchy.holds(label)
        ranked = []
        for gold_span in around:
            gold_label = gold_span.by_layer.get(layer)
            if gold_label is None or not (any_will_do or label in self.hierarchy.path(gold_label)):  # type: ignore[union-attr]
                continue
            gold_label = gold_label or label
            shared = shared_positions(gold_span, span)
            is_apart = gold_span.fragments != span.fragments
            ranked.append(
                (is_apart, -shared, gold_span.start, gold_span.end, gold_label == label, gold_label)
            )
        return min(ranked)[-1] if ranked else label

    def check(self, notes: Notes) -> Iterator[str]:
        """Yield which generic labels no span has."""
        for label in sorted(set(self.labels) - hidden_names(notes, "generic", "label").keys()):
            yield f"no predicted span has the generic label {label!r}: names count as written"
