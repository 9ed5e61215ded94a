"""The worst cases are as bad as they claim, and whatever becomes of one is told. No time is asserted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scripts import benchmark

from clueval import read, score
from clueval.files.errors import CluevalError
from clueval.metrics.gate import Gate

pytestmark = pytest.mark.long

measure = benchmark("measure")
worst = benchmark("worst")

ALL = [(name, form) for name, case in worst.CASES.items() for form in case.formats]
ACCEPTED = [(name, form) for name, form in ALL if not worst.CASES[name].refused and form != "bdoc"]
ANNOTATED = [name for name, form in ALL if form == "bdoc"]
REFUSED = [(name, form) for name, form in ALL if worst.CASES[name].refused]


def write(name: str, form: str, folder: Path, size: int = 90) -> Any:
    return worst.CASES[name].write(size, form, 1, folder)


def layers_of(name: str) -> dict[str, int]:
    return {f"layer{number}": number + 1 for number in range(1, worst.CASES[name].layers + 1)}


@pytest.mark.parametrize(("name", "form"), ACCEPTED)
def test_every_case_can_be_scored_and_has_the_size_asked_for(name: str, form: str, tmp_path: Path) -> None:
    gold, predicted = write(name, form, tmp_path)

    result = score(gold, predicted, layers=layers_of(name), input=form)

    assert result.tokens == (1 if worst.CASES[name].by_byte else 90)


@pytest.mark.parametrize("name", ANNOTATED)
def test_every_case_of_annotations_has_as_many_as_asked_for_on_both_sides(name: str, tmp_path: Path) -> None:
    gold, predicted = write(name, "bdoc", tmp_path, size=30)

    metric = Gate(score_feature="score", thresholds="rounded")
    result = score(gold, predicted, metrics=[metric], input="bdoc", gold_set="Key", predicted_set="Key")

    (report,) = result.metrics["gate"].values()
    assert (report["all"]["targets"], report["all"]["responses"]) == (30, 30)


@pytest.mark.parametrize(("name", "form"), REFUSED)
def test_cases_to_be_refused_are_refused_in_one_line(name: str, form: str, tmp_path: Path) -> None:
    gold, predicted = write(name, form, tmp_path)

    with pytest.raises(CluevalError) as refusal:
        score(gold, predicted, layers=layers_of(name), input=form)

    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("name", "form"), ALL)
def test_the_same_seed_gives_the_same_bytes(name: str, form: str, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()

    one, other = ([path.read_bytes() for path in write(name, form, folder)] for folder in folders)

    assert one == other


@pytest.mark.parametrize(
    ("name", "form"), [("long-token", "vrt"), ("long-line", "conll"), ("long-head", "vrt")]
)
def test_a_long_line_has_as_many_bytes_as_asked_for(name: str, form: str, tmp_path: Path) -> None:
    gold, _ = write(name, form, tmp_path, size=(1 << 20) + 5)

    longest = max(gold.read_bytes().split(b"\n"), key=len)
    assert longest.count(b"a" * ((1 << 20) + 5)) == 1
    assert len(longest) < (1 << 20) + 50


def spans_of(paths: Sequence[Path]) -> list[list[tuple[int, int]]]:
    """The spans of both sides, all documents together, each counted from the start of its document."""
    return [
        [(span.start, span.end) for document in read(path, layers={"x": 2}) for span in document.layers["x"]]
        for path in paths
    ]


def test_a_giant_lies_over_as_many_spans_as_there_are_tokens(tmp_path: Path) -> None:
    gold, predicted = spans_of(write("giant", "vrt", tmp_path))

    assert gold == [(0, 90)]
    assert predicted == [(position, position + 1) for position in range(90)]


@pytest.mark.parametrize("name", ["shifted-unbroken", "touching"])
def test_every_predicted_span_is_gold_s_a_token_later(name: str, tmp_path: Path) -> None:
    gold, predicted = spans_of(write(name, "vrt", tmp_path))

    inside = [(start + 1, end + 1) for start, end in gold if end < 90]
    assert predicted[: len(inside)] == inside
    assert len(predicted) - len(inside) <= 1


@pytest.mark.parametrize("name", ["singles", "singles-unbroken"])
def test_singles_are_spans_of_one_token_and_a_fifth_is_wrong(name: str, tmp_path: Path) -> None:
    paths = write(name, "vrt", tmp_path, size=3_000)

    counts = score(*paths, layers={"x": 2}).metrics["levels"]["x"]["labelled"]["x"]["1"]["micro"]
    assert counts["gold"] == 3_000
    assert 0.77 < counts["tp_gold"] / 3_000 < 0.83


def rows(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]


@pytest.mark.long
def test_table_has_a_row_for_every_case_and_format(capsys: pytest.CaptureFixture[str]) -> None:
    code = worst.main(["--tokens", "60", "--runs", "1", "--cases", "documents", "long-line"])

    printed = capsys.readouterr().out
    assert code == 0
    assert [row[:3] for row in rows(printed)] == [
        ["documents: documents of three tokens", "vrt", "180 tokens"],
        ["documents: documents of three tokens", "conll", "180 tokens"],
        ["long-line: a long line without a tag", "vrt", "6,024 bytes"],
        ["long-line: a long line without a tag", "conll", "6,002 bytes"],
    ]
    assert "refused, with" in rows(printed)[-1][-1]


def test_a_command_that_never_ends_is_stopped_and_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(paths: Sequence[Path], layers: int, form: str) -> list[str]:
        return [sys.executable, "-c", f"import time; time.sleep({60 if 'giant' in str(paths[0]) else 0})"]

    monkeypatch.setattr(worst, "command", command)

    code = worst.main(["--tokens", "60", "--runs", "1", "--cases", "giant", "--limit", "0.5"])

    printed = capsys.readouterr().out
    assert code == 0
    assert rows(printed)[0][-1] == "**stopped at the time limit**"
    assert printed.endswith("Above 5 times the time of the ordinary corpus: giant (vrt).\n")


@pytest.mark.parametrize(("name", "code"), [("giant", 2), ("long-line", 0)])
def test_a_case_that_ends_otherwise_than_it_should_ends_the_measurement(
    name: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(paths: Sequence[Path], layers: int, form: str) -> list[str]:
        end = code if name in str(paths[0]) else 0
        return [sys.executable, "-c", f"import sys; print('not today', file=sys.stderr); sys.exit({end})"]

    monkeypatch.setattr(worst, "command", command)

    ended = worst.main(["--tokens", "60", "--runs", "1", "--cases", name])

    printed = capsys.readouterr()
    assert ended == 2
    assert printed.out == ""
    assert printed.err.endswith(": not today\n")


def outcome(name: str, wall: float, units: int = 100) -> Any:
    run = measure.Run(wall, wall, 2**20)
    return worst.Outcome(name, "vrt", units, (run,), 0.01, 1_000, 20)


def test_the_ratio_of_many_layers_is_judged_by_the_tag() -> None:
    many = outcome("layers", wall=400.0)

    assert many.ratio == pytest.approx(400)
    assert not many.too_slow
    assert many.remark == "per tag 2.00; larger output: a report per layer"


def test_the_judgement_names_the_cases_above_the_bound_and_no_others() -> None:
    within, above = outcome("giant", wall=1.0), outcome("touching", wall=9.0)

    assert worst.judgement([within]).startswith("No case takes more than 5 times")
    assert worst.judgement([within, above]) == (
        "Above 5 times the time of the ordinary corpus: touching (vrt)."
    )
