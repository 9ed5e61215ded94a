"""The metric `gate`: its settings, counts and scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate.annotations import (
    CONTAINMENTS,
    NO_ANNOTATIONS,
    Annotations,
    GateNames,
    kept_within,
    label_of,
    layer_of,
    problem_of,
    require_containment,
    scores_of,
    together,
    without_nil,
)
from clueval.first.metrics.gate.counts import (
    NAMES,
    TALLY_KEYS,
    GateCounts,
    add_counts,
    add_evaluation,
    changes_by_score,
    counts_at,
    counts_by,
    key_of,
    macro_report,
)
from clueval.first.metrics.gate.equality import (
    COMPARISONS,
    FeatureTest,
    features_from_text,
    parse_types,
    types_from_text,
)
from clueval.first.metrics.gate.outcomes import Outcome, outcome_of
from clueval.first.metrics.gate.pairing import PAIRINGS, PairingProblem, by_content, count, in_order
from clueval.first.metrics.gate.thresholds import (
    CurvePoint,
    Thresholds,
    average_precision,
    counts_and_changes,
    curve,
    parse_thresholds,
    threshold_name,
    thresholds_with,
)
from clueval.first.metrics.metric import Needs, Rates, Side, no_tally, rates_of, refuse_filter
from clueval.first.metrics.rates import Columns, DeclaredRates, EntryRates, Numbers, Shape, mean, no_rates
from clueval.options import option_field

if TYPE_CHECKING:
    from clueval.reports.table import Table


@dataclass(frozen=True, slots=True)
class Gate:
    """GATE's tagging evaluation.

    Args:
        types: type specifications, ``"Person"`` or ``"Person=PER"`` (targets=responses), which are evaluated
            each and all together; results go by the targets' name. Empty: every label that occurs.
        features: the features that are compared, ``M[inst]`` for one type. Empty: none; the type decides.
        feature_comparison: ``equality``, ``string`` or ``subsumption``; see `FeatureTest`.
        pairing: ``plugin``, ``by-response`` or ``by-target``; see `clueval.first.metrics.gate.pairing`.
        score_feature: the feature that holds the responses' scores; every response needs one.
        thresholds: ``all``, ``rounded``, ``11``, ``21``, ``51`` or numbers; see `parse_thresholds`.
        nil: annotations whose first feature has this value are excluded ("" if it is missing). None: none.
        containing: the layer of the document within which annotations are evaluated. None: everywhere.
        containment: how an annotation must lie within it: ``overlapping``, ``containing`` or ``coextensive``.
        unfiltered: a type whose targets are the containing layer itself, so that all of them are evaluated.
        by: features by whose values the evaluation is broken down, as it is by type.
        beta: the weight of recall in F.

    Raises `UsageError` for invalid settings.

    >>> metric = Gate()
    >>> tally = metric.count(Side([Span(0, 4, "PER")]), Side([Span(0, 3, "PER")]))
    >>> report = metric.scores(tally, ["label"])["all"]
    >>> report["correct_partial"], report["f1_strict"], report["f1_lenient"]
    (1, 0.0, 1.0)
    """

    name: ClassVar[str] = "gate"
    zero: ClassVar[str] = "1 if both sides are empty"
    tally_keys: ClassVar[tuple[Shape, ...]] = TALLY_KEYS

    types: tuple[str, ...] = option_field(
        (),
        "--types",
        "A,B=C,...",
        "evaluate these types (labels) only; B=C: gold's B against predicted's C",
        takes="types, or GOLD=PREDICTED, separated by commas",
        parse=types_from_text,
        default="all",
    )
    features: tuple[str, ...] = option_field(
        (),
        "--features",
        "F,...",
        "annotations match only if these features are equal, too; M[F,...]: those of gold annotations "
        "of type M only",
        takes="names separated by commas, or TYPE[NAME,...]",
        parse=features_from_text,
    )
    feature_comparison: str = option_field(
        "equality",
        "--feature-comparison",
        "HOW",
        "when --features are equal: equality (same kind and value), string (same when written as text) or "
        "subsumption (those that the gold annotation has are equal)",
        choices=COMPARISONS,
    )
    pairing: str = option_field(
        "plugin",
        "--pairing",
        "HOW",
        "how one gold span is paired with one predicted span where several overlap: plugin (the best pairs "
        "first, as GATE's plugin), by-response (each predicted span in turn takes its best gold span) or "
        "by-target (each gold span takes its best predicted span)",
        choices=PAIRINGS,
    )
    score_feature: str | None = option_field(
        None,
        "--score-feature",
        "F",
        "the feature that holds the scores of predicted annotations, for figures at each threshold",
    )
    thresholds: Thresholds | None = option_field(
        None,
        "--thresholds",
        "T",
        "with --score-feature: all (scores that occur), rounded (the same to two decimals), 11, 21 or 51 "
        "(equal steps from 0 to 1), or numbers separated by commas",
        takes="all, rounded, 11, 21, 51 or numbers separated by commas",
        parse=parse_thresholds,
        default="all",
    )
    nil: str | None = option_field(
        None,
        "--nil",
        "VALUE",
        "leave out annotations whose first feature of --features has this value ('': is missing)",
    )
    containing: str | None = option_field(
        None,
        "--containing",
        "SET:TYPE",
        "count only within annotations of this set and type (other formats than gate-xml and bdoc: within "
        "the spans of this layer)",
    )
    containment: str = option_field(
        "overlapping",
        "--containment",
        "HOW",
        "what within means for --containing: overlapping one, in one (containing), or the same range "
        "(coextensive)",
        choices=CONTAINMENTS,
    )
    unfiltered: str | None = option_field(
        None,
        "--unfiltered",
        "TYPE",
        "with --containing: all gold annotations of this type count, because they are the containing annotations",
        default="TYPE of --containing, if SET is gold's",
    )
    by: tuple[str, ...] = option_field(
        (), "--by-feature", "F,...", "also report the scores for each value of these features"
    )
    beta: float = option_field(
        1.0, "--beta", "B", "report F-beta, which weighs recall B times as much as precision"
    )

    def __post_init__(self) -> None:
        for name in ("types", "features", "by"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise UsageError(f"Gate.{name} must be several names, not the string {given!r}")
            object.__setattr__(self, name, tuple(given))
        parse_types(self.types)
        FeatureTest(self.features, self.feature_comparison)  # raises for names that cannot be
        require_containment(self.containment)
        if self.pairing not in PAIRINGS:
            raise UsageError(f"unknown Gate.pairing {self.pairing!r}", advice=f"one of {', '.join(PAIRINGS)}")
        if self.nil is not None and not self.features:
            raise UsageError(
                "Gate.nil needs a feature that has the value", advice="name it first in Gate.features"
            )
        if self.unfiltered is not None and self.containing is None:
            raise UsageError("Gate.unfiltered needs containing annotations", advice="add Gate.containing")
        if not self.beta > 0:
            raise UsageError(f"Gate.beta must be greater than 0, not {self.beta!r}")
        object.__setattr__(self, "thresholds", thresholds_with(self.score_feature, self.thresholds))

    # Counting

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document; O(n log n) for n spans, plus the number of possible pairings.

        Raises `UsageError` if a filter excludes spans of a side, `FormatError` for a response without a
        score if scores are needed, `LimitError` for too many possible pairings.
        """
        targets, responses = self._annotations(gold, predicted)
        tally: Tally = Tally()
        by_type = list(self._by_type(targets, responses, gold))
        if len(by_type) == 1 and (self.types or self.unfiltered is None):
            ((name, own, other),) = by_type
            found = counts_and_changes(self._problem(own, other), other.scores, self.thresholds)
            add_evaluation(tally, None, *found)
            add_evaluation(tally, name, *found)
        else:
            for kind, own, other in ((None, targets, responses), *by_type):
                found = counts_and_changes(self._problem(own, other), other.scores, self.thresholds)
                add_evaluation(tally, kind, *found)
        for feature in self.by:
            for value, own, other in together(targets.by_value(feature), responses.by_value(feature)):
                add_counts(tally, ("by", feature, value), count(self._problem(own, other)))
        self._named.note(tally, gold.spans, predicted.spans)
        return tally

    @property
    def _looks_at_features(self) -> bool:
        """Return whether the settings need more than the place and the type of a span."""
        return bool(self.features or self.by or self.score_feature is not None or self.containing is not None)

    def outcome(self, gold: Side, predicted: Side, type: str | None = None) -> Outcome:
        """Return the outcome of every annotation of a document, for one type (its target name) or all."""
        targets, responses = self._annotations(gold, predicted)
        if type is None and len(self.types) == 1:
            type = parse_types(self.types)[0].target  # the named type, as in `count`
        if type is not None:
            by_type = {name: sides for name, *sides in self._by_type(targets, responses, gold)}
            targets, responses = by_type.get(type, [NO_ANNOTATIONS, NO_ANNOTATIONS])
        return outcome_of(self._problem(targets, responses))

    # Results

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report: counts and measures of all types, of each, their macro average, by threshold.

        With thresholds there is also ``average_precision``, with a break-down ``by``.
        """
        per_type = {name: self.counts(total, name) for name in self.types_of(total)}
        points = self.curve(total)
        report: dict[str, Any] = {
            "all": self.counts(total).report(self.beta),
            "per_type": {name: counts.report(self.beta) for name, counts in per_type.items()},
            "macro": macro_report(per_type.values(), self.beta),
            "thresholds": {threshold_name(at): counts.report(self.beta) for at, counts in points},
        }
        if points:
            report["average_precision"] = {
                "strict": average_precision(points),
                "lenient": average_precision(points, lenient=True),
            }
        if self.by:
            report["by"] = {
                feature: {value: counts.report(self.beta) for value, counts in counts_by(total, feature)}
                for feature in self.by
            }
        return report

    @property
    def needs(self) -> Needs:
        """Return that all spans are needed; with features, scores or `containing`, whole documents too."""
        return Needs(
            documents=self._looks_at_features,
            every_span="use Gate.types and Gate.nil instead",
            within=self.containing,
            nested=True,
            rates=self._rates,
            empty=no_tally,
        )

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {f"gate_{kind}": rates_of(report["all"], f"_{kind}") for kind in ("strict", "lenient")}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import gate

        return gate(title, report)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a type or feature in the settings that no annotation has; see `GateNames`.

        Annotations that `nil` or `containing` exclude count as having it. A single document may lack a type,
        and a corpus may be empty, so this is not part of `scores`.
        """
        self._named.check(total)

    def types_of(self, total: Tally) -> list[str]:
        """Return the types as they were given or, by default, all that occurred in alphabetical order."""
        if self.types:
            return [spec.target for spec in parse_types(self.types)]
        return sorted({key[1] for key in total if key[0] == "type"})

    def counts(self, total: Tally, type: str | None = None) -> GateCounts:
        """Return the counts of one type or of all."""
        return counts_at(total, key_of(type))

    def curve(self, total: Tally, type: str | None = None) -> list[CurvePoint]:
        """Return the counts at every threshold, rising; none without scores."""
        if self.thresholds is None:
            return []
        return curve(changes_by_score(total, type), self.counts(total, type).targets, self.thresholds)

    # Internal

    def _rates(self, keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
        """Yield how the rates follow from a tally; those at thresholds, and means over named types, are scored."""

        rates = tuple(GateCounts().measures(self.beta))

        def measures_of(*counts: Numbers) -> Columns:
            rows = [GateCounts(*row).measures(self.beta).values() for row in zip(*counts, strict=True)]
            return list(map(list, zip(*rows, strict=True)))

        def entry(path: tuple[str, ...], *before: str) -> EntryRates:
            counts = [[(*before, name)] for name in NAMES]
            return EntryRates(path, rates, counts, measures_of, counts[0], counts[1])

        yield entry(("all",), "all")
        names = [spec.target for spec in parse_types(self.types)] or sorted(
            {key[1] for key in keys if key[0] == "type"}
        )
        types = [entry(("per_type", name), "type", name) for name in names]
        yield from types
        if not self.types:
            yield mean(("macro",), types, empty=1.0, rates=rates)
        elif len(types) == 1:
            yield types[0]._replace(path=("macro",))
        scored = [key for key in keys if key[:2] == ("all", "score")]
        for at, _ in self.curve(Tally(scored)):
            reached = [
                key for key in scored if float(key[2]) >= at for _ in range(key[4])
            ]  # the change in responses
            yield EntryRates(
                ("thresholds", threshold_name(at)), (), [], no_rates, [("all", "targets")], reached
            )
        for feature, value in sorted({key[1:3] for key in keys if key[0] == "by"}):
            yield entry(("by", feature, value), "by", feature, value)

    @property
    def _test(self) -> FeatureTest:
        return FeatureTest(self.features, self.feature_comparison)

    @property
    def _named(self) -> GateNames:
        return GateNames(parse_types(self.types), self._test, self.by, self.nil)

    def _annotations(self, gold: Side, predicted: Side) -> tuple[Annotations, Annotations]:
        """Return the targets and responses of the evaluation over all types."""
        specs = parse_types(self.types)
        targets = self._of_side(gold, {spec.target: spec.target for spec in specs})
        responses = self._of_side(predicted, {spec.response: spec.target for spec in specs})
        if self.score_feature is not None:
            scores = scores_of(responses.spans, self.score_feature, predicted.document)
            responses = responses._replace(scores=scores)
        return targets, responses

    def _of_side(self, side: Side, names: Mapping[str, str], *, within: bool = True) -> Annotations:
        refuse_filter(self, (side,))
        spans: Sequence[Span] = side.spans
        if names:
            spans = [span for span in spans if label_of(span) in names]
        if within and self.containing is not None:
            spans = kept_within(spans, layer_of(side.document, self.containing), self.containment)
        if self.nil is not None:
            spans = without_nil(spans, self._test.every[0], self.nil)
        ids_count = side.document is None or side.document.ordered
        listed = in_order(spans) if ids_count else by_content(spans, (*self._test.every, *self.by))
        return Annotations.of(listed, names, self._test)

    def _by_type(
        self, targets: Annotations, responses: Annotations, gold: Side
    ) -> Iterator[tuple[str, Annotations, Annotations]]:
        names = [spec.target for spec in parse_types(self.types)] or None
        for name, own, other in together(targets.by_type(), responses.by_type(), names):
            if name == self.unfiltered and self.containing is not None:
                own = self._of_side(gold, {name: name}, within=False)
            yield name, own, other

    def _problem(self, targets: Annotations, responses: Annotations) -> PairingProblem:
        return problem_of(targets, responses, self._test, self.pairing)
