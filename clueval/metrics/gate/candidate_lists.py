"""Candidate lists: responses that offer several annotations for one place, the best first.

A *list annotation* has a feature with the ids of its candidates, which are annotations of the same set. The
rank of a candidate is its place in the list, from 0. Candidates with scores are sorted by falling score;
equal ones keep their order. A list without candidates is not a response. `best_candidates` makes the first
candidate of each list an ordinary response; `list_counts` and `disambiguation` evaluate the lists themselves.

Source: GATE's plugin Evaluation, its list evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clueval.exceptions import UsageError
from clueval.metrics.gate.components import in_order
from clueval.metrics.gate.equality import FeatureTest
from clueval.metrics.gate.selection import annotation_error, required_score, without_nil
from clueval.spans.document import Document
from clueval.spans.features import number_of
from clueval.spans.index import SpanIndex
from clueval.spans.span import Span, name_of


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A list annotation and its candidates, the best first; `scores` are the scores of the candidates, or
    None.

    Raises `UsageError` for a list without candidates, for a wrong number of scores, and for scores that rise.
    """

    span: Span
    candidates: tuple[Span, ...]
    scores: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.candidates:
            raise UsageError(f"list {name_of(self.span)} has no candidates", advice="leave it out")
        if self.scores is not None:
            if len(self.scores) != len(self.candidates):
                raise UsageError(
                    f"list {name_of(self.span)} has {len(self.candidates)} candidates, {len(self.scores)} scores"
                )
            if any(one < other for one, other in zip(self.scores, self.scores[1:], strict=False)):
                raise UsageError(
                    f"the candidates of list {name_of(self.span)} are not sorted by score",
                    advice="best first",
                )

    def __len__(self) -> int:
        return len(self.candidates)


def candidate_lists(
    annotations: Iterable[Span],
    list_type: str,
    edge_feature: str,
    *,
    element_type: str | None = None,
    score_feature: str | None = None,
    nil: tuple[str, str] | None = None,
    document: Document | None = None,
) -> list[CandidateList]:
    """Return the lists of an annotation set, by position.

    Args:
        annotations: the whole set, list annotations and candidates.
        list_type, edge_feature: the type of list annotations, and their feature with the ids of candidates.
        element_type: the type of candidates; others are ignored. None: any.
        score_feature: the feature by which the candidates are sorted. None: they stay in their order.
        nil: a feature and its value that mark candidates for "none of these".
        document: the document of the annotations, for errors.

    Raises `FormatError`, naming document and annotation, for a list without ids, for an id that no annotation
    has, and for a candidate whose score is no number.
    """
    everything = list(annotations)
    by_id = {span.id: span for span in everything if span.id is not None}
    found = []
    for span in in_order(span for span in everything if span.label == list_type):
        candidates = [by_id[i] for i in _ids(span, edge_feature, by_id, document)]
        if element_type is not None:
            candidates = [candidate for candidate in candidates if candidate.label == element_type]
        if nil is not None:
            candidates = without_nil(candidates, *nil)
        if not candidates:
            continue
        if score_feature is None:
            found.append(CandidateList(span, tuple(candidates)))
            continue
        scored = [(_score(candidate, score_feature, document), candidate) for candidate in candidates]
        scored.sort(key=lambda entry: -entry[0])
        scores, ordered = zip(*scored, strict=True)
        found.append(CandidateList(span, ordered, scores))
    return found


def _ids(
    span: Span, feature: str, known: Mapping[str | int, Span], document: Document | None
) -> Sequence[str | int]:
    ids = span.features.get(feature)
    advice = f"the feature {feature!r} of a list holds a list of annotation ids"
    if not isinstance(ids, list | tuple):
        problem = f"has no {feature!r}" if ids is None else f"has {ids!r} as {feature!r}, which is not a list"
        raise annotation_error(span, problem, document, advice)
    for number in ids:
        if isinstance(number, bool) or not isinstance(number, int | str) or number not in known:
            problem = f"names the candidate {number!r}, which the set does not have"
            raise annotation_error(span, problem, document, advice)
    return ids


def _score(span: Span, feature: str, document: Document | None) -> float:
    value = span.features.get(feature)
    number = None if isinstance(value, str) else number_of(value)
    return required_score(number, span, feature, document, "candidate")


def best_candidates(lists: Iterable[CandidateList]) -> list[Span]:
    """Return the first candidate of each list, as ordinary responses."""
    return [each.candidates[0] for each in lists]


class Numbered:
    """An index that finds the numbers of the spans that overlap a given span."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._numbers: dict[tuple[int, int], list[int]] = {}
        for number, span in enumerate(spans):
            self._numbers.setdefault((span.start, span.end), []).append(number)
        self._index = SpanIndex(Span(start, end) for start, end in self._numbers)

    def overlapping(self, span: Span, *also: tuple[int, int]) -> list[int]:
        """Return the numbers of the spans that overlap `span` or have one of the ranges `also`."""
        ranges = {(other.start, other.end) for other in self._index.overlapping(span)}
        return sorted(number for one in ranges.union(also) for number in self._numbers.get(one, ()))

    def touching(self, span: Span) -> list[int]:
        """Return the numbers of the spans that touch `span`; see `clueval.metrics.gate.touching.touches`."""
        also = [(span.start, span.start)] if span.start < span.end else []
        return self.overlapping(span, *also)


def value_of(target: Span, candidate: Span, test: FeatureTest) -> int | None:
    same = (target.start, target.end) == (candidate.start, candidate.end)
    if not same and not target.overlaps(candidate):
        return None
    return 2 * test.agree(target, candidate) + same


def require_features(test: FeatureTest) -> None:
    if not test.names:
        raise UsageError(
            "candidate lists need at least one feature to compare", advice="name it in Gate.features"
        )
