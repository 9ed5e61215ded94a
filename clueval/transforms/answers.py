"""Inline answers: texts with tags, as language models give them back, aligned with the text of gold.

The text without its tags need not be that of gold: it is projected as `clueval.transforms.projection` says. A span
without a place becomes one of `Group.unplaced`, which counts as a false positive.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from clueval.spans.document import Document
from clueval.spans.mention import MENTION, UNPARSABLE
from clueval.spans.span import Frozen, Span
from clueval.transforms.group import Group
from clueval.transforms.locating import COUNTED, unplaced_document
from clueval.transforms.names import LOCATED
from clueval.transforms.projection import project


class InlineAnswers:
    """A transform that moves the spans of predicted to the text of gold.

    `prepared` has the numbers of `Locating`: spans with a place are ``exact``, the others ``unlocatable``, and tags
    that were left out ``unparsable``.
    """

    def __init__(self, max_cells: int) -> None:
        self._max_cells = max_cells
        self.signature = (LOCATED, "aligned")
        self.prepared: Counter[tuple[Any, ...]] = Counter({(name,): 0 for name in COUNTED})

    def __call__(self, group: Group) -> Group:
        gold, answer = group.gold, _trimmed(group.predicted)
        projection = project(gold, answer, max_cells=self._max_cells)
        lost = {
            layer: [
                replace(span, features=Frozen({**span.features, MENTION: answer.text_of(span)}))
                for span in spans
            ]
            for layer, spans in projection.lost.items()
        }
        self.prepared[("exact",)] += sum(map(len, projection.document.layers.values()))
        self.prepared[("unlocatable",)] += len(projection.unprojected)
        self.prepared[("unparsable",)] += int(answer.metadata.get(UNPARSABLE, "0"))
        unplaced = unplaced_document(lost, gold, answer.file)
        return replace(group, predicted=projection.document, unplaced=unplaced)


def _trimmed(document: Document) -> Document:
    """Return the document without white space at the edges of its spans."""

    def trim(span: Span) -> Span:
        text = document.text_of(span)
        inner = text.strip()
        if not inner or inner == text or span.parts is not None:
            return span
        start = span.start + len(text) - len(text.lstrip())
        return replace(span, start=start, end=start + len(inner))

    return replace(
        document, layers={layer: list(map(trim, spans)) for layer, spans in document.layers.items()}
    )
