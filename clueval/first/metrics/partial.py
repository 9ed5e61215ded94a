"""Metric `partial`: a span that overlaps in part counts as the share that overlaps, as in loio.

Spans are half-open; a length is a number of positions, which are code points or tokens, depending on the
document. Each label is evaluated separately, so spans of different labels may overlap but spans of one
label may not. For each document and label:

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
>>> for match in matches(gold, predicted):
...     pair = name_of(match.gold), name_of(match.predicted)
...     print(*pair, match.overlap, match.longest, round(match.factor, 4))
[351,473) [351,473) 122 122 1.0
[190,346) [190,325) 135 156 0.8654

The other party is exact. Of the rest, the first fragment overlaps nothing and is left over; the second takes
the first party; the third overlaps the first party too, which is already taken. So TP = 1 + 0.75 * 135/156:

>>> metric = Partial(factor=0.75)
>>> report = metric.scores(metric.count(Side(gold), Side(predicted)), ["label"])["micro"]
>>> {name: round(report[name], 4) for name in ("tp_gold", "fp", "fn", "precision", "recall", "f1")}
{'tp_gold': 1.649, 'fp': 2.351, 'fn': 0.351, 'precision': 0.4123, 'recall': 0.8245, 'f1': 0.5497}

(The article cuts intermediate numbers to four decimals, and prints the precision 0.4122 and the F1 0.5496.)

Source: Serge Sotnyk, "Yet another way of NER systems evaluation"; the author's library is ``loio_metrics``.
The library counts a predicted span of zero length without a gold span as an exact match; the article does
not, and neither does this metric.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.ranges import Ranges
from clueval.core.span import SIDES, Span, name_of
from clueval.files.errors import OverlapError, UsageError
from clueval.first.metrics.counting import Counts, Tally, averages_of, rate
from clueval.first.metrics.metric import Metric, Needs, Side, refuse_filter
from clueval.first.metrics.rates import NUMBER, DeclaredRates, EntryRates, Shape, SummedRates, all_keys, mean
from clueval.options import option_field
from clueval.spans.components import UnionFind
from clueval.spans.document import Document
from clueval.spans.flat import by_position
from clueval.spans.overlaps import shared_positions, sharing

if TYPE_CHECKING:
    from clueval.reports.table import Table


@dataclass(frozen=True, slots=True)
class Partial(Metric):
    """The metric: graded credit for partial overlap; see the module's docstring for how pairs are found.

    `factor` is the support s of partial matches, from 0 to 1. With `glue`, overlapping spans of one label are
    joined before counting, and the report says under ``glued`` how many spans of each side were joined
    to another. `betas` are further F-measures, reported next to ``f1`` as ``f2``, ``f0.5`` and so on. A
    span's label is `Span.label`; of a discontinuous span only its fragments count.

    The keys of the tally: ``("gold", label)``, ``("predicted", label)`` and ``("exact", label)`` count spans
    and exact pairs; ``("shared", label, n)`` is the total length shared by the partial pairs whose longer
    span has the length n; ``("glued", label, side)`` counts spans joined to another. All are integers, so
    sums are exact.

    Raises `UsageError` for settings outside their range.

    >>> metric = Partial(factor=0.5, betas=(2,))
    >>> total = metric.count(Side([Span(0, 4, "A")]), Side([Span(0, 2, "A"), Span(2, 4, "A")]))
    >>> report = metric.scores(total, ["label"])["micro"]
    >>> report["tp_gold"], report["precision"], report["recall"], round(report["f2"], 4)
    (0.25, 0.125, 0.25, 0.2083)
    """

    name: ClassVar[str] = "partial"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = (
        (("gold", "predicted", "exact"), str),
        (("shared",), str, NUMBER),
        (("glued",), str, SIDES),
    )

    factor: float = option_field(
        0.75, "--factor", "S", "from 0 to 1: a partial match counts its share of overlap times this factor"
    )
    glue: bool = option_field(
        False, "--glue", None, "merge overlapping spans of one label before anything is counted"
    )
    betas: tuple[float, ...] = option_field(
        (), "--betas", "B,...", "report F-beta, too, which weighs recall B times as much as precision"
    )

    def __post_init__(self) -> None:
        if not _is_number(self.factor) or not 0 <= self.factor <= 1:
            raise UsageError(f"Partial.factor must be a number from 0 to 1, not {self.factor!r}")
        if type(self.glue) is not bool:
            raise UsageError(f"Partial.glue must be True or False, not {self.glue!r}")
        if type(self.betas) is not tuple:
            raise UsageError(f"Partial.betas must be a tuple of numbers, not {self.betas!r}")
        for beta in self.betas:
            if not _is_number(beta) or not 0 < beta <= 1e6:
                raise UsageError(f"Partial.betas must be numbers above 0, up to a million, not {beta!r}")

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document; O(n log n) for n spans.

        Raises `OverlapError` for overlapping spans of one label on one side, unless `glue` joins them, and
        `UsageError` if a filter excludes spans: the value of a pair cannot be divided between its two spans.
        """
        refuse_filter(self, (gold, predicted))
        tally: Tally = Counter()
        golds = self._spans("gold", gold, tally)
        predicteds = self._spans("predicted", predicted, tally)
        for label in sorted(golds.keys() & predicteds.keys()):
            for match in matches(golds[label], predicteds[label]):
                if match.overlap == match.longest:
                    tally["exact", label] += 1
                else:
                    tally["shared", label, match.longest] += match.overlap
        return tally

    @property
    def needs(self) -> Needs:
        """Return that all spans are needed: the value of a pair cannot be divided between its two spans."""
        return Needs(every_span="score without the filter, or filter the files", rates=self._rates)

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import prf_per_label

        return prf_per_label(title, report)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return micro, macro and per-label entries; true positives, FP and FN are fractions of spans.

        Labels are all labels of either side. The layers are not reported separately: a label is that of all
        layers together. 0/0 is 0.
        """
        per_label = self._counts(total)
        counts = list(per_label.values())
        found = averages_of(per_label, is_weighted=False)
        report: dict[str, Any] = {
            "micro": self._further(found["micro"], Counts.total(counts).f),
            "macro": self._further(
                found["macro"], lambda beta: rate(math.fsum(c.f(beta) for c in counts), len(counts))
            ),
            "per_label": {
                label: self._further(entry, per_label[label].f) for label, entry in found["per_label"].items()
            },
        }
        if self.glue:
            glued = {"gold": 0, "predicted": 0}
            for key, n in total.items():
                if key[0] == "glued":
                    glued[key[2]] += n
            report["glued"] = glued
        return report

    def _spans(self, name: str, side: Side, tally: Tally) -> dict[str, list[Span]]:
        """Count one side's spans and return them by label. Raises `OverlapError` as `count` does."""
        groups = by_label(side.spans)
        for label, spans in groups.items():
            if self.glue:
                groups[label] = glued(spans)
                if joined := len(spans) - len(groups[label]):
                    tally["glued", label, name] += joined
            else:
                refuse_overlaps(spans, name, side.document)
            tally[name, label] += len(groups[label])
        return groups

    def _counts(self, total: Tally) -> dict[str, Counts]:
        """Return the counts of each label, in alphabetical order of the labels."""
        factors: dict[str, list[float]] = {label: [] for label in sorted({key[1] for key in total})}
        for key, n in total.items():
            if key[0] == "shared":
                factors[key[1]].append(n / key[2])
        counts = {}
        for label, shares in factors.items():
            # fsum rounds once, whatever the order of its arguments
            tp = total["exact", label] + self.factor * math.fsum(shares)
            counts[label] = Counts(total["gold", label], total["predicted", label], tp, tp)
        return counts

    def _rates(self, keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
        """Yield how the rates of each label, and of all, follow from a tally, which has numbers of shared pairs."""
        names = ("precision", "recall", "f1", *self._further({}, float))
        shared: dict[str, list[tuple[Any, ...]]] = {label: [] for label in sorted({key[1] for key in keys})}
        for key in sorted(key for key in keys if key[0] == "shared"):
            shared[key[1]].append(key)
        parts = []
        labels = []
        for label, own in shared.items():
            counts = [[key] for key in (*((what, label) for what in ("gold", "predicted", "exact")), *own)]
            parts.append((counts, partial(self._sums_of, own)))
            function = partial(self._rates_of_label, own)
            labels.append(EntryRates(("per_label", label), names, counts, function, counts[0], counts[1]))
        gold, predicted = all_keys([(label.gold, label.predicted) for label in labels], 2)
        if labels:
            yield SummedRates(("micro",), names, parts, self._rates_of, gold, predicted)
            yield mean(("macro",), labels, rates=names)
            yield from labels

    def _sums_of(
        self,
        shared: Sequence[tuple[Any, ...]],
        gold: Sequence[float],
        predicted: Sequence[float],
        exact: Sequence[float],
        *columns: Sequence[float],
    ) -> list[list[float]]:
        """Return the spans of a label on each side, and the true positives, in each corpus, as `scores` counts them."""
        parts = [[n / key[2] for n in column] for key, column in zip(shared, columns, strict=True)]
        sums = map(math.fsum, zip(*parts, strict=True)) if parts else repeat(0.0)
        return [[*gold], [*predicted], [n + self.factor * tp for n, tp in zip(exact, sums)]]  # noqa: B905

    def _rates_of_label(
        self, shared: Sequence[tuple[Any, ...]], *columns: Sequence[float]
    ) -> list[list[float | None]]:
        return self._rates_of(*self._sums_of(shared, *columns))

    def _rates_of(
        self, gold: Sequence[float], predicted: Sequence[float], tps: Sequence[float]
    ) -> list[list[float | None]]:
        """Compute the rates in each corpus, as `scores` does."""
        rows = []
        for own, other, tp in zip(gold, predicted, tps, strict=True):
            counts = Counts(own, other, tp, tp)
            further = self._further({}, counts.f).values()
            rows.append([counts.precision, counts.recall, counts.f(), *further])
        return list(map(list, zip(*rows, strict=True)))

    def _further(self, report: dict[str, float], f: Callable[[float], float]) -> dict[str, float]:
        """Return a PRF entry with the further F-measures added."""
        return report | {f"f{float(beta)!r}".removesuffix(".0"): f(beta) for beta in self.betas}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class PartialMatch(NamedTuple):
    """A pair of a gold and a predicted span, the length they share, and the length of the longer one.

    Lengths are numbers of positions; those in the gaps of a discontinuous span do not count.
    """

    gold: Span
    predicted: Span
    overlap: int
    longest: int

    @property
    def exact(self) -> bool:
        """Return whether both have the same start and end, so that the overlap is the whole longer span."""
        return self.overlap == self.longest

    @property
    def factor(self) -> float:
        """Return the overlap factor, above 0 up to 1; 1 for an exact match, also of zero length."""
        return 1.0 if self.exact else self.overlap / self.longest


def by_label(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Return the spans of each label, sorted by position."""
    groups: dict[str, list[Span]] = {}
    for span in spans:
        groups.setdefault(span.label, []).append(span)
    for group in groups.values():
        group.sort(key=by_position)
    return groups


def refuse_overlaps(spans: Sequence[Span], side: str, document: Document | None = None) -> None:
    """Raise `OverlapError` if any two sorted spans overlap; then two adjacent fragments do."""
    overlap = _overlapping(spans)
    if overlap is not None:
        one, other = overlap
        raise OverlapError(
            f"{side} spans {name_of(one)} and {name_of(other)} overlap, which metric 'partial' forbids "
            "within a label",
            file=document.file if document is not None else None,
            line=other.line,
            document=document.id if document is not None else None,
            advice="correct them, or join them with Partial.glue; exact, fair, gate and muc count them",
        )


def _overlapping(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """Return two spans that share a position, or None. Costs O(n log n) for n fragments."""
    latest: Span | None = None
    reach = -1
    for start, end, _, span in _fragments(spans):
        if latest is not None and latest is not span and start < reach:
            return latest, span
        if end > reach or latest is None:
            latest, reach = span, end
    return None


def _fragments(spans: Iterable[Span]) -> list[tuple[int, int, int, Span]]:
    """Return the fragments of spans by position, with the number of their span."""
    return sorted((start, end, n, span) for n, span in enumerate(spans) for start, end in span.fragments)


def glued(spans: Sequence[Span]) -> list[Span]:
    """Return sorted spans of one label, with those that share positions joined into one."""
    sets = UnionFind(len(spans))
    reach, owner = -1, -1
    for start, end, number, _ in _fragments(spans):
        if start < reach:
            sets.unite(owner, number)
        if end > reach:
            reach, owner = end, number
    groups: dict[int, list[Span]] = {}
    for number, span in enumerate(spans):
        groups.setdefault(sets.find(number), []).append(span)
    return sorted(map(_joined, groups.values()), key=by_position)


def _joined(spans: Sequence[Span]) -> Span:
    first = spans[0]
    if len(spans) == 1:
        return first
    ranges: list[tuple[int, int]] = []
    for start, end in sorted(part for span in spans for part in span.fragments):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(end, ranges[-1][1])
        else:
            ranges.append((start, end))
    return Span.of_fragments(ranges, first.labels, id=first.id, line=first.line)


def matches(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[PartialMatch]:
    """Yield the pairs within one label: of equal spans, then of the others that share a position.

    Both sides are sorted and without overlaps. Each predicted span, by position, takes the first gold span that it
    overlaps and that is not taken.
    """
    free: dict[Ranges, list[Span]] = {}
    for span in reversed(gold):
        free.setdefault(span.fragments, []).append(span)
    left = []
    taken: set[int] = set()
    for span in predicted:
        equal = free.get(span.fragments)
        if equal:
            one = equal.pop()
            taken.add(id(one))
            yield PartialMatch(one, span, _size(span), _size(span))
        elif span.start < span.end:
            left.append(span)
    rest = [span for span in gold if id(span) not in taken and span.start < span.end]
    for span, others in zip(left, sharing(left, rest), strict=True):
        found = next((rest[number] for number in others if id(rest[number]) not in taken), None)
        if found is not None:
            taken.add(id(found))
            yield PartialMatch(found, span, shared_positions(found, span), max(_size(found), _size(span)))


def _size(span: Span) -> int:
    return sum(end - start for start, end in span.fragments)
