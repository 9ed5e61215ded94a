from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import Corpus, tagged_corpora, vrt, write
from hypothesis import given
from sizes import handed_in, passages_alone

import clueval
from clueval import (
    Span,
    agree,
    check,
    conventions,
    convert,
    curate,
    diff,
    errors,
    masking,
    merge,
    profile,
    read,
    score,
)
from clueval.cli import main
from clueval.files.errors import CluevalError, FileError, FormatError, UsageError
from clueval.formats.form import Form, form_of
from clueval.formats.input_file import Head
from clueval.formats.xml_text import unescape
from clueval.reading.passages import Sizes

LAYERS = {"entity": 2, "risk": 3}
TEXT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<corpus source="invented">
<text id="d1" domain='civil &amp; penal'>
<s id="s1">
Frau\tO\tO\tt1
Anna\tB-PER\tB-high\tt2
Weiß\tI-PER\tI-high\tt3
</s>
<p>
<s id="s2">

&lt;R&amp;D&gt;\tB-ORG\tO\tt4
<g/>
&#167;\tO\tO\tt5
</s>
</p>
</text>
</corpus>
<text id="d2">
<\tO\tB-low\tu1
</text>
"""


class TestVrt:
    def test_document_has_structure_metadata_decoded_entities_ids_and_positions(self, tmp_path: Path) -> None:
        first, second = read(write(tmp_path / "a.vrt", TEXT), LAYERS, token_id=4)

        assert first.tokens == ["Frau", "Anna", "Weiß", "<R&D>", "§"]
        assert first.token_ids == ["t1", "t2", "t3", "t4", "t5"]
        assert first.metadata == {"source": "invented", "id": "d1", "domain": "civil & penal"}
        assert [tuple(s) for s in first.sentences] == [(0, 3, "s1"), (3, 5, "s2")]
        assert list(first.lines or ()) == [6, 7, 8, 13, 15]
        assert first.layers["entity"] == [Span(1, 3, {"entity": "PER"}), Span(3, 4, {"entity": "ORG"})]
        assert (second.id, second.start, second.tokens) == ("d2", 5, ["<"])
        assert second.layers["risk"] == [Span(5, 6, {"risk": "low"})]

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("a\tO\nb\n", 2, "the line has 1 column, the first token line has 2"),
            ("a\tO\nb\tO\tO\n", 2, "the line has 3 columns"),
            ("a\tO\n\tO\n", 2, "the token is empty"),
            ("<s>\na\tO\nb\tX-PER\n</s>\n", 3, "'X-PER' is not a tag"),
            ("<!DOCTYPE x [<!ENTITY a 'b'>]>\na\tO\n", 1, "document type definition"),
            ("<text id='a'>\na\tO\n", 1, "<text> is not closed"),
            ("a\tO\n</s>\n", 2, "</s> without <s> before it"),
            ("<s>\na\tO\n<s>\n", 3, "<s> inside the sentence of line 1"),
            ("<s>\na\tO\n<text>\n", 3, "inside the sentence of line 1"),
            ("<text id=a>\na\tO\n</text>\n", 1, "malformed XML tag"),
            ("<text id='a'\n", 1, "malformed XML tag"),
            ("a\tO\n\x00\tO\n", 2, "a NUL character"),
        ],
    )
    def test_errors_name_their_line(self, tmp_path: Path, text: str, line: int, message: str) -> None:
        path = write(tmp_path / "a.vrt", text)

        for attempt in (lambda: list(read(path)), lambda: score(path, write(tmp_path / "b.vrt", text))):
            with pytest.raises(FormatError, match=message) as raised:
                attempt()
            assert raised.value.line == line
            assert str(raised.value).startswith(f"{path}:{line}")

    def test_error_for_bytes_that_are_not_utf8_names_their_line(self, tmp_path: Path) -> None:
        path = tmp_path / "a.vrt"
        path.write_bytes("a\tO\nWei\xdf\tO\n".encode("latin-1"))

        with pytest.raises(FormatError, match=r"a\.vrt:2: not UTF-8: byte 0xdf"):
            list(read(path))

    def test_token_ids_are_unique_within_a_document(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.vrt", TEXT.replace("t5", "t2"))

        with pytest.raises(FormatError, match=r"token id 't2' is already used in line 7") as raised:
            list(read(path, LAYERS, token_id=4))
        assert raised.value.line == 15
        with pytest.raises(FormatError, match="token id 't2' is already used in line 7"):
            score(path, path, layers=LAYERS, token_id=4)

    def test_columns_that_do_not_exist_are_refused(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.vrt", "a\tO\n")

        with pytest.raises(FormatError, match=r"no column 5 for layer 'x': the line has 2 columns"):
            list(read(path, {"x": 5}))
        with pytest.raises(FormatError, match="separated by tabs"):
            list(read(write(tmp_path / "b.vrt", "<s>\na O\n</s>\n"), {"x": 2}))
        with pytest.raises(UsageError, match="column 0"):
            list(read(path, {"x": 0}))

    def test_long_document_remains_one_document(self, tmp_path: Path) -> None:
        sentence = "<s>\na\tB-X\nb\tI-X\n</s>\n"
        path = write(tmp_path / "a.vrt", f"<text id='a'>\n{sentence * 5000}</text>\n")

        (document,) = read(path)

        assert len(document.layers["label"]) == 5000
        assert document.lines is not None
        assert document.lines[-1] == 1 + 5000 * 4 - 1


@given(tagged_corpora(layers=2))
def test_regular_and_irregular_markup_read_the_same(tmp_path: Path, corpora: tuple[Corpus, Corpus]) -> None:
    text = vrt(corpora[0])
    plain = write(tmp_path / "plain.vrt", text)
    odd = write(tmp_path / "odd.vrt", text.replace("<s>", "<p>\n<s >").replace("</s>", "\n</s>\n</p>"))

    assert [(d.tokens, d.layers, d.sentences) for d in read(plain, {"x": 2, "y": 3})] == [
        (d.tokens, d.layers, d.sentences) for d in read(odd, {"x": 2, "y": 3})
    ]
    for path in (plain, odd):
        lines = path.read_text(encoding="utf-8").split("\n")
        for document in read(path, {"x": 2, "y": 3}):
            assert document.lines is not None
            assert [lines[n - 1].split("\t")[0] for n in document.lines] == document.tokens


class TestConll:
    def test_blanks_comments_docstart_and_blank_lines_with_blanks(self, tmp_path: Path) -> None:
        text = (
            "-DOCSTART- -X- O\n\n# a comment\nAnna  NN B-PER \n# NN O\n \t \nx NN O\n\n"
            "-DOCSTART- -X- O\n\ny NN B-LOC"
        )
        first, second = read(write(tmp_path / "a.conll", text))

        assert first.tokens == ["Anna", "#", "x"]
        assert [s[:2] for s in first.sentences] == [(0, 2), (2, 3)]
        assert list(first.lines or ()) == [4, 5, 7]
        assert (second.tokens, second.start, second.layers["label"]) == (["y"], 3, [Span(3, 4, "LOC")])

    def test_tokens_may_contain_blanks_and_number_signs_if_tabs_separate_columns(
        self, tmp_path: Path
    ) -> None:
        (document,) = read(write(tmp_path / "a.conll", "# comment\nNew York\tB-LOC\n#\tO\n"))

        assert document.tokens == ["New York", "#"]

    def test_conllu_comments_name_documents_and_sentences(self, tmp_path: Path) -> None:
        text = "# newdoc id = n1\n# meta::domain = news\n# sent_id = s1\na\tO\n\n# newdoc id = n2\nb\tO\n"
        first, second = read(write(tmp_path / "a.conll", text))

        assert (first.id, first.metadata, first.sentences[0].id) == ("n1", {"domain": "news"}, "s1")
        assert second.id == "n2"


def test_missing_files_folders_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file or folder"):
        list(read(tmp_path / "none.vrt"))
    with pytest.raises(FileError, match="the folder has no files"):
        list(read(tmp_path))
    with pytest.raises(FileError, match="is a folder, but"):
        score(tmp_path, write(tmp_path / "a.vrt", ""))
    with pytest.raises(FileError, match=r"a\*: is a pattern, but .* is a file"):
        score(tmp_path / "a*", tmp_path / "a.vrt")
    with pytest.raises(UsageError, match="input='xls' is unknown"):
        list(read(tmp_path, input="xls"))


@pytest.mark.parametrize("option", ["label_map", "hierarchy", "names", "text", "min_score", "any_of", "save"])
def test_an_empty_name_of_a_file_is_refused_by_the_name_of_its_option(option: str) -> None:
    with pytest.raises(UsageError, match=f"^{option} is empty"):
        score([["B-PER"]], [["B-PER"]], **{option: ""})


def test_an_empty_name_of_an_input_is_refused_and_does_not_mean_the_current_folder() -> None:
    for call in (lambda: list(read("")), lambda: score("", ""), lambda: check("")):
        with pytest.raises(UsageError, match="the name of the file or folder is empty"):
            call()
    with pytest.raises(UsageError, match="is not KEY=NAME"):
        list(read("a.jsonl", row=""))


def test_character_references_that_name_no_character_stay() -> None:
    assert unescape("&#0;&#xD800;&#x110000;&nbsp;&#65;&#x42;") == "&#0;&#xD800;&#x110000;&nbsp;AB"


def test_tokens_outside_a_sentence_element_stay_before_the_sentence_that_follows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.vrt", '<text id="1">\na\tB-X\n<s>\nb\tO\n</s>\nc\tB-X\n<s>\nd\tO\n</s>\n</text>\n'
    )

    (document,) = read(path)

    assert document.tokens == ["a", "b", "c", "d"]
    assert [(span.start, span.end) for span in document.layers["label"]] == [(0, 1), (2, 3)]
    assert [sentence[:2] for sentence in document.sentences] == [(0, 1), (1, 2), (2, 3), (3, 4)]


# Elements


ELEMENTS = '<text id="a">\n<s>\nx\tB-X\n</s>\n</text>\n<text id="b">\n<s>\ny\tO\n</s>\n</text>\n'


@pytest.mark.parametrize("option", ["document_tag", "sentence_tag"])
def test_element_that_a_file_does_not_have_is_refused(option: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.vrt", ELEMENTS)
    options: dict[str, Any] = {option: "txt"}
    message = rf"a\.vrt: there is no element <txt> \(check Reading\.{option}\)"

    for call in (lambda: score(path, path, **options), lambda: list(errors(path, path, **options))):
        with pytest.raises(FormatError, match=message):
            call()
    (problem,) = check(path, **options)
    assert re.search(message, str(problem))


def test_element_that_a_file_does_not_have_is_named_as_an_option_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "a.vrt", ELEMENTS))

    assert main(["score", path, path, "--sentence-tag", "seg"]) == 2
    assert capsys.readouterr().err.endswith("a.vrt: there is no element <seg> (check --sentence-tag)\n")


def test_element_may_be_anywhere_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.vrt.gz"
    path.write_bytes(gzip.compress(("w\tO\n" * 300_000 + ELEMENTS.replace("text", "doc")).encode()))

    assert len(list(read(path, document_tag="doc"))) == 3


@pytest.mark.parametrize("text", ["", "<corpus>\n</corpus>\n"])
def test_file_without_tokens_needs_no_element(text: str, tmp_path: Path) -> None:
    assert list(read(write(tmp_path / "a.vrt", text), document_tag="doc", sentence_tag="seg")) == []


# First error


WITH_IDS = {"layers": {"label": 3}, "token_id": 2}
SENTENCES = [f"w {number} O\nw {number + 100} O\n\n" for number in range(6)]


@pytest.mark.parametrize("predicted", ["O", "B-X"])
def test_a_token_id_is_found_again_in_another_passage_of_its_document(tmp_path: Path, predicted: str) -> None:
    text = "".join([*SENTENCES, "w 2 O\n"])
    one, two = tmp_path / "one.conll", tmp_path / "two.conll"
    one.write_text(text)
    two.write_text(text.replace("O", predicted, 1))
    message = r"one\.conll:19: token id '2' is already used in line 7"

    with handed_in(Sizes(sentences=1)):
        for command in (score, conventions):
            with pytest.raises(FormatError, match=message):
                command(one, two, **WITH_IDS)
        with passages_alone(), pytest.raises(FormatError, match=message):
            score(one, two, **WITH_IDS)
        with pytest.raises(FormatError, match=message):
            list(errors(one, two, **WITH_IDS))


def test_token_ids_may_occur_again_in_another_document(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("-DOCSTART- 0 O\n\n".join(["", *["".join(SENTENCES)] * 2]))

    with handed_in(Sizes(sentences=1)):
        assert score(path, path, **WITH_IDS).tokens == 24


# Paths at which the system does not even let clueval look: every function refuses them with `FileError`


LONG = "x" * 5000


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "g.conll", "a B-X\nb O\n")


@pytest.mark.parametrize(
    "call",
    [
        lambda gold: score(LONG, gold),
        lambda gold: score(gold, LONG),
        lambda gold: score([LONG], [gold]),
        lambda gold: score(f"{LONG}!member", gold),
        lambda gold: score(gold, gold, any_of=LONG),
        lambda gold: score(gold, gold, label_map=LONG),
        lambda gold: list(errors(LONG, gold)),
        lambda gold: list(read(LONG)),
        lambda gold: check(LONG),
        lambda gold: convert(LONG, "spans"),
        lambda gold: convert(gold, "spans", LONG),
        lambda gold: agree(LONG),
        lambda gold: agree(LONG, gold),
        lambda gold: list(curate(gold, LONG)),
        lambda gold: list(diff(gold, LONG, gold)),
        lambda gold: masking(gold, LONG),
        lambda gold: list(merge(LONG)),
        lambda gold: profile(LONG, gold).rows(),
    ],
)
def test_path_that_is_too_long_is_refused(call: Callable[[Path], Any], gold: Path) -> None:
    with pytest.raises(FileError, match=r"File name too long|there is no such file"):
        call(gold)


def test_text_whose_path_is_too_long_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "start,end,label\n0,1,X\n")

    with pytest.raises(FileError, match="does not exist"):
        list(read(table, text=LONG))


def test_tokens_and_names_that_look_the_same_are_said_to_have_other_unicode_forms(tmp_path: Path) -> None:
    for side, umlaut in (("gold", "\u00fc"), ("predicted", "u\u0308")):
        (tmp_path / side).mkdir()
        write(tmp_path / side / f"{umlaut}.conll", f"{umlaut} O\n")
    gold, predicted = (next((tmp_path / side).iterdir()) for side in ("gold", "predicted"))

    with pytest.raises(CluevalError, match="have different Unicode forms"):
        score(gold, predicted)
    with pytest.raises(CluevalError, match="it has the name in another Unicode form"):
        score(gold.parent, predicted.parent)


@pytest.mark.parametrize(
    "call",
    [
        lambda folder: list(read(folder / "b")),
        lambda folder: list(read(f"{folder}/b/*.conll")),
        lambda folder: list(read(f"{folder}/brat/*.ann")),
        lambda folder: score(folder / "a", folder / "b"),
        lambda folder: agree(folder / "annotators"),
        lambda folder: list(read(folder / "annotators")),
        lambda folder: list(read(folder / "nothing")),
    ],
)
def test_links_that_lead_out_of_a_folder_are_refused(tmp_path: Path, call: Callable[[Path], object]) -> None:
    for name in ("a", "b", "brat", "annotators/x", "nothing"):
        (tmp_path / name).mkdir(parents=True)
    gold = write(tmp_path / "a" / "a.conll", "Anna B-PER\n")
    (tmp_path / "b" / "a.conll").symlink_to(gold)
    write(tmp_path / "brat" / "a.ann", "T1\tPER 0 4\tAnna\n")
    (tmp_path / "brat" / "a.txt").symlink_to(gold)
    (tmp_path / "annotators" / "y").symlink_to(tmp_path / "a")
    (tmp_path / "nothing" / "a.conll").symlink_to(tmp_path / "missing")
    write(tmp_path / "annotators" / "x" / "a.conll", "Anna B-PER\n")

    with pytest.raises(FileError, match="is a link that leads out of the folder"):
        call(tmp_path)
    assert len(list(read(tmp_path / "b" / "a.conll"))) == 1  # a file that is named itself
    (tmp_path / "a" / "b.conll").symlink_to("a.conll")
    (tmp_path / "a" / "itself").symlink_to(".")
    (tmp_path / "named").symlink_to("a")
    for inside in (tmp_path / "a", tmp_path / "named", f"{tmp_path}/named/*.conll"):
        assert len(list(read(inside))) == 2
    (tmp_path / "a" / "c.conll").symlink_to("missing.conll")
    with pytest.raises(FileError, match=r"a.c\.conll: there is no such file"):
        list(read(tmp_path / "a"))


def test_folder_of_annotators_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(Path, "iterdir", refuse)

    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        agree(tmp_path)


def test_standard_input_that_is_closed_is_refused(gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(FileError, match="standard input is closed"):
        score("-", gold)


# All annotation sets of a file, each as a layer; `clueval masking --annotators` takes them as views of one text


SETS = "Frau Weiß klagt gegen Karl Öz."


def mention(start: int, end: int, kind: str, entity: str) -> dict[str, Any]:
    return {
        "start_offset": start,
        "end_offset": end,
        "entity_type": "PERSON",
        "identifier_type": kind,
        "entity_id": entity,
    }


def row(name: str, annotators: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    sets = {annotator: {"entity_mentions": mentions} for annotator, mentions in annotators.items()}
    return {"doc_id": name, "text": SETS, "annotations": sets, "meta": {}}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, predicted = tmp_path / "gold.json", tmp_path / "predicted.json"
    rows = [
        row("d1", {"anna": [mention(5, 9, "DIRECT", "e1")], "bob": [mention(22, 29, "QUASI", "e2")]}),
        row("d2", {"bob": [mention(5, 9, "NO_MASK", "e1")]}),
    ]
    gold.write_text(json.dumps(rows))
    predicted.write_text(json.dumps({"d1": [[5, 9]], "d2": []}))
    return gold, predicted


def test_each_set_is_a_layer_of_the_documents_that_it_annotates(files: tuple[Path, Path]) -> None:
    documents = list(clueval.read(files[0], annotation_set="*"))

    assert [list(document.layers) for document in documents] == [["anna", "bob"], ["bob"]]
    (span,) = documents[0].layers["bob"]
    assert (span.labels, span.features["identifier_type"]) == ({"bob": "PERSON"}, "QUASI")


def test_annotators_of_a_file_are_its_sets(files: tuple[Path, Path]) -> None:
    report = clueval.masking(*files, annotators="all", conventions="tab")

    row = report.reports["annotators"]["classes"]["all"]
    assert (row["mentions"], row["protected"], row["documents"]) == (2, 1, 1)
    assert [(leak.annotator, leak.kind) for leak in report.leaks] == [("bob", "QUASI")]
    assert report.reports["annotators"]["conventions"]["tab"]["mention_precision"] == 0.5


def test_one_annotator_may_be_named(files: tuple[Path, Path]) -> None:
    row = clueval.masking(*files, annotators="anna").reports["annotators"]["classes"]["all"]

    assert (row["mentions"], row["protected"]) == (1, 1)


def test_rows_of_one_document_by_several_annotators_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [
        {"text": SETS, "spans": [{"start": 5, "end": 9, "label": name}], "answer": "accept"}
        | {"_input_hash": 7, "_task_hash": 1, "_annotator_id": name}
        for name in ("anna", "bob")
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))

    (document,) = clueval.read(path, input="prodigy", annotation_set="*")

    assert {name: spans[0].labels for name, spans in document.layers.items()} == {
        "anna": {"anna": "anna"},
        "bob": {"bob": "bob"},
    }


def test_a_document_with_two_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    rows = [row("d1", {"anna": []}), row("d1", {"bob": []}) | {"text": "Another one."}]
    path.write_text(json.dumps(rows))

    with pytest.raises(CluevalError, match=r"gold.json:2, .*another text in a row before"):
        list(clueval.read(path, annotation_set="*"))


@pytest.mark.parametrize(
    "call",
    [
        lambda gold, predicted: score(gold, predicted),
        lambda gold, predicted: score(gold, predicted, token=1),
        lambda gold, predicted: agree([gold, predicted], token=1),
        lambda gold, predicted: [*read(gold), *read(predicted, token=1)],
        lambda gold, predicted: [check(gold), check(predicted, token=1)],
    ],
)
def test_the_format_of_each_file_is_recognised_once_in_a_call(
    call: Callable[[Path, Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def recognise(head: Head, name: str | None = None) -> Form:
        names.append(head.file_name)
        return form_of(head, name)

    monkeypatch.setattr("clueval.reading.source.form_of", recognise)
    call(*(write(tmp_path / name, "Ada B-PER\nslept O\n") for name in ("gold.txt", "predicted.txt")))

    assert sorted(names) == ["gold.txt", "predicted.txt"]
