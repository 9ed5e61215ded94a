"""`compare`: is a system better than another one, and by how much?

Every score has an interval in each system, and the difference to the first system, the baseline, has a p-value by
paired approximate randomisation, an interval, and the difference that this test set can show. Several runs of a
system are tested by t, with the spread over units and over runs. `clueval.statistics` has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import sub
from typing import Any, NamedTuple

from clueval.arguments import checked_call
from clueval.evaluation.options import RESAMPLES, SEED, Trust
from clueval.evaluation.result import Result
from clueval.evaluation.score_path import (
    Path,
    headline_paths,
    headline_rates,
    number_at,
    score_names,
    whole_path,
)
from clueval.evaluation.units.columns import Column, UnitColumns, counts_by_kind, entry_at
from clueval.evaluation.units.intervals import reported_sequences
from clueval.evaluation.units.rates import RateGroup, groups_of
from clueval.files.errors import UsageError
from clueval.files.overwriting import keeps_inputs
from clueval.first.metrics.counting import Tally
from clueval.statistics.distributions import t_below
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    detectable,
    difference_jackknife,
    effective_number,
    rounded,
    spread_of,
    standard_deviation,
    standard_error,
)
from clueval.statistics.resampling import (
    MOST_FOR_ALL_SWAPS,
    SWAP,
    all_swapped_sums,
    exact_p,
    holm,
    sampled_p,
    weighted_sums,
)
from clueval.studies.comparison import Comparison
from clueval.studies.given_systems import given_systems
from clueval.studies.systems import (
    UNDEFINED,
    UNDEFINED_WITHOUT,
    ComparedSystem,
    TestedRate,
    all_units,
    differences,
    systems_of,
)

LAST_RATE = slice(-1, None)
"""F1, or what a metric has in its place, among the rates of a headline."""

LEAST_DETECTED = 1e-9
"""The least difference for which the number of units is computed."""


@keeps_inputs
@checked_call
def compare(
    *systems: Any,
    gold: Any = None,
    baseline: str | None = None,
    scores: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    detect: float | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    force: bool = False,
    details: bool = False,
    **named: Any,
) -> Comparison:
    """Compare systems on the same gold: saved results, or predictions that are scored here.

    ``compare("a.clueval", "b.clueval")`` compares saved results, ``compare("gold.conll", base="a.conll",
    large=["b.1.conll", "b.2.conll"])`` scores the files first.

    Args:
        systems: one after the other, or by name in a dictionary. Each is a result with counts by unit, the file of a
            saved one, or a list or pattern of these, the runs of a system. If the first is anything else, it is gold,
            and the others may be what `clueval.score` takes as predicted.
        gold: gold, if it is not the first of `systems`.
        baseline: the name of the system with which the others are compared. None: the first.
        scores: paths below ``metrics`` in the JSON, as ``exact.entity.micro.f1``. None: precision, recall and F1 of
            each headline.
        names: of the systems that have none.
        detect: a difference (a fraction); how many units it would take to show it is computed.
        confidence: of the intervals.
        resamples, seed: of the random swaps, if more than 16 units differ.
        force: compare although signatures or gold files differ.
        details: compare F1 of each label, too, and find the units in which the systems differ most, for a page.
        named: systems by name, and with gold the options of `clueval.score`, as ``metrics="exact"``.

    Raises `UsageError` for results that cannot be compared and for scores that do not exist.
    """
    trust = Trust(confidence=confidence, resamples=resamples, seed=seed)
    if detect is not None and not LEAST_DETECTED <= detect <= 1:
        raise UsageError(
            f"detect must be a difference from {LEAST_DETECTED:g} to 1, not {detect!r}",
            advice="a fraction, as 0.01",
        )
    given = given_systems(systems, named, gold, names)
    order = sorted(given.systems, key=lambda name: name != _baseline(baseline, given.systems))
    runs = given.scored()
    compared = systems_of({name: runs[name] for name in order}, force)
    work = _Comparing(compared, trust, detect)
    paths = chosen_paths(work.reports(), scores)
    for text, path in zip(scores or (), paths, strict=False):
        work.require_rate(text, path)
    labels = list(_labels(work)) if details else []
    first = compared[0].runs[0]
    assert first.counted is not None
    assert first.counted.units is not None
    return Comparison(
        str(first.signature),
        first.counted.units.by,
        len(compared[0].units[0]),
        order,
        [work.score(".".join(path), path) for path in paths],
        first.documents,
        first.tokens,
        confidence,
        detect,
        [work.score(text, path) for text, path in labels],
        list(work.most(paths)) if details else (),
        {".".join(path): name for path, name in score_names(paths).items()},
    )


def _baseline(name: str | None, systems: Mapping[str, Any]) -> str:
    """Return the name of the baseline: the one that is asked for, or the first."""
    if name is not None and name not in systems:
        raise UsageError(f"there is no system {name!r}", advice=f"one of {', '.join(systems)}")
    return next(iter(systems)) if name is None else name


class DropTest(NamedTuple):
    """A test of whether a score has fallen: its name and its p-value, None if it cannot be computed."""

    test: str
    p: float | None


def drop_tests(
    baseline: Result, other: Result, scores: Iterable[Path], allowed: float, trust: Trust
) -> Iterator[DropTest]:
    """Yield for each score the test of whether it is worse than the baseline's by more than `allowed`.

    Raises `UsageError` for results that cannot be compared.
    """
    work = _Comparing(systems_of({"the baseline": baseline, "this result": other}, force=False), trust, None)
    for path in scores:
        work.require_rate(".".join(path), path)
        yield work.drop_test(path, allowed)


def _labels(work: _Comparing) -> Iterator[tuple[str, Path]]:
    """F1 of every label, where a metric has it beside its headline."""
    reports = work.reports()
    for metric, sequence, *place, rate in headline_paths(reports, LAST_RATE):
        for before, after in ((place[:-1], ()), ((), place[-1:])):
            for label, entry in entry_at(reports[metric][sequence], (*before, "per_label")).items():
                if number_at(entry, (*after, rate)) is not None:
                    yield label, (metric, sequence, *before, "per_label", label, *after, rate)


def chosen_paths(
    reports: Mapping[str, Any], scores: Iterable[str] | None, rates: slice = slice(None)
) -> list[Path]:
    """Return the paths of scores; None: those of the rates of each headline. Raises `UsageError` for unknown ones."""
    if scores is not None:
        return [whole_path(reports, text) for text in scores]
    return list(headline_paths(reports, rates))


class _Comparing:
    """The units of all systems, and the columns of the metrics and sequences that were asked for."""

    def __init__(self, systems: Sequence[ComparedSystem], trust: Trust, detect: float | None) -> None:
        self._systems, self._trust, self._detect = systems, trust, detect
        self._units = all_units(systems)
        self._size = len(systems[0].units[0])
        self._keys = [unit.key for unit in systems[0].units[0]]
        first = systems[0].runs[0].counted
        assert first is not None
        self._metrics = {metric.name: metric for metric in first.metrics}
        self._layers = {
            metric.name: reported_sequences(metric, first.sequences, self._units) for metric in first.metrics
        }
        self._columns: dict[tuple[str, str], UnitColumns] = {}
        self._groups: dict[Path, RateGroup] = {}
        self._swapped: dict[tuple[int, int], list[list[float]]] = {}

    def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports on all systems together, which name every label that one of them has."""
        return {
            name: {sequence: self._source(name, sequence).report for sequence in self._layers[name]}
            for name in self._metrics
        }

    def require_rate(self, text: str, path: Path) -> None:
        """Raise `UsageError` for a number that is no rate."""
        if next(groups_of(self._source(*path[:2]), path[2:]), None) is None:
            raise UsageError(f"{text} is not a rate", advice="compare precision, recall, F1 or another rate")

    def score(self, text: str, path: Path) -> dict[str, Any]:
        """Return what is said about one score."""
        place = path[2:]
        source, group = self._source(*path[:2]), self._group(path)
        tested = [TestedRate(source, group, place, runs) for runs in self._members()]
        values = [self._value(system.name, one) for system, one in zip(self._systems, tested, strict=True)]
        against = [
            {"system": system.name, **self._difference(group, tested[0], one)}
            for system, one in zip(self._systems[1:], tested[1:], strict=True)
        ]
        with_p = [entry for entry in against if entry["p"] is not None]
        for entry, p in zip(with_p, holm([entry["p"] for entry in with_p]), strict=True):
            entry["p_holm"] = rounded(p)
        return {"score": text, "values": values, "against_baseline": against}

    def drop_test(self, path: Path, allowed: float) -> DropTest:
        """Return the test of the hypothesis that a score of the second system is at most `allowed` below the first.

        By randomisation if no drop is allowed; otherwise by t, one-sided.
        """
        source, group = self._source(*path[:2]), self._group(path)
        own, other = [TestedRate(source, group, path[2:], runs) for runs in self._members()]
        test = "t" if allowed else "randomisation"
        if own.score is None or other.score is None:
            return DropTest(test, None)
        difference = other.score - own.score
        if not allowed:
            p = self._p(group, own, other, difference, own.units_that_differ(other))
            return DropTest(test, rounded(p))
        if own.without is None or other.without is None:
            return DropTest(test, None)
        se, above = standard_error(differences(own.without, other.without)), difference + allowed
        t = above / se if se else math.copysign(math.inf, above)
        return DropTest(test, rounded(t_below(t, degrees_of_freedom(_effective(own, other)))))

    def most(self, paths: Iterable[Path], number: int = 20) -> Iterator[dict[str, Any]]:
        """Yield the units that the differences of the F1s among these scores depend on most."""
        for path in paths:
            if not path[-1].startswith("f1"):
                continue
            source, group = self._source(*path[:2]), self._group(path)
            own, *others = [TestedRate(source, group, path[2:], runs) for runs in self._members()]
            for system, other in zip(self._systems[1:], others, strict=True):
                shares = list(own.shares(other))
                differ = {*own.units_that_differ(other)}
                largest = sorted(shares, key=lambda share: (-abs(share[0]), share[1]))[:number]
                units = [
                    (self._keys[unit], share, self._units[unit].tokens)
                    for share, unit in largest
                    if unit in differ
                ]
                yield {"score": ".".join(path), "system": system.name, "units": units}

    def _source(self, metric: str, sequence: str) -> UnitColumns:
        place = metric, sequence
        if place not in self._columns:
            tallies = [unit.tallies.get(place, Tally()) for unit in self._units]
            source = UnitColumns(self._metrics[metric], self._layers[metric][sequence], tallies)
            self._columns[place] = source
            self._require_gold(source, sequence)
        return self._columns[place]

    def _require_gold(self, source: UnitColumns, sequence: str) -> None:
        """Raise `UsageError` if a unit has other gold spans in another system."""
        for path in headline_rates(sequence, source.report)[-1:]:
            gold, predicted = next(groups_of(source, path)).sizes[path]
            if gold is predicted:  # the metric does not tell the sides apart
                continue
            golds = dict(gold.items())
            for number, kind in enumerate(source.kind_of):
                unit = number % self._size
                if golds.get(kind) != golds.get(source.kind_of[unit]):
                    raise self._different_gold(self._keys[unit])

    def _different_gold(self, unit: str) -> UsageError:
        """The error for a unit that has other gold spans in another system."""
        problem = f"the systems have different gold spans in unit {unit!r}"
        if "gold" in self._systems[0].runs[0].signature.choices:  # several golds, or alternatives
            return UsageError(
                f"{problem}: of several golds, each system was scored against the one nearest to it",
                advice="score all systems against the same gold, without Preparing.any_of and alternatives",
            )
        return UsageError(problem, advice="score them against the same gold")

    def _group(self, path: Path) -> RateGroup:
        if path not in self._groups:
            group = next(groups_of(self._source(*path[:2]), path[2:]))
            for other in group.paths:
                self._groups[*path[:2], *other] = group
        return self._groups[path]

    def _members(self) -> Iterator[list[range]]:
        """The numbers of the units of each run, by system."""
        start = 0
        for system in self._systems:
            yield [
                range(start + n * self._size, start + (n + 1) * self._size) for n in range(len(system.runs))
            ]
            start += len(system.runs) * self._size

    def _value(self, name: str, one: TestedRate) -> dict[str, Any]:
        found: dict[str, Any] = {"system": name, "value": one.score}
        interval = one.interval(self._trust.confidence)
        found |= {"low": rounded(interval.low), "high": rounded(interval.high)}
        if interval.reason is not None:
            found["reason"] = interval.reason
        if interval.bound:
            found["bound"] = True
        deviation = standard_deviation(one.scores)
        if deviation is not None:
            found |= {
                "sd": rounded(deviation),
                "runs": len(one.scores),
                "min": min(one.scores),
                "max": max(one.scores),
            }
        return found

    def _difference(self, group: RateGroup, own: TestedRate, other: TestedRate) -> dict[str, Any]:
        differ = own.units_that_differ(other)
        by_runs = max(len(runs) for runs in (own.runs, other.runs)) > 1
        is_exact = not by_runs and len(differ) <= MOST_FOR_ALL_SWAPS
        difference = None if own.score is None or other.score is None else other.score - own.score
        p: float | None = None
        if difference is None:
            ends, df = Interval(None, None, None, len(differ), None, f"{UNDEFINED} in a system"), 1.0
        elif by_runs:
            ends, p, df = self._by_runs(difference, own, other, len(differ))
        else:
            ends, df = self._by_units(difference, own, other, len(differ))
            p = self._p(group, own, other, difference, differ)
        shown = None if ends.se is None or ends.low is None else detectable(ends.se, df)
        found = {
            "difference": rounded(difference),
            "low": rounded(ends.low),
            "high": rounded(ends.high),
            "p": rounded(p),
            "p_holm": rounded(p),
            "test": "t" if by_runs else "randomisation",
            "exact": is_exact,
            "units_that_differ": len(differ),
            "detectable": rounded(shown),
        }
        if ends.reason is not None:
            found["reason"] = ends.reason
        if self._detect is not None:
            needed = None if shown is None else math.ceil(self._size * (shown / self._detect) ** 2 - 1e-9)
            found["units_needed"] = needed
        return found

    def _by_units(
        self, difference: float, own: TestedRate, other: TestedRate, differ: int
    ) -> tuple[Interval, float]:
        """The interval of the difference of two single runs, and its degrees of freedom."""
        effective = _effective(own, other)
        df = degrees_of_freedom(effective)
        if own.without is None or other.without is None:
            return Interval(None, None, None, differ, effective, UNDEFINED_WITHOUT), df
        without = differences(own.without, other.without)
        return difference_jackknife(difference, without, differ, effective, self._trust.confidence), df

    def _by_runs(
        self, difference: float, own: TestedRate, other: TestedRate, differ: int
    ) -> tuple[Interval, float | None, float]:
        """The interval of the difference of two means over runs, its p-value and its degrees of freedom."""
        effective = _effective(own, other)
        if own.without is None or other.without is None:
            return Interval(None, None, None, differ, effective, UNDEFINED_WITHOUT), None, 1.0
        se_units = standard_error(differences(own.without, other.without))
        spread = spread_of(se_units, effective, [own.scores, other.scores])
        half, se = spread.half_width(self._trust.confidence), math.sqrt(spread.variance)
        ends = Interval(difference - half, difference + half, se, differ, effective)
        return ends, spread.p(difference), spread.df

    def _p(
        self, group: RateGroup, own: TestedRate, other: TestedRate, observed: float, differ: Sequence[int]
    ) -> float:
        if not differ:
            return 1.0
        place = id(group), other.runs[0].start
        if place not in self._swapped:
            self._swapped[place] = self._after_swaps(group, own, other, differ)
        test = exact_p if len(differ) <= MOST_FOR_ALL_SWAPS else sampled_p
        return test(observed, self._swapped[place][own.place])

    def _after_swaps(
        self, group: RateGroup, own: TestedRate, other: TestedRate, differ: Sequence[int]
    ) -> list[list[float]]:
        """The difference of each rate of a group after each swap."""
        columns = group.columns
        different = list({id(column): column for column in columns}.values())
        pairs = [(own.kinds(unit)[0], other.kinds(unit)[0]) for unit in differ]
        if len(differ) <= MOST_FOR_ALL_SWAPS:
            sums = [all_swapped_sums([column.at(b) - column.at(a) for a, b in pairs]) for column in different]
        else:
            sums = self._random_swaps(different, pairs, [self._keys[unit] for unit in differ])
        by_column = dict(zip(map(id, different), sums, strict=True))
        changes = [by_column[id(column)] for column in columns]
        firsts, seconds = own.shifted(columns, changes, 1), other.shifted(columns, changes, -1)
        return [
            [
                math.inf if one is None or two is None else two - one
                for one, two in zip(*of_systems, strict=True)
            ]
            for of_systems in zip(group.values(firsts), group.values(seconds), strict=True)
        ]

    def _random_swaps(
        self, columns: Sequence[Column], pairs: Sequence[tuple[int, int]], keys: Sequence[str]
    ) -> list[list[int]]:
        """By how much each column of the first system grows in each of the random swaps."""
        counts, rows = counts_by_kind(columns), []
        for key, (a, b) in zip(keys, pairs, strict=True):
            row = {2 * place: count for place, count in counts.get(a, {}).items()}
            row |= {2 * place + 1: count for place, count in counts.get(b, {}).items()}
            rows.append((key, row))
        sums = weighted_sums(rows, 2 * len(columns), SWAP, self._trust.resamples, self._trust.seed)
        return [list(map(sub, second, first)) for first, second in zip(sums[::2], sums[1::2], strict=True)]


def _effective(own: TestedRate, other: TestedRate) -> float:
    """The effective number of units of two systems together."""
    return effective_number([one + two for one, two in zip(own.sizes, other.sizes, strict=True)])
