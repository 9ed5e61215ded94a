"""The paths of numbers: short ones, those of `Result.scores`, and the hints for wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import Document, Result, Span, score
from clueval.files.errors import UsageError
from clueval.metrics import METRICS

GERMAN = Path(clueval.__file__).parent / "samples" / "german"

pytestmark = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")


def documents(labels: str, layer: str = "label") -> list[Document]:
    """One document; each character is the label of a span of one position, and an underline is no span."""
    spans = [Span(n, n + 1, label) for n, label in enumerate(labels) if label != "_"]
    return [Document("d", {layer: spans}, text="xyz"[: len(labels)], unit="character")]


def result(gold: str = "AAB", predicted: str = "AA_", **options: Any) -> Result:
    return score(documents(gold), documents(predicted), **options)


def paths(report: Any, before: str = "") -> Iterator[str]:
    for name, value in report.items():
        if isinstance(value, dict):
            yield from paths(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


@pytest.mark.few(5)
@pytest.mark.parametrize("metrics", [*METRICS, "exact,muc"])
@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"merge": True}], ids=str)
def test_every_key_of_scores_is_the_path_of_its_number(metrics: str, options: dict[str, Any]) -> None:
    of_all = result(metrics=metrics, **options)

    found = of_all.scores()

    assert found or metrics == "confusion"
    assert {path: of_all[path] for path in found} == found


def test_keys_of_two_layers_name_the_layer() -> None:
    files = [str(GERMAN / f"{side}.vrt") for side in ("gold", "predicted")]
    both = score(*files, layers={"entity": 2, "risk": 3}, metrics="exact")

    found = both.scores()

    assert {path: both[path] for path in found} == found
    assert both["exact.risk.f1"] == both["exact.risk.micro.f1"]
    with pytest.raises(
        UsageError, match=r"can mean 2 scores \(one of exact.entity.micro.f1, exact.risk.micro.f1\)"
    ):
        both["exact.f1"]


@pytest.mark.parametrize(
    ("metrics", "short", "path"),
    [
        ("exact", "exact.B.f1", "exact.label.per_label.B.f1"),
        ("exact", "B.recall", "exact.label.per_label.B.recall"),
        ("levels", "levels.f1", "levels.label.labelled.label.1.micro.f1"),
        ("levels", "A.f1", "levels.label.labelled.label.1.per_label.A.f1"),
        ("levels", "labelled.2.f1", "levels.label.labelled.label.2.micro.f1"),
        ("levels", "levels.unlabelled.4.recall", "levels.label.unlabelled.4.recall"),
        ("fair", "fair.f1", "fair.label.overall.fair.f1"),
        ("gate", "gate.f1", "gate.label.all.f1_strict"),
        ("exact,muc", "exact.f1", "exact.label.micro.f1"),
        ("exact,muc", "muc.exact.f1", "muc.label.exact.f1"),
    ],
)
def test_names_that_are_clear_from_the_others_may_be_left_out(metrics: str, short: str, path: str) -> None:
    found = result(metrics=metrics)

    assert found[short] == found[path]


@pytest.mark.parametrize(
    ("metrics", "short", "message"),
    [
        ("exact,partial", "A.f1", "exact.label.per_label.A.f1, partial.label.per_label.A.f1"),
        (
            "levels",
            "levels.2.f1",
            "there is no score 'levels.2.f1' (did you mean levels.label.unlabelled.2.f1?)",
        ),
        ("levels", "levels.1.f1", "there is no score 'levels.1.f1'"),
        ("muc", "exact.f1", "can mean the metric exact, or a part of muc"),
        ("exact,fair", "f1", "exact.label.micro.f1, fair.label.overall.fair.f1"),
    ],
)
def test_what_can_mean_several_numbers_is_refused(metrics: str, short: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        result(metrics=metrics)[short]

    assert message in str(error.value)


@pytest.mark.parametrize("metrics", [*METRICS])
@pytest.mark.parametrize("wrong", ["overall_f1", "accuracy", "nonsense", "", ".", "A", "exact.B"])
def test_a_hint_is_a_path_of_this_result(metrics: str, wrong: str) -> None:
    of_metric = result(metrics=metrics)

    with pytest.raises(UsageError) as error:
        of_metric[wrong]

    hint = str(error.value).partition("did you mean ")[2].removesuffix("?)")
    assert hint in set(paths(of_metric.metrics))


def test_a_result_is_no_list_of_its_paths() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(result())  # type: ignore[call-overload]  # as a wrong call would
