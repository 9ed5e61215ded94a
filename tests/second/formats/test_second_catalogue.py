"""What is said of formats is made of their descriptions; sets that are added to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.core.span import Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats import all_formats
from clueval.second.formats.catalogue import catalogue
from clueval.second.formats.dialect import described_rows
from clueval.second.formats.documents import read_file
from clueval.second.formats.gate_xml import GATE_XML
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.options import FormatOptions

GATE = (
    '<GateDocument><TextWithNodes><Node id="0"/>\U0001f600 Ada<Node id="6"/></TextWithNodes></GateDocument>'
)

MORE_WRITTEN = {"gliner", "spert", "presidio", "prodigy"}
"""Formats that are written because their descriptions tell how."""


def test_all_formats_are_listed_with_their_uses() -> None:
    today = {form.name: set(form.uses) for form in all_formats()}
    today["bdoc"].discard("add sets")
    for name in MORE_WRITTEN:
        today[name].add("write")

    assert {entry.name: set(entry.uses) for entry in catalogue()} == today


MORE_OPTIONS = {"bdoc": {"layers", "offsets"}, "spacy-json": {"scheme", "invalid"}}


def test_options_that_apply_are_those_of_today() -> None:
    for form in all_formats():
        (entry,) = (entry for entry in catalogue() if entry.name == form.name)

        assert {*entry.options} == form.reads | MORE_OPTIONS.get(form.name, set())


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
    path.write_text(GATE, encoding="utf-8")
    assert GATE_XML.add_sets is not None

    content = GATE_XML.add_sets(
        InputFile(path), {"New": [Span(2, 5, "P", {"score": 0.5, "kinds": ["a", "b"]})]}
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
def test_set_that_cannot_be_added_is_refused(
    spans: list[Span], kind: type[Exception], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.xml"
    path.write_text(GATE, encoding="utf-8")
    assert GATE_XML.add_sets is not None

    with pytest.raises(kind, match=problem):
        GATE_XML.add_sets(InputFile(path), {"New": spans})
