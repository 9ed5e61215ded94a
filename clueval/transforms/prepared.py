"""The transforms that change the spans of documents before they are counted, made from the options for them.

Ignored regions are positions where spans of both sides do not count: the gold spans of some layers, which are then not
scored, and the gold spans with some labels, which are then no gold spans; the latter are regions of their own layer
alone. A gold span that lies wholly in the regions leaves the count. A predicted span leaves it

* ``inside``: if it lies wholly in the regions, so that one that sticks out is judged;
* ``touching``: if it has any ignored position and no counted gold span has the same fragments, which is spaCy's
  rule for tokens without annotation.

Labels of predicted spans play no part, unless they are compared with those of the regions (PASCAL VOC's *difficult*).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.ranges import Regions
from clueval.spans.span import Span
from clueval.transforms.group import Group, Transform
from clueval.transforms.names import HIDDEN, counted_names, names_of, with_layers
from clueval.transforms.preparing import Preparing

if TYPE_CHECKING:
    from clueval.transforms.hierarchy import Hierarchy


def transforms_of(
    options: Preparing, gold: Any = None, score_feature: str | None = None
) -> tuple[Transform, ...]:
    """Return the transforms in the order in which they are applied, for this gold side.

    `score_feature` is the feature with the scores of predicted spans, for `min_score`. Raises `CluevalError` for
    invalid files.
    """
    return tuple(_in_turn(options, gold, score_feature))


def _in_turn(options: Preparing, gold: Any, score_feature: str | None) -> Iterator[Transform]:
    if options.alternatives is not None:
        from clueval.transforms.alternatives_table import AlternativesTable

        yield AlternativesTable(options.alternatives)
    yield from _of_labels(options)
    if options.min_score is not None:
        yield _of_scores(options, options.min_score, score_feature)
    for side, labels in (("predicted", options.generic), ("gold", options.generic_gold)):
        if labels is not None:
            from clueval.transforms.hierarchy import Generic

            option = "generic" if side == "predicted" else "generic_gold"
            yield Generic(side, names_of(labels, option), _hierarchy(options))
    if options.ignore_layer is not None or options.ignore_label is not None:
        given = () if options.ignore_label is None else options.ignore_label
        labels = names_of(given, "Preparing.ignore_label")
        yield IgnoredRegions(options.ignored_layers(), labels, options.ignored, options.ignore_same_label)
    if options.untyped:
        from clueval.transforms.label_map import Untyped

        yield Untyped()
    if golds := options.golds():
        from clueval.transforms.preparation import AnyOf, names_of_golds

        yield AnyOf(names_of_golds(gold, golds))
    if options.fragments != "keep":
        yield Fragments(options.fragments)


def _hierarchy(options: Preparing) -> Hierarchy | None:
    if options.hierarchy is None:
        return None
    from clueval.transforms.hierarchy import Hierarchy

    return Hierarchy.of(options.hierarchy)


def _of_labels(options: Preparing) -> Iterator[Transform]:
    maps = {
        "gold_map": options.gold_map if options.label_map is None else options.label_map,
        "predicted_map": options.predicted_map if options.label_map is None else options.label_map,
    }
    if any(each is not None for each in maps.values()):
        from clueval.transforms.label_map import LabelMap, LabelNames

        gold, predicted = (
            None if given is None else LabelNames.of(given, "label_map" if options.label_map else name)
            for name, given in maps.items()
        )
        yield LabelMap(gold, predicted)
    hierarchy = _hierarchy(options)
    if options.depth is not None and hierarchy is not None:
        from clueval.transforms.hierarchy import Depth

        yield Depth(hierarchy, options.depth)
    if options.by_depth and hierarchy is not None:
        from clueval.transforms.hierarchy import EachDepth

        yield EachDepth(hierarchy)


def _of_scores(options: Preparing, least: float | str | Path, feature: str | None) -> Transform:
    from clueval.transforms.min_score import MinScore

    found = options.threshold_file()
    if found is not None:
        return MinScore(found.score_feature, found.threshold, found.says(same_data=options.same_data))
    if feature is None:
        raise UsageError("Preparing.min_score needs scores", advice="add Counting.score_feature")
    return MinScore(feature, float(least), f"{float(least):g}")  # type: ignore[arg-type]  # no path


class Fragments:
    """A transform that leaves no discontinuous span.

    The `choice` ``split`` makes each fragment a span, which shows what is masked; ``hull`` makes one span from the
    start to the end. ``keep``, the default, needs no transform: each metric says what it does with fragments.

    `prepared` counts the discontinuous spans of each side.
    """

    def __init__(self, choice: str) -> None:
        self._choice = choice
        self.signature = ("fragments", choice)
        self.prepared: Counter[tuple[Any, ...]] = Counter({("gold",): 0, ("predicted",): 0})

    def __call__(self, group: Group) -> Group:
        return replace(
            group,
            gold=self._continuous("gold", group.gold),
            predicted=self._continuous("predicted", group.predicted),
        )

    def _continuous(self, side: str, document: Document) -> Document:
        layers: dict[str, list[Span]] = {}
        for layer, spans in document.layers.items():
            found = sum(span.parts is not None for span in spans)
            if found:
                self.prepared[(side,)] += found
                layers[layer] = [piece for span in spans for piece in self._pieces(span)]
        return with_layers(document, layers)

    def _pieces(self, span: Span) -> Iterator[Span]:
        if span.parts is None:
            yield span
            return
        for start, end in span.parts if self._choice == "split" else [(span.start, span.end)]:
            yield replace(span, start=start, end=end, parts=None)


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
        self.prepared: Counter[tuple[Any, ...]] = Counter(
            {("gold",): 0, ("predicted",): 0, ("positions",): 0}
        )

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
        """The spans of both sides that still count."""
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
        """The document without the layers whose spans are regions."""
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
