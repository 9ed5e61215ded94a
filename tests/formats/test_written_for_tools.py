"""What goes back into annotation tools: Label Studio's tasks, WebAnno TSV and UIMA CAS are read as they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cassis
import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalError, Document, Sentence, Span, UsageError, convert, read, to_rows
from clueval.cli import main
from clueval.formats.uima_types import types_of

TEXT = st.text(st.sampled_from('ab 😀é<&"|[]\\;*_->\t\r\n.'), max_size=14)
LABEL = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=5) | st.sampled_from(
    ["a|b", "[1]", "*", "a->b", "\\", ";", "_x", "a\tb", "a\nb", "😀"]
)


@st.composite
def ranges(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    position = st.integers(0, len(text))
    found = draw(st.lists(st.tuples(position, position), max_size=5))
    return [(min(pair), max(pair)) for pair in found]


def written_and_read(
    document: Document, name: str, path: str, layers: dict[str, str], **options: Any
) -> Document:
    with TemporaryDirectory() as folder:
        convert([document], name, f"{folder}/{path}", **options)
        (found,) = read(folder, layers)
    return found


ADA = {"id": "a", "text": "😀 Ada in Ulm", "label": [[2, 5, "PER"], [9, 12, "LOC"]], "meta": {"domain": "x"}}


def test_label_studio_task_and_its_configuration_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.jsonl", json.dumps(ADA))

    assert main(["convert", str(path), "--to", "label-studio"]) == 0
    out, err = capsys.readouterr()
    ada, ulm = (
        {
            "id": name,
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": start + 3, "text": text, "labels": [label]},
        }
        for name, start, text, label in (("r1", 2, "Ada", "PER"), ("r2", 9, "Ulm", "LOC"))
    )
    assert json.loads(out) == [
        {
            "id": "a",
            "data": {"text": "😀 Ada in Ulm", "domain": "x"},
            "annotations": [{"completed_by": 1, "ground_truth": True, "result": [ada, ulm]}],
        }
    ]
    assert err.splitlines() == [
        "<View>",
        '  <Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>',
        '  <Text name="text" value="$text"/>',
        "</View>",
    ]


def test_label_studio_has_predictions_if_asked(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path / "a.jsonl", json.dumps(ADA)))

    convert([document], "label-studio", tmp_path / "a.json", as_="predictions")
    (row,) = to_rows([document], "label-studio", as_="predictions")

    (task,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert task == row
    assert list(task) == ["id", "data", "predictions"]
    assert task["predictions"][0]["model_version"] == "clueval"
    (found,) = read(tmp_path / "a.json", annotation_set="prediction:clueval")
    assert found == document
    with pytest.raises(UsageError, match="cannot be written as 'x'"):
        convert([document], "label-studio", as_="x")
    with pytest.raises(UsageError, match="as_='annotations' does not apply to the format doccano"):
        convert([document], "doccano", as_="annotations")


def test_label_studio_has_no_other_features_no_gaps_and_no_metadata_called_text() -> None:
    spans = [Span.of_fragments([(0, 1), (2, 3)], "A", {"score": True, "link": "Q1"})]
    document = Document(
        "d", {"label": spans}, text="a b", unit="character", metadata={"text": "x", "domain": "y"}
    )

    with pytest.raises(UsageError, match="cannot hold 2 features, 1 gaps, 1 metadata"):
        convert([document], "label-studio")
    (found,) = convert([document], "label-studio", lossy=True)
    assert found.layers == {"label": [Span(0, 3, "A")]}
    assert found.metadata == {"domain": "y"}


@pytest.mark.parametrize("name", ["gliner", "presidio", "spert", "w2ner"])
def test_programs_that_read_one_array_get_one(name: str, tmp_path: Path) -> None:
    document = Document("d", {"label": [Span(0, 3, "PER")]}, text="Ada", unit="character")
    convert([document, document], name, tmp_path / "a.json")

    rows = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))

    assert len(rows) == 2
    assert [row.get("relations") for row in rows] == [[] if name == "spert" else None] * 2  # SpERT needs them


def test_curated_gold_goes_back_to_label_studio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {**ADA, "meta": {}}
    paths = [str(write(tmp_path / f"{name}.jsonl", json.dumps(row))) for name in "abc"]

    assert main(["curate", *paths, "--to", "label-studio", "-o", str(tmp_path / "gold.json")]) == 0
    assert '<Label value="PER"/>' in capsys.readouterr().err
    (found,) = read(tmp_path / "gold.json")
    assert [(span.start, span.end, span.label) for span in found.layers["label"]] == [
        (2, 5, "PER"),
        (9, 12, "LOC"),
    ]


PLAIN = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=4)
WEBANNO = {"label": "NamedEntity.value", "risk": "Risk.level", "Mark": "Mark.value"}
TYPES = {"risk": "a.Risk|level"}


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """A document with three layers that overlap, and with sentences or without."""
    text = draw(TEXT)
    layers = {}
    for layer in WEBANNO:
        spans = []
        for start, end in draw(ranges(text)):
            features = draw(st.dictionaries(st.sampled_from(["identifier", "x_1"]), PLAIN, max_size=2))
            spans.append(Span(start, end, {layer: draw(LABEL | st.just("_"))}, features))
        layers[layer] = sorted(spans, key=lambda span: (span.start, -span.end))
    cuts = draw(st.lists(st.integers(0, len(text)), max_size=6))
    cuts = sorted(cuts)[: len(cuts) // 2 * 2]
    sentences = [Sentence(*pair) for pair in zip(cuts[::2], cuts[1::2], strict=True) if pair[0] < pair[1]]
    return Document("d", layers, text=text, unit="character", sentences=sentences)


@given(document=annotated())
def test_webanno_is_read_as_the_document_that_it_holds(document: Document) -> None:
    (held,) = convert([document], "webanno", lossy=True, types=TYPES)

    found = written_and_read(document, "webanno", "", WEBANNO, types=TYPES, lossy=True)

    assert (found.text, found.layers, found.sentences) == (held.text, held.layers, held.sentences)
    assert "".join((held.text or "").split()) == "".join((document.text or "").split())


@given(document=annotated())
def test_webanno_loses_nothing_of_a_text_without_sentences_but_white_space_at_edges(
    document: Document,
) -> None:
    document = replace(document, sentences=())
    has_edges = any(
        span.start == span.end or document.text_of(span) != document.text_of(span).strip()
        for spans in document.layers.values()
        for span in spans
    )
    begins = document.text[: len(document.text) - len(document.text.lstrip())]
    if not has_edges and not begins:
        (held,) = convert([document], "webanno", types=TYPES)

        assert (held.text, held.layers) == (document.text, document.layers)


def webanno(document: Document, **options: Any) -> list[str]:
    with TemporaryDirectory() as folder:
        convert([document], "webanno", f"{folder}/a.tsv", **options)
        return Path(folder, "a.tsv").read_text(encoding="utf-8").split("\n")


NAMED = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def test_webanno_by_hand() -> None:
    text = "😀 Dr. Ada\tEva's\r\nlives.\n  Yes"
    spans = [
        Span(2, 5, "T"),  # two tokens
        Span(6, 9, "PER|x[1]", {"identifier": "Q1"}),  # one token, stacked
        Span(6, 9, "_"),
        Span(6, 8, "A->*_;\\"),  # part of a token
        Span(14, 14, "Z"),  # at the end of a token
        Span(10, 22, "X"),  # across sentences
    ]

    found = webanno(Document("d", {"label": spans}, text=text, unit="character"))

    assert found == [
        "#FORMAT=WebAnno TSV 3.3",
        f"{NAMED}|identifier|value",
        "",
        "",
        r"#Text=😀 Dr. Ada\tEva's\r",
        "1-1\t0-2\t😀\t_\t_\t",
        "1-2\t3-5\tDr\t*[1]\tT[1]\t",
        "1-3\t5-6\t.\t*[1]\tT[1]\t",
        "1-4\t7-10\tAda\tQ1[2]|*[3]\tPER\\|x\\[1\\][2]|*[3]\t",
        "1-4.1\t7-9\tAd\t*\tA\\->\\*\\_\\;\\\\\t",
        "1-5\t11-14\tEva\t*[4]\tX[4]\t",
        "1-6\t14-15\t'\t*[4]\tX[4]\t",
        "1-6.1\t15-15\t\t*\tZ\t",
        "1-7\t15-16\ts\t*[4]\tX[4]\t",
        "",
        "#Text=lives.",
        "2-1\t18-23\tlives\t*[4]\tX[4]\t",
        "2-2\t23-24\t.\t_\t_\t",
        "",
        "#Text=Yes",
        "3-1\t27-30\tYes\t_\t_\t",
        "",
    ]


def test_webanno_has_the_tokens_and_sentences_of_the_document() -> None:
    tokens = ["Dr.", "Ada", "New York", "Yes"]
    document = Document(
        "d", {"label": [Span(1, 3, "X")]}, tokens=tokens, sentences=[Sentence(0, 3), Sentence(3, 4)]
    )

    assert webanno(document)[4:] == [
        "#Text=Dr. Ada New York",
        "1-1\t0-3\tDr.\t_\t",
        "1-2\t4-7\tAda\tX[1]\t",
        "1-3\t8-16\tNew York\tX[1]\t",
        "",
        "#Text=Yes",
        "2-1\t17-20\tYes\t_\t",
        "",
    ]


def test_webanno_takes_tokens_and_their_sentences_from_a_file(tmp_path: Path) -> None:
    tokens = write(tmp_path / "tokens.conll", "Ada-Eva\n.\n\nYes\n")
    document = Document("d", {"label": []}, text="Ada-Eva. Yes", unit="character")

    assert [line.split("\t")[2] for line in webanno(document, tokens=tokens) if "\t" in line] == [
        "Ada-Eva",
        ".",
        "Yes",
    ]


@pytest.mark.parametrize(
    ("labels", "head"),
    [((), "|value"), (("_",), "|"), (("_", "X"), "|value")],
)
def test_webanno_has_a_column_for_each_feature_with_a_value(labels: Sequence[str], head: str) -> None:
    document = Document("d", {"label": [Span(0, 3, label) for label in labels]}, text="Ada", unit="character")

    found = webanno(document)

    assert found[1] == f"{NAMED}{head}"
    assert found[5].count("\t") == 4


def test_webanno_types_are_those_of_layers_or_are_named() -> None:
    def heads(layers: Sequence[str], **options: Any) -> list[str]:
        spans = {layer: [Span(0, 3, {layer: "X"}, {"note": "1"})] for layer in layers}
        found = webanno(Document("d", spans, text="Ada", unit="character"), **options)
        return [line.removeprefix("#T_SP=") for line in found if line.startswith("#T_SP=")]

    entity = NAMED.removeprefix("#T_SP=")
    assert heads(["risk"]) == [f"{entity}|note|value"]
    assert heads(["label", "risk"]) == [f"{entity}|note|value", "webanno.custom.risk|note|value"]
    assert heads(["a b", "label"], types={"a b": "x.Y|z"}) == ["x.Y|note|z", f"{entity}|note|value"]
    with pytest.raises(UsageError, match="the layer 'a b' cannot be the name of a type"):
        heads(["a b", "label"])
    with pytest.raises(UsageError, match="unknown layer 'risk'"):
        heads(["label"], types={"risk": "x.Y|z"})
    for wrong in ("x.Y", "x y|z", "x|", "|z", "x|z|z", "x|1"):
        with pytest.raises(UsageError, match="is not TYPE"):
            heads(["label"], types={"label": wrong})


def test_webanno_counts_what_it_cannot_hold() -> None:
    features = {"a b": "x", "list": [1], "none": None, "value": "x", "begin": 1, "ROLE_x": "x", "empty": ""}
    spans = [Span(0, 4, "A", features), Span.of_fragments([(0, 1), (2, 3)], "B"), Span(3, 5, "C")]
    document = Document(
        "d",
        {"label": spans},
        text="Ada  sang.\t\tYes",
        unit="character",
        sentences=[Sentence(0, 10), Sentence(12, 15)],
        metadata={"domain": "x"},
    )

    with pytest.raises(
        UsageError, match="cannot hold 7 features, 1 gaps, 1 metadata, 2 white space at edges"
    ):
        convert([document], "webanno")
    (found,) = convert([document], "webanno", lossy=True)
    assert [(span.start, span.end) for span in found.layers["label"]] == [(0, 3), (0, 3), (3, 3)]
    assert (found.text, found.sentences) == (document.text, [(0, 12, None), (12, 15, None)])


def test_webanno_counts_text_that_cannot_be_restored() -> None:
    document = Document("d", {"label": [Span(2, 3, "A")]}, text="\t a", unit="character")

    with pytest.raises(UsageError, match="cannot hold 1 text between sentences"):
        convert([document], "webanno")
    (found,) = convert([document], "webanno", lossy=True)
    assert (found.text, found.layers) == ("\n a", document.layers)


@pytest.mark.parametrize(
    ("text", "says"), [("a\0", "cannot hold the character NUL"), ("\ud800", "surrogate")]
)
def test_webanno_refuses_characters_and_writes_nothing(text: str, says: str, tmp_path: Path) -> None:
    documents = [
        Document(name, {"label": []}, text=of, unit="character") for name, of in (("a", "x"), ("b", text))
    ]

    with pytest.raises(CluevalError, match=says):
        convert(documents, "webanno", f"{tmp_path}/out/")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \t "])
def test_webanno_holds_texts_without_words(text: str) -> None:
    document = Document("d", {"label": []}, text=text, unit="character")

    found = written_and_read(document, "webanno", "", {"label": "NamedEntity.value"})

    assert (found.text, found.layers) == (text, {"label": []})
    with pytest.raises(UsageError, match="1 zero-length spans"):
        convert([replace(document, layers={"label": [Span(0, 0, "A")]})], "webanno")


UIMA = {"label": "NamedEntity.value", "risk": "Risk.level", "Mark": "Mark.value"}


def by_label(document: Document) -> dict[str, list[tuple[Any, ...]]]:
    """The spans of each layer; equal ranges have no order in a CAS."""
    return {
        layer: sorted((each.start, each.end, each.label, sorted(each.features.items())) for each in spans)
        for layer, spans in document.layers.items()
    }


@pytest.mark.parametrize("name", ["xmi", "uima-json"])
@at_most(40)
@given(document=annotated())
def test_cas_is_read_as_it_was_written_also_by_dkpro_cassis(name: str, document: Document) -> None:
    with TemporaryDirectory() as folder:
        convert([document], name, f"{folder}/out/", types=TYPES)
        (found,) = read(f"{folder}/out", UIMA)
        out = Path(folder, "out")
        if name == "xmi":
            assert sorted(path.name for path in out.iterdir()) == ["TypeSystem.xml", "d.xmi"]
            system = cassis.load_typesystem(out / "TypeSystem.xml")
            cas = cassis.load_cas_from_xmi(out / "d.xmi", typesystem=system)
        else:
            cas = cassis.load_cas_from_json((out / "d.json").read_text(encoding="utf-8"))

    assert (found.text, by_label(found)) == (document.text, by_label(document))
    assert list(found.sentences) == list(document.sentences)
    entities = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    assert sorted(
        (each.begin, each.end, each.value or "_", each.get_covered_text()) for each in entities
    ) == sorted(
        (each.start, each.end, each.label, document.text_of(each)) for each in document.layers["label"]
    )


def test_cas_has_tokens_only_if_the_document_has_them(tmp_path: Path) -> None:
    document = Document(
        "d", {"label": [Span(0, 2, "PER")]}, tokens=["Dr.", "😀", "x"], sentences=[Sentence(0, 3)]
    )

    convert([document], "xmi", f"{tmp_path}/x/")

    (found,) = read(tmp_path / "x")
    assert (found.tokens, found.sentences) == (["Dr.", "😀", "x"], [Sentence(0, 7)])
    assert [row.split("\t")[2] for row in webanno(found) if "\t" in row] == ["Dr.", "😀", "x"]
    plain = Document("d", {"label": []}, text="Dr. x", unit="character")
    convert([plain], "xmi", f"{tmp_path}/y/")
    assert "Token" not in (tmp_path / "y" / "TypeSystem.xml").read_text(encoding="utf-8")


def test_type_system_has_the_types_of_all_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": "Ada", "id": name, "label": [[0, 3, "X"]]} for name in "ab"]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))

    given = ["convert", str(path), "--layer", "risk=label", "--type", "risk=a.Risk|level", "--to", "xmi"]
    assert main([*given, "-o", f"{tmp_path}/x/"]) == 0
    assert "the project needs a.Risk with level" in capsys.readouterr().err
    assert len(list(read(tmp_path / "x", {"risk": "Risk.level"}))) == 2
    assert main(given) == 2
    assert "name a folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["xmi", "uima-json"])
@pytest.mark.parametrize("mark", ["\0", "\x0b", "\ufffe", "\ud800"])
@pytest.mark.parametrize("of", ["text", "label", "feature"])
def test_xml_refuses_characters_that_it_cannot_contain(name: str, mark: str, of: str, tmp_path: Path) -> None:
    values = {each: f"x{mark}" if each == of else "x" for each in ("text", "label", "feature")}
    span = Span(0, 1, values["label"], {"note": values["feature"]})
    document = Document("d", {"label": [span]}, text=values["text"], unit="character")

    if name == "uima-json" and mark != "\ud800":
        convert([document], name, f"{tmp_path}/x/")
        (found,) = read(tmp_path / "x")
        assert (found.text, found.layers) == (document.text, document.layers)
        return
    with pytest.raises(CluevalError, match=rf"U\+{ord(mark):04X}"):
        convert([document], name, f"{tmp_path}/x/")
    assert not (tmp_path / "x").exists()


def test_layers_that_no_type_can_stand_for_are_refused() -> None:
    document = Document("d", {name: [] for name in ("label", "Token", "a")}, text="", unit="character")

    with pytest.raises(UsageError, match="the layer 'Token' cannot be the name of a type"):
        convert([document], "uima-json", "x.json")
    with pytest.raises(UsageError, match=r"2 layers have the type a\.B"):
        types_of({"a": "a.B|x", "Token": "a.B|y"}, document.layers)
    for wrong in ("uima.tcas.Annotation|x", "a.Sentence|x", "a.B|begin"):
        with pytest.raises(UsageError, match="cannot be a layer"):
            convert([document], "xmi", types={"a": wrong})
