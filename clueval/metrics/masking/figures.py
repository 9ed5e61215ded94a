"""The report of metric `masking`, from the sum of its counts. 0/0 is undefined, None."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from clueval.core.beta import upper_bound
from clueval.core.metric import Sizes
from clueval.core.tally import Tally, f_measure
from clueval.metrics.masking.counts import (
    FIELDS,
    MENTION_FIELDS,
    REDACTED_FIELDS,
    REPLACEMENT_FIELDS,
    Row,
)
from clueval.metrics.masking.mention import Risk

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


def sizes_of(tally: Tally) -> dict[str, Sizes]:
    """Return for each row what it is about, mentions or words."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {("precision",): ("precision", "words")}
    for key in tally:
        if key[0] in _PLACES:
            found[_PLACES[key[0]], key[1] or ALL] = (key[0], key[1], "mentions")
    return {".".join(path): (tally[key], tally[key]) for path, key in found.items()}


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
