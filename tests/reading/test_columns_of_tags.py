"""Column files without named layers: the last column if it holds tags, else the columns that do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval import CluevalError, read, score
from clueval.browser import look
from clueval.cli import main

GERMAN = Path(clueval.__file__).parent / "samples" / "german"
GOLD, PREDICTED = str(GERMAN / "gold.vrt"), str(GERMAN / "predicted.vrt")

LAYERS = {"2": 2, "3": 3}
"""The layers of the sample, whose last column has the ids of the tokens."""


def conll(*columns: Sequence[str]) -> str:
    return "\n".join("\t".join(row) for row in zip(*columns, strict=True)) + "\n\n"


WORDS = ["Ada", "Bo", "sang", "in", "Ulm"]
NAMES = ["B-PER", "I-PER", "O", "O", "B-LOC"]
RISKS = ["B-high", "I-high", "O", "O", "O"]
NONE = ["O"] * 5
POS = ["NE", "NE", "VVFIN", "APPR", "NE"]
IDS = ["t1", "t2", "t3", "t4", "t5"]


def layers_of(path: Path, **options: Any) -> dict[str, list[tuple[int, int, str]]]:
    (document,) = read(path, **options)
    return {
        layer: [(span.start, span.end, span.label) for span in spans]
        for layer, spans in document.layers.items()
    }


NAMES_OF = [(0, 2, "PER"), (4, 5, "LOC")]
RISKS_OF = [(0, 2, "high")]


@pytest.mark.parametrize(
    ("columns", "layers"),
    [
        ((WORDS, NAMES), {"label": NAMES_OF}),
        ((WORDS, POS, NAMES), {"label": NAMES_OF}),
        ((WORDS, RISKS, NAMES), {"label": NAMES_OF}),
        ((WORDS, NAMES, NONE), {"label": []}),
        ((WORDS, NAMES, IDS), {"label": NAMES_OF}),
        ((WORDS, POS, NAMES, IDS), {"label": NAMES_OF}),
        ((WORDS, NAMES, NONE, IDS), {"label": NAMES_OF}),
        ((WORDS, NAMES, RISKS, IDS), {"2": NAMES_OF, "3": RISKS_OF}),
        ((WORDS, NAMES, POS, RISKS, IDS), {"2": NAMES_OF, "4": RISKS_OF}),
        ((WORDS, NONE, IDS), {"label": []}),
    ],
)
@pytest.mark.parametrize("form", ["conll", "vrt"])
def test_layers_are_the_last_column_of_tags_or_all_if_the_last_holds_none(
    tmp_path: Path, form: str, columns: Sequence[Sequence[str]], layers: object
) -> None:
    lines = conll(*columns)
    text = lines if form == "conll" else f"<text>\n<s>\n{lines.strip()}\n</s>\n</text>\n"

    assert layers_of(write(tmp_path / f"a.{form}", text)) == layers


def test_columns_of_ids_documents_and_metadata_are_no_layers(tmp_path: Path) -> None:
    letters = ["B", "I", "S", "E", "O"]
    path = write(tmp_path / "a.conll", conll(WORDS, NAMES, letters, IDS))

    assert set(layers_of(path)) == {"2", "3"}
    assert layers_of(path, token_id=3) == {"label": NAMES_OF}
    assert layers_of(write(tmp_path / "b.conll", conll(WORDS, NAMES, ["O"] * 5)), document_column=3) == {
        "label": NAMES_OF
    }


@pytest.mark.parametrize("bad", [["B-PER", "x", "O", "O", "O"], POS])
def test_without_a_column_of_tags_the_error_names_the_value_and_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: Sequence[str]
) -> None:
    path = write(tmp_path / "a.conll", conll(WORDS, POS, bad))
    value = next(value for value in bad if value not in NAMES)

    with pytest.raises(CluevalError, match=f"'{value}' is not a tag .*layers=... names the column"):
        score(path, path)
    assert main(["score", str(path), str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"'{value}' is not a tag" in line
    assert "--layer names the column" in line


def test_a_wrong_tag_in_a_column_of_tags_is_an_error_and_no_reason_to_read_another_column(
    tmp_path: Path,
) -> None:
    wrong = [*NAMES * 9, "B-PER", "I-PER", "O", "X-LOC", "O"]
    words, risks = WORDS * 10, RISKS * 10
    ids = [f"t{number}" for number in range(50)]

    for columns in ((words, wrong, risks, ids), (words, risks, wrong), (words, risks, wrong, ids)):
        with pytest.raises(CluevalError, match="'X-LOC' is not a tag") as caught:
            list(read(write(tmp_path / "a.conll", conll(*columns))))
        assert caught.value.line == 49


class TestTheGermanSample:
    def test_is_scored_on_the_command_line_which_says_so_once(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["score", GOLD, PREDICTED, "--format", "json"]) == 0
        found = capsys.readouterr()
        assert main(["score", GOLD, PREDICTED, "--layer", "2=2", "--layer", "3=3", "--format", "json"]) == 0
        named = capsys.readouterr()

        assert json.loads(found.out)["metrics"] == json.loads(named.out)["metrics"]
        assert [line for line in found.err.splitlines() if "warning" in line] == [
            "clueval score: warning: gold.vrt: columns 2 and 3 hold tags, so they are the layers 2 and 3; "
            "--layer entity=2 names one"
        ]
        assert "hold tags" not in named.err


@pytest.mark.parametrize(
    "command",
    [
        "errors gold.conll predicted.conll --format json",
        "errors gold.conll predicted.conll --pair-by id --format json",
        "check gold.conll predicted.conll",
        "compare gold.conll predicted.conll gold.conll --resamples 10 --format json",
        "diff gold.conll predicted.conll gold.conll --format json",
        "conventions gold.conll predicted.conll --format json",
        "profile gold.conll predicted.conll --feature length --train gold.conll --format json",
        "masking gold.conll predicted.conll --format json",
        "agree gold.conll predicted.conll --format json",
        "curate gold.conll predicted.conll",
        "merge gold.conll",
        "convert gold.conll --to conll",
        "convert gold.conll --to spans",
        "score gold.conll predicted.conll --format json",
        "score gold.conll predicted.conll --pair-by id --format json",
        "score gold.conll predicted.conll --merge --format json",
    ],
)
def test_each_command_reads_the_columns_of_tags_as_if_they_were_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, tags in (("gold", NAMES), ("predicted", ["B-LOC", *NAMES[1:]])):
        documents = [f"# newdoc id = {id_}\n{conll(WORDS, tags, RISKS, IDS)}" for id_ in ("d1", "d2")]
        write(tmp_path / f"{name}.conll", "".join(documents))

    code = main(command.split())
    found = capsys.readouterr()
    assert main([*command.split(), "--layer", "2=2", "--layer", "3=3"]) == code
    named = capsys.readouterr()

    assert found.out == named.out
    assert code in (0, 1)
    assert "gold.conll: columns 2 and 3 hold tags" in found.err


@pytest.mark.parametrize("columns", [(WORDS, NAMES, IDS), (WORDS, RISKS, NAMES), (WORDS, NAMES, RISKS, IDS)])
def test_the_offline_page_chooses_the_columns_that_are_read(
    tmp_path: Path, columns: Sequence[Sequence[str]]
) -> None:
    path = write(tmp_path / "a.conll", conll(*columns))

    found = look(str(tmp_path))["columns"]

    chosen = {column["name"]: number for number, column in enumerate(found, 1) if column["use"] == "tags"}
    assert layers_of(path) == layers_of(path, layers=chosen)


class TestWhatIsSaid:
    def said(self, capsys: pytest.CaptureFixture[str], *command: str) -> list[str]:
        assert main(list(command)) in (0, 1)
        return [
            line.partition("warning: ")[2] for line in capsys.readouterr().err.splitlines() if "hold" in line
        ]

    def test_other_columns_than_the_one_that_is_read_are_named(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = str(write(tmp_path / "a.conll", conll(WORDS, RISKS, NAMES)))
        both = str(write(tmp_path / "b.conll", conll(WORDS, RISKS, POS, RISKS, NAMES)))
        numbered = str(write(tmp_path / "n.conll", conll("12345", WORDS, NAMES, RISKS)))

        assert self.said(capsys, "score", path, path) == [
            "a.conll: column 3 is read, but column 2 holds tags, too; --layer label=3 names one"
        ]
        assert self.said(capsys, "check", both) == [
            "b.conll: column 5 is read, but columns 2 and 4 hold tags, too; --layer label=5 names one"
        ]
        assert self.said(capsys, "errors", numbered, numbered) == [
            "n.conll: column 3 is read, but column 4 holds tags, too; --layer label=3 names one"
        ]

    @pytest.mark.parametrize(
        "columns",
        [(WORDS, NAMES), (WORDS, POS, NAMES), (WORDS, NAMES, IDS), ("12345", WORDS, POS, NAMES, IDS)],
    )
    def test_nothing_is_said_of_a_single_column_of_tags(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: Sequence[Sequence[str]]
    ) -> None:
        path = str(write(tmp_path / "a.conll", conll(*columns)))

        assert self.said(capsys, "score", path, path) == []


class TestBothSides:
    def test_have_the_same_layers_though_one_has_no_span_in_one_of_them(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "gold.conll", conll(WORDS, NAMES, RISKS, IDS))
        predicted = write(tmp_path / "predicted.conll", conll(WORDS, NAMES, NONE, IDS))

        result = score(gold, predicted, metrics="exact")

        assert result.metrics == score(gold, predicted, layers=LAYERS, metrics="exact").metrics
        assert score(predicted, gold, metrics="exact").metrics.keys() == result.metrics.keys()
        assert score(predicted, gold, metrics="exact")["exact.3.micro.fp"] == 1

    def test_have_the_same_layers_though_only_one_has_ids(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "gold.conll", conll(WORDS, NAMES, RISKS, IDS))
        predicted = write(tmp_path / "predicted.conll", conll(WORDS, NAMES, RISKS))

        assert score(gold, predicted, metrics="exact").metrics == score(gold, gold, metrics="exact").metrics

    def test_may_have_the_only_column_of_tags_in_other_places(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "gold.conll", conll(WORDS, POS, NAMES, IDS))
        predicted = write(tmp_path / "predicted.conll", conll(WORDS, NAMES))

        assert score(gold, predicted, metrics="exact").f1 == 1
        assert score(predicted, gold, metrics="exact").f1 == 1

    def test_have_the_same_layers_in_all_files_of_folders_and_in_processes(self, tmp_path: Path) -> None:
        for side in ("gold", "predicted"):
            (tmp_path / side).mkdir()
            write(tmp_path / side / "a.conll", conll(WORDS, NAMES, NONE, IDS))
            write(tmp_path / side / "b.conll", conll(WORDS, NAMES, RISKS, IDS))
        sides = tmp_path / "gold", tmp_path / "predicted"

        result = score(*sides, metrics="exact")

        assert result.metrics == score(*sides, layers=LAYERS, metrics="exact").metrics
        assert score(*sides, metrics="exact", jobs=2).metrics == result.metrics
        assert result["exact.3.micro.tp_gold"] == 1
        assert {layer for document in read(sides[0]) for layer in document.layers} == {"2", "3"}


def test_tags_after_the_first_lines_are_read_though_all_before_are_o(tmp_path: Path) -> None:
    number = count(1)
    rows = [("w", "O", f"t{next(number)}")] * 2500 + [("w", "B-PER", f"t{next(number)}")]
    path = write(tmp_path / "a.conll", "\n".join("\t".join(row) for row in rows) + "\n")

    assert layers_of(path) == {"label": [(2500, 2501, "PER")]}


def test_a_file_of_both_sides_is_read_as_before(tmp_path: Path) -> None:
    path = write(tmp_path / "both.conll", conll(WORDS, NAMES, NAMES))

    assert score(path, metrics="exact").f1 == 1


def test_column_files_without_layers_have_tokens_and_no_spans(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.conll", "Ada\tB-PER\nslept\tO\n")

    result = score(path, path, layers={}, metrics="exact")

    assert (result.to_dict()["tokens"], {*result.scores().values()}) == (2, {0.0})
