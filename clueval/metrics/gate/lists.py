"""GATE's candidate lists: responses that offer several annotations for one place, the best first.

A *list annotation* has a feature with the ids of its candidates, which are annotations of the same layer. The
rank of a candidate is its place in the list, from 0. Candidates with scores are sorted by falling score;
equal ones keep their order. A list without candidates is not a response. Targets are of one type.

The best candidate of each list is an ordinary response, counted like any other. The lists themselves are counted at
each score and at each rank: a list is one response. Its visible candidates are those with at least this score, or up to
this rank. Its value for a target that the list annotation overlaps is that of its best visible candidate that overlaps
the target or has its range: the choice of an ideal judge. Types of candidates are ignored. The place of a truly
spurious list is that of its first candidate.

*Disambiguation* counts, for every list with a match, whether the match is among the first k candidates. *Maximum
recall* counts the targets that have a match in any list; in both, a match does not use up list or target.

Source: GATE's plugin Evaluation, its list evaluation and ``EvaluateMaxRecall``; where the behaviour of the plugin
contradicts its own description, the description.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, NamedTuple

from clueval.core.case import TOKENS, Where, order_in_key
from clueval.core.document import Pair
from clueval.core.metric import Tally
from clueval.core.span import Span, components
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.metrics.gate.counts import NAMES, CurvePoint, GateCounts, curve
from clueval.metrics.gate.equality import FeatureTest, is_nil
from clueval.metrics.gate.metric import ALL_RANKS, RANKS, Gate, GateWithin
from clueval.metrics.gate.pairing import (
    PARTIAL,
    ROUNDED,
    STRICT,
    PossiblePair,
    Touching,
    annotation_name,
    best_first,
    counts_of,
    grid_of,
    rounded,
    score_of,
    step_of,
    threshold_name,
    touches,
)

EVERY_RANK = 2147483647
"""The rank at which every candidate is visible, as the reports of GATE write it; in other reports it is `ALL_RANKS`."""

_PAIRS = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")


@dataclass(frozen=True, slots=True)
class GateLists(GateWithin):
    """GATE's evaluation of candidate lists; the score feature sorts the candidates.

    Its tally has the keys of `GateWithin` for the best candidates, and keys that begin with ``"lists"``: ``(name,)``
    for documents and targets; ``("score", score, name)`` and ``("rank", rank, name)`` for the change of a count,
    ``("occurs", score)`` for parts with a candidate of this score, ``("longest", rank)`` for parts with a list of this
    length; ``("disambiguation", ...)`` with the same for lists that have a match, and ``("kind", kind)`` for the number
    of lists; ``("recall", name)`` and ``("strict" or "lenient", rank)`` for targets by the least rank of their match;
    ``("seen", setting)`` for annotations of a type.

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
        settings = {setting.name: getattr(self, setting.name) for setting in fields(GateWithin)}
        for name in ("list_type", "edge_feature", "element_type", "ranks"):
            del settings[name]
        return GateWithin(**{**settings, "types": (self.type,), "score_feature": None, "thresholds": None})

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
        matches = self.matches(pair, sequence)
        best = by_ids(replace(each.candidates[0], labels={sequence: self.type}) for each in matches.lists)
        layers = {**pair.predicted.layers, sequence: best}
        of_best = replace(pair, predicted=replace(pair.predicted, layers=layers))
        tally.update(self.of_best.count_documents([of_best], sequence, {}))
        tally["lists", "documents"] += 1
        tally["lists", "targets"] += len(matches.targets)
        for name in ("list_type", "element_type"):
            tally["lists", "seen", name] += sum(
                span.label == getattr(self, name) for span in pair.predicted.layers.get(sequence, ())
            )
        for members, reached in matches.parts():
            self._count_part(tally, matches, members, reached)
        matches.count_disambiguation(tally)
        matches.count_recall(tally)

    def matches(self, pair: Pair, sequence: str) -> ListMatches:
        """Return the targets and the lists of a pair that count; raises `FormatError`, see `count_documents`."""
        gold, predicted = (side.layers.get(sequence, ()) for side in pair.sides)
        lists = list(self._lists(predicted))
        inside = {id(span) for span in self.inside(pair.predicted, [each.span for each in lists])}
        if self.unfiltered != self.type:
            gold = self.inside(pair.gold, gold)
        targets = by_ids(gold[number] for number in self.kept(gold, {self.type: self.type}))
        return ListMatches(targets, [each for each in lists if id(each.span) in inside], self.test)

    def _lists(self, annotations: Sequence[Span]) -> Iterator[CandidateList]:
        """Yield the lists among the predicted annotations that have candidates, by position.

        Raises `FormatError`, naming the annotation, for a list without ids, for an id that no annotation has, and for a
        candidate whose score is no number.
        """
        by_id = {span.id: span for span in annotations if span.id is not None}
        for span in by_ids(span for span in annotations if span.label == self.list_type):
            candidates = [
                candidate
                for candidate in map(by_id.__getitem__, _ids(span, str(self.edge_feature), by_id))
                if self.element_type in (None, candidate.label)
                and (self.nil is None or not is_nil(candidate, self.test.every[0], self.nil))
            ]
            scores: list[float] = []
            if self.score_feature is not None:
                of_each = [
                    score_of(candidate, self.score_feature, as_text=False, whose="candidate")
                    for candidate in candidates
                ]
                order = sorted(range(len(candidates)), key=lambda number: -of_each[number])
                scores = [of_each[number] for number in order]
                candidates = [candidates[number] for number in order]
            if candidates:
                yield CandidateList(span, candidates, scores)

    def _count_part(
        self, tally: Tally, matches: ListMatches, targets: Sequence[int], lists: Sequence[int]
    ) -> None:
        """Count targets and lists, by their numbers, at each score and at each rank."""
        several = {number: matches.lists[number] for number in lists}

        def add(kind: str, steps: Iterable[tuple[Any, dict[int, int]]]) -> None:
            """Add the changes of counts; each step has the numbers of visible candidates."""
            counts = ((at, matches.counts(len(targets), visible)) for at, visible in steps)
            _add_changes(tally, ("lists", kind), [len(targets)] + [0] * (len(NAMES) - 1), counts)

        if self.thresholds is not None:
            step = float if self.thresholds == ROUNDED else step_of(self.thresholds)
            scores = {number: list(map(step, each.scores)) for number, each in several.items()}
            occurring = sorted({*chain.from_iterable(scores.values())}, reverse=True)
            tally.update(("lists", "occurs", repr(at)) for at in occurring)
            visible = (
                {n: sum(score >= at for score in each) for n, each in scores.items()} for at in occurring
            )
            add("score", zip(map(repr, occurring), visible, strict=True))
        sizes = {number: len(each.candidates) for number, each in several.items()}
        longest = max(sizes.values(), default=0)
        add("rank", ((at, {n: min(at + 1, size) for n, size in sizes.items()}) for at in range(longest)))
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
        wanted: Iterable[float] | None = grid_of(self.thresholds)
        if wanted is None:
            scores = map(float, _numbers_by_last(total, ("lists", "occurs")))
            wanted = map(rounded, scores) if self.thresholds == ROUNDED else scores
        changes = _changes_at(total, ("lists", "score"))
        return curve(changes, total["lists", "targets"], {-math.inf, *wanted})[:-1]

    def by_rank(self, total: Tally) -> Iterator[tuple[int, GateCounts]]:
        """Yield the counts of the lists at every rank, rising; the last is `EVERY_RANK`."""
        last = max(_numbers_by_last(total, ("lists", "longest")), default=-1)
        ranks = (*RANKS.get(self.ranks, range(last + 1)), EVERY_RANK)
        return _counts_at_ranks(_changes_at(total, ("lists", "rank")), total["lists", "targets"], ranks)

    def disambiguation(self, total: Tally) -> Iterator[tuple[int, GateCounts]]:
        """Yield the counts of the lists that have a match, at every rank, rising."""
        last = max(_numbers_by_last(total, ("lists", "disambiguation", "longest")), default=0)
        return _counts_at_ranks(_changes_at(total, ("lists", "disambiguation", "rank")), 0, range(last + 1))

    def _report(self, total: Tally) -> dict[str, Any]:
        return {
            "by_score": {threshold_name(at): counts.report(self.beta) for at, counts in self.by_score(total)},
            "by_rank": {
                ALL_RANKS if rank == EVERY_RANK else str(rank): counts.report(self.beta)
                for rank, counts in self.by_rank(total)
            },
            "disambiguation": {
                "lists": {kind: total["lists", "kind", kind] for kind in _KINDS},
                "ranks": {
                    str(rank): {
                        "lists": counts.targets,
                        **{name: getattr(counts, name) for name in _PAIRS},
                        "accuracy_strict": counts.recall_strict,
                        "accuracy_lenient": counts.recall_lenient,
                    }
                    for rank, counts in self.disambiguation(total)
                },
            },
            "maximum_recall": maximum_recall(total),
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


# Lists and their candidates


class CandidateList(NamedTuple):
    """A list annotation and its candidates, the best first, with their falling scores, if they have scores."""

    span: Span
    candidates: Sequence[Span]
    scores: Sequence[float] = ()

    @property
    def range(self) -> tuple[int, int]:
        """The range from the first to the last position of the list annotation and all candidates."""
        spans = (self.span, *self.candidates)
        return min(span.start for span in spans), max(span.end for span in spans)


def _ids(span: Span, feature: str, candidates: Mapping[str | int, Span]) -> Sequence[str | int]:
    """Return the ids of the candidates of a list annotation. Raises `FormatError` for ids of no candidate."""
    ids = span.features.get(feature)
    problem = None
    if not isinstance(ids, list | tuple):
        problem = f"has no {feature!r}" if ids is None else f"has {ids!r} as {feature!r}, which is not a list"
        ids = ()
    for number in ids:
        if isinstance(number, bool) or not isinstance(number, int | str) or number not in candidates:
            problem = f"names the candidate {number!r}, which the set does not have"
    if problem is not None:
        raise FormatError(
            f"annotation {annotation_name(span)} {problem}",
            line=span.line,
            advice=f"the feature {feature!r} of a list holds a list of annotation ids",
        )
    return ids


def by_ids(spans: Iterable[Span]) -> list[Span]:
    """Return the spans by start, end and id, numbers first; one without an id has its place by content as its id."""

    def content(span: Span) -> tuple[Any, ...]:
        return order_in_key(span, "", [TOKENS, *sorted(span.features)])

    def by_id(numbered: tuple[int, Span]) -> tuple[int, int, bool, int, str]:
        place, span = numbered
        if isinstance(span.id, str):
            return span.start, span.end, True, 0, span.id
        return span.start, span.end, False, place if span.id is None else span.id, ""

    return [span for _, span in sorted(enumerate(sorted(spans, key=content)), key=by_id)]


class _Match(NamedTuple):
    """A target near a list, and the least rank of a candidate of each value of a pairing.

    `overlaps` says whether target and list overlap, `is_near` whether they overlap or have the same fragments,
    `touches` whether the target touches the list (`clueval.metrics.gate.pairing.touches`).
    """

    target: int
    ranks: Mapping[int, int]
    overlaps: bool
    is_near: bool
    touches: bool


class ListMatches:
    """The targets and the lists of a document, and the targets that candidates of each list match.

    Targets come by position, lists by their ranges; both are named by their numbers. Holds the pairs that match or
    are near each other.
    """

    def __init__(self, targets: Sequence[Span], lists: Iterable[CandidateList], test: FeatureTest) -> None:
        self.targets, self._test = targets, test
        self.lists = sorted(lists, key=lambda candidate_list: candidate_list.range)
        self._candidates = by_ids(chain.from_iterable(each.candidates for each in self.lists))
        places = {id(span): place for place, span in enumerate(self._candidates)}
        self._places = [
            [places[id(candidate)] for candidate in candidate_list.candidates]
            for candidate_list in self.lists
        ]
        self._index = Touching(targets)
        self._by_list = [self._matches_of(candidate_list) for candidate_list in self.lists]

    def _matches_of(self, candidate_list: CandidateList) -> list[_Match]:
        span = candidate_list.span
        matches = []
        for number in self._index.near(span):
            target = self.targets[number]
            overlaps = span.overlaps(target)
            is_near = overlaps or span.fragments == target.fragments
            ranks: dict[int, int] = {}
            for rank, candidate in enumerate(candidate_list.candidates):  # whose types do not count
                same = target.fragments == candidate.fragments
                if same or target.overlaps(candidate):
                    ranks.setdefault(2 * self._test.agree(target, candidate, target.label) + same, rank)
            matches.append(_Match(number, ranks, overlaps, is_near, touches(span, target)))
        return matches

    def parts(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield targets and lists that overlap, directly or through others; a list reaches over all its candidates."""
        rows = [(span.start, span.end, False, number) for number, span in enumerate(self.targets)]
        rows += [(*candidate_list.range, True, number) for number, candidate_list in enumerate(self.lists)]
        for members in components(sorted(rows), touching=True):
            yield (
                [number for *_, is_list, number in members if not is_list],
                [number for *_, is_list, number in members if is_list],
            )

    def counts(self, targets: int, visible: Mapping[int, int]) -> list[int]:
        """Return the counts of a part, in the order of `NAMES`.

        `targets` is their number, `visible` the number of visible candidates of each list.
        """
        pairs, same = self._possible(visible)
        taken = best_first(pairs)
        spurious = Touching(self._spurious(visible, taken))
        touched = [pair.target for pair in taken if spurious.find(self.targets[pair.target])]
        return counts_of((targets, sum(map(bool, visible.values()))), pairs, taken, touched, same)

    def outcomes(self, score: float = -math.inf) -> tuple[list[tuple[int, int, Span]], list[Span]]:
        """Return value, target and chosen candidate of each pair, and the first candidate of each spurious list.

        Candidates with at least this score are visible; those without scores always are.
        """
        visible = {
            number: sum(at >= score for at in each.scores) if each.scores else len(each.candidates)
            for number, each in enumerate(self.lists)
        }
        taken = best_first(self._possible(visible)[0])
        pairs = [(pair.value, pair.target, self._candidates[pair.rank]) for pair in taken]
        return pairs, self._spurious(visible, taken)

    def _possible(self, visible: Mapping[int, int]) -> tuple[list[PossiblePair], Counter[int]]:
        """Return the pairings that are possible, and how many lists have a candidate at the place of each target."""
        pairs = []
        same: Counter[int] = Counter()
        for number, shown in visible.items():
            for match in self._by_list[number] if shown else ():
                ranks = {value: rank for value, rank in match.ranks.items() if rank < shown}
                if ranks and match.is_near:
                    best = max(ranks)
                    pairs.append(PossiblePair(best, match.target, number, self._places[number][ranks[best]]))
                    if STRICT in ranks or 1 in ranks:
                        same[match.target] += 1
        return pairs, same

    def _spurious(self, visible: Mapping[int, int], taken: Iterable[PossiblePair]) -> list[Span]:
        used = {pair.response for pair in taken}
        return [self.lists[n].candidates[0] for n, shown in visible.items() if shown and n not in used]

    def first_matches(self) -> Iterator[tuple[CandidateList, int, int | None, int | None]]:
        """Yield each list, the number of targets that touch it, and the least rank of a strict and a partial match."""
        for candidate_list, matches in zip(self.lists, self._by_list, strict=True):
            touching = [match for match in matches if match.touches]
            strict, partial = (
                min((match.ranks[value] for match in touching if value in match.ranks), default=None)
                for value in (STRICT, PARTIAL)
            )
            yield candidate_list, len(touching), strict, partial

    def count_disambiguation(self, tally: Tally) -> None:
        """Count, for every list with a match, the rank at which a right candidate appears; lists may share a target."""
        kinds: Counter[str] = Counter()
        for candidate_list, touching, strict, partial in self.first_matches():
            kinds["all"] += 1
            kinds["with_target" if touching else "without_target"] += 1
            if strict is None and partial is None:
                kinds["without_match"] += bool(touching)
                continue
            for kind, rank in (("strict", strict), ("partial", partial)):
                kinds[kind] += rank is not None
                kinds[f"{kind}_at_0"] += rank == 0
            outcomes = []
            for rank, candidate in enumerate(candidate_list.candidates):
                if strict is not None and rank >= strict:
                    outcome = "correct_strict"
                elif partial is not None and rank >= partial:
                    outcome = "correct_partial"
                elif candidate.fragments == candidate_list.span.fragments:
                    outcome = "incorrect_strict"
                else:
                    outcome = "incorrect_partial"
                outcomes.append((rank, GateCounts(1, 1)._replace(**{outcome: 1})))
            _add_changes(tally, ("lists", "disambiguation", "rank"), [0] * len(NAMES), outcomes)
        for kind in _KINDS if self.lists else ():
            tally["lists", "kind", kind] += kinds[kind]
        longest = max((len(candidate_list.candidates) for candidate_list in self.lists), default=1)
        tally["lists", "disambiguation", "longest", longest - 1] += 1

    def recall(self) -> Iterator[tuple[bool, int | None, int | None]]:
        """Yield of each target whether it has a list, and the least rank of a strict match and of any match.

        A target of zero length has no strict match.
        """
        by_target: dict[int, list[Mapping[int, int]]] = {}
        for match in chain.from_iterable(self._by_list):
            if match.overlaps:
                by_target.setdefault(match.target, []).append(match.ranks)
        for number, target in enumerate(self.targets):
            lists = by_target.get(number, ())
            strict = [ranks[STRICT] for ranks in lists if STRICT in ranks and len(target)]
            partial = [ranks[PARTIAL] for ranks in lists if PARTIAL in ranks]
            yield number in by_target, min(strict, default=None), min([*strict, *partial], default=None)

    def count_recall(self, tally: Tally) -> None:
        """Count the targets that have a match in any list, by its least rank."""
        for with_list, *ranks in self.recall():
            tally["lists", "recall", "targets"] += 1
            tally["lists", "recall", "targets_with_list"] += with_list
            for name, rank in zip(("strict", "lenient"), ranks, strict=True):
                if rank is not None:
                    tally["lists", name, rank] += 1
        tally["lists", "recall", "lists"] += len(self.lists)
        tally["lists", "recall", "lists_with_target"] += sum(
            any(match.overlaps for match in matches) for matches in self._by_list
        )


_KINDS = (
    *("all", "without_target", "with_target", "without_match"),
    *("strict", "strict_at_0", "partial", "partial_at_0"),
)
"""The kinds of lists that disambiguation counts."""


# Sums of counts


def _add_changes(
    tally: Tally, path: tuple[Any, ...], before: Sequence[int], steps: Iterable[tuple[Any, Sequence[int]]]
) -> None:
    """Add under a path what changes in the counts at each step, from those before the first on."""
    for at, after in steps:
        for name, old, new in zip(NAMES, before, after, strict=True):
            if old != new:
                tally[(*path, at, name)] += new - old
        before = after


def _changes_at(total: Tally, path: tuple[Any, ...]) -> dict[float, list[int]]:
    """Return the changes of counts at each score or rank."""
    changes: dict[float, list[int]] = {}
    for key, number in total.items():
        if key[:-2] == path:
            changes.setdefault(float(key[-2]), [0] * len(NAMES))[NAMES.index(key[-1])] += number
    return changes


def _numbers_by_last(total: Tally, path: tuple[Any, ...]) -> dict[Any, int]:
    return {key[-1]: number for key, number in total.items() if key[:-1] == path}


def _counts_at_ranks(
    changes: Mapping[float, Sequence[int]], targets: int, ranks: Iterable[int]
) -> Iterator[tuple[int, GateCounts]]:
    """Yield the counts at these ranks, which rise; at a rank all candidates up to it are visible."""
    points = curve({-rank: change for rank, change in changes.items()}, targets, [-rank for rank in ranks])
    for at, counts in reversed(points[:-1]):
        yield int(-at), counts


def maximum_recall(total: Tally) -> dict[str, Any]:
    """Return the maximum recall of all candidates, and of those up to each rank."""
    strict, lenient = (_numbers_by_last(total, ("lists", name)) for name in ("strict", "lenient"))
    ranks = range(max([*strict, *lenient], default=-1) + 1)
    return {
        "all": _recalls(total, strict, lenient),
        "ranks": {str(rank): _recalls(total, strict, lenient, rank) for rank in ranks},
    }


def _recalls(
    total: Tally, strict: Mapping[int, int], lenient: Mapping[int, int], rank: int = EVERY_RANK
) -> dict[str, float]:
    """Return counts and recalls with the candidates up to a rank; 0/0 is 1."""
    names = ("targets", "targets_with_list", "lists", "lists_with_target")
    targets, with_list, lists, with_target = (total["lists", "recall", name] for name in names)
    correct = {
        name: sum(number for at, number in of_ranks.items() if at <= rank)
        for name, of_ranks in (("strict", strict), ("lenient", lenient))
    }
    shares = {
        f"{share}_{name}": number / whole if whole else float(not number)
        for share, whole in (("max_recall", targets), ("max_recall_list", with_list))
        for name, number in correct.items()
    }
    return {
        **shares,
        "targets": targets,
        "targets_with_list": with_list,
        "correct_strict": correct["strict"],
        "correct_lenient": correct["lenient"],
        "lists": lists,
        "lists_with_target": with_target,
        "lists_spurious": lists - with_target,
    }
