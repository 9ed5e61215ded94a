"""Answers of language models in memory are scored as the same answers in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, score

GOLD: list[dict[str, Any]] = [
    {"id": "a", "text": "Ada wrote to Bob.", "label": [[0, 3, "PER"], [13, 16, "PER"]]},
    {"id": "b", "text": "Bob in Ulm", "label": [[7, 10, "LOC"]]},
]
MENTIONS: list[Any] = [
    'Sure! {"id": "a", "entities": [{"text": "Ada", "label": "PER"}, {"text": "Eva", "label": "PER"}]}',
    {"id": "b", "entities": {"LOC": ["Ulm"], "PER": []}},
]
INLINE: list[Any] = ["<PER>Ada</PER> wrote to Bob.", {"id": "b", "text": "<PER>Bob</PER> in <LOC>Ulm</LOC>"}]


def in_lines(rows: list[Any], path: Path) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def numbers(*sides: Any, **options: Any) -> dict[str, Any]:
    found = score(*sides, metrics="exact", **options).to_dict()
    return {name: found[name] for name in ("metrics", "prepared", "unprojected", "documents")}


def test_mentions_are_counted_as_in_a_file(tmp_path: Path) -> None:
    files = in_lines(GOLD, tmp_path / "gold.jsonl"), in_lines(MENTIONS, tmp_path / "answers.jsonl")

    found = numbers(GOLD, MENTIONS, input="mentions")

    assert found == numbers(*files, input="mentions")
    assert found["metrics"]["exact"]["label"]["micro"]["tp_gold"] == 2
    assert [each["text"] for each in found["unprojected"]] == ["Eva"]


@pytest.mark.parametrize("form", [list, iter, lambda rows: dict(zip("ab", rows, strict=True))])
def test_answers_are_in_the_order_of_gold_or_by_id(form: Any) -> None:
    without_ids = [{"entities": {"PER": ["Ada"]}}, []]

    found = numbers(iter(GOLD), form(without_ids), input="mentions")

    assert found["metrics"]["exact"]["label"]["micro"]["tp_gold"] == 1


def test_texts_with_tags_are_answers() -> None:
    micro = numbers(GOLD, INLINE, input="inline")["metrics"]["exact"]["label"]["micro"]

    assert (micro["tp_gold"], micro["fn"], micro["fp"]) == (2, 1, 1)


def test_answer_that_cannot_be_read_is_counted_if_wanted() -> None:
    found = numbers(GOLD, [MENTIONS[0], "I cannot help."], input="mentions", unparsable="empty")

    assert found["prepared"]["located"]["unparsable"] == 1


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (GOLD, MENTIONS[:1], "predicted has only 1 document, the other side has more"),
        (GOLD, {"a": [], "x": []}, "only gold has document 'b'"),
        (GOLD, {"a": []}, "only gold has document 'b'"),
        (GOLD, [MENTIONS[0], "none"], r"^predicted:2: the answer cannot be read: it is not JSON"),
        (GOLD, [[], 5], r"^predicted:2: the answer cannot be read: it is not an object"),
        (GOLD, [{"id": "z", "entities": []}, []], "'z'"),
        (GOLD, "answers.jsonl", "gold is in memory and predicted is paths"),
        ([[(0, 3, "PER")]], [[]], "has spans, and the document on the other side has no text"),
    ],
)
def test_other_answers_are_refused(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        score(gold, predicted, input="mentions")


def test_rows_with_entities_and_no_text_are_told_how_answers_are_read() -> None:
    with pytest.raises(CluevalError, match=r"predicted\[0\] has entities but no text.*input='mentions'"):
        score(GOLD, MENTIONS[1:])
