"""The transforms that options ask for, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clueval.files.errors import UsageError
from clueval.transforms.alternatives import AlternativesTable, AnyOf, names_of_golds
from clueval.transforms.counted_spans import Fragments, IgnoredRegions, MinScore
from clueval.transforms.group import Transform, names_of
from clueval.transforms.labels import Depth, Generic, Hierarchy, LabelMap, LabelNames, Untyped


def transforms_of(options: Any, gold: Any = None, score_feature: str | None = None) -> tuple[Transform, ...]:
    """Return the transforms in the order in which they are applied, for this gold side.

    `score_feature` is the feature with the scores of predicted spans, for `min_score`. Raises `CluevalError` for
    invalid files.
    """
    return tuple(_in_turn(options, gold, score_feature))


def _in_turn(options: Any, gold: Any, score_feature: str | None) -> Iterator[Transform]:
    if options.alternatives is not None:
        yield AlternativesTable(options.alternatives)
    yield from _of_labels(options)
    if options.min_score is not None:
        yield _of_scores(options, options.min_score, score_feature)
    if options.generic is not None:
        yield Generic("predicted", names_of(options.generic, "generic"), _hierarchy(options))
    if options.ignore_layer is not None or options.ignore_label is not None:
        given = () if options.ignore_label is None else options.ignore_label
        labels = names_of(given, "Preparing.ignore_label")
        yield IgnoredRegions(options.ignored_layers(), labels, options.ignored, options.ignore_same_label)
    if options.untyped:
        yield Untyped()
    if golds := options.golds():
        yield AnyOf(names_of_golds(gold, golds))
    if options.fragments != "keep":
        yield Fragments(options.fragments)


def _hierarchy(options: Any) -> Hierarchy | None:
    if options.hierarchy is None:
        return None
    return Hierarchy.of(options.hierarchy)


def _of_labels(options: Any) -> Iterator[Transform]:
    maps = {
        "gold_map": options.gold_map if options.label_map is None else options.label_map,
        "predicted_map": options.predicted_map if options.label_map is None else options.label_map,
    }
    if any(each is not None for each in maps.values()):
        gold, predicted = (
            None if given is None else LabelNames.of(given, "label_map" if options.label_map else name)
            for name, given in maps.items()
        )
        yield LabelMap(gold, predicted)
    hierarchy = _hierarchy(options)
    if options.depth is not None and hierarchy is not None:
        yield Depth(hierarchy, options.depth)


def _of_scores(options: Any, least: float | str | Path, feature: str | None) -> Transform:
    found = options.threshold_file()
    if found is not None:
        step = found.step(same_data=options.same_data)
        return MinScore(step.feature, step.thresholds, step.says)
    if feature is None:
        raise UsageError("Preparing.min_score needs scores", advice="add Counting.score_feature")
    return MinScore(feature, float(least), f"{float(least):g}")  # type: ignore[arg-type]  # no path
