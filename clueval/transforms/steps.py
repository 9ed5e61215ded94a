"""The steps that options ask for, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

from clueval.core.count import Step
from clueval.files.errors import UsageError
from clueval.transforms.alternatives import Alternatives, AnyOf, names_of_golds
from clueval.transforms.alternatives_table import AlternativesTable
from clueval.transforms.changes import names_of
from clueval.transforms.counted_spans import Fragments, IgnoredRegions, MinScore, ThresholdFile
from clueval.transforms.labels import Depth, Generic, Hierarchy, LabelMap, LabelNames, Untyped
from clueval.transforms.options import Preparing


def steps_of(options: Preparing, gold: Any = None, score_feature: str | None = None) -> tuple[Step, ...]:
    """Return the steps in the order in which they are applied.

    `gold` is the gold side, whose name is that of the first of several golds; `score_feature` the feature with the
    scores of predicted spans, for `min_score`. Raises `CluevalError` for invalid files.
    """
    return tuple(_in_turn(options, gold, score_feature))


def _in_turn(options: Preparing, gold: Any, score_feature: str | None) -> Iterator[Step]:
    tree = None if options.hierarchy is None else Hierarchy.of(options.hierarchy)
    if options.alternatives is not None:
        yield AlternativesTable.of(options.alternatives)
    yield from _maps(options)
    if options.depth is not None and tree is not None:
        yield Depth(tree, options.depth)
    if options.min_score is not None:
        yield _least_score(options.min_score, score_feature, options.same_data)
    if options.generic is not None:
        yield Generic(names_of(options.generic, "generic"), tree)
    if options.ignore_layer is not None or options.ignore_label is not None:
        labels = () if options.ignore_label is None else names_of(options.ignore_label, "ignore_label")
        yield IgnoredRegions(options.ignored_layers(), labels, options.ignored, options.ignore_same_label)
    if options.untyped:
        yield Untyped()
    yield Alternatives()
    if golds := options.golds():
        yield AnyOf(names_of_golds(gold, golds))
    if options.fragments != "keep":
        yield Fragments(options.fragments)


def _maps(options: Preparing) -> Iterator[Step]:
    if options.label_map is not None:
        names = LabelNames.of(options.label_map, "label_map")
        yield LabelMap(names, names)
    elif options.gold_map is not None or options.predicted_map is not None:
        yield LabelMap(
            None if options.gold_map is None else LabelNames.of(options.gold_map, "gold_map"),
            None if options.predicted_map is None else LabelNames.of(options.predicted_map, "predicted_map"),
        )


def _least_score(least: float | str | PathLike[str], feature: str | None, same_data: bool) -> Step:
    if not isinstance(least, int | float):
        return ThresholdFile.of(least).step(same_data=same_data)
    if feature is None:
        raise UsageError("min_score needs scores", advice="add score_feature")
    return MinScore(feature, float(least), f"{float(least):g}")
