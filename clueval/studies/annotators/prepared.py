"""Changes to the spans of annotators before they are compared: those that `clueval.score` makes to each side alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from clueval.exceptions import UsageError
from clueval.options import field_names
from clueval.spans.document import Document
from clueval.studies.annotators.source import Group
from clueval.transforms.group import Group as Sides
from clueval.transforms.group import Transform
from clueval.transforms.preparation import Preparation, warn_without_effect
from clueval.transforms.preparing import Preparing

OPTIONS = ("label_map", "hierarchy", "depth", "untyped", "fragments")
"""The fields of `Preparing` that apply to annotators."""

OTHERS = tuple(name for name in field_names(Preparing) if name not in OPTIONS)
"""Those that are about gold and predicted."""


class PreparedGroups:
    """The documents of each text after the transforms; when all are made, `changes` has the numbers of changes.

    A key of `changes` is the name of a transform, and an annotator with what was changed.
    """

    def __init__(self, transforms: Sequence[Transform], names: Sequence[str]) -> None:
        self._names = names
        self._preparations = [Preparation(transforms) for _ in names]
        self.changes: Counter[tuple[str, str]] = Counter()

    def of(self, groups: Iterator[Group]) -> Iterator[Group]:
        """Yield the groups. Raises `UsageError` for labels that a map does not have."""
        for group in groups:
            pairs = zip(group, self._preparations, strict=True)
            yield tuple(None if each is None else _prepared(each, preparation) for each, preparation in pairs)
        for name, preparation in zip(self._names, self._preparations, strict=True):
            try:
                found = preparation.checked() or {}
            except UsageError as error:
                error.problem = error.problem.replace(" of gold", f" of {name}")
                raise
            for transform, tally in found.items():
                for key, number in tally.items():
                    if key[0] == "gold":  # the side on which the documents of annotators are
                        self.changes[transform, "/".join(map(str, (name, *key[1:])))] += number
        warn_without_effect(self._preparations)


def _prepared(document: Document, preparation: Preparation) -> Document:
    empty = replace(document, layers={}, tags={})
    return preparation(Sides(document, empty)).gold
