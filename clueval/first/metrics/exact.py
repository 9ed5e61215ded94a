"""Metric `exact`: a span is correct if the other side has a span with the same start, end and label.

The scores are those of conlleval and of seqeval's default mode: equal spans of one side count once,
macro and weighted are means over the labels of both sides, and f1 of an average is the average of the f1s.
`token_accuracy` is the share of positions that have the same tag on both sides, as the tags are written.
For spans that do not come from tags, it compares the BIO tags that they would get. If gold has no text,
it is 0.

Sources: Tjong Kim Sang and De Meulder 2003 (conlleval); seqeval 1.2.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.ranges import Ranges
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally, averages_of, counts_by_label, rate
from clueval.first.metrics.metric import Metric, Needs, Side
from clueval.first.metrics.rates import DeclaredRates, EntryRates, Shape, label_averages, share_in_each
from clueval.options import option_field
from clueval.spans.flat import keys_of

if TYPE_CHECKING:
    from clueval.reports.table import Table


@dataclass(frozen=True, slots=True)
class Exact(Metric):
    """Spans with the same start, end and label on both sides.

    With `min_overlap`, a span is correct if it is paired with a span of the same label of the other side with which it
    shares at least this part of the positions of gold's span (`overlap_of` is ``gold``, nervaluate's percentage) or of
    both together (``union``): one to one, as many pairs as possible, of those the greatest number of shared
    positions. None: both have the same start and end.

    Its tally has the keys ``(count, label)``, where count is gold, predicted, tp_gold or tp_predicted, and
    ``("positions", "all" or "equal")``.
    """

    name: ClassVar[str] = "exact"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = (
        (("gold", "predicted", "tp_gold", "tp_predicted"), str),
        (("positions",), ("all", "equal")),
    )

    min_overlap: float | None = option_field(
        None,
        "--min-overlap",
        "SHARE",
        "above 0, up to 1: spans of one label that share at least this part of their positions are correct",
        later=True,
    )
    overlap_of: str = option_field(
        "gold",
        "--overlap-of",
        "WHAT",
        "with min_overlap: the part is of the positions of gold's span, or of those of both (union)",
        choices=("gold", "union"),
        later=True,
    )

    def __post_init__(self) -> None:
        least = self.min_overlap
        if least is not None and (
            isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least <= 1
        ):
            raise UsageError(f"Exact.min_overlap must be above 0 and at most 1, not {least!r}")
        if self.overlap_of not in ("gold", "union"):
            raise UsageError(f"Exact.overlap_of must be gold or union, not {self.overlap_of!r}")

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count by label the spans of each side, and those of them that are correct."""
        tally = _positions(gold, predicted)
        golds, predicteds = list(keys_of(gold.spans)), list(keys_of(predicted.spans))
        wanted, found = set(golds), set(predicteds)
        if self.min_overlap is None:
            both = wanted & found
            true_gold, true_predicted = both, both
        else:
            from clueval.spans.one_to_one import overlap_matches

            true_gold, true_predicted = overlap_matches(wanted, found, self.min_overlap, self.overlap_of)
        for name, side, keys, own, correct in (
            ("gold", gold, golds, wanted, true_gold),
            ("predicted", predicted, predicteds, found, true_predicted),
        ):
            counted = own
            if side.counted is not None:
                counted = {key for key, count in zip(keys, side.counted, strict=True) if count}
            true = Counter(map(_label, counted & correct))
            for label, number in Counter(map(_label, counted)).items():
                tally[name, label] += number
                tally[f"tp_{name}", label] += true[label]
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return {
            **averages_of(counts_by_label(total)),
            "token_accuracy": rate(total["positions", "equal"], total["positions", "all"]),
        }

    @property
    def needs(self) -> Needs:
        """Return that spans may overlap, and that positions outside of all spans count for the token accuracy."""
        return Needs(rates=_rates, outside=_outside, nested=True)

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import exact

        return exact(title, report)


def _outside(positions: int) -> Tally:
    """Count positions that are outside every span on both sides."""
    return Tally({("positions", "all"): positions, ("positions", "equal"): positions})


def _rates(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
    micro, *others = label_averages(keys)
    positions = [("positions", "equal")], [("positions", "all")]
    yield EntryRates((), ("token_accuracy",), positions, share_in_each, micro.gold, micro.predicted)
    yield from (micro, *others)


_Key = tuple[int, int, str, Ranges | None]
_label: Callable[[_Key], str] = itemgetter(2)


def _positions(gold: Side, predicted: Side) -> Tally:
    """Count the positions of the document, and those that have the same tag on both sides."""
    if gold.document is not None and gold.document.end is None and gold.tags is None:
        return Tally()  # spans without their text: the number of positions is unknown
    if gold.tags is not None and predicted.tags is not None:
        equal = sum(one == other for one, other in zip(gold.tags, predicted.tags, strict=True))
        return Tally({("positions", "all"): len(gold.tags), ("positions", "equal"): equal})
    # `Flat` makes its spans each time it is iterated
    one, other = _pieces(list(gold.spans)), _pieces(list(predicted.spans))
    covered = sum(end - start for start, end, _, _ in (*one, *other))
    common, alike = _in_common(one, other)
    touched = covered - common
    length = _length(gold, predicted, touched)
    return Tally({("positions", "all"): length, ("positions", "equal"): length - touched + alike})


_Piece = tuple[int, int, str, bool]
"""A range of positions, the label of its BIO tags, and whether its first position gets the B."""


def _pieces(spans: Sequence[Span]) -> list[_Piece]:
    """Return the BIO tags of spans as ranges, by position; of overlapping ones, the last one given wins."""
    pieces = [
        (span.start, span.end, span.label, True)
        for span in spans
        if span.start < span.end and span.parts is None
    ]
    pieces += [(*part, span.label, True) for span in spans if span.parts is not None for part in span.parts]
    if all(one[1] <= following[0] for one, following in pairwise(pieces)):
        return pieces
    waiting = sorted(range(len(pieces)), key=pieces.__getitem__, reverse=True)
    over: list[int] = []  # a heap of the negative numbers of the spans that have begun
    written = []
    for start, end in pairwise(sorted({position for piece in pieces for position in piece[:2]})):
        while waiting and pieces[waiting[-1]][0] == start:
            heappush(over, -waiting.pop())
        while over and pieces[-over[0]][1] <= start:
            heappop(over)
        if over:
            first, _, label, _ = pieces[-over[0]]
            written.append((start, end, label, first == start))
    return written


def _in_common(one: Sequence[_Piece], other: Sequence[_Piece]) -> tuple[int, int]:
    """Count the positions that have pieces on both sides, and those of them that have the same tag."""
    common = alike = i = j = 0
    while i < len(one) and j < len(other):
        start, end, label, begins = one[i]
        other_start, other_end, other_label, other_begins = other[j]
        first = max(start, other_start)
        if (shared := min(end, other_end) - first) > 0:
            common += shared
            if label == other_label:
                alike += shared - ((begins and first == start) != (other_begins and first == other_start))
        i += end <= other_end
        j += other_end <= end
    return common, alike


def _length(gold: Side, predicted: Side, touched: int) -> int:
    """Return the number of positions of the document; without its text, `touched`, those that spans cover."""
    for side in (gold, predicted):
        if side.document is not None and side.document.end is not None:
            return side.document.end - side.document.start
    return touched
