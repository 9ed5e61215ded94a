from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval.clusters.byte_reader import REGULAR, Recogniser
from clueval.formats.columns.passages import DocumentHead
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of
from clueval.textfiles import refuse

SENTENCE, DOCUMENT = b"</s>\n", b"</text>\n"
OPEN = "<text id='1'>\n<s>\nw\tO\n</s>\n"
"""The beginning of a file, in the document, between sentences."""


def recogniser(path: Path, text: str, **options: Any) -> Recogniser:
    """The recogniser of a file of which this text has been read."""
    source = source_of(write(path, text), ReadOptions(**options))
    assert source.token_lines is not None
    reader = source.token_lines.reader(str(path), source.options.columns(), None, refuse)
    if text:
        reader.feed(1, text)
    return REGULAR[source.format](reader, source.options.columns())


class TestVrt:
    @pytest.mark.parametrize(
        ("end", "pieces", "found"),
        [
            (SENTENCE, [b"<s>\na\tO\nb\tB-X\n", b"<s>\nc\tO\n"], 3),
            (SENTENCE, [b'<s id="1" n="&amp;\'">\na\tO\n'], 1),
            (SENTENCE, [b"<s>\na\tO\n", b'</text>\n<text id="2" n.1="">\n<s>\n<a>\tO\n'], None),
            (SENTENCE, [b"<s>\na\tO\n", b'</text>\n<text id="2" n.1="">\n<s>\nb\tO\n'], 2),
            (SENTENCE, [b"</text>\n<text>\n<s>\na\tO\n"] * 3, 3),
            (DOCUMENT, [b"<text>\na\tO\nb\tB-X\n", b'<text id="7">\nc\tO\n'], 3),
        ],
    )  # fmt: skip
    def test_vrt_pieces_of_token_lines_and_the_tags_between_them_are_regular(
        self, tmp_path: Path, end: bytes, pieces: list[bytes], found: int | None
    ) -> None:
        assert recogniser(tmp_path / "a.vrt", OPEN).regular(end, pieces) == found

    @pytest.mark.parametrize(
        ("read", "sentences", "more_documents", "documents"),
        [
            ("", False, False, True),
            ("<text>\n", True, True, False),
            ("<text>\n<s>\n", False, False, False),
            ("<text>\n<s>\nw\tO\n", False, False, False),
            ("<text>\n<s>\nw\tO\n</s>\n", True, True, False),
            ("<text>\nw\tO\n", False, False, False),
            ("<s>\nw\tO\n</s>\n", True, False, False),
            ("<text>\n<s>\nw\tO\n</s>\n</text>\n", False, False, True),
        ],
    )
    def test_vrt_pieces_are_allowed_where_the_elements_around_them_are_open(
        self,
        tmp_path: Path,
        read: str,
        sentences: bool,
        more_documents: bool,
        documents: bool,
    ) -> None:
        takes = recogniser(tmp_path / "a.vrt", read).takes

        assert [takes(SENTENCE, 0), takes(SENTENCE, 1)] == [sentences, more_documents]
        assert takes(DOCUMENT, 1) == documents

    def test_vrt_documents_have_the_heads_of_their_start_tags(self, tmp_path: Path) -> None:
        file = recogniser(tmp_path / "a.vrt", OPEN)
        between = [b"<s>\na\tO\n", b'</text>\n<text id="2" court="R&amp;D">\n<s>\nb\tO\n', b"<s>\nc\tO\n"]

        assert file.heads(SENTENCE, between) == [DocumentHead(1, False, "2", {"id": "2", "court": "R&D"})]
        assert file.heads(DOCUMENT, [b'<text id="3">\n court="x"\tO\n', b"<text>\na\tO\n"]) == [
            DocumentHead(0, False, "3", {"id": "3"}),
            DocumentHead(1, False, None, {}),
        ]

    def test_vrt_elements_may_have_other_names(self, tmp_path: Path) -> None:
        names = {"document_tag": "d.1", "sentence_tag": "p"}
        file = recogniser(tmp_path / "a.vrt", "<d.1>\n<p>\nw\tO\n</p>\n", **names)

        assert file.ends == (b"</p>\n", b"</d.1>\n")
        assert file.regular(b"</p>\n", [b"</d.1>\n<d.1>\n<p>\na\tO\n"]) == 1
        assert file.regular(b"</p>\n", [b"</d.1>\n<d_1>\n<p>\na\tO\n"]) is None


class TestConll:
    @pytest.mark.parametrize(
        ("piece", "is_mark"),
        [(b"-DOCSTART-", True), (b"-DOCSTART- -X- O", True), (b"-DOCSTART-\tO", True), (b"-DOCSTART- ", True),
         (b"-DOCSTART-x\tO", False), (b"-DOCSTART-\na\tO", False), (b"a\t-DOCSTART-", False), (b"", False)],
    )  # fmt: skip
    def test_conll_marks_are_pieces_of_one_line(self, tmp_path: Path, piece: bytes, is_mark: bool) -> None:
        file = recogniser(tmp_path / "a.conll", "w\tO\n\n")

        assert file.ends == (b"\n\n",)
        assert file.heads(b"\n\n", [b"a\tO", piece]) == [DocumentHead(1, True, None, {})] * is_mark

    @pytest.mark.parametrize("separator", ["\t", " "])
    def test_conll_pieces_of_token_lines_are_regular(self, tmp_path: Path, separator: str) -> None:
        file = recogniser(tmp_path / "a.conll", f"w{separator}O\n\n")
        pieces = [each.replace("/", separator).encode() for each in ("a/O\nb/B-#", "c#/O", "é/O")]

        assert file.regular(b"\n\n", pieces) == 4

    @pytest.mark.parametrize(
        ("read", "sentences"),
        [
            ("", False),
            ("w\tO\n", False),
            ("w\tO\n\n", True),
            ("-DOCSTART-\n\n", True),
        ],
    )
    def test_conll_pieces_are_allowed_in_a_document(self, tmp_path: Path, read: str, sentences: bool) -> None:
        takes = recogniser(tmp_path / "a.conll", read).takes

        assert [takes(b"\n\n", 0), takes(b"\n\n", 1)] == [sentences, sentences]
