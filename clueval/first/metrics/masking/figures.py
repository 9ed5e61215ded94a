"""The report of metric `masking`, from the sum of its counts, and its tables. 0/0 is undefined, None."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from clueval.first.metrics.counting import Tally, f_measure
from clueval.first.metrics.masking.counts import (
    FIELDS,
    MENTION_FIELDS,
    REDACTED_FIELDS,
    REPLACEMENT_FIELDS,
    Row,
)
from clueval.first.metrics.masking.mention import Risk
from clueval.first.metrics.rates import EntryRates, no_rates
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Rate, Table, cut_label
from clueval.statistics.distributions import upper_bound

ALL = "all"

BETAS = (1.0, 2.0)
"""The weights of recall in F, if none are asked for."""

MOST_DOCUMENTS = 10**9
"""For more documents there is no bound."""

_OF_MENTIONS = ("mention_recall", "word_recall", "weighted_word_recall", "character_recall")
RECALLS = ("mention_recall", "entity_recall", *_OF_MENTIONS[1:], "document_recall")


def report_of(
    tally: Tally, risk: Risk, betas: Sequence[float], confidence: float, *, weighted: bool
) -> dict[str, Any]:
    """Return the report, with F of `BETAS` if `betas` is empty; `weighted`: words have weights."""
    names: dict[str, set[str]] = {"class": set(), "label": set()}
    for key in tally:
        if key[0] in names:
            names[key[0]].add(key[1])
    weights = weighted_sums(tally) if weighted else None
    every = _row(tally, (ALL, ""), FIELDS, weights, confidence)
    classes = {name: _row(tally, ("class", name), FIELDS, weights, confidence) for name in names["class"]}
    labels = {
        name: _row(tally, ("label", name), MENTION_FIELDS, weights, confidence) for name in names["label"]
    }
    precision = _precision(tally, weights)
    return {
        "classes": {ALL: every, **{name: classes[name] for name in sorted(classes, key=risk)}},
        "labels": dict(sorted(labels.items())),
        "f": {
            f"{beta:g}": _f(precision["word_precision"], every["word_recall"], beta)
            for beta in betas or BETAS
        },
        "precision": precision,
        "replacements": _fields(tally, ("replacements",), REPLACEMENT_FIELDS),
        "string_leaks": tally["string_leaks", ALL],
        "redacted": _fields(tally, ("redacted",), REDACTED_FIELDS)
        if tally["redacted", "documents"]
        else None,
        "conventions": {},
    }


def entities_told_by(tally: Tally) -> dict[str, str]:
    """Return how entities were told apart, for the signature."""
    names = [name for name in ("by id", "by surface") if tally["entities", name]]
    return {"entities": " and ".join(names)} if names else {}


def weighing(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[EntryRates]:
    """Yield for each row what it is about, mentions or words; its rates are those of single corpora."""
    for kind, name in sorted({key[:2] for key in keys if key[0] in _PLACES}, key=lambda row: row[0] != ALL):
        mentions = [(kind, name, "mentions")]
        yield EntryRates((_PLACES[kind], name or ALL), (), [], no_rates, mentions, mentions)
    words = [("precision", "words")]
    yield EntryRates(("precision",), (), [], no_rates, words, words)


_PLACES = {ALL: "classes", "class": "classes", "label": "labels"}
"""The sections of the report that have the rows of each kind."""


def share(part: float, whole: float) -> float | None:
    """Return ``part / whole``; 0/0 is None.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def _kept(lost: float, whole: float) -> float | None:
    return (whole - lost) / whole if whole else None


def _fields(tally: Tally, before: tuple[str, ...], fields: Collection[str]) -> dict[str, int]:
    return {field: tally[*before, field] for field in fields}


_Weights = Mapping[tuple[str, str, str], float]


def _row(
    tally: Tally, row: Row, fields: Collection[str], weights: _Weights | None, confidence: float
) -> dict[str, Any]:
    """Return the counts and rates of a row; a row without entities and documents has no rates of them."""
    found: dict[str, Any] = _fields(tally, row, fields)
    rates: dict[str, float | None] = {
        "mention_recall": share(found["protected"], found["mentions"]),
        "word_recall": _kept(found["words_exposed"], found["words"]),
        "weighted_word_recall": _weighted_recall(weights, row),
        "character_recall": _kept(found["characters_exposed"], found["characters"]),
    }
    if "documents" not in found:
        return found | rates
    documents, exposed = found["documents"], found["documents_exposed"]
    rates["entity_recall"] = share(found["entities_protected"], found["entities"])
    rates["document_recall"] = _kept(exposed, documents)
    # counts that no corpus has are scored where it is found out which counts a figure is made of
    is_share = 0 <= exposed <= documents and 0 < documents <= MOST_DOCUMENTS
    bound = upper_bound(exposed, documents, confidence) if is_share else None
    return {**found, **{name: rates[name] for name in RECALLS}, "document_leak_upper": bound}


def _weighted_recall(weights: _Weights | None, row: Row) -> float | None:
    if weights is None:
        return None
    whole = weights.get((*row, "words"), 0.0)
    return share(math.fsum((whole, -weights.get((*row, "words_exposed"), 0.0))), whole)


def weighted_sums(tally: Tally) -> _Weights:
    """Return the sums of the weights; each is rounded once, whatever the order of its parts."""
    parts: dict[tuple[str, str, str], list[float]] = {}
    for key, number in tally.items():
        if key[0] == "weighted":
            _, kind, name, field, weight = key
            parts.setdefault((kind, name, field), []).append(float(weight) * number)
    return {key: math.fsum(values) for key, values in parts.items()}


def _precision(tally: Tally, weights: _Weights | None) -> dict[str, Any]:
    found = {key[1]: number for key, number in tally.items() if key[0] == "precision"}
    get = found.get
    words, right = get("words", 0), get("words_right", 0)
    over, outside = get("characters_over_masked", 0), get("letters_outside", 0)
    weighted = None
    if weights is not None:
        row = ("precision", "")
        weighted = share(weights.get((*row, "words_right"), 0.0), weights.get((*row, "words"), 0.0))
    return {
        "words": words,
        "words_right": right,
        "word_precision": share(right, words),
        "weighted_word_precision": weighted,
        "masks": get("masks", 0),
        "masks_needless": get("masks_needless", 0),
        "masked_share": share(get("letters_masked", 0), get("letters", 0)),
        "retention": _kept(over, outside),
        "characters_over_masked": over,
    }


def _f(precision: float | None, recall: float | None, beta: float) -> float | None:
    return None if precision is None or recall is None else f_measure(precision, recall, beta)


_OF_CLASSES = (
    ("mentions", "entities", "entities_in_part", "documents", "documents_exposed"),
    (
        "entity_recall",
        "mention_recall",
        "word_recall",
        "character_recall",
        "document_recall",
        "document_leak_upper",
    ),
)
_OF_LABELS = (
    ("mentions", "protected", "partial", "missed"),
    ("mention_recall", "word_recall", "character_recall"),
)


def tables(title: str, report: Mapping[str, Any], betas: Sequence[float]) -> Iterator[Table]:
    """Yield the tables: classes riskiest first, labels, precision with F of these betas, replacements."""
    classes = {phrase(name) if name == ALL else name: row for name, row in report["classes"].items()}
    yield _rows(f"{title}: {phrase('classes')}", "class", classes, _OF_CLASSES)
    yield _rows(f"{title}: {phrase('labels')}", "label", report["labels"], _OF_LABELS)
    precision = report["precision"]
    rates = ("word_precision", "weighted_word_precision", "masked_share", "retention")
    rows: list[list[Cell | Rate]] = [
        [phrase(name.replace("_", " ")), Rate(value) if name in rates else value]
        for name, value in precision.items()
        if value is not None or name == "word_precision"
    ]
    rows += [[f"F{beta:g}", Rate(report["f"][f"{beta:g}"])] for beta in betas]
    yield Table(f"{title}: {phrase('what was masked')}", ["", phrase("value")], rows)
    other = {f"replacements, {name}": n for name, n in report["replacements"].items()}
    other["string leaks"] = report["string_leaks"]
    other |= {f"redacted, {name.replace('_', ' ')}": n for name, n in (report["redacted"] or {}).items()}
    numbers = [[phrase(name), n] for name, n in other.items()]
    yield Table(f"{title}: {phrase('further')}", ["", phrase("number")], numbers)


def _rows(title: str, first: str, rows: Mapping[str, Any], columns: tuple[tuple[str, ...], ...]) -> Table:
    counts, rates = columns
    weighted = ("weighted_word_recall",) if rows and _is_weighted(rows) else ()
    header = [phrase(name.replace("_", " ")) for name in (first, *counts, *rates, *weighted)]
    return Table(
        title,
        header,
        [
            [cut_label(name), *(row[c] for c in counts), *(Rate(row[r]) for r in (*rates, *weighted))]
            for name, row in rows.items()
        ],
    )


def _is_weighted(rows: Mapping[str, Any]) -> bool:
    return any(row["weighted_word_recall"] is not None for row in rows.values())
