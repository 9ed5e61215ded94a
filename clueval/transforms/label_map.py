"""Label maps: labels of one side or both get other names, and spans of labels without a name are left out.

A file has ``FROM<TAB>TO`` in each line, or is a JSON object; an empty TO drops the spans. A name that has been given
is not looked up again. A label that is not in the map is an error, unless the last entry is ``*``: ``*<TAB>*`` keeps
these labels, ``*<TAB>`` drops them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from clueval.exceptions import FileError, FormatError, UsageError
from clueval.spans.document import Document
from clueval.spans.span import NO_LABEL, Span
from clueval.textfiles import decoded
from clueval.transforms.group import Group
from clueval.transforms.names import HIDDEN, changed_labels, content_of, counted_names, sha8, with_labels

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
    try:
        found = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise FormatError("is not valid JSON", file=file, line=line, advice='{"FROM": "TO"}') from None
    return list(found)


class LabelMap:
    """A transform that gives the labels of each side the names of its map (None: the labels stay).

    `prepared` counts the spans of each side that were renamed and dropped.
    """

    def __init__(self, gold: LabelNames | None, predicted: LabelNames | None) -> None:
        self._maps = {"gold": gold, "predicted": predicted}
        if gold == predicted and gold is not None:
            choice = f"map({gold.sha})"
        else:
            choice = "+".join(f"{side}-map({each.sha})" for side, each in self._maps.items() if each)
        self.signature = ("labels", choice)
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        return replace(
            group, gold=self._mapped("gold", group.gold), predicted=self._mapped("predicted", group.predicted)
        )

    def _mapped(self, side: str, document: Document) -> Document:
        names = self._maps[side]
        if names is None:
            return document

        def change(span: Span, _: str) -> Span | None:
            new = {}
            for layer, label in span.by_layer.items():
                name = None if label is None else names.new_name(label)
                if label is not None and name is None:
                    self.prepared[HIDDEN, side, label] += 1
                new[layer] = label if name is None else name
            if "" in new.values():
                self.prepared[side, "dropped"] += 1
                return None
            changed = with_labels(span, new)
            self.prepared[side, "renamed"] += changed is not span
            return changed

        return changed_labels(document, change)

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


class Untyped:
    """A transform that gives every span the label ``_``, so that only positions are compared.

    `prepared` counts the spans of each side.
    """

    def __init__(self) -> None:
        self.signature = ("untyped", "yes")
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        return replace(
            group,
            gold=self._untyped("gold", group.gold),
            predicted=self._untyped("predicted", group.predicted),
        )

    def _untyped(self, side: str, document: Document) -> Document:
        def change(span: Span, _: str) -> Span:
            changed = with_labels(span, dict.fromkeys(span.by_layer, NO_LABEL))
            self.prepared[(side,)] += changed is not span
            return changed

        return changed_labels(document, change)
