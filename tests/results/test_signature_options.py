"""`Signature.options`: the options of a signature give the numbers again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clueval import Document, Result, Signature, Span, score
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_named, with_settings

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = {"entity": 2, "risk": 3}
DOCUMENT = Document("d", {"label": [Span(0, 1, "A")]})


def of_samples(**options: Any) -> Result:
    return score(*PATHS, **{"layers": LAYERS, **options})


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
    ],
)
def test_options_of_the_signature_give_the_numbers_again(
    options: dict[str, Any], path: str, form: Any
) -> None:
    result = of_samples(**options)
    again = score(*PATHS, layers=LAYERS, **Signature.parse(form(result.signature)).options())

    assert again.signature == result.signature
    assert again.metrics == result.metrics
    assert 0 < (again.get(path) or 0) < 1


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
        ("metrics:partial(factor=0.5", "cannot be read"),
        ("metrics:partial(share=0.5)", "metric partial has no setting 'share'"),
        ("metrics:partial(factor=much)", r"partial\(factor=...\) takes a number, not 'much'"),
        ("metrics:levels|fragments:split", "no option stands for fragments:split"),
        ("metrics:levels|where:a", "the filter 'a' cannot be "),
        ("metrics:levels|columns:entity", "the columns 'entity' cannot be read"),
        ("metrics:levels|where:risk=low%7Chigh", "the filter .* cannot be rebuilt"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Signature.parse(text).options()


def test_documents_need_no_columns() -> None:
    result = score([DOCUMENT], [DOCUMENT])

    assert score([DOCUMENT], [DOCUMENT], **result.signature.options()).signature == result.signature


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ({"average": "document"}, "score with by='document'"),
        ({"by_depth": True}, "score once for each depth"),
        ({"generic_gold": "A"}, "gold_map gives gold labels other names"),
        ({"escapes": "ptb"}, "write the characters themselves"),
        ({"transforms": []}, "clueval.read gives documents"),
        ({"observers": []}, "clueval.errors gives each error"),
        ({"hierachy": "."}, "did you mean hierarchy?"),
    ],
)
def test_an_unknown_option_says_what_to_do_instead(option: dict[str, Any], advice: str) -> None:
    (name,) = option
    with pytest.raises(UsageError, match=f"score has no option '{name}' .*{advice}"):
        score([DOCUMENT], [DOCUMENT], **option)


def test_a_result_says_how_to_cite_a_number() -> None:
    with pytest.raises(AttributeError, match=r"result\.signature"):
        score([DOCUMENT], [DOCUMENT]).cite  # type: ignore[attr-defined]  # noqa: B018  # it raises
