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
same start and end if they have the same fragments.

An example: [0,3) and [2,9) overlap gold [1,4); [2,9) overlaps [5,6) as well. [0,3) ends first and
takes [1,4), the only span that it overlaps; then [5,6) ends first and takes [2,9). If [2,9) took the first
span that it overlaps, [0,3) and [5,6) would be left over:

>>> from clueval.metrics.muc_pairs import overlap_pairs
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.metrics.counting import Tally, f_measure, rate
from clueval.metrics.metric import Needs, Rates, Side, rates_of, refuse_filter
from clueval.metrics.muc_pairs import (
    BY_LABEL,
    BY_RANGE,
    EQUAL,
    Item,
    PairCounts,
    apart,
    pairing,
)
from clueval.metrics.tally_keys import Shape, any_text
from clueval.spans.flat import keys_of

if TYPE_CHECKING:
    from clueval.reports.table import Table


SCHEMES = ("strict", "exact", "partial", "type")
CATEGORIES = ("correct", "incorrect", "partial", "missed", "spurious")


@dataclass(frozen=True, slots=True)
class Muc:
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
    tally_keys: ClassVar[tuple[Shape, ...]] = ((SCHEMES, any_text, CATEGORIES),)

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
        return Needs(every_span="score without the filter, or filter the files", nested=True)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {f"muc_{scheme}": rates_of(of) for scheme, of in report.items() if scheme != "per_label"}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.metrics.tables import muc

        return muc(title, report)

    def check(self, total: Tally) -> None:
        """Do nothing: no setting names a label."""

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
