"""Discontinuous spans in tables of errors: their text, their fragments and their marks in the context."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, conventions, error_table, errors
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.findings.rows import RowColumns, marked

TEXT = "New or Old York"
GAPS = Span.of_fragments([(0, 3), (11, 15)], "A")


def document(*spans: Span) -> Document:
    return Document("d", {"label": spans}, text=TEXT, unit="character")


@pytest.mark.parametrize(
    ("other", "kind", "context"),
    [
        (GAPS, "exact", "🟩New🟩 or Old 🟩York🟩"),
        (Span(0, 15, "A"), "superset", "🟩New🟩🟧 or Old 🟧🟩York🟩"),
        (Span(11, 15, "A"), "partial", "🟥New🟥 or Old 🟩York🟩"),
        (Span(7, 10, "A"), "missed", "🟥New🟥 or Old 🟥York🟥"),
    ],
)
def test_error_table_shows_fragments(other: Span, kind: str, context: str) -> None:
    (row,) = error_table([GAPS], document(GAPS), document(other))

    assert (row.kind, row.text, row.fragments) == (kind, "New … York", ((0, 2), (11, 14)))
    assert marked(row.context) == context
    assert RowColumns.of(row).cells(row)[-1].startswith("fragments=0-2;11-14")


def test_errors_of_fair_show_fragments_in_every_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, line in (("gold", "T1\tA 0 3;11 15\tNew York\n"), ("predicted", "T1\tA 11 15\tYork\n")):
        write(tmp_path / f"{name}.txt", TEXT)
        write(tmp_path / f"{name}.ann", line)
    sides = [str(tmp_path / f"{name}.ann") for name in ("gold", "predicted")]

    assert main(["errors", *sides, "--metric", "fair"]) == 0
    assert "[-New-] or Old [=York=]" in capsys.readouterr().out
    assert main(["errors", *sides, "--fragments", "split", "--html", str(tmp_path / "e.html")]) == 0
    assert main(["errors", *sides, "--level", "1"]) == 2
    assert main(["errors", *sides]) == 0
    assert "[-New-] or Old [=York=]" in capsys.readouterr().out


def test_errors_of_levels_refuse_gaps_unless_they_are_split_or_filled() -> None:
    sides = [document(GAPS)], [document(Span(0, 3, "A"))]

    with pytest.raises(
        UsageError, match=r"has gaps, and metric 'levels' .*fragments='split'.*fragments='hull'"
    ):
        list(errors(*sides, level=2))
    assert [row.text for row in errors(*sides, level=2, fragments="split")] == ["York"]
    assert [row.text for row in errors(*sides, level=2, fragments="hull")] == [TEXT]


def test_conventions_leave_out_those_that_cannot_count_gaps() -> None:
    rows = conventions([document(GAPS)], [document(GAPS)]).to_dict()["conventions"]["label"]

    assert rows["levels_1_labelled"]["f1"] is None
    assert rows["levels_1_labelled"]["note"].endswith("or have gaps")
    assert rows["muc_strict"]["f1"] == rows["partial"]["f1"] == 1.0
