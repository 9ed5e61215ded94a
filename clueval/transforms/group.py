"""The parallel documents of one text, and the interface of transforms, which change them before counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from clueval.spans.document import Document
from clueval.spans.span import Span


@dataclass(frozen=True, slots=True)
class Group:
    """The documents of one text: gold, predicted, and further ones, such as those of other annotators.

    `unplaced` has predicted spans without a place in the text, in a text of their own: each counts as spurious.
    `golds` are other golds, of which, with `gold`, the nearest one counts (`clueval.transforms.preparation`).
    `lost` has the spans of gold and predicted, by layer, that have no place in the positions of the documents: they
    are counted, but match nothing.
    """

    gold: Document
    predicted: Document
    further: tuple[Document, ...] = ()
    unplaced: Document | None = None
    golds: tuple[Document, ...] = ()
    lost: tuple[Mapping[str, Sequence[Span]], ...] = ()


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
