"""Changes against a reference, contingency tables, McNemar's test."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from strategies import any_spans

from clueval.metrics.gate import Contingency, FeatureTest, Gate, changes, contingency
from clueval.metrics.metric import Side
from clueval.spans.span import Span


def found_changes(
    targets: Sequence[Span], before: Sequence[Span], after: Sequence[Span]
) -> list[tuple[str, int, str]]:
    changed, _, _ = Gate().against(Side(targets), Side(after), Side(before))
    return [(f"{change.before}_{change.after}", change.span.start, change.sign) for change in changed]


TARGET = [Span(0, 4, "T")]
RIGHT, PARTIAL, OTHER, WRONG = Span(0, 4, "T"), Span(1, 4, "T"), Span(0, 4, "X"), Span(2, 6, "X")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([RIGHT], [RIGHT], []),
        ([RIGHT], [PARTIAL], [("CS_CP", 1, "-")]),
        ([PARTIAL], [RIGHT], [("CP_CS", 0, "+")]),
        ([OTHER], [RIGHT], [("IS_CS", 0, "+")]),
        ([RIGHT], [WRONG], [("CS_IP", 2, "-")]),
        ([OTHER], [WRONG], [("IS_IP", 2, "+-")]),
        ([], [RIGHT], []),
        ([], [PARTIAL], [("ML_CP", 1, "+")]),
        ([PARTIAL], [], [("CP_ML", 0, "-")]),
    ],
)
def test_a_span_of_another_group_than_before_is_a_change(
    before: list[Span], after: list[Span], expected: list[tuple[str, int, str]]
) -> None:
    assert found_changes(TARGET, before, after) == expected


def test_span_that_the_reference_has_in_any_group_is_no_change() -> None:
    # the target is missing before; the response that gets it is the same span as the missing target
    assert found_changes(TARGET, [], [RIGHT]) == []


def test_spurious_responses_appear_and_disappear() -> None:
    far, farther = Span(10, 12, "T"), Span(20, 22, "T")

    assert found_changes(TARGET, [RIGHT, far], [RIGHT, farther]) == [("SL_A", 10, "+-"), ("A_SL", 20, "+-")]
    assert found_changes(TARGET, [RIGHT, far], [RIGHT, Span(11, 14, "T")]) == []


def test_a_change_is_an_annotation_with_both_groups_and_the_sign() -> None:
    (change,), _, _ = Gate().against(Side(TARGET), Side([PARTIAL]), Side([RIGHT]))

    assert change.annotation() == Span(1, 4, "T_CS_CP", {"_eval.change": "-"})


def naive_touching(asking: Span, a: Span) -> bool:
    return (a.start < asking.start and a.end > asking.start) or asking.start <= a.start < asking.end


SIGNS = {
    "CS": {"CP": "-", "IS": "-", "IP": "-", "ML": "-"},
    "CP": {"CS": "+", "IS": "-", "IP": "-", "ML": "-"},
    "IS": {"CS": "+", "CP": "+", "IP": "+-", "ML": "+-"},
    "IP": {"CS": "+", "CP": "+", "IS": "+-", "ML": "+-"},
    "ML": {"CS": "+", "CP": "+", "IS": "+-", "IP": "+-"},
}


@given(any_spans(), any_spans(), any_spans())
def test_changes_are_those_of_comparing_every_span_with_every_other(
    targets: list[Span], before: list[Span], after: list[Span]
) -> None:
    reference, response = (Gate().outcome(Side(targets), Side(side)) for side in (before, after))
    old, new = reference.groups(), response.groups()
    everything = [span for group in old.values() for span in group]
    expected = [
        (x, y, sign, b)
        for x, signs in SIGNS.items()
        for y, sign in signs.items()
        for a in old[x]
        for b in new[y]
        if naive_touching(a, b) and b not in everything
    ]
    expected += [("SL", "A", "+-", a) for a in old["SL"] if not any(naive_touching(a, b) for b in new["SL"])]
    expected += [("A", "SL", "+-", b) for b in new["SL"] if not any(naive_touching(b, a) for a in old["SL"])]

    found = [(c.before, c.after, c.sign, c.span) for c in changes(reference, response)]

    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_features_decide_whether_a_span_was_there_before() -> None:
    before, after = ([Span(1, 4, "T", {"f": value})] for value in (1, 2))
    metric = Gate(features=("f",))
    target = [Span(0, 4, "T", {"f": 2})]

    changed, _, _ = metric.against(Side(target), Side(after), Side(before))

    assert [(c.before, c.after) for c in changed] == [("IP", "CP")]
    assert FeatureTest(("f",)).agree(before[0], after[0]) is False


# Tables and test


def test_targets_are_counted_by_who_gets_them_right() -> None:
    targets = [Span(10 * n, 10 * n + 4, "T") for n in range(4)]
    before = [Span(0, 4, "T"), Span(10, 14, "T")]
    after = [Span(0, 4, "T"), Span(11, 14, "T"), Span(20, 24, "T"), Span(30, 34, "X")]

    _, strict, lenient = Gate().against(Side(targets), Side(after), Side(before))

    assert strict == Contingency(both=1, reference_only=1, response_only=1, neither=1)
    assert lenient == Contingency(both=2, reference_only=0, response_only=1, neither=1)
    assert strict.table == ((1, 1), (1, 1))


def test_only_single_correct_responses_make_a_target_right() -> None:
    after = [Span(0, 4, "T"), Span(2, 3, "T")]

    _, strict, lenient = Gate().against(Side(TARGET), Side(after), Side(TARGET))

    assert strict == lenient == Contingency(reference_only=1)


@given(any_spans(), any_spans(), any_spans())
def test_the_tables_are_those_of_looking_at_every_response(
    targets: list[Span], before: list[Span], after: list[Span]
) -> None:
    outcomes = [Gate().outcome(Side(targets), Side(side)) for side in (before, after)]

    def right(target: Span, number: int, lenient: bool) -> bool:
        outcome = outcomes[number]
        same = any((s.start, s.end) == (target.start, target.end) for s in outcome.single_correct("CS"))
        return same or (lenient and any(naive_touching(target, s) for s in outcome.single_correct("CP")))

    for lenient, table in enumerate(contingency(targets, *outcomes)):
        answers = [(right(t, 0, bool(lenient)), right(t, 1, bool(lenient))) for t in targets]
        expected = [
            answers.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))
        ]
        assert [table.both, table.reference_only, table.response_only, table.neither] == expected


def test_a_table_reports_its_p_value() -> None:
    assert Contingency(3, 0, 5, 1).report()["p_value"] == 0.0625
