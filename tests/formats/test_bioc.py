"""BioC and PubTator: the two lines of the guide turn them into brat files, with the package bconv."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval import read

bconv = pytest.importorskip("bconv", reason="bconv needs an lxml older than that of dkpro-cassis")

BIOC = """<?xml version="1.0" encoding="UTF-8"?>
<collection><source>x</source><date>2026</date><key>k</key><document><id>7</id>
<passage><offset>0</offset><text>\u00c9tude of BRCA1 and breast or lung cancer.</text>
<annotation id="T1"><infon key="type">Gene</infon><location offset="9" length="5"/><text>BRCA1</text></annotation>
<annotation id="T2"><infon key="type">Disease</infon><location offset="19" length="6"/>
<location offset="34" length="6"/><text>breast [...] cancer</text></annotation>
</passage></document></collection>
"""
PUBTATOR = "7|t|BRCA1 in cancer\n7|a|\n7\t0\t5\tBRCA1\tGene\t672\n7\t9\t15\tcancer\tDisease\tD1\n\n"


@pytest.mark.parametrize(
    ("form", "options", "content"),
    [("bioc_xml", {"byte_offsets": False}, BIOC), ("pubtator", {}, PUBTATOR)],
)
def test_two_lines_turn_a_file_into_brat(
    tmp_path: Path, form: str, options: dict[str, bool], content: str
) -> None:
    path = tmp_path / "in"
    path.write_text(content, encoding="utf-8")
    folder = tmp_path / "brat"
    folder.mkdir()

    for document in bconv.load(path, fmt=form, **options):
        for ending, name in ((".ann", "brat"), (".txt", "txt")):
            with (folder / f"{document.id}{ending}").open("w", encoding="utf-8") as output:
                bconv.dump(document, output, fmt=name)

    (found,) = read(folder)
    expected = ["BRCA1", "breast cancer"] if form == "bioc_xml" else ["BRCA1", "cancer"]
    assert [
        " ".join(found.text_between(*part) for part in span.fragments) for span in found.layers["label"]
    ] == expected
