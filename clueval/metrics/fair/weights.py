"""Weights of errors, the formula in which they are written, and the weighted rates.

A weight gives the share of one error that counts as a true positive, a false positive and a false negative:
``{"BES": {"TP": 0.5, "FP": 0.0, "FN": 0.5}}``. Weights and formula are those of FairEval (Ortmann 2022).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from clueval.core.span import Frozen
from clueval.core.tally import Counts
from clueval.files.errors import UsageError
from clueval.files.options import is_number

Weights = Mapping[str, Mapping[str, float]]

PARTS = ("TP", "FP", "FN")
BOUNDARY = ("BES", "BEL", "BEO")
KINDS = ("TP", "FP", "FN", "LE", "BE", *BOUNDARY, "LBE")
"""Every count of a fair report; BE is the sum of `BOUNDARY`."""

_MOST = 1e100
"""The greatest weight: a float can hold the weighted sum of any number of errors."""

_WHOLE = Frozen({part: Frozen({part: 1.0}) for part in PARTS})
_HALF = Frozen(FP=0.5, FN=0.5)

TRADITIONAL_WEIGHTS: Weights = _WHOLE
DEFAULT_WEIGHTS: Weights = Frozen({**_WHOLE, "LE": _HALF, "BE": _HALF, "LBE": _HALF})
"""An LE, BE or LBE is half a false positive and half a false negative."""


def freeze_weights(weights: Weights) -> Frozen:
    """Return checked weights in the order given, then TP, FP and FN as themselves if they are not named.

    Raises `UsageError` for an unknown error type or part, for a weight that is not a number from 0 to 1e100,
    and for BE together with BES, BEL or BEO, which would count the same error twice.

    >>> list(freeze_weights({"LE": {"FP": 1}}))
    ['LE', 'TP', 'FP', 'FN']
    """
    if not isinstance(weights, Mapping):
        raise UsageError(f"Fair.weights must map error types to weights, not {weights!r}")
    for kind, parts in weights.items():
        if kind not in KINDS:
            raise UsageError(
                f"unknown error type {kind!r} in the weights", advice=f"known are {', '.join(KINDS)}"
            )
        if not isinstance(parts, Mapping):
            raise UsageError(f"the weight of {kind} must map TP, FP and FN to numbers, not {parts!r}")
        for part, weight in parts.items():
            if part not in PARTS:
                raise UsageError(
                    f"{kind} cannot count as {part!r}", advice=f"an error counts as {', '.join(PARTS)}"
                )
            must = f"the weight of {kind} as {part} must be a number of 0 or more"
            if not is_number(weight) or not math.isfinite(weight) or weight < 0:
                raise UsageError(f"{must}, not {weight!r}")
            if weight > _MOST:
                raise UsageError(f"{must}, up to 1e100")
    if "BE" in weights and any(kind in weights for kind in BOUNDARY):
        raise UsageError(
            "weights name BE and one of BES, BEL, BEO", advice="BE is their sum: name one or the other"
        )
    frozen = {
        kind: Frozen({part: float(weight) for part, weight in parts.items()})
        for kind, parts in weights.items()
    }
    return Frozen({**frozen, **{part: _WHOLE[part] for part in PARTS if part not in frozen}})


_SIGN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|\.\d+|[^ \t]")


def parse_weights(formula: str) -> Frozen:
    """Return the weights of a formula, in its order, then TP, FP and FN as themselves if it does not name
    them.

    A formula is ``error type = weight * part + ..., ...``; asterisks and blanks may be omitted, and so may
    parts of weight zero. Raises `UsageError` with the column (from 1) of the first error.

    >>> parse_weights("LE = 0.5 FP + 0.5FN, BES=0.5*TP+0.5*FN")["BES"]
    {'TP': 0.5, 'FN': 0.5}
    """
    signs = [(match[0], match.start()) for match in _SIGN.finditer(formula)] + [("", len(formula))]
    at = 0

    def fail(problem: str, number: int) -> NoReturn:
        raise UsageError(
            f"weights formula, column {signs[number][1] + 1}: {problem}",
            advice="write for example: LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN",
        )

    def take(wanted: str, is_right: Callable[[str], bool]) -> str:
        nonlocal at
        sign = signs[at][0]
        if not sign or not is_right(sign):
            fail(f"expected {wanted}, found {repr(sign) if sign else 'the end'}", at)
        at += 1
        return sign

    def take_name(wanted: str, names: Sequence[str]) -> str:
        hint = f", known are {', '.join(names)}" if signs[at][0].isalpha() else ""
        return take(wanted + hint, names.__contains__)

    weights: dict[str, dict[str, float]] = {}
    while True:
        kind = take_name("an error type", KINDS)
        if kind in weights:
            fail(f"{kind} already has weights", at - 1)
        take("'='", "=".__eq__)
        parts = weights[kind] = {}
        while True:
            weight = float(take("a weight, such as 0.5", lambda sign: sign[-1] in "0123456789"))
            if signs[at][0] == "*":
                at += 1
            part = take_name("TP, FP or FN", PARTS)
            if part in parts:
                fail(f"{part} is named twice in one sum", at - 1)
            parts[part] = weight
            if signs[at][0] != "+":
                break
            at += 1
        if not signs[at][0]:
            return freeze_weights(weights)
        take("'+', ',' or the end", ",".__eq__)


# Rates


def weighted(counts: Mapping[str, float], weights: Weights) -> Counts:
    """Return weighted counts of errors: those of TP are correct, those of TP and FN are gold, of TP and FP predicted.

    An error type without a weight, or without a count, is not counted.

    >>> weighted({"TP": 1, "LE": 2}, DEFAULT_WEIGHTS)
    Counts(gold=2.0, predicted=2.0, tp_gold=1.0, tp_predicted=1.0)
    """
    numbers = [(parts, counts[kind]) for kind, parts in weights.items() if counts.get(kind)]
    tp, fp, fn = (
        math.fsum([parts[part] * number for parts, number in numbers if part in parts]) for part in PARTS
    )
    return Counts(tp + fn, tp + fp, tp, tp)
