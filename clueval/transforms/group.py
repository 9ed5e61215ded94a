"""The parallel documents of one text, and what changes them before they are counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

from clueval.spans.document import Document


@dataclass(frozen=True, slots=True)
class Group:
    """The documents of one text: gold, predicted, and further ones, such as a reference or other annotators."""

    gold: Document
    predicted: Document
    further: tuple[Document, ...] = ()


class Transform(Protocol):
    """Changes every group before anything is merged, filtered or counted, and says so in the signature.

    A transform is called once for each group, in the order of the documents; it may read all documents of the
    group. `prepared` is all that it remembers: an evaluation works with copies, one in each process, and what the
    copies have counted is added.
    """

    @property
    def signature(self) -> tuple[str, str]:
        """Its name, which no other transform has, and its choice: ``("fragments", "split")``."""
        ...

    @property
    def prepared(self) -> Counter[tuple[Any, ...]]:
        """What it has changed, as a tally that only grows."""
        ...

    def __call__(self, group: Group) -> Group: ...
