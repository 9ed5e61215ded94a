"""Metric `partial`: a span that overlaps in part counts as the share that overlaps, as in loio.

Spans are half-open; a length is a number of positions, which are code points or tokens, depending on the
document. Each label is evaluated separately, so spans of different labels may overlap but spans of one
label may not. For each case and label:

1. Spans with the same start and end on both sides are exact matches, also spans of zero length. They pair one
   to one and are not used again.
2. Remaining spans of zero length are not paired: nothing can overlap them partially.
3. Each remaining predicted span, in order of position, takes the first gold span not yet taken that it
   shares at least one position with. The *overlap factor* of the two is the length that they share divided by
   the length of the longer one.
4. ``TP = exact + s * (sum of the factors)``, ``FP = predicted - TP``, ``FN = gold - TP``; s, between 0 and 1,
   is the support of partial matches: at 0 only exact matches count, at 1 a partial match counts its factor.

In the article's example, a contract has two parties, and a system marked four fragments as a party. The
second fragment is the beginning of the first party, the third is the rest of it, the fourth is the other
party:

>>> from clueval.core.span import name_of
>>> gold = [Span(190, 346), Span(351, 473)]
>>> predicted = [Span(0, 86), Span(190, 325), Span(330, 346), Span(351, 473)]
>>> for pair in pairs_of(gold, predicted):
...     print(*map(name_of, pair), shared_positions(*pair))
[351,473) [351,473) 122
[190,346) [190,325) 135

The other party is exact. Of the rest, the first fragment overlaps nothing and is left over; the second takes
the first party; the third overlaps the first party too, which is already taken. So TP = 1 + 0.75 * 135/156:

>>> metric = Partial(factor=0.75)
>>> report = metric.scores(metric.count(Case((tuple(gold), tuple(predicted)), (None, None))), ["label"])["micro"]
>>> {name: round(report[name], 4) for name in ("tp_gold", "fp", "fn", "precision", "recall", "f1")}
{'tp_gold': 1.649, 'fp': 2.351, 'fn': 0.351, 'precision': 0.4123, 'recall': 0.8245, 'f1': 0.5497}

(The article cuts intermediate numbers to four decimals, and prints the precision 0.4122 and the F1 0.5496.)

Source: Serge Sotnyk, "Yet another way of NER systems evaluation"; the author's library is ``loio_metrics``.
The library counts a predicted span of zero length without a gold span as an exact match; the article does
not, and neither does this metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import ge
from typing import Any, ClassVar

from clueval.core.case import Case
from clueval.core.metric import Counts, Metric, Tally, averages_of, rate
from clueval.core.one_to_one import overlap_groups
from clueval.core.span import (
    SIDES,
    Ranges,
    Span,
    by_position,
    first_clash,
    joined_ranges,
    name_of,
    overlaps_between,
    positions_in,
    shared_positions,
)
from clueval.files.errors import OverlapError, UsageError
from clueval.files.options import is_number, require_beta, setting_field


@dataclass(frozen=True, slots=True)
class Partial(Metric):
    """The metric: graded credit for partial overlap; see the module's docstring for how pairs are found.

    A span's label is `Span.label`; of a discontinuous span only its fragments count.

    The keys of the tally: ``("gold", label)``, ``("predicted", label)`` and ``("exact", label)`` count spans
    and exact pairs; ``("shared", label, n)`` is the total length shared by the partial pairs whose longer
    span has the length n; ``("glued", label, side)`` counts spans joined to another. All are integers, so
    sums are exact.

    Attributes:
        factor: the support s of partial matches, from 0 to 1.
        glue: overlapping spans of one label are joined before counting; the report says under ``glued`` how many
            spans of each side were joined to another.
        betas: further F-measures, reported next to ``f1`` as ``f2``, ``f0.5`` and so on.

    Raises `UsageError` for settings outside their range.

    >>> metric = Partial(factor=0.5, betas=(2,))
    >>> total = metric.count(Case(((Span(0, 4, "A"),), (Span(0, 2, "A"), Span(2, 4, "A"))), (None, None)))
    >>> report = metric.scores(total, ["label"])["micro"]
    >>> report["tp_gold"], report["precision"], report["recall"], round(report["f2"], 4)
    (0.25, 0.125, 0.25, 0.2083)
    """

    name: ClassVar[str] = "partial"
    flat: ClassVar[bool] = True
    filters: ClassVar[str | None] = "score without the filter, or use label_map='LABEL=LABEL,*='"

    factor: float = setting_field(
        0.75, "from 0 to 1: a partial match counts its share of overlap times this factor"
    )
    glue: bool = setting_field(False, "merge overlapping spans of one label before anything is counted")
    betas: tuple[float, ...] = setting_field(
        (), "report F-beta, too, which weighs recall B times as much as precision"
    )

    def __post_init__(self) -> None:
        if not is_number(self.factor) or not 0 <= self.factor <= 1:
            raise UsageError(f"Partial.factor must be a number from 0 to 1, not {self.factor!r}")
        if type(self.glue) is not bool:
            raise UsageError(f"Partial.glue must be True or False, not {self.glue!r}")
        if type(self.betas) is not tuple:
            raise UsageError(f"Partial.betas must be a tuple of numbers, not {self.betas!r}")
        for beta in self.betas:
            require_beta(beta, "Partial.betas")

    def require_flat(self, side: str, spans: Sequence[Span]) -> None:
        """Raise `OverlapError` for spans of one side and label that overlap, unless they are joined."""
        for of_label in () if self.glue else _spans_by_label(spans).values():
            for first, *further in overlap_groups(of_label) if first_clash(of_label) is not None else ():
                span = of_label[first]
                clashing = next(
                    (of_label[number] for number in further if span.overlaps(of_label[number])), None
                )
                if clashing is not None:
                    raise OverlapError(
                        f"{side} spans {name_of(span)} and {name_of(clashing)} overlap, which metric {self.name!r} "
                        "forbids within a label",
                        line=clashing.line,
                        advice="correct them, or join them with Partial.glue; exact, fair, gate and muc count them",
                    )

    def count(self, case: Case) -> Tally:
        tally = Tally()
        golds, predicteds = _spans_by_label(case.gold), _spans_by_label(case.predicted)
        for name, by_label in zip(SIDES, (golds, predicteds), strict=True):
            for label, spans in by_label.items():
                if self.glue:
                    by_label[label] = glued(spans)
                    if joined := len(spans) - len(by_label[label]):
                        tally["glued", label, name] = joined
                tally[name, label] = len(by_label[label])
        for label in golds.keys() & predicteds.keys():
            for gold, predicted in pairs_of(golds[label], predicteds[label]):
                overlap = shared_positions(gold, predicted)
                longest = max(positions_in(gold.fragments), positions_in(predicted.fragments))
                if overlap == longest:
                    tally["exact", label] += 1
                else:
                    tally["shared", label, longest] += overlap
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return micro, macro and per-label entries; true positives, FP and FN are fractions of spans.

        Labels are all labels of either side. The layers are not reported separately: a label is that of all
        layers together. 0/0 is 0.
        """
        per_label = self._counts(total)
        counts = list(per_label.values())
        averages = averages_of(per_label, is_weighted=False)
        report: dict[str, Any] = {
            "micro": self._with_further_f(averages["micro"], Counts.total(counts).f),
            "macro": self._with_further_f(
                averages["macro"], lambda beta: rate(math.fsum(c.f(beta) for c in counts), len(counts))
            ),
            "per_label": {
                label: self._with_further_f(entry, per_label[label].f)
                for label, entry in averages["per_label"].items()
            },
        }
        if self.glue:
            report["glued"] = {
                side: sum(n for key, n in total.items() if key[0] == "glued" and key[2] == side)
                for side in SIDES
            }
        return report

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        return {"micro": Counts.total(self._counts(total).values())}

    def _counts(self, total: Tally) -> dict[str, Counts]:
        """Return the counts of each label, in alphabetical order of the labels."""
        factors: dict[str, list[float]] = {label: [] for label in sorted({key[1] for key in total})}
        for key, number in total.items():
            if key[0] == "shared":
                factors[key[1]].append(number / key[2])
        counts = {}
        for label, shares in factors.items():
            # fsum rounds once, whatever the order of its arguments
            tp = total["exact", label] + self.factor * math.fsum(shares)
            counts[label] = Counts(total["gold", label], total["predicted", label], tp, tp)
        return counts

    def _with_further_f(self, report: dict[str, float], f: Callable[[float], float]) -> dict[str, float]:
        """Return a PRF entry with the further F-measures added."""
        return report | {f"f{float(beta)!r}".removesuffix(".0"): f(beta) for beta in self.betas}


def _spans_by_label(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return the spans of each label, by position."""
    groups: dict[str, list[Span]] = {}
    for span in sorted(spans, key=by_position):
        groups.setdefault(span.label, []).append(span)
    return groups


def glued(spans: Sequence[Span]) -> list[Span]:
    """Return spans of one label, with those that share positions joined into one, by position.

    >>> [span.fragments for span in glued([Span(0, 3), Span(2, 5), Span(5, 6)])]
    [((0, 5),), ((5, 6),)]
    """
    joined = []
    for numbers in overlap_groups(spans):
        first = spans[numbers[0]]
        parts = (part for number in numbers for part in spans[number].fragments)
        ranges = joined_ranges(parts, join=ge)
        joined.append(first if len(numbers) == 1 else Span.of_fragments(ranges, first.labels))
    # what lay beside the parts of a span may lie within the joined one
    return sorted(joined, key=by_position) if len(joined) == len(spans) else glued(joined)


def pairs_of(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield the pairs within one label: of equal spans, then of the others that share a position.

    Both sides are by position and without overlaps. Each predicted span takes the first gold span that it overlaps and
    that is not taken.
    """
    equal: dict[Ranges, list[int]] = {}
    for number in range(len(gold) - 1, -1, -1):  # so that the first is the last of the list
        equal.setdefault(gold[number].fragments, []).append(number)
    taken = set()
    left = []
    for span in predicted:
        if numbers := equal.get(span.fragments):
            taken.add(numbers[-1])
            yield gold[numbers.pop()], span
        elif len(span):
            left.append(span)
    rest = [span for number, span in enumerate(gold) if number not in taken and len(span)]
    free = set(range(len(rest)))
    around, _ = overlaps_between(left, rest)
    for span, overlapping in zip(left, around, strict=True):
        first = next((number for number in overlapping if number in free), None)
        if first is not None:
            free.remove(first)
            yield rest[first], span
