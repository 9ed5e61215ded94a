"""Divides: from the tally of a sequence to the numbers of its report. What is not defined is None."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from clueval.first.metrics.counting import Tally
from clueval.reports.language import Remark
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
from clueval.studies.annotators.counting import Contests, Value, ignores_labels
from clueval.studies.annotators.places import BOUNDARIES

NOTHING = "_"
"""The label of no span, in the confusion."""

DOMAINS = {"positions": ("all", "any", "both"), "spans": ("any", "both")}

Matrix = list[list[float | None]]


class Tables:
    """The tally of a sequence, sorted by what its keys begin with."""

    def __init__(self, tally: Tally, names: Sequence[str], contests: Contests) -> None:
        self.tally, self.names, self.contests = tally, names, contests
        self.pairs = list(combinations(range(len(names)), 2))
        self._by_head: dict[str, dict[tuple[Any, ...], int]] = defaultdict(dict)
        self._of_contest: dict[tuple[Any, Any], Counter[Any]] = defaultdict(Counter)
        self._of_pair: dict[tuple[str, int, int], dict[tuple[Value, Value], int]] = defaultdict(dict)
        for key, n in tally.items():
            if key[0] == "f1":
                self._of_contest[key[1], key[2]][key[3]] += n
            elif n:
                self._by_head[key[0]][key[1:]] = n
                if key[0] == "pair":
                    self._of_pair[key[1:4]][key[4:]] = n

    def of(self, head: str) -> dict[tuple[Any, ...], int]:
        """Return the counts whose keys begin with `head`, by the rest of their keys."""
        return self._by_head.get(head, {})

    def values_of(self, items: str, pair: tuple[int, int]) -> dict[tuple[Value, Value], int]:
        """Return the numbers of items by the values that two annotators gave them."""
        return dict(self._of_pair.get((items, *pair), {}))

    def silent(self) -> dict[tuple[bool, ...], int]:
        """Return the positions in no component, by those who have annotated them."""
        covered = self.of("covered")
        return {who: n - covered.get((who,), 0) for (who,), n in self.of("tokens").items()}

    def contest(self, contest: tuple[Any, ...], key: str, label: str | None = None) -> dict[str, Any] | None:
        """Return the PRF entry of a contest by a convention; None if it is not defined."""
        return self.contests.rates(self._of_contest.get((contest, label), Counter()), key)

    def against_majority(self, name: str, number: int, key: str) -> dict[str, Any] | None:
        """Return the PRF entry of a contest with the majority of the annotators other than this one."""
        return self.contest((name, number, ignores_labels(key)), key)

    def pooled(self, key: str, label: str | None = None) -> float | None:
        """Return F1 of the counts of all pairs together."""
        total: Counter[Any] = Counter()
        for pair in self.pairs:
            total.update(self._of_contest.get((("pair", *pair), label), {}))
        return _f1(self.contests.rates(total, key))

    def f1(self, pair: tuple[int, int], key: str, label: str | None = None) -> float | None:
        """Return F1 of a pair of annotators; None if neither has spans."""
        return _f1(self.contest(("pair", *pair), key, label))

    def mean_f1(self, key: str) -> float | None:
        """Return the mean F1 of all pairs; None if the convention is not defined."""
        if self.refuses(key):
            return None
        found: float | None = spread(self.f1(pair, key) for pair in self.pairs)["mean"]
        return found

    def refuses(self, key: str) -> bool:
        """Return whether a convention is not defined, because spans of one annotator overlap."""
        return any(self.contest(("pair", *pair), key) is None for pair in self.pairs)

    def has_system(self) -> bool:
        """Return whether a system is compared with the annotators."""
        return any(contest[0] == "system" for contest, _ in self._of_contest)

    def labels(self) -> list[str]:
        """Return all labels, sorted."""
        return sorted({label for _, label in self._of_contest if label is not None})


def _f1(entry: Mapping[str, Any] | None) -> float | None:
    return None if entry is None else entry["f1"]


def by_pair(tables: Tables, number: Callable[[tuple[int, int]], float | None]) -> dict[str, Any]:
    """Return the PAIRS entry of a number: mean, sd and number of defined pairs, and the matrix."""
    k = len(tables.names)
    matrix: Matrix = [[None] * k for _ in range(k)]
    for i, j in tables.pairs:
        matrix[i][j] = matrix[j][i] = number((i, j))
    return {**spread(matrix[i][j] for i, j in tables.pairs), "matrix": matrix}


def spread(values: Iterable[float | None]) -> dict[str, Any]:
    """Return mean, standard deviation (divided by n) and number of the values that are defined."""
    defined = sorted(value for value in values if value is not None)  # sorted: sums do not depend on order
    if not defined:
        return {"mean": None, "sd": None, "pairs": 0}
    mean = math.fsum(defined) / len(defined)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in defined) / len(defined))
    return {"mean": mean, "sd": sd, "pairs": len(defined)}


def sequence_report(tables: Tables, overlap: str | None = None) -> dict[str, Any]:
    """Return the report of one sequence; `overlap` says where spans of one annotator overlap first."""
    spans = tables.of("spans")
    overlapping = bool(tables.of("overlap"))
    return {
        "spans": {name: spans.get((number,), 0) for number, name in enumerate(tables.names)},
        "notes": [*_notes(tables, overlapping, overlap)],
        "f1": {key: _f1_report(tables, key) for key in tables.contests.keys},
        "coefficients": {
            items: {which: coefficients(tables, items, which) for which in domains}
            for items, domains in DOMAINS.items()
        },
        "unitizing": None if overlapping else unitizing(unitized(tables)),
        "disagreements": _disagreements(tables),
        "confusion": _confusion(tables),
    }


def _notes(tables: Tables, overlapping: bool, where: str | None) -> Iterable[str]:
    if overlapping:
        place = where or Remark("first place not known")
        yield Remark("unitizing is not defined: spans of one annotator overlap ({place})", place=place)
    for key in tables.contests.keys:
        if tables.refuses(key):
            yield Remark(
                "{key} is not defined: spans of one annotator overlap, which this convention forbids", key=key
            )
    alone = [name for number, name in enumerate(tables.names) if not _shares(tables, number)]
    for name in alone:
        yield Remark("{name} shares no document with another annotator", name=name)


def _shares(tables: Tables, number: int) -> bool:
    return any(who[number] for (who,) in tables.of("tokens"))


def _f1_report(tables: Tables, key: str) -> dict[str, Any]:
    undefined = tables.refuses(key)
    whole = by_pair(tables, lambda pair: None if undefined else tables.f1(pair, key))
    return {
        **whole,
        "pooled": None if undefined else tables.pooled(key),
        "per_label": {
            label: {
                **spread(tables.f1(pair, key, label) for pair in tables.pairs),
                "pooled": tables.pooled(key, label),
            }
            for label in tables.labels()
        },
        "annotators": {
            name: {
                **_without_pairs(spread(whole["matrix"][number])),
                "majority": tables.against_majority("majority", number, key),
            }
            for number, name in enumerate(tables.names)
        },
    }


def _without_pairs(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("mean", "sd")}


def pair_table(
    tables: Tables, items: str, which: str, pair: tuple[int, int]
) -> dict[tuple[Value, Value], int]:
    """Return the table of pairs of values of two annotators."""
    i, j = pair
    found = tables.values_of(items, pair)
    if which == "all":
        outside = sum(n for who, n in tables.silent().items() if who[i] and who[j])
        if outside:
            found[None, None] = found.get((None, None), 0) + outside
    elif which == "any":
        found.pop((None, None), None)
    else:
        found = {(c, k): n for (c, k), n in found.items() if c is not None and k is not None}
    return found


def value_pairs(
    tables: Tables, items: str, which: str
) -> tuple[dict[tuple[int, Value, Value], int], dict[int, int]]:
    """Return the ordered pairs of values by number of annotators, and the number of items likewise."""
    domain = "both" if which == "both" else "any"
    head = (items, domain)
    pairs = {key[2:]: n for key, n in tables.of("o").items() if key[:2] == head}
    number = {key[2]: n for key, n in tables.of("items").items() if key[:2] == head}
    if which == "all":
        for who, n in tables.silent().items():
            m = sum(who)
            if n:
                pairs[m, None, None] = pairs.get((m, None, None), 0) + n * m * (m - 1)
                number[m] = number.get(m, 0) + n
    return pairs, number


def coefficients(tables: Tables, items: str, which: str) -> dict[str, Any]:
    """Return the coefficients of one kind of items."""
    of_pairs = {pair: pair_table(tables, items, which, pair) for pair in tables.pairs}
    pairs, number = value_pairs(tables, items, which)
    table = coincidences(pairs)
    k = len(tables.names)
    by_all = {(c, other): n for (m, c, other), n in pairs.items() if m == k}
    by_value = krippendorff_by_value(table)
    return {
        "items": sum(number.values()),
        "observed": by_pair(tables, lambda pair: observed(of_pairs[pair])),
        "kappa": by_pair(tables, lambda pair: kappa(of_pairs[pair])),
        "pi": by_pair(tables, lambda pair: scott_pi(of_pairs[pair])),
        "fleiss": fleiss(by_all, k),
        "fleiss_items": number.get(k, 0),
        "alpha": krippendorff(table),
        "per_label": {
            name_of_value(value): by_value[value]
            for value in sorted((value for value in by_value if value is not None), key=name_of_value)
        },
    }


def name_of_value(value: Value) -> str:
    """Return a value as reports name it: labels joined by ``+``, ``O`` for none."""
    return "O" if value is None else value if isinstance(value, str) else "+".join(value)


def unitized(tables: Tables) -> Unitized:
    """Return what unitizing needs."""
    overlaps: defaultdict[str, Fraction] = defaultdict(Fraction)
    for (m, label), n in tables.of("W").items():
        overlaps[label] += Fraction(n, (m - 1) ** 2)
    squares = {label: n for (label,), n in tables.of("Q").items()}
    return Unitized(coincidences(value_pairs(tables, "positions", "all")[0]), squares, overlaps)


def _disagreements(tables: Tables) -> dict[str, Any]:
    kinds: Counter[str] = Counter()
    boundary: Counter[str] = Counter(dict.fromkeys(BOUNDARIES, 0))
    for (kind, which), n in tables.of("kind").items():
        kinds[kind] += n
        if which is not None:
            boundary[which] += n
    unanimous = kinds.pop("", 0)
    return {
        "components": unanimous + sum(kinds.values()),
        "unanimous": unanimous,
        "kinds": dict(sorted(kinds.items())),
        "boundary": dict(boundary),
    }


def _confusion(tables: Tables) -> dict[str, dict[str, int]]:
    """Return the labels of pairs of annotators at equal ranges, both ways."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, n in tables.of("pair").items():
        if key[0] != "spans" or key[3] is key[4] is None:
            continue
        c, k = (NOTHING if value is None else name_of_value(value) for value in key[3:])
        found[c][k] += n
        found[k][c] += n
    return {c: dict(sorted(row.items())) for c, row in sorted(found.items())}


def ceiling(tables: Tables, f1: Mapping[str, Any]) -> dict[str, Any]:
    """Return the system beside the annotators, by convention; `f1` is the report of their F1."""
    documents = sum(n for (who,), n in tables.of("documents").items() if sum(who) > 1)
    return {
        key: {
            "documents": documents,
            **ceiling_means(tables, key),
            "per_annotator": {
                name: {"human": f1[key]["annotators"][name]["mean"], **against_system(tables, key, number)}
                for number, name in enumerate(tables.names)
            },
        }
        for key in tables.contests.keys
    }


def against_system(tables: Tables, key: str, number: int) -> dict[str, float | None]:
    """Return F1 of one annotator, and of the system, against each other and against the majority of the others."""
    return {
        "system": _f1(tables.contest(("system", number), key)),
        "human_majority": _f1(tables.against_majority("majority", number, key)),
        "system_majority": _f1(tables.against_majority("system_majority", number, key)),
    }


def ceiling_means(tables: Tables, key: str) -> dict[str, dict[str, float | None]]:
    """Return the means of humans and system, and their difference: by pairs, and against majorities."""
    each = [against_system(tables, key, number) for number in range(len(tables.names))]
    mean: dict[str, float | None] = {name: spread(entry[name] for entry in each)["mean"] for name in each[0]}
    return {
        "pairs": _compared(tables.mean_f1(key), mean["system"]),
        "majority": _compared(mean["human_majority"], mean["system_majority"]),
    }


def _compared(human: float | None, system: float | None) -> dict[str, float | None]:
    difference = None if human is None or system is None else system - human
    return {"human": human, "system": system, "difference": difference}
