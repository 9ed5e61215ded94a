"""Metric `muc`: the five categories of the MUC conferences under the four schemes of SemEval-2013.

MUC is the Message Understanding Conference. Gold and predicted spans are paired one to one. A pair is
*correct*, *incorrect* or *partial* (which counts half), a gold span in no pair is *missed*, a predicted one
*spurious*:

=========  =======================================  ===========================================
scheme     correct                                  any other pair that overlaps
=========  =======================================  ===========================================
strict     same start, end and label                incorrect
exact      same start and end                       incorrect
partial    same start and end                       partial
type       same label, overlapping                  incorrect
=========  =======================================  ===========================================

The number of gold spans is ``possible = correct + incorrect + partial + missed``, the number of predicted
spans is ``actual = correct + incorrect + partial + spurious``; ``precision = (correct + partial / 2) /
actual`` and ``recall = (correct + partial / 2) / possible``. A pair is counted in the row of its gold span's
label, as in MUC's tables, so the rows of the labels add up to the totals.

The pairs do not depend on the order of the spans. Equal spans with equal labels are paired first. For `type`,
the next pairs are as many overlapping pairs of equal label as possible (where the spans of neither side
overlap one another, among such pairings the one with the most pairs in all is taken); for the other schemes,
spans of equal start and end. All other overlapping spans come last. Each step makes as many pairs as
possible: the span that ends first takes, of the spans of the other side that it overlaps, the one that ends
first. (Later spans can use that one least, so taking it loses no pair.) Spans may nest, overlap, repeat and
have zero length; spans that touch do not overlap, but two empty ones in one place do. Discontinuous spans overlap
if they share a position, and have the same start and end if they have the same fragments; where there are any,
pairs are found by augmenting paths.

An example: [0,3) and [2,9) overlap gold [1,4); [2,9) overlaps [5,6) as well. [0,3) ends first and
takes [1,4), the only span that it overlaps; then [5,6) ends first and takes [2,9). If [2,9) took the first
span that it overlaps, [0,3) and [5,6) would be left over.

Sources: Chinchor and Sundheim 1993 (MUC-5); Segura-Bedmar et al. 2013 (SemEval-2013 task 9.1); nervaluate
1.2.1, which has the same totals wherever its totals do not depend on the order of the spans. nervaluate differs
in three ways: it pairs in the order of the spans, and may lose an exact match to another span, or under `type` a
pair of the same label to one of another label (gold [0,2) PER, predicted [0,1) LOC and [1,2) PER: `type` is correct
here, because a pair of the same label is preferred, and incorrect there); it ignores an
overlap of less than 1 % of a gold span; and it scores each label on the spans of that label alone, so a pair
of two labels is missed and spurious there, and the rows do not add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any, ClassVar

from clueval.core.case import Case, LabelledRange
from clueval.core.metric import RATES, Counts, Metric, Sizes, Tally
from clueval.core.one_to_one import most_pairs
from clueval.core.span import Ranges, Span, components, overlaps_between

SCHEMES = ("strict", "exact", "partial", "type")
CATEGORIES = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, slots=True)
class Muc(Metric):
    """The metric; it has no settings. A span's label is `Span.label`.

    Its tally has the keys ``(scheme, label, category)``. The report has an entry for each scheme and, under
    ``per_label``, the same for each label; 0/0 is 0.

    >>> case = Case(((Span(0, 3, "A"), Span(5, 6, "B")), (Span(1, 3, "A"), Span(5, 6, "C"))), (None, None))
    >>> report = Muc().scores(Muc().count(case), ["label"])
    >>> [(scheme, report[scheme]["correct"], report[scheme]["f1"]) for scheme in SCHEMES]
    [('strict', 0, 0.0), ('exact', 1, 0.5), ('partial', 1, 0.75), ('type', 1, 0.5)]
    """

    name: ClassVar[str] = "muc"
    filters: ClassVar[str | None] = "score without the filter, or use label_map='LABEL=LABEL,*='"

    def count(self, case: Case) -> Tally:
        tally = Tally()
        ranges = case.labelled_ranges()
        equal = Counter(ranges[0]) & Counter(ranges[1])
        for key, number in equal.items():
            for scheme in SCHEMES:
                tally[scheme, key[2], "correct"] += number
        if len(case.gold) + len(case.predicted) > 2 * equal.total():
            rest = _Rest(*map(_without_equal_pairs, (case.gold, case.predicted), ranges, repeat(equal)))
            by_range, by_label = rest.paired_by_range(), rest.paired_by_label()
            for scheme in SCHEMES:
                rest.count(tally, scheme, by_label if scheme == "type" else by_range)
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report; layers are not reported separately: a label is that of all layers."""
        overall, *of_labels = _categories(total)
        return {**_entries(overall[1]), "per_label": {label: _entries(counts) for label, counts in of_labels}}

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        return {
            scheme if label is None else f"per_label.{label}.{scheme}": _counts(*categories)
            for label, counts in _categories(total)
            for scheme, categories in counts.items()
        }

    def sizes(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Sizes]:
        return {path: counts[:2] for path, counts in self.headlines(total, layers).items()}


def _categories(total: Tally) -> list[tuple[str | None, dict[str, list[int]]]]:
    """Return the numbers of `CATEGORIES` by scheme: under None of all labels, then of each, labels in order."""
    overall = {scheme: [0] * len(CATEGORIES) for scheme in SCHEMES}
    by_label: dict[str, dict[str, list[int]]] = {}
    for (scheme, label, category), number in total.items():
        of_label = by_label.get(label)
        if of_label is None:
            of_label = by_label[label] = {scheme: [0] * len(CATEGORIES) for scheme in SCHEMES}
        place = CATEGORIES.index(category)
        of_label[scheme][place] = number
        overall[scheme][place] += number
    return [(None, overall), *sorted(by_label.items())]


def _counts(correct: int, incorrect: int, partial: int, missed: int, spurious: int) -> Counts:
    """Return what is possible and actual, and the credit on both sides."""
    paired, credit = correct + incorrect + partial, correct + 0.5 * partial
    return Counts(paired + missed, paired + spurious, credit, credit)


def _entries(counts: Mapping[str, Sequence[int]]) -> dict[str, dict[str, float]]:
    entries = {}
    for scheme, categories in counts.items():
        total = _counts(*categories)
        entry = dict(zip(CATEGORIES, categories, strict=True))
        rates = {name: total.report()[name] for name in RATES}
        entries[scheme] = {**entry, "possible": total.gold, "actual": total.predicted, **rates}
    return entries


# Pairing

_Pairs = dict[int, int]
"""The numbers of gold spans, with the numbers of their predicted spans."""


def _without_equal_pairs(
    spans: Sequence[Span], ranges: Sequence[LabelledRange], equal: Counter[LabelledRange]
) -> list[Span]:
    """Return the spans, in the order of their ranges, without those that are in pairs of equal spans."""
    taken = Counter(equal)
    left = []
    for start, end, label, _, number in sorted(
        (start, end, label, parts or (), number) for number, (start, end, label, parts) in enumerate(ranges)
    ):
        key = start, end, label, spans[number].parts
        if taken[key]:
            taken[key] -= 1
        else:
            left.append(spans[number])
    return left


class _Rest:
    """The spans of a case that are in no pair of equal spans, and which of them overlap."""

    def __init__(self, gold: Sequence[Span], predicted: Sequence[Span]) -> None:
        self._sides = gold, predicted
        self._labels = tuple([span.label for span in side] for side in self._sides)
        self._around = overlaps_between(gold, predicted)

    def count(self, tally: Tally, scheme: str, pairs: _Pairs) -> None:
        """Add the categories of the spans under one scheme."""
        (gold, predicted), (labels, predicted_labels) = self._sides, self._labels
        for gold_number, label in enumerate(labels):
            if gold_number not in pairs:
                tally[scheme, label, "missed"] += 1
                continue
            predicted_number = pairs[gold_number]
            same_range = _range(gold[gold_number]) == _range(predicted[predicted_number])
            same_label = label == predicted_labels[predicted_number]
            correct = same_label if scheme == "type" else same_range and (same_label or scheme != "strict")
            category = "correct" if correct else "partial" if scheme == "partial" else "incorrect"
            tally[scheme, label, category] += 1
        taken = set(pairs.values())
        for predicted_number, label in enumerate(predicted_labels):
            if predicted_number not in taken:
                tally[scheme, label, "spurious"] += 1

    def paired_by_range(self) -> _Pairs:
        """Pair spans of equal start and end, then spans that overlap."""
        free: dict[Any, list[int]] = {}
        for number in range(len(self._sides[1]) - 1, -1, -1):  # so that the first is the last of the list
            free.setdefault(_range(self._sides[1][number]), []).append(number)
        pairs = {}
        for number, span in enumerate(self._sides[0]):
            if equal := free.get(_range(span)):
                pairs[number] = equal.pop()
        return pairs | self._most_overlapping(*self._unpaired(pairs))

    def paired_by_label(self) -> _Pairs:
        """Pair spans of one label that overlap, then all others that overlap."""
        pairs: _Pairs = {}
        for numbers in self._components(*self._unpaired({})):
            members = [
                [side[number] for number in of_side]
                for side, of_side in zip(self._sides, numbers, strict=True)
            ]
            if all(
                all(span.parts is None for span in side)
                and all(
                    span.end <= following.start and span.start < following.end
                    for span, following in pairwise(side)
                )
                for side in members
            ):
                pairs |= self._best_of_flat(numbers[0])
        by_label: dict[str, tuple[list[int], list[int]]] = {}
        for side, left in enumerate(self._unpaired(pairs)):
            for number in left:
                by_label.setdefault(self._labels[side][number], ([], []))[side].append(number)
        for golds, predicteds in by_label.values():
            pairs |= self._most_overlapping(golds, predicteds)
        return pairs | self._most_overlapping(*self._unpaired(pairs))

    def _unpaired(self, pairs: _Pairs) -> tuple[list[int], list[int]]:
        """Return the numbers of the spans of both sides that are in no pair."""
        gold, predicted = (set(range(len(side))) for side in self._sides)
        return sorted(gold.difference(pairs)), sorted(predicted.difference(pairs.values()))

    def _components(
        self, golds: Sequence[int], predicteds: Sequence[int]
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the spans of both sides, by number, that are connected by overlaps, if both sides have some."""
        rows = [
            (self._sides[side][number].start, self._sides[side][number].end, side, number)
            for side, numbers in enumerate((golds, predicteds))
            for number in numbers
        ]
        for members in components(sorted(rows)):
            component: tuple[list[int], list[int]] = ([], [])
            for _, _, side, number in members:
                component[side].append(number)
            if component[0] and component[1]:
                yield component

    def _most_overlapping(self, golds: Sequence[int], predicteds: Sequence[int]) -> _Pairs:
        """Return as many pairs of overlapping spans as possible."""
        pairs: _Pairs = {}
        for numbers in self._components(golds, predicteds):
            if not any(self._sides[side][number].parts for side in (0, 1) for number in numbers[side]):
                pairs |= self._most_overlapping_without_gaps(numbers)
                continue
            gold_numbers, free = sorted(numbers[0]), set(numbers[1])
            edges = [
                [(partner, partner) for partner in self._around[0][number] if partner in free]
                for number in gold_numbers
            ]
            for number, partner in zip(gold_numbers, most_pairs(edges), strict=True):
                if partner is not None:
                    pairs[number] = partner
        return pairs

    def _most_overlapping_without_gaps(self, numbers: tuple[Sequence[int], Sequence[int]]) -> _Pairs:
        """Pair the span that ends first with that one of those that it overlaps that ends first, and so on."""
        free: tuple[dict[int, tuple[int, int, int, int]], ...] = ({}, {})
        for side, spans in enumerate(self._sides):
            for number in numbers[side]:
                free[side][number] = spans[number].end, spans[number].start, side, number
        pairs: _Pairs = {}
        for _, _, side, number in sorted([*free[0].values(), *free[1].values()]):
            if free[side].pop(number, None) is not None:
                others = free[1 - side]
                around = [others[other] for other in self._around[side][number] if other in others]
                if around:
                    partner = min(around)[3]
                    del others[partner]
                    pairs |= {number: partner} if side == 0 else {partner: number}
        return pairs

    def _best_of_flat(self, golds: Sequence[int]) -> _Pairs:
        """Return as many pairs of equal label as possible, then as many as possible, of the gold spans of a component.

        Neither of its sides has overlaps. The overlapping pairs of such sides have an order in which successive pairs
        share at most one span. So the pairs that can follow depend only on which spans of the last pair are taken; the
        best of each case is kept.
        """
        best: dict[tuple[int | None, int | None], _Chain] = {(None, None): (0, 0, None)}
        for gold_number in golds:
            for predicted_number in self._around[0][gold_number]:
                chains: dict[tuple[int | None, int | None], _Chain] = {}
                for (last_gold, last_predicted), chain in best.items():
                    state = (
                        last_gold if last_gold == gold_number else None,
                        last_predicted if last_predicted == predicted_number else None,
                    )
                    chains[state] = max(chains.get(state, chain), chain, key=_value)
                if (None, None) in chains:
                    labels, number, before = chains[None, None]
                    same = self._labels[0][gold_number] == self._labels[1][predicted_number]
                    chains[gold_number, predicted_number] = (
                        labels + same,
                        number + 1,
                        (gold_number, predicted_number, before),
                    )
                best = chains
        pairs: _Pairs = {}
        last_pair = max(best.values(), key=_value)[2]
        while last_pair is not None:
            gold_number, predicted_number, last_pair = last_pair
            pairs[gold_number] = predicted_number
        return pairs


_Chain = tuple[int, int, Any]
"""The number of pairs of equal label, the number of pairs, and the last pair with the chain before it."""


def _value(chain: _Chain) -> tuple[int, int]:
    return chain[:2]


def _range(span: Span) -> tuple[int, int, Ranges | None]:
    return span.start, span.end, span.parts
