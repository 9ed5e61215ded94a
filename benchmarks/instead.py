"""Compares functions of clueval with the usual alternatives, in memory and on the same spans.

Each function of `RIVALS` is compared with a package from PyPI and a few lines of code, on spans with an error in 20 %
of the sentences: ``--spans`` per side in one document, and the same spans in documents of `PIECE` spans. clueval is
called for each document; the package gets all documents in one call if it can. If both should have the same result
and do not, there are no figures; a package that is not installed is named. `rivals.span_tools` describes the packages,
their versions, and what can be compared. See ``README.md`` for the caveats.

    python benchmarks/instead.py
    python benchmarks/instead.py --functions levels muc --spans 500 --runs 2
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from measure import Spread, environment, progress
from rivals import span_tools
from structures import JOBS, LAYERS, SHAPES, Case, Different

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.muc import Muc

PIECE = 20
"""The spans per side of a document, if there are several documents."""

Cases = Sequence[Case]
Plains = list[span_tools.Plain]


def pieces(case: Case) -> list[Case]:
    """Return the case as documents of `PIECE` gold spans, or a few more if a predicted span crosses the border."""
    found, first, other_first, other = [], 0, 0, 0
    for number in range(1, len(case.gold) + 1):
        start = case.gold[number].start if number < len(case.gold) else None
        while other < len(case.predicted) and (start is None or case.predicted[other].start < start):
            other += 1
        crosses = start is not None and other and case.predicted[other - 1].end > start
        if start is None or (number - first >= PIECE and not crosses):
            found.append(Case(case.gold[first:number], case.predicted[other_first:other]))
            first, other_first = number, other
    return found


@dataclass(frozen=True, slots=True)
class Rival:
    """An alternative to a function. `given` creates its input before the measurement.

    `same` returns whether two results are equal; if it is None, the two do different jobs.
    """

    function: str
    name: str
    packages: tuple[str, ...]
    ours: Callable[[Cases], list[Any]]
    given: Callable[[Cases], Any]
    theirs: Callable[[Any], Any]
    same: Callable[[list[Any], Any], bool] | None = None


def _each(function: Callable[[Any], Any]) -> Callable[[Iterable[Any]], list[Any]]:
    return lambda cases: [function(case) for case in cases]


def _dicts(cases: Cases) -> tuple[list[Any], list[Any], list[str]]:
    gold, predicted = zip(
        *(map(span_tools.as_nervaluate_takes_them, case.plain) for case in cases), strict=True
    )
    labels = {span.label for case in cases for side in case.plain for span in side}
    return list(gold), list(predicted), sorted(labels)


def _nervaluate(given: tuple[list[Any], list[Any], list[str]]) -> dict[str, dict[str, int]]:
    return span_tools.by_nervaluate(*given)


def _same_categories(ours: list[Tally], theirs: dict[str, dict[str, int]]) -> bool:
    strict = Muc().scores(sum(ours, Tally()), [DEFAULT_LAYER])["strict"]
    return all(strict[category] == n for category, n in theirs["strict"].items())


def _all_spans(cases: Cases) -> list[Plains]:
    return [[*gold, *predicted] for gold, predicted in (case.plain for case in cases)]


def _same_components(ours: list[list[list[Span]]], theirs: list[list[Plains]]) -> bool:
    return theirs == [
        sorted(sorted((span.start, span.end, span.label) for span in component) for component in components)
        for components in ours
    ]


def _all_layers(cases: Cases) -> list[dict[str, Sequence[span_tools.Plain]]]:
    """Return the layers of `Case.layers`."""
    sides = (case.plain for case in cases)
    return [dict(zip(LAYERS, (gold, predicted, gold), strict=True)) for gold, predicted in sides]


def _same_layers(ours: list[list[Span]], theirs: list[list[span_tools.Merged]]) -> bool:
    return theirs == [
        [(span.start, span.end, tuple(span.by_layer.values())) for span in merged] for merged in ours
    ]


_by_nervaluate = partial(Rival, name="nervaluate", packages=("nervaluate",), given=_dicts, theirs=_nervaluate)

RIVALS: tuple[Rival, ...] = (
    _by_nervaluate("muc", ours=_each(lambda case: Muc().count(*case.sides)), same=_same_categories),
    *(_by_nervaluate(name, ours=_each(JOBS[name].ours)) for name in ("levels", "exact", "partial", "gate")),
    Rival(
        "overlap_components",
        "networkx over a tree",
        ("networkx", "intervaltree"),
        _each(JOBS["overlap_components"].ours),
        _all_spans,
        _each(span_tools.components_by_networkx),
        _same_components,
    ),
    Rival(
        "overlap_components",
        "merge_overlaps",
        ("intervaltree",),
        _each(JOBS["overlap_components"].ours),
        _all_spans,
        _each(span_tools.components_by_merging),
        _same_components,
    ),
    Rival(
        "merge_layers",
        "merge_overlaps and a loop",
        ("intervaltree",),
        _each(JOBS["merge_layers"].ours),
        _all_layers,
        _each(span_tools.layers_by_merging),
        _same_layers,
    ),
)
FUNCTIONS = tuple(dict.fromkeys(rival.function for rival in RIVALS))


def seconds(function: Callable[[Any], Any], given: Any, runs: int) -> Spread:
    """Return the seconds that a function takes, with the garbage of the previous call collected."""
    taken = []
    for _ in range(runs):
        gc.collect()
        start = perf_counter()
        function(given)
        taken.append(perf_counter() - start)
    return Spread.of(taken)


def rows(rival: Rival, spans: int, runs: int) -> Iterator[list[str]]:
    """Compare a function with a rival, in one document and in many. Raises `Different`."""
    whole = SHAPES["ordinary"](spans)
    for where, cases in (("one document", [whole]), (f"documents of {PIECE}", pieces(whole))):
        if absent := span_tools.missing(rival.packages):
            yield [rival.function, where, "", rival.name, f"not installed: {', '.join(absent)}", ""]
            continue
        given = rival.given(cases)
        results = rival.ours(cases), rival.theirs(given)  # also creates cached values
        if rival.same is not None and not rival.same(*results):
            raise Different(f"{rival.function} and {rival.name} do not give the same")
        del results
        ours, theirs = seconds(rival.ours, cases, runs), seconds(rival.theirs, given, runs)
        times = [spread.show(unit=1e-3, digits=1) for spread in (ours, theirs)]
        job = "" if rival.same is not None else " (another job)"
        yield [
            rival.function,
            where,
            times[0],
            rival.name + job,
            times[1],
            f"{theirs.median / ours.median:.1f}",
        ]


def table(functions: Sequence[str], spans: int, runs: int) -> str:
    """Return a Markdown table with two rows for each rival of these functions. Raises `Different`."""
    header = ["function", f"{spans:,} spans a side in", "ms", "instead", "its ms", "instead / it"]
    lines = [header, ["---", "---", "---:", "---", "---:", "---:"]]
    for rival in RIVALS:
        if rival.function in functions:
            progress(f"{rival.function}: {rival.name}")
            lines.extend(rows(rival, spans, runs))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table; return 2 if the results of a function and its rival differ."""
    parser = argparse.ArgumentParser(description="Compare functions over spans with the usual alternatives.")
    parser.add_argument("--spans", type=int, default=2_000, help="spans a side (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="counted calls of each function (%(default)s)")
    parser.add_argument(
        "--functions",
        nargs="+",
        choices=FUNCTIONS,
        default=list(FUNCTIONS),
        metavar="NAME",
        help=", ".join(FUNCTIONS),
    )
    options = parser.parse_args(arguments)
    if min(options.spans, options.runs) < 1:
        parser.error("spans and runs must be at least 1")
    try:
        figures = table(options.functions, options.spans, options.runs)
    except Different as error:
        print(f"instead.py: {error}", file=sys.stderr)
        return 2
    packages = ("clueval", *dict.fromkeys(package for rival in RIVALS for package in rival.packages))
    settings = f"* {options.runs} calls; median ms (least-greatest)"
    print(f"{environment(packages)}\n{settings}", figures, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
