"""The functions that the guide shows for other programs, called as these programs call them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy
import pytest
from guide_blocks import blocks_of

import clueval

GUIDE = Path(clueval.__file__).parent / "guide"
GOLD = {"text": "Ada met Bob.", "spans": [[0, 3, "PER"], [8, 11, "PER"]]}
NO_SPANS = {"text": "It rained.", "spans": []}
HALF = {"entities": [{"text": "Ada", "label": "PER"}]}

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")


def shown(page: str, file: str) -> dict[str, Any]:
    """The names that a file of a page defines."""
    [block] = [block for block in blocks_of((GUIDE / f"{page}.md").read_text("utf-8")) if block.file == file]
    names: dict[str, Any] = {}
    exec(compile(block.text, file, "exec"), names)
    return names


class LightningModule:
    """What a module of Lightning has: it calls its network, and logs dictionaries of numbers."""

    def __init__(self) -> None:
        self.logged: dict[str, float] = {}

    def __call__(self, tokens: Any) -> Any:
        return numpy.eye(3)[tokens]

    def log_dict(self, numbers: dict[str, float]) -> None:
        assert {type(number) for number in numbers.values()} == {float}
        self.logged = numbers


def test_lightning_logs_the_scores_of_all_batches_of_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("lightning")
    module.LightningModule = LightningModule  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "lightning", module)
    tagger = shown("from-seqeval", "tagger.py")["Tagger"]()

    for _ in range(2):  # the second epoch begins anew
        tagger.on_validation_epoch_start()
        for labels, best in (([[-100, 1, 2, 0]], [[0, 1, 2, 0]]), ([[-100, 1, 0, -100]], [[1, 0, 0, 1]])):
            tagger.validation_step({"input_ids": numpy.array(best), "labels": numpy.array(labels)}, 0)
        tagger.on_validation_epoch_end()

    assert tagger.logged["exact.recall"] == tagger.logged["levels.recall"] == 0.5


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        (GOLD, HALF, 2 / 3),
        (GOLD, json.dumps(HALF), 2 / 3),
        (GOLD, "I cannot help with that.", 0.0),
        (NO_SPANS, {"entities": []}, 1.0),
        (NO_SPANS, HALF, 0.0),
    ],
)
def test_dspy_and_promptfoo_get_the_f1_of_one_text(
    gold: dict[str, Any], answer: Any, expected: float
) -> None:
    names = shown("tutorial-language-models", "span_metric.py")

    of_dspy = names["dspy_metric"](SimpleNamespace(**gold), SimpleNamespace(entities=answer))
    of_promptfoo = names["get_assert"](answer, {"vars": gold})

    assert of_dspy == pytest.approx(expected)
    assert of_promptfoo["score"] == pytest.approx(expected)
    assert of_promptfoo["pass"] == (expected >= 0.8)
    assert json.dumps(of_promptfoo)


def test_lm_eval_gets_the_f1_of_the_corpus() -> None:
    names = shown("tutorial-language-models", "span_task.py")
    answers = [json.dumps(HALF), '{"entities": []}']

    items = [
        names["process_results"](doc, [answer])["span_f1"]
        for doc, answer in zip([GOLD, NO_SPANS], answers, strict=True)
    ]

    assert names["span_f1"](items) == pytest.approx(2 / 3)
