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


TAGS = st.lists(st.sampled_from(["O", "O", "B-A", "I-A", "B-B"]), min_size=1, max_size=8)
COLLECTORS = {
    "leaks": lambda: LeakCollector(WatchedMasking()),
    "counts of other programs": lambda: I2b2Figures(Masking()),
}


def document(number: int, tags: Sequence[str]) -> Document:
    spans = [Span(start, end, {"name": label}) for start, end, label in decode(tags)]
    tokens = [["Anna", "und", "Öz"][place % 3] for place in range(len(tags))]
    return Document(f"d{number}", {"name": spans}, tokens=tokens)
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
