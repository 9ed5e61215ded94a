"""How the rates of an entry of a report follow from counts that stand in the same entry.

An entry is recognised by its names. `tests/evaluation/units` checks each recipe against the scores of its metric;
where there is no recipe, scores are computed by the metric itself, which costs more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from clueval.metrics.counting import f_measure, rate

Path = tuple[str, ...]
Numbers = Sequence[float]
Rates = list[list[float | None]]

_RATE = re.compile(r"(?:^|_)(?:precision|recall|accuracy|rate|f\d+(?:\.\d+)?)(?:_|$)")


class Recipe(NamedTuple):
    """The names of some counts, and a function from columns of them to columns of `rates`.

    `is_defined`: no rate is ever undefined.
    """

    counts: tuple[str, ...]
    rates: tuple[str, ...]
    function: Callable[..., Rates]
    is_defined: bool = True


def is_rate(name: str, value: object) -> bool:
    """Return whether a number of a report is a rate, by its name.

    >>> is_rate("recall_strict", 0.5), is_rate("documents_with_recall", 3), is_rate("f0.5", 0.5)
    (True, False, True)
    """
    return (type(value) is float or value is None) and _RATE.search(name) is not None


def entries(report: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield all dictionaries of a report that have a rate, with their paths."""
    if any(is_rate(name, value) for name, value in report.items()):
        yield path, report
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from entries(value, (*path, name))


def recipe_of(entry: Mapping[str, Any]) -> Recipe | None:
    """Return the recipe of an entry that is no mean over labels; None if there is none."""
    rates = {name for name, value in entry.items() if is_rate(name, value)}
    for recipe in (_of_gate(),) if "targets" in entry else _RECIPES:
        if rates == set(recipe.rates) and entry.keys() >= {*recipe.counts}:
            return recipe
    return None


def _prf(gold: Numbers, predicted: Numbers, tp_gold: Numbers, tp_predicted: Numbers) -> Rates:
    return _with_f1(
        [part / whole if whole else 0.0 for part, whole in zip(tp_predicted, predicted, strict=True)],
        [part / whole if whole else 0.0 for part, whole in zip(tp_gold, gold, strict=True)],
    )


def _with_f1(precisions: list[float], recalls: list[float]) -> Rates:
    return [[*precisions], [*recalls], list(map(f_measure, precisions, recalls))]


def _muc(correct: Numbers, partial: Numbers, possible: Numbers, actual: Numbers) -> Rates:
    credits = [own + 0.5 * half for own, half in zip(correct, partial, strict=True)]
    return _with_f1(list(map(rate, credits, actual)), list(map(rate, credits, possible)))


def _fair(tp: Numbers, fp: Numbers, fn: Numbers, *others: Numbers) -> Rates:
    halves = [sum(row) / 2 for row in zip(*others, strict=True)] or [0.0] * len(tp)
    return _with_f1(
        [rate(own, own + (wrong + half)) for own, wrong, half in zip(tp, fp, halves, strict=True)],
        [rate(own, own + (wrong + half)) for own, wrong, half in zip(tp, fn, halves, strict=True)],
    )


def _noisy(gold: Numbers, predicted: Numbers, matched: Numbers) -> Rates:
    precisions, recalls = (
        [part / whole if whole else None for part, whole in zip(matched, wholes, strict=True)]
        for wholes in (predicted, gold)
    )
    f1s = [
        None if precision is None or recall is None else f_measure(precision, recall)
        for precision, recall in zip(precisions, recalls, strict=True)
    ]
    return [precisions, recalls, f1s]


@cache
def _of_gate() -> Recipe:
    from clueval.metrics.gate.counts import NAMES, GateCounts  # only where there are its counts

    def function(*columns: Numbers) -> Rates:
        rows = [GateCounts(*row).measures().values() for row in zip(*columns, strict=True)]
        return list(map(list, zip(*rows, strict=True)))

    return Recipe(NAMES, tuple(GateCounts().measures()), function)


_THREE = ("precision", "recall", "f1")

_RECIPES = (
    Recipe(("gold", "predicted", "tp_gold", "tp_predicted"), _THREE, _prf),
    Recipe(("correct", "partial", "possible", "actual"), _THREE, _muc),
    Recipe(("TP", "FP", "FN", "LE", "BE", "LBE"), _THREE, _fair),
    Recipe(("TP", "FP", "FN"), _THREE, _fair),
    Recipe(("gold", "predicted", "matched"), _THREE, _noisy, is_defined=False),
)

_SIZES = (
    (("gold",), ("predicted",)),
    (("targets",), ("responses",)),
    (("possible",), ("actual",)),
    (("TP", "FN"), ("TP", "FP")),
    (("mentions",), ("mentions",)),
    (("words",), ("words",)),
)
"""Under which names an entry has its gold spans and its predicted spans; one of masking has the same for both."""


def sizes_of(report: Mapping[str, Any], path: Path) -> tuple[list[Path], list[Path]] | None:
    """Return the paths of the counts that add up to the gold spans and to the predicted spans of an entry.

    An entry that has none has those of the entry that it stands in, or the first ones of the report; None if the
    report has none at all.
    """
    for end in range(len(path), -1, -1):
        if (found := _sizes_at(report, path[:end])) is not None:
            return found
    return next((found for place, _ in entries(report) if (found := _sizes_at(report, place))), None)


def _sizes_at(report: Mapping[str, Any], path: Path) -> tuple[list[Path], list[Path]] | None:
    beside = (*path[:-1], "traditional")
    if path and entry_at(report, beside):
        path = beside
    entry = entry_at(report, path)
    for names in _SIZES:
        gold, predicted = names
        if all(isinstance(entry.get(name), int | float) for name in (*gold, *predicted)):
            return [(*path, name) for name in gold], [(*path, name) for name in predicted]
    return None


def entry_at(report: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    found: Any = report
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
