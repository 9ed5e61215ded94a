"""Weights of errors, the formula in which they are written, and the weighted rates.

A weight gives the share of one error that counts as a true positive, a false positive and a false negative:
``{"BES": {"TP": 0.5, "FP": 0.0, "FN": 0.5}}``. Weights and formula are those of FairEval (Ortmann 2022).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NoReturn

from clueval.core.span import Frozen
from clueval.core.tally import Counts
from clueval.files.errors import UsageError

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
                f"unknown error type {kind!r} in the weights", advice=f"known are {_listed(KINDS)}"
            )
        _check_parts(kind, parts)
    if "BE" in weights and any(kind in weights for kind in BOUNDARY):
        raise UsageError(
            "weights name BE and one of BES, BEL, BEO", advice="BE is their sum: name one or the other"
        )
    frozen = {
        kind: Frozen({part: float(weight) for part, weight in parts.items()})
        for kind, parts in weights.items()
    }
    return Frozen({**frozen, **{part: _WHOLE[part] for part in PARTS if part not in frozen}})


def _check_parts(kind: str, parts: object) -> None:
    if not isinstance(parts, Mapping):
        raise UsageError(f"the weight of {kind} must map TP, FP and FN to numbers, not {parts!r}")
    for part, weight in parts.items():
        if part not in PARTS:
            raise UsageError(
                f"{kind} cannot count as {part!r}", advice=f"an error counts as {_listed(PARTS)}"
            )
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise UsageError(f"the weight of {kind} as {part} must be a number of 0 or more, not {weight!r}")
        if weight > _MOST:
            raise UsageError(f"the weight of {kind} as {part} must be a number of 0 or more, up to 1e100")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)


# The formula

_SIGN = re.compile(r"[ \t]*([A-Za-z]+|\d+(?:\.\d+)?|\.\d+|[^ \t])?")


def parse_weights(formula: str) -> Frozen:
    """Return the weights of a formula, in its order, then TP, FP and FN as themselves if it does not name
    them.

    A formula is ``error type = weight * part + ..., ...``; asterisks and blanks may be omitted, and so may
    parts of weight zero. Raises `UsageError` with the column (from 1) of the first error.

    >>> parse_weights("LE = 0.5 FP + 0.5FN, BES=0.5*TP+0.5*FN")["BES"]
    {'TP': 0.5, 'FN': 0.5}
    """
    weights: dict[str, dict[str, float]] = {}
    reader = _FormulaReader(formula)
    while True:
        kind = reader.take("an error type", KINDS)
        if kind in weights:
            reader.refuse(f"{kind} already has weights")
        reader.take("'='", ("=",))
        weights[kind] = _terms(reader)
        if not reader.sign:
            return freeze_weights(weights)
        reader.take("'+', ',' or the end", (",",))


def _terms(reader: _FormulaReader) -> dict[str, float]:
    parts: dict[str, float] = {}
    while True:
        weight = reader.number()
        if reader.sign == "*":
            reader.advance()
        part = reader.take("TP, FP or FN", PARTS)
        if part in parts:
            reader.refuse(f"{part} is named twice in one sum")
        parts[part] = weight
        if reader.sign != "+":
            return parts
        reader.advance()


class _FormulaReader:
    """Reads a formula token by token: `sign` is the next token ("" at the end), `place` its position."""

    __slots__ = ("_end", "_last", "formula", "place", "sign")

    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.sign = ""
        self.place = self._end = self._last = 0
        self.advance()

    def advance(self) -> None:
        found = _SIGN.match(self.formula, self._end)
        assert found is not None  # the pattern matches the empty string
        self._last = self.place
        self.sign = found[1] or ""
        self._end = found.end()
        self.place = self._end - len(self.sign)

    def take(self, wanted: str, signs: tuple[str, ...]) -> str:
        sign = self.sign
        if sign not in signs:
            known = f", known are {_listed(signs)}" if sign.isalpha() and len(signs) > 1 else ""
            self._expected(wanted + known)
        self.advance()
        return sign

    def number(self) -> float:
        sign = self.sign
        if not sign or sign[-1] not in "0123456789":
            self._expected("a weight, such as 0.5")
        self.advance()
        return float(sign)

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error about the token that was taken last."""
        self._fail(problem, self._last)

    def _expected(self, wanted: str) -> NoReturn:
        self._fail(f"expected {wanted}, found {repr(self.sign) if self.sign else 'the end'}", self.place)

    def _fail(self, problem: str, place: int) -> NoReturn:
        raise UsageError(
            f"weights formula, column {place + 1}: {problem}",
            advice="write for example: LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN",
        )


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
