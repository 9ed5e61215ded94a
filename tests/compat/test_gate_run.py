"""`clueval.gate`: what GATE asks for besides its metric, put together from transforms and observers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import Document, Span, gate, score
from clueval.compat.gate.files import AgainstReference
from clueval.exceptions import UsageError
from clueval.metrics.gate import Gate
from clueval.metrics.gate.list_evaluation import Lists
from clueval.transforms.group import Group

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


def test_gate_alone_is_the_metric_gate(corpus: Path) -> None:
    assert clueval.gate(corpus, **SETS) == score(corpus, metrics="gate", **SETS)


def test_gate_has_the_reference_in_its_report_and_nowhere_else(corpus: Path) -> None:
    result = gate(corpus, reference_set="Old", **SETS)
    report = result.to_dict()

    assert report["metrics"]["gate"]["label"]["reference"]["change_counts"]["worse"] == 1
    assert "reference" not in report
    assert result.signature == gate(corpus, **SETS).signature


def test_a_report_against_a_reference_counts_all_changes_and_lists_the_first() -> None:
    gold, predicted, reference = (
        Document("d", {"label": spans}, text="abcdef", unit="character")
        for spans in ([Span(0, 2, "A"), Span(4, 6, "A")], [Span(0, 1, "A"), Span(4, 5, "A")], [])
    )
    observers = [AgainstReference(Gate(), "Old", most) for most in (3, 100)]
    for observer in observers:
        for _ in range(2):
            observer.see(Group(gold, predicted, (reference,)))
    short, full = (observer.section() for observer in observers)

    assert (len(short["changes"]), short["changes_left_out"]) == (3, 1)
    assert (full["changes"][:3], full["changes_left_out"]) == (short["changes"], 0)
    assert short["change_counts"] == full["change_counts"] == {"better": 4, "worse": 0, "neither": 0}


def test_gate_has_candidate_lists_in_its_report_and_in_the_signature(corpus: Path) -> None:
    metric = Gate(types=("A",), features=("id",))
    report = gate(
        corpus, metric=metric, lists=Lists("L", "ids"), gold_set="Key", predicted_set="Lists"
    ).to_dict()

    assert report["metrics"]["gate"]["label"]["all"]["correct_strict"] == 1
    assert list(report["metrics"]["gate"]["label"]["lists"]["by_rank"]) == ["0", "all"]
    assert "|lists:L.ids>any,ranks=all,score=none,thresholds=none|" in report["signature"]
    assert "prepared" not in report


def test_gate_writes_its_files_and_says_so(corpus: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    table, page, folder = tmp_path / "t.tsv", tmp_path / "p.html", tmp_path / "new"
    told: list[str] = []

    gate(corpus, table=table, page=page, indicators=folder, indicator_prefix="E", wrote=told.append, **SETS)

    assert told == [f"wrote {table}", f"wrote 1 file to {folder}", f"wrote {page}"]
    assert len(table.read_text(encoding="utf-8").split("\n")[0].split("\t")) == 31
    assert "E_Res" in (folder / "a.bdocjs").read_text(encoding="utf-8")
    assert "<table" in page.read_text(encoding="utf-8")


def test_gates_rule_holds_here_and_not_in_the_metric_alone(corpus: Path) -> None:
    metric = Gate(types=("A", "B"), containing="Key:A", containment="coextensive")
    found = gate(corpus, metric=metric, **SETS)
    assert "unfiltered=A" in str(found.signature)
    assert found.metrics["gate"]["label"]["per_type"]["A"]["targets"] == 1
    assert "unfiltered=none" in str(score(corpus, metrics=[metric], **SETS).signature)


def test_gate_refuses_options_that_have_no_meaning(corpus: Path, tmp_path: Path) -> None:
    metric, lists = Gate(types=("A",), features=("id",)), Lists("L", "ids")

    with pytest.raises(UsageError, match="not compared with a reference"):
        gate(corpus, metric=metric, lists=lists, reference_set="Old", **SETS)
    with pytest.raises(UsageError, match="indicators are not written for candidate lists"):
        gate(corpus, metric=metric, lists=lists, indicators=tmp_path / "new", **SETS)
    with pytest.raises(UsageError, match="not merged"):
        gate(corpus, merge=True, **SETS)
    document = Document("d", {"label": [Span(0, 1, "A")]}, text="a", unit="character")
    with pytest.raises(UsageError, match="read from files"):
        gate([document], [document], reference_set="Old")
