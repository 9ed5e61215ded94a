"""What is said of formats is made of their descriptions; sets that are added to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.cli import main
from clueval.core.span import Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats.catalogue import catalogue, details
from clueval.formats.dialect import described_rows
from clueval.formats.documents import read_file
from clueval.formats.form import NAMES
from clueval.formats.gate_xml import write_gate_xml
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions

GATE = (
    '<GateDocument><TextWithNodes><Node id="0"/>\U0001f600 Ada<Node id="6"/></TextWithNodes></GateDocument>'
)

WRITTEN = {
    *("brat", "conll", "docbin", "doccano", "gliner", "inline", "label-studio", "ltf", "presidio", "prodigy"),
    *("spacy-json", "spans", "spert", "tab", "token-rows", "uima-json", "w2ner", "webanno", "xmi"),
}


def test_all_formats_are_listed_with_their_uses() -> None:
    uses = {entry.name: entry.uses for entry in catalogue()}

    assert {name for name, of_format in uses.items() if "write" in of_format} == WRITTEN
    assert {name for name, of_format in uses.items() if "add sets" in of_format} == {"gate-xml"}
    assert list(uses) == sorted(NAMES)
    assert all("read" in of_format for of_format in uses.values())


def test_command_lists_all_formats_and_describes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    out = capsys.readouterr().out
    lines, words = out.splitlines(), " ".join(out.split())
    assert [line.split()[0] for line in lines if line[0] != " "] == sorted(NAMES)
    for entry in catalogue():
        assert all(holds in words for holds in entry.holds)
        assert f"recognised by: {'; '.join(entry.recognised_by)}" in words
    assert max(map(len, lines)) <= 100
    assert "if the sides differ, --input GOLD:PREDICTED, as in vrt:inline" in out

    assert main(["formats", "gate-xml"]) == 0
    described = capsys.readouterr().out
    assert "GATE's XML documents: a text with numbered nodes" in described
    assert "read, add sets" in described
    assert "--annotation-set NAME" in described
    assert "--token" not in described


def test_description_of_a_format_shows_its_rows_as_the_option_describes_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["formats", "gliner"]) == 0

    assert "\n  tokens=tokenized_text,spans=ner,start=first,end_inclusive=last\n" in capsys.readouterr().out


def test_every_format_has_a_section_of_its_rules_and_no_section_is_of_no_format() -> None:
    assert details().keys() == set(NAMES)


def test_every_format_says_what_it_holds_and_how_it_is_recognised() -> None:
    named = {entry.name for entry in catalogue() if not entry.recognised_by}

    assert named == {"inline"}
    assert all(entry.holds for entry in catalogue())
    assert {entry.extra for entry in catalogue()} == {"", "spacy", "uima"}


def test_description_of_rows_that_is_printed_can_be_given() -> None:
    printed = [rows for entry in catalogue() for rows in entry.rows]

    assert "text=text|data,spans=label" in " ".join(printed)
    assert all(described_rows(rows).spans for rows in printed)


def test_set_that_is_added_is_read_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"

    content = write_gate_xml(
        GATE, {"New": [Span(2, 5, "P", {"score": 0.5, "kinds": ["a", "b"]})]}, file="a.xml"
    )
    path.write_text(content, encoding="utf-8")
    (document,) = read_file(InputFile(path), FormatOptions(annotation_set="New"))

    (span,) = document.layers["label"]
    assert (span.start, span.end, span.label) == (2, 5, "P")
    assert span.features == {"score": 0.5, "kinds": ["a", "b"]}
    assert '<Node id="0"/>\U0001f600 <Node id="3"/>Ada<Node id="6"/>' in content


@pytest.mark.parametrize(
    ("spans", "kind", "problem"),
    [
        ([Span(2, 9, "P")], UsageError, "ends after the text"),
        ([Span(2, 3, "P", {"x": {}})], UsageError, "GATE XML cannot represent"),
        ([Span(2, 3, "\x00")], FormatError, "which XML cannot contain"),
    ],
)
def test_set_that_cannot_be_added_is_refused(spans: list[Span], kind: type[Exception], problem: str) -> None:
    with pytest.raises(kind, match=problem):
        write_gate_xml(GATE, {"New": spans}, file="a.xml")
