"""Answers of language models, without positions: as they are written, as programs store them, and what is no answer."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import FormatError, TextMismatch, UsageError, agree, check, convert, read, score
from clueval.cli import main
from clueval.formats.answers import json_in
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.reading.source import read_rows
from tests.formats.outcomes import outcome, read_as

Found = list[tuple[str, list[tuple[str, str]]]]
ADA = '{"PER": ["Ada"]}'
IN_TEXT = f"<think>Is [Ada] a {{PER}}?</think>\n```json\n{ADA}\n```"
ONE = '{"id": "a", "entities": [{"text": "Ada", "label": "PER"}]}'
TWO = '{"id": "b", "entities": {"PER": ["Ada", "Bob"], "LOC": ["Ulm"], "ORG": []}}'
FOUND = [("a", [("Ada", "PER")]), ("b", [("Ada", "PER"), ("Bob", "PER"), ("Ulm", "LOC")])]


def mentions(documents: Any) -> Found:
    return [
        (document.id, [(span.features["mention"], span.label) for span in document.layers["label"]])
        for document in documents
    ]


def answers(folder: Path, content: str, **options: Any) -> Found:
    return mentions(read(write(folder / "answers.jsonl", content), input="mentions", **options))


# As they are written


@pytest.mark.parametrize(
    "content",
    [
        f"{ONE}\n{TWO}\n",
        f"```json\n{ONE}\n{TWO}\n```\n",
        f"```json\n{ONE}\n```\n\n~~~\n{TWO}\n~~~",
        f"```json {ONE} ```\n```{TWO}```",
        f"```json\n{json.dumps(json.loads(ONE), indent=2)}\n```\n{TWO}",
        f"Sure! Here are [1] {{some}} entities: {ONE} Anything else?\r\n{TWO}",
        f"```json\n{ONE}\n{TWO}",
        ONE.replace(
            '[{"text": "Ada", "label": "PER"}]', json.dumps('```json\n[{"text": "Ada", "label": "PER"}]\n```')
        )
        + f"\n{TWO}",
    ],
)
def test_answers_are_found_in_fences_and_other_text(tmp_path: Path, content: str) -> None:
    assert answers(tmp_path, content) == FOUND


def test_an_id_may_be_written_as_tables_write_whole_numbers(tmp_path: Path) -> None:
    assert answers(tmp_path, '{"id": 7.0, "entities": []}') == [("7", [])]


def test_a_list_alone_is_an_answer_without_an_id(tmp_path: Path) -> None:
    assert answers(tmp_path, '[{"text": "Ada", "label": null}]\n[]') == [("1", [("Ada", "_")]), ("2", [])]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("I found no entities.", "it is not JSON"),
        ('{"id": 1, "entities": [', "it is not JSON"),
        ("{'id': 1, 'entities': []}", "it is not JSON"),
        ('{"id": 1}', "it has no key 'entities'"),
        ('{"id": 1, "responses": ["[]"]}', "it has 'responses', and one answer is read, under 'response'"),
        ('{"id": 1, "entities": 5}', "neither a list nor an object"),
        ('{"id": [], "entities": []}', "its id is neither a text nor a number"),
        ('{"entities": ["Ada"]}', "an entity is not an object"),
        ('{"entities": [{"label": "PER"}]}', "the text of an entity is not text"),
        ('{"entities": [{"text": "Ada", "label": 3}]}', "the label of an entity is not text"),
        ('{"entities": [{"text": "Ada", "kind": "PER"}]}', "no key 'label' .its keys: 'text', 'kind'"),
        ('{"entities": [{"text": "Ada"}]}', "no key 'label' .its keys: 'text'"),
        ('{"entities": [{"answer": "Ada"}]}', "the text of an entity is not text"),
        ('{"entities": [{"word": "Ada", "entity": "B-PER"}]}', "aggregation_strategy"),
        ('{"entities": [{"word": "##a", "entity": "PER", "start": 0}]}', "aggregation_strategy"),
        ('{"entities": {"Ada": "PER"}}', "what stands under a label is no list of texts"),
        ('{"entities": {"PER": [null]}}', "the text of an entity is not text"),
        (
            '{"entities": {"PER": ["Ada"], "PER": ["Eva"]}}',
            "the key 'PER' occurs twice in an object .correct it",
        ),
        ('{"entities": {"PER": ["\\ud83d"]}}', "half of a surrogate pair"),
        ("[" * 5000, "it is"),
        (f"{ONE} or {ONE}", "it has two answers"),
        ("null", "it is not an object"),
    ],
)
def test_what_is_no_answer_is_an_error_or_counted_as_empty(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(FormatError, match=says) as caught:
        answers(tmp_path, f"{ONE}\n{line}\n")
    assert caught.value.line == 2
    found = answers(tmp_path, f"{ONE}\n{line}\n{TWO}", unparsable="empty")

    assert [spans for _, spans in found] == [FOUND[0][1], [], FOUND[1][1]]


def test_an_answer_that_cannot_be_read_keeps_its_id_and_is_counted(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", '{"id": "a", "text": "Ada", "label": [[0, 3, "PER"]]}')
    path = write(tmp_path / "answers.jsonl", '{"id": "a", "entities": [{"text": "Ada", "lab')

    result = score(gold, path, input="mentions", unparsable="empty", metrics="exact")

    assert result.to_dict()["prepared"]["located"]["unparsable"] == 1
    assert result.metrics["exact"]["label"]["micro"]["fn"] == 1


@pytest.mark.parametrize("read", [0, 1])
def test_answers_that_cannot_be_read_are_counted_in_the_first_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], read: int
) -> None:
    row = '{{"id": "{}", "text": "Ada", "label": [[0, 3, "PER"]]}}\n'
    gold = str(write(tmp_path / "gold.jsonl", "".join(map(row.format, range(300)))))
    answer = '{{"id": "{}", "entities": [{{"text": "Ada", "{}": "PER"}}]}}\n'
    lines = [answer.format(n, "label" if n < read else "kind") for n in range(300)]
    path = str(write(tmp_path / "answers.jsonl", "".join(lines)))
    arguments = ["score", gold, path, "--input", "doccano:mentions"]

    assert main(arguments) == 2
    assert "no key 'label'" in capsys.readouterr().err
    says = f"{300 - read} of 300 answers could not be read"
    assert main([*arguments, "--unparsable", "empty"]) == 0
    assert says in capsys.readouterr().out.split("\n")[:3]
    assert main([*arguments, "--unparsable", "empty", "--format", "json"]) == 0
    assert says in capsys.readouterr().err
    assert main([*arguments, "--unparsable", "empty", "--where", "document=0"]) == 0
    assert says in capsys.readouterr().out


def test_the_layer_may_be_named_and_is_the_only_one(tmp_path: Path) -> None:
    path = write(tmp_path / "answers.jsonl", ONE)

    assert next(iter(read(path, {"entity": 2}, input="mentions"))).layers.keys() == {"entity"}
    with pytest.raises(Exception, match="the format has one layer"):
        list(read(path, {"entity": 2, "risk": 3}, input="mentions"))


@given(st.text(alphabet='{}[]":,`\\ \nentities0a', max_size=60))
def test_any_text_is_an_answer_or_an_error(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(json_in(text)[1], bool)


def test_commands_that_need_positions_refuse_mentions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = str(write(tmp_path / "gold.jsonl", '{"id": "a", "text": "Ada", "label": [[0, 3, "PER"]]}'))
    path = str(write(tmp_path / "answers.jsonl", ONE.replace("Ada", "Eva")))

    recognised = str(write(tmp_path / "stored.jsonl", '{"id": "a", "output": {"PER": ["Ada"]}}'))
    for arguments in (
        ["agree", gold, path, "--input", "mentions"],
        ["agree", gold, recognised],
        ["convert", recognised, "--to", "tab"],
        ["merge", recognised],
    ):
        assert main(arguments) == 2
        assert "mentions have no positions" in capsys.readouterr().err
    assert main(["score", gold, path, "--input", "mentions", "--unparsable", "lenient"]) == 2
    assert "does not apply to the format mentions" in capsys.readouterr().err
    assert main(["errors", gold, path, "--input", "mentions"]) == 0
    assert "PER “Eva” spurious no position in the gold text · line 1" in capsys.readouterr().out


def test_documents_of_mentions_are_refused_where_positions_count(tmp_path: Path) -> None:
    gold = list(read(write(tmp_path / "gold.jsonl", GOLD % "a")))
    answers = list(read(write(tmp_path / "answers.jsonl", '{"id": "a", "PER": ["Ada"]}'), input="mentions"))

    for call in (
        lambda: score(gold, answers, metrics="exact"),
        lambda: agree({"a": gold, "b": answers}),
        lambda: convert(answers, "tab"),
    ):
        with pytest.raises(UsageError, match="mentions have no positions"):
            call()
    assert score(gold, answers, metrics="strings").f1 == 1


# As programs store them


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


def gemini(key: str, *parts: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": "STOP", "index": 0}
    return {"key": key, "response": {"candidates": [candidate], "usageMetadata": {}}}


CALL = {"id": "c", "type": "function", "function": {"name": "extract", "arguments": ADA}}
RESPONSES_CALL = {"type": "function_call", "call_id": "c", "name": "extract", "arguments": ADA}
THOUGHT = {"type": "thinking", "thinking": "Ada?"}


@pytest.mark.parametrize(
    "row",
    [
        openai("r1", ADA),
        openai("r1", IN_TEXT),
        openai("r1", None, tool_calls=[CALL]),
        openai_responses("r1", ADA),
        {"custom_id": "r1", "response": {"body": {"output": [RESPONSES_CALL]}}},
        {"id": "r1", "output": [RESPONSES_CALL]},
        anthropic("r1", THOUGHT, {"type": "text", "text": f"Here it is: {ADA}"}),
        anthropic(
            "r1", {"type": "text", "text": "I call it."}, {"type": "tool_use", "input": {"PER": ["Ada"]}}
        ),
        gemini("r1", {"text": "[Ada]?", "thought": True}, {"text": f"```json\n{ADA}\n```"}),
        {"id": "r1", "content": [{"type": "text", "text": ADA}]},
        {"id": "r1", "output": openai_responses("", ADA)["response"]["body"]["output"]},
        {"id": "r1", "output": ADA},
        {"id": "r1", "text": "Ada", "response": IN_TEXT},
        {"custom_id": "r1", "answer": {"entities": [["Ada", "PER"]]}},
        {"document_id": "r1", "prediction": [{"span": "Ada", "label": "PER"}]},
        {"doc_id": "r1", "completion": ADA},
        {"id": "r1", "output": [{"generated_text": ADA}]},
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
        {"text": "Ada", "label": " PER "},
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
        ({"id": "a", "messages": [{"content": "Hi"}]}, "'messages' is not a label with a list of texts"),
        ({"id": "a", "entities": "Ada"}, "the text under 'entities' has none: it is not JSON"),
        ({"id": "a", "output": '{"ner": [{"PER": "Ada"}], "ner": []}'}, "the key 'ner' occurs twice"),
        ({"id": "a", "output": 'So: {"ner": [{"PER": "Ada"}], "ner": []}!'}, "the key 'ner' occurs twice"),
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
        ({"key": "a", "error": {"code": 3}}, "the service reports an error"),
        ({"key": "a", "response": {"candidates": [{"finishReason": "SAFETY"}]}}, "the message has no text"),
        ({"key": "a", "response": {"promptFeedback": {"blockReason": "SAFETY"}}}, "the message has no text"),
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

        with pytest.raises(TextMismatch, match="gold has document 'a' where predicted has document 'b'"):
            score(gold, path, input="mentions", metrics="exact")
        assert score(gold, path, input="mentions", metrics="exact", pair_by="id").recall == 0.5

    @pytest.mark.parametrize("gold", ["a", None])
    def test_numbers_of_a_batch_are_ids_too(self, tmp_path: Path, gold: str | None) -> None:
        text = GOLD % gold if gold else (GOLD % "a").replace('"id": "a", ', "")
        path = write(tmp_path / "batch.jsonl", json.dumps(openai("0", ADA)))

        with pytest.raises(TextMismatch, match="has document '0'"):
            score(write(tmp_path / "gold.jsonl", text), path, input="mentions", metrics="exact")

    def test_batches_in_memory_are_in_order_or_by_id(self) -> None:
        gold = [json.loads(GOLD % "a"), json.loads(GOLD % "b")]
        rows = {
            "b": anthropic("b", {"type": "text", "text": "[]"}),
            "a": anthropic("a", {"type": "text", "text": ADA}),
        }

        by_id = {row["id"]: row for row in gold}
        assert score(by_id, rows, input="mentions", metrics="exact").recall == 0.5
        with pytest.raises(TextMismatch, match="has document 'b'"):
            score(gold, list(rows.values()), input="mentions", metrics="exact")


def test_run_in_rows_is_recognised_and_read_from_files_and_memory_alike(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "response": ADA},
        {"id": "b", "text": "Ada in Ulm", "completion": f"```json\n{ADA}\n```"},
        {"id": "c", "output": '{"PER": ["Ada",],}'},
    ]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    file, passed_over = InputFile(path), Counter[str]()

    found = mentions(read_as(file, FormatOptions()))

    assert found == [(name, [("Ada", "PER")]) for name in "abc"]
    assert found == mentions(read_rows(enumerate(rows, 1), FormatOptions(), passed_over=passed_over))
    assert file.passed_over["repaired answers"] == passed_over["repaired answers"] == 2


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (ADA, 0),
        ('{"PER": ["Ada, ]",]}', 1),
        ('{"PER": ["Ada, ]"]}', 0),
        (f"```\n{ADA}\n```", 1),
        ('["Ada" "PER"]', None),
    ],
)
def test_comma_too_many_is_repaired_but_not_one_in_a_text(text: str, repaired: int | None) -> None:
    passed_over = Counter[str]()
    found = outcome(lambda: read_rows([(1, text)], FormatOptions(), name="mentions", passed_over=passed_over))

    assert isinstance(found, list) == (repaired is not None)
    assert passed_over["repaired answers"] == (repaired or 0)


def test_all_unreadable_answers_of_a_run_are_named_together(tmp_path: Path) -> None:
    lines = [ADA if number % 2 else f"no answer {number}" for number in range(30)]
    path = write(tmp_path / "a.txt", "\n".join(lines))

    with pytest.raises(FormatError) as caught:
        list(read_as(InputFile(path), FormatOptions(), "mentions"))

    assert caught.value.problem.startswith(
        "15 answers cannot be read, in lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, ...; the first: it is not JSON"
    )
    assert caught.value.line == 1
    assert str(caught.value.advice).endswith("; clueval check says what is wrong with each")
    with pytest.raises(FormatError, match="2 answers cannot be read, in rows 1, 2; the first"):
        list(read_rows([(1, "a"), (2, "b")], FormatOptions(), name="mentions"))


@pytest.mark.parametrize("response", ['"sorry"', "null", '[{"text": "Ada", "typ": "PER"}]'])
def test_an_unreadable_answer_does_not_move_the_next_one_to_its_text(tmp_path: Path, response: str) -> None:
    texts = "".join(f'{{"id": {n}, "text": "Ada.", "label": []}}\n' for n in (1, 2, 3))
    answers = ['"[]"', response, '"[]"']
    rows = "".join(f'{{"id": {n}, "response": {answer}}}\n' for n, answer in enumerate(answers, 1))
    gold, predicted = write(tmp_path / "gold.jsonl", texts), write(tmp_path / "answers.jsonl", rows)

    with pytest.raises(FormatError, match=r"answers\.jsonl:2: the answer cannot be read"):
        score(gold, predicted, input="mentions")


def test_numbers_of_an_entity_are_features_that_may_be_scores(tmp_path: Path) -> None:
    entities = [
        {"text": text, "label": "PER", "confidence": number, "offsets": 3}
        for text, number in (("Ada", 0.9), ("Zoe", 1))
    ]
    gold = write(tmp_path / "gold.jsonl", GOLD % "a")
    path = write(tmp_path / "answers.jsonl", json.dumps({"id": "a", "entities": entities}))
    options: dict[str, Any] = {"input": "mentions", "metrics": "exact", "score_feature": "confidence"}

    assert [score(gold, path, min_score=least, **options).precision for least in (0.5, 0.95)] == [0.5, 0]


def test_further_answers_of_a_batch_are_passed_over_and_said(tmp_path: Path) -> None:
    row = openai("a", ADA)
    row["response"]["body"]["choices"] *= 3
    path = write(tmp_path / "batch.jsonl", json.dumps(row))

    result = score(write(tmp_path / "gold.jsonl", GOLD % "a"), path, input="mentions", metrics="exact")

    assert result.passed_over["predicted"] == {"answers after the first of a row": 2}


def test_a_label_may_be_called_as_the_answers_of_a_service(tmp_path: Path) -> None:
    path = write(tmp_path / "answers.jsonl", '{"id": "a", "candidates": ["Ada", "Ada"]}')

    result = score(write(tmp_path / "gold.jsonl", GOLD % "a"), path, input="mentions", metrics="exact")

    assert not result.passed_over["predicted"]


def test_positions_may_be_whole_numbers_of_any_form(tmp_path: Path) -> None:
    entities = [{"text": "Ada", "label": "PER", "start": start, "end": 3} for start in (0.0, "0", 0)]
    gold = write(tmp_path / "gold.jsonl", GOLD % "a")

    for entity in entities:
        result = score(
            gold, write(tmp_path / "a.jsonl", json.dumps([entity])), input="mentions", metrics="exact"
        )
        assert result.to_dict()["prepared"]["located"]["moved"] == 0


def test_check_names_each_answer_that_cannot_be_read(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": str(number), "output": text}) for number, text in enumerate((ADA, "No.", "[", ADA))
    ]
    path = write(tmp_path / "answers.jsonl", "\n".join(lines))

    assert [(each.line, each.problem.partition(" (")[0]) for each in check(path)] == [
        (2, "the answer cannot be read: it is not JSON"),
        (3, "the answer cannot be read: it is not JSON"),
    ]
