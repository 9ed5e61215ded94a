"""Predicted spans that are only texts, as in some formats: they have no place, and stand beside the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from clueval.core.document import MENTION, UNPLACED, Document, Pair
from clueval.core.span import Span
from clueval.transforms.changes import EachPair, empty


def beside(lost: Mapping[str, Sequence[Span]], gold: Document, file: str | None) -> Iterator[Pair]:
    """Yield the pair of the spans without a place, beside the text of gold; nothing if there are none.

    The predicted document has the id and the unit of gold, and a text that is made of the texts of the mentions, one
    after another.
    """
    if not any(lost.values()):
        return
    words: list[str] = []
    layers: dict[str, list[Span]] = {}
    size = 0
    for layer, spans in lost.items():
        layers[layer] = []
        for span in spans:
            text = str(span.features.get(MENTION, "")).strip()
            tokens = (text.split() or [""]) if gold.unit == "token" else [text]
            length = len(tokens) if gold.unit == "token" else len(text)
            layers[layer].append(Span(size, size + length, span.labels, {MENTION: text}, line=span.line))
            words += tokens
            size += length + (gold.unit == "character")
    if gold.unit == "token":
        predicted = Document(gold.id, layers, tokens=words, file=file)
    else:
        predicted = Document(gold.id, layers, text="\n".join(words), unit="character", file=file)
    yield Pair(empty(gold), predicted, beside=True)


@dataclass(frozen=True)
class SetApart(EachPair):
    """A step that puts predicted spans that have no place, but only a text (`MENTION`), beside the text.

    Some formats have such spans among others, and say so in the metadata (`UNPLACED`). Nothing is said of the step,
    whose name is empty.
    """

    signature: ClassVar[tuple[str, str]] = ("", "")

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        predicted = pair.predicted
        if UNPLACED not in predicted.metadata:
            yield pair
            return
        layers = predicted.layers.items()
        lost = {layer: [span for span in spans if MENTION in span.features] for layer, spans in layers}
        if not any(lost.values()):
            yield pair
            return
        placed = {layer: [span for span in spans if MENTION not in span.features] for layer, spans in layers}
        yield replace(pair, predicted=replace(predicted, layers=placed))
        yield from beside(lost, replace(predicted, id=pair.gold.id), predicted.file)
