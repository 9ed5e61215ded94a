"""What a report lists, sent from one process to another."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, masking, score
from clueval.compat.masking.i2b2 import I2b2Figures
from clueval.evaluation.parallel import schedule
from clueval.studies.masking.collector import LeakCollector, WatchedMasking
from clueval.tagging.decoding import decode

TAGS = st.lists(st.sampled_from(["O", "O", "B-A", "I-A", "B-B"]), min_size=6, max_size=6)
PAIRS = st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=4)
WORDS = ["Anna", "und", "Öz"] * 2


def seen_by(observer: Callable[[WatchedMasking], Any], pairs: Sequence[Any], first: int = 0) -> Any:
    """What an observer has seen of documents with these tags, numbered from `first`."""
    metric = WatchedMasking()
    found = observer(metric)
    for number, tags in enumerate(pairs, first):
        own, other = (
            Document(
                f"d{number}", {"name": [Span(*place, label) for *place, label in decode(side)]}, tokens=WORDS
            )
            for side in tags
        )
        score([own], [other], metrics=[metric], observers=[found])
    return found


@pytest.mark.parametrize("observer", [LeakCollector, I2b2Figures])
@given(PAIRS, PAIRS)
def test_what_was_sent_and_joined_is_what_was_collected(
    observer: Callable[[WatchedMasking], Any], before: list[Any], after: list[Any]
) -> None:
    joined = observer(WatchedMasking())

    for pairs, first in ((before, 0), (after, len(before))):
        joined.join(pickle.loads(pickle.dumps(seen_by(observer, pairs, first).sent())))

    assert joined.sent() == seen_by(observer, before + after).sent()


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
    assert "again as a whole" in " ".join(remarks)
