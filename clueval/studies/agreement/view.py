"""How agreement is shown: tables, and words about a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval.reports.language import numeral, phrase
from clueval.reports.table import Cell, Find, Rate, Table, percent, shown
from clueval.studies.agreement.places import pair_of

Content = Mapping[str, Any]

LIKE = 0.005
"""A smaller difference of F1 counts as none in words."""


def title_of(key: str) -> str:
    """Return the name of a convention in words, in the language of the context.

    >>> [title_of(key) for key in ("exact_unlabelled", "levels_2_labelled", "muc_type", "gate_lenient")]
    ['exact, without labels', 'level 2', 'MUC type', 'GATE lenient']
    """
    name = key.removesuffix("_unlabelled").removesuffix("_labelled")
    first, _, rest = name.partition("_")
    if first == "levels":
        words = phrase("level {level}", level=rest)
    elif first in ("muc", "gate"):
        words = f"{first.upper()} {rest}"
    else:
        words = phrase("exact") if name == "exact" else " ".join(dict.fromkeys(name.split("_")))
    return phrase("{name}, without labels", name=words) if key.endswith("_unlabelled") else words


def matrix_table(names: Sequence[str], sequence: str, key: str, f1: Content) -> Table:
    """Return F1 of all pairs; a number lists the places of its pair."""
    rows: list[list[Cell]] = []
    for i, name in enumerate(names):
        cells: list[Cell] = [name]
        for j, value in enumerate(f1["matrix"][i]):
            find = {"pair": pair_of(names[min(i, j)], names[max(i, j)]), "layer": sequence}
            cells.append("" if i == j else Find(Rate(value), find if value is not None else {}, value))
        rows.append(cells)
    title = phrase("{layer}: F1 of pairs, {convention}", layer=sequence, convention=title_of(key))
    return Table(title, ["", *names], rows)


def labels_table(sequence: str, f1: Mapping[str, Content]) -> Table:
    """Return the mean F1 of pairs by label, the most disputed first, and for how many pairs the first F1 is defined."""
    first = next(iter(f1.values()))
    labels = first["per_label"]

    def low(label: str) -> tuple[bool, float, str]:
        mean = labels[label]["mean"]
        return mean is None, mean or 0.0, label

    means: list[Cell] = [Rate(section["mean"]) for section in f1.values()]
    rows: list[list[Cell]] = [[phrase("all labels"), *means, first["pairs"]]]
    for label in sorted(labels, key=low):
        name = Find(label, {"layer": sequence, "label": label})
        means = [Rate(section["per_label"][label]["mean"]) for section in f1.values()]
        rows.append([name, *means, labels[label]["pairs"]])
    title = phrase("{layer}: mean F1 of pairs", layer=sequence)
    return Table(title, ["", *map(title_of, f1), phrase("pairs")], rows)


def spread_table(sequence: str, f1: Mapping[str, Content]) -> Table:
    """Return the standard deviation over pairs, and F1 of the counts of all pairs together, by label."""
    names = {"sd": phrase("sd"), "pooled": phrase("pooled")}
    rows: list[list[Cell]] = [
        [phrase("all labels"), *(Rate(section[name]) for section in f1.values() for name in names)]
    ]
    for label in next(iter(f1.values()))["per_label"]:
        entries = (section["per_label"][label] for section in f1.values())
        rows.append([label, *(Rate(entry[name]) for entry in entries for name in names)])
    header = [f"{title_of(key)}, {name}" for key in f1 for name in names.values()]
    title = phrase("{layer}: F1 of pairs, standard deviation and pooled", layer=sequence)
    return Table(title, ["", *header], rows, is_folded=True)


def kinds_table(disagreements: Mapping[str, Content]) -> Table:
    """Return how many places there are of each kind, by layer."""
    rows: list[list[Cell]] = [
        [phrase("all agree"), *(section["unanimous"] for section in disagreements.values())]
    ]
    for kind in dict.fromkeys(kind for section in disagreements.values() for kind in section["kinds"]):
        numbers = (
            Find(section["kinds"].get(kind, 0), {"layer": layer, "kind": kind})
            for layer, section in disagreements.items()
        )
        rows.append([Find(phrase(kind), {"kind": kind}), *numbers])
    return Table(phrase("places where spans are"), ["", *disagreements], rows)


def coefficients_table(sequence: str, section: Content) -> Table:
    domains = {
        ("positions", "all"): phrase("all positions"),
        ("positions", "any"): phrase("positions that one of them marked"),
        ("positions", "both"): phrase("positions that each marked"),
        ("spans", "any"): phrase("ranges that one of them marked"),
        ("spans", "both"): phrase("ranges that each marked"),
    }
    units = {
        "u": phrase("units and gaps (uα)"),
        "binary": phrase("unit or gap (|uα)"),
        "cu": phrase("labels of overlapping units (cuα)"),
        "cu_coverage": phrase("share of pairs behind cuα"),
    }
    rows: list[list[Cell]] = []
    for (items, domain), words in domains.items():
        coefficients = section["coefficients"][items][domain]
        means = (coefficients[name]["mean"] for name in ("observed", "kappa", "pi"))
        rows.append([words, coefficients["items"], *means, coefficients["fleiss"], coefficients["alpha"]])
    for name, words in units.items():
        value = None if section["unitizing"] is None else section["unitizing"][name]
        rows.append([words, "", "", "", "", "", value])
    header = [phrase("items"), phrase("observed"), phrase("kappa"), phrase("pi"), "Fleiss", phrase("alpha")]
    title = phrase("{layer}: coefficients (kappa, pi: means of pairs)", layer=sequence)
    return Table(title, ["", *header], rows, is_folded=True)


def alphas_table(sequence: str, section: Content) -> Table:
    units = {} if section["unitizing"] is None else section["unitizing"]["per_label"]
    positions, ranges = section["coefficients"]["positions"]["all"], section["coefficients"]["spans"]["any"]
    unit_alphas = {label: unit["alpha"] for label, unit in units.items()}
    alphas = [positions["per_label"], ranges["per_label"], unit_alphas]
    rows: list[list[Cell]] = [
        [label, *(by_label.get(label) for by_label in alphas), units.get(label, {}).get("coverage")]
        for label in sorted({label for by_label in alphas for label in by_label})
    ]
    header = [phrase("positions"), phrase("ranges"), "cuα", phrase("coverage of cuα")]
    return Table(phrase("{layer}: alpha by label", layer=sequence), ["", *header], rows, is_folded=True)


def ceiling_table(sequence: str, keys: Mapping[str, Content]) -> Table:
    rows: list[list[Cell]] = []
    for key, section in keys.items():
        for name, words in (
            ("pairs", phrase("each other")),
            ("majority", phrase("the majority of the others")),
        ):
            cells = (Rate(section[name][column]) for column in ("human", "system", "difference"))
            rows.append([f"{title_of(key)}, {words}", *cells])
    header = [phrase("human"), phrase("system"), phrase("difference")]
    return Table(
        phrase("{layer}: F1 of the system and of the annotators", layer=sequence), ["", *header], rows
    )


def intervals_table(sequence: str, intervals: Content) -> Table:
    title = phrase(
        "{layer}: {confidence} % intervals over documents ({method})",
        layer=sequence,
        confidence=numeral(100 * intervals["confidence"], "g"),
        method=phrase("jackknife"),
    )
    rows: list[list[Cell]] = [
        [name, entry["low"], entry["high"]] for name, entry in intervals["scores"][sequence].items()
    ]
    return Table(title, ["", phrase("from"), phrase("to")], rows, is_folded=True)


def is_undefined(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, Find | Rate) and shown(cell) == "-")


def in_words(difference: float, low: float | None = None, high: float | None = None) -> str:
    """Return what the difference of a system's F1 to the annotators' means, with its interval if there is one.

    >>> in_words(0.001)
    'the system agrees with annotators as well as they do with each other'
    >>> in_words(-0.1)
    'the system agrees with annotators less than they do with each other, by 10.0 points of F1'
    """
    same = phrase("the system agrees with annotators as well as they do with each other")
    interval = ""
    if low is not None and high is not None:
        interval = phrase(
            "the difference is from {low} to {high} points of F1",
            low=percent(low, 1),
            high=percent(high, 1),
        )
        if low <= 0 <= high:
            none = phrase(
                "no difference was found between the system's agreement with annotators and theirs with each other"
            )
            return f"{none}: {interval}"
    if abs(difference) < LIKE:
        return same
    points = phrase("{points} points of F1", points=percent(abs(difference), 1))
    points += f" ({interval})" if interval else ""
    if difference > 0:
        return phrase(
            "the system agrees with annotators more than they do with each other, by {points}; it is like "
            "another annotator, which does not mean that it is right",
            points=points,
        )
    return phrase(
        "the system agrees with annotators less than they do with each other, by {points}", points=points
    )
