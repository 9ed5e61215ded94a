"""The transforms that change the spans of documents before they are counted, made from the options for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clueval.exceptions import UsageError
from clueval.transforms.group import Transform
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
    return (
        *_of_alternatives(options),
        *_of_labels(options),
        *_of_scores(options, score_feature),
        *_of_generic(options),
        *_of_regions(options),
        *_of_untyped(options),
        *_of_golds(options, gold),
        *_of_fragments(options),
    )


def _of_alternatives(options: Preparing) -> Iterator[Transform]:
    if options.alternatives is not None:
        from clueval.transforms.alternatives_table import AlternativesTable

        yield AlternativesTable(options.alternatives)


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


def _of_scores(options: Preparing, feature: str | None) -> Iterator[Transform]:
    if options.min_score is None:
        return
    from clueval.transforms.min_score import MinScore

    found = options.threshold_file()
    if found is not None:
        yield MinScore(found.score_feature, found.threshold, found.says(same_data=options.same_data))
        return
    if feature is None:
        raise UsageError("Preparing.min_score needs scores", advice="add Counting.score_feature")
    least = float(options.min_score)  # type: ignore[arg-type]  # no path
    yield MinScore(feature, least, f"{least:g}")


def _of_generic(options: Preparing) -> Iterator[Transform]:
    given: dict[str, Any] = {"predicted": options.generic, "gold": options.generic_gold}
    for side, labels in given.items():
        if labels is not None:
            from clueval.transforms.generic import Generic
            from clueval.transforms.names import names_of

            option = "generic" if side == "predicted" else "generic_gold"
            yield Generic(side, names_of(labels, option), _hierarchy(options))


def _of_regions(options: Preparing) -> Iterator[Transform]:
    if options.ignore_layer is None and options.ignore_label is None:
        return
    from clueval.transforms.ignored import IgnoredRegions
    from clueval.transforms.names import names_of

    labels = () if options.ignore_label is None else names_of(options.ignore_label, "Preparing.ignore_label")
    yield IgnoredRegions(options.ignored_layers(), labels, options.ignored, options.ignore_same_label)


def _of_fragments(options: Preparing) -> Iterator[Transform]:
    if options.fragments != "keep":
        from clueval.transforms.fragments import Fragments

        yield Fragments(options.fragments)


def _of_golds(options: Preparing, gold: Any) -> Iterator[Transform]:
    golds = options.golds()
    if golds:
        from clueval.transforms.any_of import AnyOf, names_of_golds

        yield AnyOf(names_of_golds(gold, golds))


def _of_untyped(options: Preparing) -> Iterator[Transform]:
    if options.untyped:
        from clueval.transforms.label_map import Untyped

        yield Untyped()
