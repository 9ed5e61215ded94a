"""What a report lists, sent from one process to another."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from clueval import Document, Span, masking, score
from clueval.compat.masking.i2b2 import I2b2Figures
from clueval.evaluation.parallel import schedule
from clueval.metrics.masking import Masking
from clueval.studies.masking.collector import LeakCollector, WatchedMasking

TOKENS = ["Anna", "Öz", "und", "Anna", "Öz", "und", "Karl", "und", "Karl", "und", "Ulm"]
GOLD = Document("d", {"name": [Span(0, 2, "A"), Span(3, 5, "A"), Span(6, 7, "B")]}, tokens=TOKENS)
PREDICTED = Document("d", {"name": [Span(0, 1, "X"), Span(3, 5, "X"), Span(10, 11, "Y")]}, tokens=TOKENS)


def collected() -> LeakCollector:
    metric = WatchedMasking()
    collector = LeakCollector(metric)
    score([GOLD], [PREDICTED], metrics=[metric], observers=[collector])
    return collector


def test_what_was_sent_is_what_was_collected() -> None:
    own, other = collected(), LeakCollector(WatchedMasking())

    other.join(json.loads(json.dumps(own.sent())))

    assert len(other.leaks) == 2
    assert other.leaks == own.leaks
    assert len(other.string_leaks) == 1
    assert (other.string_leaks, other.needless) == (own.string_leaks, own.needless)


def test_counts_of_other_programs_are_sent() -> None:
    own, other = I2b2Figures(Masking()), I2b2Figures(Masking())
    score([GOLD], [PREDICTED], metrics="masking", observers=[own])

    other.join(json.loads(json.dumps(own.sent())))

    assert own.counted
    assert other.counted == own.counted


@pytest.mark.parametrize(
    ("place", "value"),
    [((), None), ((0, 0, 2), -1), ((0, 0, 6, 0), [1]), ((0, 0, 14, 3), 1), ((1, 0), []), ((2, 0, 1), "1")],
)
def test_a_wrong_value_is_refused_and_changes_nothing(place: tuple[int, ...], value: object) -> None:
    sent: Any = [json.loads(json.dumps(collected().sent()))]
    inner = sent
    for number in (0, *place)[:-1]:
        inner = inner[number]
    inner[(0, *place)[-1]] = value
    collector = collected()
    before = deepcopy(collector.sent())

    with pytest.raises(ValueError, match=r"is not|has"):
        collector.join(sent[0])

    assert collector.sent() == before


def in_parts(tmp_path: Path, head: str) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the report on two files, that of parts of them, and the remarks."""
    for name, tag in (("gold", "B-A"), ("predicted", "O")):
        texts = [
            f"{head.format(number)}Anna{number} {tag}\n. O\n\nAnna{number} O\n\n" for number in range(60)
        ]
        (tmp_path / name).write_text("".join(texts), encoding="utf-8")
    sides = str(tmp_path / "gold"), str(tmp_path / "predicted")
    remarks: list[str] = []
    with patch.object(schedule, "SMALLEST", 200), ThreadPoolExecutor(2) as threads:
        found = masking(*sides, input="conll", executor=threads, jobs=2, remark=remarks.append)
    return masking(*sides, input="conll").to_dict(), found.to_dict(), remarks


def test_parts_of_a_file_have_the_leaks_of_the_whole(tmp_path: Path) -> None:
    whole, parts, remarks = in_parts(tmp_path, "# newdoc id = d{}\n")

    assert (len(whole["leaks"]), len(whole["string_leaks"])) == (60, 60)
    assert parts == whole
    assert "counted again" not in " ".join(remarks)


def test_parts_in_which_documents_are_known_by_their_number_are_counted_as_a_whole(tmp_path: Path) -> None:
    whole, parts, remarks = in_parts(tmp_path, "-DOCSTART- O\n\n")

    assert whole["leaks"][-1]["document"] == "9"
    assert parts == whole
    assert "documents of a part must be counted one by one" in " ".join(remarks)
