"""What the second edition says of results, as the first does: metrics, settings, signatures, rows and tables."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

import clueval
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.evaluation.values import shown_default, values_of
from clueval.files.errors import CluevalError, UsageError
from clueval.metrics import METRICS as FIRST_METRICS
from clueval.metrics import metric_class as first_class
from clueval.metrics import metric_named as first_named
from clueval.metrics import with_settings as first_with_settings
from clueval.options import option_of
from clueval.second.metrics import METRICS, chosen_metrics, metric_class, metric_named, with_settings
from clueval.second.metrics.curve import Curve, reports_with_curves, scored_metrics, without_curves
from clueval.second.metrics.gate import Gate, GateWithin
from tests.second.compare import second
from tests.second.scoring import scored

# Metrics and settings


@pytest.mark.parametrize("name", FIRST_METRICS)
def test_settings_are_described_as_before(name: str) -> None:
    def described(kind: Any) -> list[Any]:
        found: list[Any] = []
        for field in fields(kind):
            option, values = option_of(field), values_of(kind, field)
            said = option and option._replace(parse=None)
            found.append((field.name, field.compare, said, values and values.takes, shown_default(field)))
        return found

    assert list(METRICS) == list(FIRST_METRICS)
    assert described(metric_class(name)) == described(first_class(name))


GIVEN: list[tuple[str, dict[str, str]]] = [
    ("exact", {"min_overlap": "0.5", "overlap_of": "union"}),
    ("fair", {"focus": "system", "weights": "LE = 0.5 FP + 0.5 FN", "labels": "A,B", "exclude": ""}),
    ("partial", {"factor": "1", "glue": "yes", "betas": "0.5,2"}),
    ("noisy", {"threshold": "0.1", "max_alignment": "99"}),
    ("gate", {"types": "A=B,C", "features": "M[a],b", "nil": "", "by": "b", "beta": "2"}),
    ("gate", {"score_feature": "p", "thresholds": "0.5,0.1", "pairing": "by-target"}),
    ("gate", {"containing": "A", "containment": "containing", "unfiltered": "A"}),
    (
        "masking",
        {"keep": "a,b", "beta": "0.5", "annotators": "all", "confidence": "0.9", "token_weights": "yes"},
    ),
]


@pytest.mark.parametrize(("name", "texts"), [*((name, {}) for name in FIRST_METRICS), *GIVEN])
def test_settings_are_written_in_signatures_as_before(name: str, texts: dict[str, str]) -> None:
    def read(kind: Any) -> dict[str, Any]:
        declared = {field.name: field for field in fields(kind)}
        found = {}
        for setting, text in texts.items():
            values = values_of(kind, declared[setting])
            assert values is not None
            found[setting] = values.read(text)
        return found

    new = metric_named(name, **read(metric_class(name)))

    assert with_settings(new) == first_with_settings(first_named(name, **read(first_class(name))))


def test_a_file_of_words_is_a_hash_in_signatures(tmp_path: Any) -> None:
    words, counts = tmp_path / "words.txt", tmp_path / "counts.tsv"
    words.write_text("der\ndie\n", encoding="utf-8")
    counts.write_text("der\t7\n", encoding="utf-8")

    def made(kind: Any) -> Any:
        read = {field.name: getattr(option_of(field), "parse", None) for field in fields(kind)}
        return kind(
            ignore_words=read["ignore_words"](str(words)), word_weights=read["word_weights"](str(counts))
        )

    assert with_settings(made(metric_class("masking"))) == first_with_settings(made(first_class("masking")))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("f1", {}),
        ("nerval", {}),
        ("acuracy", {}),
        ("levels", {"level": 2}),
        ("exact", {"min_overlap": 2}),
        ("exact", {"overlap_of": "all"}),
        ("fair", {"focus": "gold"}),
        ("fair", {"labels": "A"}),
        ("fair", {"weights": {"LE": 1}}),
        ("partial", {"factor": 2}),
        ("partial", {"betas": (0,)}),
        ("partial", {"glue": 1}),
        ("noisy", {"threshold": "0.1"}),
        ("noisy", {"max_alignment": 0}),
        ("gate", {"types": "A"}),
        ("gate", {"pairing": "best"}),
        ("gate", {"nil": "x"}),
        ("gate", {"unfiltered": "A"}),
        ("gate", {"containment": "near"}),
        ("gate", {"beta": 0}),
        ("gate", {"thresholds": "0.5"}),
        ("masking", {"ignore": "all"}),
        ("masking", {"confidence": 1}),
        ("masking", {"beta": (-1,)}),
        ("masking", {"risk_order": "high"}),
        ("masking", {"word_weights": {"der": 10**18}}),
        ("masking", {"word_weights": {"der": 1}, "token_weights": True}),
    ],
)
def test_what_a_metric_refuses_is_said_as_before(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(CluevalError) as first:
        first_named(name, **settings)
    with pytest.raises(CluevalError) as second:
        metric_named(name, **settings)

    assert str(second.value) == str(first.value)
    assert type(second.value) is type(first.value)


def test_metrics_are_chosen_by_names_and_values_each_once() -> None:
    assert chosen_metrics("exact,levels,exact") == (Exact(), Levels())
    assert chosen_metrics(Exact(min_overlap=0.5)) == (Exact(min_overlap=0.5),)
    assert chosen_metrics(["exact", Exact(min_overlap=0.5)]) == (Exact(min_overlap=0.5),)


@pytest.mark.parametrize("given", [[], "", "x", 3, {"exact": 1}, [Exact], [3], None])
def test_what_is_no_metric_is_refused_as_before(given: Any) -> None:
    from clueval.evaluation.plan import chosen_metrics as first_chosen

    with pytest.raises(UsageError) as first:
        first_chosen(given)
    with pytest.raises(UsageError) as second:
        chosen_metrics(given)

    assert str(second.value) == str(first.value)


def test_gate_counts_documents_if_it_counts_within_a_layer() -> None:
    assert type(Gate()) is Gate
    assert type(Gate(containing="zone")) is GateWithin
    assert type(Gate((), (), "equality", "plugin", None, None, None, "zone")) is GateWithin
    assert Gate(containing="zone") == GateWithin(containing="zone")


# Curves


def test_curves_stand_in_the_reports_of_their_metrics() -> None:
    spans = [clueval.Span(0, 1, "A", {"p": 0.9}), clueval.Span(2, 3, "B", {"p": 0.5})]
    metrics = scored_metrics(chosen_metrics("exact,levels,gate"), "p", (0.1, 0.6))
    first = clueval.score(
        [spans[:1]], [spans], metrics="exact,levels,gate", score_feature="p", thresholds="0.1,0.6"
    )
    reports = _reports([spans[:1]], [spans], metrics)

    assert [metric.name for metric in without_curves(metrics)] == ["exact", "levels", "gate"]
    assert reports_with_curves(reports, metrics, {"label": ["label"]}) == first.metrics


def test_a_metric_without_micro_averages_has_no_curve() -> None:
    with pytest.raises(UsageError, match="metric 'fair' has no micro average"):
        scored_metrics(chosen_metrics("exact,fair"), "p")
    assert scored_metrics([Exact()], "p")[1] == Curve(Exact(), "p")


def _reports(gold: Any, predicted: Any, metrics: Any) -> dict[str, dict[str, Any]]:
    """Return the reports of metrics on documents of spans."""
    sides = [
        [second(clueval.Document(str(n), {"label": spans})) for n, spans in enumerate(side)]
        for side in (gold, predicted)
    ]
    return {metric.name: scored(*sides, metric) for metric in metrics}
