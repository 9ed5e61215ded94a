"""Metric `masking`: the case worked by hand, and one small case for each rule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import Document, Span, score
from clueval.files.errors import FormatError, UsageError
from clueval.metrics.masking import Masking
from tests.metrics.masking.test_masking_by_hand import GOLD, MASKED, TEXT, gold_of, masked_of


def report(gold: Document, predicted: Document, **settings: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = score([gold], [predicted], metrics=[Masking(**settings)]).metrics["masking"]
    return found["label"]


def test_other_metrics_still_count_the_layer_of_the_classes() -> None:
    gold = Document("d", {"entity": [Span(0, 1, "A")], "risk": [Span(0, 1, "high")]}, tokens=["a"])

    found = score([gold], [gold], metrics=["masking", "levels"]).metrics

    assert (list(found["masking"]), list(found["levels"])) == (["entity"], ["entity", "risk"])


def test_groups_of_a_break_down_have_their_own_figures() -> None:
    sides = [(gold_of(TEXT, GOLD, id=id), masked_of(TEXT, MASKED[: int(id)], id=id)) for id in "04"]
    golds, predicteds = zip(*sides, strict=True)

    groups = score(golds, predicteds, metrics=["masking"], by="document").groups

    assert groups is not None
    rows = {
        id: group["metrics"]["masking"]["label"]["classes"]["all"]["protected"]
        for id, group in groups["document"].items()
    }
    assert rows == {"0": 0, "4": 2}


def test_the_effective_number_of_documents_weighs_them_by_their_mentions() -> None:
    sides = [(gold_of(TEXT, GOLD[:n], id=str(n)), masked_of(TEXT, MASKED, id=str(n))) for n in (1, 2, 4)]
    golds, predicteds = zip(*sides, strict=True)

    scores = score(golds, predicteds, metrics=["masking"], intervals=True).intervals()["scores"]

    recall = scores["masking"]["label"]["classes"]["all"]["mention_recall"]
    assert recall["effective"] == pytest.approx((1 + 2 + 4) ** 2 / (1 + 4 + 16))
    assert recall["low"] < 2 / 3 < recall["high"]


def test_a_layer_of_one_side_alone_is_worth_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    gold = Document("d", {"name": [Span(0, 1, "A")]}, tokens=["Öz"])

    score([gold], [Document("d", {"mask": [Span(0, 1, "X")]}, tokens=["Öz"])], metrics="masking")
    assert not recwarn.list

    score([gold], [Document("d", {"mask": []}, tokens=["Öz"])], metrics="masking")
    assert [str(one.message) for one in recwarn.list] == ["predicted has no spans"]


@pytest.mark.parametrize("count", ["9" * 400, "9" * 5000, "9" * 19, "-1", "٣"])
def test_a_count_of_a_word_that_is_no_usual_number_is_one_error(tmp_path: Path, count: str) -> None:
    (tmp_path / "counts.txt").write_text(f"a\t{count}\n", encoding="utf-8")

    with pytest.raises(FormatError, match="is not a word and its count"):
        clueval.masking([["B-X"]], [["B-X"]], word_weights=tmp_path / "counts.txt")
    if count.isascii() and len(count) < 1000:
        with pytest.raises(UsageError, match="is not a whole number from 0 on"):
            clueval.masking([["B-X"]], [["B-X"]], word_weights={"a": int(count)})
