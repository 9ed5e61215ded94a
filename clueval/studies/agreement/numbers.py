"""Divides: from the sums of `AgreementMetric` to the numbers of a report. What is not defined is None."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from clueval.core.metric import Tally, added
from clueval.statistics import agreement as formulas
from clueval.statistics.distributions import t_quantile
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    effective_number,
    logit_jackknife,
    standard_error,
)
from clueval.studies.agreement.conventions import BOUNDARIES, Convention, CountingRule, rates_of, refusals_of

Value = str | tuple[str, ...] | None
"""The value of an item: a label, several labels, or None."""

POSITIONS, RANGES = "positions", "spans"
"""What items are."""

DOMAINS = {POSITIONS: ("all", "any", "both"), RANGES: ("any", "both")}
"""Which items count: all; those that at least one of the compared annotators has marked; those that each has."""

_WITHIN = {"all": ("all",), "any": ("all", "any"), "both": ("all", "any", "both")}
"""The domains in which items count whose narrowest one this is."""

NOTHING = "_"
"""The label of no span, in the confusion."""

_Pair = tuple[int, int]


def name_of_value(value: Value) -> str:
    """Return a value as reports name it: labels joined by ``+``, ``O`` for none."""
    return "O" if value is None else value if isinstance(value, str) else "+".join(value)


def domain_of(values: Collection[Value]) -> str:
    """Return the narrowest domain of an item, given the values of the annotators who may have marked it."""
    return "both" if None not in values else "all" if all(value is None for value in values) else "any"


class Numbers:
    """The sums of one sequence, sorted by what their keys begin with (see `AgreementMetric`), and what follows."""

    def __init__(self, annotators: Sequence[str], conventions: Sequence[Convention], total: Tally) -> None:
        self.names, self.conventions = annotators, conventions
        self.pairs = list(combinations(range(len(annotators)), 2))
        self.sums: defaultdict[str, dict[tuple[Any, ...], int]] = defaultdict(dict)
        self._contests: defaultdict[tuple[CountingRule, Any, str | None], Tally] = defaultdict(Tally)
        # by items and domain: items by the values of two annotators; ordered pairs of values by number of annotators
        self._tables: defaultdict[tuple[str, str, _Pair], Counter[tuple[Value, Value]]]
        self._tables = defaultdict(Counter)
        self._ordered: defaultdict[tuple[str, str], Counter[tuple[int, Value, Value]]] = defaultdict(Counter)
        for key, n in total.items():
            if n and key[0] == "f1":
                self._contests[key[1:4]][key[4]] = n
            elif n and key[0] == "pair":
                _, items, i, j, c, k, of_all, m = key
                for domain in _WITHIN[domain_of((c, k))]:
                    self._tables[items, domain, (i, j)][c, k] += n
                for domain in _WITHIN[of_all]:
                    ordered = self._ordered[items, domain]
                    ordered[m, c, k] += n
                    ordered[m, k, c] += n
            elif n:
                self.sums[key[0]][key[1:]] = n

    def report(self) -> dict[str, Any]:
        """Return the report of the sequence, without notes."""
        spans = Counter[str]()
        for (number, _), n in self.sums["spans"].items():
            spans[self.names[number]] += n
        kinds: Counter[str] = Counter()
        boundary: Counter[str] = Counter(dict.fromkeys(BOUNDARIES, 0))
        for (kind, which), n in self.sums["kind"].items():
            kinds[kind] += n
            if which is not None:
                boundary[which] += n
        unanimous = kinds.pop("", 0)
        return {
            "spans": {name: spans[name] for name in self.names},
            "notes": [],
            "f1": {convention.key: self._f1_report(convention) for convention in self.conventions},
            "coefficients": {
                items: {domain: self._coefficients(items, domain) for domain in domains}
                for items, domains in DOMAINS.items()
            },
            "unitizing": self._unitizing(),
            "disagreements": {
                "components": unanimous + kinds.total(),
                "unanimous": unanimous,
                "kinds": dict(sorted(kinds.items())),
                "boundary": dict(boundary),
            },
            "confusion": self._confusion(),
        }

    # F1

    def refusals(self, convention: Convention) -> list[str]:
        """Return why a convention is not defined: spans of one annotator "overlap" or "have gaps"; empty if it is."""
        return refusals_of(self._sums_of_pairs(convention))

    def _contest(self, name: tuple[Any, ...], convention: Convention, label: str | None = None) -> Tally:
        return self._contests.get((convention.counting, name, label), Tally())

    def _sums_of_pairs(self, convention: Convention, label: str | None = None) -> Tally:
        return added((self._contest(("pair", *pair), convention, label), 1) for pair in self.pairs)

    def _f1(self, convention: Convention, label: str | None = None) -> dict[_Pair, float | None]:
        """Return F1 of each pair; None if neither has spans, or the convention is not defined for all spans."""
        if label is None and self.refusals(convention):
            return dict.fromkeys(self.pairs)
        contests = {pair: self._contest(("pair", *pair), convention, label) for pair in self.pairs}
        return {pair: _f1_of(convention, total) for pair, total in contests.items()}

    def _f1_report(self, convention: Convention) -> dict[str, Any]:
        whole = self._by_pair(self._f1(convention))
        labels = sorted({label for _, _, label in self._contests if label is not None})
        annotators = {}
        for number, name in enumerate(self.names):
            summary = spread(whole["matrix"][number])
            majority = rates_of(convention, self._contest(("majority", number), convention))
            annotators[name] = {"mean": summary["mean"], "sd": summary["sd"], "majority": majority}
        return {
            **whole,
            "pooled": _f1_of(convention, self._sums_of_pairs(convention)),
            "per_label": {
                label: {
                    **spread(self._f1(convention, label).values()),
                    "pooled": _f1_of(convention, self._sums_of_pairs(convention, label)),
                }
                for label in labels
            },
            "annotators": annotators,
        }

    def _by_pair(self, numbers: Mapping[_Pair, float | None]) -> dict[str, Any]:
        """Return numbers of pairs as reports have them: mean, sd and how many are defined, and the matrix."""
        k = len(self.names)
        matrix: list[list[float | None]] = [[None] * k for _ in range(k)]
        for (i, j), number in numbers.items():
            matrix[i][j] = matrix[j][i] = number
        return {**spread(numbers.values()), "matrix": matrix}

    # Items

    def _coefficients(self, items: str, domain: str) -> dict[str, Any]:
        tables = {pair: self._tables[items, domain, pair] for pair in self.pairs}
        pairs = self._ordered[items, domain]
        table = formulas.coincidences(pairs)
        k = len(self.names)
        number: Counter[int] = Counter()
        for (m, _, _), n in pairs.items():
            number[m] += n
        by_all = {(c, other): n for (m, c, other), n in pairs.items() if m == k}
        by_value = formulas.krippendorff_by_value(table)
        values = sorted((value for value in by_value if value is not None), key=name_of_value)
        return {
            "items": sum(n // (m * (m - 1)) for m, n in number.items()),
            "observed": self._by_pair({pair: formulas.observed(counts) for pair, counts in tables.items()}),
            "kappa": self._by_pair({pair: formulas.kappa(counts) for pair, counts in tables.items()}),
            "pi": self._by_pair({pair: formulas.scott_pi(counts) for pair, counts in tables.items()}),
            "fleiss": formulas.fleiss(by_all, k),
            "fleiss_items": number[k] // (k * (k - 1)),
            "alpha": formulas.krippendorff(table),
            "per_label": {name_of_value(value): by_value[value] for value in values},
        }

    def _unitizing(self) -> dict[str, Any] | None:
        """Return the coefficients of units; None if spans of one annotator overlap or have gaps."""
        if self.sums["overlap"] or self.sums["gaps"]:
            return None
        overlaps: defaultdict[str, Fraction] = defaultdict(Fraction)
        for (m, label), n in self.sums["W"].items():
            overlaps[label] += Fraction(n, (m - 1) ** 2)
        squares = {label: n for (label,), n in self.sums["Q"].items()}
        table = formulas.coincidences(self._ordered[POSITIONS, "all"])
        return formulas.unitizing(formulas.Unitized(table, squares, overlaps))

    def _confusion(self) -> dict[str, dict[str, int]]:
        """Return the labels of pairs of annotators at equal ranges, both ways."""
        confusion: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for pair in self.pairs:
            for values, n in self._tables[RANGES, "any", pair].items():
                c, k = (NOTHING if value is None else name_of_value(value) for value in values)
                confusion[c][k] += n
                confusion[k][c] += n
        return {c: dict(sorted(row.items())) for c, row in sorted(confusion.items())}

    # A system beside the annotators

    def ceiling(self, convention: Convention) -> dict[str, Any]:
        """Return F1 of the system beside that of annotators: by pairs, against majorities, and by annotator."""
        f1 = self._f1(convention)
        contests = {"system": "system", "human_majority": "majority", "system_majority": "system_majority"}
        per_annotator = {
            name: {
                "human": spread(value for pair, value in f1.items() if number in pair)["mean"],
                **{
                    key: _f1_of(convention, self._contest((contest, number), convention))
                    for key, contest in contests.items()
                },
            }
            for number, name in enumerate(self.names)
        }
        mean = {key: spread(each[key] for each in per_annotator.values())["mean"] for key in contests}
        section: dict[str, Any] = {}
        for name, human, system in (
            ("pairs", spread(f1.values())["mean"], mean["system"]),
            ("majority", mean["human_majority"], mean["system_majority"]),
        ):
            difference = None if human is None or system is None else system - human
            section[name] = {"human": human, "system": system, "difference": difference}
        return {**section, "per_annotator": per_annotator}

    # Intervals

    def with_denominators(self) -> Iterator[str]:
        """Yield the paths of F1 and observed agreement, of those of `with_intervals` that are defined."""
        for convention in self.conventions:
            if any(f1 is not None for f1 in self._f1(convention).values()):
                yield f"f1.{convention.key}.mean"
        for items, domain in {(items, domain) for (items, domain, _), table in self._tables.items() if table}:
            yield f"coefficients.{items}.{domain}.observed.mean"

    def with_intervals(self) -> dict[str, float | None]:
        """Return the numbers that have intervals, by their paths below the sequence."""
        numbers: dict[str, float | None] = {}
        for convention in self.conventions:
            numbers[f"f1.{convention.key}.mean"] = spread(self._f1(convention).values())["mean"]
        for items, domains in DOMAINS.items():
            for domain in domains:
                coefficients = self._coefficients(items, domain)
                path = f"coefficients.{items}.{domain}"
                numbers |= {
                    f"{path}.{name}.mean": coefficients[name]["mean"] for name in ("observed", "kappa", "pi")
                }
                numbers |= {f"{path}.{name}": coefficients[name] for name in ("fleiss", "alpha")}
        units = self._unitizing()
        if units is not None:
            numbers |= {f"unitizing.{name}": units[name] for name in ("u", "binary", "cu")}
        if any(contest[0] == "system" for _, contest, _ in self._contests):
            for convention in self.conventions:
                section = self.ceiling(convention)
                for name in ("pairs", "majority"):
                    numbers[f"ceiling.{convention.key}.{name}.difference"] = section[name]["difference"]
        return numbers


def _f1_of(convention: Convention, total: Tally) -> float | None:
    entry = rates_of(convention, total)
    return None if entry is None else entry["f1"]


def spread(values: Iterable[float | None]) -> dict[str, Any]:
    """Return mean, standard deviation (divided by n) and number of the values that are defined."""
    defined = [value for value in values if value is not None]
    if not defined:
        return {"mean": None, "sd": None, "pairs": 0}
    mean = math.fsum(defined) / len(defined)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in defined) / len(defined))
    return {"mean": mean, "sd": sd, "pairs": len(defined)}


def jackknife_interval(
    path: str,
    value: float | None,
    without: Sequence[Mapping[str, float | None]],
    sizes: Sequence[int],
    with_denominator: int,
    confidence: float,
) -> Interval:
    """Return the interval of a number of `with_intervals`, given those without each document.

    F1 and observed agreement, defined in `with_denominator` documents, lie between 0 and 1 and have one on the logit
    scale. Coefficients, and the differences of a system to the annotators, may be negative: theirs is the number plus
    or minus Student's quantile times the standard error. A document weighs as many spans as are marked: `sizes`.
    """
    effective = effective_number(sizes)
    defined = [each for numbers in without if (each := numbers.get(path)) is not None]
    is_share = path.startswith("f1.") or ".observed." in path
    used = with_denominator if is_share else sum(size > 0 for size in sizes)
    if value is None or len(defined) < len(without) or used < 2:
        reason = "not defined" if value is None else "not defined without one of the documents"
        return Interval(None, None, None, used, effective, reason)
    if is_share:
        return logit_jackknife(value, defined, used, effective, confidence)
    se = standard_error(defined)
    if not se:
        reason = "the agreement is the same in all documents, so the spread between documents is not known"
        return Interval(None, None, se, used, effective, reason)
    half = t_quantile((1 + confidence) / 2, degrees_of_freedom(effective)) * se
    return Interval(value - half, min(1.0, value + half), se, used, effective)
