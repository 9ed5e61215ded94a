"""What is said of formats is made of their descriptions; sets that are added to files."""

from __future__ import annotations

from pathlib import Path

import pytest

import clueval
from clueval.cli import main
from clueval.formats.catalogue import details, recognised_by, rows_of, uses_of
from clueval.formats.form import NAMES, all_forms, forms_named

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"
WRITTEN = {
    *("brat", "conll", "docbin", "doccano", "gliner", "inline", "label-studio", "ltf", "presidio", "prodigy"),
    *("spacy-json", "spans", "spert", "tab", "token-rows", "uima-json", "w2ner", "webanno", "xmi"),
}


def test_all_formats_are_listed_with_their_uses() -> None:
    uses = {name: uses_of(name) for name in NAMES}

    assert {name for name, of_format in uses.items() if "write" in of_format} == WRITTEN
    assert {name for name, of_format in uses.items() if "add sets" in of_format} == {"gate-xml"}
    assert all("read" in of_format for of_format in uses.values())


def test_command_lists_all_formats_and_describes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    out = capsys.readouterr().out
    lines, words = out.splitlines(), " ".join(out.split())
    assert [line.split()[0] for line in lines if line[0] != " "] == sorted(NAMES)
    for name in NAMES:
        assert all(form.holds in words for form in forms_named(name))
        assert f"recognised by: {recognised_by(name)}" in words
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


def test_description_of_rows_that_is_printed_reads_the_samples_of_the_format() -> None:
    samples = {
        "doccano": "gold.jsonl",
        "gliner": "gold.json",
        "presidio": "samples.json",
        "spert": "gold.json",
    }
    printed = {name: rows for name in NAMES for rows in rows_of(name)}

    assert printed.keys() == samples.keys()
    for name, rows in printed.items():
        path = SAMPLES / name / samples[name]
        described, recognised = clueval.read(path, row=rows), clueval.read(path)
        for one, other in zip(described, recognised, strict=True):
            assert (one.text, one.tokens) == (other.text, other.tokens)
            assert [(s.start, s.end, s.label) for s in one.layers["label"]] == [
                (s.start, s.end, s.label) for s in other.layers["label"]
            ]


def test_every_format_says_what_it_holds_and_what_it_needs() -> None:
    forms = all_forms()

    assert all(form.holds for form in forms)
    assert {form.extra for form in forms} == {"", "spacy", "uima"}
