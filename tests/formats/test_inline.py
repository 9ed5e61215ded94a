"""Inline tags: the text and its spans, whatever other brackets are in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contents import texts
from corpora import write

from clueval import read, score
from clueval.files.errors import FormatError, TextMismatch
from clueval.formats.inline import read_inline
from clueval.formats.options import FormatOptions, Reading
from clueval.reading.source import read_rows
from tests.formats.outcomes import contents

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "inline" / "answer.txt"


def test_sample_by_hand() -> None:
    (document,) = read(SAMPLE, input="inline")

    assert document.text == "Ada Lovelace wrote [a] <b> at 1 < 2 in Ulm.\n[see](x) <i>AT&T</i>\n"
    assert texts(document) == [("Ada Lovelace", "PER"), ("Lovelace", "LOC"), ("Ulm", "LOC")]
    assert document.layers["label"][2].features == {"value": "Q3012"}


def test_labels_are_named_or_in_upper_case() -> None:
    content = "<per>Ada</per> <PER>Eva</PER> [x](per)"

    assert texts(read_inline(content, file="a")) == [("Eva", "PER")]
    assert texts(read_inline(content, labels=["per"], file="a")) == [("Ada", "per"), ("x", "per")]
    assert read_inline(content, labels=[], file="a").text == content


def test_labels_are_an_option(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "<per>Ada</per> <LOC>Ulm</LOC>")

    for labels in ("per, LOC", ["per", "LOC"]):
        result = score(path, path, input="inline", labels=labels, metrics="muc")
        assert result.metrics["muc"]["label"]["strict"]["possible"] == 2


def test_names_of_two_files_are_no_ids_that_must_agree(tmp_path: Path) -> None:
    gold, answer = write(tmp_path / "gold.txt", "<A>a</A> b"), write(tmp_path / "answer.txt", "a <A>b</A>")

    strict = score(gold, answer, input="inline", metrics="muc").metrics["muc"]["label"]["strict"]

    assert (strict["correct"], strict["possible"], strict["actual"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("[a [b](X) c](Y)", [("a b c", "Y"), ("b", "X")]),
        ("<A></A>x", [("", "A")]),
        ("[a](X:1:2)", [("a", "X")]),
        ("<A>[x</A> [y](B)", [("[x", "A"), ("y", "B")]),
        ("[[y](B)", [("y", "B")]),
        ("[y]](B)", None),
        ("<A><B>x</B></A>", [("x", "A"), ("x", "B")]),
    ],
)
def test_brackets_and_tags_nest(content: str, found: list[tuple[str, str]] | None) -> None:
    if found is None:
        with pytest.raises(FormatError, match="closes no bracket"):
            read_inline(content, file="a")
    else:
        assert texts(read_inline(content, file="a")) == found


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a\n<A>x", "a:2: <A> is not closed"),
        ("x</A>", "a:1: </A> closes nothing"),
        ("<A>\n<B>x</A></B>", "a:2: </A> comes before the end of <B> of line 2"),
        ("<A>[x<B>](B)</A></B>", r"a:1: \]\(B\) closes no bracket"),
    ],
)
def test_what_is_not_closed_or_crosses_is_refused(content: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        read_inline(content, file="a")


@pytest.mark.parametrize(
    "content", ["[" * 50_000, "<A>" * 12_000 + "</A>" * 12_000, "](" * 50_000, "<" * 75_000]
)
def test_hostile_texts_are_read_in_one_pass(content: str) -> None:
    assert read_inline(content, file="a").unit == "character"


@pytest.mark.parametrize(
    ("content", "text", "found", "dropped"),
    [
        ("<A>a</A> <B>b", "a b", [("a", "A")], "1"),
        ("a</A> b", "a b", [], "1"),
        ("<A>x<B>y</A>z</B>", "xyz", [("xy", "A")], "2"),
        ("<A>x<A>y</A>z", "xyz", [("y", "A")], "1"),
        ("x](B)", "x", [], "1"),
    ],
)
def test_tags_that_are_not_closed_or_cross_can_be_left_out(
    content: str, text: str, found: list[tuple[str, str]], dropped: str
) -> None:
    document = read_inline(content, lenient=True, file="a")

    assert (document.text, texts(document), document.metadata) == (text, found, {"unparsable": dropped})


def test_rows_have_a_document_each(tmp_path: Path) -> None:
    rows = '{"id": "x", "text": "```\\n<PER>Ada</PER> a\\n```"}\n\n{"text": "b"}\n'
    path = write(tmp_path / "a.jsonl", rows)

    documents = list(read(path, input="inline"))

    assert [(each.id, each.text, texts(each)) for each in documents] == [
        ("x", "Ada a", [("Ada", "PER")]),
        ("2", "b", []),
    ]


@pytest.mark.parametrize(
    "rows", ['[{"doc_id": 7, "text": "<A>b</A>"}]', '{\n"id": 7,\n"text": "<A>b</A>"\n}\n']
)
def test_rows_stand_in_lines_or_in_any_json(rows: str, tmp_path: Path) -> None:
    (document,) = read(write(tmp_path / "a.json", rows), input="inline")

    assert (document.id, document.text, texts(document)) == ("7", "b", [("b", "A")])


def test_a_row_without_text_is_an_error_or_an_empty_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": "x", "text": "<A>a"}\n{"id": "y"\n{"text": "<A>b</A>"}')

    with pytest.raises(FormatError, match=r"a.jsonl:1: <A> is not closed"):
        list(read(path, input="inline"))
    with pytest.raises(FormatError, match=r"a.jsonl:2: the row is not a JSON object"):
        list(read(path, input="inline", unparsable="lenient"))
    assert [each.text for each in read(path, input="inline", unparsable="empty")] == ["", "", "b"]


def test_an_answer_is_aligned_with_the_text_of_gold(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.conll", "Ada B-PER\nmet O\nBob B-PER\nin O\nUlm B-LOC\n")
    answer = write(
        tmp_path / "a.txt", "Sure: <PER>Ada</PER> met <PER>bob</PER> in <LOC>Ulm</LOC>! <PER>XX</PER>"
    )

    result = score(gold, answer, metrics="exact", reading=(Reading(), Reading(input="inline")))
    micro = result.metrics["exact"]["label"]["micro"]

    assert (micro["tp_gold"], micro["fp"], micro["fn"]) == (3, 1, 0)
    located = result.to_dict()["prepared"]["located"]
    assert (located["unlocatable"], located["differ"]) == (1, 1)
    assert [each["text"] for each in result.to_dict()["unprojected"]] == ["XX"]
    assert "located:aligned" in str(result.signature)
    assert result.tokens == 5


def test_answers_in_memory_are_read_as_in_files(tmp_path: Path) -> None:
    rows: list[Any] = ["<PER>Ada</PER>", {"id": "b", "text": "in <LOC>Ulm</LOC>"}]
    lines = [{"text": row} if isinstance(row, str) else row for row in rows]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)))

    in_file = list(map(contents, read(path, input="inline")))
    in_memory = [contents(each) for each in read_rows(enumerate(rows, 1), FormatOptions(), name="inline")]

    assert in_file == in_memory


GOLD: list[dict[str, Any]] = [
    {"id": "x", "text": "Ada met Bob.", "spans": [(0, 3, "PER"), (8, 11, "PER")]},
    {"id": "y", "text": "Bob left.", "spans": [(0, 3, "PER")]},
]
TAGGED = {"x": "<PER>Ada</PER> met <PER>Bob</PER>.", "y": "<PER>Bob</PER> left."}


def batch_row(id: str, content: str) -> dict[str, Any]:
    body = {"choices": [{"message": {"role": "assistant", "content": content}}]}
    return {"custom_id": id, "response": {"status_code": 200, "body": body}}


@pytest.mark.parametrize(
    "row",
    [
        lambda id, text: {"id": id, "text": text},
        lambda id, text: {"response": text, "id": id},
        lambda id, text: {"id": id, "text": "the prompt", "output": {"text": text}},
        batch_row,
    ],
)
def test_rows_of_answers_are_paired_by_their_ids_and_never_by_position(
    tmp_path: Path, row: Callable[[str, str], dict[str, Any]]
) -> None:
    gold = write(tmp_path / "gold.jsonl", "\n".join(map(json.dumps, GOLD)))
    rows = [row(id, TAGGED[id]) for id in ("y", "x")]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    reading = (Reading(), Reading(input="inline"))

    for sides, reversed_sides in (((gold, path),) * 2, ((GOLD, rows), (GOLD, rows[::-1]))):
        with pytest.raises(TextMismatch, match="gold has document 'x' where predicted has document 'y'"):
            score(*sides, metrics="exact", reading=reading)
        assert score(*sides, metrics="exact", reading=reading, pair_by="id").f1 == 1
        if sides[0] is GOLD:
            assert score(*reversed_sides, metrics="exact", reading=reading).f1 == 1


@pytest.mark.parametrize("answer", ["I cannot help.", "", "{{Bob|PER}} left.", "@@Bob## left."])
def test_answers_that_do_not_repeat_the_text_are_a_headline(answer: str) -> None:
    result = score(GOLD, [TAGGED["x"], answer], input="inline", metrics="exact")

    assert "1 answer does not repeat the text" in result.render("text")


def test_signature_says_how_unreadable_answers_count() -> None:
    answers = ["<PER>Ada</PER> met <PER>Bob.", TAGGED["y"]]
    results = [score(GOLD, answers, input="inline", unparsable=how) for how in ("empty", "lenient")]

    assert results[0].signature.differences(results[1].signature) == {"unparsable": ("empty", "lenient")}
    again = score(GOLD, answers, input="inline", signature=results[1].signature)
    assert again.signature == results[1].signature
