"""Answers of language models as they are stored: rows, a file for each document, documents without an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import FileError, FormatError, UsageError, errors, read, score
from clueval.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")

ROWS = [
    {"id": "a", "text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]},
    {"id": "b/c", "text": "In Ulm.", "label": [[3, 6, "LOC"]]},
]
ADA, ULM = '{"PER": ["Ada"]}', '{"LOC": ["Ulm"]}'


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS))


def folder(path: Path, **answers: str) -> Path:
    for name, answer in answers.items():
        file = path / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, answer)
    return path


def numbers(*sides: Any, **options: Any) -> tuple[int, int, int]:
    micro = score(*sides, metrics="exact", **options).metrics["exact"]["label"]["micro"]
    return micro["tp_gold"], micro["gold"], micro["predicted"]


def test_file_for_each_document_is_named_by_its_id(gold: Path, tmp_path: Path) -> None:
    fenced = 'Here it is:\n\n```json\n{\n  "PER": ["Ada",]\n}\n```\nAnything else?\n'
    run = folder(tmp_path / "run", a_txt=fenced, b__c_json=ULM)

    result = score(gold, run, input="mentions", metrics="exact")

    assert numbers(gold, run, input="mentions") == (2, 3, 2)
    assert result.documents == 2
    assert result.passed_over["predicted"] == {"texts around answers": 1, "repaired answers": 1}
    assert result.inputs["predicted"]["files"] == 2


@pytest.mark.parametrize(
    "answer", [ADA, f"Sure: {ADA}", f"<think>Hm</think>\n{ADA}", '{"entities": {"PER": ["Ada"]}}']
)
def test_folder_of_answers_beside_a_file_is_recognised(gold: Path, tmp_path: Path, answer: str) -> None:
    run = folder(tmp_path / "run", a_txt=answer, b__c_txt="I cannot.")

    assert numbers(gold, run, unparsable="empty") == (1, 3, 1)
    folder(run, a_txt="Ada B-PER")
    with pytest.raises(
        FileError, match=r"is a folder, but .* is a file .*input='mentions' reads a folder of answers"
    ):
        score(gold, run)


def test_order_of_files_and_of_documents_does_not_matter(gold: Path, tmp_path: Path) -> None:
    rows = [json.dumps({"custom_id": "b/c", "output": ULM}), json.dumps({"id": "a", "output": ADA})]
    parts = folder(tmp_path / "parts", one_jsonl="\n".join(rows[:1]), two_jsonl="\n".join(rows[1:]))
    both = write(tmp_path / "both.jsonl", "\n".join(rows))

    assert numbers(gold, parts, input="mentions") == (2, 3, 2)
    assert numbers(gold, both, input="mentions", pair_by="id") == (2, 3, 2)


def test_answer_may_name_its_document(gold: Path, tmp_path: Path) -> None:
    run = folder(tmp_path / "run", first_json='{\n "id": "a",\n "PER": ["Ada"]}', b__c_json=ULM)

    assert numbers(gold, run, input="mentions") == (2, 3, 2)


@pytest.mark.parametrize("key", ["response", "output", "completion", "result"])
def test_rows_with_an_answer_are_recognised(gold: Path, tmp_path: Path, key: str) -> None:
    blocks = [{"message": {"content": [{"type": "text", "text": text}]}} for text in (ADA, ULM)]
    ada, ulm = blocks if key == "result" else (ADA, ULM)  # as in a batch of Anthropic
    rows = [{"custom_id": "a", key: ada}, {"custom_id": "b/c", key: ulm}]
    path = write(tmp_path / "answers.jsonl", "\n".join(map(json.dumps, rows)))
    run = folder(tmp_path / "run", a_json=json.dumps(rows[0]), b__c_json=json.dumps(rows[1]))
    expected = numbers(gold, path, input="mentions")

    assert numbers(gold, path) == numbers(gold, run) == numbers(ROWS, rows) == expected == (2, 3, 2)
    assert "located:free(exact,space)" in str(score(gold, path).signature)
    assert numbers(gold, path, unparsable="empty") == expected


def test_answers_have_no_text_so_they_are_not_gold(gold: Path, tmp_path: Path) -> None:
    rows = [{"id": "a", "response": ADA}]
    path = write(tmp_path / "answers.jsonl", json.dumps(rows[0]))

    with pytest.raises(UsageError, match=r"gold has answers of a language model, .*row='text="):
        score(path, gold)
    with pytest.raises(UsageError, match="gold has answers of a language model"):
        score(rows, ROWS[:1])


def test_documents_without_an_answer_are_named_together(gold: Path, tmp_path: Path) -> None:
    more = [{"id": f"d{number}", "text": "x", "label": []} for number in range(11)]
    write(gold, "\n".join(map(json.dumps, [*ROWS, *more])))
    run = folder(tmp_path / "run", a_txt=ADA, x_txt=ADA)
    first = "'b/c', 'd0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6', 'd7', 'd8', ..."

    with pytest.raises(
        UsageError, match=f"12 documents have no answer: {first}; 1 answer is to no document: 'x'"
    ):
        score(gold, run, input="mentions")
    (run / "x.txt").unlink()
    with pytest.raises(UsageError, match=f"12 documents have no answer: {first} .*missing='empty'"):
        score(gold, run, input="mentions")


def test_missing_answers_may_count_as_answers_without_spans(
    gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder(tmp_path / "run", a_txt=ADA)
    alone = write(tmp_path / "answers.jsonl", json.dumps({"id": "a", "output": ADA}))

    assert numbers(gold, run, input="mentions", missing="empty") == (1, 3, 1)
    assert numbers(gold, alone, missing="empty") == (1, 3, 1)
    assert numbers(ROWS, {"a": ADA}, input="mentions", missing="empty") == (1, 3, 1)
    assert numbers(ROWS, [{"id": "b/c", "output": ULM}, {"id": "a", "output": ADA}], missing="empty") == (
        2,
        3,
        2,
    )
    assert numbers(ROWS, [{"id": "a", "entities": []}], input="mentions", missing="empty") == (0, 3, 0)
    assert len(list(errors(gold, run, input="mentions", missing="empty"))) == 2
    assert main(["score", str(gold), str(run), "--input", "mentions", "--missing", "empty"]) == 0
    printed = capsys.readouterr()
    assert "1 document has no answer" in printed.out
    assert "could not be read" not in printed.out


def test_missing_is_for_two_sides_and_for_answers_by_id(gold: Path) -> None:
    with pytest.raises(UsageError, match="read has one side"):
        read(gold, missing="empty")
    with pytest.raises(UsageError, match="missing='empty' does not apply to the format doccano"):
        score(gold, gold, missing="empty")
    with pytest.raises(UsageError, match="missing needs the ids of documents"):
        score(ROWS, [ADA], input="mentions", missing="empty")
    with pytest.raises(UsageError, match="predicted has document 'a' 2 times"):
        score(ROWS, [{"id": "a", "output": ADA}] * 2, missing="empty")
    with pytest.raises(UsageError, match="gold has document 'a' 2 times"):
        score([ROWS[0]] * 2, {"a": ADA}, input="mentions")
    with pytest.raises(UsageError, match="missing='all' is unknown"):
        score(gold, gold, missing="all")


def test_unreadable_answers_of_a_run_are_named_together(gold: Path, tmp_path: Path) -> None:
    run = folder(tmp_path / "run", a_txt="I cannot help.", b__c_txt=f"{ULM[:-2]}\nSorry.")
    rows = '{"id": "a", "PER": 3}\n{"id": "d", "PER": ["Ada"]}\nno\n'

    with pytest.raises(FormatError) as caught:
        score(gold, run, input="mentions")
    assert f"2 answers cannot be read, in {run / 'a.txt'}:1, {run / 'b' / 'c.txt'}:1" in str(caught.value)
    assert numbers(gold, run, input="mentions", unparsable="empty") == (0, 3, 0)
    folder(run, a_txt=rows)
    with pytest.raises(
        FormatError, match=r"3 answers cannot be read, in .*a.txt:1, .*a.txt:3, .*c.txt:1; the first"
    ):
        score(gold, run, input="mentions")


def test_two_answers_to_one_document_are_an_error(gold: Path, tmp_path: Path) -> None:
    run = folder(tmp_path / "run", a_txt=ADA, z_json='{"id": "a", "PER": []}', b__c_txt=ULM)

    with pytest.raises(UsageError, match="predicted has 'a' twice"):
        score(gold, run, input="mentions")


def test_folder_of_gold_with_a_file_for_each_document(tmp_path: Path) -> None:
    for name in ("a", "b__c"):
        folder(tmp_path / "gold", **{f"{name}_txt": "Ada met", f"{name}_ann": "T1\tPER 0 3\tAda\n"})
    run = folder(tmp_path / "run", a_md=f"Sure:\n{ADA}\n", b__c_md='{"PER": []}')

    assert numbers(tmp_path / "gold", run, input="mentions") == (1, 2, 1)


def test_folders_of_files_with_several_documents_are_paired_by_name(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({**row, "id": str(number)}) for number, row in enumerate(ROWS, 1))
    gold = folder(tmp_path / "gold", one_jsonl=lines)
    run = folder(tmp_path / "run", one_txt=f"{ADA}\n{ULM}\n")

    assert numbers(gold, run, input="mentions") == (2, 3, 2)


def test_run_has_several_golds(gold: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", "\n".join(json.dumps({**row, "label": []}) for row in ROWS))
    run = folder(tmp_path / "run", a_txt=ADA, b__c_txt=ULM)

    assert numbers(gold, run, input="mentions", any_of=[other])[2] == 2


def test_lists_of_files_are_paired_in_order_or_by_the_names_of_files(gold: Path, tmp_path: Path) -> None:
    folder(tmp_path / "gold", x_txt="Ada met", x_ann="T1\tPER 0 3\tAda\n")
    run = folder(tmp_path / "run", a_txt=ADA, z_json='{"id": "b/c", "LOC": ["Ulm"]}')
    files = [run / "z.json", run / "a.txt"]

    assert numbers([tmp_path / "gold" / "x.ann"], [run / "a.txt"], input="mentions") == (1, 1, 1)
    assert numbers(gold, files, input="mentions", pair_by="id") == (2, 3, 2)


@pytest.mark.parametrize("content", [b"", b"\xff", b"\0", b"[" * 9000, b"null", b"Sorry."])
def test_file_of_a_run_that_is_no_answer_is_an_error_with_its_name(
    gold: Path, tmp_path: Path, content: bytes
) -> None:
    run = folder(tmp_path / "run", a_txt=ADA, b__c_json=ULM)
    (run / "a.txt").write_bytes(content)

    with pytest.raises(FormatError) as caught:
        score(gold, run, input="mentions")
    assert caught.value.file == str(run / "a.txt")
