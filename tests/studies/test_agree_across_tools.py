"""Annotators of different tools, as the tools export them: INCEpTION's folders and archives, brat, Label Studio."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from clueval import CluevalError, CluevalWarning, agree, curate, score
from clueval.cli import main

TEXTS = {"doc1": "Ada met Bob in Ulm.", "doc2": "Bob \U0001f600 sang.\nUlm slept."}
SPANS = {
    "doc1": [(0, 3, "PER"), (8, 11, "PER"), (15, 18, "LOC")],
    "doc2": [(0, 3, "PER"), (12, 15, "LOC")],
}
TYPES = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "xmi" / "TypeSystem.xml"
Spans = Sequence[tuple[int, int, str]]


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def units(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2


def webanno(text: str, spans: Spans, after: str = "") -> str:
    lines = [
        "#FORMAT=WebAnno TSV 3.3",
        "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value",
        "",
    ]
    begin = 0
    sentences = text.split("\n")
    for number, sentence in enumerate(sentences, 1):
        end = after if number == len(sentences) else ""
        lines += ["", f"#Text={sentence}{end}"]
        for place, match in enumerate(re.finditer(r"\w+|[^\w\s]", sentence), 1):
            start, past = begin + match.start(), begin + match.end()
            label = next((label for first, last, label in spans if first <= start and past <= last), "_")
            lines.append(f"{number}-{place}\t{units(text, start)}-{units(text, past)}\t{match[0]}\t{label}\t")
        begin += len(sentence) + 1
    return "\n".join([*lines, ""])


def xmi(text: str, spans: Spans) -> str:
    entities = "".join(
        f'<type:NamedEntity xmi:id="{number}" sofa="1" begin="{units(text, start)}" end="{units(text, end)}" '
        f'value="{label}"/>'
        for number, (start, end, label) in enumerate(spans, 2)
    )
    return (
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
        'xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" xmi:version="2.0">'
        f'<cas:NULL xmi:id="0"/>{entities}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" '
        f'mimeType="text/plain" sofaString={quoteattr(text, {chr(10): "&#10;"})}/><cas:View sofa="1" '
        f'members="{" ".join(str(number) for number in range(2, len(spans) + 2))}"/></xmi:XMI>\n'
    )


def brat(text: str, spans: Spans) -> str:
    return "".join(f"T{n}\t{x} {s} {e}\t{text[s:e]}\n" for n, (s, e, x) in enumerate(spans, 1))


def task(name: str, number: int) -> dict[str, object]:
    text = TEXTS[name]
    result = [
        {
            "from_name": "label",
            "type": "labels",
            "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
        }
        for start, end, label in SPANS[name]
    ]
    return {
        "id": number,
        "data": {"text": text},
        "annotations": [{"completed_by": 1, "result": result}],
    }


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """The same texts of four tools; that of brat ends with a line end, and WebAnno's with blanks."""
    for name, text in TEXTS.items():
        put(tmp_path / "webanno" / f"{name}.tsv", webanno(text, SPANS[name], "  "))
        put(tmp_path / "xmi" / f"{name}.xmi", xmi(text, SPANS[name][:-1]))
        put(tmp_path / "brat" / f"{name}.ann", brat(text, SPANS[name][1:]))
        put(tmp_path / "brat" / f"{name}.txt", f"{text}\n")
    shutil.copy(TYPES, tmp_path / "xmi" / "layers.xml")
    put(tmp_path / "tasks.json", json.dumps([task(name, n) for n, name in enumerate(reversed(TEXTS), 7)]))
    return tmp_path


def f1(result: object, *pair: str) -> float:
    report = result.to_dict()  # type: ignore[attr-defined]
    names, matrix = report["annotators"], report["agreement"]["label"]["f1"]["exact"]["matrix"]
    return round(float(matrix[names.index(pair[0])][names.index(pair[1])]), 4)


def inception(folder: Path, users: dict[str, dict[str, Spans]], ending: str = "tsv") -> Path:
    """An export of INCEpTION: a folder for each document, a file for each user."""
    for user, of_user in users.items():
        for name, spans in of_user.items():
            path = folder / f"{name}.txt" / f"{user}.{ending}"
            put(path, (webanno if ending == "tsv" else xmi)(TEXTS[name], spans))
    return folder


USERS: dict[str, dict[str, Spans]] = {
    "anna": dict(SPANS),
    "bob": {"doc1": SPANS["doc1"][:1], "doc2": SPANS["doc2"][:1]},
    "INITIAL_CAS": {"doc1": [], "doc2": []},
}
CURATED: dict[str, dict[str, Spans]] = {"CURATION_USER": dict(SPANS)}


def test_tools_are_compared_by_name_and_by_content(tools: Path) -> None:
    folders = {name: tools / name for name in ("webanno", "xmi", "brat")}

    by_name = agree(folders)
    by_content = agree({**folders, "studio": tools / "tasks.json"}, pair_by="content")

    for found in (by_name, by_content):
        assert found.to_dict()["documents"] == 2
        assert [f1(found, "webanno", "xmi"), f1(found, "xmi", "brat")] == [0.75, 0.3333]
    assert f1(by_content, "webanno", "studio") == 1.0
    with pytest.raises(CluevalError, match="pair_by='content' pairs equal texts"):
        agree({"brat": tools / "brat", "studio": tools / "tasks.json"})


def test_tools_are_curated_into_the_spans_that_most_have(tools: Path) -> None:
    sides = {"a": tools / "webanno", "b": tools / "brat", "c": tools / "tasks.json"}

    found = {each.document.id: each.document for each in curate(sides, pair_by="content")}

    assert {
        name: [(span.start, span.end, span.label) for span in document.layers["label"]]
        for name, document in found.items()
    } == SPANS


def test_texts_of_one_tool_may_differ_in_white_space_at_their_ends(tmp_path: Path) -> None:
    for name, after in (("a", ""), ("b", "  ")):
        put(tmp_path / name / "doc1.tsv", webanno(TEXTS["doc1"], SPANS["doc1"], after))

    assert f1(agree({"a": tmp_path / "a", "b": tmp_path / "b"}), "a", "b") == 1.0
    put(tmp_path / "b" / "doc1.tsv", webanno("Ada met Bob in  Ulm.", []))
    with pytest.raises(CluevalError, match="must have the same text"):
        agree({"a": tmp_path / "a", "b": tmp_path / "b"})


@pytest.mark.parametrize("ending", ["tsv", "xmi"])
@pytest.mark.parametrize("kind", ["folder", "zip", "zip of the folder", "project", "zip of a project"])
def test_export_of_inception_is_read_as_it_is(tmp_path: Path, kind: str, ending: str) -> None:
    folder = inception(tmp_path / "p" / "annotation", USERS, ending)
    inception(tmp_path / "p" / "curation", CURATED, ending)
    put(tmp_path / "p" / "source" / "doc1.txt", TEXTS["doc1"])
    if ending == "xmi":
        for each in sorted(folder.iterdir()):
            shutil.copy(TYPES, each / "TypeSystem.xml")
    path = {"folder": folder, "project": tmp_path / "p"}.get(kind, tmp_path / "a.zip")
    if kind.startswith("zip"):
        root, base = {"zip": (folder, None), "zip of the folder": (folder.parent, "annotation")}.get(
            kind, (tmp_path, "p")
        )
        shutil.make_archive(str(tmp_path / "a"), "zip", root, base)

    with pytest.warns(CluevalWarning, match="INITIAL_CAS is left out, in 2 documents"):
        found = agree(path)

    assert found.to_dict()["annotators"] == ["anna", "bob"]
    assert f1(found, "anna", "bob") == 0.5714
    named = agree(path, annotators={"ann": "anna", "none": "INITIAL_CAS"})
    assert (named.to_dict()["annotators"], f1(named, "ann", "none")) == (["ann", "none"], 0.0)
    with pytest.raises(
        CluevalError, match=r"of the annotator 'carl' .the annotators are INITIAL_CAS, anna, bob"
    ):
        agree(path, annotators={"a": "anna", "c": "carl"})


def test_archives_of_each_annotator_are_read_in_a_folder_and_refused_in_an_archive(tmp_path: Path) -> None:
    made = inception(tmp_path / "made", USERS, "xmi")
    for path in sorted(made.glob("*/*.xmi")):
        inner = tmp_path / "inner"
        inner.mkdir()
        shutil.copy(path, inner)
        shutil.copy(TYPES, inner / "TypeSystem.xml")
        target = tmp_path / "all" / path.parent.name / path.stem
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.make_archive(str(target), "zip", inner)
        shutil.rmtree(inner)

    with pytest.warns(CluevalWarning, match="INITIAL_CAS"):
        assert f1(agree(tmp_path / "all"), "anna", "bob") == 0.5714
    assert main(["check", str(tmp_path / "all")]) == 0
    shutil.make_archive(str(tmp_path / "whole"), "zip", tmp_path / "all")
    with pytest.raises(CluevalError, match=r"is an archive in an archive .unpack the outer one"):
        agree(tmp_path / "whole.zip")


def test_curated_documents_are_called_as_their_folders(tmp_path: Path, tools: Path) -> None:
    gold = inception(tmp_path / "curation", CURATED)

    result = score(gold, tools / "brat", metrics="exact", by="document")
    assert result.groups is not None
    assert list(result.groups["document"]) == ["doc1", "doc2"]
    assert result.get("exact.label.micro.recall") == 0.6

    with pytest.warns(CluevalWarning, match="INITIAL_CAS"):
        found = agree(inception(tmp_path / "annotation", USERS), system=gold)
    assert found.to_dict()["ceiling"]
    both = inception(tmp_path / "annotation", CURATED)
    with pytest.warns(CluevalWarning, match="CURATION_USER is left out"):
        assert agree(both).to_dict()["annotators"] == ["anna", "bob"]


def test_system_of_another_tool_stands_beside_folders_of_documents(tmp_path: Path, tools: Path) -> None:
    folder = inception(tmp_path / "x", {name: USERS[name] for name in ("anna", "bob")})

    found = agree(folder, layout="document/annotator", system=tools / "brat")

    assert found.to_dict()["documents"] == 2
    assert found.to_dict()["ceiling"]


@pytest.mark.parametrize(
    ("form", "name"), [("webanno", "gold/"), ("label-studio", "gold.json"), ("brat", "gold/")]
)
def test_curated_gold_goes_back_into_a_tool(tmp_path: Path, tools: Path, form: str, name: str) -> None:
    sides = [f"{side}={tools / side}" for side in ("webanno", "xmi", "brat")]

    assert main(["curate", *sides, "--to", form, "-o", f"{tmp_path}/{name}"]) == 0

    result = score(tmp_path / name, tools / "webanno", metrics="exact", pair_by="content")
    assert result.get("exact.label.micro.f1") == 1.0
    assert result.get("exact.label.micro.gold") == 5


def test_folders_that_are_named_like_files_are_documents(tmp_path: Path) -> None:
    for annotator, documents in {
        "anna": ("doc1", "doc2"),
        "bob": ("doc1", "doc2"),
        "carl": ("doc1",),
    }.items():
        for document in documents:
            text = webanno(TEXTS[document], SPANS[document][annotator == "bob" :])
            put(tmp_path / f"{document}.txt" / f"{annotator}.tsv", text)

    agreement = agree(tmp_path)

    assert [each.casefold() for each in agreement.to_dict()["annotators"]] == ["anna", "bob", "carl"]
