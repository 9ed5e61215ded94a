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
have zero length; spans that touch do not overlap. Discontinuous spans overlap if they share a position, and have the
same start and end if they have the same fragments. Spans in different overlap components are in no pair, so components
that have one span, or one of each side, need no steps (`apart`).

An example: [0,3) and [2,9) overlap gold [1,4); [2,9) overlaps [5,6) as well. [0,3) ends first and
takes [1,4), the only span that it overlaps; then [5,6) ends first and takes [2,9). If [2,9) took the first
span that it overlaps, [0,3) and [5,6) would be left over:

>>> from clueval.first.metrics.muc import overlap_pairs
>>> from clueval import Span
>>> gold, predicted = [Span(1, 4, "A"), Span(5, 6, "A")], [Span(2, 9, "A"), Span(0, 3, "A")]
>>> list(overlap_pairs(gold, predicted))
[(0, 1), (1, 0)]

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
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.ranges import Ranges
from clueval.core.span import Span
from clueval.first.metrics.counting import Tally, f_measure, rate
from clueval.first.metrics.metric import Metric, Needs, Rates, Side, rates_of, refuse_filter
from clueval.first.metrics.rates import THREE, Columns, DeclaredRates, EntryRates, Numbers, Shape, with_f1
from clueval.spans.flat import keys_of
from clueval.spans.one_to_one import most_pairs
from clueval.spans.overlaps import isolated, sharing

if TYPE_CHECKING:
    from clueval.reports.table import Table


SCHEMES = ("strict", "exact", "partial", "type")
CATEGORIES = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, slots=True)
class Muc(Metric):
    """The metric; it has no settings. A span's label is `Span.label`.

    Its tally has the keys ``(scheme, label, category)``. The report has an entry for each scheme and, under
    ``per_label``, the same for each label; 0/0 is 0.

    >>> metric = Muc()
    >>> from clueval import Span
    >>> tally = metric.count(Side([Span(0, 3, "A"), Span(5, 6, "B")]), Side([Span(1, 3, "A"), Span(5, 6, "C")]))
    >>> report = metric.scores(tally, ["label"])
    >>> [(scheme, report[scheme]["correct"], report[scheme]["f1"]) for scheme in SCHEMES]
    [('strict', 0, 0.0), ('exact', 1, 0.5), ('partial', 1, 0.75), ('type', 1, 0.5)]
    """

    name: ClassVar[str] = "muc"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = ((SCHEMES, str, CATEGORIES),)

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document; O(n log n) for n spans. Raises `UsageError` if a filter excludes spans."""
        refuse_filter(self, (gold, predicted))
        found, golds, predicteds = apart(list(keys_of(gold.spans)), list(keys_of(predicted.spans)))
        tally = count_in_stages(golds, predicteds) if golds or predicteds else Counter()
        for scheme in SCHEMES:
            _count(tally, scheme, found)
        return tally

    @property
    def needs(self) -> Needs:
        """Return that all spans are needed: a span in one pair is in no other."""
        return Needs(every_span="score without the filter, or filter the files", nested=True, rates=_rates)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {f"muc_{scheme}": rates_of(of) for scheme, of in report.items() if scheme != "per_label"}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import muc

        return muc(title, report)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report; layers are not reported separately: a label is that of all layers."""
        overall: Tally = Counter()
        for (scheme, _, category), n in total.items():
            overall[scheme, None, category] += n
        labels = sorted({label for _, label, _ in total})
        return _schemes(overall, None) | {"per_label": {label: _schemes(total, label) for label in labels}}


def _schemes(total: Tally, label: str | None) -> dict[str, Any]:
    return {scheme: _measures({c: total[scheme, label, c] for c in CATEGORIES}) for scheme in SCHEMES}


def _measures(counts: dict[str, int]) -> dict[str, float]:
    paired = counts["correct"] + counts["incorrect"] + counts["partial"]
    possible, actual = paired + counts["missed"], paired + counts["spurious"]
    credit = counts["correct"] + 0.5 * counts["partial"]
    precision, recall = rate(credit, actual), rate(credit, possible)
    return counts | {
        "possible": possible,
        "actual": actual,
        "precision": precision,
        "recall": recall,
        "f1": f_measure(precision, recall),
    }


def _rates(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
    labels = sorted({key[1] for key in keys})
    for names, before in ((labels, ()), *(([label], ("per_label", label)) for label in labels)):
        for scheme in SCHEMES:
            correct, incorrect, partial, missed, spurious = (
                [(scheme, name, category) for name in names]
                for category in ("correct", "incorrect", "partial", "missed", "spurious")
            )
            possible = [*correct, *incorrect, *partial, *missed]
            actual = [*correct, *incorrect, *partial, *spurious]
            counts = correct, partial, possible, actual
            yield EntryRates((*before, scheme), THREE, counts, _rates_of, possible, actual)


def _rates_of(correct: Numbers, partial: Numbers, possible: Numbers, actual: Numbers) -> Columns:
    credits = [own + 0.5 * half for own, half in zip(correct, partial, strict=True)]
    return with_f1(list(map(rate, credits, actual)), list(map(rate, credits, possible)))


def count_in_stages(gold: Iterable[Item], predicted: Iterable[Item]) -> Tally:
    """Count the spans of one document by the stages alone."""
    tally: Tally = Counter()
    # the first stage pairs equal spans under every scheme, so the schemes share it
    equal, golds, predicteds = pairing(gold, predicted, [EQUAL])
    by_range = PairCounts.of(*pairing(golds, predicteds, BY_RANGE))
    by_label = PairCounts.of(*pairing(golds, predicteds, BY_LABEL))
    for scheme in SCHEMES:
        _count(tally, scheme, PairCounts.of(equal))
        _count(tally, scheme, by_label if scheme == "type" else by_range)
    return tally


def _count(tally: Tally, scheme: str, found: PairCounts) -> None:
    """Add the categories of all spans under one scheme."""
    for (label, same_range, same_label), number in found.pairs.items():
        tally[scheme, label, _category(scheme, same_range, same_label)] += number
    for category, labels in (("missed", found.missed), ("spurious", found.spurious)):
        for label, number in labels.items():
            tally[scheme, label, category] += number


def _category(scheme: str, same_range: bool, same_label: bool) -> str:
    """Return the category of a pair."""
    if same_label if scheme == "type" else same_range and (scheme != "strict" or same_label):
        return "correct"
    return "partial" if scheme == "partial" else "incorrect"


class Item(NamedTuple):
    """A span as a tuple; the order of tuples is that of the spans. `parts` are empty if it is one piece."""

    start: int
    end: int
    label: str
    parts: Ranges

    @property
    def fragments(self) -> Ranges:
        """The ranges of the span, as in `Span`."""
        return self.parts or ((self.start, self.end),)


Ranged = Span | Item
Pair = tuple[Item, Item]
Key = tuple[int, int, str, Ranges | None]
"""Start, end, label and parts of a span."""


class PairCounts(NamedTuple):
    """How many pairs and spans in no pair there are.

    `pairs` is by the label of the gold span, whether both have the same start and end, and whether they have the same
    label; `missed` and `spurious` are by label.
    """

    pairs: Counter[tuple[str, bool, bool]]
    missed: Counter[str]
    spurious: Counter[str]

    @classmethod
    def of(
        cls,
        pairs: Iterable[tuple[Key | Item, Key | Item]],
        missed: Iterable[Key | Item] = (),
        spurious: Iterable[Key | Item] = (),
    ) -> PairCounts:
        kinds = ((one[2], _range(one) == _range(other), one[2] == other[2]) for one, other in pairs)
        return cls(Counter(kinds), Counter(map(_label, missed)), Counter(map(_label, spurious)))


def apart(gold: Sequence[Key], predicted: Sequence[Key]) -> tuple[PairCounts, list[Item], list[Item]]:
    """Return what needs no stages, and the other spans of both sides. Costs O(n log n) for n spans.

    A span alone is in no pair, and two overlapping spans, one of each side, are a pair under every scheme.

    >>> apart([(0, 3, "A", None), (5, 6, "B", None)], [(1, 4, "A", None), (7, 9, "B", None)])[0]
    PairCounts(pairs=Counter({('A', False, True): 1}), missed=Counter({'B': 1}), spurious=Counter({'B': 1}))
    """
    alone, overlapping, others = isolated(map(_extent, gold), map(_extent, predicted))
    pairs: list[tuple[Key, Key]] = []
    for number, other in overlapping:
        if gold[number][3] or predicted[other][3]:
            others[0].append(number)
            others[1].append(other)
        else:
            pairs.append((gold[number], predicted[other]))
    missed, spurious = (
        [side[n] for n in numbers] for side, numbers in zip((gold, predicted), alone, strict=True)
    )
    own, left = (
        [Item(start, end, label, parts or ()) for start, end, label, parts in map(side.__getitem__, numbers)]
        for side, numbers in zip((gold, predicted), others, strict=True)
    )
    return PairCounts.of(pairs, missed, spurious), own, left


_extent: Callable[[Key | Item], tuple[int, int]] = itemgetter(0, 1)
_label: Callable[[Key | Item], str] = itemgetter(2)
_range: Callable[[Key | Item], tuple[int, int, Ranges | None]] = itemgetter(0, 1, 3)


def _identity(span: Ranged) -> tuple[int, int, str, Ranges]:
    return span.start, span.end, span.label, span.parts or ()


def _itself(span: Item) -> Item:
    return span


def _anything(span: Item) -> None:
    """Return None, the key that all spans share."""


def in_order(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Pair the first spans of both sides, then the second ones, and so on; yield their numbers."""
    numbers = range(min(len(gold), len(predicted)))
    return zip(numbers, numbers, strict=True)


def overlap_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Yield as many pairs of overlapping spans as possible, by their numbers; each span is in one pair at
    most.

    Costs O(n log n) for n spans, in any order; spans may be nested or repeated. Spans that overlap a discontinuous
    one, directly or through others, are paired by `most_pairs`, which costs more.
    """
    if all(not span.parts for spans in (gold, predicted) for span in spans):
        yield from _pairs_of_ranges(gold, predicted)
        return
    for of_gold, of_predicted in _components(gold, predicted):
        own, others = [gold[number] for number in of_gold], [predicted[number] for number in of_predicted]
        whole = all(not span.parts for span in (*own, *others))
        for one, other in (_pairs_of_ranges if whole else _pairs_of_fragments)(own, others):
            yield of_gold[one], of_predicted[other]


def _pairs_of_fragments(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Do the same for spans of which some are discontinuous; the pairs do not depend on the order of the spans."""
    order = sorted(range(len(gold)), key=lambda number: _identity(gold[number]))
    overlapping = sharing(gold, predicted)
    edges = [[(other, other) for other in overlapping[number]] for number in order]
    for number, partner in zip(order, most_pairs(edges), strict=True):
        if partner is not None:
            yield number, partner


def _pairs_of_ranges(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Do the same for spans without gaps."""
    sides = gold, predicted
    order = sorted(
        (span.end, span.start, side, number)
        for side, spans in enumerate(sides)
        for number, span in enumerate(spans)
    )
    starts = [sorted((span.start, number) for number, span in enumerate(spans)) for spans in sides]
    begun = [0, 0]  # for each side, how many of `starts` have begun
    open_: tuple[list[tuple[int, int, int]], ...] = ([], [])  # heaps of the begun spans, by end
    done = [[False] * len(spans) for spans in sides]
    for end, start, side, number in order:
        if done[side][number]:
            continue
        done[side][number] = True
        other, heap = 1 - side, open_[1 - side]
        while begun[other] < len(starts[other]) and starts[other][begun[other]][0] < end:
            begin, partner = starts[other][begun[other]]
            heappush(heap, (sides[other][partner].end, begin, partner))
            begun[other] += 1
        while heap and done[other][heap[0][2]]:
            heappop(heap)
        # a span that is not done and has begun ends no sooner than this one, so it overlaps this one
        if heap and heap[0][0] > start:
            partner = heappop(heap)[2]
            done[other][partner] = True
            yield (number, partner) if side == 0 else (partner, number)


def flat_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[int, int]]:
    """Yield pairs of overlapping spans, by number: as many of equal label as possible, then as many as
    possible.

    Considers only overlap components in which the spans of each side do not overlap one another; other
    spans are in no pair. Costs O(n log n) for n spans.

    >>> gold, predicted = [Span(0, 2, "A"), Span(3, 6, "A")], [Span(0, 1, "B"), Span(1, 5, "A")]
    >>> list(flat_pairs(gold, predicted))
    [(0, 0), (1, 1)]
    """
    sides = gold, predicted
    for component in _components(gold, predicted):
        spans = [[sides[side][number] for number in component[side]] for side in range(2)]
        whole = all(not span.parts for side in spans for span in side)
        if whole and all(following.start >= span.end for side in spans for span, following in pairwise(side)):
            for number, partner in _best_pairs(*spans):
                yield component[0][number], component[1][partner]


def _components(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the numbers of the spans of each overlap component, of both sides, by position."""
    component: tuple[list[int], list[int]] = ([], [])
    reach = 0
    for start, end, side, number in sorted(
        (span.start, span.end, side, number)
        for side, spans in enumerate((gold, predicted))
        for number, span in enumerate(spans)
    ):
        if start >= reach:
            yield component
            component = ([], [])
        component[side].append(number)
        reach = max(reach, end)
    yield component


def _best_pairs(gold: Sequence[Ranged], predicted: Sequence[Ranged]) -> list[tuple[int, int]]:
    """Return the best pairing of two sequences without overlaps of their own, by position.

    The overlapping pairs of such sequences have an order in which successive pairs share at most one span. So
    the pairs that can follow depend only on whether the spans of the last pair are taken; the best of each
    case is kept.
    """
    nothing: _Found = (0, 0, None)
    best: dict[tuple[bool, bool], _Found] = {(False, False): nothing}
    last = -1, -1
    i = j = 0
    while i < len(gold) and j < len(predicted):
        one, other = gold[i], predicted[j]
        if one.start < other.end and other.start < one.end:
            found: dict[tuple[bool, bool], _Found] = {}
            for (taken, other_taken), figures in best.items():
                state = taken and i == last[0], other_taken and j == last[1]
                found[state] = max(found.get(state, nothing), figures, key=_value)
            if (False, False) in found:
                labels, pairs, chain = found[False, False]
                pair: _Found = (labels + (one.label == other.label), pairs + 1, (i, j, chain))
                found[True, True] = max(found.get((True, True), nothing), pair, key=_value)
            best, last = found, (i, j)
        if one.end <= other.end:
            i += 1
        else:
            j += 1
    chain = max(best.values(), key=_value)[2]
    result = []
    while chain is not None:
        result.append(chain[:2])
        chain = chain[2]
    return result[::-1]


_Chain = tuple[int, int, Any] | None
"""A pair of numbers, and the chain of the pairs before it."""

_Found = tuple[int, int, _Chain]
"""The number of pairs of equal label, the number of pairs, and the pairs."""


def _value(found: _Found) -> tuple[int, int]:
    return found[:2]


Stage = tuple[
    Callable[[Item], Hashable], Callable[[Sequence[Item], Sequence[Item]], Iterable[tuple[int, int]]]
]
"""A key that groups the spans of both sides, and a function that pairs the spans of a group."""

EQUAL: Stage = (_itself, in_order)
_REST: Stage = (_anything, overlap_pairs)
BY_RANGE: Sequence[Stage] = ((_range, in_order), _REST)
BY_LABEL: Sequence[Stage] = ((_anything, flat_pairs), (_label, overlap_pairs), _REST)


def pairing(
    gold: Iterable[Item], predicted: Iterable[Item], stages: Sequence[Stage]
) -> tuple[list[Pair], list[Item], list[Item]]:
    """Return the pairs, the gold spans left over and the predicted spans left over after all stages."""
    pairs: list[Pair] = []
    # sorted, so that the order of the arguments does not matter
    left = [sorted(spans) for spans in (gold, predicted)]
    for key, match in stages:
        groups: dict[Hashable, tuple[list[Item], list[Item]]] = {}
        for side, spans in enumerate(left):
            for span in spans:
                groups.setdefault(key(span), ([], []))[side].append(span)
        left = [[], []]
        for group in groups.values():
            if not (group[0] and group[1]):
                for side in range(2):
                    left[side] += group[side]
                continue
            matched = list(match(*group))
            pairs += [(group[0][number], group[1][partner]) for number, partner in matched]
            for side in range(2):
                taken = {pair[side] for pair in matched}
                left[side] += [span for number, span in enumerate(group[side]) if number not in taken]
        left = [sorted(spans) for spans in left]
    return pairs, left[0], left[1]
