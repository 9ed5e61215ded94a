"""Declared keys and rates: which keys a tally has, and which rates of a report follow from which counts, and how.

A metric declares its rates in `Needs.rates`, given the keys of a tally. From that follow the rates of many corpora at
once: without each unit, resampled, with units swapped. Rates that are not declared are computed by scoring every
corpus, which costs more, and in their intervals all units weigh the same. `tests/evaluation/units` checks each
declaration against the scores of its metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import mul, or_
from typing import Any, NamedTuple

from clueval.first.metrics.counting import f_measure, rate

Key = tuple[Any, ...]
Keys = Sequence[Key]
"""Keys of the tally whose counts are added."""

Numbers = Sequence[float]
"""A count in each of some corpora."""

Columns = list[list[float | None]]
"""For each rate, its value in each corpus; None where it is undefined."""

THREE = ("precision", "recall", "f1")

Shape = tuple[Any, ...]
"""For each part of a key of a tally, what it may be: some names, `LAYER`, a type, a range or a function that checks it.

Each metric of `clueval.first.metrics.METRICS` has the shapes of its keys as `tally_keys`; its counts are whole.
"""

LAYER = object()
"""The name of any layer, in a `Shape`."""

NUMBER = range(10**15)
"""Any number of things, in a `Shape`."""


def is_score(text: object) -> bool:
    """Return whether a part of a key is a score as `repr` writes it; a threshold may be infinite."""
    try:
        return type(text) is str and not math.isnan(float(text))
    except ValueError:
        return False


class EntryRates(NamedTuple):
    """Rates at one place of a report, and the counts from which they follow.

    `function` is given a column for each of `counts`, with its value in each of some corpora, and returns a column for
    each rate. `gold` and `predicted` count the spans that the rates are about; an entry without declared rates has
    those of the entry that it stands in, or of the first entry that is declared.
    """

    path: tuple[str, ...]
    rates: tuple[str, ...]
    counts: Sequence[Keys]
    function: Callable[..., Columns]
    gold: Keys
    predicted: Keys


class SummedRates(NamedTuple):
    """Rates at one place of a report that follow from sums over parts of the tally, such as labels.

    Each part has its counts, and a function that is given their columns, as that of `EntryRates`, and returns columns
    to be added to those of the other parts. `function` is given the columns of sums, and returns a column for each
    rate.
    """

    path: tuple[str, ...]
    rates: tuple[str, ...]
    parts: Sequence[tuple[Sequence[Keys], Callable[..., list[list[Any]]]]]
    function: Callable[..., Columns]
    gold: Keys
    predicted: Keys


DeclaredRates = EntryRates | SummedRates


def no_rates() -> Columns:
    """Return no columns: only the spans of an entry are declared."""
    return []


def prf_entry(path: tuple[str, ...], counts: Sequence[Keys]) -> EntryRates:
    """Return the rates of a PRF entry; `counts` are those of `clueval.first.metrics.counting.Counts`."""
    gold, predicted, *_ = counts
    return EntryRates(path, THREE, counts, _prf, gold, predicted)


def _prf(gold: Numbers, predicted: Numbers, tp_gold: Numbers, tp_predicted: Numbers) -> Columns:
    return with_f1(
        [part / whole if whole else 0.0 for part, whole in zip(tp_predicted, predicted, strict=True)],
        [part / whole if whole else 0.0 for part, whole in zip(tp_gold, gold, strict=True)],
    )


def with_f1(precisions: list[float], recalls: list[float]) -> Columns:
    """Return the columns of precision, recall and F1."""
    return [[*precisions], [*recalls], list(map(f_measure, precisions, recalls))]


def share_in_each(parts: Numbers, wholes: Numbers) -> Columns:
    """Return the column of one share; 0/0 is 0."""
    return [list(map(rate, parts, wholes))]


def all_keys(counts: Collection[Sequence[Keys]], number: int = 4) -> list[Keys]:
    """Return the counts of all labels together, given those of each; `number` is how many each has."""
    return [list(chain.from_iterable(each)) for each in zip(*counts, strict=True)] or [[]] * number


def averages(
    counts: Sequence[Keys], place: int, before: tuple[str, ...] = (), *, is_weighted: bool = True
) -> Iterator[DeclaredRates]:
    """Yield the rates of the report of `clueval.first.metrics.counting.averages_of`, micro first.

    `counts` are the keys of the spans of each side and of the true positives of each side; `place` is that of the label
    in a key. Labels without a span have no rates.
    """
    by_label: dict[str, list[list[Key]]] = {key[place]: [[] for _ in counts] for key in chain(*counts[:2])}
    for number, keys in enumerate(counts):
        for key in keys:
            if key[place] in by_label:
                by_label[key[place]][number].append(key)
    labels = [prf_entry((*before, "per_label", label), by_label[label]) for label in sorted(by_label)]
    yield prf_entry((*before, "micro"), all_keys([label.counts for label in labels]))
    yield mean((*before, "macro"), labels)
    if is_weighted:
        yield mean((*before, "weighted"), labels, by_gold=True)
    yield from labels


def label_averages(
    keys: Collection[Key], before: Key = (), path: tuple[str, ...] = ()
) -> Iterator[DeclaredRates]:
    """Yield the rates of averages over labels, for a tally with the keys ``(*before, count, label)``."""
    width = len(before) + 1
    counts = [
        sorted(key for key in keys if len(key) > width and key[:width] == (*before, name))
        for name in ("gold", "predicted", "tp_gold", "tp_predicted")
    ]
    yield from averages(counts, width, path)


def mean(
    path: tuple[str, ...],
    labels: Sequence[EntryRates],
    *,
    by_gold: bool = False,
    empty: float = 0.0,
    rates: Sequence[str] = THREE,
) -> DeclaredRates:
    """Return the means of the rates of labels, of which there are `rates`; they are `empty` if no label occurs.

    Each label that occurs weighs the same or, `by_gold`, as much as its gold spans.
    """
    gold, predicted = all_keys([(label.gold, label.predicted) for label in labels], 2)
    if not labels:
        return EntryRates(path, tuple(rates), [[]], partial(_nothing, empty, len(rates)), gold, predicted)
    parts = [
        ([label.gold, label.predicted, *label.counts], partial(_weighed, label.function, by_gold))
        for label in labels
    ]
    return SummedRates(path, tuple(rates), parts, partial(_means, empty), gold, predicted)


def _nothing(empty: float, rates: int, counts: Numbers) -> Columns:
    return [[empty] * len(counts)] * rates


def _weighed(
    function: Callable[..., Columns],
    by_gold: bool,
    gold: Sequence[int],
    predicted: Sequence[int],
    *counts: Numbers,
) -> list[list[Any]]:
    """Return the weight of a label, which is 1 if it occurs or its gold spans, and its rates times this weight."""
    weights = gold if by_gold else list(map(bool, map(or_, gold, predicted)))
    return [[*weights], *(list(map(mul, rates, weights)) for rates in function(*counts))]


def _means(empty: float, wholes: Numbers, *sums: Numbers) -> Columns:
    """Divide sums over labels by the sums of their weights."""
    return [
        [part / whole if whole else empty for part, whole in zip(parts, wholes, strict=True)]
        for parts in sums
    ]
