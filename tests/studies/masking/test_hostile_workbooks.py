"""Workbooks of decisions that would fill memory, read other files, or never end; and files that are none."""

from __future__ import annotations

import io
import re
import struct
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

openpyxl = pytest.importorskip("openpyxl")

import clueval  # noqa: E402  # after the check that the package is there
from clueval import CluevalError  # noqa: E402  # the same
from clueval.cli import main  # noqa: E402  # the same

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
HEAD = ("document", "start", "end_inclusive", "fingerprint", "choice", "comment", "layer")
CELL = '<c t="inlineStr"><is><t>{}</t></is></c>'
HEADER_ROW = f"<row>{''.join(CELL.format(name) for name in HEAD)}</row>"
MB = 1 << 20


SHARED = (
    '<Override PartName="/xl/sharedStrings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)


def workbook(rows: str = "", **changed: str | bytes) -> bytes:
    """A workbook of decisions with a header and more rows.

    `changed` has parts by their names without folder and ending; an empty one is left out.
    """
    made, packed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(made)
    sheet = f"<worksheet {MAIN}><sheetData>{HEADER_ROW}{rows}</sheetData></worksheet>"
    parts: dict[str, str | bytes] = {"sheet1": sheet, "sharedStrings": f"<sst {MAIN}/>", **changed}
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, True, 1) as new:
        for name in dict.fromkeys([*old.namelist(), "xl/sharedStrings.xml"]):
            short = name.rpartition("/")[2].removesuffix(".xml").removesuffix(".rels").strip("[]._")
            part = parts[short] if short in parts else old.read(name)
            if short == "Content_Types" and part and "sharedStrings" not in str(part):
                part = old.read(name).decode().replace("</Types>", SHARED)
            if part:
                new.writestr(name, part)
    return packed.getvalue()


def sheet(content: str, before: str = "", after: str = "") -> bytes:
    return workbook(sheet1=f"{before}<worksheet {MAIN}>{content}</worksheet>{after}")


def lied(data: bytes, name: bytes) -> bytes:
    """A workbook whose directory says that a part has ten bytes."""
    place = data.index(name, data.index(b"PK\1\2")) - 46
    return data[: place + 24] + struct.pack("<I", 10) + data[place + 28 :]


STYLES = f"<styleSheet {MAIN}><cellXfs>{{}}</cellXfs></styleSheet>"

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    # more than the limits
    "a bomb of blanks": (lambda: sheet(" " * (90 * MB)), "more than 67,108,864 unpacked bytes"),
    "a sheet of 65 MB": (
        lambda: sheet("".join(f"<!-- {number:x} {'x' * 1000} -->" for number in range(65 * 1024))),
        "more than 67,108,864 unpacked bytes",
    ),
    "cells outside rows": (
        lambda: sheet("<c/>" * 200_000),
        "more than 100,000 elements and attributes outside rows",
    ),
    "one row of cells": (
        lambda: sheet(f"<sheetData><row>{'<c><v>1</v></c>' * 110_000}</row></sheetData>"),
        "a row has more than 200,000 elements and attributes",
    ),
    "rows of cells": (
        lambda: sheet(f"<sheetData>{'<row><c><v>1</v></c></row>' * 900_000}</sheetData>"),
        "more than 2,500,000 elements and attributes",
    ),
    "styles": (
        lambda: workbook(styles=STYLES.format("<xf/>" * 200_000)),
        "more than 100,000 elements and attributes",
    ),
    "attributes": (
        lambda: workbook(styles=STYLES.format('<xf a="" b="" c="" d=""/>' * 30_000)),
        "more than 100,000 elements and attributes",
    ),
    "texts": (
        lambda: workbook(sharedStrings=f"<sst {MAIN}>{'<si><t>a</t></si>' * 1_300_000}</sst>"),
        "more than 2,500,000 elements and attributes",
    ),
    "a row that is too far below": (
        lambda: workbook('<row r="99999999999"><c><v>1</v></c></row>'),
        "sheet Sheet: has more than 1,048,576 rows",
    ),
    "cells far to the right": (
        lambda: workbook('<row><c r="XFD1"><v>1</v></c></row>' * 300),
        "more than 4,000,000 rows and cells",
    ),
    "one sheet under many names": (
        lambda: workbook(
            workbook=f"<workbook {MAIN}><sheets>{'<sheet name=_a_/>' * 1000}</sheets></workbook>".replace(
                "_", '"'
            )
        ),
        "has more than [0-9]+ sheets, the number of its parts",
    ),
    "deep": (lambda: sheet("<a>" * 1000 + "</a>" * 1000), "nested more than 100 deep"),
    # entities
    "a bomb of entities": (
        lambda: sheet("&b;", f'<!DOCTYPE x [<!ENTITY a "{"a" * 1000}"><!ENTITY b "{"&a;" * 1000}">]>'),
        "a document type declaration is not read",
    ),
    "a file as an entity": (
        lambda: sheet("&a;", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
        "a document type declaration is not read",
    ),
    "entities in another encoding": (
        lambda: workbook(
            sheet1='<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "a">]><x>&a;</x>'.encode(
                "utf-16"
            )
        ),
        "a document type declaration is not read",
    ),
    # what is damaged or lacks a part
    "no workbook part": (lambda: workbook(workbook=b""), "the archive is no workbook"),
    "no types": (lambda: workbook(Content_Types=b""), "is no workbook that can be read"),
    "no sheet": (lambda: workbook(sheet1=b""), "no sheet has the columns"),
    "another root": (lambda: workbook(sheet1="<x/>"), "no sheet has the columns"),
    "not XML": (lambda: workbook(sheet1="<worksheet"), "not well-formed XML"),
    "an unknown text": (
        lambda: workbook('<row><c t="s"><v>9</v></c></row>'),
        "is no workbook that can be read",
    ),
    "a text that is no number": (
        lambda: workbook('<row><c t="s"><v>x</v></c></row>'),
        "is no workbook that can be",
    ),
    "a row that is no number": (
        lambda: workbook('<row r="x"><c><v>1</v></c></row>'),
        "is no workbook that can be",
    ),
    "a number of 5,000 digits": (
        lambda: workbook(f"<row><c><v>{'9' * 5000}</v></c></row>"),
        "is no workbook that can be",
    ),
    "a column that is none": (
        lambda: workbook('<row><c r="ÄÖ1"><v>1</v></c></row>'),
        "is no workbook that can be read",
    ),
    "a size that is a lie": (
        lambda: lied(workbook(), b"xl/worksheets/sheet1.xml"),
        "is no workbook that can be read",
    ),
    "an archive of nothing": (lambda: b"PK\5\6" + bytes(18), "the archive is no workbook"),
    "an empty file": (lambda: b"", "is no workbook that can be read"),
    "another format": (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "is no workbook that can be read"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.conll").write_text("Ada\tB-PER\n", encoding="utf-8")
    return tmp_path


COMMAND = ["masking", "g.conll", "g.conll", "--decisions", "a.xlsx"]


LONG = {"a bomb of blanks", "a sheet of 65 MB", "rows of cells", "styles", "texts"}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.long) if what in LONG else what for what in HOSTILE]
)
def test_a_hostile_workbook_is_one_line(place: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    make, message = HOSTILE[what]
    (place / "a.xlsx").write_bytes(make())

    assert main(COMMAND) == 2

    error = capsys.readouterr().err
    assert re.search(message, error), error
    assert error.count("\n") == 1


VALID: dict[str, Callable[[], bytes]] = {
    "a dimension that is a lie": lambda: sheet(
        f'<dimension ref="A1:XFD1048576"/><sheetData>{HEADER_ROW}</sheetData>'
    ),
    "a dimension that is too small": lambda: sheet(
        f'<dimension ref="A1"/><sheetData>{HEADER_ROW}</sheetData>'
    ),
    "a row far below": lambda: workbook('<row r="1048576"><c><v>1</v></c></row>'),
    "a cell far to the right": lambda: workbook('<row><c r="XFD2"><v>1</v></c></row>'),
    "one long text in many cells": lambda: workbook(
        '<row><c r="G2"><v>1</v></c>' + '<c t="s"><v>0</v></c>' * 16_000 + "</row>",
        sharedStrings=f"<sst {MAIN}><si><t>{'_x000D_' * 100_000}</t></si></sst>",
    ),
    "merged cells, hyperlinks and choices over everything": lambda: sheet(
        f'<sheetData>{HEADER_ROW}</sheetData><mergeCells><mergeCell ref="A2:XFD1048576"/></mergeCells>'
        '<dataValidations count="1"><dataValidation type="list" sqref="A1:XFD1048576"><formula1>"a"</formula1>'
        '</dataValidation></dataValidations><hyperlinks><hyperlink ref="A1:XFD1048576" location="x"/></hyperlinks>'
    ),
    "no styles": lambda: workbook(styles=b""),
}


@pytest.mark.parametrize("what", VALID)
def test_a_workbook_that_says_wrong_things_of_itself_is_read(
    place: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "a.xlsx").write_bytes(VALID[what]())

    assert main(COMMAND) == 0, capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("what", [*HOSTILE, *VALID])
def test_no_workbook_takes_much_memory(place: Path, what: str) -> None:
    resource = pytest.importorskip("resource")
    make = HOSTILE[what][0] if what in HOSTILE else VALID[what]
    (place / "a.xlsx").write_bytes(make())
    code = f"""
    import resource, sys
    from clueval.cli import main
    code = main({COMMAND})
    print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    """

    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2048 * MB, 2048 * MB)),
    )

    code, megabytes = ended.stdout.split()[-2:]
    assert code == ("2" if what in HOSTILE else "0")
    assert int(megabytes) < 600, megabytes


@given(st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=8))
@settings(max_examples=30)
def test_damaged_bytes_are_decisions_or_one_error(changes: list[tuple[float, int]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.xlsx"
        content = bytearray(
            workbook('<row><c t="s"><v>0</v></c></row>', sharedStrings=f"<sst {MAIN}><si/></sst>")
        )
        for share, value in changes:
            content[int(share * len(content))] = value
        path.write_bytes(content)

        with suppress(CluevalError):
            clueval.masking([["B-X"]], [["B-X"]], decisions=path)
