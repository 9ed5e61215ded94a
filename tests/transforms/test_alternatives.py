"""Gold spans with alternatives, by a case worked by hand and by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clueval import Result, Span, load_result, score
from clueval.exceptions import UsageError

Triple = tuple[int, int, str]


def member(group: object, start: int, end: int, label: str = "A", **features: Any) -> Span:
    return Span(start, end, label, {"group": group, **features})


def exact(gold: list[Span], predicted: list[Triple], **options: Any) -> Result:
    return score([gold], [[Span(*each) for each in predicted]], metrics="exact", **options)


def micro(result: Result) -> tuple[float, float, float]:
    found = result.metrics["exact"]["label"]["micro"]
    return found["tp_gold"], found["fp"], found["fn"]


GOLD = [member(1, 4, 9), member(1, 3, 8), member(1, 6, 8)]


def test_alternatives_count_once_and_a_further_prediction_is_wrong() -> None:
    result = exact(GOLD, [(3, 8, "A"), (6, 8, "A")])

    assert micro(result) == (1, 1, 0)
    assert result.to_dict()["prepared"] == {"by_alternative": 1, "groups": 1}
    assert "|gold:alternatives|" in str(result.signature)
    assert "gold spans with alternatives" in str(result)


@pytest.mark.parametrize(
    ("prediction", "by_alternative"),
    [
        ((2, 6, "A"), 1),  # [3,8) shares 3 positions, [4,9) only 2
        ((4, 8, "A"), 0),  # [4,9) and [3,8) share 4 positions: the main member
        ((2, 6, "B"), 0),  # no prediction of the label is near: the main member
        ((10, 12, "A"), 0),
    ],
)
def test_alternatives_without_an_equal_prediction_become_the_nearest_member(
    prediction: Triple, by_alternative: int
) -> None:
    result = exact(GOLD, [prediction])

    assert micro(result) == (0, 1, 1)
    assert result.to_dict()["prepared"] == {"by_alternative": by_alternative, "groups": 1}


def test_alternatives_that_are_optional_may_be_left_out() -> None:
    optional = [member(1, 4, 9, optional=True), member(1, 3, 8)]

    assert micro(exact(optional, [])) == (0, 0, 0)
    assert micro(exact(optional, [(3, 8, "A")])) == (1, 0, 0)
    assert micro(exact(optional, [(5, 6, "A")])) == (0, 1, 1)
    assert micro(exact(optional, [(5, 6, "B")])) == (0, 1, 0)


def test_alternatives_move_to_other_members_so_that_more_groups_are_right() -> None:
    gold = [member(1, 0, 2), member(1, 5, 6), member(2, 0, 2)]

    assert micro(exact(gold, [(0, 2, "A"), (5, 6, "A")])) == (2, 0, 0)


def test_alternatives_leave_a_prediction_to_a_span_without_any() -> None:
    gold = [member(1, 0, 2), member(1, 5, 6), Span(0, 2, "A")]

    assert micro(exact(gold, [(0, 2, "A"), (5, 6, "A")])) == (2, 0, 0)


def test_alternatives_in_long_chains_need_no_deep_recursion() -> None:
    n = 3_000
    gold = [each for i in range(n) for each in (member(i, i, i + 1), member(i, i + 1, i + 2))]
    last = member(n, 0, 1)

    assert micro(exact([*gold, last], [(i, i + 1, "A") for i in range(n + 1)])) == (n + 1, 0, 0)


def test_alternatives_of_a_prediction_are_an_error() -> None:
    with pytest.raises(UsageError, match=r"predicted span \[4,9\) 'A' has alternatives"):
        score([GOLD], [GOLD], metrics="exact")


def test_alternatives_of_results_add_and_are_saved(tmp_path: Path) -> None:
    one = exact(GOLD, [(3, 8, "A")])
    both = one + one

    assert both.to_dict()["prepared"] == {"by_alternative": 2, "groups": 2}
    both.save(tmp_path / "both.clueval")
    assert load_result(tmp_path / "both.clueval").to_dict()["prepared"] == both.to_dict()["prepared"]


PLACES = st.tuples(st.integers(0, 3), st.integers(1, 2), st.sampled_from("AB"))
SPANS = st.lists(PLACES.map(lambda each: (each[0], each[0] + each[1], each[2])), max_size=4, unique=True)
GROUPS = st.lists(st.lists(PLACES, min_size=1, max_size=3), max_size=4)


@given(GROUPS, SPANS, SPANS)
def test_alternatives_give_the_most_true_positives_of_all_choices(
    groups: list[list[Any]], others: list[Triple], predicted: list[Triple]
) -> None:
    listed = [[(start, start + length, label) for start, length, label in members] for members in groups]
    gold = [member(n, *each) for n, members in enumerate(listed) for each in members]

    assume(gold or others or predicted)
    found = micro(exact([*gold, *(Span(*each) for each in others)], predicted))

    best = max(
        sum((Counter([*choice, *others]) & Counter(predicted)).values()) for choice in product(*listed)
    )
    assert found[:2] == (best, len(predicted) - best)


@given(SPANS, SPANS)
def test_alternatives_of_one_member_change_nothing(gold: list[Triple], predicted: list[Triple]) -> None:
    alone = [member(n, *each) for n, each in enumerate(gold)]

    for metric in ("exact", "gate"):
        one, other = (
            score([side], [[Span(*each) for each in predicted]], metrics=metric).metrics
            for side in (alone, [Span(*each) for each in gold])
        )
        assert one == other
