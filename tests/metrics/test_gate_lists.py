"""Candidate lists: what is built, and what is counted, by hand and against a plain model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.span import Span
from clueval.files.errors import FormatError, UsageError
from clueval.metrics.counting import Tally
from clueval.metrics.gate import (
    CandidateList,
    FeatureTest,
    GateCounts,
    MaximumRecall,
    best_candidates,
    candidate_lists,
    count_lists_by_rank,
    count_lists_by_score,
    disambiguation,
    disambiguation_curve,
    lists_curve,
    maximum_recall,
    parse_thresholds,
    ranks_curve,
)
from clueval.metrics.gate.candidate_lists import ALL_RANKS, RANKS
from clueval.spans.document import Document

BY_INST = FeatureTest(("inst",))


def candidate(start: int, end: int, inst: str, number: int = 0, score: object = None) -> Span:
    features = {"inst": inst} if score is None else {"inst": inst, "score": score}
    return Span(start, end, "Lookup", features, id=number)


def target(start: int, end: int, inst: str, number: int = 0) -> Span:
    return Span(start, end, "Mention", {"inst": inst}, id=number)


def edge(start: int, end: int, ids: object, number: int = 100) -> Span:
    return Span(start, end, "List", {"ids": ids}, id=number)


def a_list(*candidates: Span, scores: Sequence[float] | None = None) -> CandidateList:
    place = min(c.start for c in candidates), max(c.end for c in candidates)
    return CandidateList(Span(*place, "List"), candidates, None if scores is None else tuple(scores))


# Building


def test_candidates_are_named_by_their_ids_and_sorted_by_falling_score() -> None:
    annotations = [
        edge(0, 3, [1, 2, 3]),
        candidate(0, 3, "a", 1, 0.2),
        candidate(0, 3, "b", 2, 0.7),
        candidate(0, 3, "c", 3, 0.7),
    ]

    (as_named,) = candidate_lists(annotations, "List", "ids")
    (by_score,) = candidate_lists(annotations, "List", "ids", score_feature="score")

    assert [c.id for c in as_named.candidates] == [1, 2, 3]
    assert [c.id for c in by_score.candidates] == [2, 3, 1]
    assert by_score.scores == (0.7, 0.7, 0.2)
    assert [c.id for c in best_candidates([by_score])] == [2]


def test_a_list_whose_candidates_are_all_passed_over_is_no_list() -> None:
    annotations = [edge(0, 3, [1]), candidate(0, 3, "NIL", 1), edge(5, 6, [], 101)]

    assert candidate_lists(annotations, "List", "ids", element_type="Other") == []
    assert candidate_lists(annotations, "List", "ids", nil=("inst", "NIL")) == []
    assert len(candidate_lists(annotations, "List", "ids")) == 1


@pytest.mark.parametrize(
    ("ids", "score", "message"),
    [
        (None, 1, "annotation 100 .* has no 'ids'"),
        ("1", 1, "annotation 100 .* has '1' as 'ids', which is not a list"),
        ([1, 9], 1, "annotation 100 .* names the candidate 9"),
        ([1], None, "annotation 1 .* has no score 'score'"),
        ([1], "0.5", "annotation 1 .* has the score '0.5', which is not a number"),
        ([1], 10**400, "annotation 1 .* has the score 1000.*, which is not a number"),
    ],
)
def test_broken_lists_are_refused_with_document_and_annotation(
    ids: object, score: object, message: str
) -> None:
    annotations = [edge(0, 3, ids), candidate(0, 3, "a", 1, score)]
    document = Document("doc7", {}, unit="character")

    with pytest.raises(FormatError, match=message) as caught:
        candidate_lists(annotations, "List", "ids", score_feature="score", document=document)

    assert "document 'doc7'" in str(caught.value)


def test_lists_need_a_feature_and_scores_where_these_are_asked_for() -> None:
    lists = [a_list(candidate(0, 3, "a"))]

    with pytest.raises(UsageError, match="at least one feature"):
        count_lists_by_rank([], lists, FeatureTest())
    with pytest.raises(UsageError, match="has no scores"):
        count_lists_by_score([], lists, BY_INST)


ONE = Span(0, 1)


@pytest.mark.parametrize(
    ("candidates", "scores"), [((), None), ((ONE,), (1.0, 2.0)), ((ONE, ONE), (1.0, 2.0))]
)
def test_impossible_lists_are_refused(candidates: tuple[Span, ...], scores: tuple[float, ...] | None) -> None:
    with pytest.raises(UsageError):
        CandidateList(Span(0, 1), candidates, scores)


# By rank and by score


def test_by_rank_a_list_is_worth_its_best_candidate_so_far() -> None:
    lists = [a_list(candidate(0, 3, "x"), candidate(0, 2, "a"), candidate(0, 3, "a"))]

    points = ranks_curve(count_lists_by_rank([target(0, 3, "a")], lists, BY_INST))

    assert [(rank, counts[2:6]) for rank, counts in points] == [
        (0, (0, 0, 1, 0)),
        (1, (0, 1, 0, 0)),
        (2, (1, 0, 0, 0)),
        (ALL_RANKS, (1, 0, 0, 0)),
    ]


def test_a_partial_match_is_not_undone_by_a_later_wrong_candidate() -> None:
    lists = [a_list(candidate(0, 2, "a"), candidate(1, 3, "x"))]

    points = ranks_curve(count_lists_by_rank([target(0, 3, "a")], lists, BY_INST))

    assert points[-1][1].correct_partial == 1


def test_by_score_a_list_is_a_response_if_a_candidate_reaches_the_threshold() -> None:
    lists = [
        a_list(candidate(0, 3, "x"), candidate(0, 3, "a"), scores=(0.9, 0.4)),
        a_list(candidate(7, 9, "b"), scores=(0.6,)),
    ]
    total = count_lists_by_score([target(0, 3, "a"), target(7, 9, "b")], lists, BY_INST)

    points = lists_curve(total)

    assert [(p.threshold, p.counts.responses, p.counts.correct_strict) for p in points] == [
        (-math.inf, 2, 2),
        (0.4, 2, 2),
        (0.6, 2, 1),
        (0.9, 1, 0),
    ]


def test_documents_without_lists_keep_their_targets_at_every_threshold_and_rank() -> None:
    lists = [a_list(candidate(0, 3, "a"), scores=(0.5,))]
    targets = [target(0, 3, "a")]

    by_score = count_lists_by_score(targets, lists, BY_INST) + count_lists_by_score(targets, [], BY_INST)
    by_rank = count_lists_by_rank(targets, lists, BY_INST) + count_lists_by_rank(targets, [], BY_INST)

    assert [p.counts.recall_strict for p in lists_curve(by_score)] == [0.5, 0.5]
    assert [counts.recall_strict for _, counts in ranks_curve(by_rank)] == [0.5, 0.5]


def test_sets_of_ranks_have_eleven_ranks_and_all() -> None:
    for name, last in (("10", 10), ("50", 50), ("100", 100)):
        ranks = [rank for rank, _ in ranks_curve(Tally(), RANKS[name])]
        assert (len(ranks), ranks[0], ranks[-2], ranks[-1]) == (12, 0, last, ALL_RANKS)


def naive_list_counts(
    targets: Sequence[Span], lists: Sequence[CandidateList], visible: Sequence[int]
) -> tuple[int, ...]:
    """Responses and the four kinds of pairs, straight from the rules, with every pairing looked at."""
    possible = []
    for t in targets:
        for j, each in enumerate(lists):
            place = (each.span.start, each.span.end)
            if not (t.overlaps(each.span) or place == (t.start, t.end)):
                continue
            best = None
            for c in each.candidates[: visible[j]]:
                same = (c.start, c.end) == (t.start, t.end)
                if same or c.overlaps(t):
                    value = 2 * (c.features["inst"] == t.features["inst"]) + same
                    if best is None or value > best[0]:
                        best = (value, c)
            if best is not None:
                possible.append((best[0], t, j, best[1]))

    def order(p: tuple[int, Span, int, Span]) -> tuple[object, ...]:
        value, t, j, c = p
        lost = sum(v for v, u, k, _ in possible if (u is t) != (k == j))
        return value - lost, c.start, c.end, c.id, t.start, t.end, t.id

    values = []
    left = sorted(possible, key=order, reverse=True)  # type: ignore[arg-type]
    while left:
        value, t, j, _ = left[0]
        values.append(value)
        left = [p for p in left if p[1] is not t and p[2] != j]
    return sum(map(bool, visible)), *(values.count(v) for v in (3, 2, 1, 0))


PLACES = st.tuples(st.integers(0, 12), st.integers(1, 4))


@st.composite
def lists_and_targets(draw: st.DrawFn) -> tuple[list[Span], list[CandidateList]]:
    """Targets and scored lists whose candidates have ids of their own and may lie apart."""
    inst = st.sampled_from("ab")
    targets = [
        target(s, s + n, draw(inst), number)
        for number, (s, n) in enumerate(draw(st.lists(PLACES, max_size=5)))
    ]
    lists, number = [], 0
    for start, length in draw(st.lists(PLACES, max_size=4)):
        candidates = []
        for s, n in draw(st.lists(PLACES, min_size=1, max_size=4)):
            candidates.append(candidate(s, s + n, draw(inst), number))
            number += 1
        drawn = [draw(st.sampled_from([0.1, 0.25, 0.5, 0.9])) for _ in candidates]
        scores = tuple(sorted(drawn, reverse=True))
        lists.append(CandidateList(Span(start, start + length, "List"), tuple(candidates), scores))
    return targets, lists


@given(lists_and_targets(), st.sampled_from(["all", "rounded", "11"]))
def test_lists_by_score_count_what_the_plain_model_counts(
    drawn: tuple[list[Span], list[CandidateList]], thresholds: str
) -> None:
    targets, lists = drawn

    total = count_lists_by_score(targets, lists, BY_INST, parse_thresholds(thresholds))

    for threshold, counts in lists_curve(total, parse_thresholds(thresholds)):
        visible = [sum(s >= threshold for s in each.scores or ()) for each in lists]
        assert counts[1:6] == naive_list_counts(targets, lists, visible)


@given(lists_and_targets())
def test_lists_by_rank_count_what_the_plain_model_counts(
    drawn: tuple[list[Span], list[CandidateList]],
) -> None:
    targets, lists = drawn

    for rank, counts in ranks_curve(count_lists_by_rank(targets, lists, BY_INST)):
        visible = [min(rank + 1, len(each)) for each in lists]
        assert counts[1:6] == naive_list_counts(targets, lists, visible)
        assert counts.targets == len(targets)


# Disambiguation and maximum recall


def test_disambiguation_asks_at_which_rank_a_list_has_its_match() -> None:
    targets = [target(0, 3, "a"), target(10, 13, "b"), target(20, 23, "c")]
    lists = [
        a_list(candidate(0, 3, "x"), candidate(0, 3, "a")),
        a_list(candidate(10, 12, "x"), candidate(9, 12, "b"), candidate(10, 13, "b")),
        a_list(candidate(20, 23, "x")),
        a_list(candidate(30, 33, "a")),
    ]

    tally = disambiguation(targets, lists, BY_INST)
    points = disambiguation_curve([tally])

    assert [counts[:6] for _, counts in points] == [
        (2, 2, 0, 0, 1, 1),
        (2, 2, 1, 1, 0, 0),
        (2, 2, 2, 0, 0, 0),
    ]
    assert {key[1]: n for key, n in tally.items() if key[0] == "lists"} == {
        "all": 4,
        "with_target": 3,
        "without_target": 1,
        "without_match": 1,
        "strict": 2,
        "strict_at_0": 0,
        "partial": 1,
        "partial_at_0": 0,
    }


def test_a_document_with_shorter_lists_gives_its_last_rank_to_the_higher_ones() -> None:
    short = disambiguation([target(0, 3, "a")], [a_list(candidate(0, 3, "a"))], BY_INST)
    long = disambiguation([target(0, 3, "a")], [a_list(candidate(0, 3, "x"), candidate(0, 3, "a"))], BY_INST)
    empty = disambiguation([], [], BY_INST)

    points = disambiguation_curve([short, long, empty])

    assert [counts.precision_strict for _, counts in points] == [0.5, 1.0]
    assert disambiguation_curve([empty]) == [(0, GateCounts())]


def test_maximum_recall_lets_targets_share_a_list() -> None:
    shared = CandidateList(Span(0, 8, "List"), (candidate(0, 3, "a"), candidate(5, 8, "a")))
    targets = [target(0, 3, "a"), target(5, 8, "a"), target(6, 9, "a", 5), target(50, 51, "a")]

    found = maximum_recall(targets, [shared, a_list(candidate(70, 71, "a"))], BY_INST)

    report = found.report()
    assert (report["correct_strict"], report["correct_lenient"]) == (2, 3)
    assert (report["targets_with_list"], report["lists_with_target"], report["lists_spurious"]) == (3, 1, 1)
    assert (report["max_recall_strict"], report["max_recall_list_lenient"]) == (0.5, 1.0)
    assert found.report(0)["correct_strict"] == 1
    assert found.ranks == 2
    assert (found + found).report()["max_recall_strict"] == 0.5


def test_maximum_recall_of_nothing_is_1() -> None:
    assert MaximumRecall().report()["max_recall_strict"] == 1.0
