from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.cli import main
from clueval.evaluation.run import score
from clueval.files.errors import FileError
from clueval.findings.choice import Choice
from clueval.findings.kept import KeptRows
from clueval.findings.stream import FindingsObserver, errors
from clueval.formats.columns.passages import Passage
from clueval.spans.filters import parse_where

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = SAMPLE / "gold.vrt", SAMPLE / "predicted.vrt"

Capture = pytest.CaptureFixture[str]


@given(st.lists(st.integers(0, 150), max_size=5), st.none() | st.integers(0, 450))
def test_kept_rows_are_the_first_of_all_that_were_taken(sizes: list[int], limit: int | None) -> None:
    given_rows = [list(range(size)) for size in sizes]

    with KeptRows[int](limit) as rows:
        for each in given_rows:
            rows.take(each)
        found = list(rows), list(rows), len(rows)

    first = [row for each in given_rows for row in each][:limit]
    assert found == (first, first, len(first))


def test_kept_rows_make_no_row_above_the_limit() -> None:
    made = []

    with KeptRows[int](2) as rows:
        rows.take(made.append(number) or number for number in range(10))

    assert made == [0, 1]


def test_kept_rows_that_find_no_place_are_one_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))

    with (
        pytest.raises(FileError, match="cannot be written: its folder does not exist"),
        KeptRows[int]() as rows,
    ):
        rows.take(range(1000))


@pytest.mark.few(5)
@pytest.mark.parametrize("where", [[], ["entity=person"], ["domain=Mietrecht"]])
@pytest.mark.parametrize("choice", [Choice(), Choice(1, "entity"), Choice(merge=True), Choice(window=3)])
def test_an_observer_finds_what_the_stream_of_errors_has(choice: Choice, where: list[str]) -> None:
    choice = replace(choice, where=parse_where(where))
    reading: dict[str, Any] = {"layers": {"entity": 2}, "token_id": 4}

    with KeptRows[Any]() as rows:
        result = score(
            GOLD,
            PREDICTED,
            merge=choice.merge,
            where=where,
            observers=[FindingsObserver(choice, rows.take)],
            **reading,
        )
        found = list(rows)

    assert found == list(errors(GOLD, PREDICTED, choice, **reading))
    assert result.to_dict() == score(GOLD, PREDICTED, merge=choice.merge, where=where, **reading).to_dict()


def test_an_observer_of_passages_sees_documents_beside_an_observer_that_sees_only_these() -> None:
    class Seen:
        name = "seen"

        def __init__(self) -> None:
            self.documents: list[str] = []

        def see(self, group: Any) -> None:
            self.documents.append(group.gold.id)

        def section(self) -> dict[str, Any]:
            return {}

    seen = Seen()
    with KeptRows[Any]() as rows:
        score(GOLD, PREDICTED, layers={"entity": 2}, observers=[FindingsObserver(Choice(), rows.take), seen])
        found = list(rows)

    assert len(seen.documents) == 5
    assert found == list(errors(GOLD, PREDICTED, Choice(), layers={"entity": 2}))


@pytest.mark.parametrize("metric", ["levels", "fair", "noisy"])
def test_errors_read_each_file_once(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr("clueval.cli.errors.progress", lambda _: nullcontext(read.append))

    assert main(["errors", str(GOLD), str(PREDICTED), "--layer", "entity=2", "--metric", metric]) == 0

    assert sum(read) == GOLD.stat().st_size + PREDICTED.stat().st_size


@pytest.mark.parametrize("form", [None, "tsv", "xlsx", "html"])
def test_errors_print_and_write_nothing_if_a_later_line_is_wrong(
    form: str | None, tmp_path: Path, capsys: Capture
) -> None:
    wrong = tmp_path / "wrong.vrt"
    lines = PREDICTED.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if "\t" in line)
    lines[last] = "other" + lines[last]
    wrong.write_text("".join(lines), encoding="utf-8")
    output = [] if form is None else [f"--{form}", str(tmp_path / f"errors.{form}")]

    assert main(["errors", str(GOLD), str(wrong), "--layer", "entity=2", *output]) == 2

    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.vrt"]


@given(st.lists(st.integers(1, 4), max_size=6), st.data())
def test_lines_of_a_passage_are_those_that_it_finds_one_by_one(sizes: list[int], data: st.DataObject) -> None:
    places = [(sentence, row) for sentence, size in enumerate(sizes) for row in range(size)]
    drawn = data.draw(st.sets(st.sampled_from(places))) if places else set()
    anchored = sorted(drawn | {(sentence, 0) for sentence in range(len(sizes))})
    anchors = [(*place, 20 * number) for number, place in enumerate(anchored, 1)]
    passage = Passage("f", "d", {}, None, 0, True, sentences=["a\n" * size for size in sizes])
    passage = replace(passage, anchors=anchors)

    assert list(passage.lines()) == [passage.line_of(*place) for place in places]
