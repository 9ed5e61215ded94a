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


SAMPLES = Path(__file__).parents[1] / "samples" / "formats"


COMMANDS = [
    ["convert", "--to", "spans", "--lossy"],
    ["convert", "--to", "doccano", "--lossy"],
    ["check"],
    ["merge"],
    ["curate", "--to", "doccano"],
    ["curate", "--to", "doccano", "--union"],
]
OVERLAPPING = ["brat/one.ann", "webanno/gold.tsv"]


@pytest.mark.parametrize(
    ("sample", "command"),
    [
        pytest.param(sample, command, id=f"{sample} {' '.join(command)}")
        for sample in (*OVERLAPPING, "conllu/gold.conllu", "numbers")
        for command in COMMANDS
        if command != ["merge"] or sample not in OVERLAPPING  # merge refuses overlapping spans of a layer
    ],
)
def test_passed_over_is_one_line_of_every_command_that_writes_or_checks_spans(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sample: str, command: list[str]
) -> None:
    if sample == "numbers":
        text = "1\tAnn\tB-PER\n2-3\tim\t_\n2\tin\tO\n"
        files = [write(tmp_path / name, text) for name in ("a.iob2", "b.iob2")]
    else:
        files = []
        for name in ("a", "b"):
            folder = tmp_path / name
            folder.mkdir()
            for own in (SAMPLES / sample).parent.glob(Path(sample).stem + ".*"):
                (folder / own.name).write_bytes(own.read_bytes())
            files.append(folder / Path(sample).name)
    numbers = score(files[0], files[0], metrics="gate").passed_over
    name, *options = command
    both = name == "curate"
    counted = ", ".join(f"{n * (1 + both)} {kind}" for kind, n in sorted(numbers["gold"].items()))

    main([name, *map(str, files[: 1 + both]), *options])

    lines = capsys.readouterr().err.split("\n")
    assert [line for line in lines if line.startswith("passed over")] == [f"passed over: {counted}"], lines


def test_passed_over_is_no_line_where_a_format_reads_everything(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["convert", "--to", "spans"], ["check"], ["merge"]):
        main([command[0], str(files[1]), *command[1:]])
    assert "passed over" not in capsys.readouterr().err
