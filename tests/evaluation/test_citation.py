"""Cited numbers: each has a signature of its own, which gives the number again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clueval import Document, Result, Signature, Span, score
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_named, with_settings

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}
ALL = [name for name in METRICS if name != "noisy"]
DOCUMENT = Document("d", {"label": [Span(0, 1, "A")]})


def of_samples(**options: Any) -> Result:
    return score(*PATHS, **{"layers": LAYERS, **options})


@pytest.fixture(scope="module")
def result() -> Result:
    return of_samples(metrics=ALL)


def paths_of(result: Result) -> list[str]:
    return [f"{row['metric']}.{row['sequence']}.{row['path']}" for row in result.rows(long=True)]


def test_no_two_numbers_have_the_same_signature(result: Result) -> None:
    paths = [path for path in paths_of(result) if not path.startswith("confusion")]
    signatures = {str(result.cite(path).signature) for path in paths}

    assert len(signatures) == len(paths) > 1_000


@pytest.mark.parametrize(
    ("path", "choices"),
    [
        (
            "levels.entity.labelled.entity.1.micro.f1",
            {"section": "labelled", "level": "1", "average": "micro", "rate": "f1", "layer": "entity"},
        ),
        (
            "levels.risk.unlabelled.4.recall",
            {"section": "unlabelled", "level": "4", "rate": "recall", "layer": "risk", "columns": "risk=3"},
        ),
        ("exact.entity.per_label.date.f1", {"metrics": "exact", "label": "date", "zero": "0/0=0"}),
        (
            "gate.entity.all.f1_strict",
            {"section": "strict", "rate": "f1", "zero": "0/0=0,gate=1 if both sides are empty"},
        ),
        ("exact.entity.token_accuracy", {"number": "token_accuracy", "layer": "entity"}),
    ],
)
def test_a_signature_of_a_number_names_its_place(result: Result, path: str, choices: dict[str, str]) -> None:
    path = path.replace(
        "f1.0", next(name for name in ("f1", "f1.0") if f"{name}_strict" in str(result.metrics))
    )
    choices = {key: value.replace("f1.0", "f1") if key == "rate" else value for key, value in choices.items()}
    cited = result.cite(path)

    assert cited.number == result.get(path)
    assert choices.items() <= cited.signature.choices.items()


@pytest.mark.few(3)
@pytest.mark.parametrize("form", [str, lambda signature: signature.short], ids=["long", "short"])
@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({}, "levels.entity.labelled.entity.1.micro.f1"),
        ({"metrics": "levels,exact", "where": ["risk=high", "risk=low"]}, "exact.risk.micro.recall"),
        ({"merge": True, "unit": "character"}, "levels.merged.labelled.risk.3.macro.f1"),
        ({"metrics": "partial", "invalid": "discard", "scheme": "BIO"}, "partial.entity.micro.f1"),
        ({"metrics": [metric_named("fair", focus="system")]}, "fair.entity.overall.fair.precision"),
        ({"where": {"domain": ["Mietrecht"]}}, "levels.entity.unlabelled.2.f1"),
        ({"layers": {"entity": (2, 2), "risk": (3, 2)}}, "levels.risk.unlabelled.2.f1"),
    ],
)
def test_options_of_the_signature_give_the_number_again(
    options: dict[str, Any], path: str, form: Any
) -> None:
    cited = of_samples(**options).cite(path)
    again = score(*PATHS, **Signature.parse(form(cited.signature)).options())

    assert again.cite(path) == cited
    assert 0 < (cited.number or 0) < 1


@pytest.mark.parametrize(
    "metric",
    [
        *(metric_named(name) for name in METRICS),
        metric_named("fair", focus="system", labels=("A", "B+C"), exclude=("X",)),
        metric_named("partial", factor=0.5, glue=True, betas=(0.5, 2.0)),
        metric_named("gate", types=("A", "B"), features=("kind",), score_feature="score", thresholds="11"),
        metric_named("gate", features=("kind",), nil="NIL", beta=2.0),
        metric_named("noisy", threshold=0.1),
    ],
    ids=with_settings,
)
def test_metrics_with_settings_are_rebuilt(metric: Any) -> None:
    others = [metric_named("levels"), metric_named("muc")]
    signature = Signature.of([others[0], metric, others[1]], {})

    assert signature.options()["metrics"] == [others[0], metric, others[1]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("metrics:bleu", "unknown metric 'bleu'"),
        ("metrics:partial(factor=0.5)", "the settings of partial cannot be read"),
        ("metrics:partial(factor=much,glue=no,betas=none)", "Partial.factor takes a number, not 'much'"),
        ("metrics:levels|fragments:split", "no option stands for fragments:split"),
        ("metrics:levels|where:a", "the filter 'a' cannot be "),
        ("metrics:levels|columns:entity", "the columns 'entity' cannot be read"),
        ("metrics:levels|where:risk=low%7Chigh", "the filter .* cannot be rebuilt"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Signature.parse(text).options()


def test_documents_are_cited_without_columns() -> None:
    cited = score([DOCUMENT], [DOCUMENT]).cite("unlabelled.1.f1")

    assert cited.path == "levels.label.unlabelled.1.f1"
    assert "columns" not in cited.signature.choices
    assert score([DOCUMENT], [DOCUMENT], **cited.signature.options()).cite(cited.path) == cited


def test_a_number_that_is_none_is_undefined() -> None:
    result = score([DOCUMENT], [DOCUMENT])
    undefined = replace(result, metrics={"levels": {"label": {"f1": None}}})

    assert str(undefined.cite("f1")).startswith("levels.label.f1 = undefined\n")


def test_cite_prints_the_number_both_forms_of_the_signature_and_bibtex(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = "levels.entity.labelled.entity.1.micro.f1"
    command = ["score", *PATHS, "--layer", "entity=2", "--cite", path]
    cited = of_samples(layers={"entity": 2}).cite(path)

    assert main(command) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == f"{path} = 0.8159645232815964 (81.60 %)"
    assert Signature.parse(lines[2]) == cited.signature == Signature.parse(lines[3].removeprefix("short: "))
    assert lines[5].startswith("@software{clueval,")
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == cited.to_dict()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--cite", "levels.label.mikro"], "there is no score 'levels.label.mikro' (did you mean levels."),
        (["--cite", "levels.label.unlabelled.1"], "there is no score 'levels.label.unlabelled.1'"),
        (["--cite", ""], "there is no score ''"),
        (["--cite", "unlabelled.1.f1", "--format", "csv"], "--cite prints one number, as text or JSON"),
        (["--cite", "unlabelled.1.f1", "--all"], "--cite prints one number, as text or JSON"),
        (
            ["--metric", "exact,partial", "--cite", "micro.f1"],
            "'micro.f1' can mean 2 scores (one of exact.label",
        ),
        (
            ["--metric", "muc", "--cite", "exact.f1"],
            "'exact.f1' can mean the metric exact, or a part of muc (write it in full: muc.label.exact.f1)",
        ),
    ],
)
def test_cite_of_no_number_is_refused_in_one_line(
    options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *PATHS, "--layer", "label=2", *options]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
