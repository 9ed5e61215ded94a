"""Inputs: what a result says was read of each side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Accumulator, compare, read, score
from clueval.cli import main
from clueval.files.errors import UsageError

# column 2 is BIO with one ill-formed tag (d), column 3 BIOES; spans: a-b, d; a, c-d
GOLD = "a\tB-X\tS-Y\nb\tI-X\tO\n\nc\tO\tB-Y\nd\tI-X\tE-Y\n\n"
# spans: a-b; none
PREDICTED = "a\tB-X\tO\nb\tI-X\tO\n\nc\tO\tO\nd\tO\tO\n\n"
LAYERS = {"one": 2, "two": -1}


def layer(source: Any, scheme: str | None, spans: int) -> dict[str, Any]:
    return {"source": source, "scheme": scheme, "spans": spans}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "gold.conll", GOLD), write(tmp_path / "predicted.conll", PREDICTED)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"merge": True},
        {"by": "document"},
        {"unit": "character"},
        {"where": ["one=X"]},
        {"where": ["document=1"]},
        {"pair_by": "id"},
    ],
    ids=str,
)
def test_inputs_have_the_columns_schemes_and_spans_of_two_layers(
    files: tuple[Path, Path], options: dict[str, Any]
) -> None:
    result = score(*files, metrics="exact", layers=LAYERS, **options)

    assert result.inputs == {
        "gold": {
            "format": "conll",
            "files": 1,
            "layers": {"one": layer(2, "BIO", 2), "two": layer(3, "BIOES", 2)},
        },
        "predicted": {
            "format": "conll",
            "files": 1,
            "layers": {"one": layer(2, "BIO", 1), "two": layer(3, None, 0)},
        },
    }
    assert result.signature.choices["scheme"] == "BIO+BIOES:BIO"


@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"merge": True}], ids=str)
def test_inputs_count_the_spans_that_were_decoded(files: tuple[Path, Path], options: dict[str, Any]) -> None:
    result = score(*files, metrics="exact", layers={"one": 2}, invalid="discard", **options)

    assert result.inputs["gold"]["layers"] == {"one": layer(2, "BIO", 1)}  # d begins no span of BIO


def test_inputs_of_a_folder_name_the_schemes_and_columns_of_all_files(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "a.conll", "a B-X\nb I-X\n")
        write(tmp_path / side / "b.conll", "a NE S-X\nb NE O\n")
    sides = tmp_path / "gold", tmp_path / "predicted"
    expected = {"format": "conll", "files": 2, "layers": {"label": layer("2+3", "BIO+BIOES", 2)}}

    for options in ({}, {"by": "document"}, {"jobs": 2, "executor": ThreadPoolExecutor(1)}):
        result = score(*sides, metrics="exact", **options)
        assert result.inputs == {"gold": expected, "predicted": expected}
        assert result.signature.choices["scheme"] == "BIO+BIOES"


def test_inputs_that_are_documents_have_no_files_columns_and_schemes(files: tuple[Path, Path]) -> None:
    expected = {
        "format": "documents",
        "files": 0,
        "layers": {"one": layer(None, None, 2), "two": layer(None, None, 2)},
    }
    gold = list(read(files[0], LAYERS))
    result = score(gold, gold)
    scores = Accumulator()
    scores.update(gold, gold)

    assert result.inputs["gold"] == scores.compute().inputs["gold"] == expected
    assert result.signature.choices["scheme"] == "documents"


def test_inputs_of_files_without_tags_have_no_scheme(tmp_path: Path) -> None:
    path = write(tmp_path / "spans.csv", "PER\t1\t2\t1, 2\n")
    result = score(path, path, metrics="fair")

    assert result.inputs["gold"] == {
        "format": "fair-spans",
        "files": 1,
        "layers": {"label": layer(None, None, 1)},
    }
    assert result.signature.choices["scheme"] == "none"


def test_inputs_of_results_are_added(files: tuple[Path, Path]) -> None:
    one, other = (score(file, file, metrics="exact", layers={"x": 2}) for file in files)

    both = one.add(other)

    assert both.inputs["gold"] == {"format": "conll", "files": 2, "layers": {"x": layer(2, "BIO", 3)}}
    assert both.signature == one.signature


def test_inputs_with_different_predicted_schemes_can_be_compared_with_different_gold_schemes_not(
    tmp_path: Path,
) -> None:
    tags = {"bio": "a B-X\nb I-X\n\nc O\n", "bioes": "a B-X\nb E-X\n\nc O\n"}
    paths = {name: write(tmp_path / name, text) for name, text in tags.items()}
    same, predicted, gold = (
        score(paths[own], paths[other], metrics="exact", input="conll", resample_by="sentence")
        for own, other in (("bio", "bio"), ("bio", "bioes"), ("bioes", "bio"))
    )

    assert compare(same, predicted, scores=["exact.label.token_accuracy"]).units == 2
    with pytest.raises(UsageError, match="scheme is BIO and BIOES:BIO"):
        compare(same, gold)


# What formats do not read is counted, in the result and in one line on stderr


@pytest.fixture
def unread(tmp_path: Path) -> tuple[Path, Path]:
    write(tmp_path / "a.txt", "ab")
    relations = "".join(f"R{number}\tX Arg1:T1 Arg2:T1\n" for number in (1, 2))
    return (
        write(tmp_path / "a.ann", f"T1\tA 0 1\ta\n{relations}"),
        write(tmp_path / "a.conll", "a B-A\nb O\n"),
    )


UNREAD = {"gold": {"relations": 2}, "predicted": {"relations": 2}}


@pytest.mark.parametrize("options", [{}, {"pair_by": "id"}, {"by": "document"}], ids=str)
def test_passed_over_counts_are_in_the_result_by_side_and_kind(
    unread: tuple[Path, Path], options: dict[str, Any]
) -> None:
    result = score(unread[0], unread[0], **options)

    assert result.passed_over == result.to_dict()["passed_over"] == UNREAD
    assert list(result.inputs["gold"]) == ["format", "files", "layers"]


def test_passed_over_counts_of_results_are_added(unread: tuple[Path, Path]) -> None:
    result = score(unread[0], unread[0])

    assert result.add(result).passed_over["gold"] == {"relations": 4}


def test_passed_over_is_empty_where_a_format_reads_everything(unread: tuple[Path, Path]) -> None:
    assert score(unread[1], unread[1]).passed_over == {"gold": {}, "predicted": {}}


def test_passed_over_counts_are_one_line_on_stderr(
    unread: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(unread[0]), str(unread[0]), "--jobs", "1"]) == 0

    assert capsys.readouterr().err == "passed over: gold 2 relations; predicted 2 relations\n"


SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"


COMMANDS = [
    ["convert", "--to", "spans", "--lossy"],
    ["convert", "--to", "doccano", "--lossy"],
    ["merge"],
    ["curate", "--to", "doccano", "--lossy"],
    ["curate", "--to", "doccano", "--union", "--lossy"],
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
def test_passed_over_is_one_line_of_every_command_that_writes_spans(
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

    said = capsys.readouterr().err.split("\n")
    assert [line for line in said if line.startswith("passed over")] == [f"passed over: {counted}"]


def test_passed_over_is_no_line_where_a_format_reads_everything(
    unread: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["convert", "--to", "spans"], ["check"], ["merge"]):
        main([command[0], str(unread[1]), *command[1:]])
    assert "passed over" not in capsys.readouterr().err
