"""Saved results: what is written, that nothing is lost, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, Document, Span, load_result, score

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GERMAN = (SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt")
COLUMNS = {"entity": 2, "risk": 3}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("saved") / "a.clueval"
    score(*GERMAN, layers=COLUMNS, metrics="levels,exact", save=path, resample_by="document")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_first_line_says_what_was_counted(written: list[Any]) -> None:
    header = written[0]

    assert header["clueval_bag"] == 2
    assert header["units"] == "document"
    assert header["layers"] == ["entity", "risk"]
    assert header["gold_sha256"] == hashlib.sha256(GERMAN[0].read_bytes()).hexdigest()


def test_units_have_their_key_their_tokens_and_cases_that_were_declared(written: list[Any]) -> None:
    cases = sum(isinstance(line, list) for line in written)
    places = [line for line in written if "place" in line]

    assert [line["place"]["name"] for line in places] == ["a001", "a002", "a003", "a004", "a005"]
    assert sum(number for line in places for _, number in line["positions"]) == score(*GERMAN).tokens
    assert {number for line in places for number in line["cases"][::2]} == {*range(cases)}


def test_a_saved_result_has_no_text(written: list[Any]) -> None:
    tokens = {
        line.split("\t")[0] for line in GERMAN[0].read_text(encoding="utf-8").splitlines() if "\t" in line
    }
    in_file = {part for line in written for part in json.dumps(line, ensure_ascii=False).split('"')}

    assert not {token for token in tokens & in_file if len(token) > 3 and not token.islower()} - {"Person"}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["r.clueval", "r.clueval.gz"])
@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"resample_by": "sentence", "by": "document"}])
def test_every_report_is_rebuilt(name: str, options: dict[str, str], tmp_path: Path) -> None:
    result = score(*GERMAN, layers=COLUMNS, metrics="levels,fair", **options)  # type: ignore[arg-type]
    result.save(tmp_path / name)
    loaded = load_result(tmp_path / name)

    assert loaded.to_dict() == result.to_dict()
    for form in ("text", "json", "csv", "tsv", "markdown", "latex"):
        assert loaded.render(form) == result.render(form)


def test_files_are_the_same_in_every_run(tmp_path: Path) -> None:
    """Sets of strings have another order in each process."""
    arguments = [*map(str, GERMAN), *(f"--layer={name}={column}" for name, column in COLUMNS.items())]
    for seed in "12":
        command = [
            sys.executable,
            "-m",
            "clueval",
            "score",
            *arguments,
            "--metric",
            "levels,exact,muc,masking",
        ]
        command += ["--by", "domain", "--save", str(tmp_path / f"{seed}.clueval.gz"), "--quiet"]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)

    assert (tmp_path / "1.clueval.gz").read_bytes() == (tmp_path / "2.clueval.gz").read_bytes()


def test_packed_files_are_packed(tmp_path: Path) -> None:
    score(*GERMAN, layers=COLUMNS).save(tmp_path / "a.clueval.gz")

    assert gzip.decompress((tmp_path / "a.clueval.gz").read_bytes()).startswith(b'{"clueval_bag":2')


def test_units_that_belong_to_several_values_keep_their_parts(tmp_path: Path) -> None:
    documents = [
        Document(
            str(n), {"x": [Span(0, 1, "A")]}, tokens=["a"] * (n + 1), metadata={"court": court, "year": year}
        )
        for n, (court, year) in enumerate([("X", "1"), ("X", "2"), ("Y", "2")])
    ]
    result = score(documents, documents, resample_by="court", by="year", intervals=True)
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")
    lines = map(json.loads, (tmp_path / "r.clueval").read_text(encoding="utf-8").splitlines())
    places = [(line["place"], line["positions"]) for line in lines if "place" in line]

    assert places == [
        ({"values": ["1"], "name": "X"}, [[3, 1]]),
        ({"values": ["2"], "name": "X"}, [[3, 2]]),
        ({"values": ["2"], "name": "Y"}, [[3, 3]]),
    ]
    assert loaded.groups == {
        key: {value: {k: v for k, v in group.items() if k != "intervals"} for value, group in groups.items()}
        for key, groups in (result.groups or {}).items()
    }
    assert loaded.intervals() == result.intervals()


def test_settings_of_metrics_are_saved(tmp_path: Path) -> None:
    from clueval.metrics.fair import Fair
    from clueval.metrics.partial import Partial

    weights = {"LE": {"TP": 0.5, "FN": 0.5}}
    result = score(
        *GERMAN, layers=COLUMNS, metrics=[Fair(weights=weights, labels=("person",)), Partial(betas=(2.0,))]
    )
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")

    assert loaded.scored_by == list(result.scored_by)
    assert loaded.to_dict() == result.to_dict()


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.clueval"
    score(*GERMAN, layers=COLUMNS, save=path)
    path.write_text(path.read_text().replace('"a003"', '"a004"'))

    with pytest.raises(CluevalError, match=r"a\.clueval: the file is not complete, or was changed"):
        load_result(path)


@pytest.mark.parametrize("text", ["", "{", "[1]\n", '{"a": 1, "a": 2}\n', "NaN\n", "<html>\n", "[" * 99_999])
def test_a_file_that_is_no_saved_result_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "no.clueval"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CluevalError):
        load_result(path)


def test_a_missing_file_is_one_line() -> None:
    with pytest.raises(CluevalError, match="cannot be read"):
        load_result("/nowhere/a.clueval")
