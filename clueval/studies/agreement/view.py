"""How agreement is shown: the verdict, the tables, and what a reader must know besides the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.reports.language import numeral, phrase
from clueval.reports.table import Cell, Find, Rate, Table, shown
from clueval.studies.agreement.places import pair_of
from clueval.studies.agreement.report import Numbers

Content = Mapping[str, Any]

FREQUENT = 20
"""The number of spans from which on a label may be called the most disputed one."""

_POINT = 0.01
"""By how much the mean F1 of the annotator who differs most must be below that of the next."""

_LIKE = 0.005
"""A smaller difference of F1 counts as none in words."""


def verdict_of(report: Content, numbers: Mapping[str, Numbers]) -> str:
    """Return for each sequence the mean F1 of pairs and alpha, who differs most, and the most disputed label."""
    said = {sequence: _said(found, numbers[sequence]) for sequence, found in report["agreement"].items()}
    if len(said) == 1:
        words = next(iter(said.values()))
        return words[:1].upper() + words[1:]
    return "; ".join(f"{sequence}: {words}" for sequence, words in said.items())


def _said(found: Content, numbers: Numbers) -> str:
    f1 = next(iter(found["f1"].values()))
    alpha = found["coefficients"]["positions"]["all"]["alpha"]
    text = phrase(
        "mean F1 of pairs {f1}, alpha {alpha}",
        f1=shown(Rate(f1["mean"])),
        alpha="-" if alpha is None else numeral(alpha, ".3f"),
    )
    means = sorted(
        (each["mean"], name) for name, each in f1["annotators"].items() if each["mean"] is not None
    )
    if len(means) > 2 and means[1][0] - means[0][0] >= _POINT:
        text += "; " + phrase("{name} differs most", name=means[0][1])
    spans = numbers.spans_of_labels()
    disputed = [
        (each["mean"], label)
        for label, each in f1["per_label"].items()
        if each["mean"] is not None and spans[label] >= FREQUENT
    ]
    if len(disputed) > 1:
        mean, label = min(disputed)
        text += "; " + phrase("most disputed: {label} ({f1})", label=label, f1=shown(Rate(mean)))
    return text


def facts_of(report: Content) -> Iterator[str]:
    """Yield how much was read."""
    yield phrase("{n} annotator|{n} annotators", n=len(report["annotators"]))
    yield phrase("{n} shared document|{n} shared documents", n=report["documents"])
    if report["tokens"]:
        yield phrase("{n} position|{n} positions", n=report["tokens"])
    yield phrase(
        "{n} place where annotators differ|{n} places where annotators differ",
        n=sum(sum(found["disagreements"]["kinds"].values()) for found in report["agreement"].values()),
    )


# --- tables


def tables_of(report: Content) -> Iterator[Table]:
    """Yield all tables: F1 by pair and label, places, the ceiling; then, folded, what few readers need."""
    names = report["annotators"]
    for sequence, found in report["agreement"].items() if len(names) > 2 else ():
        key, f1 = next(iter(found["f1"].items()))
        yield _matrix(names, sequence, key, f1)
    for sequence, found in report["agreement"].items():
        yield _of_labels(sequence, found["f1"])
        if "ceiling" in report:
            yield _ceiling(sequence, report["ceiling"][sequence])
    yield _of_kinds({sequence: found["disagreements"] for sequence, found in report["agreement"].items()})
    for sequence, found in report["agreement"].items():
        yield _coefficients(sequence, found)
        yield _alphas(sequence, found)
        if len(names) > 2:
            yield _spread(sequence, found["f1"])
            for key, f1 in list(found["f1"].items())[1:]:
                yield _matrix(names, sequence, key, f1)._replace(is_folded=True)
        if "intervals" in report:
            yield _intervals(sequence, report["intervals"])


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


def _matrix(names: Sequence[str], sequence: str, key: str, f1: Content) -> Table:
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


def _of_labels(sequence: str, f1: Mapping[str, Content]) -> Table:
    """Return the mean F1 of pairs by label, the most disputed first."""
    labels = next(iter(f1.values()))["per_label"]

    def low(label: str) -> tuple[bool, float, str]:
        mean = labels[label]["mean"]
        return mean is None, mean or 0.0, label

    rows: list[list[Cell]] = [[phrase("all labels"), *(Rate(each["mean"]) for each in f1.values())]]
    for label in sorted(labels, key=low):
        name = Find(label, {"layer": sequence, "label": label})
        rows.append([name, *(Rate(each["per_label"][label]["mean"]) for each in f1.values())])
    title = phrase("{layer}: mean F1 of pairs", layer=sequence)
    return Table(title, ["", *map(title_of, f1)], rows)


def _spread(sequence: str, f1: Mapping[str, Content]) -> Table:
    """Return the standard deviation over pairs, and F1 of the counts of all pairs together, by label."""
    names = {"sd": phrase("sd"), "pooled": phrase("pooled")}
    rows: list[list[Cell]] = [
        [phrase("all labels"), *(Rate(each[name]) for each in f1.values() for name in names)]
    ]
    for label in next(iter(f1.values()))["per_label"]:
        entries = (each["per_label"][label] for each in f1.values())
        rows.append([label, *(Rate(entry[name]) for entry in entries for name in names)])
    header = [f"{title_of(key)}, {name}" for key in f1 for name in names.values()]
    title = phrase("{layer}: F1 of pairs, standard deviation and pooled", layer=sequence)
    return Table(title, ["", *header], rows, is_folded=True)


def _of_kinds(found: Mapping[str, Content]) -> Table:
    """Return how many places there are of each kind, by layer."""
    rows: list[list[Cell]] = [[phrase("all agree"), *(of["unanimous"] for of in found.values())]]
    for kind in dict.fromkeys(kind for of in found.values() for kind in of["kinds"]):
        numbers = (
            Find(of["kinds"].get(kind, 0), {"layer": layer, "kind": kind}) for layer, of in found.items()
        )
        rows.append([Find(phrase(kind), {"kind": kind}), *numbers])
    return Table(phrase("places where spans are"), ["", *found], rows)


def _coefficients(sequence: str, found: Content) -> Table:
    which = {
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
    for (items, domain), words in which.items():
        own = found["coefficients"][items][domain]
        means = (own[name]["mean"] for name in ("observed", "kappa", "pi"))
        rows.append([words, own["items"], *means, own["fleiss"], own["alpha"]])
    for name, words in units.items():
        value = None if found["unitizing"] is None else found["unitizing"][name]
        rows.append([words, "", "", "", "", "", value])
    header = [phrase("items"), phrase("observed"), phrase("kappa"), phrase("pi"), "Fleiss", phrase("alpha")]
    title = phrase("{layer}: coefficients (kappa, pi: means of pairs)", layer=sequence)
    return Table(title, ["", *header], rows, is_folded=True)


def _alphas(sequence: str, found: Content) -> Table:
    units = {} if found["unitizing"] is None else found["unitizing"]["per_label"]
    positions, ranges = found["coefficients"]["positions"]["all"], found["coefficients"]["spans"]["any"]
    of_units = {label: each["alpha"] for label, each in units.items()}
    alphas = [positions["per_label"], ranges["per_label"], of_units]
    rows: list[list[Cell]] = [
        [label, *(each.get(label) for each in alphas), units.get(label, {}).get("coverage")]
        for label in sorted({label for each in alphas for label in each})
    ]
    header = [phrase("positions"), phrase("ranges"), "cuα", phrase("coverage of cuα")]
    return Table(phrase("{layer}: alpha by label", layer=sequence), ["", *header], rows, is_folded=True)


def _ceiling(sequence: str, keys: Mapping[str, Content]) -> Table:
    rows: list[list[Cell]] = []
    for key, found in keys.items():
        for name, words in (
            ("pairs", phrase("each other")),
            ("majority", phrase("the majority of the others")),
        ):
            cells = (Rate(found[name][column]) for column in ("human", "system", "difference"))
            rows.append([f"{title_of(key)}, {words}", *cells])
    header = [phrase("human"), phrase("system"), phrase("difference")]
    return Table(
        phrase("{layer}: F1 of the system and of the annotators", layer=sequence), ["", *header], rows
    )


def _intervals(sequence: str, intervals: Content) -> Table:
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


# --- notes


def notes_of(numbers: Numbers, clash: str | None) -> Iterator[str]:
    """Yield what is not defined in a sequence, and why; `clash` says where spans of one annotator overlap first."""
    if numbers.of("overlap"):
        place = clash or phrase("in a text of merged layers")
        yield phrase("unitizing is not defined: spans of one annotator overlap ({place})", place=place)
    elif numbers.of("gaps"):
        yield phrase("unitizing is not defined: spans have gaps")
    for convention in numbers.conventions:
        key = convention.key
        why = numbers.refusals(convention)
        if "overlap" in why:
            yield phrase(
                "{key} is not defined: spans of one annotator overlap, which this convention forbids", key=key
            )
        elif why:
            yield phrase(
                "{key} is not defined: spans of one annotator have gaps, which this convention forbids",
                key=key,
            )


def notes_of_documents(report: Content, without_text: int) -> Iterator[str]:
    """Yield which annotators share no document with another one, and how many documents have no text."""
    for number, name in enumerate(report["annotators"]):
        if not report["common"][number][number]:
            yield phrase("{name} shares no document with another annotator", name=name)
    if without_text:
        yield phrase(
            "{n} document has no text, so positions outside of all spans are not counted|"
            "{n} documents have no text, so positions outside of all spans are not counted",
            n=without_text,
        )


def remarks_of(report: Content, notes: Iterable[str]) -> Iterator[str]:
    """Yield what a reader must know before the numbers, given the notes of all sequences."""
    if report["left_out"]:
        yield phrase(
            "{n} document was left out: only one annotator has annotated it|"
            "{n} documents were left out: only one annotator has annotated it",
            n=report["left_out"],
        )
    yield from notes
    for sequence, keys in report.get("ceiling", {}).items():
        for key, found in keys.items():
            difference = found["pairs"]["difference"]
            if difference is not None:
                scores = report["intervals"]["scores"][sequence] if "intervals" in report else {}
                interval = scores.get(f"ceiling.{key}.pairs.difference", {})
                words = in_words(difference, interval.get("low"), interval.get("high"))
                yield f"{sequence}, {title_of(key)}: {words}"


def advice_of(report: Content) -> Iterator[str]:
    """Yield which numbers to report, and what a dash is if there is one."""
    yield phrase(
        "report the mean of the exact F1 of pairs, or alpha over all positions, which takes chance into account "
        "(clueval guide concept-agreement)"
    )
    if any(_is_undefined(cell) for table in tables_of(report) for row in table.rows for cell in row):
        yield phrase(
            "a dash is a number that is not defined and is left out of means: neither of two annotators has such "
            "spans, or all items have the same value"
        )


def _is_undefined(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, Find | Rate) and shown(cell) == "-")


def rough_intervals(sequence: str, number: int, least: float) -> str:
    """Return that the intervals of a sequence are rough."""
    return phrase(
        "{sequence}: {number} documents weigh as much as {least} of equal size; the intervals are rough",
        sequence=sequence,
        number=number,
        least=numeral(least, ".1f"),
    )


def in_words(difference: float, low: float | None = None, high: float | None = None) -> str:
    """Return what the difference of a system's F1 to the annotators' means, with its interval if there is one.

    >>> in_words(0.001)
    'the system agrees with annotators as well as they do with each other'
    >>> in_words(-0.1)
    'the system agrees with annotators less than they do with each other, by 10.0 points of F1'
    """
    same = phrase("the system agrees with annotators as well as they do with each other")
    known = ""
    if low is not None and high is not None:
        known = phrase(
            "the difference is from {low} to {high} points of F1",
            low=numeral(100 * low, ".1f"),
            high=numeral(100 * high, ".1f"),
        )
        if low <= 0 <= high:
            return f"{same}: {known}"
    if abs(difference) < _LIKE:
        return same
    points = phrase("{points} points of F1", points=numeral(100 * abs(difference), ".1f"))
    points += f" ({known})" if known else ""
    if difference > 0:
        return phrase(
            "the system agrees with annotators more than they do with each other, by {points}; it is like "
            "another annotator, which does not mean that it is right",
            points=points,
        )
    return phrase(
        "the system agrees with annotators less than they do with each other, by {points}", points=points
    )
