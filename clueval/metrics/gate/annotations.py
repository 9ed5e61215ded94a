"""The annotations of an evaluation: by position, with their types and keys, and the parts by type and value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.exceptions import UsageError, warn
from clueval.metrics.counting import Tally
from clueval.metrics.gate.components import PairingProblem
from clueval.metrics.gate.equality import FeatureTest, Keys, TypeSpec, java_string, subsumption_keys
from clueval.metrics.gate.selection import without_nil
from clueval.reports.table import cut_label
from clueval.spans.span import SIDES, Span

WITHOUT_VALUE = "(none)"
"""The group of the annotations that lack the feature of a break-down."""


class Annotations(NamedTuple):
    """The targets or the responses of one evaluation, by position, with their types, keys and scores."""

    spans: Sequence[Span]
    types: Sequence[str]
    keys: Sequence[Hashable]
    scores: Sequence[float]

    @classmethod
    def of(cls, spans: Sequence[Span], names: Mapping[str, str], test: FeatureTest) -> Annotations:
        """Return these spans, in the order given; `names` are the types by label. Without names, labels are types."""
        labels = [label_of(span) for span in spans]
        types = [names[label] for label in labels] if names else labels
        keys: Sequence[Hashable] = types
        if test.names and test.has_keys:
            keys = [(name, test.key(span, name)) for name, span in zip(types, spans, strict=True)]
        return cls(spans, types, keys, [])

    def by_type(self) -> Groups:
        return self._grouped(self.types)

    def by_value(self, feature: str) -> Groups:
        """Group by the value of a feature, as a string."""
        return self._grouped([_value(span.features.get(feature)) for span in self.spans])

    def _grouped(self, names: Sequence[str]) -> Groups:
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        return {name: self._at(own) for name, own in places.items()}

    def _at(self, places: Sequence[int]) -> Annotations:
        return Annotations(*([column[i] for i in places] if column else [] for column in self))  # type: ignore[arg-type]


Groups = dict[str, Annotations]
"""The annotations of each type, or of each value of a feature."""

NO_ANNOTATIONS = Annotations([], [], [], [])


def together(
    own: Groups, others: Groups, names: Iterable[str] | None = None
) -> Iterator[tuple[str, Annotations, Annotations]]:
    """Yield the targets and the responses of these names; None: of all, in alphabetical order."""
    for name in sorted(own.keys() | others.keys()) if names is None else names:
        yield name, own.get(name, NO_ANNOTATIONS), others.get(name, NO_ANNOTATIONS)


def label_of(span: Span) -> str:
    layers = span.by_layer
    if len(layers) == 1:
        (label,) = layers.values()
        if label is not None:
            return label
    return span.label


def _value(value: object) -> str:
    return WITHOUT_VALUE if value is None else java_string(value)


def problem_of(
    targets: Annotations, responses: Annotations, test: FeatureTest, pairing: str
) -> PairingProblem:
    """Return the problem of pairing these; `test` compares their features, their keys compare the rest."""
    keys: Keys | None
    if test.has_keys:
        keys = [(key,) for key in targets.keys], [(key,) for key in responses.keys]
    else:
        sides = [list(zip(side.types, side.spans, strict=True)) for side in (targets, responses)]
        keys = subsumption_keys(test, *sides)
    return PairingProblem(targets.spans, responses.spans, _equality(targets, responses, test), pairing, keys)


def _equality(targets: Annotations, responses: Annotations, test: FeatureTest) -> Callable[[int, int], bool]:
    own, other = targets.keys, responses.keys
    if test.has_keys:
        return lambda target, response: own[target] == other[response]
    spans, others = targets.spans, responses.spans
    return lambda target, response: (
        own[target] == other[response] and test.agree(spans[target], others[response])
    )


class GateNames(NamedTuple):
    """The names in the settings of `gate`: types, features and values of features.

    A type or feature that no annotation has is an error. A type of one side, and the value that `nil` names, may be
    missing in a corpus, so that is a warning.
    """

    types: Sequence[TypeSpec]
    test: FeatureTest
    by: Sequence[str]
    nil: str | None

    def note(self, tally: Tally, *sides: Iterable[Span]) -> None:
        """Count the spans of both sides with the named types (by label; none: all types), features and value."""
        if self.types or self.test.names or self.by:
            for side, spans in zip(SIDES, sides, strict=True):
                self._note(tally, side, spans)

    def _note(self, tally: Tally, side: str, spans: Iterable[Span]) -> None:
        names = {spec.target if side == SIDES[0] else spec.response: spec.target for spec in self.types}
        spans = [span for span in spans if not names or label_of(span) in names]
        tally["seen", "all"] += len(spans)
        wanted = {*names.values(), *self.test.types}
        for span in spans if wanted else ():
            name = names.get(label_of(span), label_of(span))
            if name in wanted:
                tally["seen", f"{side} type", name] += 1
        for feature in (*self.test.every, *self.by):
            tally["seen", "feature", feature] += sum(feature in span.features for span in spans)
        if self.nil is not None:
            tally["seen", "nil"] += len(spans) - len(without_nil(spans, self.test.every[0], self.nil))

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a type or feature that no annotation has; warn of other names that do not occur.

        Without annotations, features are not missed.
        """
        for spec in self.types:
            self._check_type(total, spec)
        if not total["seen", "all"]:
            return
        for kind in self.test.types:
            if not total["seen", "gold type", kind]:
                raise UsageError(f"no gold annotation has the type {kind!r}", advice="check Gate.features")
        settings = dict.fromkeys(self.by, "Gate.by") | dict.fromkeys(self.test.every, "Gate.features")
        for feature, setting in settings.items():
            if not total["seen", "feature", feature]:
                raise UsageError(f"no annotation has the feature {feature!r}", advice=f"check {setting}")
        if self.nil is not None and not total["seen", "nil"]:
            feature, value = cut_label(self.test.every[0]), cut_label(self.nil)
            warn(f"gate.nil: no annotation has the value {value!r} in the feature {feature!r}")

    def _check_type(self, total: Tally, spec: TypeSpec) -> None:
        seen = [total["seen", f"{side} type", spec.target] for side in SIDES]
        if not any(seen):
            raise UsageError(f"no annotation has the type {str(spec)!r}", advice="check Gate.types")
        for side, name, number in zip(SIDES, (spec.target, spec.response), seen, strict=True):
            if spec.target != spec.response and not number:
                warn(f"gate.types: no {side} annotation has the type {cut_label(name)!r}")
