"""The names in the settings of `gate`: what must occur in the data, and the value that excludes annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clueval.core.span import SIDES, Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError, shortened, warn
from clueval.metrics.gate.equality import FeatureTest, TypeSpec, java_string


class Names(NamedTuple):
    """The names in the settings of `gate`: types, features and values of features.

    A type or feature that no annotation has is an error. A type of one side, and the value that `nil` names, may be
    missing in a corpus, so that is a warning. The keys of their tally are ``("seen", "all")``, ``("seen", "gold type",
    type)``, ``("seen", "predicted type", type)``, ``("seen", "feature", feature)`` and ``("seen", "nil")``.
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
        spans = [span for span in spans if not names or span.label in names]
        tally["seen", "all"] += len(spans)
        wanted = {*names.values(), *self.test.by_type}
        for span in spans if wanted else ():
            name = names.get(span.label, span.label)
            if name in wanted:
                tally["seen", f"{side} type", name] += 1
        for feature in (*self.test.every, *self.by):
            tally["seen", "feature", feature] += sum(feature in span.features for span in spans)
        if self.nil is not None:
            tally["seen", "nil"] += sum(is_nil(span, self.test.every[0], self.nil) for span in spans)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a type or feature that no annotation has; warn of other names that do not occur.

        Without annotations, features are not missed.
        """
        for spec in self.types:
            self._check_type(total, spec)
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

    def _check_type(self, total: Tally, spec: TypeSpec) -> None:
        seen = [total["seen", f"{side} type", spec.target] for side in SIDES]
        if not any(seen):
            raise UsageError(f"no annotation has the type {str(spec)!r}", advice="check Gate.types")
        for side, name, number in zip(SIDES, spec, seen, strict=True):
            if spec.target != spec.response and not number:
                warn(shortened(f"gate.types: no {side} annotation has the type {name!r}"))


def is_nil(span: Span, feature: str, nil: str) -> bool:
    """Return whether the feature, as a string, has the value `nil`; a missing feature has the value ``""``.

    >>> is_nil(Span(0, 1), "id", ""), is_nil(Span(0, 1, features={"id": "Q1"}), "id", "")
    (True, False)
    """
    value = span.features.get(feature)
    return ("" if value is None else java_string(value)) == nil
