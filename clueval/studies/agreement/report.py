"""Divides: from the sums of `AgreementMetric` to the numbers of a report. What is not defined is None."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from clueval.core.tally import Tally, added
from clueval.statistics.agreement import (
    Unitized,
    coincidences,
    fleiss,
    kappa,
    krippendorff,
    krippendorff_by_value,
    observed,
    scott_pi,
    unitizing,
)
from clueval.studies.agreement.conventions import Convention, countings_of, rates_of, refusals_of
from clueval.studies.agreement.items import EACH, POSITIONS, RANGES, SOME, UNMARKED, Value
from clueval.studies.agreement.readings import BOUNDARIES

NOTHING = "_"
"""The label of no span, in the confusion."""

DOMAINS = {POSITIONS: ("all", "any", "both"), RANGES: ("any", "both")}
"""Which items count: all; those that an annotator has marked; those that each has marked."""

_MARKED = {"all": (UNMARKED, SOME, EACH), "any": (SOME, EACH), "both": (EACH,)}

_Pair = tuple[int, int]
_Table = dict[tuple[Value, Value], int]


class Numbers:
    """The sums of one sequence, sorted by what their keys begin with; see `AgreementMetric`."""

    def __init__(self, annotators: Sequence[str], conventions: Sequence[Convention], total: Tally) -> None:
        self.names, self.conventions = annotators, conventions
        self._countings = countings_of(conventions)
        self.pairs = list(combinations(range(len(self.names)), 2))
        self._of: dict[str, dict[tuple[Any, ...], int]] = defaultdict(dict)
        self._of_contest: dict[tuple[int, Any, Any], Tally] = defaultdict(Tally)
        self._of_pair: dict[tuple[str, int, int], _Table] = defaultdict(dict)
        for key, n in total.items():
            if n and key[0] == "f1":
                _, counting, contest, label, is_all, rest = key
                if is_all:
                    self._of_contest[counting, contest, None][rest] += n
                if label is not None:
                    self._of_contest[counting, contest, label][rest] += n
            elif n and key[0] == "pair":
                self._of_pair[key[1:4]][key[4:]] = n
            elif n:
                self._of[key[0]][key[1:]] = n

    def of(self, head: str) -> Mapping[tuple[Any, ...], int]:
        """Return the counts whose keys begin with `head`, by the rest of their keys."""
        return self._of.get(head, {})

    def spans_of_labels(self) -> Counter[str]:
        """Return the number of spans of all annotators by label."""
        found: Counter[str] = Counter()
        for (_, label), n in self.of("spans").items():
            found[label] += n
        return found

    def labels(self) -> list[str]:
        """Return all labels, sorted."""
        return sorted({label for _, _, label in self._of_contest if label is not None})

    def has_system(self) -> bool:
        """Return whether a system is compared with the annotators."""
        return any(contest[0] == "system" for _, contest, _ in self._of_contest)

    # F1

    def contest(
        self, contest: tuple[Any, ...], convention: Convention, label: str | None = None
    ) -> dict[str, Any] | None:
        """Return the PRF entry of a contest; None if it is not defined."""
        return rates_of(convention, self._sums(contest, convention, label))

    def _sums(self, contest: tuple[Any, ...], convention: Convention, label: str | None) -> Tally:
        number = self._countings.index(convention.counting)
        return self._of_contest.get((number, contest, label), Tally())

    def pooled(self, convention: Convention, label: str | None = None) -> float | None:
        """Return F1 of the counts of all pairs together."""
        return _f1(rates_of(convention, self._of_pairs(convention, label)))

    def f1(self, pair: _Pair, convention: Convention, label: str | None = None) -> float | None:
        """Return F1 of a pair of annotators; None if neither has spans."""
        return _f1(self.contest(("pair", *pair), convention, label))

    def mean_f1(self, convention: Convention) -> float | None:
        """Return the mean F1 of all pairs; None if the convention is not defined."""
        if self.refusals(convention):
            return None
        mean: float | None = spread(self.f1(pair, convention) for pair in self.pairs)["mean"]
        return mean

    def refusals(self, convention: Convention) -> list[str]:
        """Return why a convention is not defined: spans of one annotator "overlap" or "have gaps"; empty if it is."""
        return refusals_of(self._of_pairs(convention))

    def _of_pairs(self, convention: Convention, label: str | None = None) -> Tally:
        """Return the counts of all pairs together."""
        return added((self._sums(("pair", *pair), convention, label), 1) for pair in self.pairs)

    # Items

    def pair_table(self, items: str, which: str, pair: _Pair) -> _Table:
        """Return the numbers of items by the values that two annotators gave them."""
        found = self._of_pair.get((items, *pair), {})
        if which == "all":
            return found
        if which == "any":
            return {values: n for values, n in found.items() if values != (None, None)}
        return {values: n for values, n in found.items() if None not in values}

    def value_pairs(self, items: str, which: str) -> dict[tuple[int, Value, Value], int]:
        """Return the ordered pairs of values by number of annotators."""
        found: Counter[tuple[int, Value, Value]] = Counter()
        for (of, marked, *key), n in self.of("o").items():
            if of == items and marked in _MARKED[which]:
                found[key[0], key[1], key[2]] += n
        return found

    def unitized(self) -> Unitized:
        """Return what unitizing needs."""
        overlaps: defaultdict[str, Fraction] = defaultdict(Fraction)
        for (m, label), n in self.of("W").items():
            overlaps[label] += Fraction(n, (m - 1) ** 2)
        squares = {label: n for (label,), n in self.of("Q").items()}
        return Unitized(coincidences(self.value_pairs(POSITIONS, "all")), squares, overlaps)

    def has_units(self) -> bool:
        """Return whether unitizing is defined: no spans of one annotator overlap or have gaps."""
        return not self.of("overlap") and not self.of("gaps")


def _f1(entry: Mapping[str, Any] | None) -> float | None:
    return None if entry is None else entry["f1"]


def by_pair(of: Numbers, number: Callable[[_Pair], float | None]) -> dict[str, Any]:
    """Return a number by pairs: mean, sd and number of defined pairs, and the matrix."""
    k = len(of.names)
    matrix: list[list[float | None]] = [[None] * k for _ in range(k)]
    for i, j in of.pairs:
        matrix[i][j] = matrix[j][i] = number((i, j))
    return {**spread(matrix[i][j] for i, j in of.pairs), "matrix": matrix}


def spread(values: Iterable[float | None]) -> dict[str, Any]:
    """Return mean, standard deviation (divided by n) and number of the values that are defined."""
    defined = [value for value in values if value is not None]
    if not defined:
        return {"mean": None, "sd": None, "pairs": 0}
    mean = math.fsum(defined) / len(defined)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in defined) / len(defined))
    return {"mean": mean, "sd": sd, "pairs": len(defined)}


def sequence_report(of: Numbers) -> dict[str, Any]:
    """Return the report of one sequence, without notes."""
    spans = of.of("spans")
    return {
        "spans": {
            name: sum(n for (own, _), n in spans.items() if own == number)
            for number, name in enumerate(of.names)
        },
        "notes": [],
        "f1": {convention.key: _f1_report(of, convention) for convention in of.conventions},
        "coefficients": {
            items: {which: coefficients(of, items, which) for which in domains}
            for items, domains in DOMAINS.items()
        },
        "unitizing": unitizing(of.unitized()) if of.has_units() else None,
        "disagreements": _disagreements(of),
        "confusion": _confusion(of),
    }


def _f1_report(of: Numbers, convention: Convention) -> dict[str, Any]:
    undefined = bool(of.refusals(convention))
    whole = by_pair(of, lambda pair: None if undefined else of.f1(pair, convention))
    annotators = {}
    for number, name in enumerate(of.names):
        own = spread(whole["matrix"][number])
        majority = of.contest(("majority", number), convention)
        annotators[name] = {"mean": own["mean"], "sd": own["sd"], "majority": majority}
    return {
        **whole,
        "pooled": None if undefined else of.pooled(convention),
        "per_label": {
            label: {
                **spread(of.f1(pair, convention, label) for pair in of.pairs),
                "pooled": of.pooled(convention, label),
            }
            for label in of.labels()
        },
        "annotators": annotators,
    }


def coefficients(of: Numbers, items: str, which: str) -> dict[str, Any]:
    """Return the coefficients of one kind of items."""
    tables = {pair: of.pair_table(items, which, pair) for pair in of.pairs}
    pairs = of.value_pairs(items, which)
    table = coincidences(pairs)
    k = len(of.names)
    number: Counter[int] = Counter()
    for (m, _, _), n in pairs.items():
        number[m] += n
    by_all = {(c, other): n for (m, c, other), n in pairs.items() if m == k}
    by_value = krippendorff_by_value(table)
    return {
        "items": sum(n // (m * (m - 1)) for m, n in number.items()),
        "observed": by_pair(of, lambda pair: observed(tables[pair])),
        "kappa": by_pair(of, lambda pair: kappa(tables[pair])),
        "pi": by_pair(of, lambda pair: scott_pi(tables[pair])),
        "fleiss": fleiss(by_all, k),
        "fleiss_items": number[k] // (k * (k - 1)),
        "alpha": krippendorff(table),
        "per_label": {
            name_of_value(value): by_value[value]
            for value in sorted((value for value in by_value if value is not None), key=name_of_value)
        },
    }


def name_of_value(value: Value) -> str:
    """Return a value as reports name it: labels joined by ``+``, ``O`` for none."""
    return "O" if value is None else value if isinstance(value, str) else "+".join(value)


def _disagreements(of: Numbers) -> dict[str, Any]:
    kinds: Counter[str] = Counter()
    boundary: Counter[str] = Counter(dict.fromkeys(BOUNDARIES, 0))
    for (kind, which), n in of.of("kind").items():
        kinds[kind] += n
        if which is not None:
            boundary[which] += n
    unanimous = kinds.pop("", 0)
    return {
        "components": unanimous + kinds.total(),
        "unanimous": unanimous,
        "kinds": dict(sorted(kinds.items())),
        "boundary": dict(boundary),
    }


def _confusion(of: Numbers) -> dict[str, dict[str, int]]:
    """Return the labels of pairs of annotators at equal ranges, both ways."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in of.pairs:
        for values, n in of.pair_table(RANGES, "any", pair).items():
            c, k = (NOTHING if value is None else name_of_value(value) for value in values)
            found[c][k] += n
            found[k][c] += n
    return {c: dict(sorted(row.items())) for c, row in sorted(found.items())}


# A system beside the annotators


def ceiling(of: Numbers, documents: int) -> dict[str, Any]:
    """Return the system beside the annotators, by convention; `documents` are those that annotators share."""
    return {
        convention.key: {
            "documents": documents,
            **ceiling_means(of, convention),
            "per_annotator": {
                name: {
                    "human": _human(of, convention, number),
                    **against_system(of, convention, number),
                }
                for number, name in enumerate(of.names)
            },
        }
        for convention in of.conventions
    }


def _human(of: Numbers, convention: Convention, number: int) -> float | None:
    """Return the mean F1 of an annotator and each other; None if the convention is not defined."""
    if of.refusals(convention):
        return None
    mean: float | None = spread(of.f1(pair, convention) for pair in of.pairs if number in pair)["mean"]
    return mean


def against_system(of: Numbers, convention: Convention, number: int) -> dict[str, float | None]:
    """Return F1 of one annotator, and of the system, against each other and against the majority of the others."""
    return {
        "system": _f1(of.contest(("system", number), convention)),
        "human_majority": _f1(of.contest(("majority", number), convention)),
        "system_majority": _f1(of.contest(("system_majority", number), convention)),
    }


def ceiling_means(of: Numbers, convention: Convention) -> dict[str, dict[str, float | None]]:
    """Return the means of humans and system, and their difference: by pairs, and against majorities."""
    each = [against_system(of, convention, number) for number in range(len(of.names))]
    mean: dict[str, float | None] = {name: spread(entry[name] for entry in each)["mean"] for name in each[0]}
    return {
        "pairs": _compared(of.mean_f1(convention), mean["system"]),
        "majority": _compared(mean["human_majority"], mean["system_majority"]),
    }


def _compared(human: float | None, system: float | None) -> dict[str, float | None]:
    difference = None if human is None or system is None else system - human
    return {"human": human, "system": system, "difference": difference}


def numbers(of: Numbers) -> dict[str, float | None]:
    """Return the numbers that have intervals, by their paths below the sequence."""
    found = {f"f1.{convention.key}.mean": of.mean_f1(convention) for convention in of.conventions}
    for items, domains in DOMAINS.items():
        for which in domains:
            own = coefficients(of, items, which)
            path = f"coefficients.{items}.{which}"
            found |= {f"{path}.{name}.mean": own[name]["mean"] for name in ("observed", "kappa", "pi")}
            found |= {f"{path}.{name}": own[name] for name in ("fleiss", "alpha")}
    if of.has_units():
        units = unitizing(of.unitized())
        found |= {f"unitizing.{name}": units[name] for name in ("u", "binary", "cu")}
    for convention in of.conventions if of.has_system() else ():
        means = ceiling_means(of, convention)
        found |= {
            f"ceiling.{convention.key}.{name}.difference": each["difference"] for name, each in means.items()
        }
    return found
