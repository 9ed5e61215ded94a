"""The options that change the spans of documents before they are counted, and the steps that they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.count import Step
from clueval.files.errors import UsageError
from clueval.files.options import input_path, number, option_field, require_types, whole

if TYPE_CHECKING:
    from clueval.transforms.counted_spans import ThresholdFile
    from clueval.transforms.occurrences import LocationSteps


def number_or_path(text: str) -> float | Path:
    """Return a number, or the path of a file. Raises `ValueError` for infinity and what is not a number."""
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return number(text)
    try:
        return number(text)
    except ValueError:
        return input_path(text)


def _label_map(text: str) -> str | Path:
    """Return a label map as it is written, or the path of its file."""
    from clueval.transforms.labels import is_written  # only where labels change

    return text if is_written(text) else input_path(text)


FREE, FIRST, ALL = "free", "first", "all"
OCCURRENCES = (FREE, FIRST, ALL)
"""Which occurrences of a text the mentions of a language model take."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Preparing:
    """Changes to the spans of both sides before they are counted; every metric counts what these changes give.

    The help of each field says what it does. In Python, label maps may be dictionaries, lists of names lists, and
    `any_of` one gold or a list of golds, each in the form of gold.

    Raises `UsageError` for options that do not go together.
    """

    TOPIC: ClassVar[str] = "spans"

    label_map: str | Path | Mapping[str, str] | None = option_field(
        None,
        "MAP",
        "new names of the labels of both sides; an empty TO drops the spans: FROM=TO,..., which keeps other labels; "
        "or a file with a line FROM<TAB>TO for each, or a JSON object, where other labels are an error "
        "unless the last line is *<TAB>* (keep) or *<TAB> (drop)",
        parse=_label_map,
    )
    gold_map: str | Path | Mapping[str, str] | None = option_field(
        None, "MAP", "the same for the labels of gold", parse=_label_map
    )
    predicted_map: str | Path | Mapping[str, str] | None = option_field(
        None, "MAP", "the same for the labels of predicted", parse=_label_map
    )
    hierarchy: str | Path | None = option_field(
        None,
        "FILE",
        "the hierarchy of the labels: a name in each line, indented below its parent (brat's [entities] works); "
        "or . if labels hold their path, as LOC.city",
        parse=lambda text: text if text == "." else input_path(text),
    )
    depth: int | None = option_field(
        None,
        "N",
        "replace labels below depth N of the hierarchy by their ancestor there; the top has depth 1",
        parse=whole,
    )
    generic: str | Iterable[str] | None = option_field(
        None,
        "LABEL,...",
        "general labels: a predicted span with one takes the label of the gold span that it overlaps; if the "
        "hierarchy has the general label, only a label below it",
    )
    untyped: bool = option_field(False, None, "give every span the label _, so that only positions count")

    ignore_layer: str | Iterable[str] | None = option_field(
        None, "NAME,...", "layers of gold whose spans are regions in which no span counts"
    )
    ignore_label: str | Iterable[str] | None = option_field(
        None, "LABEL,...", "gold spans with these labels are regions in which no span counts"
    )
    ignored: str = option_field(
        "inside",
        "WHICH",
        "predicted spans that do not count: those wholly inside the regions, or those touching them (at any "
        "position, unless a counted gold span has the same fragments)",
        choices=("inside", "touching"),
    )
    ignore_same_label: bool = option_field(
        False, None, "with --ignore-label: only predicted spans with the label of the region do not count"
    )

    alternatives: str | Path | None = option_field(
        None,
        "FILE",
        "a table of spans that are as good as a gold span: document, start, end_inclusive, label; each belongs to "
        "the gold span that it overlaps most, or to the one that of_start and of_end_inclusive name",
        parse=input_path,
    )
    any_of: str | Path | Iterable[Any] | None = option_field(
        None,
        "FILE",
        "other golds of the same documents, as by several annotators: for each document, the gold with the fewest "
        "errors counts (GOLD if they are equal)",
        parse=input_path,
        several=True,
    )
    fragments: str = option_field(
        "keep",
        "HOW",
        "what discontinuous spans become: keep (the metric compares fragments), split (each fragment is a span) "
        "or hull (one span from start to end)",
        choices=("keep", "split", "hull"),
    )

    occurrence: str | None = option_field(
        None,
        "WHICH",
        "with --input mentions: where a mention is in the text: free (the first occurrence outside of the other "
        "mentions of the answer, longest text first), first (the first occurrence) or all (all occurrences)",
        choices=OCCURRENCES,
        default=FREE,
    )
    locate: str | Iterable[str] | None = option_field(
        None,
        "STEP,...",
        "with --input mentions: the steps in which mentions are looked for: exact, space (NFC, runs of white "
        "space as one), quotes (any form), case, fuzzy=0.9 (the most similar words; extra: align)",
        default="exact,space",
    )

    min_score: float | str | Path | None = option_field(
        None,
        "T",
        "leave out predicted spans with a lower score: a number, with --score-feature, or a file of clueval "
        "threshold",
        parse=number_or_path,
    )
    same_data: bool = option_field(
        False, None, "with --min-score FILE: use the threshold also on the gold for which it was chosen"
    )

    def __post_init__(self) -> None:
        if isinstance(self.min_score, Mapping) or hasattr(self.min_score, "threshold"):
            advice = "write the result of threshold to a file, with write('t.json'), and give its path"
            raise UsageError("min_score is a number or a file", advice=advice)
        require_types(self)
        if self.locate is not None:
            self.location_steps()
        maps = self.label_map, self.gold_map, self.predicted_map
        both, gold, predicted = (each is not None for each in maps)
        has_depth, has_tree = self.depth is not None, self.hierarchy is not None
        no_labels, no_layer = self.ignore_label is None, self.ignore_layer is None
        is_file = self.min_score is not None and not isinstance(self.min_score, int | float)
        for is_wrong, problem, advice in (
            (
                self.min_score is not None and self.min_score != self.min_score,
                "min_score is nan, and no score is at least nan",
                "give a number",
            ),
            (self.same_data and not is_file, "same_data is for a file of thresholds", "add min_score"),
            (
                both and (gold or predicted),
                "label_map is for both sides, so it cannot be used with a map for one side",
                "use gold_map and predicted_map",
            ),
            (has_depth and not has_tree, "depth=... needs a hierarchy", "add hierarchy=..."),
            (
                has_tree and not has_depth and self.generic is None,
                "hierarchy=... alone changes nothing",
                "add depth=... or generic=...",
            ),
            (self.ignore_same_label and no_labels, "ignore_same_label needs labels", "add ignore_label"),
            (
                self.ignored != "inside" and no_labels and no_layer,
                "ignored=... needs regions",
                "add ignore_label or ignore_layer",
            ),
        ):
            if is_wrong:
                raise UsageError(problem, advice=advice)

    def location_steps(self) -> LocationSteps:
        """Return the steps in which mentions are looked for. Raises `UsageError` for invalid ones."""
        from clueval.transforms.occurrences import LocationSteps  # few formats need it

        return LocationSteps.of() if self.locate is None else LocationSteps.of(self.locate)

    def require_no_answers(self) -> None:
        """Raise `UsageError` for an option that is for mentions."""
        for name in ("occurrence", "locate"):
            if getattr(self, name) is not None:
                raise UsageError(
                    f"{name}=... applies to predictions without positions",
                    advice="remove it, or read predicted with the format mentions",
                )

    def golds(self) -> list[Any]:
        """Return the other golds."""
        if self.any_of is None:
            return []
        return [self.any_of] if isinstance(self.any_of, str | PathLike) else list(self.any_of)

    def threshold_file(self) -> ThresholdFile | None:
        """Return the content of the file that `min_score` names. Raises `CluevalError` for an invalid file."""
        if not isinstance(self.min_score, str | PathLike):
            return None
        from clueval.transforms.counted_spans import ThresholdFile  # few options need it

        return ThresholdFile.of(self.min_score)

    def ignored_layers(self) -> tuple[str, ...]:
        """Return the layers whose spans are regions, which are not scored."""
        from clueval.transforms.changes import names_of  # few calls change spans

        return () if self.ignore_layer is None else names_of(self.ignore_layer, "ignore_layer")


def steps_of(options: Preparing, gold: Any = None, score_feature: str | None = None) -> tuple[Step, ...]:
    """Return the steps that options ask for, in the order in which they are applied.

    `gold` is the gold side, whose name is that of the first of several golds; `score_feature` the feature with the
    scores of predicted spans, for `min_score`. Raises `CluevalError` for invalid files.
    """
    # few calls change spans
    from clueval.transforms.alternatives import AlternativesTable, AnyOf, names_of_golds
    from clueval.transforms.changes import Alternatives, names_of
    from clueval.transforms.counted_spans import Fragments, IgnoredRegions, MinScore
    from clueval.transforms.labels import Depth, Generic, Hierarchy, LabelMap, LabelNames, Untyped

    steps: list[Step] = []
    tree = None if options.hierarchy is None else Hierarchy.of(options.hierarchy)
    if options.alternatives is not None:
        steps.append(AlternativesTable.of(options.alternatives))
    if options.label_map is not None:
        names = LabelNames.of(options.label_map, "label_map")
        steps.append(LabelMap(names, names))
    elif options.gold_map is not None or options.predicted_map is not None:
        gold_map, predicted_map = (
            None if label_map is None else LabelNames.of(label_map, name)
            for label_map, name in ((options.gold_map, "gold_map"), (options.predicted_map, "predicted_map"))
        )
        steps.append(LabelMap(gold_map, predicted_map))
    if options.depth is not None and tree is not None:
        steps.append(Depth(tree, options.depth))
    thresholds = options.threshold_file()
    if thresholds is not None:
        steps.append(thresholds.step(same_data=options.same_data))
    elif options.min_score is not None:
        if score_feature is None:
            raise UsageError("min_score needs scores", advice="add score_feature")
        least = float(options.min_score)  # type: ignore[arg-type]  # no path
        steps.append(MinScore(score_feature, least, f"{least}({score_feature})"))
    if options.generic is not None:
        steps.append(Generic(names_of(options.generic, "generic"), tree))
    if options.ignore_layer is not None or options.ignore_label is not None:
        labels = () if options.ignore_label is None else names_of(options.ignore_label, "ignore_label")
        steps.append(
            IgnoredRegions(options.ignored_layers(), labels, options.ignored, options.ignore_same_label)
        )
    if options.untyped:
        steps.append(Untyped())
    steps.append(Alternatives())
    if golds := options.golds():
        steps.append(AnyOf(names_of_golds(gold, golds)))
    if options.fragments != "keep":
        steps.append(Fragments(options.fragments))
    return tuple(steps)
