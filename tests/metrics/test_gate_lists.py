"""GATE's candidate lists: what is built and counted, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.count import Plan, count
from clueval.core.document import Document, Pair
from clueval.core.metric import Tally, added
from clueval.core.span import Span
from clueval.files.errors import FormatError, UsageError
from clueval.metrics.gate import GateLists

# Building

SETTINGS: dict[str, Any] = {
    "types": ("T",),
    "features": ("inst",),
    "list_type": "List",
    "edge_feature": "ids",
}


def candidate(start: int, end: int, inst: str, score: object = None) -> Span:
    return Span(start, end, "E", {"inst": inst} if score is None else {"inst": inst, "score": score})


def target(start: int, end: int, inst: str) -> Span:
    return Span(start, end, "T", {"inst": inst})


def with_lists(*lists: Sequence[Span]) -> list[Span]:
    """Annotations with the candidates of each list, and list annotations over them."""
    found: list[Span] = []
    for candidates in lists:
        ids = list(range(len(found), len(found) + len(candidates)))
        place = min(c.start for c in candidates), max(c.end for c in candidates)
        found += [replace(c, id=number) for c, number in zip(candidates, ids, strict=True)]
        found.append(Span(*place, "List", {"ids": ids}, id=len(found)))
    return found


def report(*documents: tuple[Sequence[Span], Sequence[Span]], **options: Any) -> dict[str, Any]:
    """The report on documents with targets and annotations."""
    metric = GateLists(**(SETTINGS | options))
    texts = [
        [Pair(*(Document(str(number), {"label": side}) for side in sides))]
        for number, sides in enumerate(documents)
    ]
    bag = count(texts, Plan((metric,)), ["label"]).grouped(lambda place: ())
    total = added((tally, 1) for *_, tally in bag.tallies_of([metric], ["label"]))
    metric.check(total)
    return metric.scores(total, ["label"])


NAMES = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")


def four(entry: dict[str, Any]) -> tuple[int, ...]:
    return tuple(entry[name] for name in NAMES)


def test_candidates_are_named_by_their_ids_and_sorted_by_falling_score() -> None:
    options = [candidate(0, 3, inst, score) for inst, score in (("a", 0.2), ("b", 0.7), ("c", 0.7))]
    annotations = with_lists(options)

    as_named = [report(([target(0, 3, inst)], annotations))["all"]["correct_strict"] for inst in "abc"]
    by_score = [
        report(([target(0, 3, inst)], annotations), score_feature="score")["all"]["correct_strict"]
        for inst in "abc"
    ]

    assert as_named == [1, 0, 0]
    assert by_score == [0, 1, 0]


def test_a_list_whose_candidates_are_all_passed_over_is_no_list() -> None:
    annotations = with_lists([candidate(0, 3, "N")])
    sides = (
        [target(0, 3, "N")],
        [*annotations, Span(5, 6, "U", id=9), Span(7, 8, "List", {"ids": [9]}, id=10)],
    )

    def lists(**options: Any) -> int:
        return report(sides, **options)["lists"]["disambiguation"]["lists"]["all"]  # type: ignore[no-any-return]

    assert lists() == 2
    assert lists(element_type="E") == 1
    assert lists(element_type="U", nil="N") == 1
    assert lists(element_type="E", nil="N") == 0


@pytest.mark.parametrize(
    ("ids", "score", "message"),
    [
        (None, 1, "annotation 100 .* has no 'ids'"),
        ("1", 1, "annotation 100 .* has '1' as 'ids', which is not a list"),
        ([1, 9], 1, "annotation 100 .* names the candidate 9"),
        ([True], 1, "annotation 100 .* names the candidate True"),
        ([1], None, "annotation 1 .* has no score 'score'"),
        ([1], "0.5", "annotation 1 .* has the score '0.5', which is not a number"),
        ([1], 10**400, "annotation 1 .* has the score 1000.*, which is not a number"),
    ],
)
def test_broken_lists_are_refused_with_document_and_annotation(
    ids: object, score: object, message: str
) -> None:
    annotations = [
        Span(0, 3, "List", {"ids": ids}, id=100),
        replace(candidate(0, 3, "a", score), id=1),
    ]

    with pytest.raises(FormatError, match=message) as caught:
        report(([], annotations), score_feature="score")

    assert caught.value.document == "0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ()}, "at least one feature"),
        ({"types": ()}, "for one type of targets, not 0"),
        ({"types": ("A", "B")}, "for one type of targets, not 2"),
        ({"types": ("T=X",)}, "neither lists nor candidates"),
        ({"list_type": ""}, "candidate lists need Gate.list_type"),
        ({"ranks": "7"}, "unknown Gate.ranks '7'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        GateLists(**(SETTINGS | options))


@pytest.mark.parametrize("options", [{"list_type": "Lost"}, {"element_type": "Lost"}])
def test_a_type_of_lists_or_candidates_that_does_not_occur_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no predicted annotation has the type 'Lost'"):
        report(([target(0, 3, "a")], with_lists([candidate(0, 3, "a")])), **options)


# By rank and by score


def test_by_rank_a_list_is_worth_its_best_candidate_so_far() -> None:
    annotations = with_lists([candidate(0, 3, "x"), candidate(0, 2, "a"), candidate(0, 3, "a")])

    found = report(([target(0, 3, "a")], annotations))

    assert {rank: four(entry) for rank, entry in found["lists"]["by_rank"].items()} == {
        "0": (0, 0, 1, 0),
        "1": (0, 1, 0, 0),
        "2": (1, 0, 0, 0),
        "all": (1, 0, 0, 0),
    }
    assert four(found["all"]) == (0, 0, 1, 0)


def test_a_partial_match_is_not_undone_by_a_later_wrong_candidate() -> None:
    found = report(([target(0, 3, "a")], with_lists([candidate(0, 2, "a"), candidate(1, 3, "x")])))

    assert found["lists"]["by_rank"]["all"]["correct_partial"] == 1


SCORED = with_lists([candidate(0, 3, "x", 0.9), candidate(0, 3, "a", 0.4)], [candidate(7, 9, "b", 0.6)])
TARGETS = [target(0, 3, "a"), target(7, 9, "b")]


def test_by_score_a_list_is_a_response_if_a_candidate_reaches_the_threshold() -> None:
    by_score = report((TARGETS, SCORED), score_feature="score")["lists"]["by_score"]

    assert {at: (entry["responses"], entry["correct_strict"]) for at, entry in by_score.items()} == {
        "-Infinity": (2, 2),
        "0.4": (2, 2),
        "0.6": (2, 1),
        "0.9": (1, 0),
    }


def test_every_score_that_occurs_is_a_threshold_also_one_at_which_no_count_changes() -> None:
    # the candidate with the score 0.506 is as wrong as the one before it
    annotations = with_lists([candidate(0, 3, "x", 0.9), candidate(0, 3, "y", 0.506)])

    for thresholds, at in (("all", "0.506"), ("rounded", "0.51")):
        found = report(([target(0, 3, "a")], annotations), score_feature="score", thresholds=thresholds)

        assert list(found["lists"]["by_score"]) == ["-Infinity", at, "0.9"]


def test_documents_without_lists_keep_their_targets_at_every_threshold_and_rank() -> None:
    found = report((TARGETS[:1], SCORED[:3]), (TARGETS[:1], []), score_feature="score")["lists"]

    assert {entry["targets"] for entry in (*found["by_score"].values(), *found["by_rank"].values())} == {2}
    assert found["by_score"]["0.4"]["recall_strict"] == found["by_rank"]["all"]["recall_strict"] == 0.5


@pytest.mark.parametrize(("name", "last"), [("10", "10"), ("50", "50"), ("100", "100")])
def test_sets_of_ranks_have_eleven_ranks_and_all(name: str, last: str) -> None:
    ranks = list(report((TARGETS, SCORED), ranks=name)["lists"]["by_rank"])

    assert (len(ranks), ranks[0], ranks[-2:]) == (12, "0", [last, "all"])


# Disambiguation and maximum recall


def test_disambiguation_asks_at_which_rank_a_list_has_its_match() -> None:
    targets = [target(0, 3, "a"), target(10, 13, "b"), target(20, 23, "c")]
    annotations = with_lists(
        [candidate(0, 3, "x"), candidate(0, 3, "a")],
        [candidate(9, 12, "x"), candidate(9, 12, "b"), candidate(10, 13, "b")],
        [candidate(20, 23, "x")],
        [candidate(30, 33, "a")],
    )

    found = report((targets, annotations))["lists"]["disambiguation"]

    assert {rank: (entry["lists"], *four(entry)) for rank, entry in found["ranks"].items()} == {
        "0": (2, 0, 0, 1, 1),
        "1": (2, 1, 1, 0, 0),
        "2": (2, 2, 0, 0, 0),
    }
    assert found["lists"] == {
        "all": 4,
        "without_target": 1,
        "with_target": 3,
        "without_match": 1,
        "strict": 2,
        "strict_at_0": 0,
        "partial": 1,
        "partial_at_0": 0,
    }


def test_a_target_of_zero_length_at_the_start_of_a_list_belongs_to_it_in_disambiguation_alone() -> None:
    at_start = with_lists([candidate(0, 0, "a"), candidate(0, 3, "x")])

    found = report(([target(0, 0, "a")], at_start))["lists"]

    assert found["disambiguation"]["lists"]["strict_at_0"] == 1
    assert four(found["by_rank"]["all"]) == (0, 0, 0, 0)


def test_a_document_with_shorter_lists_gives_its_last_rank_to_the_higher_ones() -> None:
    short = TARGETS[:1], with_lists([candidate(0, 3, "a")])
    long = TARGETS[:1], with_lists([candidate(0, 3, "x"), candidate(0, 3, "a")])

    found = report(short, long, ([], []))["lists"]["disambiguation"]["ranks"]

    assert {rank: entry["accuracy_strict"] for rank, entry in found.items()} == {"0": 0.5, "1": 1.0}


def test_maximum_recall_lets_targets_share_a_list() -> None:
    targets = [target(0, 3, "a"), target(5, 8, "a"), target(6, 9, "a"), target(50, 51, "a")]
    annotations = with_lists([candidate(0, 3, "a"), candidate(5, 8, "a")], [candidate(70, 71, "a")])

    found = report((targets, annotations))["lists"]["maximum_recall"]

    everything = found["all"]
    assert (everything["correct_strict"], everything["correct_lenient"]) == (2, 3)
    assert (everything["targets_with_list"], everything["lists_with_target"]) == (3, 1)
    assert everything["lists_spurious"] == 1
    assert (everything["max_recall_strict"], everything["max_recall_list_lenient"]) == (0.5, 1.0)
    assert [entry["correct_strict"] for entry in found["ranks"].values()] == [1, 2]


def test_maximum_recall_of_nothing_is_1() -> None:
    metric = GateLists(**SETTINGS)

    assert metric.scores(Tally(), ["label"])["lists"]["maximum_recall"]["all"]["max_recall_strict"] == 1.0


# The plain model

Listed = tuple[Span, Sequence[Span]]
"""A list annotation, and its candidates by rank."""


def plain_counts(targets: Sequence[Span], lists: Sequence[Listed], visible: Sequence[int]) -> tuple[int, ...]:
    """Responses and the four kinds of pairs, straight from the rules, with every pairing looked at."""
    possible = []
    for number, each in enumerate(targets):
        for j, (span, candidates) in enumerate(lists):
            if not (each.overlaps(span) or span.fragments == each.fragments):
                continue
            best = None
            for c in candidates[: visible[j]]:
                same = c.fragments == each.fragments
                if same or c.overlaps(each):
                    value = 2 * (c.features["inst"] == each.features["inst"]) + same
                    if best is None or value > best[0]:
                        best = (value, c)
            if best is not None:
                possible.append((best[0], number, j, best[1]))

    def order(pair: tuple[int, int, int, Span]) -> tuple[Any, ...]:
        value, number, j, c = pair
        lost = sum(v for v, other, k, _ in possible if (other == number) != (k == j))
        return value - lost, c.start, c.end, c.id, targets[number].start, targets[number].end, number

    values = []
    left = sorted(possible, key=order, reverse=True)
    while left:
        value, number, j, _ = left[0]
        values.append(value)
        left = [pair for pair in left if pair[1] != number and pair[2] != j]
    return sum(map(bool, visible)), *(values.count(value) for value in (3, 2, 1, 0))


PLACES = st.tuples(st.integers(0, 12), st.integers(0, 4))


@st.composite
def targets_and_lists(draw: st.DrawFn) -> tuple[list[Span], list[Listed]]:
    """Targets and scored lists, the best candidate first, whose candidates have ids and may lie apart.

    Spans of three or more positions may have a gap.
    """
    inst = st.sampled_from("ab")

    def drawn(span: Span, number: int) -> Span:
        has_gap = len(span) > 2 and draw(st.booleans())
        parts = ((span.start, span.start + 1), (span.end - 1, span.end)) if has_gap else None
        return replace(span, id=number, parts=parts)

    targets = [
        drawn(target(s, s + n, draw(inst)), number)
        for number, (s, n) in enumerate(draw(st.lists(PLACES, max_size=5)))
    ]
    lists, number = [], 0
    for start, length in draw(st.lists(PLACES, max_size=4)):
        places = draw(st.lists(PLACES, min_size=1, max_size=4))
        scores = sorted((draw(st.sampled_from([0.1, 0.25, 0.5, 0.9])) for _ in places), reverse=True)
        candidates = [
            drawn(candidate(s, s + n, draw(inst), score), number + rank)
            for rank, ((s, n), score) in enumerate(zip(places, scores, strict=True))
        ]
        number += len(places)
        span = Span(start, start + length, "List", {"ids": [c.id for c in candidates]})
        lists.append((drawn(span, 100 + len(lists)), candidates))
    return targets, lists


GAP = Span.of_fragments([(0, 3), (7, 9)], "T", features={"inst": "a"}, id=0)
PLACE = Span(0, 9, "E", {"inst": "a", "score": 0.5}, id=0)
POINT, SCORED_POINT = target(5, 5, "a"), replace(PLACE, start=5, end=5)


@pytest.mark.parametrize("thresholds", ["all", "rounded", "11"])
@given(drawn=targets_and_lists())
@example(drawn=([GAP], [(Span(0, 9, "List", {"ids": [0]}, id=100), [PLACE])]))
@example(drawn=([target(4, 6, "a")], [(replace(GAP, labels="List", features={"ids": [0]}, id=100), [PLACE])]))
@example(drawn=([POINT], [(replace(POINT, labels="List", features={"ids": [0]}, id=100), [SCORED_POINT])]))
def test_lists_count_what_the_plain_model_counts(
    thresholds: str, drawn: tuple[list[Span], list[Listed]]
) -> None:
    targets, lists = drawn
    annotations = [c for _, candidates in lists for c in candidates]
    annotations += [span for span, _ in lists]
    metric = GateLists(**SETTINGS, score_feature="score", thresholds=thresholds, ranks="all")
    sides = (Document("d", {"label": side}, ordered=True) for side in (targets, annotations))
    bag = count([[Pair(*sides)]], Plan((metric,)), ["label"])
    total = added((tally, 1) for *_, tally in bag.tallies_of([metric], ["label"]))

    found = metric.scores(total, ["label"])["lists"]

    for threshold, entry in found["by_score"].items():
        visible = [sum(c.features["score"] >= float(threshold) for c in each) for _, each in lists]
        assert (entry["responses"], *four(entry)) == plain_counts(targets, lists, visible)
    for rank, entry in found["by_rank"].items():
        visible = [len(each) if rank == "all" else min(int(rank) + 1, len(each)) for _, each in lists]
        assert (entry["responses"], *four(entry)) == plain_counts(targets, lists, visible)
        assert entry["targets"] == len(targets)


@given(targets_and_lists(), st.randoms(use_true_random=False))
def test_the_order_of_annotations_with_ids_changes_no_number(
    drawn: tuple[list[Span], list[Listed]], random: Random
) -> None:
    targets, lists = drawn
    sides = [targets, [span for of_list, candidates in lists for span in (of_list, *candidates)]]
    metric = GateLists(**SETTINGS, score_feature="score")
    found = []
    for _ in range(2):
        pair = Pair(*(Document("d", {"label": side}) for side in sides))
        found.append(metric.count_documents([pair], "label", {}))
        for side in sides:
            random.shuffle(side)

    assert found[0] == found[1]
