"""Which spans count: ignored regions, least scores, and what discontinuous spans become.

Ignored regions are positions where spans of both sides do not count: the gold spans of some layers, which are then not
scored, and the gold spans with some labels, which are then no gold spans; the latter are regions of their own layer
alone. A gold span that lies wholly in the regions leaves the count. A predicted span leaves it

* ``inside``: if it lies wholly in the regions, so that one that sticks out is judged;
* ``touching``: if it has any ignored position and no counted gold span has the same fragments, which is spaCy's
  rule for tokens without annotation.

Labels of predicted spans play no part, unless they are compared with those of the regions (PASCAL VOC's *difficult*).

Predicted spans with a score below a threshold, or that of a file, do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from clueval.core.ranges import Regions
from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError
from clueval.spans.document import Document
from clueval.spans.features import number_of
from clueval.transforms.group import (
    HIDDEN,
    Changes,
    EachSpan,
    Group,
    counted_names,
    with_layers,
)


class Fragments(EachSpan):
    """A transform that leaves no discontinuous span.

    The `choice` ``split`` makes each fragment a span, which shows what is masked; ``hull`` makes one span from the
    start to the end. ``keep``, the default, needs no transform: each metric says what it does with fragments.

    `prepared` counts the discontinuous spans of each side.
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        super().__init__("fragments", choice, ("gold",), ("predicted",))

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        if span.parts is None:
            return [span]
        self.prepared[(side,)] += 1
        pieces = span.parts if self._choice == "split" else [(span.start, span.end)]
        return [replace(span, start=start, end=end, parts=None) for start, end in pieces]


class IgnoredRegions:
    """A transform that leaves out the spans in ignored regions.

    `prepared` counts the gold spans and predicted spans that leave the count, and the positions of the regions.
    """

    def __init__(
        self, layers: tuple[str, ...], labels: tuple[str, ...], mode: str = "inside", same_label: bool = False
    ) -> None:
        self._layers, self._labels, self._mode, self._same_label = layers, labels, mode, same_label
        names = [*(f"layer={name}" for name in layers), *labels, *(["same-label"] if same_label else [])]
        self.signature = ("ignored", f"{mode}({','.join(names)})")
        self.prepared: Changes = Counter({("gold",): 0, ("predicted",): 0, ("positions",): 0})

    def __call__(self, group: Group) -> Group:
        everywhere = self._of_layers(group.gold)
        gold, predicted = self._without(group.gold), self._without(group.predicted)
        every = list(everywhere)
        for layer in dict.fromkeys([*gold.layers, *predicted.layers]):
            own, other = gold.layers.get(layer, ()), predicted.layers.get(layer, ())
            ranges = self._of_labels(own, layer)
            every += [one for several in ranges.values() for one in several]
            counted, judged = self._counted(list(own), list(other), layer, everywhere, ranges)
            gold = with_layers(gold, {layer: counted}) if layer in gold.layers else gold
            predicted = with_layers(predicted, {layer: judged}) if layer in predicted.layers else predicted
            self.prepared[("gold",)] += len(own) - len(counted)
            self.prepared[("predicted",)] += len(other) - len(judged)
        self.prepared[("positions",)] += Regions(every).positions
        return replace(group, gold=gold, predicted=predicted)

    def _of_layers(self, gold: Document) -> list[tuple[int, int]]:
        """The ranges of the layers whose spans are regions."""
        found: list[tuple[int, int]] = []
        for layer in self._layers:
            if layer in gold.layers:
                self.prepared[HIDDEN, "layer", layer] += 1
                found += [part for span in gold.layers[layer] for part in span.fragments]
        return found

    def _of_labels(self, spans: Any, layer: str) -> dict[str, list[tuple[int, int]]]:
        """The ranges of the gold spans with labels that are ignored, by label."""
        found: dict[str, list[tuple[int, int]]] = {}
        for span in spans if self._labels else ():
            label = span.by_layer.get(layer)
            if label in self._labels:
                self.prepared[HIDDEN, "label", label] += 1
                found.setdefault(label, []).extend(span.fragments)
        return found

    def _counted(
        self,
        gold: list[Span],
        predicted: list[Span],
        layer: str,
        everywhere: list[tuple[int, int]],
        ranges: Mapping[str, list[tuple[int, int]]],
    ) -> tuple[list[Span], list[Span]]:
        if not everywhere and not ranges:
            return gold, predicted
        together = Regions([*everywhere, *(one for several in ranges.values() for one in several)])
        if self._same_label:
            alone = Regions(everywhere)
            of_label = {label: Regions([*everywhere, *several]) for label, several in ranges.items()}
        else:
            alone, of_label = together, {}

        def regions(span: Span) -> Regions:
            return of_label.get(span.by_layer.get(layer) or "", alone)

        counted = [
            span for span in gold if span.by_layer.get(layer) not in ranges and not regions(span).hold(span)
        ]
        if self._mode == "inside":
            return counted, [span for span in predicted if not regions(span).hold(span)]
        places = {span.fragments for span in counted}
        return counted, [
            span for span in predicted if span.fragments in places or not regions(span).touch(span)
        ]

    def _without(self, document: Document) -> Document:
        if not any(layer in document.layers for layer in self._layers):
            return document
        kept = {layer: spans for layer, spans in document.layers.items() if layer not in self._layers}
        tags = {layer: tags for layer, tags in document.tags.items() if layer not in self._layers}
        return replace(document, layers=kept, tags=tags)

    def check(self, prepared: Mapping[tuple[Any, ...], int]) -> None:
        """Raise `UsageError` for a label or layer that no gold document has."""
        for kind, names in (("layer", self._layers), ("label", self._labels)):
            found = counted_names(prepared, kind)
            for name in names:
                if name not in found:
                    what = f"layer {name!r}" if kind == "layer" else f"span with the label {name!r}"
                    raise UsageError(
                        f"gold has no {what} to ignore",
                        advice=f"check Preparing.ignore_{kind}; names count as written",
                    )


def score_of(span: Span, feature: str, document: Document) -> float:
    """Return the score of a predicted span. Raises `UsageError` for a score that is missing or no finite number."""
    value = span.features.get(feature)
    number = number_of(value)
    if number is None:
        problem = "has no score" if value is None else "has no number as its score"
        raise UsageError(
            f"the predicted span {name_of(span)} {problem} {feature!r}",
            **document.in_errors,
            line=span.line,
            advice="every predicted span needs a finite number in this feature",
        )
    return number


class MinScore(EachSpan):
    """A transform that leaves out predicted spans below a threshold: one for all, or one for each label.

    `prepared` counts the spans that stay and those that are left out.
    """

    sides = ("predicted",)

    def __init__(self, feature: str, thresholds: float | Mapping[str, float], says: str) -> None:
        self._feature, self._thresholds = feature, thresholds
        super().__init__("min-score", says, ("kept",), ("left_out",))

    def changed(self, span: Span, layer: str, side: str, document: Document) -> Iterable[Span]:
        keeps = score_of(span, self._feature, document) >= self._of(span, layer, document)
        self.prepared[("kept",) if keeps else ("left_out",)] += 1
        return [span] if keeps else []

    def _of(self, span: Span, layer: str, document: Document) -> float:
        if not isinstance(self._thresholds, Mapping):
            return self._thresholds
        label = span.by_layer.get(layer)
        if label not in self._thresholds:
            raise UsageError(
                f"the label of the predicted span {name_of(span)} has no threshold",
                **document.in_errors,
                line=span.line,
                advice=f"labels with thresholds: {', '.join(self._thresholds)}",
            )
        return self._thresholds[str(label)]
