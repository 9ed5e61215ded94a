"""Files of every format that is written: what is lost, and the documents that are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.formats.catalogue import writer_named, written_names
from clueval.formats.documents import read_file
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.writer import Uses, Writer, fitted_documents

SLOW = ("docbin", "xmi", "uima-json")
"""Formats whose libraries take a second to import."""


def content_of(writer: Writer, documents: list[Document]) -> str | bytes:
    """The content of a file with these documents."""
    if writer.data is not None:
        return writer.data(documents, ["label"])
    return "".join(writer.pieces(documents, ["label"], False))


def written(folder: Path, name: str, writer: Writer, documents: list[Document]) -> Path:
    """Write a file of documents, and the files beside it."""
    path = folder / f"d0{writer.ending}"
    data = content_of(writer, documents)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    for ending, of_document in writer.beside.items():
        path.with_suffix(ending).write_bytes("".join(map(of_document, documents)).encode())
    if writer.of_folder is not None:
        uses = Uses()
        for document in documents:
            uses.add(document)
        for file_name, content in writer.of_folder(uses, ["label"]).items():
            (folder / file_name).write_text(content, encoding="utf-8")
    return path


def test_annotations_that_were_not_read_are_refused() -> None:
    with pytest.raises(UsageError, match="passed over: 2 relations"):
        list(fitted_documents([], "brat", writer_named("brat"), passed_over={"relations": 2, "ignored": 1}))


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("gate-xml", {}, "the format gate-xml cannot be written"),
        ("brat", {"as_": "predictions"}, "does not apply to the format brat"),
        ("brat", {"types": {}}, "does not apply to the format brat"),
        ("label-studio", {"as_": "x"}, "spans cannot be written as 'x'"),
        ("webanno", {"types": {"a": "b"}}, "'b' is not TYPE"),
        ("none", {}, "unknown format 'none'"),
    ],
)
def test_writer_that_does_not_exist_is_refused(name: str, options: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        writer_named(name, **options)


def test_token_ids_are_written_where_they_are_asked_for() -> None:
    document = Document("d", {"label": [Span(0, 1, "LOC")]}, tokens=["Ulm", "."], token_ids=["t1", "t2"])

    spans = "".join(writer_named("spans").pieces([document], ["label"], True))
    columns = "".join(writer_named("conll").pieces([document], ["label"], True))

    assert spans == "document\tstart\tend_inclusive\tlabel\tstart_id\tend_id\nd\t0\t0\tLOC\tt1\tt1\n"
    assert columns == "# newdoc id = d\nUlm\tB-LOC\tt1\n.\tO\tt2\n\n"


@pytest.mark.parametrize("name", [name for name in written_names() if name not in SLOW])
def test_file_without_documents_is_read_again(name: str, tmp_path: Path) -> None:
    writer = writer_named(name)
    path = written(tmp_path, name, writer, [])
    assert path.stat().st_size > 0 or writer.single
    path.with_suffix(".txt").touch()

    documents = list(read_file(InputFile(path), FormatOptions(), name=name))

    assert [document.layers for document in documents] in ([], [{"label": []}])
