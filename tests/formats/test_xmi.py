"""UIMA CAS XMI: types and features are sources, views are annotation sets; dkpro-cassis reads the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import cassis
import pytest
from contents import texts

from clueval import Document, Span, convert, read, score
from clueval.files.errors import CluevalError, FileError, FormatError, UsageError

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "xmi"
GOLD = SAMPLES / "gold.xmi"


def cas() -> cassis.Cas:
    return cassis.load_cas_from_xmi(GOLD, typesystem=cassis.load_typesystem(SAMPLES / "TypeSystem.xml"))


def test_sample_by_hand_and_as_dkpro_cassis_reads_it() -> None:
    (document,) = read(GOLD)

    assert document.text == "\U0001f600 Ada Lovelace\nin Ulm & London."
    assert texts(document) == [("Ada Lovelace", "PER"), ("Lovelace", "_"), ("Ulm", "LOC"), ("London", "LOC")]
    entities = cas().select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    assert texts(document) == [(each.get_covered_text(), each.value or "_") for each in entities]
    assert document.layers["label"][0].features == {"identifier": "Q7259"}


def test_sources_are_types_and_their_features() -> None:
    (document,) = read(GOLD, {"mark": "Mark", "full": "webanno.custom.Mark", "id": "NamedEntity.identifier"})

    assert texts(document, "mark") == texts(document, "full") == [("Ada", "_")]
    assert texts(document, "id")[0] == ("Ada Lovelace", "Q7259")
    with pytest.raises(UsageError, match=r"no source 'Mark\.x'"):
        list(read(GOLD, {"x": "Mark.x"}))


def test_relations_are_counted() -> None:
    assert score(GOLD, GOLD, metrics="gate").passed_over["gold"] == {"relations": 1, "spans of Mark": 1}


def test_type_system_beside_the_file_is_needed_and_is_no_file_of_a_folder(tmp_path: Path) -> None:
    shutil.copy(GOLD, tmp_path)

    with pytest.raises(FileError, match=r"put TypeSystem\.xml or gold\.typesystem\.xml next to the file"):
        list(read(tmp_path / "gold.xmi"))
    shutil.copy(SAMPLES / "TypeSystem.xml", tmp_path)
    assert len(list(read(tmp_path))) == 1


def test_json_has_the_spans_of_xmi(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    cas().to_json(path)

    (found,), (expected,) = read(path), read(GOLD)
    assert (found.text, found.layers) == (expected.text, expected.layers)
    assert score(GOLD, path, metrics="exact").f1 == 1.0


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"begin": 3,', '"begin": 1,', r"not a CAS .*offset \[1\]"),
        ('"begin": 3,', '"begin": 3.5,', r"not a CAS .*offset \[3\.5\]"),
        ('"begin"', '"bogin"', "not a CAS"),
        ('"%TYPES": {', '"%TYPES": [{', "1: not JSON"),
    ],
)
def test_json_that_is_wrong_ends_in_one_error(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(cas().to_json(pretty_print=True).replace(old, new), encoding="utf-8")

    with pytest.raises(CluevalError, match=rf"a\.json.*{says}"):
        list(read(path))


def test_views_are_annotation_sets(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "TypeSystem.xml", tmp_path)
    whole = cas()
    second = whole.create_view("Second")
    second.sofa_string = "Eva"
    entity = whole.typesystem.get_type("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    second.add(entity(begin=0, end=3, value="PER"))
    whole.to_xmi(tmp_path / "a.xmi")

    with pytest.raises(UsageError, match=r"2 views with a text.*_InitialView, Second"):
        list(read(tmp_path / "a.xmi"))
    (document,) = read(tmp_path / "a.xmi", annotation_set="Second")
    assert texts(document) == [("Eva", "PER")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<cas:NULL", "<!-- --><cas:NULL"),
        ('end="15"', 'end="999"'),
        ('end="15"', 'end="x"'),
        ("</xmi:XMI>", ""),
        ("<type:NamedEntity", "<type:Other"),
        ("<xmi:XMI", "<!DOCTYPE a><xmi:XMI"),
        ('sofa="1"', 'sofa="7"'),
    ],
)
def test_files_that_are_wrong_end_in_documents_or_one_error(tmp_path: Path, old: str, new: str) -> None:
    shutil.copy(SAMPLES / "TypeSystem.xml", tmp_path)
    content = GOLD.read_text(encoding="utf-8").replace(old, new, 1)
    (tmp_path / "a.xmi").write_text(content, encoding="utf-8")

    try:
        (document,) = read(tmp_path / "a.xmi")
    except CluevalError as error:
        assert str(tmp_path / "a.xmi") in str(error)  # noqa: PT017  # both outcomes are allowed
    else:
        assert document.text is not None


def test_type_definitions_are_refused(tmp_path: Path) -> None:
    shutil.copy(GOLD, tmp_path)
    (tmp_path / "TypeSystem.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><a/>')

    with pytest.raises(FormatError, match="document type declaration"):
        list(read(tmp_path / "gold.xmi"))


def test_type_system_may_have_any_name_if_it_is_the_only_one(tmp_path: Path) -> None:
    shutil.copy(GOLD, tmp_path / "a.xmi")
    shutil.copy(SAMPLES / "TypeSystem.xml", tmp_path / "layers.xml")
    (tmp_path / "other.xml").write_text("<other/>", encoding="utf-8")
    (tmp_path / "broken.xml").write_bytes(b"\x1f\x8b")

    assert [texts(each) for each in read(tmp_path / "a.xmi")] == [texts(each) for each in read(GOLD)]
    shutil.copy(tmp_path / "layers.xml", tmp_path / "second.xml")
    with pytest.raises(
        FileError, match=r"several type systems are next to the file .put TypeSystem\.xml or a\.type"
    ):
        list(read(tmp_path / "a.xmi"))


def test_type_system_is_read_from_the_archive_of_the_file(tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "anna"), "zip", SAMPLES)

    (document,) = read(tmp_path / "anna.zip")

    assert (document.id, texts(document)) == ("gold", texts(next(read(GOLD))))


def test_tokens_are_those_of_the_document_only_if_they_make_up_its_text(tmp_path: Path) -> None:
    """The sample has one token, the emoji, so its words are found in the text."""
    assert [document.tokens for document in read(GOLD)] == [None]

    whole = cas()
    (token_type,) = (each for each in whole.typesystem.get_types() if each.name.endswith("type.Token"))
    begin, text = 0, whole.sofa_string
    whole.remove(next(iter(whole.select(token_type.name))))
    for word in text.replace("\n", " ").split(" "):
        whole.add(token_type(begin=begin, end=begin + len(word)))
        begin += len(word) + 1
    whole.to_json(tmp_path / "whole.json")

    (document,) = read(tmp_path / "whole.json")
    assert document.tokens == ["\U0001f600", "Ada", "Lovelace", "in", "Ulm", "&", "London."]


def test_text_with_half_a_pair_of_utf_16_is_refused_in_json(tmp_path: Path) -> None:
    document = Document("d", {"label": [Span(0, 1, "X")]}, text="a\ud800", unit="character")

    with pytest.raises(UsageError, match=r"cannot count U\+D800 at position 1 of the text"):
        convert([document], "uima-json", tmp_path / "a.json")
