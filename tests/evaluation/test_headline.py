"""Headlines: the rates that are cited for a metric."""

from __future__ import annotations

import pytest

from clueval import CluevalWarning, Document, Result, Span, UsageError, score
from clueval.metrics import METRICS


def test_headline_of_masking_is_the_recall_of_entities() -> None:
    gold = [Document("a", {"label": [Span(0, 1, "PER"), Span(2, 3, "LOC")]}, tokens=["A", "b", "C"])]
    predicted = [Document("a", {"label": [Span(0, 1, "PER")]}, tokens=["A", "b", "C"])]
    result = score(gold, predicted, metrics="masking")

    assert result.recall == result.get("masking.label.classes.all.entity_recall") == 0.5
    with pytest.raises(UsageError, match="no headlines, so f1 is not one number"):
        _ = result.f1


@pytest.mark.parametrize("metric", METRICS)
def test_documents_without_layers_have_the_report_of_a_layer_without_spans(metric: str) -> None:
    def scored(layers: dict[str, list[Span]]) -> Result:
        side = [Document("1", layers, text="", unit="character")]
        with pytest.warns(CluevalWarning, match="no spans"):
            return score(side, side, metrics=metric)

    without, empty = scored({}), scored({"label": []})

    def report(result: Result) -> dict[str, object]:
        (found,) = result.metrics[metric].values()
        return {
            key: each for key, each in found.items() if key != "file_mean"
        }  # of documents that have a layer

    assert without.metrics[metric].keys() == empty.metrics[metric].keys()
    assert report(without) == report(without + without) == report(empty)
    assert without.rows() == empty.rows()
    for rate in ("precision", "recall", "f1"):
        assert rate_of(without, rate) == rate_of(empty, rate)


def rate_of(result: Result, rate: str) -> object:
    try:
        return getattr(result, rate)
    except UsageError as error:
        return str(error)


@pytest.mark.parametrize(
    ("metric", "expected"), [("levels", 0.0), ("exact", 0.0), ("noisy", None), ("gate", 1.0)]
)
def test_headline_of_documents_without_layers_is_zero_over_zero(metric: str, expected: float | None) -> None:
    with pytest.warns(CluevalWarning, match="no spans"):
        result = score([[]], [[]], metrics=metric)

    assert (result.precision, result.recall, result.f1) == (expected, expected, expected)


def test_documents_without_layers_add_no_layer_to_others() -> None:
    with pytest.warns(CluevalWarning, match="no spans"):
        nothing = score([[]], [[]], metrics="exact")
    other = [Document("a", {"entity": [Span(0, 1, {"entity": "PER"})]})]

    both = nothing + score(other, other, metrics="exact")

    assert both.metrics["exact"].keys() == {"entity"}
