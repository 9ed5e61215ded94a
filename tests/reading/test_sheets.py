"""Workbooks as other programs write them, and files that are none."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.exceptions import CluevalError, FileError, FormatError
from clueval.reading.sheets import rows_of

BOOK = '<workbook xmlns:r="r"><sheets><sheet name="A &amp; B" sheetId="1" r:id="rId7"/></sheets></workbook>'
NAMES = '<Relationships><Relationship Id="rId7" Target="worksheets/s.xml"/></Relationships>'


def written(path: Path, rows: str, texts: str | None = None, **more: str) -> Path:
    parts = {
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": NAMES,
        "xl/worksheets/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        **({} if texts is None else {"xl/sharedStrings.xml": f"<sst>{texts}</sst>"}),
        **more,
    }
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def cells(path: Path) -> list[tuple[int, Mapping[int, str]]]:
    return [(row.number, row.cells) for row in rows_of(path)]


def test_cells_have_texts_numbers_and_pieces_of_formatted_text(tmp_path: Path) -> None:
    texts = (
        "<si><t>a&lt;</t></si><si><r><t>b</t></r><r><rPr/><t xml:space='preserve'> c</t></r><rPh><t>no</t></rPh></si>"
        "<si><t>_x0001_ _x005F_x0041_</t></si>"
    )
    row = (
        '<row r="3"><c r="A3" t="s"><v>0</v></c><c r="AB3" t="s"><v>1</v></c><c t="s"><v>2</v></c></row>'
        '<row><c t="inlineStr"><is><t>d</t></is></c><c><v>12</v></c><c><v>3.378E3</v></c><c><v>1.5</v></c>'
        '<c/><c t="str"><f>A1</f><v>e</v></c><c t="b"><v>1</v></c></row>'
    )

    assert cells(written(tmp_path / "a.xlsx", row, texts)) == [
        (3, {0: "a<", 27: "b c", 28: "\x01 _x0041_"}),
        (4, {0: "d", 1: "12", 2: "3378", 3: "1.5", 5: "e", 6: "1"}),
    ]


def test_names_may_have_prefixes_and_targets_may_be_absolute(tmp_path: Path) -> None:
    parts = {
        "xl/workbook.xml": BOOK.replace("<sheet", "<x:sheet")
        .replace("</sheet", "</x:sheet")
        .replace("<workbook", '<workbook xmlns:x="x"'),
        "xl/_rels/workbook.xml.rels": NAMES.replace("worksheets/", "/xl/worksheets/"),
        "xl/worksheets/s.xml": '<x:worksheet xmlns:x="x"><x:row><x:c><x:v>1</x:v></x:c></x:row></x:worksheet>',
    }

    assert cells(written(tmp_path / "a.xlsx", "", **parts)) == [(1, {0: "1"})]
    assert [row.sheet for row in rows_of(tmp_path / "a.xlsx")] == ["A & B"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row><c t="s"><v>9</v></c></row>', "there is no text 9"),
        ('<row><c t="s"><v>x</v></c></row>', "'x' is not a number"),
        ('<row r="99999999"/>', "'99999999' is not a number"),
        ("<row>", "not well-formed XML"),
    ],
)
def test_damaged_sheets_are_one_error(tmp_path: Path, rows: str, message: str) -> None:
    path = written(tmp_path / "a.xlsx", rows)

    with pytest.raises(FormatError, match=message):
        cells(path)


def test_hostile_workbooks_are_refused(tmp_path: Path) -> None:
    dtd = '<!DOCTYPE sst [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst><si><t>&b;</t></si></sst>'
    with pytest.raises(FormatError, match="document type declaration"):
        cells(written(tmp_path / "a.xlsx", "", **{"xl/sharedStrings.xml": dtd}))
    with pytest.raises(FormatError, match="has 100,000,0"):
        cells(written(tmp_path / "b.xlsx", " " * 100_000_000))
    with pytest.raises(FormatError, match=r"the workbook has no xl/secret\.xml"):
        cells(
            written(
                tmp_path / "c.xlsx",
                "",
                **{"xl/_rels/workbook.xml.rels": NAMES.replace("worksheets/s", "secret")},
            )
        )


@given(st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_bytes_are_an_error_or_rows(changes: list[tuple[float, int]]) -> None:
    with TemporaryDirectory() as folder:
        rows = '<row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>d</t></is></c></row>'
        path = written(Path(folder) / "a.xlsx", rows, "<si><t>a</t></si>")
        content = bytearray(path.read_bytes())
        for share, value in changes:
            content[int(share * len(content))] = value
        path.write_bytes(content)

        with suppress(CluevalError):
            cells(path)


def test_files_that_are_no_workbooks_are_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("no zip", encoding="utf-8")
    with ZipFile(tmp_path / "b.xlsx", "w") as file:
        file.writestr("a.txt", "")

    for name, error, message in (
        ("a", FormatError, "damaged"),
        ("b", FormatError, "the workbook has no xl/workbook.xml"),
        ("c", FileError, "cannot be read"),
    ):
        with pytest.raises(error, match=message):
            cells(tmp_path / f"{name}.xlsx")
