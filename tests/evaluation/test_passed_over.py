"""What formats do not read is counted, in the result and in one line on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Document, Span, score
from clueval.cli import main
from clueval.formats import ltf
from clueval.formats.format import Options
from clueval.formats.opened import Opened


def _with_relations(opened: Opened, _: Options) -> Iterator[Document]:
    yield Document("d", {"label": [Span(0, 1, "A")]}, text="ab", unit="character")
    opened.passed_over["relations"] += 2


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setattr(ltf, "FORMAT", replace(ltf.FORMAT, read=_with_relations))
    text = "a B-A\nb O\n"
    return write(tmp_path / "a.xml", "<body>ab</body>"), write(tmp_path / "a.conll", text)


EXPECTED = {"gold": {"relations": 2}, "predicted": {"relations": 2}}


@pytest.mark.parametrize("options", [{}, {"pair_by": "id"}, {"by": "document"}], ids=str)
def test_passed_over_counts_are_in_the_result_by_side_and_kind(
    files: tuple[Path, Path], options: dict[str, Any]
) -> None:
    result = score(files[0], files[0], **options)

    assert result.passed_over == result.to_dict()["passed_over"] == EXPECTED
    assert list(result.inputs["gold"]) == ["format", "files", "layers"]


def test_passed_over_counts_of_results_are_added(files: tuple[Path, Path]) -> None:
    result = score(files[0], files[0])

    assert result.add(result).passed_over["gold"] == {"relations": 4}


def test_passed_over_is_empty_where_a_format_reads_everything(files: tuple[Path, Path]) -> None:
    assert score(files[1], files[1]).passed_over == {"gold": {}, "predicted": {}}


def test_passed_over_counts_are_one_line_on_stderr(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(files[0]), str(files[0]), "--jobs", "1"]) == 0

    assert capsys.readouterr().err == "passed over: gold 2 relations; predicted 2 relations\n"
