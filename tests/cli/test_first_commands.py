"""Files and options of a first try: the message says how it is done, or what was read."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.conll").write_text("John B-PER\nMay I-PER\nis O\n", encoding="utf-8")
    Path("p.conll").write_text("John B-PER\nMay O\nis O\n", encoding="utf-8")
    Path("e.conll").write_text("", encoding="utf-8")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            '[[{"entity_group": "PER", "start": 0, "end": 4}]]',
            "as a Hugging Face pipeline returns them (write a row",
        ),
        (
            '{"id": 1, "entities": []}',
            "has entities without texts (add the text of each row, or --input mentions",
        ),
    ],
)
def test_json_that_is_not_read_is_answered_with_what_is(row: str, message: str, capsys: Capture) -> None:
    Path("x.json").write_text(row, encoding="utf-8")

    assert main(["score", "x.json", "x.json"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["levels", "confusion"])
def test_overlapping_spans_are_refused_with_their_file_and_the_metrics_that_count_them(
    metric: str, capsys: Capture
) -> None:
    for name, spans in (("g", '[[0, 3, "A"]]'), ("p", '[[0, 3, "A"], [1, 2, "A"]]')):
        Path(f"{name}.jsonl").write_text(f'{{"id": 1, "text": "abc", "label": {spans}}}', encoding="utf-8")

    assert main(["score", "g.jsonl", "p.jsonl", "--metric", metric]) == 2
    error = capsys.readouterr().err
    assert error.startswith("clueval score: p.jsonl:1, document '1': spans ")
    assert f"metric '{metric}' cannot count such spans; exact, fair, gate and muc can" in error
    assert main(["diff", "g.jsonl", "g.jsonl", "p.jsonl", "--unlabelled"]) == 2
    assert capsys.readouterr().err.startswith("clueval diff: p.jsonl:1, document '1': spans ")


def test_a_layer_may_be_one_of_gold_alone(capsys: Capture) -> None:
    Path("r.conll").write_text("John B-PER B-high\nMay I-PER I-high\nis O O\n", encoding="utf-8")

    assert main(["masking", "r.conll", "p.conll", "--layer", "entity=2", "--layer", "risk=3:"]) == 0
    assert "risk: column 3, BIO, 1 gold span, not predicted" in capsys.readouterr().out
    for wrong in ("risk=", "risk=:", "risk=:3", "risk=3:2:", "=3:"):
        assert main(["score", "r.conll", "p.conll", "--layer", wrong]) == 2
        assert f"--layer {wrong!r} cannot be read" in capsys.readouterr().err


def test_a_column_whose_name_has_a_colon_is_a_source_of_both_sides(capsys: Capture) -> None:
    for name, label in (("g", "PER"), ("p", "LOC")):
        lines = f"# global.columns = ID FORM P:NE P\n1\tAda\tB-PER\tB-{label}\n"
        Path(f"{name}.conllup").write_text(lines, encoding="utf-8")

    for source, f1 in (("P:NE", "100.00"), ("P", "0.00"), ("P:NE:P", None)):
        assert main(["score", "g.conllup", "p.conllup", "--layer", f"ne={source}", "--metric", "exact"]) == (
            2 if f1 is None else 0
        )
        assert f1 is None or capsys.readouterr().out.startswith(f"F1 {f1} %")
    assert main(["check", "g.conllup", "--layer", "ne=P:NE"]) == 0
    assert "(ne BIO)" in capsys.readouterr().out


def test_a_limit_for_a_class_without_mentions_names_the_classes(capsys: Capture) -> None:
    assert main(["masking", "g.conll", "p.conll", "--fail-under", "entity_recall[high]=1", "-q"]) == 1

    assert "entity_recall[high] is undefined (the classes are _), and must" in capsys.readouterr().err


def test_masking_of_a_redacted_text_asks_for_the_option(capsys: Capture) -> None:
    Path("r.conll").write_text("[Name] O\nMay O\nis O\n", encoding="utf-8")

    assert main(["masking", "g.conll", "r.conll"]) == 2
    assert "must have the same text; for redacted texts add --redacted)" in capsys.readouterr().err


def test_masking_of_empty_files_says_that_nothing_was_checked(capsys: Capture) -> None:
    assert main(["masking", "e.conll", "e.conll"]) == 0

    out, err = capsys.readouterr()
    assert "no leak" not in out
    assert "no documents, so nothing was checked" in out
    assert "e.conll is empty" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a\tO\n".encode("utf-16"),
            "is UTF-16 or UTF-32, which clueval does not read (save the file as plain text in UTF-8",
        ),
        ("".encode("utf-16"), "is UTF-16 or UTF-32, which clueval does not read"),
        ("a\tO\n".encode("utf-16-le"), "is UTF-16 or UTF-32, which clueval does not read"),
        (b'{"id": ' + b"1" * 5000 + b"}", "a number has thousands of digits"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "the format is not recognised: no format has such keys"),
        (b'{"text": "a", "label": [[0, 1, "X"]], "label": []}', "the key 'label' occurs twice in an object"),
        (
            "Stra\xdfe\tO\n".encode("latin-1"),
            "not UTF-8: byte 0xdf (save the file as plain text in UTF-8, in Excel as 'CSV UTF-8')",
        ),
    ],
)
def test_a_file_that_is_no_text_says_what_it_is(content: bytes, message: str, capsys: Capture) -> None:
    Path("x").write_bytes(content)

    assert main(["score", "x", "x"]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_the_annotations_of_a_text_says_what_an_empty_file_is(capsys: Capture) -> None:
    for name in ("first/a", "first/b", "second/a"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(f"{name}.txt").write_text("Ada", encoding="utf-8")
        Path(f"{name}.ann").write_text("T1\tPER 0 3\tAda\n", encoding="utf-8")

    assert main(["score", "first", "second"]) == 2
    assert "has no file 'b.ann', which first has (" in (error := capsys.readouterr().err)
    assert "an empty file has no spans" in error


def test_files_with_other_tokens_are_scored_as_texts_or_get_other_tokens(capsys: Capture) -> None:
    Path("a.conll").write_text("Dr.\tO\nKlein-Voss\tB-PER\n", encoding="utf-8")
    Path("b.conll").write_text("Dr\tO\n.\tO\nKlein\tB-PER\n-\tI-PER\nVoss\tI-PER\n", encoding="utf-8")

    assert main(["score", "a.conll", "b.conll"]) == 2
    assert "clueval convert FILE --to doccano -o TEXTS.jsonl" in capsys.readouterr().err
    assert main(["convert", "b.conll", "--to", "doccano", "-o", "b.jsonl"]) == 0
    assert main(["score", "a.conll", "b.jsonl"]) == 0
    assert "F1 100.00 %" in capsys.readouterr().out
    assert main(["convert", "b.conll", "--to", "conll", "--tokens", "a.conll"]) == 0
    assert "Dr.\tO\nKlein-Voss\tB-PER\n" in capsys.readouterr().out


def test_advice_on_a_file_without_predicted_says_what_is_read(capsys: Capture) -> None:
    Path("g.conll").write_text("Ada NNP B-PER\n\n", encoding="utf-8")

    assert main(["score", "g.conll"]) == 2
    advice = "(without PREDICTED, the last two columns are read as gold and predicted; "
    assert advice in capsys.readouterr().err


def test_answers_that_were_repaired_are_not_passed_over(capsys: Capture) -> None:
    Path("g.jsonl").write_text('{"id": 1, "text": "Ada.", "label": []}\n', encoding="utf-8")
    Path("a.jsonl").write_text('{"id": 1, "response": "```json\\n[]\\n```"}\n', encoding="utf-8")

    assert main(["score", "g.jsonl", "a.jsonl", "--input", "mentions", "--metric", "exact"]) == 0
    printed = capsys.readouterr()
    assert "1 answer was not pure JSON; the JSON inside was read" in printed.out + printed.err
    assert "passed over" not in printed.out + printed.err


def test_check_says_of_repaired_answers_that_they_were_read(capsys: Capture) -> None:
    Path("a.jsonl").write_text('{"id": "a", "output": "{\\"PER\\": [\\"Ada\\",]}"}\n', encoding="utf-8")

    assert main(["check", "a.jsonl", "--input", "mentions"]) == 0
    assert capsys.readouterr().out == (
        "a.jsonl: no problems; 1 document, 0 positions\n"
        "a.jsonl: 1 answer was not pure JSON; the JSON inside was read\n"
    )
