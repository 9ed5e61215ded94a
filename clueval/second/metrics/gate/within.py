"""GATE's evaluation within others: only annotations that overlap, lie within or equal a containing one count."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar

from clueval.core.case import Case, Where, case_of, keys_of, located
from clueval.core.document import Document, Pair
from clueval.core.metric import DocumentMetric
from clueval.core.overlap import SpanIndex
from clueval.core.span import Span, by_position
from clueval.core.tally import Tally, added
from clueval.files.errors import CluevalError, UsageError
from clueval.second.metrics.gate.metric import Gate
from clueval.second.metrics.gate.pairing import touches

CONTAINMENTS = ("overlapping", "containing", "coextensive")
"""The relation of an annotation to a containing one: overlaps it, lies within it, has the same range."""


@dataclass(frozen=True, slots=True)
class GateWithin(Gate, DocumentMetric):
    """GATE's evaluation of the annotations that lie within others.

    Its tally has the keys of `Gate`, and ``("seen", "within")`` with the number of containing annotations.

    Attributes:
        containing: the layer of the document within which annotations are evaluated. None: everywhere.
        containment: how an annotation must lie within it: ``overlapping``, ``containing`` or ``coextensive``.
        unfiltered: a type whose targets are the containing layer itself, so that all of them are evaluated.

    Raises `UsageError` for invalid settings.
    """

    same_text: ClassVar[bool] = True

    containing: str | None = None
    containment: str = "overlapping"
    unfiltered: str | None = None

    def __post_init__(self) -> None:
        Gate.__post_init__(self)
        require_containment(self.containment)
        if self.unfiltered is not None and self.containing is None:
            raise UsageError("Gate.unfiltered needs containing annotations", advice="add Gate.containing")

    @property
    def within(self) -> str | None:
        return self.containing

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text.

        Raises `UsageError` for a document without the containing layer, and the errors of `Gate.count`.
        """
        tally: Tally = Tally()
        for pair in pairs:
            targets, responses = (list(side.layers.get(sequence, ())) for side in pair.sides)
            self.names.note(tally, targets, responses)
            if self.containing is not None:
                around = (containing_in(side, self.containing) for side in pair.sides)
                tally["seen", "within"] += sum(map(len, around))
            tally.update(self.count_spans(pair, sequence, targets, responses))
        return tally

    def count_spans(
        self, pair: Pair, sequence: str, targets: Sequence[Span], responses: Sequence[Span]
    ) -> Tally:
        """Return the counts of the targets and the responses of a pair that are evaluated.

        Those of the type `unfiltered` are of all its targets; so are those of all types, if it is the only one.
        """
        inside = self.inside(pair.gold, targets)
        responses = self.inside(pair.predicted, responses)
        only = self.unfiltered
        if only is None:
            return self._counted(pair, sequence, inside, responses)
        labels = {spec.target: spec.response for spec in self.specs} or {only: only}
        of_type = [span for span in targets if span.label == only]
        others = [span for span in responses if span.label == labels.get(only)]
        found = self._counted(pair, sequence, inside, responses)
        alone = self._counted(pair, sequence, of_type, others)
        begins = ("all", "type") if list(labels) == [only] and self.types else ()
        return Tally(
            {
                key: number
                for tally, is_own in ((found, False), (alone, True))
                for key, number in tally.items()
                if (key[0] in begins or key[:2] == ("type", only)) is is_own
            }
        )

    def inside(self, document: Document, spans: Sequence[Span]) -> Sequence[Span]:
        """Return the spans of a document that lie within its containing annotations."""
        if self.containing is None:
            return spans
        return kept_within(spans, containing_in(document, self.containing), self.containment)

    def _counted(
        self, pair: Pair, sequence: str, targets: Sequence[Span], responses: Sequence[Span]
    ) -> Tally:
        sides = [
            replace(side, layers={sequence: spans})
            for side, spans in zip(pair.sides, (targets, responses), strict=True)
        ]
        if self.keeps:
            (column,) = keys_of(sides, [sequence], reads=self.reads)
            cases = [(case_of(key, sequence), times) for key, times in Counter(column.keys).items()]
        else:
            cases = [
                (Case(each.sides, each.counted), 1) for each in located(sides, [sequence], reads=self.reads)
            ]
        try:
            return added((self.evaluated(case), times) for case, times in cases)
        except CluevalError as error:
            error.document, error.file = pair.predicted.id, error.file or pair.predicted.file
            raise

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a layer, type or feature in the settings that no annotation has; see `Names`."""
        if self.containing is not None and ("seen", "within") in total and not total["seen", "within"]:
            raise UsageError(
                f"no annotation is in {self.containing!r}, within which the metric counts",
                advice="check its spelling",
            )
        Gate.check(self, total)


def containing_in(document: Document, layer: str) -> Sequence[Span]:
    """Return the spans of the containing layer. Raises `UsageError` if the document has no such layer."""
    if layer not in document.layers:
        raise UsageError(
            f"there is no layer {layer!r} of containing annotations",
            **document.in_errors,
            advice="Gate.containing must name a layer of both documents",
        )
    return document.layers[layer]


def require_containment(containment: str) -> None:
    """Raise `UsageError` for an unknown containment."""
    if containment not in CONTAINMENTS:
        raise UsageError(f"unknown containment {containment!r}", advice=f"one of {', '.join(CONTAINMENTS)}")


def kept_within(
    spans: Iterable[Span], containing: Sequence[Span], containment: str = "overlapping"
) -> list[Span]:
    """Return the spans that overlap, lie within, or have the same range as some span of `containing`.

    Without any containing span the result is empty. O(n log n). Raises `UsageError` for another
    `containment`.

    >>> [len(kept_within([Span(0, 4)], [Span(2, 9)], how)) for how in CONTAINMENTS]
    [1, 0, 0]
    """
    require_containment(containment)
    if containment == "overlapping":
        touching = Touching(containing)
        return [span for span in spans if touching.find(span)]
    if containment == "coextensive":
        ranges = {(span.start, span.end) for span in containing}
        return [span for span in spans if (span.start, span.end) in ranges]
    starts, reaches = _reaches(containing)
    return [span for span in spans if (n := bisect_right(starts, span.start)) and span.end <= reaches[n - 1]]


def _reaches(spans: Iterable[Span]) -> tuple[list[int], list[int]]:
    """Return the starts of spans in order and, for each, the furthest end of the spans up to it."""
    ordered = sorted(spans, key=by_position)
    return [span.start for span in ordered], list(accumulate((span.end for span in ordered), max))


def hull(span: Span) -> Span:
    """Return a span without gaps from the start to the end of a span."""
    return Span(span.start, span.end)


class Touching:
    """An index of spans that finds those which touch a given span (`clueval.second.metrics.gate.pairing.touches`)."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = list(spans)
        self._index = SpanIndex(list(map(hull, self._spans)))
        self._at: dict[tuple[int, int], list[int]] = {}
        for number, span in enumerate(self._spans):
            self._at.setdefault((span.start, span.end), []).append(number)

    def overlapping(self, span: Span) -> list[int]:
        """Return the numbers of the spans whose range overlaps that of `span` or equals it, ascending."""
        return self._found(span, (span.start, span.end))

    def touching(self, span: Span) -> list[int]:
        """Return the numbers of the spans whose range touches that of `span`, ascending."""
        return self._found(span, (span.start, span.start) if len(span) else None)

    def find(self, span: Span) -> list[int]:
        """Return the numbers of the spans that touch `span`, ascending."""
        return [number for number in self.touching(span) if touches(span, self._spans[number])]

    def _found(self, span: Span, also: tuple[int, int] | None) -> list[int]:
        """Return the numbers of the spans whose range overlaps that of `span`, or is one other, ascending."""
        return sorted({*self._index.overlapping(hull(span)), *(self._at.get(also, ()) if also else ())})
