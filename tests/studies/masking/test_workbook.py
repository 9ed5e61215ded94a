"""The masking report as a spreadsheet, read by openpyxl."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import Document, FormatError, MaskingReport, MissingExtra, Span, UsageError

openpyxl = pytest.importorskip("openpyxl")

from openpyxl.cell.rich_text import CellRichText, TextBlock  # noqa: E402  # after the check that it is there
from openpyxl.cell.text import InlineFont  # noqa: E402  # the same

TEXT = "=1+1 Frau Anna Weiß und\nKarl\x01 sind Anna Weiß"


def report(text: str = TEXT, id: str = "=d", **settings: Any) -> MaskingReport:
    """`=1+1` and the first `Anna` can be read, and so can the second name, which has no annotation."""
    gold = [Span(0, 4, "=SUM(A1)", {"identifier_type": "high"}), Span(10, 19, "PER"), Span(24, 29, "PER")]
    masks = [Span(15, 19, "X"), Span(24, 29, "X")]
    return clueval.masking(
        [Document(id, {"name": gold}, text=text, unit="character")],
        [Document(id, {"name": masks}, text=text, unit="character")],
        keep=[],
        **settings,
    )


def workbook(found: MaskingReport, folder: Path, *, text: bool = True) -> Any:
    found.showing(text=text).write(folder / "m.xlsx")
    return openpyxl.load_workbook(folder / "m.xlsx", rich_text=True)


def rows(sheet: Any) -> list[dict[str, Any]]:
    """The rows of a sheet by the names of its columns."""
    header, *others = sheet.values
    return [
        {name: cell for name, cell in zip(header, row, strict=True) if cell is not None} for row in others
    ]


def test_sheets_have_figures_documents_leaks_strings_and_settings(tmp_path: Path) -> None:
    found = report()
    book = workbook(found, tmp_path)
    first, second = rows(book["Leaks"])
    (string,) = rows(book["Strings"])

    assert book.sheetnames == ["Summary", "Documents", "Leaks", "Strings", "Settings"]
    assert rows(book["Documents"]) == [
        {
            "document": "=d",
            "class": "high",
            "leaks": 2,
            "leaks_by_class": "high 1, _ 1",
            "words_exposed": 3,
            "entities_masked_elsewhere": 0,
        }
    ]
    settings = [row[0] for row in book["Settings"].values]
    assert "|".join(settings).endswith(str(found.signature))
    assert "unit:character" in settings
    assert (first["document"], first["class"], first["status"], first["label"], first["text"]) == (
        *("=d", "high", "missed", "=SUM(A1)", "=1+1"),
    )
    assert (first["start"], first["end_inclusive"], first["fingerprint"]) == (
        0,
        3,
        found.leaks[0].fingerprint,
    )
    assert (second["start"], second["end_inclusive"]) == (10, 18)
    assert (string["status"], string["layer"], string["start"], string["end_inclusive"]) == (
        "string",
        "*",
        35,
        43,
    )
    assert "name: classes, riskiest first, in %" in [row[0] for row in book["Summary"].values]


def test_a_leak_is_bold_in_its_context_and_what_is_masked_has_another_colour(tmp_path: Path) -> None:
    sheet = workbook(report(), tmp_path)["Leaks"]
    (column,) = (number for number, cell in enumerate(sheet[1], 1) if cell.value == "context")
    context = sheet.cell(3, column).value

    bold = [(str(part), part.font.color.rgb[2:]) for part in context if getattr(part, "font", None)]
    assert ("Anna", "B3261E") in bold
    assert ("Weiß", "5B636D") in bold
    assert "Frau" in str(context)


def test_choices_are_offered_for_each_leak(tmp_path: Path) -> None:
    book = workbook(report(), tmp_path)

    for sheet in book["Leaks"], book["Strings"]:
        (validation,) = sheet.data_validations.dataValidation
        assert validation.formula1 == '"leak,harmless,annotation,unclear"'
        assert sheet[str(validation.sqref).partition(":")[0][0] + "1"].value == "choice"
    assert not book["Documents"].data_validations.dataValidation


def test_no_text_becomes_a_formula(tmp_path: Path) -> None:
    book = workbook(report(), tmp_path)

    cells = [cell for sheet in book for row in sheet.rows for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert sum(str(cell.value).startswith("=") for cell in cells) >= 4


def test_without_text_there_are_positions_only(tmp_path: Path) -> None:
    book = workbook(report(), tmp_path, text=False)
    everything = "\n".join(str(cell) for sheet in book for row in sheet.values for cell in row)

    listed = [*rows(book["Leaks"]), *rows(book["Strings"])]
    assert [row["exposed_inclusive"] for row in listed] == ["1-1 3-3", "10-13", "35-43"]
    assert not any(word in everything for word in ("Anna", "Weiß", "1+1"))


def test_choices_in_the_workbook_are_decisions(tmp_path: Path) -> None:
    book = workbook(report(), tmp_path)
    header = [cell.value for cell in book["Leaks"][1]]
    for name, row, choice, comment in (
        *(("Leaks", 2, "harmless", "sure"), ("Leaks", 3, "leak", "")),
        ("Strings", 2, " harmless", ""),
    ):
        sheet = book[name]
        for name, value in (("choice", choice), ("comment", comment or None), ("reviewer", "anna")):
            sheet.cell(row, header.index(name) + 1).value = value
    book.save(tmp_path / "decided.xlsx")

    found = report(decisions=tmp_path / "decided.xlsx")

    assert [(leak.start, leak.decision and leak.decision.comment) for leak in found.set_apart] == [
        (0, "sure"),
        (35, ""),
    ]
    assert found.to_dict()["decisions"]["choices"] == {
        "leak": 1,
        "harmless": 2,
        "annotation": 0,
        "unclear": 0,
    }
    assert found.to_dict()["decisions"]["reviewers"] == ["anna"]
    again = workbook(found, tmp_path)
    assert [row.get("choice") for row in rows(again["Leaks"])] == ["leak", "harmless"]
    assert [row.get("choice") for row in rows(again["Strings"])] == ["harmless"]
    assert report(decisions=tmp_path / "m.xlsx").set_apart == found.set_apart


def test_wrong_choices_in_a_workbook_have_the_sheet_and_the_row(tmp_path: Path) -> None:
    book = workbook(report(), tmp_path)
    (column,) = (number for number, cell in enumerate(book["Leaks"][1], 1) if cell.value == "choice")
    book["Leaks"].cell(3, column).value = "no leak"
    book.save(tmp_path / "d.xlsx")

    with pytest.raises(FormatError, match="the choice 'no leak' is unknown") as error:
        report(decisions=tmp_path / "d.xlsx")

    assert (error.value.file, error.value.line) == (f"{tmp_path / 'd.xlsx'}, sheet Leaks", 3)


def test_other_workbooks_are_refused(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "d.xlsx")

    with pytest.raises(
        FormatError, match="no sheet has the columns document, layer, start, end_inclusive, fingerprint"
    ):
        report(decisions=tmp_path / "d.xlsx")


def saved_table(path: Path, *rows: list[object]) -> Path:
    """A table of decisions that a program for spreadsheets has saved as a workbook."""
    book = openpyxl.Workbook()
    names = "document layer start end_inclusive fingerprint choice comment reviewer time confirmed"
    for row in (names.split(), *rows):
        book.active.append(row)
    book.save(path)
    return path


def row_of(choice: str, reviewer: str, time: object, confirmed: object = None, id: str = "d") -> list[object]:
    leak = report(id=id).leaks[0]
    return [id, "*", leak.start, leak.end - 1, leak.fingerprint, choice, None, reviewer, time, confirmed]


def test_a_confirmed_row_ends_a_conflict(tmp_path: Path) -> None:
    rows = row_of("leak", "anna", "2026-01-01"), row_of("harmless", "bob", "2026-01-02")
    with pytest.raises(UsageError, match="reviewers have chosen differently at 1 place"):
        report(id="d", decisions=saved_table(tmp_path / "a.xlsx", *rows))

    for number, mark in enumerate(("yes", 1, True)):
        last = row_of("harmless", "carla", "2026-01-03", mark)
        found = report(id="d", decisions=saved_table(tmp_path / f"{number}.xlsx", *rows, last))
        assert [leak.start for leak in found.set_apart] == [0]

    last = row_of("harmless", "carla", "2026-01-03", False)
    with pytest.raises(UsageError, match="reviewers have chosen differently"):
        report(id="d", decisions=saved_table(tmp_path / "b.xlsx", *rows, last))


def test_a_row_about_no_place_is_passed_over(tmp_path: Path) -> None:
    notes = [
        [None, None, None, None, None, None, "done by Anna"],
        ["", "", "", "", "", "harmless", "all of them"],
    ]
    path = saved_table(tmp_path / "a.xlsx", row_of("harmless", "anna", None), *notes)

    assert [leak.start for leak in report(id="d", decisions=path).set_apart] == [0]


@pytest.mark.parametrize(
    ("column", "message"), [(0, None), (2, "start is '', not a position"), (3, "end_inclusive is ''")]
)
def test_a_row_that_lacks_a_position_is_an_error(tmp_path: Path, column: int, message: str | None) -> None:
    row = row_of("harmless", "anna", None)
    row[column] = None
    path = saved_table(tmp_path / "a.xlsx", row)

    if message is None:  # a document may have an empty id; there is none here
        assert report(id="d", decisions=path).set_apart == []
    else:
        with pytest.raises(FormatError, match=message):
            report(id="d", decisions=path)


def test_dates_and_numbers_of_cells_are_read_as_text(tmp_path: Path) -> None:
    row = row_of("harmless", "anna", datetime(2026, 1, 31, 12, 30), id="2026")
    row[0] = 2026.0
    found = report(id="2026", decisions=saved_table(tmp_path / "a.xlsx", row))

    assert [leak.decision and leak.decision.reviewer for leak in found.set_apart] == ["anna"]


def test_a_workbook_without_the_package_that_reads_it_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved_table(tmp_path / "a.xlsx", row_of("harmless", "anna", None))
    monkeypatch.setitem(sys.modules, "openpyxl", None)

    with pytest.raises(MissingExtra, match=r"pip install 'clueval\[report\]'"):
        report(id="d", decisions=path)


def test_formatted_text_and_the_line_ends_of_a_comment_are_read(tmp_path: Path) -> None:
    row = row_of("harmless", "anna", None)
    row[6] = CellRichText("not ", TextBlock(InlineFont(b=True), "a"), " name_x000D__x005F_x0041_")

    (leak,) = report(id="d", decisions=saved_table(tmp_path / "a.xlsx", row)).set_apart

    assert leak.decision is not None
    assert leak.decision.comment == "not a name\r_x0041_"
