"""The steps that options ask for, in their order, and what is said of them: notes, choices, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

from clueval.core.count import Step
from clueval.files.errors import UsageError
from clueval.second.transforms.alternatives import Alternatives, AnyOf, names_of_golds
from clueval.second.transforms.alternatives_table import AlternativesTable
from clueval.second.transforms.changes import names_of
from clueval.second.transforms.counted_spans import Fragments, IgnoredRegions, MinScore, ThresholdFile
from clueval.second.transforms.labels import Depth, Generic, Hierarchy, LabelMap, LabelNames, Untyped

Path = str | PathLike[str]


def steps_of(
    *,
    gold: Any = None,
    alternatives: Path | None = None,
    label_map: Path | Mapping[str, str] | None = None,
    gold_map: Path | Mapping[str, str] | None = None,
    predicted_map: Path | Mapping[str, str] | None = None,
    hierarchy: Path | None = None,
    depth: int | None = None,
    min_score: float | Path | None = None,
    score_feature: str | None = None,
    same_data: bool = False,
    generic: str | Iterable[str] | None = None,
    ignore_layer: str | Iterable[str] | None = None,
    ignore_label: str | Iterable[str] | None = None,
    ignored: str = "inside",
    ignore_same_label: bool = False,
    untyped: bool = False,
    any_of: Path | Iterable[Any] | None = None,
    fragments: str = "keep",
) -> tuple[Step, ...]:
    """Return the steps in the order in which they are applied.

    Args:
        gold: the gold side, whose name is that of the first of several golds.
        alternatives: a table of other acceptable spans (`alternatives_table`).
        label_map: new names of the labels of both sides: a file (`labels`) or a dictionary.
        gold_map, predicted_map: the same for one side.
        hierarchy: a file with the hierarchy of the labels (`labels`), or ``.`` if labels hold their path.
        depth: labels below this depth of the hierarchy become their ancestor there; the top has depth 1.
        min_score: predicted spans with a lower score do not count: a number, or a file of ``clueval threshold``.
        score_feature: the feature with the scores, if `min_score` is a number.
        same_data: the threshold is used on the data for which it was chosen; the signature says so.
        generic: predicted labels that count as the label of the gold span that they overlap.
        ignore_layer: layers of gold whose spans are regions in which nothing counts.
        ignore_label: gold spans with these labels are such regions.
        ignored: predicted spans that do not count: those ``inside`` the regions, or those ``touching`` them.
        ignore_same_label: only predicted spans with the label of the region do not count.
        untyped: every label becomes ``_``.
        any_of: other golds of the same documents: of each document the nearest one counts.
        fragments: what discontinuous spans become: ``keep``, ``split`` or ``hull``.

    Raises `UsageError` for options that do not go together, `CluevalError` for invalid files.
    """
    tree = _hierarchy(hierarchy, depth, generic)
    steps: list[Step] = []
    if alternatives is not None:
        steps.append(AlternativesTable.of(alternatives))
    steps += _maps(label_map, gold_map, predicted_map)
    if depth is not None and tree is not None:
        steps.append(Depth(tree, depth))
    steps += _least_score(min_score, score_feature, same_data)
    if generic is not None:
        steps.append(Generic(names_of(generic, "generic"), tree))
    steps += _regions(ignore_layer, ignore_label, ignored, ignore_same_label)
    if untyped:
        steps.append(Untyped())
    steps.append(Alternatives())
    if golds := _golds(any_of):
        steps.append(AnyOf(names_of_golds(gold, golds)))
    if fragments != "keep":
        steps.append(Fragments(fragments))
    return tuple(steps)


def _hierarchy(given: Path | None, depth: int | None, generic: object) -> Hierarchy | None:
    if depth is not None and given is None:
        raise UsageError("depth needs a hierarchy", advice="add hierarchy")
    if given is None:
        return None
    if depth is None and generic is None:
        raise UsageError("hierarchy alone changes nothing", advice="add depth or generic")
    return Hierarchy.of(given)


def _maps(both: Any, gold: Any, predicted: Any) -> Iterator[Step]:
    if both is not None:
        if gold is not None or predicted is not None:
            raise UsageError(
                "label_map is for both sides, so it cannot be used with a map for one side",
                advice="use gold_map and predicted_map",
            )
        names = LabelNames.of(both, "label_map")
        yield LabelMap(names, names)
    elif gold is not None or predicted is not None:
        yield LabelMap(
            None if gold is None else LabelNames.of(gold, "gold_map"),
            None if predicted is None else LabelNames.of(predicted, "predicted_map"),
        )


def _least_score(least: float | Path | None, feature: str | None, same_data: bool) -> Iterator[Step]:
    is_file = least is not None and not isinstance(least, int | float)
    if same_data and not is_file:
        raise UsageError("same_data is for a file of thresholds", advice="add min_score")
    if isinstance(least, int | float):
        if feature is None:
            raise UsageError("min_score needs scores", advice="add score_feature")
        yield MinScore(feature, float(least), f"{float(least):g}")
    elif least is not None:
        yield ThresholdFile.of(least).step(same_data=same_data)


def _regions(
    layers: str | Iterable[str] | None, labels: str | Iterable[str] | None, mode: str, same_label: bool
) -> Iterator[Step]:
    if same_label and labels is None:
        raise UsageError("ignore_same_label needs labels", advice="add ignore_label")
    if layers is None and labels is None:
        if mode != "inside":
            raise UsageError("ignored needs regions", advice="add ignore_label or ignore_layer")
        return
    yield IgnoredRegions(
        () if layers is None else names_of(layers, "ignore_layer"),
        () if labels is None else names_of(labels, "ignore_label"),
        mode,
        same_label,
    )


def _golds(given: Path | Iterable[Any] | None) -> list[Any]:
    """Return the other golds."""
    if given is None:
        return []
    return [given] if isinstance(given, str | PathLike) else list(given)
