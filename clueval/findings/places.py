"""Places: errors of both sides and all layers that overlap, together.

One wrong boundary makes an error of the gold side and one of the predicted side, in each layer. An annotator looks
at this place once. The range of a finding is from the first to the last position of its span and of all spans of
the other side that overlap it; findings of a document are at the same place if their ranges are in the same overlap
component (see `clueval.spans.components`). Every finding is at exactly one place, so errors counted by place are
the errors that the scores count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from clueval.core.ranges import Ranges
from clueval.findings.decisions import ANY_LAYER, PlaceDecisions, fingerprint
from clueval.findings.table import Finding, joined
from clueval.spans.components import component_firsts


@dataclass(frozen=True, slots=True)
class ErrorPlace:
    """The findings of one overlap component, in text order; there is at least one.

    `start` and `end` are the first and the last position of all spans that the findings show; `end` is inclusive,
    as in `Finding`.
    """

    findings: tuple[Finding, ...]
    start: int
    end: int

    @property
    def document(self) -> str:
        return self.findings[0].document

    @property
    def layer(self) -> str:
        """The layer of the findings; ``*`` if there are several."""
        layers = {finding.sequence for finding in self.findings}
        return ANY_LAYER if len(layers) > 1 else layers.pop()

    @property
    def fingerprint(self) -> str:
        """The fingerprint of all spans that the findings show; see `clueval.findings.decisions`."""
        return fingerprint(self._spans())

    @property
    def in_decisions(self) -> tuple[str, str, int, int, str]:
        """Its key and its fingerprint, as `PlaceDecisions.at` takes them."""
        return self.document, self.layer, self.start, self.end + 1, self.fingerprint

    def _spans(self) -> Iterator[tuple[str, Ranges, str]]:
        """Yield the spans of the place, each with its side, its ranges (the end exclusive) and its label."""
        for finding in self.findings:
            side = finding.side or "gold"
            other = "predicted" if side == "gold" else "gold"
            yield (
                side,
                exclusive(finding.fragments or ((finding.start, finding.end),)),
                joined(finding.labels),
            )
            others = zip(finding.other_ranges, finding.other_fragments, finding.other_labels, strict=True)
            for place, fragments, labels in others:
                yield other, exclusive(fragments or (place,)), joined(labels)


def with_decisions(found: Iterable[ErrorPlace], decisions: PlaceDecisions) -> Iterator[Finding]:
    """Yield the findings of places, each with what was decided about its place."""
    for place in found:
        decision = decisions.at(*place.in_decisions)
        yield from (replace(finding, decision=decision) for finding in place.findings)


def exclusive(ranges: Ranges) -> Ranges:
    """Return inclusive ranges with exclusive ends."""
    return tuple((first, last + 1) for first, last in ranges)


def in_text_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of one document by the start of their place; at the same range gold comes first."""
    return sorted(findings, key=_order)


def places(findings: Iterable[Finding]) -> Iterator[ErrorPlace]:
    """Yield the places of findings, which come by document and in text order, as `clueval.errors` yields them.

    Holds one place, so the number of findings does not matter. Worked example: gold has [0,2) and [5,6), predicted
    has [1,3); the first two are one place, and [5,6) is another.

    >>> from clueval.findings.choice import findings
    >>> from clueval.spans.document import Document
    >>> from clueval.core.span import Span
    >>> tokens = ["Frau", "Anna", "Weiß", "wohnt", "in", "Ulm"]
    >>> gold = Document("d", {"label": [Span(0, 2, "PER"), Span(5, 6, "LOC")]}, tokens=tokens)
    >>> predicted = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=tokens)
    >>> [(p.start, p.end, [f.side for f in p.findings]) for p in places(findings(gold, predicted))]
    [(0, 2, ['gold', 'predicted']), (5, 5, ['gold'])]
    """
    for _, same in groupby(findings, key=_Documents()):
        yield from places_of_document(same)


class _Documents:
    """Numbers documents by their findings. One with the id of the one before is noticed by its positions."""

    def __init__(self) -> None:
        self._number = 0
        self._latest: tuple[str, tuple[int, int]] | None = None

    def __call__(self, finding: Finding) -> int:
        here = finding.document, _range(finding)
        if self._latest is not None and (here[0] != self._latest[0] or here[1] < self._latest[1]):
            self._number += 1
        self._latest = here
        return self._number


def places_of_document(findings: Iterable[Finding]) -> Iterator[ErrorPlace]:
    """Yield the places of the findings of one document, which come in text order."""
    waiting: list[Finding] = []
    ranges: list[tuple[int, int]] = []

    def noted() -> Iterator[tuple[int, int]]:
        for finding in findings:
            waiting.append(finding)
            ranges.append(_range(finding))
            yield ranges[-1]

    for _ in component_firsts(noted()):
        if len(waiting) > 1:  # the last one begins the next place
            yield _place(waiting[:-1], ranges[:-1])
            del waiting[:-1], ranges[:-1]
    if waiting:
        yield _place(waiting, ranges)


def _place(findings: list[Finding], ranges: list[tuple[int, int]]) -> ErrorPlace:
    return ErrorPlace(tuple(findings), min(ranges)[0], max([end for _, end in ranges]) - 1)


def _range(finding: Finding) -> tuple[int, int]:
    """Return the range of a finding, the end exclusive."""
    start, end, other_start, other_end = finding.start, finding.end, finding.other_start, finding.other_end
    if other_start is not None and other_start < start:
        start = other_start
    if other_end is not None and other_end > end:
        end = other_end
    return start, end + 1


def _order(finding: Finding) -> tuple[tuple[int, int], int, int, bool]:
    return _range(finding), finding.start, finding.end, finding.side == "predicted"
