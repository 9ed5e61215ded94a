"""The benchmarks generate what they claim, and measure real processes. No time is asserted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripts import benchmark

from clueval.files.errors import UsageError

pytestmark = pytest.mark.long

generate = benchmark("generate")
measure = benchmark("measure")
main_job = benchmark("main_job")
mistakes = benchmark("mistakes")

Written = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a corpus with these settings; the lines of its two files, without their ends."""

    def write(tokens: int = 3_000, **settings: Any) -> tuple[list[str], list[str]]:
        gold, predicted = generate.write(generate.Corpus(tokens, **settings), tmp_path)
        return lines_of(gold), lines_of(predicted)

    return write


def lines_of(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text.split("\n")[:-1]


def rows_of(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines if "\t" in line and not line.startswith("-DOCSTART-")]


def words_of(lines: list[str]) -> list[str]:
    return [row[0] for row in rows_of(lines)]


def tags_by_sentence(lines: list[str], column: int = 1) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    for line in lines:
        if "\t" in line:
            sentences[-1].append(line.split("\t")[column])
        elif sentences[-1]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


SHAPES = [
    {"format": "vrt"},
    {"format": "vrt", "layers": 3, "token_ids": True},
    {"format": "vrt", "sentences": False, "document_length": 0},
    {"format": "conll"},
    {"format": "conll", "sentences": False},
]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    contents = [
        [path.read_bytes() for path in generate.write(generate.Corpus(1_000, seed=seed, **settings), folder)]
        for seed, folder in [(7, tmp_path / "a"), (7, tmp_path / "b"), (8, tmp_path / "c")]
    ]

    assert contents[0] == contents[1]
    assert contents[0][0] != contents[2][0]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
def test_without_errors_both_sides_are_the_same_and_with_errors_they_are_not(
    settings: dict[str, Any], written: Written
) -> None:
    gold, predicted = written(errors=0.0, **settings)
    assert predicted == gold

    gold, predicted = written(errors=1.0, **settings)
    assert predicted != gold


@pytest.mark.parametrize("settings", SHAPES, ids=str)
@pytest.mark.parametrize("tokens", [1, 39, 3_000])
def test_both_sides_have_the_tokens_asked_for(
    tokens: int, settings: dict[str, Any], written: Written
) -> None:
    gold, predicted = written(tokens, errors=1.0, **settings)

    assert len(words_of(gold)) == tokens
    assert words_of(predicted) == words_of(gold)


def test_the_share_of_sentences_with_an_error_is_the_one_asked_for(written: Written) -> None:
    gold, predicted = written(40_000, errors=0.2)

    pairs = list(zip(tags_by_sentence(gold), tags_by_sentence(predicted), strict=True))
    wrong = sum(one != other for one, other in pairs)
    assert 0.17 < wrong / len(pairs) < 0.23


@pytest.mark.parametrize("kind", mistakes.KINDS)
def test_every_kind_of_error_occurs_on_its_own(kind: str, written: Written) -> None:
    gold, predicted = written(errors=1.0, kinds=(kind,))

    assert words_of(predicted) == words_of(gold)
    assert predicted != gold


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"tokens": 0}, "tokens must be at least 1, not 0"),
        ({"errors": 1.5}, "errors must be a share from 0 to 1, not 1.5"),
        ({"shortest": 9, "longest": 8}, "a sentence cannot have 9 to 8 tokens"),
        ({"density": 900_000}, "not 900000"),
        ({"kinds": ("typo",)}, "unknown kind of error 'typo'"),
        ({"format": "xml"}, "unknown format 'xml'"),
        ({"format": "conll", "token_ids": True}, "the format conll has no token ids"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_met_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError) as refusal:
        generate.Corpus(**({"tokens": 10} | settings))

    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_figures_of_a_process_that_does_nothing_are_sane() -> None:
    (nothing,) = measure.measure({"nothing": [sys.executable, "-c", "pass"]}, runs=2)

    assert nothing.name == "nothing"
    assert len(nothing.runs) == 2
    for spread in (nothing.wall, nothing.cpu, nothing.memory):
        assert 0 < spread.least <= spread.median <= spread.greatest
    assert 2**20 < nothing.memory.median < 2**30


def test_peak_memory_is_that_of_the_command_and_not_of_the_caller() -> None:
    held = b"x" * (150 << 20)
    little = measure.run_once("little", [sys.executable, "-c", "pass"])
    much = measure.run_once("much", [sys.executable, "-c", "held = b'x' * (100 << 20)"])

    assert little.memory < 100 << 20 < much.memory
    assert len(held) > little.memory


def test_a_command_that_fails_stops_the_measurement_and_says_why() -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such corpus')"]

    with pytest.raises(measure.CommandFailed) as failure:
        measure.measure({"broken": command}, runs=1)

    assert failure.value.code == 1
    assert str(failure.value).startswith("broken: exit code 1 from ")
    assert str(failure.value).endswith(": no such corpus")


def test_ratios_compare_medians_pair_by_pair() -> None:
    def measurement(name: str, *walls: float) -> Any:
        return measure.Measurement(name, (name,), tuple(measure.Run(wall, wall, 2**20) for wall in walls))

    slow, fast = measurement("slow", 1.0, 4.0, 100.0), measurement("fast", 2.0, 2.0, 2.0)

    assert measure.ratios([slow, fast]) == {("slow", "fast"): 2.0, ("fast", "slow"): 0.5}
    assert measure.table({"case": [slow, fast]}).splitlines() == [
        "| case | command | wall s | CPU s | peak MiB | / slow | / fast |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
        "| case | slow | 4.00 (1.00-100.00) | 4.00 (1.00-100.00) | 1.0 (1.0-1.0) |  | 2.00 |",
        "| case | fast | 2.00 (2.00-2.00) | 2.00 (2.00-2.00) | 1.0 (1.0-1.0) | 0.50 |  |",
    ]


def test_the_main_job_writes_a_corpus_once_and_uses_it_again(tmp_path: Path) -> None:
    usual, hard = (main_job.CASES[name].corpus(300, seed=1) for name in ("usual", "hard"))

    first = main_job.files(usual, tmp_path)
    when = first[0].stat().st_mtime_ns

    assert main_job.files(usual, tmp_path) == first
    assert first[0].stat().st_mtime_ns == when
    assert main_job.files(hard, tmp_path) != first


def test_the_main_job_measures_every_command_of_a_case(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(main_job.COMMANDS, "clueval", main_job.COMMANDS["line loop"])

    code = main_job.main(["--cases", "large", "--tokens", "200", "--runs", "1"])

    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| large")]
    assert code == 0
    assert [row.split(" | ")[:2] for row in rows] == [
        ["| large: 2,000 tokens, ten times the size", "clueval"],
        ["| large: 2,000 tokens, ten times the size", "line loop"],
    ]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
def test_the_seqeval_rival_reads_every_tag_of_every_sentence(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("seqeval")
    report = benchmark("rivals.seqeval_report")
    gold, _ = generate.write(generate.Corpus(2_000, **settings), tmp_path)

    lines = [line for line in lines_of(gold) if not line.startswith("-DOCSTART-")]
    assert report.read_tags(gold, 2) == tags_by_sentence(lines)
