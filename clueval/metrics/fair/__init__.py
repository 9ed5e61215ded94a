"""Fair evaluation of labelled spans: every error is counted once, with its type.

Gold and predicted spans are paired; one span may be paired with several parts of it. Each pair, and each span that is
left over, counts once:

====  ==============================================================
TP    same start, end and label
LE    same start and end, another label
BES   same label; the predicted span lies inside the gold span
BEL   same label; the predicted span contains the gold span
BEO   same label; the two spans overlap in another way
LBE   another label, and the two spans overlap
FN    a gold span that no predicted span is left for
FP    a predicted span that no gold span is left for
====  ==============================================================

Pairs are made in the order TP, LE, BES, BEL and BEO, LBE; short spans come first, and of several spans the one with the
most shared positions is taken. There are three kinds of scores, each for all labels and for each label:

* *traditional*: a span is correct if the other side has a span with the same start, end and label;
* *fair*: TP are correct; LE, BES, BEL, BEO and LBE count one half in precision and one half in recall, FP count in
  precision and FN in recall;
* *weighted*: as fair, with the weights of the setting `weights`; without it, these scores equal the fair ones.

The report also has a matrix of the labels of each error. `clueval errors --metric fair` lists the errors with their
types, and `clueval faireval` runs configuration files of the program FairEval.

Source: Ortmann, Katrin. 2022. Fine-Grained Error Analysis and Fair Evaluation of Labeled Spans. LREC 2022, pages
1400-1407, and her program FairEval, which compares sentence by sentence; cases give the same numbers, because spans
of different cases do not overlap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

from clueval.core.case import TOKENS, Case
from clueval.core.metric import RATES, Counts, Metric, Sizes, Tally
from clueval.core.span import NO_LABEL, NO_SPAN_LABELS, Frozen, Span
from clueval.files.errors import UsageError, shortened, warn
from clueval.files.options import is_number, require_choices, require_texts, setting_field
from clueval.metrics.fair.pairing import Item, pair_up

Weights = Mapping[str, Mapping[str, float]]
"""The share of each error that counts as a true positive, a false positive and a false negative.

``{"BES": {"TP": 0.5, "FP": 0.0, "FN": 0.5}}``. Weights, and the formula in which they are written, are those of
FairEval (Ortmann 2022).
"""

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


FOCUSES = ("target", "system")


class FairError(NamedTuple):
    """One error: its type (LE, BES, BEL, BEO, LBE, FN or FP) and its spans; FN and FP have only one."""

    kind: str
    gold: Span | None
    predicted: Span | None


@dataclass(frozen=True, slots=True)
class Fair(Metric):
    """Fair evaluation: each error counts once, under its own type.

    Swapping gold and predicted swaps FN with FP and BES with BEL if no span overlaps more than one span of
    the other side. In general it does not, because the gold spans choose their partners. The smallest case:
    gold A[0,1) and A[0,2) both share tokens with predicted A[0,3): two BEL. Swapped, gold A[0,3) chooses
    A[0,2), a BES; no tokens of A[0,1) are left to share, so it is an FP.

    Its tally has the keys ``("traditional", kind, label)`` and ``("fair", kind, gold label, predicted label)``; FN and
    FP have the label of their only span. ``("excluded", label)`` has the spans of a label that `exclude` names.

    Attributes:
        focus: the side whose label an LE or LBE is counted under: ``"target"`` (gold) or ``"system"`` (predicted).
        weights: the weights of error types as TP, FP and FN in the weighted scores; None: `DEFAULT_WEIGHTS`.
        labels: only spans with these labels are evaluated, on both sides; empty: with any label.
        exclude: spans with these labels are not evaluated.

    Raises `UsageError` for another focus, for invalid weights, and if `exclude` has all of `labels`.

    >>> case = Case(((Span(0, 4, "PER"),), (Span(0, 3, "PER"),)), (None, None))
    >>> [error.kind for error in Fair().findings(case)], Fair().count(case)["fair", "BES", "PER", "PER"]
    (['BES'], 1)
    """

    name: ClassVar[str] = "fair"
    filters: ClassVar[str | None] = "use Fair.labels and Fair.exclude instead"

    focus: str = setting_field(
        "target",
        "under whose label a span with a wrong label (LE, LBE) is counted in the scores per label: target, "
        "gold's, or system, the predicted one",
        choices=FOCUSES,
    )
    weights: Weights | None = setting_field(
        None,
        "what an error of each type counts for in the scores called weighted, as in "
        '"LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN"',
        takes="a formula",
        parse=parse_weights,
        default="as in the scores called fair",
    )
    labels: tuple[str, ...] = setting_field((), "count spans with these labels only", default="all")
    exclude: tuple[str, ...] = setting_field(NO_SPAN_LABELS, "leave out spans with these labels")

    def __post_init__(self) -> None:
        require_choices(self, "Fair")
        if self.weights is not None:
            object.__setattr__(self, "weights", freeze_weights(self.weights))
        require_texts(self, "Fair", "labels", "exclude")
        if self.labels and {*self.labels} <= {*self.exclude}:
            raise UsageError("Fair.exclude has every label of Fair.labels", advice="leave one of them out")

    @property
    def reads(self) -> frozenset[str]:
        return frozenset((TOKENS,))

    def count(self, case: Case) -> Tally:
        tally = count_items(self._items(case.gold), self._items(case.predicted))
        if named := self._explicit_exclusions:
            labels = (span.label for side in (case.gold, case.predicted) for span in side)
            tally.update(("excluded", label) for label in labels if label in named)
        return tally

    def findings(self, case: Case) -> Iterator[FairError]:
        """Yield the errors that `count` counts, by position (of the gold span, if there is one)."""
        errors = [
            FairError(kind, *(None if item is None else item.span for item in pair))
            for kind, *pair in pair_up(self._items(case.gold), self._items(case.predicted))
            if kind != "TP"
        ]
        yield from sorted(errors, key=_position)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return traditional, fair and weighted scores, overall and by label; the confusion; the gold labels.

        The confusion matrix holds no true positives: its diagonal holds the boundary errors, its row ``_``
        the false positives, its column ``_`` the false negatives. (A span without a label has the label
        ``_``, and is counted in the same row and column.)
        """
        by_label = self._counts_by_label(total)
        golds = {label: counts[0]["TP"] + counts[0]["FN"] for label, counts in by_label.items()}
        return {
            "overall": self._versions(*_overall(by_label)),
            "per_label": {label: self._versions(*counts) for label, counts in by_label.items()},
            "confusion": _confusion(total, list(by_label)),
            "label_counts": {label: number for label, number in golds.items() if number},
        }

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        headlines = {}
        for place, (traditional, fair) in self._places(total).items():
            headlines[f"{place}.fair"] = weighted(fair, DEFAULT_WEIGHTS)
            headlines[f"{place}.traditional"] = weighted(traditional, TRADITIONAL_WEIGHTS)
            headlines[f"{place}.weighted"] = weighted(fair, self.weights or DEFAULT_WEIGHTS)
        return headlines

    def sizes(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Sizes]:
        return {
            f"{place}.{version}": (counts["TP"] + counts["FN"], counts["TP"] + counts["FP"])
            for place, (counts, _) in self._places(total).items()
            for version in ("traditional", "fair", "weighted")
        }

    def _places(self, total: Tally) -> dict[str, tuple[_Kinds, _Kinds]]:
        """Return the traditional and the fair counts of all labels and of each, by their paths in the report."""
        by_label = self._counts_by_label(total)
        of_labels = {f"per_label.{label}": counts for label, counts in by_label.items()}
        return {"overall": _overall(by_label), **of_labels}

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for one of `labels` that no span has; warn of one of `exclude`, unless by default."""
        labels = {name for (_, _, *names) in total for name in names}
        for label in self.labels:
            if label not in labels and label not in self.exclude:
                raise UsageError(f"no span is labelled {label!r}", advice="check Fair.labels")
        for label in sorted(self._explicit_exclusions) if total else ():
            if not total["excluded", label]:
                warn(shortened(f"fair.exclude: no span has the label {label!r}"))

    @property
    def _explicit_exclusions(self) -> set[str]:
        """The labels to exclude that are not excluded by default."""
        return {*self.exclude} - {*NO_SPAN_LABELS}

    def _items(self, spans: Sequence[Span]) -> list[Item]:
        """Return the spans that are evaluated, as items."""
        exclude, labels = self.exclude, self.labels
        return [
            item
            for item in map(Item.of, spans)
            if item.key.label not in exclude and (not labels or item.key.label in labels)
        ]

    def _counts_by_label(self, total: Tally) -> dict[str, tuple[_Kinds, _Kinds]]:
        """Return the traditional and the fair counts of each label, labels in order."""
        by_label: dict[str, tuple[_Kinds, _Kinds]] = {}
        for (version, kind, *labels), number in total.items():
            for label in labels:
                if label not in by_label:
                    by_label[label] = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
            if version == "traditional":
                by_label[labels[0]][0][kind] += number
            elif version == "fair":
                of_label = by_label[labels[0] if self.focus == "target" else labels[-1]][1]
                of_label[kind] += number
                of_label["BE"] += number if kind in BOUNDARY else 0
        return dict(sorted(by_label.items()))

    def _versions(self, traditional: _Kinds, fair: _Kinds) -> dict[str, dict[str, float]]:
        return {
            "traditional": _entry(traditional, PARTS, TRADITIONAL_WEIGHTS),
            "fair": _entry(fair, KINDS, DEFAULT_WEIGHTS),
            "weighted": _entry(fair, KINDS, self.weights or DEFAULT_WEIGHTS),
        }


def count_items(gold: Sequence[Item], predicted: Sequence[Item]) -> Tally:
    """Return the tally of the spans of two sides, without those that are excluded."""
    golds, predicteds = ({item.key for item in side} for side in (gold, predicted))
    tally = Tally(("traditional", "TP" if key in predicteds else "FN", key.label) for key, _ in gold)
    tally.update(("traditional", "FP", key.label) for key, _ in predicted if key not in golds)
    tally.update(
        ("fair", kind, *[item.key.label for item in pair if item is not None])
        for kind, *pair in pair_up(gold, predicted)
    )
    return tally


def _position(error: FairError) -> tuple[int, int]:
    span = error.gold or error.predicted
    assert span is not None  # an error has at least one span
    return span.start, span.end


_Kinds = dict[str, int]
"""The number of each of `KINDS`."""


def _overall(by_label: Mapping[str, tuple[_Kinds, _Kinds]]) -> tuple[_Kinds, _Kinds]:
    """Return the sums of the traditional and of the fair counts."""
    traditional, fair = (
        {kind: sum(counts[version][kind] for counts in by_label.values()) for kind in KINDS}
        for version in (0, 1)
    )
    return traditional, fair


def _entry(counts: _Kinds, kinds: Sequence[str], weights: Weights) -> dict[str, float]:
    report = weighted(counts, weights).report()
    rates = {name: report[name] for name in RATES}
    return {**{kind: counts[kind] for kind in kinds}, **rates}


def _confusion(total: Tally, labels: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return a row for every label, `NO_LABEL` last, with the cells that are not 0, in the same order."""
    cells: Counter[tuple[str, str]] = Counter()
    for (version, kind, *names), number in total.items():
        if version == "fair" and kind != "TP":
            gold = NO_LABEL if kind == "FP" else names[0]
            cells[gold, NO_LABEL if kind == "FN" else names[-1]] += number
    names = [*(label for label in labels if label != NO_LABEL), NO_LABEL]
    matrix: dict[str, dict[str, int]] = {gold: {} for gold in names}
    for (gold, predicted), number in sorted(
        cells.items(), key=lambda cell: (cell[0][1] == NO_LABEL, cell[0])
    ):
        if number:
            matrix[gold][predicted] = number
    return matrix
