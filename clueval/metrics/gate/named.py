"""The names in the settings of `gate`: types, features and values of features that no annotation has.

A type or feature that no annotation has is an error. A type of one side, and the value that `nil` names, may be missing
in a corpus, so that is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clueval.exceptions import UsageError, warn
from clueval.metrics.counting import Tally
from clueval.metrics.gate.annotations import label_of
from clueval.metrics.gate.equality import FeatureTest, TypeSpec
from clueval.metrics.gate.selection import without_nil
from clueval.reports.cutting import cut_label
from clueval.spans.compared import SIDES
from clueval.spans.span import Span


class GateNames(NamedTuple):
    """The settings that hold names."""

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
