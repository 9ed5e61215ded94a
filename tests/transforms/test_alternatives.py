"""Gold spans with alternatives, by a case worked by hand and by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import assume, given
from hypothesis import strategies as st

from clueval import Document, Result, Span, load_result, score
from clueval.files.errors import CluevalError, UsageError

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


# A table of alternatives beside gold


HEAD = "document\tstart\tend_inclusive\tlabel\n"


def with_table(table: Path, predicted: list[tuple[int, int, str]], *gold: Span) -> Result:
    sides = [
        [Document("d", {"label": spans}, text="0123456789", unit="character")]
        for spans in (list(gold) or [Span(4, 9, "A")], [Span(*each) for each in predicted])
    ]
    return score(*sides, metrics="exact", alternatives=table)


def test_alternatives_of_a_table_are_those_of_the_case_worked_by_hand(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", f"{HEAD}d\t3\t7\tA\nd\t6\t7\t\n")

    result = with_table(table, [(3, 8, "A"), (6, 8, "A")])

    assert micro(result) == (1, 1, 0)
    prepared = result.to_dict()["prepared"]
    assert prepared == {"alternatives-table": {"gold": 2}, "groups": 1, "by_alternative": 1}
    assert "alternatives-table:" in str(result.signature)
    assert "|gold:alternatives|" in str(result.signature)


def test_alternatives_have_the_features_of_the_main_member_that_they_lack(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", f"{HEAD}d\t3\t7\tA\n")
    gold, predicted = Span(4, 9, "A", {"inst": "Q1"}), Span(3, 8, "A", {"inst": "Q1"})
    options: dict[str, Any] = {"metrics": "gate(features=['inst'])"}
    own = member(1, 3, 8, inst="Q2")

    strict = "gate.label.all.recall_strict"
    sides = [[Document("d", {"label": [span]}, tokens=["x"] * 10)] for span in (gold, predicted)]
    assert score(*sides, alternatives=table, **options).get(strict) == 1
    grouped = member(1, 4, 9, inst="Q1")
    assert score([[grouped, member(1, 3, 8)]], [[predicted]], **options).get(strict) == 1
    assert score([[grouped, own]], [[predicted]], **options).get(strict) == 0


def test_alternatives_of_a_table_belong_to_the_gold_span_that_they_overlap_most_or_name(
    tmp_path: Path,
) -> None:
    gold = Span(0, 3, "A"), Span(3, 9, "A")
    nearest = write(tmp_path / "t.tsv", f"{HEAD}d\t2\t8\tA\n")
    named = write(
        tmp_path / "n.tsv",
        "document\tstart\tend_inclusive\tof_start\tof_end_inclusive\tlabel\nd\t2\t8\t0\t2\tA\n",
    )

    assert micro(with_table(nearest, [(0, 3, "A"), (2, 9, "A")], *gold)) == (2, 0, 0)
    assert micro(with_table(named, [(0, 3, "A"), (2, 9, "A")], *gold)) == (1, 1, 1)


@pytest.mark.parametrize(("name", "past"), [("end", 0), ("end_exclusive", 0), ("end_inclusive", -1)])
def test_alternatives_of_a_table_have_ends_as_tables_of_spans_in_characters(
    name: str, past: int, tmp_path: Path
) -> None:
    table = write(
        tmp_path / "t.tsv", f"document\tstart\t{name}\tof_start\tof_{name}\nd\t3\t{8 + past}\t4\t{9 + past}\n"
    )

    assert micro(with_table(table, [(3, 8, "A")])) == (1, 0, 0)


@pytest.mark.parametrize(("name", "last"), [("end", 1), ("end_inclusive", 1), ("end_exclusive", 2)])
def test_alternatives_of_a_table_have_ends_as_tables_of_spans_in_tokens(
    name: str, last: int, tmp_path: Path
) -> None:
    table = write(tmp_path / "t.tsv", f"document\tstart\t{name}\nd\t0\t{last}\n")
    gold, predicted = (
        [Document("d", {"label": [Span(0, end, "A")]}, tokens=["a", "b", "c"])] for end in (3, 2)
    )

    assert score(gold, predicted, metrics="exact", alternatives=table).f1 == 1.0


@pytest.mark.parametrize(
    "content", ["start\tend\tlabel\n1\t1\tA\n", "start\tend_exclusive\tof_start\tof_end\n0\t1\t0\t9\n"]
)
def test_alternatives_with_a_bare_end_need_a_gold_with_a_text_or_tokens(content: str, tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", content)

    with pytest.raises(
        CluevalError, match=r"gold has neither a text nor tokens .*end_inclusive .* end_exclusive"
    ):
        score([[(0, 2, "A")]], [[(1, 2, "A")]], metrics="exact", alternatives=table)


def test_alternatives_of_a_table_may_have_gaps_and_other_labels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", 'start\tend\tfragments\tlabel\n2\t8\t2-4;7-8\t"""B"""\n')
    sides = [Span(4, 9, "A")], [Span.of_fragments([(2, 5), (7, 9)], '"B"')]

    assert score(*([side] for side in sides), metrics="exact", alternatives=table).f1 == 1.0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "lacks a column 'start'"),
        ("start\tlabel\n", "lacks a column 'start' or one column for the end"),
        ("start\tend\tof_start\n", "need each other"),
        (f"{HEAD}d\t3\t7\n", r"t\.tsv:2: the line has 3 fields, the header has 4"),
        (f"{HEAD}d\t3\tx\tA\n", r"t\.tsv:2: 'x' is not a position"),
        (f"{HEAD}d\t7\t3\tA\n", r"t\.tsv:2: span \[7,4\).* ends before it starts"),
        (f"{HEAD}d\t8\t12\tA\n", r"t\.tsv:2, document 'd': the span \[8,13\) 'A' lies outside"),
        (f"{HEAD}d\t0\t1\tA\n", r"t\.tsv:2, document 'd': no gold span of layer 'label' shares a position"),
        (f"{HEAD}e\t4\t5\tA\n", r"t\.tsv:2: gold has no document 'e'"),
    ],
)
def test_alternatives_of_a_table_that_is_invalid_are_an_error(
    content: str, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(CluevalError, match=problem):
        with_table(write(tmp_path / "t.tsv", content), [])


def test_alternatives_of_a_table_without_documents_need_a_single_document(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", "start\tend_inclusive\tlabel\n1\t1\tA\n")
    spans: list[Any] = [[(0, 2, "A")], [(0, 2, "A")]]

    assert score(spans[:1], [[(1, 2, "A")]], metrics="exact", alternatives=table).f1 == 1.0
    with pytest.raises(CluevalError, match="several documents"):
        score(spans, spans, metrics="exact", alternatives=table)
