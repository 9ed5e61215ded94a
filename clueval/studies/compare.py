"""`compare`: is a system better than another one, and by how much?

`clueval.results.comparing` has the tests; here are the scores that are tested, and the systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

from clueval.core.count import DOCUMENT
from clueval.files.arguments import checked_call
from clueval.files.errors import UsageError
from clueval.files.overwriting import keeps_inputs
from clueval.results.comparing import ComparedUnits, Comparing, DropTest
from clueval.results.options import RESAMPLES, SEED, Trust
from clueval.results.paths import score_names, whole_path
from clueval.results.rates import entry_at
from clueval.results.result import Result
from clueval.results.rows import Path, headline_paths, number_at
from clueval.statistics.jackknife import rounded
from clueval.statistics.resampling import holm
from clueval.studies.comparison import Comparison, Details
from clueval.studies.given_systems import given_systems, systems_of, units_of_systems

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
    all_pairs: bool = False,
    **named: Any,
) -> Comparison:
    """Compare systems on the same gold: saved results, or predictions that are scored here.

    ``compare("a.clueval", "b.clueval")`` compares saved results, ``compare("gold.conll", base="a.conll",
    large=["b.1.conll", "b.2.conll"])`` scores the files first. Of results by document, those documents are compared
    that all have with the same text.

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
        all_pairs: test the differences of F1 of all pairs of systems, with Holm's correction over the pairs.
        named: systems by name, and with gold the options of `clueval.score`, as ``metrics="exact"``.

    Raises `UsageError` for results that cannot be compared and for scores that do not exist.

    >>> gold, system = [["B-PER", "B-LOC"]] * 8, [["B-PER", "O"]] * 8
    >>> rows = compare(gold, base=system, better=gold, metrics="exact", scores=["f1"]).rows()
    >>> [(row["system"], row["against"], row["difference"], row["p"]) for row in rows if row["against"]]
    [('better', 'base', 0.3333333333, 0.0078125)]
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
    units = units_of_systems(compared)
    first = compared[order[0]][0]
    work = Comparing(units, trust, detect, several_golds=_has_several_golds(first))
    paths = chosen_paths(work.reports(), scores)
    for text, path in zip(scores or (), paths, strict=False):
        work.require_rate(text, path)
    own = units.runs[order[0]][0]
    tokens = dict(zip(own.keys, own.positions, strict=True))
    return Comparison(
        str(first.signature),
        own.by or "",
        len(units.keys),
        order,
        [work.score(".".join(path), path) for path in paths],
        len(units.keys) if own.by == DOCUMENT else first.documents,
        sum(map(tokens.__getitem__, units.keys)),
        confidence,
        detect,
        partial(_details, work, paths),
        {".".join(path): name for path, name in score_names(paths).items()},
        {name: number for name, number in units.left_out.items() if number},
        list(_of_pairs(units, trust, paths)) if all_pairs else (),
    )


def _details(work: Comparing, paths: Iterable[Path]) -> Details:
    """Return F1 of each label, and the units in which the systems differ most."""
    return [work.score(text, path) for text, path in _labels(work)], list(work.most(paths))


def _of_pairs(units: ComparedUnits, trust: Trust, paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield for each F1 among the scores the differences of all pairs of systems."""
    for path in paths:
        if not path[-1].startswith("f1"):
            continue
        text = ".".join(path)
        entries = []
        for one, two in combinations(units.runs, 2):
            pair = replace(units, runs={name: units.runs[name] for name in (one, two)})
            (entry,) = Comparing(pair, trust).score(text, path)["against_baseline"]
            entries.append({"against": one, **entry})
        with_p = [entry for entry in entries if entry["p"] is not None]
        for entry, p in zip(with_p, holm([entry["p"] for entry in with_p]), strict=True):
            entry["p_holm"] = rounded(p)
        yield {"score": text, "pairs": entries}


def _has_several_golds(result: Result) -> bool:
    """Return whether gold was chosen for each system, of several golds or alternatives."""
    return "gold" in result.signature.choices


def _baseline(name: str | None, systems: Mapping[str, Any]) -> str:
    """Return the name of the baseline: the one that is asked for, or the first."""
    if name is not None and name not in systems:
        raise UsageError(f"there is no system {name!r}", advice=f"one of {', '.join(systems)}")
    return next(iter(systems)) if name is None else name


def drop_tests(
    baseline: Result, other: Result, scores: Iterable[Path], allowed: float, trust: Trust
) -> Iterator[DropTest]:
    """Yield for each score the test of whether it is worse than the baseline's by more than `allowed`.

    Raises `UsageError` for results that cannot be compared.
    """
    systems = systems_of({"the baseline": baseline, "this result": other}, force=False)
    units = units_of_systems(systems)
    if any(units.left_out.values()):
        raise UsageError(
            "the baseline and this result have different documents", advice="score the same documents"
        )
    work = Comparing(units, trust, several_golds=_has_several_golds(baseline))
    for path in scores:
        work.require_rate(".".join(path), path)
        yield work.drop_test(path, allowed)


def _labels(work: Comparing) -> Iterator[tuple[str, Path]]:
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
