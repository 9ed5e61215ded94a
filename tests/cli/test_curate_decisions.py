"""What ``clueval curate --decisions`` says of the decisions that it has used, for each kind of file."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from clueval.cli import main

ANNA = "# newdoc id = d1\nAda\tB-PER\nLovelace\tI-PER\nin\tO\nParis\tB-LOC\n\n# newdoc id = d2\nBob\tB-PER\n"
BOB = "# newdoc id = d1\nAda\tB-PER\nLovelace\tO\nin\tO\nParis\tB-LOC\n\n# newdoc id = d2\nBob\tO\n"


def fingerprint(*spans: str) -> str:
    """Return the fingerprint of a place: the beginning of the hash of its spans, each as side, start, end, label."""
    written = sorted(span.replace(" ", "\t") for span in spans)
    return sha256("\n".join(written).encode()).hexdigest()[:12]


SPANS = {
    "d1": fingerprint("anna 0 2 PER", "bob 0 1 PER"),
    "d2": fingerprint("anna 4 5 PER"),
}

CHOICES = [
    {"document": "d1", "start": "0", "end_inclusive": "1", "fingerprint": SPANS["d1"], "choice": "anna"},
    {"document": "d2", "start": "4", "end_inclusive": "4", "fingerprint": SPANS["d2"], "choice": "anna"},
]
"""Decisions about the two places at which the annotators differ, as pages export them."""

KEPT = "d1\t0\t1\tPER\nd1\t3\t3\tLOC\nd2\t4\t4\tPER\n"

Rows = list[dict[str, str]]


def table(rows: Rows) -> str:
    return "\n".join("\t".join(cells) for cells in [list(rows[0]), *(list(row.values()) for row in rows)])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "anna.conll").write_text(ANNA)
    (tmp_path / "bob.conll").write_text(BOB)
    return tmp_path


def curated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """Return the rows that are kept, and what is said of the decisions."""
    assert (
        main(["curate", "anna=anna.conll", "bob=bob.conll", "--to", "spans", "--decisions", *arguments]) == 0
    )
    found = capsys.readouterr()
    _, begin, said = next(
        line.rpartition("decisions: ") for line in found.err.splitlines() if "decisions: " in line
    )
    return found.out.partition("\n")[2], f"{begin}{said}"


@pytest.mark.parametrize("kind", ["tsv", "json", "folder", "two files"])
def test_each_kind_of_file_is_used_and_counted(
    files: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    rows = CHOICES
    given = ["d.tsv"]
    if kind == "tsv":
        Path("d.tsv").write_text(table(rows))
    elif kind == "json":
        given = ["d.json"]
        Path("d.json").write_text(json.dumps(rows))
    elif kind == "folder":
        given = ["folder"]
        Path("folder").mkdir()
        Path("folder/a.tsv").write_text(table(rows[:1]))
        Path("folder/b.json").write_text(json.dumps(rows[1:]))
    else:
        given = ["a.tsv", "--decisions", "b.tsv"]
        Path("a.tsv").write_text(table(rows[:1]))
        Path("b.tsv").write_text(table(rows[1:]))

    kept, said = curated(capsys, *given)

    assert kept == KEPT
    assert said == "decisions: 2 used, 0 stale, 0 lost, 0 in conflict"


def test_a_workbook_is_used_and_counted(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = Workbook()
    sheet: Any = book.active
    for cells in [["layer", *CHOICES[0]], *(["*", *row.values()] for row in CHOICES)]:
        sheet.append(cells)
    book.save("d.xlsx")

    assert curated(capsys, "d.xlsx") == (KEPT, "decisions: 2 used, 0 stale, 0 lost, 0 in conflict")


def test_what_is_not_used_is_not_counted_as_used(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = CHOICES[0] | {"fingerprint": "old"}
    lost = CHOICES[1] | {"document": "d3"}
    Path("d.tsv").write_text(table([stale, lost, CHOICES[1]]))

    kept, said = curated(capsys, "d.tsv")

    assert kept == "d1\t3\t3\tLOC\nd2\t4\t4\tPER\n"
    assert said == "decisions: 1 used, 1 stale, 1 lost, 0 in conflict; lost: d3 4-4"
