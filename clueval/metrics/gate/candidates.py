"""Candidate lists: responses that offer several annotations for one place, the best first.

A *list annotation* has a feature with the ids of its candidates, which are annotations of the same layer. The
rank of a candidate is its place in the list, from 0. Candidates with scores are sorted by falling score;
equal ones keep their order. A list without candidates is not a response.

A list is one response. Its visible candidates are those with at least a given score, or up to a given rank. Its value
for a target that the list annotation overlaps is that of its best visible candidate that overlaps the target or has its
range: the choice of an ideal judge. Types of candidates are ignored. The place of a truly spurious list is that of its
first candidate.

Source: GATE's plugin Evaluation, its list evaluation; where the behaviour of the plugin contradicts its own
description, the description.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.metric import number_of
from clueval.core.overlap import components
from clueval.core.span import Span
from clueval.files.errors import FormatError
from clueval.metrics.gate.equality import FeatureTest, is_nil
from clueval.metrics.gate.pairing import STRICT, PossiblePair, Touching, best_first, counts_of
from clueval.metrics.gate.thresholds import annotation_name, required_score


class CandidateList(NamedTuple):
    """A list annotation and its candidates, the best first, with their falling scores, if they have scores."""

    span: Span
    candidates: Sequence[Span]
    scores: Sequence[float] = ()


def candidate_lists(
    annotations: Sequence[Span],
    list_type: str,
    edge_feature: str,
    *,
    element_type: str | None = None,
    score_feature: str | None = None,
    nil: tuple[str, str] | None = None,
) -> list[CandidateList]:
    """Return the lists among annotations, by position.

    Args:
        annotations: list annotations and candidates.
        list_type, edge_feature: the type of list annotations, and their feature with the ids of candidates.
        element_type: the type of candidates; others are ignored. None: any.
        score_feature: the feature by which the candidates are sorted. None: they stay in their order.
        nil: a feature and its value that mark candidates for "none of these".

    Raises `FormatError`, naming the annotation, for a list without ids, for an id that no annotation has, and for a
    candidate whose score is no number.
    """
    by_id = {span.id: span for span in annotations if span.id is not None}
    found = []
    for span in by_ids(span for span in annotations if span.label == list_type):
        candidates = [
            each
            for each in map(by_id.__getitem__, _ids(span, edge_feature, by_id))
            if element_type in (None, each.label) and (nil is None or not is_nil(each, *nil))
        ]
        scores: list[float] = []
        if score_feature is not None:
            scored = [(_score(each, score_feature), each) for each in candidates]
            scored.sort(key=lambda entry: -entry[0])
            scores, candidates = [score for score, _ in scored], [each for _, each in scored]
        if candidates:
            found.append(CandidateList(span, candidates, scores))
    return found


def _ids(span: Span, feature: str, known: Mapping[str | int, Span]) -> Sequence[str | int]:
    ids = span.features.get(feature)
    problem = None
    if not isinstance(ids, list | tuple):
        problem = f"has no {feature!r}" if ids is None else f"has {ids!r} as {feature!r}, which is not a list"
        ids = ()
    for number in ids:
        if isinstance(number, bool) or not isinstance(number, int | str) or number not in known:
            problem = f"names the candidate {number!r}, which the set does not have"
    if problem is not None:
        raise FormatError(
            f"annotation {annotation_name(span)} {problem}",
            line=span.line,
            advice=f"the feature {feature!r} of a list holds a list of annotation ids",
        )
    return ids


def _score(span: Span, feature: str) -> float:
    value = span.features.get(feature)
    return required_score(None if isinstance(value, str) else number_of(value), span, feature, "candidate")


def by_ids(spans: Iterable[Span]) -> list[Span]:
    """Return the spans by start, end and id, numbers first; one without an id has its place by content as its id."""
    listed = sorted(spans, key=_content)
    numbered = [(span.start, span.end, *_rank(span.id, place)) for place, span in enumerate(listed)]
    return [listed[place] for place in sorted(range(len(listed)), key=numbered.__getitem__)]


def _rank(name: str | int | None, place: int) -> tuple[bool, int, str]:
    if isinstance(name, str):
        return True, 0, name
    return False, place if name is None else name, ""


def _content(span: Span) -> tuple[Any, ...]:
    labels = sorted((layer, label is not None, label or "") for layer, label in span.by_layer.items())
    features = [(name, type(value).__name__, repr(value)) for name, value in sorted(span.features.items())]
    return span.start, span.end, span.parts or (), labels, sorted(span.tokens or ()), features


def value_of(target: Span, candidate: Span, test: FeatureTest) -> int | None:
    """Return the value of a pairing of a target and a candidate, whatever its type; None: there is none."""
    same = (target.start, target.end) == (candidate.start, candidate.end)
    if not same and not target.overlaps(candidate):
        return None
    return 2 * test.agree(target, candidate, target.label) + same


# Counting


class _Match(NamedTuple):
    """A candidate that overlaps a target: its rank in the list and the value of the pairing."""

    rank: int
    value: int


class ListPart(NamedTuple):
    """Targets and lists that overlap, directly or through others; a list reaches over all its candidates.

    `matches` holds, for every target and every list whose annotation overlaps it, the candidates that overlap
    the target or have its range, each better than all before it: only those are ever chosen. `strict` holds
    the least rank of a candidate that has the target's range, right or not. `order` holds the place of every
    candidate of every list among all candidates by position.
    """

    targets: Sequence[Span]
    lists: Sequence[CandidateList]
    matches: Mapping[tuple[int, int], Sequence[_Match]]
    strict: Mapping[tuple[int, int], int]
    order: Sequence[Sequence[int]]

    def counts(self, visible: Sequence[int]) -> list[int]:
        """Return the counts, in the order of `NAMES`, if each list has this number of visible candidates."""
        pairs = list(self._pairs(visible))
        taken = best_first(pairs)
        used = {pair.response for pair in taken}
        spurious = Touching(
            each.candidates[0]
            for number, each in enumerate(self.lists)
            if visible[number] and number not in used
        )
        touched = [pair.target for pair in taken if spurious.find(self.targets[pair.target])]
        same = Counter(target for (target, number), rank in self.strict.items() if rank < visible[number])
        return counts_of((len(self.targets), sum(map(bool, visible))), pairs, taken, touched, same)

    def _pairs(self, visible: Sequence[int]) -> Iterator[PossiblePair]:
        for (target, number), matches in self.matches.items():
            best = next((match for match in reversed(matches) if match.rank < visible[number]), None)
            if best is not None:
                yield PossiblePair(best.value, target, number, self.order[number][best.rank])


def parts_of_lists(
    targets: Sequence[Span], lists: Sequence[CandidateList], test: FeatureTest
) -> Iterator[ListPart]:
    """Yield the parts of targets and lists, both by position."""
    rows = [(span.start, span.end, False, number) for number, span in enumerate(targets)]
    for number, each in enumerate(lists):
        spans = (each.span, *each.candidates)
        rows.append((min(s.start for s in spans), max(s.end for s in spans), True, number))
    for members in components(sorted(rows), touching=True):
        yield _part(
            [targets[number] for *_, is_list, number in members if not is_list],
            [lists[number] for *_, is_list, number in members if is_list],
            test,
        )


def _part(targets: Sequence[Span], lists: Sequence[CandidateList], test: FeatureTest) -> ListPart:
    ordered = by_ids(candidate for each in lists for candidate in each.candidates)
    places = {id(span): place for place, span in enumerate(ordered)}
    order = [[places[id(candidate)] for candidate in each.candidates] for each in lists]
    index = Touching(targets)
    matches = {}
    strict = {}
    for number, each in enumerate(lists):
        for target in index.overlapping(each.span):
            found = list(_improving(targets[target], each, test))
            if found:
                matches[target, number] = found
            place = targets[target].start, targets[target].end
            for rank, candidate in enumerate(each.candidates):
                if (candidate.start, candidate.end) == place:
                    strict[target, number] = rank
                    break
    return ListPart(targets, lists, matches, strict, order)


def _improving(target: Span, each: CandidateList, test: FeatureTest) -> Iterator[_Match]:
    best = -1
    for rank, candidate in enumerate(each.candidates):
        value = value_of(target, candidate, test)
        if value is not None and value > best:
            best = value
            yield _Match(rank, value)
            if best == STRICT:
                return
