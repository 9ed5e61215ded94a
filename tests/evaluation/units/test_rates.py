"""Rates without each unit, and of resampled units, against the scores of the metric itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.core.span import Frozen
from clueval.evaluation.units.columns import Column, UnitColumns, entries, entry_at, is_rate
from clueval.evaluation.units.rates import RatesOfCounts, RatesOfSums, ScoredRates, groups_of
from clueval.first.metrics import METRICS, metric_named
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Side
from clueval.spans.document import Document

SPANS = flat_spans().map(tuple)
UNITS = st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=6)
TEXT = "a" * 14
SETTINGS = {"fair": {"weights": {"LE": {"TP": 0.5, "FN": 0.5}}}, "partial": {"betas": (2.0,)}}


def tallies_of(name: str, units: list) -> list[Tally]:  # type: ignore[type-arg]
    metric = metric_named(name)
    found = []
    for pair in units:
        documents = [
            Document("d", Frozen({"label": list(spans)}), text=TEXT, unit="character") for spans in pair
        ]
        found.append(
            metric.count(*(Side(document.layers["label"], document=document) for document in documents))
        )
    return found


def rates_by_scoring(name: str, tally: Tally) -> dict[tuple[str, ...], float | None]:
    report = metric_named(name, **SETTINGS.get(name, {})).scores(tally, ["label"])
    return {
        (*path, rate): value
        for path, entry in entries(report)
        for rate, value in entry.items()
        if is_rate(rate, value)
    }


@pytest.mark.parametrize("name", sorted(METRICS))
@given(units=UNITS)
def test_rates_without_a_unit_are_those_that_the_metric_gives(name: str, units: list) -> None:  # type: ignore[type-arg]
    tallies = tallies_of(name, units)
    source = UnitColumns(metric_named(name, **SETTINGS.get(name, {})), ["label"], tallies)
    groups = list(groups_of(source))
    total = sum(tallies, Tally())
    expected = [rates_by_scoring(name, total - tally) for tally in tallies]

    assert {path for group in groups for path in group.paths} == rates_by_scoring(name, total).keys()
    for group in groups:
        for path, values in zip(group.paths, group.without_each(source.times), strict=True):
            for rates, kind in zip(expected, source.kind_of, strict=True):
                if path in rates:
                    assert values[kind] == pytest.approx(rates[path], abs=1e-12)


@pytest.mark.parametrize("name", sorted(METRICS))
@given(units=UNITS, weights=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_rates_of_resampled_units_are_those_that_the_metric_gives(
    name: str,
    units: list,  # type: ignore[type-arg]
    weights: list[int],
) -> None:
    tallies = tallies_of(name, units)
    source = UnitColumns(metric_named(name, **SETTINGS.get(name, {})), ["label"], tallies)
    total: Tally = Tally()
    for tally, weight in zip(tallies, weights, strict=False):
        total.update({key: weight * count for key, count in tally.items() if weight})
    expected = rates_by_scoring(name, total)

    for group in groups_of(source):
        sums = [
            [sum(column.at(kind) * weight for kind, weight in zip(source.kind_of, weights, strict=False))]
            for column in group.columns
        ]
        for path, (value,) in zip(group.paths, group.values(sums), strict=True):
            if path in expected:
                assert value == pytest.approx(expected[path], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("levels", {RatesOfCounts, RatesOfSums}),
        ("exact", {RatesOfCounts, RatesOfSums}),
        ("muc", {RatesOfCounts}),
        ("fair", {RatesOfCounts}),
        ("partial", {RatesOfCounts, RatesOfSums}),
        ("gate", {RatesOfCounts, RatesOfSums}),
        ("noisy", {RatesOfCounts, ScoredRates}),  # means over documents
    ],
)
def test_rates_of_the_usual_metrics_are_declared(name: str, kinds: set[type]) -> None:
    from clueval.core.span import Span

    wrong = (Span(0, 3, "A"), Span(5, 6, "B")), (Span(0, 2, "A"), Span(5, 6, "A"), Span(8, 9, "B"))
    right = (Span(0, 3, "A"), Span(5, 6, "B")), (Span(0, 3, "A"), Span(5, 6, "B"))
    source = UnitColumns(metric_named(name), ["label"], tallies_of(name, [wrong, right]))

    assert {type(group) for group in groups_of(source)} == kinds


def test_units_with_equal_counts_are_one_kind() -> None:
    tallies = [Tally({("gold", "A"): 1}), Tally({("gold", "A"): 2}), Tally({("gold", "A"): 1})]
    source = UnitColumns(metric_named("exact"), ["label"], tallies)

    assert source.kind_of == [0, 1, 0]
    assert source.times == [2, 1]
    assert source.of([("gold", "A")]) == Column([0, 1], [1, 2])
    assert entry_at(source.report, ("micro",))["gold"] == 4


@pytest.mark.parametrize("name", ["levels", "exact", "muc", "fair", "partial", "gate"])
def test_rates_of_very_many_labels_are_declared(name: str) -> None:
    from clueval.core.span import Span

    units = [
        (
            (Span(0, 3, f"L{n}"), Span(5, 6, f"L{n // 2}")),
            (Span(0, 3 - n % 2, f"L{n}"), Span(5, 6, f"M{n // 3}")),
        )
        for n in range(40)
    ]
    source = UnitColumns(metric_named(name), ["label"], tallies_of(name, units))

    assert ScoredRates not in {type(group) for group in groups_of(source)}
