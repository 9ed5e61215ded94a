"""The metric `gate`: its settings, counts and scores, on cases and on documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar

from clueval.core.case import TOKENS, Case, Where
from clueval.core.count import WITHOUT_VALUE
from clueval.core.document import Document, Pair
from clueval.core.located import located
from clueval.core.metric import Counts, DocumentMetric, Metric, Sizes, Tally
from clueval.core.span import SIDES, Span
from clueval.files.errors import CluevalError, UsageError, described, shortened, warn
from clueval.files.options import require_beta, require_choices, require_texts, setting_field
from clueval.metrics.gate.counts import (
    ALL,
    CurvePoint,
    GateCounts,
    Path,
    add_changes,
    add_counts,
    average_precisions,
    changes_at,
    counts_at,
    curve,
    macro_report,
)
from clueval.metrics.gate.equality import (
    COMPARISONS,
    FeatureTest,
    TypeSpec,
    features_from_text,
    features_of_types,
    is_nil,
    java_string,
    parse_types,
    types_from_text,
)
from clueval.metrics.gate.pairing import (
    CONTAINMENTS,
    EVERY,
    PAIRINGS,
    ROUNDED,
    Evaluation,
    Thresholds,
    changes_of,
    evaluation,
    grid_of,
    in_order,
    kept_within,
    parse_thresholds,
    rounded,
    score_of,
    threshold_name,
)

ALL_RANKS = "all"
"""The name of the rank at which every candidate of a list is visible; as a setting: all ranks."""

RANKS: Mapping[str, tuple[int, ...]] = {
    "10": tuple(range(11)),
    "50": tuple(range(0, 51, 5)),
    "100": tuple(range(0, 101, 10)),
}
"""Eleven ranks from 0 up to 10, 50 or 100."""

_TEXTS = (
    *("score_feature", "nil", "containing", "unfiltered"),
    *("list_type", "edge_feature", "element_type"),
)
"""The settings that are names or values, if they are given."""


@dataclass(frozen=True, slots=True)
class Gate(Metric):
    """GATE's tagging evaluation. The help of each field says what it does; results go by the targets' names of types.

    Its tally has the keys that `clueval.metrics.gate.counts` describes, and the names of settings that occur:
    ``("seen", "all")`` annotations of the types, ``("seen", "gold type", type)``, ``("seen", "predicted type", type)``,
    ``("seen", "feature", feature)`` and ``("seen", "nil")``.

    Raises `UsageError` for invalid settings.
    """

    name: ClassVar[str] = "gate"
    zero: ClassVar[str] = "1 if both sides are empty"
    filters: ClassVar[str | None] = "use Gate.types and Gate.nil instead"
    of_lists: ClassVar[type[Gate]]
    """The class that counts candidate lists, which `clueval.metrics.gate.lists` sets."""

    types: tuple[str, ...] = setting_field(
        (),
        "evaluate these types (labels) only; B=C: gold's B against predicted's C",
        takes="types, or GOLD=PREDICTED, separated by commas",
        parse=types_from_text,
        default="all",
    )
    features: tuple[str, ...] = setting_field(
        (),
        "annotations match only if these features are equal, too; M[F,...]: those of gold annotations "
        "of type M only",
        takes="names separated by commas, or TYPE[NAME,...]",
        parse=features_from_text,
    )
    feature_comparison: str = setting_field(
        "equality",
        "when features are equal: equality (same kind and value), string (same when written as text) or "
        "subsumption (those that the gold annotation has are equal)",
        choices=COMPARISONS,
    )
    pairing: str = setting_field(
        "plugin",
        "how one gold span is paired with one predicted span where several overlap: plugin (the best pairs "
        "first, as GATE's plugin), by-response (each predicted span in turn takes its best gold span) or "
        "by-target (each gold span takes its best predicted span)",
        choices=PAIRINGS,
    )
    score_feature: str | None = setting_field(
        None,
        "the feature that holds the scores of predicted annotations, for figures at each threshold",
    )
    thresholds: Thresholds | None = setting_field(
        None,
        "with score_feature: all (scores that occur), rounded (the same to two decimals), 11, 21 or 51 "
        "(equal steps from 0 to 1), or numbers separated by commas",
        takes="all, rounded, 11, 21, 51 or numbers separated by commas",
        parse=parse_thresholds,
        default="all",
    )
    nil: str | None = setting_field(
        None,
        "leave out annotations whose first feature of features has this value ('': is missing)",
    )
    containing: str | None = setting_field(
        None,
        "count only within annotations of this set and type (other formats than gate-xml and bdoc: within "
        "the spans of this layer)",
    )
    containment: str = setting_field(
        "overlapping",
        "what within means for containing: overlapping one, in one (containing), or the same fragments "
        "(coextensive)",
        choices=CONTAINMENTS,
    )
    unfiltered: str | None = setting_field(
        None,
        "with containing: all gold annotations of this type count, because they are the containing annotations",
        default="TYPE of containing, if SET is gold's",
    )
    by: tuple[str, ...] = setting_field((), "also report the scores for each value of these features")
    beta: float = setting_field(1.0, "report F-beta, which weighs recall B times as much as precision")

    list_type: str | None = setting_field(
        None,
        "the type of the predicted annotations that are lists of candidates; the scores are then those of the best "
        "candidate of each list, and of the lists by score and by rank",
        later=True,
    )
    edge_feature: str | None = setting_field(
        None,
        "with list_type: the feature of a list that holds the ids of its candidates",
        later=True,
    )
    element_type: str | None = setting_field(
        None,
        "with list_type: the type of the candidates; others are ignored",
        default="any",
        later=True,
    )
    ranks: str = setting_field(
        ALL_RANKS,
        "with list_type: the ranks to report, all of them, or eleven up to 10, 50 or 100",
        choices=(ALL_RANKS, *RANKS),
        later=True,
    )

    def __new__(cls, *values: Any, **settings: Any) -> Gate:
        """Return a `GateLists`, or a `GateWithin`, which count documents, if `list_type` or `containing` is given."""
        every_setting = dict(zip((setting.name for setting in fields(cls)), values, strict=False)) | settings
        if cls is not Gate:
            return object.__new__(cls)
        if every_setting.get("list_type") is not None:
            return object.__new__(cls.of_lists)
        return object.__new__(cls if every_setting.get("containing") is None else GateWithin)

    def __post_init__(self) -> None:
        if isinstance(self.features, Mapping):
            object.__setattr__(self, "features", features_of_types(self.features))
        of_lists = self.edge_feature, self.element_type, self.ranks
        if self.list_type is None and of_lists != (None, None, ALL_RANKS):
            raise UsageError("candidate lists need Gate.list_type", advice="add it")
        require_texts(self, "Gate", "types", "features", "by")
        for name in _TEXTS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise UsageError(f"Gate.{name} must be text, not {described(value)}")
        parse_types(self.types)
        FeatureTest(self.features, self.feature_comparison)  # raises for names that cannot be
        require_choices(self, "Gate")
        if self.nil is not None and not self.features:
            raise UsageError(
                "Gate.nil needs a feature that has the value", advice="name it first in Gate.features"
            )
        if self.unfiltered is not None and self.containing is None:
            raise UsageError("Gate.unfiltered needs containing annotations", advice="add Gate.containing")
        require_beta(self.beta, "Gate.beta")
        if self.score_feature is not None:
            thresholds = EVERY if self.thresholds is None else parse_thresholds(self.thresholds)
            object.__setattr__(self, "thresholds", thresholds)
        elif self.thresholds is not None:
            raise UsageError(
                "Gate.thresholds needs scores",
                advice="name the feature that has the scores with Gate.score_feature",
            )

    @property
    def reads(self) -> frozenset[str]:
        """The features, and tokens for the order of spans that differ in features alone."""
        features = frozenset((*self.test.every, *self.by))
        return features | {TOKENS} if features else features

    @property
    def keeps(self) -> bool:
        return self.score_feature is None

    @property
    def test(self) -> FeatureTest:
        """The test of features."""
        return _test(self.features, self.feature_comparison)

    @property
    def specs(self) -> tuple[TypeSpec, ...]:
        """The types, as specifications."""
        return _specs(self.types)

    # Counting

    def count(self, case: Case) -> Tally:
        """Count a case; O(n log n) for n spans, plus the number of possible pairings.

        Raises `FormatError` for a response without a score if scores are needed, `LimitError` for too many possible
        pairings, `UsageError` for too many scores of annotations that overlap.
        """
        tally = self.evaluated(case)
        self.note_names(tally, case.gold, case.predicted)
        return tally

    def evaluated(self, case: Case) -> Tally:
        """Return the counts of the annotations of a case that are evaluated: all together, by type and by value."""
        tally: Tally = Tally()
        whole = self.evaluation_of(case)
        case, targets, responses = whole.case, whole.targets, whole.responses
        scores: dict[int, float] = {}
        if self.score_feature is not None:
            scores = {number: score_of(case.predicted[number], self.score_feature) for number in responses}
        kinds = {*targets.values(), *responses.values()}
        if len(kinds) == 1:  # all types are this one
            self._add(tally, [ALL, ("type", *kinds)], whole, scores)
        else:
            self._add(tally, [ALL], whole, scores)
            for kind, part in whole.parts(targets, responses):
                self._add(tally, [("type", kind)], part, scores)
        for feature in self.by:
            values = [
                {
                    number: WITHOUT_VALUE if value is None else java_string(value)
                    for number in numbers
                    for value in (spans[number].features.get(feature),)
                }
                for spans, numbers in ((case.gold, targets), (case.predicted, responses))
            ]
            for value, part in whole.parts(*values):
                add_counts(tally, ("by", feature, value), part.counts())
        return tally

    def evaluation_of(self, case: Case, kind: str | None = None) -> Evaluation:
        """Return the evaluation of the annotations of a case, of one type (its target name) or of all."""
        case, test = in_order(case), self.test
        targets, responses = (
            {number: name for number, name in self.kept(spans, names).items() if kind in (None, name)}
            for spans, names in zip((case.gold, case.predicted), _types_by_label(self.types), strict=True)
        )

        def equal(target: int, response: int) -> bool:
            name = targets[target]
            return name == responses[response] and test.agree(
                case.gold[target], case.predicted[response], name
            )

        return evaluation(case, targets, responses, equal, self.pairing)

    def annotations(self, pair: Pair, sequence: str, kind: str | None = None) -> list[Sequence[Span]]:
        """Return the targets and the responses of a pair that may be evaluated for one type, or for all."""
        return [side.layers.get(sequence, ()) for side in pair.sides]

    def kept(self, spans: Sequence[Span], names: Mapping[str, str]) -> dict[int, str]:
        """Return the types of the spans that are evaluated, by number; `names` are those of labels, empty: labels."""
        kinds = {}
        for number, span in enumerate(spans):
            kind = names.get(span.label) if names else span.label
            if kind is not None and (self.nil is None or not is_nil(span, self.test.every[0], self.nil)):
                kinds[number] = kind
        return kinds

    def _add(
        self, tally: Tally, paths: Sequence[Path], part: Evaluation, scores: Mapping[int, float]
    ) -> None:
        """Add the counts of an evaluation under some paths, and the changes that scores make."""
        counts = part.counts()
        changes = {} if self.thresholds is None else changes_of(part, counts, scores, self.thresholds)
        add_changes(tally, paths, changes)
        for path in paths:
            add_counts(tally, path, counts)
            if self.thresholds == ROUNDED:
                for threshold in {rounded(scores[number]) for number in part.responses}:
                    tally[(*path, "threshold", repr(threshold))] += 1

    # The names in the settings

    def note_names(self, tally: Tally, *sides: Iterable[Span]) -> None:
        """Count the spans of both sides with the named types (by label; none: all types), features and value."""
        test = self.test
        if not (self.types or test.every or self.by):
            return
        for side, names, spans in zip(SIDES, _types_by_label(self.types), sides, strict=True):
            of_types = [span for span in spans if not names or span.label in names]
            tally["seen", "all"] += len(of_types)
            wanted = {*names.values(), *test.by_type}
            kinds = [names.get(span.label, span.label) for span in of_types] if wanted else []
            tally.update(("seen", f"{side} type", kind) for kind in kinds if kind in wanted)
            for feature in (*test.every, *self.by):
                tally["seen", "feature", feature] += sum(feature in span.features for span in of_types)
            if self.nil is not None:
                tally["seen", "nil"] += sum(is_nil(span, test.every[0], self.nil) for span in of_types)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a type or feature in the settings that no annotation has.

        A type of one side, and the value that `nil` names, may be missing in a corpus, so that is a warning. Without
        annotations, features are not missed.
        """
        for spec in self.specs:
            numbers = [total["seen", f"{side} type", spec.target] for side in SIDES]
            if not any(numbers):
                raise UsageError(f"no annotation has the type {str(spec)!r}", advice="check Gate.types")
            for side, name, number in zip(SIDES, spec, numbers, strict=True):
                if spec.target != spec.response and not number:
                    warn(shortened(f"gate.types: no {side} annotation has the type {name!r}"))
        if not total["seen", "all"]:
            return
        for kind in self.test.by_type:
            if not total["seen", "gold type", kind]:
                raise UsageError(f"no gold annotation has the type {kind!r}", advice="check Gate.features")
        settings = dict.fromkeys(self.by, "Gate.by") | dict.fromkeys(self.test.every, "Gate.features")
        for feature, setting in settings.items():
            if not total["seen", "feature", feature]:
                raise UsageError(f"no annotation has the feature {feature!r}", advice=f"check {setting}")
        if self.nil is not None and not total["seen", "nil"]:
            feature, value = self.test.every[0], self.nil
            warn(shortened(f"gate.nil: no annotation has the value {value!r} in the feature {feature!r}"))

    # Results

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report: counts and measures of all types, of each, their macro average, by threshold.

        With thresholds there is also ``average_precision``, with a break-down ``by``.
        """
        points = self.curve(total)
        groups = self._groups(total, points)
        reports = {
            path: {name: counts.report(self.beta) for name, counts in of_path.items()}
            for path, of_path in groups.items()
        }
        report: dict[str, Any] = {
            "all": self.counts(total).report(self.beta),
            "per_type": reports["per_type"],
            "macro": macro_report(groups["per_type"].values(), self.beta),
            "thresholds": reports["thresholds"],
        }
        if points:
            report["average_precision"] = average_precisions(points)
        if self.by:
            report["by"] = {feature: reports[f"by.{feature}"] for feature in self.by}
        return report

    def _groups(self, total: Tally, points: Sequence[CurvePoint]) -> dict[str, dict[str, GateCounts]]:
        """Return the counts of each type, at each threshold and of each value, by their paths in the report."""
        groups = {
            "per_type": {kind: self.counts(total, kind) for kind in self.types_of(total)},
            "thresholds": {threshold_name(at): counts for at, counts in points},
        }
        for feature in self.by:
            values = sorted({key[2] for key in total if key[:2] == ("by", feature)})
            groups[f"by.{feature}"] = {value: counts_at(total, ("by", feature, value)) for value in values}
        return groups

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        """Return the strict counts of all types as ``all``, the lenient ones as ``all.lenient``, then those of others.

        The rates of these entries of the report follow from them, except those of 0/0. A share is the
        recall of the counts at its own path.
        """
        headlines = {}
        for path, counts in self._places(total).items():
            sizes = counts.targets, counts.responses
            headlines[path] = Counts(*sizes, counts.correct_strict, counts.correct_strict)
            headlines[f"{path}.lenient"] = Counts(*sizes, counts.correct_lenient, counts.correct_lenient)
            headlines[f"{path}.f{self.beta:g}_average"] = counts.average_f(self.beta)
            headlines |= {f"{path}.{name}": Counts(*of_share) for name, of_share in counts.shares().items()}
        return headlines

    def sizes(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Sizes]:
        """Return the targets and the responses of each entry, and for a share what it is a share of."""
        places = self._places(total)
        of_types = [counts for path, counts in places.items() if path.startswith("per_type.")]
        places["macro"] = sum(of_types, GateCounts())
        sizes: dict[str, Sizes] = {}
        for path, counts in places.items():
            sizes[path] = counts.targets, counts.responses
            sizes |= {f"{path}.{name}": (whole, whole) for name, (whole, *_) in counts.shares().items()}
        return sizes

    def _places(self, total: Tally) -> dict[str, GateCounts]:
        """Return the counts of all types, and those of each group, by their paths in the report.

        Those at thresholds that follow from the scores are no sums: not every score occurs in every unit.
        """
        places = {"all": self.counts(total)}
        is_grid = self.thresholds is not None and grid_of(self.thresholds) is not None
        for path, of_path in self._groups(total, self.curve(total) if is_grid else ()).items():
            places |= {f"{path}.{name}": counts for name, counts in of_path.items()}
        return places

    def types_of(self, total: Tally) -> list[str]:
        """Return the types as they were given or, by default, all that occurred in alphabetical order."""
        return [spec.target for spec in self.specs] or sorted({key[1] for key in total if key[0] == "type"})

    def counts(self, total: Tally, kind: str | None = None) -> GateCounts:
        """Return the counts of one type or of all."""
        return counts_at(total, ALL if kind is None else ("type", kind))

    def curve(self, total: Tally, kind: str | None = None) -> list[CurvePoint]:
        """Return the counts of one type or of all at every threshold, rising; none without scores."""
        if self.thresholds is None:
            return []
        path = ALL if kind is None else ("type", kind)
        changes = changes_at(total, path)
        wanted: Collection[float] | None = grid_of(self.thresholds)
        if self.thresholds == ROUNDED:
            wanted = {float(key[-1]) for key in total if key[:-1] == (*path, "threshold")}
        targets = self.counts(total, kind).targets
        return curve(changes, targets, changes.keys() if wanted is None else wanted)


@dataclass(frozen=True, slots=True)
class GateWithin(Gate, DocumentMetric):
    """GATE's evaluation of the annotations that lie within others: `Gate` with `containing`."""

    @property
    def within(self) -> str | None:
        return self.containing

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text.

        Annotations of the type `unfiltered` are all of this type; so are those of all types, if it is the only one.
        Raises `UsageError` for a document without the containing layer, and the errors of `Gate.count`.
        """
        tally: Tally = Tally()
        for pair in pairs:
            self.note_names(tally, *Gate.annotations(self, pair, sequence))
            inside = self._counts_of_spans(pair, sequence, self._inside(pair, sequence))
            if self.unfiltered is None:
                tally.update(inside)
                continue
            alone = self._counts_of_spans(pair, sequence, self._unfiltered_spans(pair, sequence))
            for counts, is_own in ((inside, False), (alone, True)):
                for key, number in counts.items():
                    of_type = key[:2] == ("type", self.unfiltered)
                    of_all = self._is_only_type(self.unfiltered) and key[0] in ("all", "type")
                    if (of_type or of_all) is is_own:
                        tally[key] += number
        return tally

    def annotations(self, pair: Pair, sequence: str, kind: str | None = None) -> list[Sequence[Span]]:
        only = self.unfiltered
        if only is not None and (kind == only or (kind is None and self._is_only_type(only))):
            return self._unfiltered_spans(pair, sequence)
        return self._inside(pair, sequence)

    def _is_only_type(self, name: str) -> bool:
        return [spec.target for spec in self.specs] == [name]

    def _inside(self, pair: Pair, sequence: str) -> list[Sequence[Span]]:
        """Return the annotations of both sides that lie within the containing ones."""
        return [self.inside(side, side.layers.get(sequence, ())) for side in pair.sides]

    def _unfiltered_spans(self, pair: Pair, sequence: str) -> list[Sequence[Span]]:
        """Return all targets of the type `unfiltered`, and its responses that lie within the containing ones."""
        only = str(self.unfiltered)
        response_type = {spec.target: spec.response for spec in self.specs}.get(only) if self.specs else only
        responses = self.inside(pair.predicted, pair.predicted.layers.get(sequence, ()))
        return [
            [span for span in pair.gold.layers.get(sequence, ()) if span.label == only],
            [span for span in responses if span.label == response_type],
        ]

    def inside(self, document: Document, spans: Sequence[Span]) -> Sequence[Span]:
        """Return the spans of a document that lie within its containing annotations."""
        if self.containing is None:
            return spans
        return kept_within(spans, self._containing_in(document), self.containment)

    def _containing_in(self, document: Document) -> Sequence[Span]:
        layer = str(self.containing)
        if layer not in document.layers:
            raise UsageError(
                f"there is no layer {layer!r} of containing annotations",
                **document.in_errors,
                advice="Gate.containing must name a layer of both documents",
            )
        return document.layers[layer]

    def _counts_of_spans(self, pair: Pair, sequence: str, spans: Sequence[Sequence[Span]]) -> Tally:
        sides = [
            replace(side, layers={sequence: of_side}) for side, of_side in zip(pair.sides, spans, strict=True)
        ]
        tally = Tally()
        try:
            for case in located(sides, [sequence], reads=self.reads):
                tally.update(self.evaluated(Case(case.sides, case.counted)))
        except CluevalError as error:
            error.document, error.file = pair.predicted.id, error.file or pair.predicted.file
            raise
        return tally


_test = lru_cache(FeatureTest)
_specs = lru_cache(parse_types)


@lru_cache
def _types_by_label(types: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the type of each label, among the targets and among the responses."""
    specs = parse_types(types)
    return {spec.target: spec.target for spec in specs}, {spec.response: spec.target for spec in specs}
