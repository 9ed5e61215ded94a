"""Answers of language models, without positions: whatever is around the JSON, and whatever it lacks."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import FormatError, read, score
from clueval.cli import main
from clueval.formats.mentions import json_in

ONE = '{"id": "a", "entities": [{"text": "Ada", "label": "PER"}]}'
TWO = '{"id": "b", "entities": {"PER": ["Ada", "Bob"], "LOC": ["Ulm"], "ORG": []}}'
FOUND = [("a", [("Ada", "PER")]), ("b", [("Ada", "PER"), ("Bob", "PER"), ("Ulm", "LOC")])]


def answers(folder: Path, content: str, **options: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    path = write(folder / "answers.jsonl", content)
    return [
        (document.id, [(span.features["mention"], span.label) for span in document.layers["label"]])
        for document in read(path, input="mentions", **options)
    ]


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


def test_a_list_alone_is_an_answer_without_an_id(tmp_path: Path) -> None:
    assert answers(tmp_path, '[{"text": "Ada", "label": null}]\n[]') == [("1", [("Ada", "_")]), ("2", [])]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("I found no entities.", "it is not JSON"),
        ('{"id": 1, "entities": [', "it is not JSON"),
        ("{'id': 1, 'entities': []}", "it is not JSON"),
        ('{"id": 1}', "it has no key 'entities'"),
        ('{"id": 1, "entities": 5}', "neither a list nor an object"),
        ('{"id": [], "entities": []}', "its id is neither a text nor a number"),
        ('{"entities": ["Ada"]}', "an entity is not an object"),
        ('{"entities": [{"label": "PER"}]}', "the text of an entity is not text"),
        ('{"entities": [{"text": "Ada", "label": 3}]}', "the label of an entity is not text"),
        ('{"entities": [{"text": "Ada", "kind": "PER"}]}', "no key 'label' .its keys: 'text', 'kind'"),
        ('{"entities": [{"text": "Ada"}]}', "no key 'label' .its keys: 'text'"),
        ('{"entities": [{"word": "Ada", "entity": "B-PER"}]}', "aggregation_strategy"),
        ('{"entities": [{"word": "##a", "entity": "PER", "start": 0}]}', "aggregation_strategy"),
        ('{"entities": {"Ada": "PER"}}', "what stands under a label is no list of texts"),
        ('{"entities": {"PER": [null]}}', "the text of an entity is not text"),
        ('{"entities": {"PER": ["Ada"], "PER": ["Eva"]}}', "a key occurs twice"),
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


def test_text_around_an_answer_is_counted_as_passed_over(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", '{"id": "a", "text": "Ada", "label": [[0, 3, "PER"]]}')
    path = write(tmp_path / "answers.jsonl", f"Here: {ONE}")

    assert score(gold, path, input="mentions").passed_over["predicted"] == {"texts around answers": 1}


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
    for arguments in (["agree", gold, path, "--input", "mentions"], ["agree", gold, recognised]):
        assert main(arguments) == 2
        assert "needs the positions of spans" in capsys.readouterr().err
    assert main(["score", gold, path, "--input", "mentions", "--unparsable", "lenient"]) == 2
    assert "does not apply to the format mentions" in capsys.readouterr().err
    assert main(["errors", gold, path, "--input", "mentions"]) == 0
    assert "not listed: 1 predicted span without a place" in capsys.readouterr().err
