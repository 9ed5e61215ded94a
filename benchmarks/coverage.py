"""Simulates corpora whose true scores are known, and counts how often intervals contain them and tests find them.

A corpus has units of log-normal sizes; the share of spans that are found, and of predictions that are wrong, differs
from unit to unit. A 95 % interval should contain the true score in 95 % of the corpora; a test at 5 % should find a
difference between two equal systems in 5 % of them. The second table counts the tests that do, with McNemar's test on
spans, which takes spans for independent, for comparison.

Caveat: the simulated errors are simpler than those of a real system. With 200 corpora, a figure is right to about
3 points.

    python benchmarks/coverage.py
    python benchmarks/coverage.py --corpora 20 --units 10,30
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval.core.metric import f_measure, rate
from clueval.files.errors import CluevalError
from clueval.statistics import bca, mcnemar_exact, percentile
from clueval.statistics.jackknife import (
    Spread,
    degrees_of_freedom,
    difference_jackknife,
    effective_number,
    logit_jackknife,
    spread_of,
    standard_deviation,
    standard_error,
)
from clueval.statistics.resampling import BOOTSTRAP, SWAP, all_swapped_sums, exact_p, sampled_p, weighted_sums

RESAMPLES = 999
METHODS = ("percentile", "bca", "jackknife")
Unit = tuple[int, int, int]
"""Gold spans, predicted spans and correct spans."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Corpora of one kind: how the sizes of units spread, how many spans are found, in how many units there are any."""

    name: str
    sigma: float
    found: float
    occurs: float = 1.0
    is_recall: bool = False


SETTINGS = (
    Setting("F1, sigma 1", 1.0, 0.8),
    Setting("F1, sigma 1.6", 1.6, 0.8),
    Setting("recall of .98", 1.0, 0.98, is_recall=True),
    Setting("recall, label in 30 % of units", 1.0, 0.8, 0.3, is_recall=True),
)


def corpus(setting: Setting, units: int, rng: random.Random) -> list[Unit]:
    """Return the counts of a corpus."""
    return [_unit(setting, rng) for _ in range(units)]


def _unit(setting: Setting, rng: random.Random) -> Unit:
    if rng.random() >= setting.occurs:
        return 0, 0, 0
    gold = max(1, round(rng.lognormvariate(math.log(8), setting.sigma)))
    return _counts(gold, setting.found, rng)


def _counts(gold: int, found: float, rng: random.Random) -> Unit:
    own, wrong = rng.betavariate(12 * found, 12 * (1 - found)), rng.betavariate(2, 10)
    correct = sum(rng.random() < own for _ in range(gold))
    return gold, correct + sum(rng.random() < wrong for _ in range(gold)), correct


def score(setting: Setting, gold: float, predicted: float, correct: float) -> float:
    """Return the score that a setting is about."""
    recall = rate(correct, gold)
    return recall if setting.is_recall else f_measure(rate(correct, predicted), recall)


def true_score(setting: Setting) -> float:
    """Return the score of an endless corpus: of the expected counts, in units of any size."""
    return score(setting, 1.0, setting.found + 1 / 6, setting.found)


def contains(setting: Setting, units: Sequence[Unit], truth: float) -> Iterator[bool | None]:
    """Yield for each method whether its interval of a corpus contains the true score; None if it gives none."""
    totals = [sum(column) for column in zip(*units, strict=True)]
    whole = score(setting, *totals)
    without = [score(setting, *(t - c for t, c in zip(totals, unit, strict=True))) for unit in units]
    rows = [(f"d{n}", {place: c for place, c in enumerate(unit) if c}) for n, unit in enumerate(units)]
    sums = weighted_sums(rows, 3, BOOTSTRAP, RESAMPLES, 12345)
    resampled = [score(setting, *counts) for counts in zip(*sums, strict=True) if counts[0]] or [whole]
    sizes = [unit[0] if setting.is_recall else unit[0] + unit[1] for unit in units]
    yield _within(percentile(resampled), truth)
    try:
        yield _within(bca(resampled, whole, without), truth)
    except CluevalError:  # all resamples lie on one side
        yield None
    found = logit_jackknife(whole, without, sum(map(bool, sizes)), effective_number(sizes), 0.95)
    yield _within((found.low, found.high), truth)


def _within(ends: tuple[float | None, float | None], truth: float) -> bool | None:
    low, high = ends
    return None if low is None or high is None else low <= truth <= high


def _percent(hits: Sequence[bool | None]) -> str:
    given = [hit for hit in hits if hit is not None]
    return f"{100 * sum(given) / len(given):.0f}" if given else "-"


def coverage(corpora: int, sizes: Sequence[int], seed: int) -> Iterator[list[str]]:
    """Yield a row for each setting: the coverage of each method in percent, for each number of units."""
    for setting in SETTINGS:
        truth, cells = true_score(setting), []
        for units in sizes:
            rng = random.Random(f"{seed} {setting.name} {units}")
            hits = [list(contains(setting, corpus(setting, units, rng), truth)) for _ in range(corpora)]
            cells.append("/".join(_percent(column) for column in zip(*hits, strict=True)))
        yield [setting.name, *cells]


# Differences of two systems, and several runs

BETTER = 0.83
"""The share of spans that the second system finds; the first finds 0.8."""

RUNS = 5
SPREAD_OF_RUNS = 0.02
"""The standard deviation of the share of spans that a run finds."""


def difference_contains(units: int, rng: random.Random) -> Iterator[bool | None]:
    """Yield for each method whether its interval of the difference of F1 contains the true difference."""
    one = SETTINGS[0]
    rows = []
    for gold, predicted, correct in corpus(one, units, rng):
        _, more, found = _counts(gold, BETTER, rng)
        rows.append((gold, predicted, correct, more, found))
    truth = f_measure(BETTER / (BETTER + 1 / 6), BETTER) - true_score(one)
    totals = [sum(column) for column in zip(*rows, strict=True)]

    def difference(gold: float, predicted: float, correct: float, more: float, found: float) -> float:
        return score(one, gold, more, found) - score(one, gold, predicted, correct)

    without = [difference(*(t - c for t, c in zip(totals, row, strict=True))) for row in rows]
    named = [(f"d{n}", {place: c for place, c in enumerate(row) if c}) for n, row in enumerate(rows)]
    sums = weighted_sums(named, 5, BOOTSTRAP, RESAMPLES, 12345)
    resampled = [difference(*counts) for counts in zip(*sums, strict=True)]
    yield _within(percentile(resampled), truth)
    try:
        yield _within(bca(resampled, difference(*totals), without), truth)
    except CluevalError:  # all resamples lie on one side
        yield None
    effective = effective_number([2 * row[0] + row[1] + row[3] for row in rows])
    ends = difference_jackknife(difference(*totals), without, units, effective, 0.95)
    yield _within((ends.low, ends.high), truth)


RUN_METHODS = ("documents only", "runs only", "both")


def mean_contains(units: int, rng: random.Random) -> Iterator[bool | None]:
    """Yield whether intervals of the mean recall of some runs contain the true recall: of documents, runs, both."""
    qualities = [min(0.95, max(0.05, rng.gauss(0.8, SPREAD_OF_RUNS))) for _ in range(RUNS)]
    golds = [max(1, round(rng.lognormvariate(math.log(8), 1.0))) for _ in range(units)]
    places = [rng.random() for _ in range(units)]  # how hard a document is, for all runs alike
    runs = [
        [
            sum(rng.random() < min(1.0, own + (place - 0.5) * 0.3) for _ in range(gold))
            for gold, place in zip(golds, places, strict=True)
        ]
        for own in qualities
    ]
    truth, whole = 0.8, sum(golds)
    scores = [sum(found) / whole for found in runs]
    mean = math.fsum(scores) / RUNS
    without = [
        math.fsum((sum(found) - found[n]) / (whole - golds[n]) for found in runs) / RUNS for n in range(units)
    ]
    se, effective = standard_error(without), effective_number(golds)
    deviation = standard_deviation(scores) or 0.0
    for spread in (
        Spread(se**2, degrees_of_freedom(effective)),
        Spread(deviation**2 / RUNS, RUNS - 1),
        spread_of(se, effective, [scores]),
    ):
        half = spread.half_width(0.95)
        yield mean - half <= truth <= mean + half


CASES: dict[str, Callable[[int, random.Random], Iterator[bool | None]]] = {
    "F1 difference, sigma 1": difference_contains,
    f"mean recall of {RUNS} runs": mean_contains,
}


def more_coverage(corpora: int, sizes: Sequence[int], seed: int) -> Iterator[list[str]]:
    """Yield a row for each of `CASES`: the coverage of its methods in percent, for each number of units."""
    for name, contains_of in CASES.items():
        cells = []
        for units in sizes:
            rng = random.Random(f"{seed} {name} {units}")
            hits = [list(contains_of(units, rng)) for _ in range(corpora)]
            cells.append("/".join(_percent(column) for column in zip(*hits, strict=True)))
        yield [name, *cells]


# Tests of equal systems


class Pair(NamedTuple):
    """One unit of two systems: gold spans, those that each system found, those that only one found."""

    gold: int
    first: int
    second: int
    only_first: int
    only_second: int


def _pairs(units: int, rng: random.Random) -> list[Pair]:
    """Two systems that do not differ: in each unit, either of them is better by chance."""
    pairs = []
    for _ in range(units):
        gold = max(1, round(rng.lognormvariate(math.log(8), 1.0)))
        one, other = ([rng.random() < own for _ in range(gold)] for own in (_quality(rng), _quality(rng)))
        only_one = sum(a and not b for a, b in zip(one, other, strict=True))
        only_other = sum(b and not a for a, b in zip(one, other, strict=True))
        pairs.append(Pair(gold, sum(one), sum(other), only_one, only_other))
    return pairs


def _quality(rng: random.Random) -> float:
    return rng.betavariate(9.6, 2.4)


def by_randomisation(pairs: Sequence[Pair]) -> bool:
    """Return whether paired approximate randomisation finds a difference of recall at 5 %."""
    gold = sum(pair.gold for pair in pairs)
    changes = [pair.second - pair.first for pair in pairs]
    observed = sum(changes) / gold
    if sum(map(bool, changes)) <= 16:
        swapped = [(sum(changes) - 2 * taken) / gold for taken in all_swapped_sums([c for c in changes if c])]
        return exact_p(observed, swapped) <= 0.05
    rows = [
        (f"d{n}", {place: found for place, found in enumerate((pair.first, pair.second)) if found})
        for n, pair in enumerate(pairs)
    ]
    first, second = weighted_sums(rows, 2, SWAP, RESAMPLES, 12345)
    swapped = [(sum(changes) - 2 * (b - a)) / gold for a, b in zip(first, second, strict=True)]
    return sampled_p(observed, swapped) <= 0.05


def by_interval(pairs: Sequence[Pair]) -> bool:
    """Return whether the jackknife interval of the difference of recall leaves out 0."""
    gold = sum(pair.gold for pair in pairs)
    change = sum(pair.second - pair.first for pair in pairs)
    without = [(change - pair.second + pair.first) / (gold - pair.gold) for pair in pairs]
    differ = sum(pair.first != pair.second for pair in pairs)
    effective = effective_number([pair.gold for pair in pairs])
    found = difference_jackknife(change / gold, without, differ, effective, 0.95)
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def by_mcnemar(pairs: Sequence[Pair]) -> bool:
    """Return whether McNemar's test on spans does."""
    return (
        mcnemar_exact(sum(pair.only_first for pair in pairs), sum(pair.only_second for pair in pairs)) <= 0.05
    )


TESTS: dict[str, Callable[[Sequence[Pair]], bool]] = {
    "randomisation": by_randomisation,
    "interval of the difference": by_interval,
    "McNemar on spans": by_mcnemar,
}


def false_alarms(corpora: int, sizes: Sequence[int], seed: int) -> Iterator[list[str]]:
    """Yield a row for each test: how often it finds a difference that is none, in percent."""
    found: dict[str, list[str]] = {name: [] for name in TESTS}
    for units in sizes:
        rng = random.Random(f"{seed} {units}")
        drawn = [_pairs(units, rng) for _ in range(corpora)]
        for name, test in TESTS.items():
            found[name].append(f"{100 * sum(map(test, drawn)) / corpora:.0f}")
    return ([name, *cells] for name, cells in found.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=int, default=200, help="corpora for each figure (200)")
    parser.add_argument(
        "--units", default="10,30,100", help="numbers of units, separated by commas (10,30,100)"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.units.split(",")]
    header = ["units", *map(str, sizes)]
    print(f"Coverage in percent, 95 nominal: {' / '.join(METHODS)}; {options.corpora} corpora\n")
    _print(header, coverage(options.corpora, sizes, options.seed))
    print(f"\nDifference: {' / '.join(METHODS)}; mean over runs, spread of {' / '.join(RUN_METHODS)}\n")
    _print(header, more_coverage(options.corpora, sizes, options.seed))
    print(f"\nDifferences found between equal systems, in percent, 5 nominal; {options.corpora} corpora\n")
    _print(header, false_alarms(options.corpora, sizes, options.seed))
    return 0


def _print(header: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"| {' | '.join(header)} |")
    print(f"|{' --- |' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
