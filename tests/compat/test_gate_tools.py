"""What GATE asks for besides its scores: changes against a reference, contingency tables, candidate lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from clueval import Document, Span, score
from clueval.compat.gate import COLUMNS
from clueval.core.document import Pair
from clueval.files.errors import UsageError
from clueval.metrics.gate import Gate
from clueval.metrics.gate.equality import FeatureTest
from clueval.metrics.gate.outcomes import Change, TargetOutcome, changes, outcome_of
from clueval.results import reference
from clueval.results.reference import contingency
from tests.cases import any_spans
from tests.oracles import asked


def outcome(metric: Gate, targets: Sequence[Span], responses: Sequence[Span]) -> TargetOutcome:
    gold, predicted = (
        Document("d", {"label": spans}, text="x" * 100, unit="character") for spans in (targets, responses)
    )
    return outcome_of(metric, Pair(gold, predicted), "label")


def against(
    metric: Gate, targets: Sequence[Span], before: Sequence[Span], after: Sequence[Span]
) -> tuple[list[Change], list[int], list[int]]:
    """The changes that GATE shows; the numbers of targets that both, one or none got right, strictly, leniently."""
    one, other = (outcome(metric, targets, spans) for spans in (before, after))
    numbers = list(contingency(targets, one, other).values())
    return changes(one, other, metric.features), numbers[:4], numbers[4:]


def found_changes(
    targets: Sequence[Span], before: Sequence[Span], after: Sequence[Span]
) -> list[tuple[str, int, str]]:
    changed, _, _ = against(Gate(), targets, before, after)
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


def test_spurious_responses_appear_and_disappear() -> None:
    far, farther = Span(10, 12, "T"), Span(20, 22, "T")

    assert found_changes(TARGET, [RIGHT, far], [RIGHT, farther]) == [("SL_A", 10, "+-"), ("A_SL", 20, "+-")]
    assert found_changes(TARGET, [RIGHT, far], [RIGHT, Span(11, 14, "T")]) == []


def test_a_change_is_an_annotation_with_both_groups_and_the_sign() -> None:
    (change,), _, _ = against(Gate(), TARGET, [RIGHT], [PARTIAL])

    assert change.annotation() == Span(1, 4, "T_CS_CP", {"_eval.change": "-"})


SPANS = any_spans(gaps=False)


SIGNS = {
    "CS": {"CP": "-", "IS": "-", "IP": "-", "ML": "-"},
    "CP": {"CS": "+", "IS": "-", "IP": "-", "ML": "-"},
    "IS": {"CS": "+", "CP": "+", "IP": "+-", "ML": "+-"},
    "IP": {"CS": "+", "CP": "+", "IS": "+-", "ML": "+-"},
    "ML": {"CS": "+", "CP": "+", "IS": "+-", "IP": "+-"},
}


@given(SPANS, SPANS, SPANS)
def test_changes_are_those_of_comparing_every_span_with_every_other(
    targets: list[Span], before: list[Span], after: list[Span]
) -> None:
    reference, response = (outcome(Gate(), targets, side) for side in (before, after))
    old, new = reference.groups(), response.groups()
    everything = [span for group in old.values() for span in group]
    expected = [
        (x, y, sign, b)
        for x, signs in SIGNS.items()
        for y, sign in signs.items()
        for a in old[x]
        for b in new[y]
        if asked(a, b) and b not in everything
    ]
    expected += [("SL", "A", "+-", a) for a in old["SL"] if not any(asked(a, b) for b in new["SL"])]
    expected += [("A", "SL", "+-", b) for b in new["SL"] if not any(asked(b, a) for a in old["SL"])]

    found = [(c.before, c.after, c.sign, c.span) for c in changes(reference, response)]

    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_features_decide_whether_a_span_was_there_before() -> None:
    before, after = ([Span(1, 4, "T", {"f": value})] for value in (1, 2))
    metric = Gate(features=("f",))
    target = [Span(0, 4, "T", {"f": 2})]

    changed, _, _ = against(metric, target, before, after)

    assert [(c.before, c.after) for c in changed] == [("IP", "CP")]
    assert FeatureTest(("f",)).agree(before[0], after[0], "T") is False


# Tables and test


def test_targets_are_counted_by_who_gets_them_right() -> None:
    targets = [Span(10 * n, 10 * n + 4, "T") for n in range(4)]
    before = [Span(0, 4, "T"), Span(10, 14, "T")]
    after = [Span(0, 4, "T"), Span(11, 14, "T"), Span(20, 24, "T"), Span(30, 34, "X")]

    _, strict, lenient = against(Gate(), targets, before, after)

    assert strict == [1, 1, 1, 1]
    assert lenient == [2, 0, 1, 1]


def test_only_single_correct_responses_make_a_target_right() -> None:
    after = [Span(0, 4, "T"), Span(2, 3, "T")]

    _, strict, lenient = against(Gate(), TARGET, TARGET, after)

    assert strict == lenient == [0, 1, 0, 0]


@given(SPANS, SPANS, SPANS)
def test_the_tables_are_those_of_looking_at_every_response(
    targets: list[Span], before: list[Span], after: list[Span]
) -> None:
    outcomes = [outcome(Gate(), targets, side) for side in (before, after)]

    def right(target: Span, number: int, lenient: bool) -> bool:
        outcome = outcomes[number]
        same = any((s.start, s.end) == (target.start, target.end) for s in outcome.single_correct("CS"))
        return same or (lenient and any(asked(target, s) for s in outcome.single_correct("CP")))

    numbers = contingency(targets, outcomes[0], outcomes[1])
    for lenient, name in enumerate(("strict", "lenient")):
        answers = [(right(t, 0, bool(lenient)), right(t, 1, bool(lenient))) for t in targets]
        expected = [
            answers.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))
        ]
        names = ("both", "reference_only", "response_only", "neither")
        assert [numbers[name, each] for each in names] == expected


def test_a_table_reports_its_p_value() -> None:
    gold = [[(10 * number, 10 * number + 4, "T") for number in range(5)]]
    result = score(gold, gold, metrics="gate", reference=[[]])

    table = result.to_dict()["reference"]["changes"]["label"]["contingency"]["all"]["strict"]
    assert table == {"both": 0, "reference_only": 0, "response_only": 5, "neither": 0, "p_value": 0.0625}


# The metric in `score`


SETS = {"gold_set": "Key", "predicted_set": "Response"}


def annotation(kind: str, start: int, end: int, number: int, **features: Any) -> dict[str, Any]:
    return {"type": kind, "start": start, "end": end, "id": number, "features": features}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    sets = {
        "Key": [annotation("A", 0, 3, 1, id="x"), annotation("B", 0, 9, 2, id="y")],
        "Response": [annotation("A", 1, 3, 1, id="x")],
        "Old": [annotation("A", 0, 3, 1, id="x")],
        "Lists": [annotation("L", 0, 3, 1, ids=[2]), annotation("C", 0, 3, 2, id="x")],
    }
    named = {name: {"name": name, "next_annid": 9, "annotations": own} for name, own in sets.items()}
    folder = tmp_path / "corpus"
    folder.mkdir()
    document = {"text": "Ada slept", "offset_type": "p", "features": {}, "annotation_sets": named}
    (folder / "a.bdocjs").write_text(json.dumps(document), encoding="utf-8")
    return folder


def test_a_report_against_a_reference_counts_all_changes_and_lists_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gold, predicted, none = (
        [Document(str(n), {"label": spans}, text="abcdef", unit="character") for n in range(2)]
        for spans in ([Span(0, 2, "A"), Span(4, 6, "A")], [Span(0, 1, "A"), Span(4, 5, "A")], [])
    )
    reports = []
    for most in (3, 100):
        monkeypatch.setattr(reference, "MOST_CHANGES", most)
        result = score(gold, predicted, reference=none, metrics="gate")
        reports.append(result.to_dict()["reference"]["changes"]["label"])
    short, full = reports

    assert (len(short["changes"]), short["changes_left_out"]) == (3, 1)
    assert (full["changes"][:3], full["changes_left_out"]) == (short["changes"], 0)
    assert short["change_counts"] == full["change_counts"] == {"better": 4, "worse": 0, "neither": 0}


def test_the_rule_for_the_own_type_of_gold_holds_if_gold_is_a_set(corpus: Path) -> None:
    metric = "gate(types=['A','B'],containing='Key:A',containment=coextensive)"
    found = score(corpus, metrics=metric, **SETS)

    assert "unfiltered=A" in str(found.signature)
    assert found.metrics["gate"]["label"]["per_type"]["A"]["targets"] == 1


def test_candidate_lists_are_settings_of_the_metric(corpus: Path) -> None:
    metric = "gate(types=['A'],features=['id'],list_type=L,edge_feature=ids)"
    sets = {"gold_set": "Key", "predicted_set": "Lists"}
    report = score(corpus, metrics=metric, **sets).to_dict()

    assert report["metrics"]["gate"]["label"]["all"]["correct_strict"] == 1
    assert list(report["metrics"]["gate"]["label"]["lists"]["by_rank"]) == ["0", "all"]
    assert "list_type=L,edge_feature=ids" in report["signature"]
    with pytest.raises(UsageError, match="not compared with a reference"):
        score(corpus, metrics=metric, reference_set="Old", **sets)


def test_types_of_merged_layers_are_not_compared_with_a_reference() -> None:
    sides = [[[(0, 1, "A")]]] * 2

    with pytest.raises(UsageError, match="not merged"):
        score(*sides, reference=sides[0], metrics="gate", merge=True)


def test_columns_have_the_names_of_gates_table() -> None:
    names = {column: number for column, number in COLUMNS.items() if "orrect" not in column}

    assert list(COLUMNS)[:4] == ["precisionStrict", "recallStrict", "F1Strict", "accuracyStrict"]
    assert names["accuracyLenient"] == "single_correct_accuracy_lenient"
    assert list(names)[8:12] == ["targets", "responses", "missingStrict", "trueMissingStrict"]
    assert COLUMNS["singleCorrectPartial"] == "single_correct_partial"
