"""Tables of spans with character positions, whose texts are rows of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write

from clueval import convert, read
from clueval.files.errors import CluevalError, FileError, FormatError, SpanError, UsageError

ROWS = [
    {"id": 7, "text": "Anna Weiß in Bern", "label": [[0, 9, "PER"], [13, 17, "LOC"]]},
    {"id": 8, "text": "😀 Ada", "label": [[2, 5, "PER"]]},
]
HEADER = "document,start,end_exclusive,label\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write(tmp_path / "texts.jsonl", "\n".join(map(json.dumps, ROWS)))


def test_table_of_characters_has_the_spans_of_its_texts(tmp_path: Path, texts: Path) -> None:
    table = write(tmp_path / "t.csv", f"{HEADER}8,2,5,PER\n7,0,9,PER\n7,13,17,LOC\n")
    one, two = read(table, text=texts)

    assert [(one.id, one.unit, one.text_of(span)) for span in one.layers["label"]] == [
        ("7", "character", "Anna Weiß"),
        ("7", "character", "Bern"),
    ]
    assert [two.text_of(span) for span in two.layers["label"]] == ["Ada"]


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (f"{HEADER}7,0,18,PER\n", SpanError, "positions are counted from 0 in each text"),
        (f"{HEADER}9,0,1,PER\n", SpanError, "t.csv:2: the text has no document '9'"),
        (
            "start,end,label\n0,8,PER\n",
            FormatError,
            "the table has no column 'document' .positions are counted",
        ),
    ],
)
def test_span_without_its_text_is_refused(
    content: str, error: type[Exception], message: str, tmp_path: Path, texts: Path
) -> None:
    table = write(tmp_path / "t.csv", content)

    with pytest.raises(error, match=message):
        list(read(table, text=texts))


def test_text_of_another_format_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", f"{HEADER}7,0,9,PER\n")

    with pytest.raises(FileError, match="has neither tokens nor rows of texts"):
        list(read(table, text=table))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "Anna Weiß lives in Bern",
            "the text has no document '7' .* is one document with the name of its file",
        ),
        ('{"id": "7", "text": "Anna Weiß"}\n', "the row has no spans: no key 'label'"),
        ('[{"id": "7", "label": []}]', "the row has no text"),
    ],
)
def test_text_that_is_neither_tokens_nor_rows_is_refused(content: str, message: str, tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", f"{HEADER}7,0,9,PER\n")

    with pytest.raises(CluevalError, match=message):
        list(read(table, text=write(tmp_path / "t.txt", content)))


def test_text_may_be_plain(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "Start,End_exclusive,label\n0,9,PER\n20,24,LOC\n")
    text = "Anna Weiß\r\nlives in Bern."
    (document,) = read(table, text=write(tmp_path / "a.txt", text))

    spans = [(span.start, span.end, span.label) for span in document.layers["label"]]
    assert (document.id, document.unit, document.text, spans) == (
        "a",
        "character",
        text,
        [(0, 9, "PER"), (20, 24, "LOC")],
    )


@pytest.mark.parametrize(
    ("name", "end", "other"), [("end_inclusive", 9, "end_exclusive"), ("end_exclusive", 8, "end_inclusive")]
)
def test_text_of_a_span_that_fits_only_the_other_end_is_an_error_that_names_both(
    name: str, end: int, other: str, tmp_path: Path
) -> None:
    table = write(tmp_path / "t.csv", f"start,{name},label,text\n0,{end},PER,Anna Weiß\n")

    for text in ("Anna Weiß lives in Bern.", "Anna Weißlives in Bern."):
        with pytest.raises(FormatError, match=rf"t\.csv:2: .* \(name the column {other} instead of {name}\)"):
            list(read(table, text=write(tmp_path / "a.txt", text)))


@pytest.mark.parametrize(
    ("name", "end", "other"), [("end_inclusive", 2, "end_exclusive"), ("end_exclusive", 1, "end_inclusive")]
)
def test_text_of_tokens_that_fits_only_the_other_end_is_an_error_that_names_both(
    name: str, end: int, other: str, tmp_path: Path
) -> None:
    write(tmp_path / "t.vrt", "<text id='a'>\nAnna\nWeiß\nlives\n</text>\n")
    table = write(tmp_path / "t.csv", f"document,start,{name},label,text\na,0,{end},PER,Anna Weiß\n")

    with pytest.raises(FormatError, match=rf"t\.csv:2: .* \(name the column {other} instead of {name}\)"):
        list(read(table))


def test_text_of_a_span_that_is_another_is_an_error_that_does_not_show_it(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "start,end_exclusive,label,text\n0,9,PER,Bert Braun\n")

    with pytest.raises(FormatError, match=r"t\.csv:2, .*0 to 8 \(inclusive\) differs") as error:
        list(read(table, text=write(tmp_path / "a.txt", "Anna Weiß lives in Bern.")))
    assert "Bert" not in str(error.value)
    assert "Anna" not in str(error.value)


@pytest.mark.parametrize("row", ["0,0,PER,,", "0,6,PER,Ada et,0-2;5-6"])
def test_text_of_a_span_shows_no_end_if_it_is_empty_or_of_fragments(row: str, tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", f"start,end_inclusive,label,text,fragments\n{row}\n")
    (document,) = read(table, text=write(tmp_path / "a.txt", "Ada met Bo"))

    assert [span.end - 1 for span in document.layers["label"]] == [int(row[2])]


def test_text_of_one_span_that_lost_a_blank_shows_no_end(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "start,end_inclusive,label,text\n0,4,PER,Anna\n10,14,VERB,lives\n")
    (document,) = read(table, text=write(tmp_path / "a.txt", "Anna Weiß lives in Bern."))

    assert [(span.start, span.end) for span in document.layers["label"]] == [(0, 5), (10, 15)]


@pytest.mark.parametrize("content", ["Anna\nWeiß\n", "Anna NE\nWeiß NE\n", "Anna B-PER\n", "[\nAnna\n]\n"])
def test_text_may_be_lines_of_tokens(content: str, tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "document,start,end,label\n")
    (document,) = read(table, text=write(tmp_path / "t.txt", content))

    assert document.tokens == [line.split()[0] for line in content.splitlines()]


def test_texts_without_tokens_give_no_tokens(tmp_path: Path, texts: Path) -> None:
    with pytest.raises(UsageError, match="the file has texts without tokens"):
        convert(texts, "conll", tmp_path / "out.conll", tokens=texts)


def test_label_without_a_prefix_is_answered_with_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", "The\tO\nTom\tperson-actor\n")

    says = r"x\.txt:2: 'person-actor' is not a tag .*; if labels have no prefix, write I-"
    with pytest.raises(FormatError, match=says):
        list(read(path))


@pytest.mark.parametrize("content", [", O\n", "1,5 B-NUM\n", "# a,b\nx O\n", "x,y B-PER x,y\n"])
def test_tokens_with_commas_are_tokens(content: str, tmp_path: Path) -> None:
    (document,) = read(write(tmp_path / "x.txt", content), {"label": 2})

    assert len(document.tokens or ()) == 1
