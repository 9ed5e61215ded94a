"""Answers of language models as programs store them: in rows of batches, under other keys, and in other lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import FormatError, TextMismatch, read, score

Found = list[tuple[str, list[tuple[str, str]]]]
ADA = '{"PER": ["Ada"]}'
IN_TEXT = f"<think>Is [Ada] a {{PER}}?</think>\n```json\n{ADA}\n```"


def answers(folder: Path, content: str, **options: Any) -> Found:
    path = write(folder / "answers.jsonl", content)
    return [
        (document.id, [(span.features["mention"], span.label) for span in document.layers["label"]])
        for document in read(path, input="mentions", **options)
    ]


def openai(custom_id: str, content: str | None, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "refusal": None, **more}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message}],
        "usage": {},
    }
    response = {"status_code": 200, "request_id": "req_1", "body": body}
    return {"id": "batch_req_1", "custom_id": custom_id, "response": response, "error": None}


def openai_responses(custom_id: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": content},
    ]
    body = {"id": "resp_1", "error": None, "output": output}
    return {"id": "b", "custom_id": custom_id, "response": {"status_code": 200, "body": body}, "error": None}


def anthropic(custom_id: str, *blocks: Any, kind: str = "succeeded") -> dict[str, Any]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": list(blocks)}
    return {"custom_id": custom_id, "result": {"type": kind, "message": message}}


CALL = {"id": "c", "type": "function", "function": {"name": "extract", "arguments": ADA}}
THOUGHT = {"type": "thinking", "thinking": "Ada?"}


@pytest.mark.parametrize(
    "row",
    [
        openai("r1", ADA),
        openai("r1", IN_TEXT),
        openai("r1", None, tool_calls=[CALL]),
        openai_responses("r1", ADA),
        anthropic("r1", THOUGHT, {"type": "text", "text": f"Here it is: {ADA}"}),
        anthropic(
            "r1", {"type": "text", "text": "I call it."}, {"type": "tool_use", "input": {"PER": ["Ada"]}}
        ),
        {"id": "r1", "content": [{"type": "text", "text": ADA}]},
        {"id": "r1", "output": openai_responses("", ADA)["response"]["body"]["output"]},
        {"id": "r1", "output": ADA},
        {"id": "r1", "text": "Ada", "response": IN_TEXT},
        {"custom_id": "r1", "answer": {"entities": [["Ada", "PER"]]}},
        {"document_id": "r1", "prediction": [{"span": "Ada", "label": "PER"}]},
        {"doc_id": "r1", "completion": ADA},
        {"uid": "r1", "generated_text": f"Is it Ada?</think>{ADA}"},
        {"id": "r1", "content": json.dumps(ADA)},
        {"id": "r1", "output": None, "response": ADA},
        {"id": "r1", "spans": [{"start": 0, "end": 3, "label": "LOC"}], "output": ADA},
        {"output": json.dumps({"id": "r1", "entities": {"PER": ["Ada"], "LOC": None}})},
        {"id": "r1", "text": "Ada met", "PER": ["Ada"], "LOC": [], "ORG": None},
    ],
)
def test_answer_is_found_in_a_row(tmp_path: Path, row: dict[str, Any]) -> None:
    assert answers(tmp_path, json.dumps(row)) == [("r1", [("Ada", "PER")])]


@pytest.mark.parametrize(
    "entity",
    [
        {"text": "Ada", "type": "PER"},
        {"entity": "Ada", "type": "PER"},
        {"name": "Ada", "label": "PER"},
        {"entity": "Ada", "types": ["PER"]},
        {"word": "Ada", "entity_group": "PER", "score": 0.9, "start": 0, "end": 3},
        {"span": "Ada", "category": "PER"},
        {"mention": "Ada", "class": "PER"},
        {"value": "Ada", "entity_type": "PER"},
        {"text": "Ada", "entity": "PER"},
        {"span": [0, 3], "mention": "Ada", "label": "PER"},
        {"extraction_text": "Ada", "extraction_class": "PER", "char_interval": None},
        {"PER": "Ada", "PER_attributes": {}},
        {"PER": "Ada", "PER_index": 1, "PER_attributes": {"a": "b"}},
        {"PER": "Ada"},
        {"name": "Ada", "name_attributes": {}, "label": "PER"},
        ["Ada", "PER"],
    ],
)
@pytest.mark.parametrize("key", ["entities", "extractions", "mentions", "spans", "ner", None])
def test_entity_has_its_text_and_its_label_under_many_keys(
    tmp_path: Path, key: str | None, entity: Any
) -> None:
    value = [entity] if key is None else {key: [entity]}

    assert answers(tmp_path, json.dumps({"id": "a", "output": value})) == [("a", [("Ada", "PER")])]


def test_text_under_a_label_that_is_called_like_a_key_of_texts_has_attributes(tmp_path: Path) -> None:
    entity = {"name": "Ada", "name_attributes": {}}

    assert answers(tmp_path, json.dumps({"extractions": [entity]})) == [("1", [("Ada", "name")])]


def test_label_may_be_null_and_an_answer_empty(tmp_path: Path) -> None:
    rows = [{"entities": [{"text": "Ada", "type": None}]}, {"output": "{}"}, {"output": "[]"}, {"PER": []}]

    found = answers(tmp_path, "\n".join(map(json.dumps, rows)))
    assert [spans for _, spans in found] == [[("Ada", "_")], [], [], []]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"id": "a", "entities": [{"text": "Ada"}]}, "no key 'label' .its keys: 'text'"),
        ({"id": "a", "entities": [{"word": "Ada", "score": 1}]}, "no key 'label' .its keys: 'word', 'score'"),
        ({"id": "a", "entities": [{"entity": "Ada"}]}, "no key 'label' .its keys: 'entity'"),
        ({"id": "a", "entities": [{"label": "PER"}]}, "the text of an entity is not text"),
        (
            {"id": "a", "entities": [{"text": "Ada", "types": ["A", "B"]}]},
            "the label of an entity is not text",
        ),
        ({"id": "a", "entities": [["Ada", "PER", 3]]}, "an entity is not an object"),
        ({"id": "a", "PER": "Ada"}, "'PER' is not a label with a list of texts"),
        ({"id": "a", "PER": ["Ada"], "n": 3}, "'n' is not a label with a list of texts"),
        ({"id": "a", "PER": [3]}, "the text of an entity is not text"),
        ({"id": "a", "text": "Ada"}, "it has no key 'entities'"),
        ({"id": "a", "output": "PER: Ada $$ LOC: Ulm"}, "it is not JSON"),
        ({"id": "a", "output": "<think>It may be"}, "it is not JSON"),
        ({"id": "a", "output": None}, "'output' is null: there is no answer"),
        ({"id": "a", "text": "Ada", "error": None, "answer": None}, "'answer' is null: there is no answer"),
        (openai("a", None), "the message has no text"),
        ({**openai("a", ADA), "error": {"code": "x"}}, "the service reports an error"),
        (
            {"id": "b", "custom_id": "a", "response": None, "error": {"code": "x"}},
            "the service reports an error",
        ),
        ({"id": "b", "custom_id": "a", "response": {"status_code": 429, "body": {}}}, "the status 429"),
        (anthropic("a", kind="errored"), "the service reports 'errored'"),
        ({"custom_id": "a", "result": {"type": "expired"}}, "the service reports 'expired'"),
    ],
)
def test_row_without_an_answer_is_an_error_or_counted_with_its_id(
    tmp_path: Path, row: dict[str, Any], says: str
) -> None:
    content = f'{{"id": "0", "entities": []}}\n{json.dumps(row)}\n'

    with pytest.raises(FormatError, match=says) as caught:
        answers(tmp_path, content)
    assert caught.value.line == 2
    assert answers(tmp_path, content, unparsable="empty") == [("0", []), ("a", [])]


def nested(depth: int) -> str:
    value: Any = ADA
    for _ in range(depth):
        value = {"output": value}
    return json.dumps(value)


def test_answer_may_be_in_few_rows_in_each_other(tmp_path: Path) -> None:
    assert answers(tmp_path, nested(3)) == [("1", [("Ada", "PER")])]
    with pytest.raises(FormatError, match="nested too deep"):
        answers(tmp_path, nested(30))


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([{"id": "a", "output": ADA}, {"id": "b", "output": "[]"}]),
        json.dumps([{"id": "a", "output": ADA}, {"id": "b", "output": "[]"}], indent=2),
        "\n".join(
            json.dumps(row, indent=1) for row in ({"id": "a", "output": ADA}, {"id": "b", "entities": []})
        ),
        f'\ufeff{{"id": "a", "output": {json.dumps(ADA)}}}\r\n{{"id": "b", "LOC": []}}\r\n',
    ],
)
def test_rows_may_be_an_array_or_go_over_lines(tmp_path: Path, content: str) -> None:
    assert answers(tmp_path, content) == [("a", [("Ada", "PER")]), ("b", [])]


def test_list_of_entities_with_ids_is_one_answer(tmp_path: Path) -> None:
    content = '[{"id": 1, "text": "Ada", "label": "PER"}, {"id": 2, "text": "Ulm", "label": "LOC"}]\n[]\n'

    assert answers(tmp_path, content) == [("1", [("Ada", "PER"), ("Ulm", "LOC")]), ("2", [])]


GOLD = '{"id": "%s", "text": "Ada met Bob", "label": [[0, 3, "PER"]]}\n'


class TestBatches:
    def test_batch_is_paired_by_id_and_never_by_position(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "gold.jsonl", GOLD % "a" + GOLD % "b")
        rows = [openai("b", '{"PER": ["Bob"]}'), openai("a", ADA)]
        path = write(tmp_path / "batch.jsonl", "\n".join(map(json.dumps, rows)))

        with pytest.raises(TextMismatch, match="gold has document 'a' where predicted has the answer 'b'"):
            score(gold, path, input="mentions", metrics="exact")
        assert score(gold, path, input="mentions", metrics="exact", pair_by="id").recall == 0.5

    @pytest.mark.parametrize("gold", ["a", None])
    def test_numbers_of_a_batch_are_ids_too(self, tmp_path: Path, gold: str | None) -> None:
        text = GOLD % gold if gold else (GOLD % "a").replace('"id": "a", ', "")
        path = write(tmp_path / "batch.jsonl", json.dumps(openai("0", ADA)))

        with pytest.raises(TextMismatch, match="has the answer '0'"):
            score(write(tmp_path / "gold.jsonl", text), path, input="mentions", metrics="exact")

    def test_batches_in_memory_are_in_order_or_by_id(self) -> None:
        gold = [json.loads(GOLD % "a"), json.loads(GOLD % "b")]
        rows = {
            "b": anthropic("b", {"type": "text", "text": "[]"}),
            "a": anthropic("a", {"type": "text", "text": ADA}),
        }

        by_id = {row["id"]: row for row in gold}
        assert score(by_id, rows, input="mentions", metrics="exact").recall == 0.5
        with pytest.raises(TextMismatch, match="has the answer 'b'"):
            score(gold, list(rows.values()), input="mentions", metrics="exact")
