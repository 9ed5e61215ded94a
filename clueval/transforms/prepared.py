"""The transforms that change the spans of documents before they are counted, made from the options for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.transforms.group import Group, Transform
from clueval.transforms.names import names_of, with_layers
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
        from clueval.transforms.ignored import IgnoredRegions

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
