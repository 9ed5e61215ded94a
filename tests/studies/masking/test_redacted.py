"""Masking reports on redacted texts: figures, pairing by name, errors."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval import CluevalWarning, Document, Span
from clueval.cli import main
from clueval.files.errors import CluevalError

Capture = pytest.CaptureFixture[str]
TEXT = "Frau Weiß klagt gegen Karl Öz. Weiß wohnt in Köln."
SPANS = [(5, 9, "e1"), (22, 29, "e2"), (31, 35, "e1"), (45, 49, "e3")]


def gold() -> Document:
    spans = [Span(start, end, "PER", {"entity_id": entity}) for start, end, entity in SPANS]
    return Document("d", {"x": spans}, text=TEXT, unit="character")


def figures(redacted: str, **settings: Any) -> dict[str, Any]:
    report = clueval.masking([gold()], [redacted], redacted=True, **settings)
    found: dict[str, Any] = report.to_dict()["metrics"]["masking"]["x"]
    return found


def test_the_figures_of_a_redacted_text_are_those_of_the_recovered_spans() -> None:
    found = figures("Frau W. klagt gegen Karl ██. Weiß wohnt in [ORT].")

    assert (found["classes"]["all"]["protected"], found["classes"]["all"]["partial"]) == (2, 1)
    assert found["redacted"] == {"placeholders": 3, "uncertain": 0, "initials": 1, "replaced_words": 0}
    assert found["replacements"] == {"entities": 0, "several": 0, "shared": 0}


@pytest.mark.parametrize(
    ("golds", "texts"),
    [([{"text": "Ada geht.", "spans": [(0, 3, "PER")]}], ["[X] geht."]), ({"a": gold()}, {"a": TEXT})],
)
def test_gold_and_redacted_texts_may_be_in_any_form_that_score_takes(golds: Any, texts: Any) -> None:
    assert clueval.masking(golds, texts, redacted=True).result.documents == 1


def test_redacted_texts_by_id_belong_to_documents_with_these_ids() -> None:
    row = {"text": "Ada geht.", "spans": [(0, 3, "PER")]}
    texts = {"b": "Ada geht.", "a": "[X] geht."}

    report = clueval.masking({"a": row, "b": row}, texts, redacted=True)

    assert [leak.document for leak in report.leaks] == ["b"]
    with pytest.raises(CluevalError, match="document 'c': there is a redacted text, but no gold document"):
        clueval.masking({"a": row, "b": row}, {**texts, "c": ""}, redacted=True)


def test_what_is_neither_texts_nor_a_path_is_refused() -> None:
    with pytest.raises(
        CluevalError, match="predicted must be a dictionary or text or a path or a list, not an int"
    ):
        clueval.masking([gold()], 5, redacted=True)  # type: ignore[arg-type]


def test_redacted_json_is_refused_with_the_form_that_is_read(tmp_path: Path) -> None:
    texts = write(tmp_path / "texts.jsonl", '{"id": "d", "text": "Frau W."}\n')

    with pytest.raises(
        CluevalError, match=r"is JSON, .* \(give a folder with a \.txt file for each document"
    ):
        clueval.masking([gold()], texts, redacted=True)


@pytest.mark.parametrize(
    ("redacted", "expected"),
    [
        ("Herr [Müller] traf Frau [Demir] im Park.", [(5, 10, "[Müller]"), (21, 27, "[Demir]")]),
        ("Herr [PER] traf Frau [Ehefrau von Demir] im Park.", [(21, 27, "[Ehefrau von Demir]")]),
        ("Herr [PER] traf Frau [PER] im [Demir-Park].", [(31, 35, "[Demir-Park]")]),
        ("Herr [PER_1] traf Frau [PER_Demir1] im [Park].", [(21, 27, "[PER_Demir1]")]),
        ("Herr [PER] traf Frau [PER] im Park[ (Demir)].", [(34, 35, "[ (Demir)]")]),
        ("Herr [Demir] traf Frau [DEMIR] im [Demirs Park].", []),
        ("Herr [PER] traf Frau Demir im Park.", [(21, 27, "Demir")]),
    ],
)
def test_a_placeholder_that_shows_words_of_another_mention_is_a_string_leak(
    redacted: str, expected: list[tuple[int, int, str]]
) -> None:
    gold = {"text": "Herr Demir traf Frau Müller im Park.", "spans": [(5, 10, "PER"), (21, 27, "PER")]}

    leaks = clueval.masking([gold], [redacted], redacted=True, align=True).string_leaks

    assert [(leak.start, leak.end, leak.text) for leak in leaks] == expected


def test_a_document_without_annotations_whose_text_is_redacted_is_named() -> None:
    golds = [
        Document(name, {"x": spans}, text="Ada geht.", unit="character")
        for name, spans in (("a", [Span(0, 3, "PER")]), ("b", []), ("c", []))
    ]

    with pytest.warns(CluevalWarning, match="gold has no spans in 1 document .*: b$"):
        clueval.masking(golds, ["[X] geht.", "[X] geht.", "Ada geht."], redacted=True)


def test_two_gold_documents_with_one_redacted_text_are_refused(tmp_path: Path) -> None:
    row = json.dumps({"id": "d", "text": "Ada geht.", "label": [[0, 3, "PER"]]})
    golds = write(tmp_path / "gold.jsonl", f"{row}\n{row}\n")
    (tmp_path / "out").mkdir()
    write(tmp_path / "out" / "d.txt", "[X] geht.")

    with pytest.raises(CluevalError, match="several gold documents have this id"):
        clueval.masking(golds, tmp_path / "out", redacted=True)


def test_a_mention_beside_the_same_bracket_in_both_texts_is_masked() -> None:
    gold = {"text": "Er sah Groß [Anm. Groß].", "spans": [(7, 11, "PER")]}

    report = clueval.masking([gold], ["Er sah [PER] [Anm. Groß]."], redacted=True)

    assert (len(report.leaks), [leak.start for leak in report.string_leaks]) == (0, [18])


def test_an_initial_counts_for_its_own_mention_only() -> None:
    assert figures("Frau Weiß klagt gegen K. Ö. W. wohnt in Köln.")["redacted"]["initials"] == 2


@pytest.mark.parametrize("end", ["", " sehr"])
@pytest.mark.parametrize(
    ("redacted", "exposed", "initials"),
    [
        ("Herr J. klagt. Frau J. [NAME] geht.", [], 1),
        ("Herr J. [NAME] klagt. Frau J. W. geht.", [], 1),
        ("Herr J. Weiß klagt. Frau [NAME] geht.", [[(5, 6), (8, 12)]], 0),
    ],
)
def test_an_initial_that_both_texts_have_is_a_leak_only_if_nothing_of_the_mention_is_masked(
    redacted: str, exposed: list[list[tuple[int, int]]], initials: int, end: str
) -> None:
    gold = {"text": "Herr J. Weiß klagt. Frau J. Weiß geht.", "spans": [(5, 12, "PER")]}

    report = clueval.masking([gold], [redacted + end], redacted=True, align=True)

    figures = report.to_dict()["metrics"]["masking"]["label"]["redacted"]
    assert ([list(leak.exposed) for leak in report.leaks], figures["initials"]) == (exposed, initials)
    assert (figures["uncertain"], list(report.string_leaks)) == (0, [])


def test_a_crossed_out_word_shows_no_initial() -> None:
    gold = Document("d", {"x": [Span(5, 10, "PER")]}, text="Herr Xaver geht.", unit="character")

    found = clueval.masking([gold], ["Herr XXX geht."], redacted=True).to_dict()["metrics"]["masking"]["x"]

    assert (found["redacted"]["placeholders"], found["redacted"]["initials"]) == (1, 0)


def test_without_redacted_texts_there_are_no_figures_on_them() -> None:
    predicted = Document("d", {"x": []}, text=TEXT, unit="character")

    assert clueval.masking([gold()], [predicted]).to_dict()["metrics"]["masking"]["x"]["redacted"] is None


def test_mentions_that_another_reading_shows_otherwise_are_uncertain() -> None:
    text = "Karl a a Anna"
    document = Document("d", {"x": [Span(7, 8, "A"), Span(0, 4, "B")]}, text=text, unit="character")

    report = clueval.masking([document], ["[X] a [Y]"], redacted=True)
    filtered = clueval.masking([document], ["[X] a [Y]"], redacted=True, where="x=B")

    uncertain = [
        each.to_dict()["metrics"]["masking"]["x"]["redacted"]["uncertain"] for each in (report, filtered)
    ]
    assert uncertain == [1, 0]
    assert report.verdict().endswith("; 1 uncertain mention: placeholders can be read in several ways")
    assert report.failures(fail_over="uncertain=0") == ["uncertain is 1, over 0"]


def test_mentions_are_uncertain_where_no_placeholder_stands_between_words() -> None:
    tokens = ["Ulm.", "und", "Köln", "."]
    document = Document("d", {"x": [Span(0, 1, "LOC"), Span(2, 3, "LOC")]}, tokens=tokens)

    report = clueval.masking([document], ["[A] . und [B] ."], redacted=True)

    found = report.to_dict()["metrics"]["masking"]["x"]
    assert (found["classes"]["all"]["protected"], found["redacted"]["uncertain"]) == (2, 1)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_placeholder_stands_for_a_whole_word_that_ends_in_the_next_one(as_text: bool) -> None:
    tokens = ["Sie", "ist", "Tierärztin", "in", "Ulm", "."]
    by_token = Document("d", {"x": [Span(2, 3, "JOB"), Span(4, 5, "LOC")]}, tokens=tokens)
    by_character = Document(
        "d",
        {"x": [Span(8, 18, "JOB"), Span(22, 25, "LOC")]},
        text="Sie ist Tierärztin in Ulm.",
        unit="character",
    )

    report = clueval.masking(
        [by_character if as_text else by_token], ["Sie ist [Beruf] in [Ort]."], redacted=True
    )

    assert list(report.leaks) == []
    assert report.to_dict()["metrics"]["masking"]["x"]["redacted"]["uncertain"] == 0


def test_annotators_and_redacted_texts_go_together() -> None:
    layers = {"a": [Span(5, 9, "PER")], "b": [Span(22, 29, "PER")]}
    document = Document("d", layers, text=TEXT, unit="character")

    report = clueval.masking(
        [document], ["Frau W. klagt gegen Karl Öz. Weiß wohnt in Köln."], redacted=True, annotators="all"
    )

    assert report.to_dict()["metrics"]["masking"]["annotators"]["classes"]["all"]["protected"] == 1


VRT = '<text id="d1">\n<s>\nFrau\tO\nWeiß\tB-PER\n,\tO\n312/18\tB-NR\n</s>\n</text>\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "gold.vrt", VRT + VRT.replace("d1", "d2"))
    (tmp_path / "out").mkdir()
    write(tmp_path / "out" / "d1.txt", "Frau [A],\n 312/18\n")
    write(tmp_path / "out" / "d2.txt", "Frau [A], [B]\n")
    return tmp_path


def test_redacted_texts_in_a_folder_are_called_as_the_documents(files: Path, capsys: Capture) -> None:
    arguments = ["masking", str(files / "gold.vrt"), str(files / "out"), "--redacted", "--layer", "x=2"]

    assert main([*arguments, "--format", "json"]) == 0

    found = json.loads(capsys.readouterr().out)
    row = found["metrics"]["masking"]["x"]["classes"]["all"]
    assert (row["mentions"], row["missed"], row["words"]) == (4, 1, 4)
    assert found["leaks"] == [
        {
            "document": "d1",
            "annotator": "x",
            "start": 12,
            "end": 18,
            "class": "_",
            "status": "missed",
            "exposed": [[12, 15], [16, 18]],
            "mentions": 1,
            "protected": 0,
            "same_words": 1,
            "same_words_protected": 0,
        }
    ]


def test_an_archive_of_redacted_texts_is_a_folder(files: Path, capsys: Capture) -> None:
    options = ["--redacted", "--layer", "x=2", "--format", "json"]
    with zipfile.ZipFile(files / "out.zip", "w") as archive:
        for path in sorted((files / "out").iterdir()):
            archive.write(path, path.name)
            archive.write(path, f"sub/{path.name}")
    assert main(["masking", str(files / "gold.vrt"), str(files / "out"), *options]) == 0
    expected = json.loads(capsys.readouterr().out)["metrics"]

    assert main(["masking", str(files / "gold.vrt"), str(files / "out.zip!sub"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == expected
    assert main(["masking", str(files / "gold.vrt"), str(files / "out.zip"), *options]) == 2
    assert "out.zip!sub/d1.txt: belongs to no gold document" in capsys.readouterr().err


def test_folders_of_gold_and_of_redacted_texts_are_paired_by_name(tmp_path: Path) -> None:
    for name in ("a", "sub/b"):
        (tmp_path / "gold" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / "gold" / f"{name}.conll", "Frau O\nWeiß B-PER\n")
        write(tmp_path / "out" / f"{name}.txt", "Frau [A]")

    report = clueval.masking(tmp_path / "gold", tmp_path / "out", redacted=True)

    assert report.result.documents == 2
    assert list(report.leaks) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d2.txt", None, "has no redacted text for this document"),
        ("d3.txt", "x", "d3.txt: belongs to no gold document"),
        ("d2.md", "x", "has the name of d2"),
        (
            "d2.txt",
            "\n\nHerr [A], [B]",
            "d2.txt:3, document 'd2': the redacted text differs from the original at its character 2, 'Herr [A], [B]",
        ),
    ],
)
def test_texts_that_do_not_belong_together_are_refused(
    files: Path, capsys: Capture, name: str, content: str | None, message: str
) -> None:
    path = files / "out" / name
    if content is None:
        path.unlink()
    else:
        write(path, content)

    assert main(["masking", str(files / "gold.vrt"), str(files / "out"), "--redacted", "--layer", "x=2"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_one_redacted_text_is_for_one_document(files: Path) -> None:
    with pytest.raises(CluevalError, match="gold has several documents, and there is one redacted text"):
        clueval.masking(files / "gold.vrt", files / "out" / "d1.txt", redacted=True)
    with pytest.raises(CluevalError, match="there is no redacted text"):
        clueval.masking([gold()], [], redacted=True)
    with pytest.raises(CluevalError, match="more redacted texts"):
        clueval.masking([gold()], [TEXT, TEXT], redacted=True)
    with pytest.raises(CluevalError, match="add redacted"):
        clueval.masking([gold()], [gold()], align=True)
    with pytest.raises(CluevalError, match="pair_by='content' does not apply to redacted texts"):
        clueval.masking([gold()], [TEXT], redacted=True, pair_by="content")


def test_aligned_texts_are_mentioned_on_stderr(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("rapidfuzz")
    words = "\n".join(f"Wort{number} O" for number in range(20))
    conll = write(tmp_path / "g.conll", f"Frau O\nWeiß B-PER\n{words}\n")
    text = write(tmp_path / "r.txt", "Frau Braun " + " ".join(f"Wort{number}" for number in range(20)))

    assert main(["masking", str(conll), str(text), "--redacted", "--align"]) == 0
    assert (
        "1 redacted text had to be aligned; in these texts about 0.3 % of the mentions"
        in capsys.readouterr().err
    )
