"""The sample of redacted decisions: every kind of leak is in it, and nothing else is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import clueval
from clueval import MaskingReport, read

FOLDER = Path(__file__).parents[3] / "clueval" / "samples" / "german"
GOLD = FOLDER / "entities.vrt"


@pytest.fixture(scope="module")
def report() -> MaskingReport:
    return clueval.masking(
        FOLDER / "entities.vrt",
        FOLDER / "redacted",
        redacted=True,
        layers={"entity": 2, "risk": 3},
        entity=5,
        keep="low,_",
    )


def test_the_file_with_entity_ids_is_gold_with_a_column_and_without_one_mention() -> None:
    gold, further = (
        list(read(FOLDER / f"{name}.vrt", {"entity": 2, "risk": 3})) for name in ("gold", "entities")
    )

    missing = []
    for own, other in zip(gold, further, strict=True):
        assert own.tokens == other.tokens
        assert not [span for span in other.layers["entity"] if span not in own.layers["entity"]]
        missing += [own.text_of(span) for span in own.layers["entity"] if span not in other.layers["entity"]]
    assert missing == ["Oberlautern"]


def test_every_mention_has_an_entity(report: MaskingReport) -> None:
    assert "|entities:by id|" in str(report.signature)


def test_every_kind_of_leak_is_there(report: MaskingReport) -> None:
    found = report.to_dict()["metrics"]["masking"]["entity"]

    assert {(leak.status, leak.is_in_part) for leak in report.leaks} == {
        *(("missed", True), ("partial", True), ("missed", False), ("partial", False))
    }
    assert {leak.kind for leak in report.leaks} == {"high", "medium"}
    assert found["redacted"]["initials"] == 1
    assert found["redacted"]["uncertain"] == 0
    assert "Tierärztin" not in {leak.text for leak in report.leaks}  # "[Beruf] in", and "in" ends the word
    assert found["replacements"]["several"] > 0
    assert found["precision"]["masks_needless"] > 0
    assert "Oberlautern" in {leak.text for leak in report.string_leaks}


def test_leaks_are_those_that_the_description_of_the_sample_names(report: MaskingReport) -> None:
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")

    missed = {leak.text for leak in report.leaks if leak.status == "missed"}
    assert {text for text in missed if text in readme} >= {"Pfeilschmidt", "Pit", "Fährstraße", "Winter 2017"}


def test_no_form_without_text_has_a_word_of_the_corpus(report: MaskingReport, tmp_path: Path) -> None:
    words = {line.split("\t")[0] for line in GOLD.read_text(encoding="utf-8").splitlines() if "\t" in line}
    long = {word for word in words if len(word) > 3 and not word.isdigit()}

    for ending in ("html", "tsv", "csv", "md", "txt"):
        report.showing(text=False).write(tmp_path / f"report.{ending}")
    shown = [report.showing(text=False).render("text"), report.to_json()]
    written = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    shown += [
        re.sub(r"<style>.*?</style>|<script>.*?</script>", "", form, flags=re.DOTALL) for form in written
    ]

    assert len(long) > 500
    assert not [
        set(re.findall(r"\w+", form)) & long for form in shown if set(re.findall(r"\w+", form)) & long
    ]
