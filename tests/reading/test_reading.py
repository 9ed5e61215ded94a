from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from corpora import Corpus, tagged_corpora, vrt, write
from hypothesis import given

from clueval import Span, read, score
from clueval.files.errors import CluevalError, FileError, FormatError, SpanError, TagError, UsageError
from clueval.files.writing import whole_file
from clueval.formats.xml_text import unescape

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

    def test_crlf_byte_order_mark_and_missing_last_newline_work(self, tmp_path: Path) -> None:
        path = tmp_path / "a.vrt"
        path.write_bytes(b"\xef\xbb\xbf" + TEXT.rstrip("\n").replace("\n", "\r\n").encode())

        assert list(read(path, LAYERS, token_id=4)) == list(
            read(write(tmp_path / "b.vrt", TEXT), LAYERS, token_id=4)
        )

    def test_gzip_file_is_unpacked_under_any_name(self, tmp_path: Path) -> None:
        path = tmp_path / "a.vrt"
        path.write_bytes(gzip.compress(TEXT.encode()))

        assert [d.id for d in read(path, LAYERS, token_id=4)] == ["d1", "d2"]

    def test_last_column_is_called_label_without_layers(self, tmp_path: Path) -> None:
        (document,) = read(write(tmp_path / "a.vrt", "a\tNN\tB-X\nb\tNN\tO\n"))

        assert document.layers == {"label": [Span(0, 1, "X")]}
        assert document.tokens == ["a", "b"]

    def test_spans_end_with_the_sentence(self, tmp_path: Path) -> None:
        (document,) = read(write(tmp_path / "a.vrt", "<s>\na\tB-X\n</s>\n<s>\nb\tI-X\n</s>\n"))

        assert [(s.start, s.end) for s in document.layers["label"]] == [(0, 1), (1, 2)]

    def test_tags_of_documents_and_sentences_can_be_chosen(self, tmp_path: Path) -> None:
        text = "<doc id='x'>\n<sent>\na\tO\n</sent>\n<sent>\nb\tO\n</sent>\n</doc>\n"
        (document,) = read(write(tmp_path / "a.vrt", text), document_tag="doc", sentence_tag="sent")

        assert (document.id, len(document.sentences)) == ("x", 2)

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

    def test_a_damaged_gzip_file_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "a.vrt.gz"
        path.write_bytes(gzip.compress(TEXT.encode())[:-20])

        with pytest.raises(FormatError, match="the gzip file is damaged"):
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

    def test_ill_formed_tags_are_repaired_discarded_or_refused(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.vrt", "<s>\na\tB-X\nb\tO\n</s>\n<s>\nc\tI-X\n</s>\n")

        assert [len(d.layers["label"]) for d in read(path)] == [2]
        assert [len(d.layers["label"]) for d in read(path, invalid="discard")] == [1]
        for attempt in (
            lambda: list(read(path, invalid="error")),
            lambda: score(path, path, invalid="error"),
        ):
            with pytest.raises(
                TagError, match=r"'I-X' may not follow 'O'|may not follow the start"
            ) as raised:
                attempt()
            assert raised.value.line == 6

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

    def test_error_for_a_missing_column_names_its_line(self, tmp_path: Path) -> None:
        with pytest.raises(
            FormatError, match=r"a\.conll:3: the line has 1 column, the first token line has 2"
        ):
            list(read(write(tmp_path / "a.conll", "a O\n\nb\n")))


class TestTableOfSpans:
    TABLE = "document\tstart\tend\tentity\trisk\nd1\t1\t2\tPER\thigh\nd2\t5\t5\t\tlow\n"

    def test_ends_are_inclusive_and_the_text_is_next_to_the_table(self, tmp_path: Path) -> None:
        write(tmp_path / "a.vrt", TEXT)
        first, second = read(write(tmp_path / "a.tsv", self.TABLE), token_id=4)

        assert first.layers == {
            "entity": [Span(1, 3, {"entity": "PER"})],
            "risk": [Span(1, 3, {"risk": "high"})],
        }
        assert second.layers == {"entity": [], "risk": [Span(5, 6, {"risk": "low"})]}
        assert first.text_of(first.layers["entity"][0]) == "Anna Weiß"

    def test_csv_and_exclusive_ends_and_positions_alone_work(self, tmp_path: Path) -> None:
        table = write(tmp_path / "t.csv", 'start,end_exclusive,entity\n5,6,"a ""b"""\n1,3,PER\n')
        first, second = read(table, text=write(tmp_path / "a.vrt", TEXT), token_id=4)

        assert first.layers["entity"] == [Span(1, 3, {"entity": "PER"})]
        assert second.layers["entity"] == [Span(5, 6, {"entity": 'a "b"'})]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (
                "d1\t1\t5\tPER\thigh",
                r"t\.tsv:2, document 'd1': the span from 1 to 5 \(inclusive\) lies outside .* 0 to 4",
            ),
            ("d9\t1\t2\tPER\thigh", r"t\.tsv:2: the text has no document 'd9'"),
            ("d1\t2\t1\tPER\thigh", "ends before it starts: 2 to 1"),
            ("d1\t-1\t1\tPER\thigh", "'-1' is not a position"),
            ("d1\tx\t1\tPER\thigh", "'x' is not a position"),
            ("d1\t1\t1\tPER", "the line has 4 fields, the header has 5"),
            ("d1\t1\t1\t\t", "no label in any layer"),
        ],
    )
    def test_rows_that_do_not_fit_are_errors_with_the_line(
        self, tmp_path: Path, row: str, message: str
    ) -> None:
        header = self.TABLE.split("\n", 1)[0]
        table = write(tmp_path / "t.tsv", f"{header}\n{row}\n")

        with pytest.raises((FormatError, SpanError), match=message):
            list(read(table, text=write(tmp_path / "a.vrt", TEXT), token_id=4))

    def test_a_table_without_its_text_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match=r"end_inclusive .* end_exclusive; or .* text=\.\.\."):
            list(read(write(tmp_path / "t.tsv", self.TABLE)))


def test_missing_files_folders_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file or folder"):
        list(read(tmp_path / "none.vrt"))
    with pytest.raises(FileError, match="the folder has no files"):
        list(read(tmp_path))
    with pytest.raises(FileError, match="is a folder, but"):
        score(tmp_path, write(tmp_path / "a.vrt", ""))
    with pytest.raises(UsageError, match="unknown format 'xls'"):
        list(read(tmp_path, input="xls"))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"

    def fail_halfway() -> None:
        with whole_file(path) as output:
            output.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert list(tmp_path.iterdir()) == []
    with whole_file(path) as output:
        output.write("all")
    assert path.read_text() == "all"
    with pytest.raises(CluevalError, match="cannot be written"), whole_file(tmp_path / "no" / "folder.tsv"):
        pass


def test_character_references_that_name_no_character_stay() -> None:
    assert unescape("&#0;&#xD800;&#x110000;&nbsp;&#65;&#x42;") == "&#0;&#xD800;&#x110000;&nbsp;AB"


def test_token_ids_may_be_the_same_in_different_documents(tmp_path: Path) -> None:
    text = "".join(f"<text id='{n}'>\n<s>\na\tO\tt1\nb\tO\tt2\n</s>\n</text>\n" for n in range(3))
    path = write(tmp_path / "a.vrt", text)

    result = score(path, path, layers={"entity": 2}, token_id=3)

    assert (result.documents, result.tokens) == (3, 6)


def test_tokens_outside_a_sentence_element_stay_before_the_sentence_that_follows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.vrt", '<text id="1">\na\tB-X\n<s>\nb\tO\n</s>\nc\tB-X\n<s>\nd\tO\n</s>\n</text>\n'
    )

    (document,) = read(path)

    assert document.tokens == ["a", "b", "c", "d"]
    assert [(span.start, span.end) for span in document.layers["label"]] == [(0, 1), (2, 3)]
    assert [sentence[:2] for sentence in document.sentences] == [(0, 1), (1, 2), (2, 3), (3, 4)]
