"""A table of alternatives beside gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Document, Result, Span, score
from clueval.exceptions import CluevalError

HEAD = "document\tstart\tend_inclusive\tlabel\n"


def exact(table: Path, predicted: list[tuple[int, int, str]], *gold: Span) -> Result:
    sides = [
        [Document("d", {"label": spans}, text="0123456789", unit="character")]
        for spans in (list(gold) or [Span(4, 9, "A")], [Span(*each) for each in predicted])
    ]
    return score(*sides, metrics="exact", alternatives=table)


def micro(result: Result) -> tuple[float, float, float]:
    found = result.metrics["exact"]["label"]["micro"]
    return found["tp_gold"], found["fp"], found["fn"]


def test_alternatives_of_a_table_are_those_of_the_case_worked_by_hand(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", f"{HEAD}d\t3\t7\tA\nd\t6\t7\t\n")

    result = exact(table, [(3, 8, "A"), (6, 8, "A")])

    assert micro(result) == (1, 1, 0)
    prepared = result.to_dict()["prepared"]
    assert prepared == {"alternatives-table": {"gold": 2}, "groups": 1, "by_alternative": 1}
    assert "alternatives-table:" in str(result.signature)
    assert "|gold:alternatives|" in str(result.signature)


def test_alternatives_of_a_table_belong_to_the_gold_span_that_they_overlap_most_or_name(
    tmp_path: Path,
) -> None:
    gold = Span(0, 3, "A"), Span(3, 9, "A")
    nearest = write(tmp_path / "t.tsv", f"{HEAD}d\t2\t8\tA\n")
    named = write(
        tmp_path / "n.tsv",
        "document\tstart\tend_inclusive\tof_start\tof_end_inclusive\tlabel\nd\t2\t8\t0\t2\tA\n",
    )

    assert micro(exact(nearest, [(0, 3, "A"), (2, 9, "A")], *gold)) == (2, 0, 0)
    assert micro(exact(named, [(0, 3, "A"), (2, 9, "A")], *gold)) == (1, 1, 1)


def test_alternatives_of_a_table_may_have_gaps_and_other_labels(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", "start\tend\tfragments\tlabel\n2\t8\t2-4;7-8\tB\n")
    sides = [Span(4, 9, "A")], [Span.of_fragments([(2, 5), (7, 9)], "B")]

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
        exact(write(tmp_path / "t.tsv", content), [])


def test_alternatives_of_a_table_without_documents_need_a_single_document(tmp_path: Path) -> None:
    table = write(tmp_path / "t.tsv", "start\tend\tlabel\n1\t1\tA\n")
    spans: list[Any] = [[(0, 2, "A")], [(0, 2, "A")]]

    assert score(spans[:1], [[(1, 2, "A")]], metrics="exact", alternatives=table).f1 == 1.0
    with pytest.raises(CluevalError, match="several documents"):
        score(spans, spans, metrics="exact", alternatives=table)
