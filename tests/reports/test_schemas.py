"""The published schemas: every report is valid under them, and they refuse what is not as they say."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clueval import Document, Span, conventions, schema, score
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.metrics import METRICS
from clueval.reports import json_text

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples"
GERMAN = [str(SAMPLES / "german" / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}


@cache
def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator(schema(command))


def problems(report: dict[str, Any], command: str = "score") -> list[str]:
    errors = validator(command).iter_errors(report)
    return [f"{list(error.path)}: {error.message[:200]}" for error in errors]


def of_samples(metric: str = "levels", **options: Any) -> dict[str, Any]:
    return score(*GERMAN, **{"metrics": metric, "layers": LAYERS, **options}).to_dict()


@pytest.mark.parametrize("command", json_text.SCHEMAS)
def test_a_schema_is_one(command: str) -> None:
    Draft202012Validator.check_schema(schema(command))


def test_the_schema_has_every_metric() -> None:
    assert schema()["$defs"]["metrics"]["properties"].keys() == METRICS.keys()


@pytest.mark.few(3)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("merge", [False, True])
def test_the_report_of_every_metric_is_valid(metric: str, merge: bool) -> None:
    assert not problems(of_samples(metric, merge=merge))
    assert not problems(score([], [], metrics=metric).to_dict())


@pytest.mark.parametrize(
    "options",
    [
        {"by": ["domain", "document"]},
        {"intervals": True, "by": "domain"},
        {"unit": "character"},
        {"where": ["domain=Mietrecht"]},
    ],
)
def test_reports_with_options_are_valid(options: dict[str, Any]) -> None:
    assert not problems(of_samples("exact,muc", **options))


def test_documents_make_valid_reports() -> None:
    spans = [Span(0, 2, {"a": "X"}), Span(3, 4, {"a": "Y"})]
    document = Document("d", {"a": spans})

    for metric in set(METRICS) - {"noisy", "masking", "strings"}:
        assert not problems(score([document], [Document("d", {"a": spans[:1]})], metrics=metric).to_dict())


def test_what_the_commands_print_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    for command in json_text.SCHEMAS:
        assert main([command, *GERMAN, "--layer", "entity=2", "--format", "json"]) == 0
        assert not problems(json.loads(capsys.readouterr().out), command)


def test_conventions_of_overlapping_spans_are_valid() -> None:
    document = Document("d", {"label": [Span(0, 3, "A"), Span(2, 5, "B")]})

    assert not problems(conventions([document], [document]).to_dict(), "conventions")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema"], 2),
        (["documents"], -1),
        (["metrics", "exact", "entity", "micro", "f1"], 81.6),
        (["metrics", "exact", "entity", "micro", "f1"], None),
        (["metrics", "exact", "entity", "micro", "gold"], "222"),
        (["metrics", "exact", "entity", "micro", "support"], 3),
        (["metrics", "exact", "entity", "other"], {}),
        (["inputs", "gold", "layers", "entity"], 2),
    ],
)
def test_a_report_of_another_shape_is_not_valid(path: list[str], value: object) -> None:
    report = copy.deepcopy(of_samples("exact"))
    inner: Any = report
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value

    assert problems(report)


def test_a_schema_of_another_command_is_refused() -> None:
    with pytest.raises(UsageError, match=r"there is no schema of 'merge' \(one of score, conventions\)"):
        schema("merge")
