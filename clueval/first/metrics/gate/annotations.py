"""The annotations of an evaluation: how they are selected, their types and keys, the parts by type and value.

Annotations are selected by type, within others, without NIL, with scores. If something that the user names is
missing, the error names the document, and the annotation by its id.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clueval.core.span import SIDES, Span, name_of
from clueval.files.errors import CluevalError, FormatError, UsageError, warn
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.gate.equality import FeatureTest, TypeSpec, java_string
from clueval.first.metrics.gate.pairing import PairingProblem, Touching
from clueval.reports.table import cut_label
from clueval.spans.document import Document
from clueval.spans.features import number_of

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

    def equal(target: int, response: int) -> bool:
        if targets.keys[target] != responses.keys[response]:
            return False
        return test.has_keys or test.agree(targets.spans[target], responses.spans[response])

    return PairingProblem(targets.spans, responses.spans, equal, pairing)


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


# Selection

CONTAINMENTS = ("overlapping", "containing", "coextensive")
"""The relation of an annotation to a containing one: overlaps it, lies within it, has the same range."""


def kept_within(
    spans: Iterable[Span], containing: Iterable[Span], containment: str = "overlapping"
) -> list[Span]:
    """Return the spans that overlap, lie within, or have the same range as some span of `containing`.

    Without any containing span the result is empty. O(n log n). Raises `UsageError` for another
    `containment`.

    >>> [len(kept_within([Span(0, 4)], [Span(2, 9)], how)) for how in CONTAINMENTS]
    [1, 0, 0]
    """
    require_containment(containment)
    around = list(containing)
    if containment == "overlapping":
        touching = Touching(around)
        return [span for span in spans if touching.find(span)]
    if containment == "coextensive":
        ranges = {(span.start, span.end) for span in around}
        return [span for span in spans if (span.start, span.end) in ranges]
    listed = list(spans)
    kept = set()
    by_start = sorted(around, key=lambda span: span.start)
    passed, furthest = 0, -1  # of the containing spans that start at or before this one
    for place in sorted(range(len(listed)), key=lambda place: listed[place].start):
        while passed < len(by_start) and by_start[passed].start <= listed[place].start:
            furthest = max(furthest, by_start[passed].end)
            passed += 1
        if listed[place].end <= furthest:
            kept.add(place)
    return [span for place, span in enumerate(listed) if place in kept]


def layer_of(document: Document | None, name: str) -> Sequence[Span]:
    """Return the spans of a layer of a document. Raises `UsageError` if it has no such layer."""
    if document is None or name not in document.layers:
        raise UsageError(
            f"there is no layer {name!r} of containing annotations",
            document=None if document is None else document.id,
            file=None if document is None else document.file,
            advice="Gate.containing must name a layer of both documents",
        )
    return document.layers[name]


def require_containment(containment: str) -> None:
    """Raise `UsageError` for an unknown containment."""
    if containment not in CONTAINMENTS:
        raise UsageError(f"unknown containment {containment!r}", advice=f"one of {', '.join(CONTAINMENTS)}")


def without_nil(spans: Iterable[Span], feature: str, nil: str) -> list[Span]:
    """Return the spans whose feature, as a string, is not `nil`; a missing feature has the value ``""``.

    >>> len(without_nil([Span(0, 1), Span(0, 1, features={"id": "Q1"})], "id", ""))
    1
    """
    kept = []
    for span in spans:
        value = span.features.get(feature)
        if ("" if value is None else java_string(value)) != nil:
            kept.append(span)
    return kept


def scores_of(spans: Sequence[Span], feature: str, document: Document | None = None) -> list[float]:
    """Return the scores of responses: numbers, or strings that can be read as numbers.

    Raises `FormatError` for a response without a score and for a score that is not a finite number.
    """
    return [
        required_score(number_of(span.features.get(feature)), span, feature, document, "predicted annotation")
        for span in spans
    ]


def required_score(
    score: float | None, span: Span, feature: str, document: Document | None, whose: str
) -> float:
    """Return the score. Raises `FormatError` if it is None; `whose` is the kind of annotations that need one."""
    if score is not None:
        return score
    value = span.features.get(feature)
    problem = (
        f"has no score {feature!r}"
        if value is None
        else f"has the score {value!r:.40}, which is not a number"
    )
    raise annotation_error(
        span, problem, document, f"every {whose} needs a finite number as Gate.score_feature"
    )


def annotation_error(span: Span, problem: str, document: Document | None, advice: str) -> CluevalError:
    """Return the error about an annotation, named by its id and its position."""
    name = name_of(span) if span.id is None else f"{span.id} {name_of(span)}"
    return FormatError(
        f"annotation {name} {problem}",
        file=None if document is None else document.file,
        line=span.line,
        document=None if document is None else document.id,
        advice=advice,
    )
