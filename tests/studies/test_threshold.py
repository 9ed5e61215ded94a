"""A threshold is chosen on one corpus, for use on another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Threshold, UsageError, score, threshold
from clueval.cli import main
from clueval.files.errors import FormatError
from clueval.studies.threshold import Measure, NoThreshold

Capture = pytest.CaptureFixture[str]
GOLD = [(0, 1, "A"), (2, 3, "A"), (4, 5, "A")]


def chosen(**options: Any) -> Threshold:
    scored = [(0, 1, "A", 0.9), (6, 7, "A", 0.8), (2, 3, "A", 0.5), (7, 8, "B", 0.4)]
    predicted = [
        {"start": start, "end": end, "label": label, "features": {"p": score}}
        for start, end, label, score in scored
    ]
    return threshold([GOLD], [predicted], score_feature="p", **options)


def test_the_best_f1_is_at_the_threshold_of_the_case() -> None:
    found = chosen()

    assert found.threshold == 0.5
    assert found.to_dict()["f1"] == pytest.approx(2 / 3)
    assert {name: found.to_dict()[name] for name in ("score_feature", "metric", "measure")} == {
        "score_feature": "p",
        "metric": "exact",
        "measure": "f1",
    }


def test_a_threshold_is_refused_for_gold_in_memory_for_which_it_was_chosen(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    chosen().write(path)
    predicted = [[{"start": 0, "end": 1, "label": "A", "features": {"p": 0.9}}]]

    with pytest.raises(UsageError, match="was chosen for this gold"):
        score([list(reversed(GOLD))], predicted, metrics="exact", min_score=path)
    assert score([GOLD], predicted, metrics="exact", min_score=path, same_data=True).precision == 1
    assert score([GOLD[:2]], predicted, metrics="exact", min_score=path).recall == 0.5


def test_a_condition_limits_the_choice_and_ties_take_the_higher_threshold() -> None:
    assert chosen(maximise="precision@recall>=0.5").threshold == 0.5
    assert chosen(maximise="precision@recall>=0.3").threshold == 0.9
    assert chosen(maximise="recall@precision>=0.5").threshold == 0.5
    points = [{"threshold": t, "precision": 0.5, "recall": 0.5, "f1": 0.5} for t in (0.1, 0.7, 0.3)]
    assert Measure.of("f1").best(points, "x")["threshold"] == 0.7
    with pytest.raises(NoThreshold, match="no threshold of layer 'label' meets"):
        chosen(maximise="precision@recall>=0.95")
    for per_label in (False, True):
        with pytest.raises(NoThreshold, match="layer 'label' has no scores"):
            threshold([GOLD], [[]], score_feature="p", per_label=per_label)


def test_equal_rates_are_a_tie_although_they_were_rounded_differently() -> None:
    # 3 of 4 predicted spans right, 3 of 5 gold: F1 2/3; 4 of 7 right, 4 of 5 gold: 2/3, and 1 / 2**53 more as a float
    gold = [(2 * number, 2 * number + 1, "A") for number in range(5)]
    scored = [(*gold[n], 0.5) for n in range(3)] + [(11, 12, "A", 0.5), (*gold[3], 0.0), (13, 14, "A", 0.0)]
    scored.append((15, 16, "A", 0.0))
    rows = [{"start": s, "end": e, "label": label, "features": {"p": p}} for s, e, label, p in scored]

    found = threshold([gold], [rows], score_feature="p")

    assert [round(point["f1"], 12) for point in found.curves[None]["curve"]] == [round(2 / 3, 12)] * 2
    assert found.threshold == 0.5


def test_labels_have_thresholds_of_their_own() -> None:
    assert chosen(per_label=True).threshold == {"A": 0.5, "B": 0.4}


@pytest.mark.parametrize(
    "measure", ["f2", "precision", "f1@recall>=0.5", "precision@recall>=2", "precision@f1>=x", ""]
)
def test_other_measures_are_refused(measure: str) -> None:
    with pytest.raises(UsageError, match="cannot be maximised"):
        chosen(maximise=measure)


@pytest.mark.parametrize(
    "content", ["", "[]", '{"threshold": "a"}', '{"threshold": 0.5}', '{"threshold": {"A": null}}']
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str) -> None:
    from clueval import score

    path = write(tmp_path / "t.json", content)
    with pytest.raises(FormatError, match="is not a file of clueval threshold"):
        score([GOLD], [GOLD], min_score=path)


def test_the_command_writes_a_file_that_score_uses_on_other_data(tmp_path: Path, capsys: Capture) -> None:
    def rows(name: str, text: str, *spans: tuple[int, int, float]) -> str:
        labels = [
            {"start_offset": start, "end_offset": end, "label": "A", "score": score}
            for start, end, score in spans
        ]
        return str(write(tmp_path / name, json.dumps({"text": text, "label": labels})))

    dev = rows("dev.jsonl", "a b c", (0, 1, 1.0)), rows("found.jsonl", "a b c", (0, 1, 0.7), (2, 3, 0.2))
    test = rows("test.jsonl", "d e f", (2, 3, 1.0)), rows("answer.jsonl", "d e f", (0, 1, 0.6), (2, 3, 0.9))
    made, page = str(tmp_path / "t.json"), str(tmp_path / "t.html")

    assert main(["threshold", *dev, "--score-feature", "score", "-o", made, "-o", page, "-o", "-"]) == 0
    assert "0.7" in capsys.readouterr().out
    assert json.loads(Path(made).read_text())["threshold"] == 0.7
    drawn = Path(page).read_text()
    assert "Curve: all labels" in drawn
    assert "F1 100.00 at the threshold 0.7 (precision 100.00, recall 100.00)" in drawn
    assert drawn.count('class="baseline"') == 1
    threshold(*dev, score_feature="score").write(tmp_path / "python.html")
    assert (tmp_path / "python.html").read_text() == drawn

    assert main(["score", *test, "--metric", "exact", "--min-score", made, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["exact"]["label"]["micro"]["f1"] == 1.0
    assert main(["score", *dev, "--metric", "exact", "--min-score", made]) == 2
    assert "was chosen for this gold" in capsys.readouterr().err
    assert main(["score", *dev, "--metric", "exact", "--min-score", made, "--same-data"]) == 0
    assert main(["threshold", *dev, "--score-feature", "score", "--maximise", "recall@precision>=1"]) == 0
    none = rows("none.jsonl", "a b c")
    assert main(["threshold", dev[0], none, "--score-feature", "score"]) == 1
