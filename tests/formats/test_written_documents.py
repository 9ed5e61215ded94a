"""Files of every format that is written: what is lost, and the documents that are read back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clueval
from clueval.core.document import Document, Sentence
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.formats.documents import read_file
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.writer import Uses, Writer, fitted_documents
from clueval.formats.writing import writer_named, written_names

WORDS = ("Ada", "in", "Ulm", "\U0001f600", "R&D", "<b>", "ß", "1815", ".")
LABELS = ("PER", "LOC", "ORG")
SLOW = ("docbin", "xmi", "uima-json")
"""Formats whose libraries take a second to import."""

OF_LAYERS = {
    "conll": {"label": 2, "risk": 3},
    "token-rows": {"label": "label_tags", "risk": "risk_tags"},
    "spacy-json": {"label": "ents", "risk": "spans.risk"},
    "label-studio": {"label": "label", "risk": "risk"},
    "webanno": {"label": "NamedEntity.value", "risk": "risk.value"},
    "xmi": {"label": "NamedEntity.value", "risk": "risk.value"},
    "uima-json": {"label": "NamedEntity.value", "risk": "risk.value"},
    "docbin": {"label": "ents", "risk": "spans.risk"},
}
"""The sources of two layers."""


def documents_of(rng: Random, writer: Writer) -> list[Document]:
    """Random documents in the unit of a format, with what some formats cannot hold."""
    layers = ["label", "risk"] if rng.random() < 0.5 else ["label"]
    in_tokens = writer.unit == "token" or (writer.unit is None and rng.random() < 0.5)
    found: list[Document] = []
    start = 0
    for number in range(1 if writer.single else rng.randint(0, 3)):
        words = [rng.choice(WORDS) for _ in range(rng.randint(1, 8))]
        text = " ".join(words)
        length = len(words) if in_tokens else len(text)
        document = Document(
            f"d{number}",
            {layer: spans(rng, length, layer) for layer in layers},
            tokens=words if in_tokens else None,
            text=None if in_tokens else text,
            unit="token" if in_tokens else "character",
            sentences=[Sentence(0, length)] if in_tokens or rng.random() < 0.3 else [],
            metadata={"domain": "a"} if rng.random() < 0.3 else {},
        )
        found.append(document.from_position(start))
        start += len(words) if in_tokens else 0
    return found


def spans(rng: Random, length: int, layer: str) -> list[Span]:
    """Random spans, of which one may overlap others, be empty, or have gaps or features."""
    found: list[Span] = []
    place = 0
    while place < length:
        end = min(length, place + rng.randint(1, 3))
        if rng.random() < 0.4:
            found.append(Span(place, end, {layer: rng.choice(LABELS)}))
        place = end
    if length > 4 and rng.random() < 0.5:
        features = rng.choice(({}, {"score": 0.5}, {"note": "x"}, {"note": [1]}))
        parts = ((0, 1), (2, 4)) if rng.random() < 0.3 else None
        end = rng.choice((0, 4)) if parts is None else 4
        found.append(Span(0, end, {layer: "PER"}, features, parts=parts))
    return found


def content_of(writer: Writer, documents: list[Document]) -> str | bytes:
    """The content of a file with these documents."""
    if writer.data is not None:
        return writer.data(documents, ["label"])
    return "".join(writer.pieces(documents, ["label"], False))


def held(document: Document, layers: dict[str, str]) -> Any:
    """Return what files hold of a document, with positions from its start; `layers` are the names of its layers."""
    document = document.from_position(0)
    return (
        document.id,
        None if document.text is None else document.text,
        None if document.tokens is None else list(document.tokens),
        dict(document.metadata),
        {
            name: sorted(
                (s.start, s.end, s.label, s.parts, sorted(s.features.items())) for s in document.layers[layer]
            )
            for layer, name in layers.items()
        },
    )


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


def comes_back(name: str, folder: Path, seeds: range) -> None:
    writer = writer_named(name)
    compared = 0
    for seed in seeds:
        documents = documents_of(Random(seed), writer)
        try:
            fitting = list(fitted_documents(documents, name, writer, lossy=True))
            path = written(folder, name, writer, fitting)
        except UsageError:  # what a format refuses by name
            continue
        layers = list(fitting[0].layers) if fitting else ["label"]
        of = OF_LAYERS.get(name, {}) if len(layers) > 1 else {}
        texts = [replace(document, layers={}) for document in fitting]
        file = InputFile(path, texts=lambda texts=texts: texts)

        back = list(read_file(file, FormatOptions(layers=of or None), name=name))

        compared += len(back)
        names = {layer: layer if of or name == "spans" else "label" for layer in layers}
        assert len(back) == len(fitting)
        for one, other in zip(back, fitting, strict=True):
            own = {new: new for new in names.values()}
            assert held(one, own) == held(other, names)
    assert compared > len(seeds) // 12


@pytest.mark.parametrize(
    "name", [name for name in written_names() if name not in (*SLOW, "tab", "ltf", "presidio", "webanno")]
)
def test_written_documents_come_back(name: str, tmp_path: Path) -> None:
    comes_back(name, tmp_path, range(25))


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_documents_written_by_other_libraries_come_back(name: str, tmp_path: Path) -> None:
    comes_back(name, tmp_path, range(60 if name == "docbin" else 12))


def test_what_is_lost_is_refused_or_counted() -> None:
    span = Span(0, 3, "PER", {"note": "x"})
    document = Document(
        "d", {"label": [span, Span(2, 3, "A")]}, text="Ada", unit="character", metadata={"a": "b"}
    )
    writer = writer_named("inline")
    lost: Counter[str] = Counter()

    with pytest.raises(UsageError, match="inline cannot hold 1 features, 1 metadata") as caught:
        list(fitted_documents([document], "inline", writer))
    (fitting,) = fitted_documents([document], "inline", writer, lossy=True, lost=lost)

    assert caught.value.document == "d"
    assert "lossy=True" in (caught.value.advice or "")
    assert lost == {"metadata": 1, "features": 1}
    assert (fitting.metadata, fitting.layers["label"][0].features) == ({}, {})


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


def test_layers_can_be_given_types() -> None:
    document = Document("d", {"risk": [Span(0, 3, {"risk": "high"})]}, text="Ada", unit="character")

    data = "".join(
        writer_named("webanno", types={"risk": "a.Risk|level"}).pieces([document], ["risk"], False)
    )

    assert "#T_SP=a.Risk|level" in str(data)


def test_task_can_be_written_as_prediction() -> None:
    document = Document("d", {"label": [Span(0, 3, "PER")]}, text="Ada", unit="character")

    data = "".join(writer_named("label-studio", as_="predictions").pieces([document], ["label"], False))

    assert '"predictions": [{"model_version": "clueval"' in str(data)


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


def test_documents_of_a_folder_are_named_as_their_files(tmp_path: Path) -> None:
    ids = ["a/b", "A_b", "con", ".x", "ä" * 150, "a\u0308", "ä", "", "x.txt", "x.ann", "x-2"]
    documents = [Document(each, {"label": []}, text="", unit="character") for each in ids]
    lost: Counter[str] = Counter()

    fitting = fitted_documents(documents, "brat", writer_named("brat"), lossy=True, in_folder=True, lost=lost)
    names = [document.id for document in fitting]

    clueval.convert(documents, "brat", f"{tmp_path}/folder/", lossy=True)
    assert sorted(names) == sorted(path.stem for path in (tmp_path / "folder").glob("*.ann"))
    assert lost["document ids as names of files"] == sum(
        name != each.removesuffix(".txt").removesuffix(".ann") for name, each in zip(names, ids, strict=True)
    )
