"""Curves over scores, average precision, and thresholds that are chosen on one corpus and used on another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Result, Span, score
from clueval.files.errors import UsageError
from clueval.studies.comparison.study import units_of

GOLD = [(0, 1, "A"), (2, 3, "A"), (4, 5, "A")]
SCORED = [(0, 1, 0.9), (6, 7, 0.8), (2, 3, 0.5)]


def span(start: int, end: int, value: object, label: str = "A") -> dict[str, Any]:
    return {"start": start, "end": end, "label": label, "features": {"p": value}}


def scored(gold: Any, predicted: Any, **options: Any) -> Result:
    return score(
        [gold], [[span(*each) for each in predicted]], score_feature="p", **{"metrics": "exact", **options}
    )


def test_every_metric_with_micro_averages_has_its_curve_and_others_are_refused() -> None:
    assert scored(GOLD, SCORED).metrics["exact"]["label"]["average_precision"] == pytest.approx(5 / 9)
    levels = scored(GOLD, SCORED, metrics="levels").metrics["levels"]["label"]
    assert len(levels["curve"]) == 11
    assert "curve" in levels["labelled"]["label"]["1"]["per_label"]["A"]
    assert "exact, label: average precision, in %" in scored(GOLD, SCORED).render("text")
    gate = scored(GOLD, SCORED, metrics="gate").metrics["gate"]["label"]
    assert gate["average_precision"]["strict"] == pytest.approx(5 / 9)
    with pytest.raises(UsageError, match="metric 'muc' has no micro average"):
        scored(GOLD, SCORED, metrics="muc")
    with pytest.raises(UsageError, match="merged spans have no scores"):
        scored(GOLD, SCORED, metrics="gate", merge=True)


@pytest.mark.parametrize(
    ("metric", "merge"), [("fair", False), ("muc", False), ("confusion", False), ("gate", True)]
)
def test_a_least_score_holds_for_metrics_without_curves_too(metric: str, merge: bool) -> None:
    kept = scored(GOLD, SCORED, metrics=metric, merge=merge, min_score=0.85)

    assert kept.metrics == scored(GOLD, SCORED[:1], metrics=metric, merge=merge, min_score=0.0).metrics


SPANS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.sampled_from("AB")),
    unique_by=lambda each: (each[0], each[2]),
    max_size=8,
)


@given(SPANS, SPANS)
def test_the_curve_at_a_score_is_the_result_with_that_minimum(gold: Any, predicted: Any) -> None:
    golds = [[(start, start + 1, label) for start, _, label in gold]]
    spans = [[span(start, start + 1, value, label) for start, value, label in predicted]]
    whole = score(golds, spans, metrics=["exact", "partial"], score_feature="p", thresholds="0.2,0.5")
    for metric in ("exact", "partial"):
        for point in whole.metrics[metric].get("label", {}).get("curve", ()):
            kept = score(golds, spans, metrics=metric, score_feature="p", min_score=point["threshold"])
            micro = kept.metrics[metric]["label"]["micro"]
            assert [point[name] for name in ("precision", "recall", "f1")] == pytest.approx(
                [micro[name] for name in ("precision", "recall", "f1")]
            )


def test_results_with_curves_add() -> None:
    one, other = scored(GOLD, SCORED), scored(GOLD[:1], SCORED[:1])
    both = score(
        [GOLD, GOLD[:1]],
        [[span(*each) for each in side] for side in (SCORED, SCORED[:1])],
        score_feature="p",
        metrics="exact",
    )

    assert (one + other).metrics == both.metrics


def test_minimum_scores_of_a_file_are_refused_for_the_data_they_were_chosen_for(tmp_path: Path) -> None:
    rows = {
        name: str(write(tmp_path / f"{name}.jsonl", json.dumps({"text": "a b c d", "label": labels})))
        for name, labels in (
            ("gold", [[0, 1, "A"]]),
            ("test", [[2, 3, "A"]]),
            ("predicted", [{"start_offset": 0, "end_offset": 1, "label": "A", "score": 0.5}]),
        )
    }
    from clueval import threshold

    chosen = threshold(rows["gold"], rows["predicted"], score_feature="score")
    chosen.write(tmp_path / "t.json")
    options: dict[str, Any] = {"metrics": "exact", "min_score": tmp_path / "t.json"}

    with pytest.raises(UsageError, match="was chosen for this gold"):
        score(rows["gold"], rows["predicted"], **options)
    insisted = score(rows["gold"], rows["predicted"], **options, same_data=True)
    assert ",same-data)" in str(insisted.signature)
    result = score(rows["test"], rows["predicted"], **options)
    assert "min-score:0.5(dev,f1,exact," in str(result.signature)
    assert result.to_dict()["prepared"]["min-score"] == {"kept": 1, "left_out": 0}


def test_signatures_say_by_which_scores_and_at_which_thresholds_a_curve_was_counted() -> None:
    spans = [Span(0, 1, "A"), Span(0, 1, "A", {"s": 0.5, "t": 0.7})]
    gold, predicted = ([Document(name, {"x": [span]}, tokens=["a"]) for name in "de"] for span in spans)

    def counted(**options: Any) -> Result:
        return score(gold, predicted, metrics="exact", **options, resample_by="document")

    options: list[dict[str, Any]] = [{"score_feature": "s"}, {"score_feature": "t"}]
    options += [
        {**each, more: 0.6 if more == "min_score" else [0.6]}
        for each in options
        for more in ("thresholds", "min_score")
    ]
    results = [counted(**each) for each in options]

    assert len({result.signature for result in results}) == len(options)
    again = score(gold, predicted, signature=results[2].signature)
    assert again.to_dict()["metrics"] == results[2].to_dict()["metrics"]
    with pytest.raises(UsageError, match="score-feature is s and t"):
        units_of({"one": [results[0]], "two": [results[1]]})
    units_of({"one": [results[0]], "without a curve": [counted()]})
    other = results[0].scored("exact")
    assert (other.signature, other.metrics) == (counted().signature, counted().metrics)
