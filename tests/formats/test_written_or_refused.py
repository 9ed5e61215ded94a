"""Every writer: documents are read as they were written, or refused; with `lossy`, what is left out is counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st
from strategies import at_most

from clueval import Document, Span, UsageError, convert, read, score
from clueval.cli import main
from clueval.files.errors import CluevalError
from clueval.formats.catalogue import writer_named, written_names

WRITTEN = written_names()
FOLDERS = {"brat", "inline", "webanno", "xmi", "uima-json", "ltf"}
"""Formats with a file for each document, which is named after its id."""

WITH_LAYERS = {
    "conll": lambda layers: {layer: number for number, layer in enumerate(layers, 2)},
    "token-rows": lambda layers: {layer: f"{layer}_tags" for layer in layers},
    "spacy-json": lambda layers: dict(zip(layers, ("entities", "spans.risk"), strict=True)),
    "docbin": lambda layers: dict(zip(layers, ("ents", "spans.risk"), strict=True)),
    "label-studio": lambda layers: dict(zip(layers, layers, strict=True)),
    "spans": lambda layers: dict(zip(layers, layers, strict=True)),
    **dict.fromkeys(
        ("webanno", "xmi", "uima-json"),
        lambda layers: dict(zip(layers, ("NamedEntity.value", "risk.value"), strict=True)),
    ),
}
"""How the layers ``label`` and ``risk`` are named when a format is read that holds both."""

IDS = (
    *("d1", "7", "mail 7", "mail_7", "a_b", "A_B", "a/b", "a\\b", "../x", "/x", ".x", "x.", "a.b", "a:b"),
    *("-x", "con", "nul.txt", "COM1", "a.ann", "a.txt", "\u00e4", "a\u0308", "\u00df", "ss"),
    *("\u0939\u093f", "😀", "x" * 300, "\u00e9" * 150, "", " ", "a\tb", "a\nb", "#x", "[x]", "a<b", 'a"b'),
    *("a!b", "*"),
)
KEYS = (
    "domain",
    "id",
    "doc_id",
    "text",
    "label",
    "meta",
    "sentence",
    "ner",
    "tokens",
    "word",
    "spans",
    "ents",
)

ids = st.sampled_from(IDS) | st.text(max_size=5)
labels = st.sampled_from(["PER", "LOC", "A B", "A;B", "a|b", "B-X", "<x>", "_", ""])
plain_labels = st.sampled_from(["PER", "LOC"])
features = st.dictionaries(
    st.sampled_from(["f", "score", "id", "text", "label", "group", "optional", "value", "kb_id"]),
    st.sampled_from(
        [
            True,
            False,
            1,
            1.0,
            1.5,
            "1",
            "2",
            "a",
            "a b",
            "e\u0301",
            "",
            None,
            ["a", "b"],
            ["a", "a"],
            {"x": 1},
        ]
    ),
    max_size=2,
)


@st.composite
def spans(draw: st.DrawFn, length: int, *, plain: bool) -> list[Span]:
    """Spans of a text; plain ones are what most formats hold but for their features and white space at edges."""
    if plain:
        places = sorted(draw(st.lists(st.integers(0, length), max_size=4, unique=True)))
        pairs = zip(places[::2], places[1::2], strict=False)
        return [Span(start, end, draw(plain_labels), draw(features)) for start, end in pairs]
    found = []
    for _ in range(draw(st.integers(0, 3))):
        start, end = sorted((draw(st.integers(0, length)), draw(st.integers(0, length))))
        ranges = [(start, end)]
        if end - start > 2 and draw(st.booleans()):
            ranges = [(start, start + 1), (draw(st.integers(start + 2, end - 1)), end)]
        found.append(Span.of_fragments(ranges, draw(labels), draw(features)))
    return sorted(found, key=lambda span: (span.start, span.end))


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """Documents of one unit with one or two layers, and with ids of every kind; or plain ones with features."""
    plain = draw(st.booleans())
    layers = draw(st.sampled_from([("label",)] if plain else [("label",), ("label", "risk")]))
    unit = draw(st.sampled_from(["character", "token"]))
    found = []
    for id in ("1", "2")[: draw(st.integers(1, 2))] if plain else draw(st.lists(ids, min_size=1, max_size=3)):
        if unit == "character":
            alphabet = "ab 😀e\u0301\n" if plain else "ab 😀é\u0301<&\t\n\r"
            text = draw(st.text(st.sampled_from(alphabet), max_size=12))
            of: dict[str, Any] = {"text": text, "unit": unit}
            length = len(text)
        else:
            tokens = draw(st.lists(st.sampled_from(["a", "b", "é<", "😀", "-", "#"]), min_size=1, max_size=6))
            of, length = {"tokens": tokens}, len(tokens)
        metadata = draw(
            st.dictionaries(st.sampled_from(KEYS), st.sampled_from(["x", "1"]), max_size=1 - plain)
        )
        of_layers = {layer: draw(spans(length, plain=plain)) for layer in layers}
        found.append(Document(id, of_layers, metadata=metadata, **of))
    return found


Held = tuple[str, object, Mapping[str, Counter[str]], Mapping[str, str]]


def held(document: Document, name: str, *, places: bool = True) -> Held:
    """What is compared of a document: its id, its text, the spans of each layer with or without places, its metadata.

    TAB's predictions are positions alone, and loio's format has no labels, as `convert` says in its help; the name of
    an only layer is that of the reader. A span without a label has the label ``_``.
    """
    document = document.from_position(0)
    bare = name == "tab"

    def span(each: Span) -> str:
        label = "_" if name in ("tab", "ltf") else each.label or "_"
        return f"{each.fragments if places else ''} {label} {'' if bare else sorted(each.features.items())}"

    layers = {layer: Counter(map(span, of)) for layer, of in document.layers.items() if of}
    if name not in WITH_LAYERS and layers:
        (only,) = layers.values()
        layers = {"label": only}
    text = document.text if document.unit == "character" else tuple(document.tokens or ())
    return (document.id, None if bare else text, layers, {} if bare else dict(document.metadata))


def kept(documents: Iterable[Document], name: str, unit: str) -> list[object]:
    """What may not change without ``lossy``: all that is compared, or in another unit all but text and places.

    WebAnno TSV knows only how long the white space between sentences is.
    """
    found: list[object] = []
    for document in documents:
        is_same = document.unit == unit
        id, text, layers, metadata = held(document, name, places=is_same)
        id = id.removesuffix(".txt").removesuffix(writer_named(name).ending) if name in FOLDERS else id
        if isinstance(text, str) and name == "webanno":
            text = text.replace("\n", " ")
        found.append((id, text if is_same else None, layers, metadata))
    return found


def read_back(path: str, name: str, written: Sequence[Document], folder: Path) -> list[Document]:
    options: dict[str, Any] = {}
    layers = [layer for layer in ("label", "risk") if any(layer in each.layers for each in written)]
    if len(layers) == 2 and name in WITH_LAYERS:
        options["layers"] = WITH_LAYERS[name](layers)
    if name == "label-studio":  # whose rows name only layers with spans
        of_spans = [layer for layer in layers if any(each.layers.get(layer) for each in written)]
        options["layers"] = {layer: layer for layer in of_spans} or None
    if name == "spans":  # a table of spans has its text in another file
        texts = [Document(each.id, {"label": []}, **_text_of(each)) for each in written]
        text = "token-rows" if written[0].unit == "token" else "doccano"
        try:
            convert(texts, text, f"{folder}/text.{text}")
        except CluevalError:
            reject()  # what is no text of a table is no subject of this test
        options["text"] = f"{folder}/text.{text}"
    return list(read(path, input=name, **options))


def _text_of(document: Document) -> dict[str, Any]:
    return {name: getattr(document, name) for name in ("text", "tokens", "unit", "start", "metadata")}


def attempt(documents: Sequence[Document], name: str, *, lossy: bool) -> str | None:
    """Write documents and read them; return why they were refused, or None if they were read as they were returned."""
    with TemporaryDirectory() as folder:
        path = f"{folder}/out/" if name in FOLDERS else f"{folder}/out{writer_named(name).ending}"
        try:
            returned = convert(documents, name, path, lossy=lossy)
        except CluevalError as error:
            assert not any(Path(folder).iterdir())
            return str(error)
        found = read_back(path, name, returned, Path(folder))
        expected, now = ([held(each, name) for each in side] for side in (returned, found))
        if name in FOLDERS:
            expected.sort(key=str)
            now.sort(key=str)
        assert now == expected
        if not lossy:
            unit = documents[0].unit if returned[0].unit == documents[0].unit else ""
            assert kept(returned, name, unit) == kept(documents, name, unit)
    return None


def of_groups(*names: str) -> Document:
    """A document with a span in each of these groups."""
    spans = [Span(start, start + 1, "PER", {"group": name}) for start, name in enumerate(names)]
    return Document("a", {"label": spans}, text="abcdefgh"[: len(names)], unit="character")


@pytest.mark.parametrize("name", WRITTEN)
@at_most(40)
@example(documents=[Document("\0", {"label": [Span(0, 1, "PER")]}, tokens=["a"])])
@example(documents=[of_groups("1", "2", "1", "2")])
@example(documents=[of_groups("1", "2", "2")])
@example(documents=[of_groups("x", "2", "x", "2", "1")])
@example(documents=[of_groups("2", "1", "1", "2", "3", "3")])
@given(documents=corpora())
def test_every_writer_holds_documents_or_refuses_them(name: str, documents: list[Document]) -> None:
    attempt(documents, name, lossy=False)
    attempt(documents, name, lossy=True)


@pytest.mark.parametrize("name", WRITTEN)
def test_every_writer_takes_documents_that_it_holds(name: str) -> None:
    label = "_" if name in ("tab", "ltf") else "PER"
    documents = [
        Document(id, {"label": [Span(0, 3, label)]}, text="Ada met Bob", unit="character")
        for id in ("1", "2")
    ]

    assert attempt(documents, name, lossy=False) is None


def rows(path: Path, *ids: str, text: str = "Ada") -> str:
    """A file of doccano with a document for each id; None: a document that is numbered."""
    lines = [json.dumps({"id": id, "text": text, "label": [[0, 3, "PER"]]}) for id in ids]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", sorted(FOLDERS - {"ltf"}))
@pytest.mark.parametrize(
    ("given_ids", "lost", "files"),
    [
        (["mail_7", "b.c", "\u00e4"], 0, ["mail_7", "b.c", "\u00e4"]),
        (["mail 7"], 1, ["mail_7"]),
        (["mail 7", "mail_7"], 2, ["mail_7", "mail_7-2"]),
        (["a_b", "A_B"], 1, ["a_b", "A_B-2"]),
        (["same", "same"], 1, ["same", "same-2"]),
        (["a/b", "../b"], 2, ["a_b", "_b"]),
        (["con", "nul.x", "com1"], 3, ["_con", "_nul.x", "_com1"]),
        (["stra\u00dfe", "STRASSE"], 1, ["stra\u00dfe", "STRASSE-2"]),
        (["x" * 300], 1, ["x" * 200]),
    ],
    ids=lambda value: value[0][:8] if isinstance(value, list) else str(value),
)
def test_ids_that_are_no_names_of_files_are_refused_or_counted(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    given_ids: list[str],
    lost: int,
    files: list[str],
) -> None:
    given_rows, output = rows(tmp_path / "in.jsonl", *given_ids), tmp_path / "out"
    says = f"{lost} document ids as names of files"

    code = main(["convert", given_rows, "--to", name, "-o", f"{output}/"])
    error = capsys.readouterr().err
    assert (code, says in error, output.exists()) == ((2, True, False) if lost else (0, False, True))

    assert main(["convert", given_rows, "--to", name, "-o", f"{output}/", "--lossy"]) == 0
    assert (f"left out: {says}\n" in capsys.readouterr().err) == bool(lost)
    assert sorted(each.id for each in read(output, input=name)) == sorted(files)


def test_docbin_refuses_or_counts_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given_rows, output = rows(tmp_path / "in.jsonl", "a", "2", "c"), str(tmp_path / "out.spacy")

    assert main(["convert", given_rows, "--to", "docbin", "-o", output]) == 2
    assert "the format docbin cannot hold 2 document ids" in capsys.readouterr().err
    assert main(["convert", given_rows, "--to", "docbin", "-o", output, "--lossy"]) == 0
    assert "left out: 2 document ids\n" in capsys.readouterr().err
    assert [document.id for document in read(output)] == ["1", "2", "3"]

    unnumbered = tmp_path / "none.jsonl"
    unnumbered.write_text('{"text": "Ada", "label": [[0, 3, "PER"]]}', encoding="utf-8")
    assert main(["convert", str(unnumbered), "--to", "docbin", "-o", output]) == 0


def test_metadata_of_w2ner_replaces_no_id(tmp_path: Path) -> None:
    document = Document(
        "d1", {"label": []}, tokens=["a"], metadata={"id": "other", "ner": "x", "domain": "law"}
    )
    output = tmp_path / "out.json"

    with pytest.raises(UsageError, match="the format w2ner cannot hold 2 metadata"):
        convert([document], "w2ner", output)
    convert([document], "w2ner", output, lossy=True)

    assert [(each.id, each.metadata) for each in read(output)] == [("d1", {"domain": "law"})]


@pytest.mark.parametrize(
    ("text", "ranges", "lost", "kept"),
    [
        ("ab\n", [(0, 3)], "1 line ends at edges of spans", [(0, 2)]),
        ("\r\nab", [(0, 4)], "1 line ends at edges of spans", [(2, 4)]),
        ("a\n\nb", [(1, 3)], "1 line ends at edges of spans", None),
        ("a\nb", [(0, 1), (2, 3)], "1 gaps", [(0, 3)]),
        ("a\nb", [(0, 3)], None, [(0, 3)]),
        ("a\nb", [(1, 1)], None, [(1, 1)]),
    ],
)
def test_brat_refuses_or_counts_line_ends_that_a_span_loses(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    ranges: list[tuple[int, int]],
    lost: str | None,
    kept: list[tuple[int, int]] | None,
) -> None:
    span = {"label": "PER", "fragments": ranges, "start_offset": ranges[0][0], "end_offset": ranges[-1][1]}
    given_rows, output = tmp_path / "in.jsonl", f"{tmp_path}/out/"
    given_rows.write_text(json.dumps({"id": "a", "text": text, "label": [span]}), encoding="utf-8")
    arguments = ["convert", str(given_rows), "--to", "brat", "-o", output]

    assert main(arguments) == (0 if lost is None else 2)
    assert lost is None or f"the format brat cannot hold {lost}" in capsys.readouterr().err
    assert main([*arguments, "--lossy"]) == 0
    assert (f"left out: {lost}\n" in capsys.readouterr().err) == (lost is not None)
    [document] = read(output)
    assert [list(span.fragments) for span in document.layers["label"]] == ([] if kept is None else [kept])


def test_a_format_with_one_layer_keeps_the_same_layer_of_all_documents(tmp_path: Path) -> None:
    entity = Document("a", {"entity": [Span(0, 1, "PER")], "risk": []}, text="ab", unit="character")
    risk = Document("b", {"entity": [], "risk": [Span(0, 1, "high")]}, text="ab", unit="character")
    alone = Document("b", {"risk": [Span(0, 1, "high")]}, text="ab", unit="character")

    with pytest.raises(UsageError, match="the format doccano cannot hold 1 layers"):
        convert(
            [Document("a", {"entity": [Span(0, 1, "PER")]}, text="ab", unit="character"), alone], "doccano"
        )

    for second in (risk, alone):
        convert([entity, second], "doccano", tmp_path / "out.jsonl", lossy=True)
        found = [[span.label for span in each.layers["label"]] for each in read(tmp_path / "out.jsonl")]
        assert found == [["PER"], []]


@pytest.mark.parametrize(
    ("name", "says"),
    [("tab", "two documents have this id"), ("spans", "two documents have this id and the same positions")],
)
def test_two_documents_of_one_id_are_refused_where_ids_tell_them_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    assert main(["convert", rows(tmp_path / "in.jsonl", "a", "a"), "--to", name, "--lossy"]) == 2
    assert says in capsys.readouterr().err


def test_what_loios_format_lacks_is_refused_or_counted() -> None:
    features, gaps = Span(0, 1, "A", {"f": "x"}), Span.of_fragments([(0, 1), (2, 3)], "A")
    for kind, span in (("features", features), ("gaps", gaps)):
        document = Document("a", {"label": [span]}, text="abc", unit="character")
        with pytest.raises(UsageError, match=f"the format ltf cannot hold 1 {kind}"):
            convert([document], "ltf")
        assert convert([document], "ltf", lossy=True)[0].layers["label"] == [Span(span.start, span.end, "A")]


def test_brat_holds_groups_of_any_name_and_size(tmp_path: Path) -> None:
    names = ["anna", "bob", "2", "bob", "2", "1", "2", True]
    spans = [
        Span(start, start + 1, "PER", {"group": name, "risk": "high"}) for start, name in enumerate(names)
    ]
    document = Document("a", {"label": spans}, text="abcdefgh", unit="character")

    convert([document], "brat", f"{tmp_path}/out/")

    [written] = read(tmp_path / "out")
    assert {(span.start, span.features["group"]) for span in written.layers["label"]} == set(enumerate(names))
    assert "*\tEquiv T2 T4\n*\tEquiv T3 T5 T7\n" in (tmp_path / "out" / "a.ann").read_text(encoding="utf-8")


def test_brat_writes_numbered_groups_without_attributes(tmp_path: Path) -> None:
    convert([of_groups(*"1122")], "brat", f"{tmp_path}/out/")

    lines = (tmp_path / "out" / "a.ann").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line[0] != "T"] == ["*\tEquiv T1 T2", "*\tEquiv T3 T4"]


@given(names=st.lists(st.sampled_from(["1", "2", "3", "x", "y", True]), max_size=8))
def test_brat_holds_any_groups_without_loss(names: list[str]) -> None:
    assert attempt([of_groups(*names)], "brat", lossy=False) is None


@pytest.mark.parametrize(
    ("attributes", "group"),
    [
        ("A1\tgroup T1 x\nA2\tgroup T2 x\n", "x"),
        ("A1\tgroup T1 x\n", "1"),
        ("A1\tgroup T1 x\nA2\tgroup T2 y\n", "1"),
        ("", "1"),
        ("A1\tgroup T3 1\nA2\tgroup T4 3\n", "2"),
        ("A1\tgroup T3 1\nA2\tgroup T4 1\n*\tEquiv T3 T4\n", "2"),
        ("A1\tgroup T3 x\nA2\tgroup T4 x\n*\tEquiv T3 T4\n", "1"),
    ],
)
def test_a_group_of_brat_has_the_name_that_all_its_members_have(
    tmp_path: Path, attributes: str, group: str
) -> None:
    (tmp_path / "a.txt").write_text("abcd", encoding="utf-8")
    spans = "".join(f"T{end}\tA {end - 1} {end}\t{letter}\n" for end, letter in enumerate("abcd", 1))
    (tmp_path / "a.ann").write_text(f"{spans}{attributes}*\tEquiv T1 T2\n", encoding="utf-8")

    [document] = read(tmp_path / "a.ann")

    assert [span.features["group"] for span in document.layers["label"][:2]] == [group, group]


def test_a_numbered_group_of_brat_is_not_joined_to_one_whose_name_is_a_number(tmp_path: Path) -> None:
    spans = "".join(f"T{end}\tA {end - 1} {end}\t{letter}\n" for end, letter in enumerate("abcd", 1))
    lines = f"{spans}A1\tgroup T3 1\nA2\tgroup T4 1\n*\tEquiv T1 T2\n*\tEquiv T3 T4\n"
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.txt").write_text("abcd", encoding="utf-8")
    (tmp_path / "gold" / "a.ann").write_text(lines, encoding="utf-8")
    (tmp_path / "predicted" / "a.ann").write_text("T1\tA 0 1\ta\nT2\tA 2 3\tc\n", encoding="utf-8")

    result = score(tmp_path / "gold", tmp_path / "predicted", metrics="exact")

    assert (result.get("exact.label.micro.gold"), result.get("exact.label.micro.f1")) == (2, 1.0)


def test_inline_refuses_or_counts_white_space_at_edges_of_spans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given_rows, output = str(tmp_path / "in.jsonl"), f"{tmp_path}/out/"
    row = {"id": "a", "text": "say Ada \n Ulm", "label": [[3, 8, "LOC"], [10, 13, "PER"], [8, 9, "PER"]]}
    Path(given_rows).write_text(json.dumps(row), encoding="utf-8")
    says = "inline cannot hold 1 white space at edges of spans"

    assert main(["convert", given_rows, "--to", "inline", "-o", output]) == 2
    assert says in capsys.readouterr().err
    main(["check", given_rows, "--to", "inline"])
    assert says in "".join(capsys.readouterr())
    assert main(["convert", given_rows, "--to", "inline", "-o", output, "--lossy"]) == 0
    assert "left out: 1 white space at edges of spans\n" in capsys.readouterr().err
    [document] = read(output, input="inline")
    assert [(span.start, span.end) for span in document.layers["label"]] == [(4, 7), (8, 9), (10, 13)]


@pytest.mark.parametrize("name", ["webanno", "xmi", "uima-json"])
def test_numbers_and_truth_values_are_refused_or_become_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    given_rows, output = str(tmp_path / "in.jsonl"), f"{tmp_path}/out/"
    span = {"start": 0, "end": 3, "label": "PER", "features": {"n": 3, "sure": True, "kind": "x"}}
    Path(given_rows).write_text(json.dumps({"id": "a", "text": "Ada", "label": [span]}), encoding="utf-8")
    says = f"{name} cannot hold 2 types of features that are no texts"

    assert main(["convert", given_rows, "--to", name, "-o", output]) == 2
    assert says in capsys.readouterr().err
    main(["check", given_rows, "--to", name])
    assert says in "".join(capsys.readouterr())
    assert main(["convert", given_rows, "--to", name, "-o", output, "--lossy"]) == 0
    assert "left out: 2 types of features that are no texts\n" in capsys.readouterr().err
    [document] = read(output, input=name)
    assert [dict(span.features) for span in document.layers["label"]] == [
        {"kind": "x", "n": "3", "sure": "true"}
    ]


@pytest.mark.parametrize(("start", "end"), [(0, 4), (3, 4), (3, 7), (4, 7), (7, 9), (8, 12), (12, 13)])
def test_docbin_holds_blanks_at_edges_of_spans(tmp_path: Path, start: int, end: int) -> None:
    document = Document("1", {"label": [Span(start, end, "X")]}, text="Ada met  Bob ", unit="character")

    convert([document], "docbin", tmp_path / "out.spacy")

    [written] = read(tmp_path / "out.spacy")
    assert (written.text, written.layers) == (document.text, document.layers)
