"""Headlines: the rates that are cited for a metric."""

from __future__ import annotations

import pytest

from clueval import Document, Span, UsageError, score


def test_headline_of_masking_is_the_recall_of_entities() -> None:
    gold = [Document("a", {"label": [Span(0, 1, "PER"), Span(2, 3, "LOC")]}, tokens=["A", "b", "C"])]
    predicted = [Document("a", {"label": [Span(0, 1, "PER")]}, tokens=["A", "b", "C"])]
    result = score(gold, predicted, metrics="masking")

    assert result.recall == result.get("masking.label.classes.all.entity_recall") == 0.5
    with pytest.raises(UsageError, match="no headlines, so f1 is not one number"):
        _ = result.f1
