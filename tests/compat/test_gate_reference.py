"""The metric `gate` with a reference: each target's change is listed once, and the differences of all numbers.

The corpus worked by hand has one document and seven gold annotations, one for each kind of change; the groups (CS, CP,
IS, IP, ML, SL) are those of GATE's plugin Evaluation.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from clueval import UsageError, score

Rows = Sequence[tuple[int, int, str]]

GOLD: Rows = [
    (0, 4, "P"),
    (5, 9, "P"),
    (10, 14, "P"),
    (15, 19, "P"),
    (20, 24, "P"),
    (25, 29, "P"),
    (30, 34, "P"),
]
OLD: Rows = [
    (0, 4, "P"),  # correct strict
    (6, 9, "P"),  # correct partial
    (10, 14, "Q"),  # incorrect strict
    (20, 24, "P"),  # correct strict, as after
    (25, 29, "P"),  # correct strict
    (31, 36, "Q"),  # incorrect partial
    (40, 43, "P"),  # spurious
]
NEW: Rows = [
    # [0,4): missing
    (5, 9, "P"),  # correct strict
    (11, 14, "Q"),  # incorrect partial
    (15, 19, "P"),  # correct strict, was missing
    (20, 24, "P"),
    (26, 29, "P"),  # correct partial
    # [30,34): missing
    (45, 48, "P"),  # spurious
]
CHANGES = [
    (0, 4, "CS", "ML", "-"),
    (5, 9, "CP", "CS", "+"),
    (10, 14, "IS", "IP", "+-"),
    (15, 19, "ML", "CS", "+"),
    (25, 29, "CS", "CP", "-"),
    (30, 34, "IP", "ML", "+-"),
    (40, 43, "SL", "A", "+-"),
    (45, 48, "A", "SL", "+-"),
]


def write_corpus(folder: Path, *documents: dict[str, Rows], length: int = 50) -> Path:
    """Write documents in bdoc, each with the annotation sets given by name."""
    folder.mkdir()
    text = ("abcd " * length)[:length]
    for number, sets in enumerate(documents):
        named = {
            name: {
                "name": name,
                "next_annid": 99,
                "annotations": [
                    {"type": label, "start": start, "end": end, "id": place, "features": {}}
                    for place, (start, end, label) in enumerate(rows)
                ],
            }
            for name, rows in sets.items()
        }
        content = {"text": text, "offset_type": "p", "features": {}, "annotation_sets": named}
        (folder / f"{number}.bdocjs").write_text(json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", {"Key": GOLD, "New": NEW, "Old": OLD, "None": []})


def report_of(folder: Path, predicted: str = "New", reference: str = "Old") -> dict[str, Any]:
    sets = {"gold_set": "Key", "predicted_set": predicted, "reference_set": reference}
    found = score(folder, metrics="gate", **sets).to_dict()
    report: dict[str, Any] = found["metrics"]["gate"]["label"]
    of_reference = found["reference"]
    parts = (of_reference["metrics"]["gate"]["label"], of_reference["changes"]["label"])
    differences = of_reference["differences"]["gate"]["label"]
    return {**report, "reference": {**parts[0], **parts[1], "differences": differences}}


def listed(rows: Iterable[dict[str, Any]]) -> list[tuple[int, int, str, str, str]]:
    return [(row["start"], row["end_exclusive"], row["before"], row["after"], row["change"]) for row in rows]


def test_changes_list_every_target_of_another_group_once_and_spurious_responses(corpus: Path) -> None:
    reference = report_of(corpus)["reference"]

    assert listed(reference["changes"]) == CHANGES
    assert reference["change_counts"] == {"better": 2, "worse": 2, "neither": 4}
    assert reference["changes_left_out"] == 0


def test_differences_of_counts_and_rates_are_predicted_less_reference(corpus: Path) -> None:
    report = report_of(corpus)
    found = report["reference"]["differences"]

    # reference: 3 correct strict, 1 partial, 1 incorrect strict and partial each, of 7 targets and 7 responses
    # predicted: 3, 1, 0, 1, of 7 and 6
    of_all = found["all"]
    assert (of_all["targets"], of_all["responses"]) == (0, -1)
    assert (of_all["correct_strict"], of_all["correct_partial"]) == (0, 0)
    assert (of_all["incorrect_strict"], of_all["incorrect_partial"]) == (-1, 0)
    assert (of_all["true_missing_lenient"], of_all["true_spurious_lenient"]) == (1, 0)
    assert of_all["precision_strict"] == pytest.approx(3 / 6 - 3 / 7)
    assert of_all["f1_lenient"] == pytest.approx(8 / 13 - 8 / 14)
    for part in ("all", "macro"):
        assert found[part].keys() == report[part].keys()
        for name, number in found[part].items():
            assert number == report[part][name] - report["reference"][part][name]


def test_differences_of_types_name_those_of_both_runs(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "c", {"Key": [(0, 4, "P")], "New": [(0, 4, "P")], "Old": [(0, 4, "Q")]})
    found = report_of(folder)["reference"]["differences"]["per_type"]

    assert list(found) == ["P"]  # only the reference has Q
    assert (found["P"]["correct_strict"], found["P"]["true_missing_lenient"]) == (1, -1)


def test_text_has_the_differences_and_the_changes(corpus: Path) -> None:
    sets = {"gold_set": "Key", "predicted_set": "None", "reference_set": "Old"}
    lines = str(score(corpus, metrics="gate", **sets)).splitlines()

    assert next(line.split()[-1] for line in lines if "f1_strict" in line) == "-42.86"
    # of the 7 targets the reference misses [15,19); without any prediction all 7 are missing
    assert ["0", "4", "3"] in [line.split() for line in lines]
    assert ["strict", "0", "3", "0", "4", "0.250"] in [line.split() for line in lines]


def test_any_metric_has_differences_from_a_reference() -> None:
    gold, old, new = (
        [[(0, 2, "A"), (4, 6, "A")]],
        [[(0, 2, "A")]],
        [[(0, 2, "A"), (4, 6, "A"), (7, 8, "B")]],
    )
    result = score(gold, new, reference=old, metrics="exact,muc")
    found = result.to_dict()["reference"]

    assert result.reference is not None
    assert result.reference.result.metrics == score(gold, old, metrics="exact,muc").metrics
    assert found["differences"]["exact"]["label"]["micro"] == {
        "precision": 2 / 3 - 1, "recall": 0.5, "f1": 0.8 - 2 / 3, "gold": 0, "predicted": 2, "tp_gold": 1, "fn": -1,
        "tp_predicted": 1, "fp": 1,
    }  # fmt: skip
    assert "changes" not in found
    assert result.scored("exact").reference is None


def test_references_of_results_are_added_with_them() -> None:
    """Of 4 and 4 targets, 2 and 4 are right; in the reference none of 2 responses, and 2 of 2.

    Strict F1 is 6 / 7 (P 6 / 6, R 6 / 8), that of the reference 1 / 3 (P 2 / 4, R 2 / 8).
    """
    gold, half, wrong = [[(0, 1, "A"), (2, 3, "A")]] * 2, [[(0, 1, "A")]] * 2, [[(0, 1, "B")]] * 2
    one = score(gold, half, reference=wrong, metrics="gate")
    two = score(gold, gold, reference=half, metrics="gate")
    total = (one + two).to_dict()["reference"]
    whole = score(gold + gold, half + gold, reference=wrong + half, metrics="gate").to_dict()["reference"]

    assert total["differences"]["gate"]["label"]["all"]["f1_strict"] == 6 / 7 - 1 / 3
    assert total["changes"]["label"]["contingency"]["all"]["strict"] == {
        "both": 2, "reference_only": 0, "response_only": 4, "neither": 2, "p_value": 0.125,
    }  # fmt: skip
    for reference in (total, whole):  # documents of one id are listed twice, or have numbers
        for change in reference["changes"]["label"]["changes"]:
            del change["document"]
    assert total == whole
    with pytest.raises(UsageError, match="a result with a reference and one without cannot be added"):
        _ = one + score(gold, half, metrics="gate")


# Relations, on random corpora (nested, overlapping, of zero length) and on the sample's kinds of spans

FLIPPED = {"+": "-", "-": "+", "+-": "+-"}


def random_rows(source: random.Random) -> Rows:
    rows = []
    for _ in range(source.randrange(6)):
        start = source.randrange(12)
        rows.append((start, start + source.choice([0, 1, 2, 3, 5]), source.choice("PQ")))
    return rows


@pytest.fixture(scope="module")
def random_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = random.Random(7)
    names = ("Key", "New", "Old")
    documents = [{name: random_rows(source) for name in names} for _ in range(50)]
    return write_corpus(tmp_path_factory.mktemp("random") / "corpus", *documents, length=20)


def changes_by_document(report: dict[str, Any]) -> Counter[tuple[object, ...]]:
    return Counter(
        (
            row["document"],
            row["label"],
            row["start"],
            row["end_exclusive"],
            row["before"],
            row["after"],
            row["change"],
        )
        for row in report["reference"]["changes"]
    )


def test_swapping_reference_and_predicted_turns_every_change_round(random_corpus: Path) -> None:
    ahead, back = report_of(random_corpus), report_of(random_corpus, "Old", "New")

    turned = Counter(
        {
            (*where, after, before, FLIPPED[sign]): number
            for (*where, before, after, sign), number in changes_by_document(ahead).items()
        }
    )
    assert changes_by_document(back) == turned
    counts, other = ahead["reference"]["change_counts"], back["reference"]["change_counts"]
    assert min(counts.values()) > 10
    assert other == {"better": counts["worse"], "worse": counts["better"], "neither": counts["neither"]}
    for part in ("all", "macro"):
        for name, number in ahead["reference"]["differences"][part].items():
            assert back["reference"]["differences"][part][name] == pytest.approx(-number)
