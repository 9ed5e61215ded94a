"""Cases of two equal spans can be left out where they stand; what is left are those in which sides differ."""

from __future__ import annotations

from clueval.core.case import EqualCase, located
from clueval.core.document import Document
from clueval.core.span import Span


def sides(*of_sides: list[Span]) -> list[Document]:
    return [Document("d", {"x": spans}) for spans in of_sides]


def test_equal_cases_are_left_out_and_kept_apart() -> None:
    gold = [Span(0, 2, "A"), Span(4, 5, "B"), Span(7, 9, "C"), Span(10, 11, "D")]
    predicted = [Span(0, 2, "A"), Span(4, 5, "X"), Span(7, 8, "C"), Span(12, 13, "D")]
    equal: list[EqualCase] = []
    found = list(located(sides(gold, predicted), ["x"], equal=equal))

    assert [case.first for case in found] == [4, 7, 10, 12]
    assert [(each.sequence, each.start, each.end, each.span.label) for each in equal] == [("x", 0, 2, "A")]


def test_spans_with_gaps_and_spans_of_one_side_are_no_equal_cases() -> None:
    gaps = [Span.of_fragments([(0, 1), (2, 3)], "A")]
    twice = [Span(5, 6, "B"), Span(5, 6, "B")]
    found = list(located(sides(gaps + twice, gaps), ["x"], equal=[]))

    assert [case.first for case in found] == [0, 5]


def test_without_the_list_all_cases_come() -> None:
    same = [Span(0, 2, "A")]

    assert len(list(located(sides(same, same), ["x"]))) == 1
