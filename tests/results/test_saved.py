"""Saved results: what is written, that nothing is lost, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from clueval import Document, Span, load_result, score

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
