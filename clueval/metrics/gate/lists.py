"""GATE's evaluation of candidate lists: of the best candidates, by score, by rank, disambiguation, maximum recall.

Targets are of one type. The best candidate of each list is an ordinary response, counted like any other; the lists
themselves are counted at each score and at each rank (see `clueval.metrics.gate.candidates`).

*Disambiguation* counts, for every list with a match, whether the match is among the first k candidates. *Maximum
recall* counts the targets that have a match in any list; in both, a match does not use up list or target.

Source: GATE's plugin Evaluation, its list evaluation and ``EvaluateMaxRecall``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from clueval.core.case import Where
from clueval.core.document import Pair
from clueval.core.overlap import SpanIndex
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics.gate.candidates import (
    CandidateList,
    ListPart,
    by_ids,
    candidate_lists,
    parts_of_lists,
    value_of,
)
from clueval.metrics.gate.counts import NAMES, GateCounts
from clueval.metrics.gate.equality import FeatureTest
from clueval.metrics.gate.metric import ALL_RANKS, LISTS, RANKS, Gate, GateWithin
from clueval.metrics.gate.pairing import PARTIAL, STRICT, Touching, hull
from clueval.metrics.gate.thresholds import (
    ROUNDED,
    CurvePoint,
    curve,
    grid_of,
    rounded,
    step_of,
    threshold_name,
)

EVERY_RANK = 2147483647
"""The rank at which every candidate is visible, as the reports of GATE write it; in other reports it is `ALL_RANKS`."""

KINDS = (
    "all",
    "without_target",
    "with_target",
    "without_match",
    "strict",
    "strict_at_0",
    "partial",
    "partial_at_0",
)
"""The kinds of lists that disambiguation counts."""


@dataclass(frozen=True, slots=True)
class GateLists(GateWithin):
    """GATE's evaluation of candidate lists; the score feature sorts the candidates.

    Its tally has the keys of `GateWithin` for the best candidates, and keys that begin with ``"lists"``: ``(name,)``
    for documents and targets; ``("score", score, name)`` and ``("rank", rank, name)`` for the change of a count,
    ``("longest", rank)`` for parts with a list of this length; ``("disambiguation", ...)`` with the same for lists that
    have a match, and ``("kind", kind)`` for the number of lists; ``("recall", name)`` and ``("strict" or "lenient",
    rank)`` for targets by the least rank of their match; ``("seen", setting)`` for annotations of a type.

    Raises `UsageError` for invalid settings, and unless there is exactly one type and at least one feature.
    """

    def __post_init__(self) -> None:
        GateWithin.__post_init__(self)
        for name in ("list_type", "edge_feature"):
            if not getattr(self, name):
                raise UsageError(f"candidate lists need Gate.{name}", advice="add it")
        if self.element_type == "":
            raise UsageError("Gate.element_type is empty", advice="name a type")
        if len(self.specs) != 1:
            raise UsageError(
                f"candidate lists are evaluated for one type of targets, not {len(self.specs)}",
                advice="name only this type in Gate.types",
            )
        if self.specs[0].response not in (self.type, self.list_type, self.element_type):
            raise UsageError(
                f"the type {str(self.specs[0])!r} names responses that are neither lists nor candidates",
                advice=f"write Gate.types as {self.type}={self.list_type}, or only {self.type}",
            )
        if not self.features:
            raise UsageError(
                "candidate lists need at least one feature to compare", advice="name it in Gate.features"
            )

    @property
    def type(self) -> str:
        """The type of the targets."""
        return self.specs[0].target

    @property
    def of_best(self) -> GateWithin:
        """The metric that counts the best candidates."""
        own = {each.name: getattr(self, each.name) for each in fields(GateWithin) if each.name not in LISTS}
        return GateWithin(**{**own, "types": (self.type,), "score_feature": None, "thresholds": None})

    # Counting

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text.

        Raises `FormatError` for lists without candidates that can be found, and the errors of `GateWithin`.
        """
        tally: Tally = Tally()
        for pair in pairs:
            try:
                self._count_pair(tally, pair, sequence)
            except CluevalError as error:
                error.document, error.file = pair.predicted.id, error.file or pair.predicted.file
                raise
        return tally

    def _count_pair(self, tally: Tally, pair: Pair, sequence: str) -> None:
        gold, predicted = (side.layers.get(sequence, ()) for side in pair.sides)
        lists = self.lists_of(pair, predicted)
        best = by_ids(replace(each.candidates[0], labels={sequence: self.type}) for each in lists)
        documents = replace(
            pair, predicted=replace(pair.predicted, layers={**pair.predicted.layers, sequence: best})
        )
        tally.update(self.of_best.count_documents([documents], sequence, {}))
        targets = by_ids(self._targets(pair, gold))
        tally["lists", "documents"] += 1
        tally["lists", "targets"] += len(targets)
        for name in ("list_type", "element_type"):
            tally["lists", "seen", name] += sum(span.label == getattr(self, name) for span in predicted)
        for part in parts_of_lists(targets, lists, self.test):
            self._count_part(tally, part)
        _disambiguate(tally, targets, lists, self.test)
        _recall(tally, targets, lists, self.test)

    def lists_of(self, pair: Pair, annotations: Sequence[Span]) -> list[CandidateList]:
        """Return the lists among the predicted annotations of a pair that are evaluated."""
        found = candidate_lists(
            annotations,
            str(self.list_type),
            str(self.edge_feature),
            element_type=self.element_type,
            score_feature=self.score_feature,
            nil=None if self.nil is None else (self.test.every[0], self.nil),
        )
        kept = {id(span) for span in self.inside(pair.predicted, [each.span for each in found])}
        return [each for each in found if id(each.span) in kept]

    def _targets(self, pair: Pair, gold: Sequence[Span]) -> list[Span]:
        inside = gold if self.unfiltered == self.type else self.inside(pair.gold, gold)
        return [inside[number] for number in self.kept(inside, {self.type: self.type})]

    def _count_part(self, tally: Tally, part: ListPart) -> None:
        longest = max((len(each.candidates) for each in part.lists), default=0)
        empty = [len(part.targets)] + [0] * (len(NAMES) - 1)
        if self.thresholds is not None:
            step = float if self.thresholds == ROUNDED else step_of(self.thresholds)
            scores = [[step(score) for score in each.scores] for each in part.lists]
            before = empty
            for at in sorted({score for own in scores for score in own}, reverse=True):
                counts = part.counts([sum(score >= at for score in own) for own in scores])
                _add_change(tally, ("lists", "score", repr(at)), before, counts)
                before = counts
        before = empty
        for rank in range(longest):
            counts = part.counts([min(rank + 1, len(each.candidates)) for each in part.lists])
            _add_change(tally, ("lists", "rank", rank), before, counts)
            before = counts
        if longest:
            tally["lists", "longest", longest - 1] += 1

    # Results

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report on the best candidates, with ``lists``: the lists by score, by rank and so on."""
        return {**self.of_best.scores(total, layers), "lists": self._report(total)}

    def by_score(self, total: Tally) -> list[CurvePoint]:
        """Return the counts of the lists at every threshold, rising; the first is -infinity: all candidates count."""
        if self.thresholds is None:
            return []
        found = _curve_of(total, ("lists", "score"))
        wanted: Iterable[float] | None = grid_of(self.thresholds)
        if wanted is None:  # the scores at which a count changes
            wanted = map(rounded, found) if self.thresholds == ROUNDED else found
        return curve(found, total["lists", "targets"], {-math.inf, *wanted})[:-1]

    def by_rank(self, total: Tally) -> Iterator[tuple[int, GateCounts]]:
        """Yield the counts of the lists at every rank, rising; the last is `EVERY_RANK`."""
        ranks = RANKS.get(self.ranks, range(_last(total, ("lists", "longest")) + 1))
        return _at_ranks(_curve_of(total, ("lists", "rank")), total["lists", "targets"], (*ranks, EVERY_RANK))

    def disambiguation(self, total: Tally) -> Iterator[tuple[int, GateCounts]]:
        """Yield the counts of the lists that have a match, at every rank, rising."""
        last = _last(total, ("lists", "disambiguation", "longest"))
        found = _curve_of(total, ("lists", "disambiguation", "rank"))
        return _at_ranks(found, 0, range(max(last, 0) + 1))

    def _report(self, total: Tally) -> dict[str, Any]:
        recall = {name: _by_rank(total, ("lists", name)) for name in ("strict", "lenient")}
        return {
            "by_score": {threshold_name(at): counts.report(self.beta) for at, counts in self.by_score(total)},
            "by_rank": {
                ALL_RANKS if rank == EVERY_RANK else str(rank): counts.report(self.beta)
                for rank, counts in self.by_rank(total)
            },
            "disambiguation": {
                "lists": {kind: total["lists", "kind", kind] for kind in KINDS},
                "ranks": {str(rank): _accuracies(counts) for rank, counts in self.disambiguation(total)},
            },
            "maximum_recall": {
                "all": _recalls(total, recall),
                "ranks": {
                    str(rank): _recalls(total, recall, rank)
                    for rank in range(max([*recall["strict"], *recall["lenient"]], default=-1) + 1)
                },
            },
        }

    def check(self, total: Tally) -> None:
        """Raise `UsageError` if documents were counted and none has a list, or a candidate, of the type."""
        for name in ("list_type", "element_type"):
            kind = getattr(self, name)
            if kind is not None and total["lists", "documents"] and not total["lists", "seen", name]:
                raise UsageError(
                    f"no predicted annotation has the type {kind!r}", advice=f"check Gate.{name}"
                )
        self.of_best.check(total)


Gate.of_lists = GateLists


# Disambiguation and maximum recall


def _disambiguate(
    tally: Tally, targets: Sequence[Span], lists: Sequence[CandidateList], test: FeatureTest
) -> None:
    """Count, for every list with a match, the rank at which a right candidate appears; lists may share a target."""
    index = Touching(targets)
    for each in lists:
        near = [targets[number] for number in index.touching(each.span)]
        strict, partial = _first_matches(near, each, test)
        kinds = {
            "all": True,
            "with_target" if near else "without_target": True,
            "without_match": bool(near) and strict is None and partial is None,
            "strict": strict is not None,
            "strict_at_0": strict == 0,
            "partial": partial is not None,
            "partial_at_0": partial == 0,
        }
        for kind, is_so in kinds.items():
            tally["lists", "kind", kind] += is_so
        if strict is None and partial is None:
            continue
        before = [0] * len(NAMES)
        for rank in range(len(each.candidates)):
            counts = [1, 1] + [0] * (len(NAMES) - 2)
            counts[_outcome(each, strict, partial, rank)] = 1
            _add_change(tally, ("lists", "disambiguation", "rank", rank), before, counts)
            before = counts
    longest = max((len(each.candidates) for each in lists), default=1)
    tally["lists", "disambiguation", "longest", longest - 1] += 1


def _outcome(each: CandidateList, strict: int | None, partial: int | None, rank: int) -> int:
    """Return the number, in `NAMES`, of what a list is at a rank: correct or incorrect, strictly or partially."""
    if strict is not None and rank >= strict:
        return 2
    if partial is not None and rank >= partial:
        return 3
    own = each.candidates[rank]
    return 4 if (own.start, own.end) == (each.span.start, each.span.end) else 5


def _first_matches(
    targets: Sequence[Span], each: CandidateList, test: FeatureTest
) -> tuple[int | None, int | None]:
    """Return the least ranks of a strict and of a partial match with any of the targets."""
    first: dict[int | None, int] = {}
    for rank, candidate in enumerate(each.candidates):
        for target in targets:
            first.setdefault(value_of(target, candidate, test), rank)
    return first.get(STRICT), first.get(PARTIAL)


def _recall(tally: Tally, targets: Sequence[Span], lists: Sequence[CandidateList], test: FeatureTest) -> None:
    """Count the targets that have a match in any list, by its least rank; targets may share a list."""
    index = SpanIndex([hull(each.span) for each in lists])
    with_target: set[int] = set()
    for target in targets:
        near = index.overlapping(hull(target))
        with_target.update(near)
        tally["lists", "recall", "targets_with_list"] += bool(near)
        ranks: dict[str, list[int]] = {"strict": [], "lenient": []}
        for number in near:
            for name, rank in _first_of(target, lists[number], test):
                ranks[name].append(rank)
        for name, found in ranks.items():
            if found:
                tally["lists", name, min(found)] += 1
    tally["lists", "recall", "targets"] += len(targets)
    tally["lists", "recall", "lists"] += len(lists)
    tally["lists", "recall", "lists_with_target"] += len(with_target)


def _first_of(target: Span, each: CandidateList, test: FeatureTest) -> Iterator[tuple[str, int]]:
    """Yield the least ranks of a lenient and of a strict match of one list; zero length never matches."""
    has_lenient = False
    for rank, candidate in enumerate(each.candidates):
        if candidate.overlaps(target) and test.agree(target, candidate, target.label):
            if not has_lenient:
                yield "lenient", rank
                has_lenient = True
            if (candidate.start, candidate.end) == (target.start, target.end):
                yield "strict", rank
                return


# Sums of counts

Key = tuple[Any, ...]


def _add_change(tally: Tally, path: Key, before: Sequence[int], after: Sequence[int]) -> None:
    for name, one, other in zip(NAMES, before, after, strict=True):
        if one != other:
            tally[(*path, name)] += other - one


def _curve_of(total: Tally, path: Key) -> dict[float, list[int]]:
    """Return the changes of counts at each score or rank."""
    found: dict[float, list[int]] = {}
    for key, number in total.items():
        if key[:-2] == path:
            found.setdefault(float(key[-2]), [0] * len(NAMES))[NAMES.index(key[-1])] += number
    return found


def _by_rank(total: Tally, path: Key) -> dict[int, int]:
    return {key[-1]: number for key, number in total.items() if key[:-1] == path}


def _last(total: Tally, path: Key) -> int:
    return max(_by_rank(total, path), default=-1)


def _at_ranks(
    found: Mapping[float, Sequence[int]], targets: int, ranks: Iterable[int]
) -> Iterator[tuple[int, GateCounts]]:
    """Yield the counts at these ranks, which rise; at a rank all candidates up to it are visible."""
    points = curve({-rank: change for rank, change in found.items()}, targets, [-rank for rank in ranks])
    for at, counts in reversed(points[:-1]):
        yield int(-at), counts


def _accuracies(counts: GateCounts) -> dict[str, float]:
    names = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")
    return {
        "lists": counts.targets,
        **{name: getattr(counts, name) for name in names},
        "accuracy_strict": counts.recall_strict,
        "accuracy_lenient": counts.recall_lenient,
    }


def _recalls(
    total: Tally, ranks: Mapping[str, Mapping[int, int]], rank: int = EVERY_RANK
) -> dict[str, float]:
    """Return counts and recalls with the candidates up to a rank; 0/0 is 1."""
    strict, lenient = (
        sum(number for at, number in ranks[name].items() if at <= rank) for name in ("strict", "lenient")
    )
    names = ("targets", "targets_with_list", "lists", "lists_with_target")
    targets, with_list, lists, with_target = (total["lists", "recall", name] for name in names)
    return {
        "max_recall_strict": _share(strict, targets),
        "max_recall_lenient": _share(lenient, targets),
        "max_recall_list_strict": _share(strict, with_list),
        "max_recall_list_lenient": _share(lenient, with_list),
        "targets": targets,
        "targets_with_list": with_list,
        "correct_strict": strict,
        "correct_lenient": lenient,
        "lists": lists,
        "lists_with_target": with_target,
        "lists_spurious": lists - with_target,
    }


def _share(part: int, whole: int) -> float:
    if whole:
        return part / whole
    return 0.0 if part else 1.0
