"""Tables of spans in files and as data frames: one table gives the same spans and numbers wherever it is read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from corpora import write

from clueval import CluevalError, Document, FormatError, Result, check, convert, read, score
from clueval.cli import main
from clueval.formats.options import Reading

pandas, polars = map(pytest.importorskip, ("pandas", "polars"))

Capture = pytest.CaptureFixture[str]
Spans = Mapping[str, Sequence[tuple[int, int, str]]]
"""The spans of each document, with exclusive ends."""

TEXTS = {"a": "Ada Lovelace met Bob in Rome", "b": "no name", "c": "Äda 😀 saw Bob", "7": "Rome; Ulm, Bonn"}


class Names(NamedTuple):
    """The names of the columns of a table, and whether the end is the last position in characters."""

    document: str
    start: str
    end: str
    last: int = 0
    label: str = "label"


NAMES = [
    Names("document", "start", "end"),
    Names("document", "start", "end_exclusive"),
    Names("document", "start", "end_inclusive", 1),
    Names("dok", "von", "bis"),
    Names("doc", "begin", "stop"),
    Names("doc_id", "start", "stop"),
    Names("id", "begin", "end_inclusive", 1),
    Names("Document", "Start", "End", label="Label"),
    Names("file", "start_offset", "end_offset"),
    Names("docid", "start_char", "end_char"),
    Names("sent_id", "start_position", "end_position"),
    Names("document_id", "start_pos", "end_pos"),
]


def columns_of(spans: Spans, names: Names, texts: Mapping[str, str] | None = None) -> dict[str, list[Any]]:
    """The columns of a table of spans; a document without spans has a row without positions."""
    rows = [
        (id_, *each, None if texts is None else texts[id_][each[0] : each[1]])
        for id_, own in spans.items()
        for each in own
    ]
    found = {
        names.document: [row[0] for row in rows],
        names.start: [row[1] for row in rows],
        names.end: [row[2] - names.last for row in rows],
        names.label: [row[3] for row in rows],
    }
    return found if texts is None else {**found, "text": [row[4] for row in rows]}


def by_hand(path: Path, columns: Mapping[str, Sequence[Any]], separator: str) -> Path:
    rows = [columns, *zip(*columns.values(), strict=True)]
    cells = [[f'"{cell}"' if separator in str(cell) else str(cell) for cell in row] for row in rows]
    return write(path, "".join(separator.join(row) + "\n" for row in cells))


def by_pandas(path: Path, columns: Mapping[str, Sequence[Any]], separator: str, **options: Any) -> Path:
    pandas.DataFrame(columns).to_csv(path, sep=separator, **options)
    return path


WRITERS: dict[str, Callable[[Path, Mapping[str, Sequence[Any]], str], Path]] = {
    "by hand": by_hand,
    "by pandas": by_pandas,
    "by pandas without its index": lambda *arguments: by_pandas(*arguments, index=False),
}


def random_spans(texts: Mapping[str, str], rng: Random) -> dict[str, list[tuple[int, int, str]]]:
    """Up to three spans in each text; the first text has two at least, so that ids are no ids of spans."""
    found = {}
    for number, (id_, text) in enumerate(texts.items()):
        edges = sorted(rng.sample(range(len(text) + 1), 2 * rng.randint(2 if number == 0 else 0, 3)))
        places = zip(edges[::2], edges[1::2], strict=True)
        found[id_] = [(start, end, rng.choice(["PER", "LOC"])) for start, end in places]
    return found


def rows_of(spans: Spans) -> list[dict[str, Any]]:
    return [
        {"id": id_, "text": text, "label": [list(each) for each in spans.get(id_, ())]}
        for id_, text in TEXTS.items()
    ]


def json_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def of_command_line(capsys: Capture, *arguments: object) -> Any:
    """The metrics in the JSON of `clueval score`."""
    assert main(["score", *map(str, arguments), "-q", "--format", "json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)["metrics"]


def as_json(result: Result) -> Any:
    return json.loads(result.render("json"))["metrics"]


def spans_of(documents: Sequence[Document]) -> dict[str, list[tuple[int, int, str]]]:
    return {
        each.id: [(span.start, span.end, span.label) for span in each.layers["label"]] for each in documents
    }


METRICS = "levels,exact,partial"


@pytest.mark.few(5)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("names", NAMES, ids=lambda names: "-".join(names[:3]))
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
def test_table_of_characters_has_one_meaning_in_files_and_frames(
    names: Names, separator: str, writer: str, tmp_path: Path, capsys: Capture
) -> None:
    rng = Random(f"{names}{separator}{writer}")
    gold, found = (random_spans(TEXTS, rng) for _ in range(2))
    columns = columns_of(found, names, rng.choice([TEXTS, None]))
    texts = json_lines(tmp_path / "gold.jsonl", rows_of(gold))
    table = WRITERS[writer](tmp_path / "found.csv", columns, separator)
    expected = as_json(score(rows_of(gold), rows_of(found), metrics=METRICS))

    assert spans_of(list(read(table, text=texts))) == found
    assert of_command_line(capsys, texts, table, "--metric", METRICS) == expected
    assert as_json(score(texts, table, metrics=METRICS, text=rng.choice([texts, None]))) == expected
    for frame in (pandas.DataFrame, polars.DataFrame):
        assert as_json(score(rows_of(gold), frame(columns), metrics=METRICS)) == expected
    assert check(table, text=texts) == []
    assert spans_of(convert(table, "doccano", text=texts)) == found
    assert spans_of(convert(table, "spans", tmp_path / "again.tsv", text=texts)) == found
    assert spans_of(list(read(tmp_path / "again.tsv", text=texts))) == found


@pytest.mark.parametrize("names", NAMES, ids=lambda names: "-".join(names[:3]))
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
def test_table_is_gold_beside_texts_of_predicted(names: Names, tmp_path: Path, capsys: Capture) -> None:
    rng = Random(f"{names}")
    gold, found = (random_spans(TEXTS, rng) for _ in range(2))
    columns = columns_of(gold, names)
    table = by_hand(tmp_path / "gold.csv", columns, ",")
    texts = json_lines(tmp_path / "found.jsonl", rows_of(found))
    expected = as_json(score(rows_of(gold), rows_of(found), metrics=METRICS))

    assert of_command_line(capsys, table, texts, "--metric", METRICS) == expected
    assert as_json(score(pandas.DataFrame(columns), rows_of(found), metrics=METRICS)) == expected


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
@pytest.mark.parametrize("names", [each for each in NAMES if each.end.lower() not in ("end", "stop", "bis")])
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
def test_tables_without_any_text_are_scored_as_frames_are(
    names: Names, separator: str, tmp_path: Path, capsys: Capture
) -> None:
    """Also if documents without spans are missing on a side."""
    rng = Random(f"{names}{separator}")
    gold, found = random_spans(TEXTS, rng), random_spans(dict(reversed(TEXTS.items())), rng)
    found["7"] = [(0, 4, "LOC"), (6, 9, "PER")]
    gold["a"], gold["b"] = [(0, 3, "PER"), (4, 5, "LOC")], []
    sides = [columns_of(each, names) for each in (gold, found)]
    paths = [by_hand(tmp_path / f"{n}.csv", each, separator) for n, each in enumerate(sides)]
    frames = [pandas.DataFrame(each) for each in sides]
    metrics = "levels,exact,partial,muc"

    assert of_command_line(capsys, *paths, "--metric", metrics) == as_json(score(*frames, metrics=metrics))
    assert of_command_line(capsys, *paths, "--metric", "exact,levels") == as_json(
        score(gold | {"b": []}, {id_: found[id_] for id_ in gold}, metrics="exact,levels")
    )


def test_perfect_prediction_is_perfect_wherever_a_table_is_read(tmp_path: Path, capsys: Capture) -> None:
    """What pandas writes, and people score at once: on the command line it had 66.67 %."""
    spans = {"a": [(0, 12, "PER"), (17, 20, "PER")], "c": [(0, 3, "PER")]}
    frame = pandas.DataFrame(columns_of(spans, NAMES[0]))
    frame.to_csv(tmp_path / "found.csv", index=False)
    gold = json_lines(tmp_path / "gold.jsonl", rows_of(spans))
    plain = write(tmp_path / "a.txt", TEXTS["a"])
    alone = by_hand(tmp_path / "alone.csv", columns_of({"a": spans["a"]}, NAMES[0]), ",")

    assert (
        of_command_line(capsys, gold, tmp_path / "found.csv")["levels"]["label"]["unlabelled"]["1"]["f1"]
        == 1.0
    )
    assert score(gold, tmp_path / "found.csv").f1 == score(rows_of(spans), frame).f1 == 1.0
    assert main(["check", str(tmp_path / "found.csv"), "--text", str(gold)]) == 0
    assert spans_of(list(read(alone, text=plain))) == {"a": spans["a"]}
    converted = convert(tmp_path / "found.csv", "spans", text=gold)
    assert {id_: own for id_, own in spans_of(converted).items() if own} == spans


TOKENS = "".join(
    f"# newdoc id = {name}\n{lines}\n"
    for name, lines in (
        ("a", "Ada\tB-PER\nLovelace\tI-PER\nmet\tO\nBob\tB-PER\n"),
        ("b", "in\tO\nRome\tB-LOC\n"),
    )
)
OF_TOKENS = {"a": [(0, 2, "PER"), (3, 4, "PER")], "b": [(5, 6, "LOC")]}
"""The same spans, with positions counted over the whole file, and exclusive ends."""


@pytest.mark.parametrize(
    ("end", "last"), [("end", 1), ("bis", 1), ("stop", 1), ("end_inclusive", 1), ("end_exclusive", 0)]
)
@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_bare_end_of_tokens_is_the_last_position(
    end: str, last: int, separator: str, tmp_path: Path, capsys: Capture
) -> None:
    """As in the tables of CLUEval and FairEval: beside gold with tokens, beside its own text, and with a named one."""
    gold = write(tmp_path / "gold.conll", TOKENS)
    columns = columns_of(OF_TOKENS, Names("document", "start", end, last))
    table = by_hand(tmp_path / "found.csv", columns, separator)
    expected = as_json(score(gold, gold))

    assert of_command_line(capsys, gold, table) == expected
    assert of_command_line(capsys, table, gold) == expected
    assert of_command_line(capsys, gold, table, "--text", gold) == expected
    assert of_command_line(capsys, table, table, "--text", gold) == expected
    assert spans_of(list(read(table, text=gold))) == OF_TOKENS
    assert check(table, text=gold) == []
    assert [each.layers for each in convert(table, "conll", text=gold)] == [
        each.layers for each in read(gold)
    ]


def test_inclusive_ends_of_dictionaries_are_read_as_such() -> None:
    """In memory, every other end is exclusive."""
    span = {"start": 0, "label": "PER"}
    expected = {"d": [(0, 4, "PER")]}

    for end in ({"end_inclusive": 3}, {"end": 4}, {"bis": 4}, {"stop": 4}, {"end_exclusive": 4}):
        assert score(expected, {"d": [{**span, **end}]}).f1 == 1.0


def test_dictionary_by_document_may_have_names_of_columns_as_ids() -> None:
    spans = {"von": [(0, 2, "A")], "end_inclusive": [], "bis": [(1, 2, "B")]}

    assert score(spans, spans).documents == 3


BARE = "document,start,end,label\na,0,3,PER\na,4,5,LOC\n"


@pytest.mark.parametrize("end", ["end", "bis", "stop", "End"])
def test_bare_end_without_any_text_is_an_error_that_names_both_columns(
    end: str, tmp_path: Path, capsys: Capture
) -> None:
    table = write(tmp_path / "t.csv", BARE.replace("end", end))
    message = rf"t\.csv:1: the ends under '{end.lower()}' may be .* end_inclusive .* end_exclusive"

    for call in (
        lambda: score(table, table),
        lambda: list(read(table)),
        lambda: convert(table, "spans"),
    ):
        with pytest.raises(FormatError, match=message):
            call()
    for command in ("score", "convert", "check"):
        to = ["--to", "spans"] if command == "convert" else []
        assert main([command, str(table), *([str(table)] if command == "score" else []), *to]) != 0
        printed = capsys.readouterr()
        assert "end_inclusive" in printed.out + printed.err
        assert "end_exclusive" in printed.out + printed.err


WRONG = {
    "two ends": ("document,start,end,end_inclusive,label\na,0,3,2,PER\n", "for the end: end, end_inclusive"),
    "two starts": ("document,start,begin,end,label\na,0,0,3,PER\n", "for the start: start, begin"),
    "two documents": ("document,doc_id,start,end,label\na,a,0,3,PER\n", "document, doc_id"),
    "ids of spans": ("id,start,end,label\n1,0,3,PER\n2,4,5,PER\n", "another id in each row"),
    "no common document": ("document,start,end,label\nx,0,3,PER\n", "no document"),
    "text of an inclusive end": ("document,start,end,label,text\na,0,2,PER,Ada\n", "end"),
    "another text": ("document,start,end,label,text\na,0,3,PER,Bob\n", "text"),
}


@pytest.mark.parametrize("what", WRONG)
def test_table_that_is_an_error_in_a_file_is_one_as_a_frame(what: str, tmp_path: Path) -> None:
    content, message = WRONG[what]
    table = write(tmp_path / "t.csv", content)
    gold = json_lines(tmp_path / "gold.jsonl", rows_of({}))

    with pytest.raises(CluevalError, match=message):
        score(gold, table)
    with pytest.raises(CluevalError, match=message if what != "no common document" else "document"):
        score(rows_of({}), pandas.read_csv(table))


@pytest.mark.parametrize("sides", [("a,0,3,PER", "x,0,3,PER"), ("a,0,3,PER\na,4,5,LOC", "x,0,3,PER")])
def test_tables_without_a_common_document_are_refused(sides: tuple[str, str], tmp_path: Path) -> None:
    paths = [
        write(tmp_path / f"{n}.csv", f"document,start,end_exclusive,label\n{rows}\n")
        for n, rows in enumerate(sides)
    ]

    with pytest.raises(CluevalError, match="no document is on both sides"):
        score(*paths)


def test_tables_without_text_of_which_one_names_no_documents_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path / "1.csv", "document,start,end_exclusive,label\na,0,3,PER\n")
    two = write(tmp_path / "2.csv", "start,end_exclusive,label\n0,3,PER\n")

    assert score(two, two).documents == 1
    for sides in ((one, two), (two, one)):
        with pytest.raises(CluevalError, match="has no column 'document', and the other side has one"):
            score(*sides)


def test_documents_without_spans_and_positions_of_floats_are_read_as_pandas_writes_them(
    tmp_path: Path,
) -> None:
    frame = pandas.DataFrame(
        {
            "document": ["a", "a", "c"],
            "start": [0, 4, None],
            "end": [3, 12, None],
            "label": ["PER", "LOC", None],
        }
    )
    frame.to_csv(tmp_path / "t.csv")
    gold = json_lines(tmp_path / "gold.jsonl", rows_of({"a": [(0, 3, "PER"), (4, 12, "LOC")]}))

    assert ",0.0,3.0,PER" in (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert (
        score(gold, tmp_path / "t.csv").f1
        == score(json.loads("[" + ",".join(gold.read_text().split("\n")[:-1]) + "]"), frame).f1
        == 1.0
    )


def test_texts_with_line_ends_and_separators_are_read_as_pandas_writes_them(tmp_path: Path) -> None:
    text = 'Ada\nKing, "Countess"; Bob'
    spans = [(0, 8, "A,B"), (10, 20, 'say "x"'), (22, 25, "PER")]
    gold = json_lines(tmp_path / "gold.jsonl", [{"id": "a", "text": text, "label": spans}])
    columns = columns_of({"a": spans}, NAMES[0], {"a": text})

    for separator in ",;\t":
        table = by_pandas(tmp_path / "t.csv", columns, separator)
        assert spans_of(list(read(table, text=gold))) == {"a": spans}
        assert score(gold, table).f1 == 1.0


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_quotes_around_fields_of_tsv_are_read_and_written_as_pandas_does(
    tmp_path: Path, quoting: int
) -> None:
    text = 'Ada, "Countess"; Bob'
    spans = [(0, 3, '"x'), (5, 15, 'say "x"'), (17, 20, "'PER'")]
    gold = json_lines(tmp_path / "gold.jsonl", [{"id": "a", "text": text, "label": spans}])
    columns = columns_of({"a": spans}, NAMES[0], {"a": text})

    table = by_pandas(tmp_path / "t.tsv", columns, "\t", index=False, quoting=quoting)
    convert(gold, "spans", tmp_path / "own.tsv")

    assert spans_of(list(read(table, text=gold))) == {"a": spans}
    assert spans_of(list(read(tmp_path / "own.tsv", text=gold))) == {"a": spans}
    assert [*pandas.read_csv(tmp_path / "own.tsv", sep="\t")["label"]] == [label for *_, label in spans]


@pytest.mark.parametrize(
    "table",
    [
        'document, start, end_exclusive, label\na, 0, 3, "A, B"\n',
        "document ;Start ; end_exclusive;label \na;0;3;A, B\n",
        " document\tstart \tend_exclusive\tlabel\na\t0\t3\tA, B\n",
    ],
)
def test_blanks_after_commas_and_around_names_are_no_part_of_a_table(table: str, tmp_path: Path) -> None:
    assert spans_of(list(read(write(tmp_path / "t.csv", table)))) == {"a": [(0, 3, "A, B")]}


def test_fragments_of_a_table_are_those_of_a_frame(tmp_path: Path) -> None:
    rows = "a,0,28,PER,0-2;17-19,Ada Bob\na,4,12,LOC,,Lovelace\n"
    table = write(tmp_path / "t.csv", f"document,start,end,label,fragments,text\n{rows}".replace("28", "20"))
    gold = rows_of({"a": [(4, 12, "LOC")]})
    gold[0]["label"] = [
        {"start": 4, "end": 12, "label": "LOC"},
        {"fragments": [[0, 3], [17, 20]], "label": "PER"},
    ]
    texts = json_lines(tmp_path / "gold.jsonl", gold)
    frame = pandas.read_csv(table)

    assert score(texts, table, metrics="exact").f1 == score(gold, frame, metrics="exact").f1 == 1.0
    with pytest.raises(CluevalError, match="fragments"):
        score(gold, frame.assign(fragments="x"), metrics="exact")


def test_row_without_a_label_is_an_error_in_a_file_and_a_frame(tmp_path: Path) -> None:
    """pandas reads the label NA as a missing value, which was a span without label."""
    table = write(tmp_path / "t.csv", "document,start,end_exclusive,label\na,0,3,NA\na,4,5,PER\n")
    empty = write(tmp_path / "e.csv", table.read_text(encoding="utf-8").replace("NA", ""))

    assert [span.label for each in read(table) for span in each.layers["label"]] == ["NA", "PER"]
    for call in (
        lambda: score(empty, empty),
        lambda: score(pandas.read_csv(table), pandas.read_csv(table)),
    ):
        with pytest.raises(CluevalError, match="no label"):
            call()


def test_scores_of_a_table_are_those_of_a_frame(tmp_path: Path) -> None:
    spans = {"a": [(0, 3, "PER"), (4, 12, "PER")], "c": [(0, 3, "PER")]}
    columns = {**columns_of(spans, NAMES[1]), "score": [0.5, 1.0, 0.25]}
    gold = json_lines(tmp_path / "gold.jsonl", rows_of({"a": [(0, 3, "PER")]}))
    table = by_pandas(tmp_path / "t.csv", columns, ",")
    options: dict[str, Any] = {"metrics": "exact", "score_feature": "score"}

    of_file = score(gold, table, **options)
    of_frame = score(rows_of({"a": [(0, 3, "PER")]}), pandas.DataFrame(columns), **options)

    assert as_json(of_file) == as_json(of_frame)
    assert list(of_file.metrics["exact"]) == ["label"]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_table_in_another_encoding_is_refused_with_the_name_to_save_it_as(
    encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("document;start;end_exclusive;label\na;0;3;PÄR\n".encode(encoding))

    with pytest.raises(FormatError, match="UTF-8, in Excel as 'CSV UTF-8'"):
        score(path, path)


@pytest.mark.parametrize("pair_by", ["id", "content"])
def test_one_table_has_the_texts_of_a_folder_of_files_that_are_paired_with_it(
    pair_by: str, tmp_path: Path
) -> None:
    spans = {"a": [(0, 3, "PER"), (4, 12, "LOC")], "c": [(0, 3, "PER")]}
    gold = tmp_path / "gold"
    gold.mkdir()
    for id_, own in spans.items():
        lines = (
            f"T{n}\t{label} {start} {end}\t{TEXTS[id_][start:end]}\n"
            for n, (start, end, label) in enumerate(own)
        )
        write(gold / f"{id_}.ann", "".join(lines))
        write(gold / f"{id_}.txt", TEXTS[id_])
    table = by_hand(tmp_path / "found.csv", columns_of({"c": spans["c"], "a": spans["a"]}, NAMES[0]), ";")

    for sides in ((gold, table), (table, gold)):
        assert score(*sides, pair_by=pair_by).f1 == 1.0
    assert (
        score(table, table, text=json_lines(tmp_path / "t.jsonl", rows_of({})), pair_by="id").documents == 4
    )
    without = by_hand(tmp_path / "alone.csv", columns_of(spans, NAMES[1]), ";")
    assert score(without, without, pair_by="id").documents == 2


def test_table_in_a_folder_has_the_texts_of_the_file_of_its_name(tmp_path: Path) -> None:
    spans = {"a": [(0, 3, "PER"), (4, 12, "LOC")]}
    for folder in ("gold", "found"):
        (tmp_path / folder).mkdir()
    for name in ("1", "2"):
        json_lines(tmp_path / "gold" / f"{name}.jsonl", rows_of(spans))
        by_hand(tmp_path / "found" / f"{name}.csv", columns_of(spans, NAMES[0]), ";")

    assert score(tmp_path / "gold", tmp_path / "found", pair_by="name").f1 == 1.0


def test_table_of_gold_has_no_text_of_an_answer_of_a_language_model(tmp_path: Path) -> None:
    """An answer may have changed the text, so that positions would be those of another one."""
    gold = by_hand(tmp_path / "a.csv", columns_of({"a": [(0, 3, "PER")]}, NAMES[0]), ",")
    answer = write(tmp_path / "a.txt", "<PER>Ada</PER> met")
    readings = Reading(), Reading(input="inline")

    with pytest.raises(FormatError, match="there is neither a text nor tokens"):
        score(gold, answer, reading=readings)
    text = write(tmp_path / "t.jsonl", json.dumps({"id": "a", "text": "Ada met", "label": []}))
    assert score(gold, answer, reading=(Reading(text=text), readings[1])).f1 == 1.0
