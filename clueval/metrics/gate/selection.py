"""The selection of annotations to evaluate: by set, by type, within others, without NIL, with scores.

If something that the user names is missing, the error names the document, and the annotation by its id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clueval.exceptions import CluevalError, FormatError, UsageError
from clueval.metrics.gate.equality import java_string
from clueval.metrics.gate.touching import Touching
from clueval.spans.document import Document
from clueval.spans.features import number_of
from clueval.spans.span import Span, name_of

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
        return [span for span in spans if touching.any(span)]
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
