"""Which layers of a document have mentions, and which have masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clueval.exceptions import UsageError
from clueval.metrics.metric import Side
from clueval.spans.span import Span

EVERY = "all"
"""The setting that means all layers."""

Layers = Mapping[str, Sequence[Span]]

ChosenSpans = tuple[Sequence[Span], Sequence[bool] | None]
"""Spans, and whether each is counted (None: all are)."""


class LayerChoice(NamedTuple):
    """The settings that name layers: those of the classes, of the entities, of the annotators, of the masks."""

    classes: str
    entities: str
    annotators: tuple[str, ...]
    masks: tuple[str, ...]

    def of_mentions(self, layers: Mapping[str, object]) -> list[str]:
        """Return the layers less those of the classes and of the entities, unless there is no other."""
        found = [name for name in layers if name not in (self.classes, self.entities)]
        return found or list(layers)

    def views(self, layers: Layers, gold: Side) -> dict[str, ChosenSpans] | None:
        """Return the gold spans by annotator; None if the sequence is no sequence of mentions."""
        if self.annotators:
            names = self.of_mentions(layers) if self.annotators == (EVERY,) else self.annotators
            return {name: (layers[name], None) for name in names if name in layers}
        name = gold.sequence
        if name is not None and name not in layers and self.of_mentions(layers):
            return None
        if name in (self.classes, self.entities) and name not in self.of_mentions(layers):
            return None
        return {name or "": (gold.spans, gold.counted)}

    def masking(self, layers: Layers, predicted: Side, sequence: str | None) -> ChosenSpans:
        """Return the predicted spans that mask. Raises `UsageError` if several layers may and none is named."""
        if self.masks:
            return _of_all(layers, list(layers) if self.masks == (EVERY,) else self.masks), None
        if predicted.spans or sequence is None or (sequence in layers and not self.annotators):
            return predicted.spans, predicted.counted
        names = self.of_mentions(layers)
        if len(names) > 1:
            raise UsageError(
                f"the predicted side has the layers {', '.join(map(repr, names))}, and none of them is {sequence!r}",
                advice="name the layers that mask as Masking.masks",
            )
        return _of_all(layers, names), None


def _of_all(layers: Layers, names: Sequence[str]) -> Sequence[Span]:
    if len(names) == 1:
        return layers.get(names[0], ())
    return [span for name in names for span in layers.get(name, ())]
