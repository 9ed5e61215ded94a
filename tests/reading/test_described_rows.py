"""`row` describes the keys of JSON rows of any form, in files and in memory, of both sides or of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import (
    CluevalError,
    FormatError,
    UsageError,
    agree,
    check,
    convert,
    documents_from,
    read,
    score,
)
from clueval.cli import main
from clueval.formats.options import Reading

TEXT = "Ada met Bob."
GOLD = {"key": "a", "response": TEXT, "labels": [{"label_type": "PER", "from": 0, "to": 3}]}
OF_GOLD = "text=response,id=key,spans=labels,label=label_type,start=from,end=to"
NESTED = {"data": {"text": TEXT}, "marks": [{"tag": {"name": "PER"}, "points": [{"from": 8, "to": 10}]}]}
OF_NESTED = "text=data.text,spans=marks,label=tag.name,start=points.0.from,end_inclusive=points.0.to"
BOTH = (Reading(row=OF_GOLD), Reading(row=OF_NESTED))
NONE_RIGHT = {"tp": 0, "gold": 1, "predicted": 1}


def in_file(path: Path, *rows: Any) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def numbers(*sides: Any, **options: Any) -> dict[str, int]:
    micro = score(*sides, metrics="exact", **options).metrics["exact"]["label"]["micro"]
    return {"tp": micro["tp_gold"], "gold": micro["gold"], "predicted": micro["predicted"]}


def test_rows_of_files_are_read_by_their_description(tmp_path: Path) -> None:
    gold, predicted = in_file(tmp_path / "g.jsonl", GOLD), in_file(tmp_path / "p.json", NESTED)
    (document,) = read(gold, row=OF_GOLD)

    assert (document.id, document.text, document.unit) == ("a", TEXT, "character")
    assert [(s.start, s.end, s.label) for s in document.layers["label"]] == [(0, 3, "PER")]
    assert numbers(gold, predicted, reading=BOTH) == NONE_RIGHT
    assert numbers(gold, gold, row=OF_GOLD) == {"tp": 1, "gold": 1, "predicted": 1}


def test_rows_in_memory_are_read_as_in_files(tmp_path: Path) -> None:
    gold = in_file(tmp_path / "g.jsonl", GOLD)

    assert numbers([GOLD], [NESTED], reading=BOTH) == NONE_RIGHT
    assert numbers([GOLD], [GOLD], row=OF_GOLD) == numbers(gold, gold, row=OF_GOLD)
    assert numbers([GOLD, GOLD], [GOLD, GOLD], row=OF_GOLD) == {"tp": 2, "gold": 2, "predicted": 2}
    assert numbers([GOLD], [[(0, 3, "PER")]], reading=(Reading(row=OF_GOLD), Reading()))["tp"] == 1
    assert [each.id for each in documents_from([GOLD], OF_GOLD)] == ["a"]


def test_one_side_may_be_described_and_the_other_recognised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doccano = {"id": "a", "text": TEXT, "label": [[0, 3, "PER"], [8, 11, "PER"]]}
    gold, predicted = in_file(tmp_path / "g.jsonl", doccano), in_file(tmp_path / "p.jsonl", NESTED)

    assert numbers(gold, predicted, reading=(Reading(), Reading(row=OF_NESTED))) == {
        "tp": 1,
        "gold": 2,
        "predicted": 1,
    }
    arguments = ["score", str(gold), str(predicted), "--metric", "exact", "--format", "json"]
    assert main([*arguments, "--row", f":{OF_NESTED}"]) == 0
    formats = {name: each["format"] for name, each in json.loads(capsys.readouterr().out)["inputs"].items()}
    assert formats == {"gold": "doccano", "predicted": "row"}


def test_gold_of_answers_may_be_described(tmp_path: Path) -> None:
    gold = in_file(tmp_path / "g.jsonl", GOLD)
    answers = write(tmp_path / "a.jsonl", '{"id": "a", "PER": ["Ada"]}')
    tagged = write(tmp_path / "t.jsonl", '{"id": "a", "text": "<PER>Ada</PER> met Bob."}')

    assert numbers(gold, answers, row=OF_GOLD, input="mentions")["tp"] == 1
    assert numbers([GOLD], [{"PER": ["Ada"]}], row=OF_GOLD, input="mentions")["tp"] == 1
    assert numbers(gold, tagged, row=OF_GOLD, input="inline")["tp"] == 1


def test_folders_and_all_commands_take_descriptions(tmp_path: Path) -> None:
    for side in ("g", "p"):
        (tmp_path / side).mkdir()
        for name in ("1", "2"):
            in_file(tmp_path / side / f"{name}.jsonl", GOLD)
    gold, predicted = str(tmp_path / "g"), str(tmp_path / "p")
    options = ["--row", OF_GOLD]

    assert numbers(gold, predicted, row=OF_GOLD) == {"tp": 2, "gold": 2, "predicted": 2}
    assert check(gold, row=OF_GOLD) == []
    convert(f"{gold}/1.jsonl", "doccano", tmp_path / "made.jsonl", row=OF_GOLD)
    assert json.loads((tmp_path / "made.jsonl").read_text()) == {
        "id": "a",
        "text": TEXT,
        "label": [[0, 3, "PER"]],
    }
    assert agree(gold, predicted, row=OF_GOLD).to_dict()["documents"] == 2
    for command in ("score", "errors", "profile", "conventions", "masking"):
        assert main([command, gold, predicted, *options]) == 0
    assert main(["compare", gold, predicted, predicted, *options]) == 0
    assert main(["diff", gold, predicted, predicted, *options]) == 0


def test_rows_may_have_tokens_and_layers_names(tmp_path: Path) -> None:
    row = {"w": ["Ada", "met"], "s": [[0, 0, "PER"]]}
    path = in_file(tmp_path / "a.jsonl", row)

    (document,) = read(path, {"entity": "label"}, row={"tokens": "w", "spans": "s", "end_inclusive": "end"})

    assert (document.unit, list(document.tokens or ())) == ("token", ["Ada", "met"])
    assert [(s.start, s.end, s.label) for s in document.layers["entity"]] == [(0, 1, "PER")]


@pytest.mark.parametrize(
    ("description", "says"),
    [
        (
            "text=response,span=labels",
            "no key 'span' .did you mean spans. The keys are text, tokens, id, spans",
        ),
        ("text=response", "does not name the spans"),
        ("text=response,spans", "is not KEY=NAME"),
        ("text=response,spans=b,spans=c", "names 'spans' twice"),
        ("text=response,tokens=b,spans=c", "names 'text' and 'tokens'"),
        ("text=,spans=b", "'' is not the name of a key"),
        ("text=a..b,spans=b", r"'a\.\.b' is not the name of a key"),
        ("spans=labels,end=a,end_inclusive=b", "names 'end' and 'end_inclusive'"),
        ({"spans": "a,b"}, "'a,b' is not the name of a key"),
        ({"spans": 3}, "3 is not the name of a key"),
        (3, "row must be text or a dictionary"),
    ],
)
def test_wrong_description_is_refused_before_files_are_read(description: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Reading(row=description)


def test_description_and_format_exclude_each_other(tmp_path: Path) -> None:
    path = in_file(tmp_path / "a.jsonl", GOLD)

    with pytest.raises(UsageError, match="row describes rows, and input='doccano' names their format"):
        Reading(row=OF_GOLD, input="doccano")
    with pytest.raises(UsageError, match=r"does not apply to the format mentions .*it applies to JSON rows"):
        list(read(path, row=OF_GOLD, input="mentions"))
    with pytest.raises(UsageError, match=r"row='text=response.* applies to files"):
        score([["O"]], [["O"]], row=OF_GOLD)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**GOLD, "key": None}, "the row has no id: no key 'key'"),
        ({"key": "a", "respones": TEXT, "labels": []}, "no text: no key 'response' .did you mean respones"),
        ({"key": "a", "response": TEXT, "label": []}, "no spans: no key 'labels' .did you mean label"),
        ({**GOLD, "labels": [{"labeltype": "PER", "from": 0, "to": 3}]}, "no label: no key 'label_type'"),
        ({**GOLD, "labels": [{"label_type": "PER", "form": 0, "to": 3}]}, "no start: no key 'from'"),
        ({**GOLD, "labels": [{"label_type": "PER", "from": 0, "till": 3}]}, "no end: no key 'to'"),
        ({**GOLD, "labels": [{"from": 0, "to": 3, "alternatives": [{"from": 1, "to": 3}]}]}, "no label"),
    ],
)
def test_row_without_a_key_that_is_named_is_an_error(tmp_path: Path, row: Any, says: str) -> None:
    path = in_file(tmp_path / "a.jsonl", GOLD, row)

    with pytest.raises(FormatError, match=says) as of_file:
        list(read(path, row=OF_GOLD))
    with pytest.raises(FormatError, match=says) as of_rows:
        score([GOLD, row], [GOLD, row], row=OF_GOLD)

    assert (of_file.value.file, of_file.value.line, of_rows.value.line) == (str(path), 2, 2)
    assert "correct the description of rows" in str(of_file.value.advice)


def test_file_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vrt", "Ada\tB-PER\n")

    with pytest.raises(CluevalError, match=r"a\.vrt:1: "):
        list(read(path, row=OF_GOLD))


def test_description_may_stand_in_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "clueval.toml", f'row = "{OF_GOLD}"\n')
    in_file(tmp_path / "a.jsonl", GOLD)

    assert main(["check", "a.jsonl"]) == 0
    assert "1 document" in capsys.readouterr().out
