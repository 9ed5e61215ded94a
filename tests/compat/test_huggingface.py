"""The `seqeval` metric of Hugging Face's `score`, rebuilt here upon seqeval as its oracle."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import seqeval.metrics
import seqeval.scheme
from hypothesis import given
from hypothesis import strategies as st

from clueval.compat.huggingface import Seqeval
from clueval.compat.seqeval.scheme import IOB2
from clueval.files.errors import CluevalError, UsageError

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def score(predictions: Any, references: Any, **kwargs: Any) -> dict[str, Any]:
    """What `score`'s metric of this name gives: seqeval's report under other keys."""
    scheme = kwargs.pop("scheme", None)
    chosen = None if scheme is None else vars(seqeval.scheme)[scheme]
    report = seqeval.metrics.classification_report(
        references, predictions, output_dict=True, scheme=chosen, **kwargs
    )
    names = {"precision": "precision", "recall": "recall", "f1-score": "f1", "support": "number"}
    rows = {row: {names[key]: value for key, value in figures.items()} for row, figures in report.items()}
    overall = rows.pop("micro avg")
    del rows["macro avg"], rows["weighted avg"]
    return rows | {
        "overall_precision": overall["precision"],
        "overall_recall": overall["recall"],
        "overall_f1": overall["f1"],
        "overall_accuracy": seqeval.metrics.accuracy_score(references, predictions),
    }


@st.composite
def sides(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Ids of predictions and references, of equal lengths; each reference begins with a person."""
    ids = st.integers(0, len(LABELS) - 1)
    references = [[1, *rest] for rest in draw(st.lists(st.lists(ids, max_size=6), min_size=1, max_size=3))]
    return [[draw(ids) for _ in sentence] for sentence in references], references


def tags(sentences: list[list[int]]) -> list[list[str]]:
    return [[LABELS[number] for number in sentence] for sentence in sentences]


@pytest.mark.parametrize("options", [{}, {"mode": "strict", "scheme": "IOB2"}])
@given(ids=sides(), zero_division=st.sampled_from([0, 1]))
def test_scores_and_keys_are_those_of_evaluate(
    options: dict[str, Any], ids: tuple[list[list[int]], list[list[int]]], zero_division: int
) -> None:
    arguments = {
        "predictions": tags(ids[0]),
        "references": tags(ids[1]),
        "zero_division": zero_division,
        **options,
    }

    assert Seqeval().compute(**arguments) == score(**arguments)


@given(sides(), st.data())
def test_ids_are_scored_as_their_labels_without_the_ignored_positions(
    ids: tuple[list[list[int]], list[list[int]]], data: st.DataObject
) -> None:
    expected = Seqeval().compute(predictions=tags(ids[0]), references=tags(ids[1]), zero_division=0)
    for predicted, true in zip(*ids, strict=True):
        position = data.draw(st.integers(0, len(true)))
        true.insert(position, -100)
        predicted.insert(position, data.draw(st.sampled_from([0, 1, 2, -100])))

    actual = Seqeval(LABELS).compute(predictions=ids[0], references=ids[1], zero_division=0)

    assert actual == expected


def test_batches_are_scored_together_and_then_forgotten() -> None:
    true, predicted = [["B-PER", "O"], ["O", "B-LOC"], ["B-PER"]], [["B-PER", "O"], ["O", "O"], ["B-LOC"]]
    metric = Seqeval()
    expected = metric.compute(predictions=predicted, references=true, zero_division=0)

    metric.add(prediction=predicted[0], reference=true[0])
    metric.add_batch(predictions=predicted[1:2], references=true[1:2])

    assert metric.compute(predictions=predicted[2:], references=true[2:], zero_division=0) == expected
    with pytest.raises(UsageError, match="there is nothing to score"):
        metric.compute()


def test_a_batch_that_is_refused_leaves_nothing_behind() -> None:
    metric = Seqeval()
    with pytest.raises(UsageError, match=r"y_true\[0\] has 1 tags, y_pred\[0\] has 2"):
        metric.compute(predictions=[["O", "O"]], references=[["B-PER"]])

    assert metric.compute(predictions=[["B-PER"]], references=[["B-PER"]])["overall_f1"] == 1.0


@pytest.mark.parametrize("as_pair", [True, False])
@pytest.mark.parametrize("several_outputs", [True, False])
def test_a_trainer_hands_over_arrays_of_scores_and_ids(as_pair: bool, several_outputs: bool) -> None:
    predicted = numpy.array([[1, 2, 0, 0], [3, 0, 1, 0]])
    logits: Any = numpy.eye(len(LABELS))[predicted]
    ids = numpy.array([[1, 2, 0, -100], [3, 4, -100, -100]])
    output = (logits, numpy.zeros(3)) if several_outputs else logits
    evaluated = (output, ids) if as_pair else SimpleNamespace(predictions=output, label_ids=ids)

    scores = Seqeval(dict(enumerate(LABELS)))(evaluated)
    assert Seqeval({tag: number for number, tag in enumerate(LABELS)})(evaluated) == scores

    assert scores == {
        "LOC": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "number": 1},
        "PER": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "number": 1},
        "overall_precision": 0.5,
        "overall_recall": 0.5,
        "overall_f1": 0.5,
        "overall_accuracy": 0.8,
    }
    assert json.loads(json.dumps(scores)) == scores


def test_a_trainer_may_hand_over_ids_instead_of_scores_and_batches_without_a_span() -> None:
    metric = Seqeval(LABELS)

    assert metric((numpy.array([[1, 0]]), numpy.array([[1, -100]])))["overall_f1"] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric(([[0, 0]], [[0, -100]])) == {
            "overall_precision": 0.0,
            "overall_recall": 0.0,
            "overall_f1": 0.0,
            "overall_accuracy": 1.0,
        }


def test_a_scheme_is_a_name_or_a_class() -> None:
    sides = {"predictions": [["I-PER"]], "references": [["B-PER"]], "mode": "strict", "zero_division": 0}

    assert Seqeval().compute(scheme="IOB2", **sides) == Seqeval().compute(scheme=IOB2, **sides)
    with pytest.raises(ValueError, match="unknown tag scheme 'BOI'"):
        Seqeval().compute(scheme="BOI", **sides)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: Seqeval().compute(predictions=[["O"]]), "needs both predictions and references"),
        (lambda: Seqeval().add(prediction=["O"]), "needs both a prediction and a reference"),
        (
            lambda: Seqeval().compute(predictions="O", references="O"),
            "must be a list of lists of tags, not str",
        ),
        (lambda: Seqeval().compute(predictions=["O"], references=["O"]), "must be a list of tags, not str"),
        (lambda: Seqeval().compute(predictions=3, references=3), "must be a list of lists of tags, not int"),
        (lambda: Seqeval()(([[1]], [[1]])), "ids need labels"),
        (lambda: Seqeval("O B-PER"), "labels must be a list of tags"),
        (
            lambda: Seqeval(LABELS).compute(predictions=[[0, 5]], references=[[0, 0]]),
            r"predictions\[0\]\[1\].* id 5",
        ),
        (
            lambda: Seqeval(LABELS).compute(predictions=[[0]], references=[["O"]]),
            r"references\[0\]\[0\].* id 'O'",
        ),
        (
            lambda: Seqeval(LABELS).compute(predictions=[[[0]]], references=[[0]]),
            r"predictions\[0\]\[0\].* id \[0\]",
        ),
    ],
)
def test_wrong_use_is_one_line(call: Any, complaint: str) -> None:
    with pytest.raises(CluevalError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)
