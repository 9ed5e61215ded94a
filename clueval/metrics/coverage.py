"""Metric `coverage`: how many positions of the spans of one side are covered by spans of the other.

Recall is the share of gold's positions that are covered by predicted spans of the same label, precision the share of
the predicted positions that are covered by gold. Overlapping spans of one side and label are their union, and
``unlabelled`` takes the union of all labels. Positions are counted twice:

* ``tokens``; in a document whose positions are characters, words and single marks (``\\w+`` or one other character),
  each of which belongs to the spans that have a character of it;
* ``characters``, without blanks between tokens: of a document of tokens those of the tokens, else all that are not
  white space.

Without a text, positions count as tokens, and there is no ``characters``.

>>> from clueval.core.span import Span
>>> text = ["Dr", "Ada", "King"]
>>> gold, predicted = [Span(0, 3, "A")], [Span(1, 3, "A"), Span(2, 3, "A")]
>>> pair = Pair(*(Document("d", {"label": side}, text) for side in (gold, predicted)))
>>> report = Coverage().scores(Coverage().count_documents([pair], "label", {}), ["label"])
>>> [(round(report[of]["micro"]["recall"], 4), report[of]["micro"]["predicted"]) for of in ("tokens", "characters")]
[(0.6667, 2), (0.7778, 7)]

Documents are needed, since the positions of a case do not say how long its tokens are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from operator import ge, not_
from typing import Any, ClassVar

from clueval.core.alignment import has_characters, words_in
from clueval.core.case import Where, which_count
from clueval.core.document import Document, Pair
from clueval.core.metric import Counts, DocumentMetric, Tally, averages_of, counts_by_label
from clueval.core.span import SIDES, Span, intersect, joined_ranges, positions_in

Range = tuple[int, int]

KINDS = ("tokens", "characters")


@dataclass(frozen=True, slots=True)
class Coverage(DocumentMetric):
    """The metric; it has no settings.

    Its tally has the keys ``(kind, count, label)`` and, for the union of all labels, ``(kind, count)``, where kind is
    tokens or characters and count is gold, predicted, tp_gold or tp_predicted; ``("textless",)`` counts documents
    with spans and without a text.
    """

    name: ClassVar[str] = "coverage"

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        tally = Tally()
        for pair in pairs:
            sides = [side.layers.get(sequence, ()) for side in pair.sides]
            if any(sides):
                judged = [
                    list(compress(spans, which_count(spans, side, where))) if where else spans
                    for side, spans in zip(pair.sides, sides, strict=True)
                ]
                _count(tally, next(filter(has_characters, pair.sides), None), sides, judged)
        return Tally(+tally)  # without zeros: a label without positions is not reported

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return {
            kind: {
                "unlabelled": _counts_of_kind(kind, total).report(),
                **averages_of(_counts_by_label(kind, total), is_weighted=False),
            }
            for kind in _kinds_in(total)
        }

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        kinds = _kinds_in(total)
        micro = {f"{kind}.micro": Counts.total(_counts_by_label(kind, total).values()) for kind in kinds}
        return {**micro, **{f"{kind}.unlabelled": _counts_of_kind(kind, total) for kind in kinds}}


def _kinds_in(total: Tally) -> Sequence[str]:
    return KINDS[:1] if total["textless",] else KINDS


def _counts_of_kind(kind: str, total: Tally) -> Counts:
    return Counts(*(total[kind, name] for name in Counts._fields))


def _counts_by_label(kind: str, total: Tally) -> dict[str, Counts]:
    of_kind = {key[1:]: number for key, number in total.items() if len(key) == 3 and key[0] == kind}
    return counts_by_label(Tally(of_kind))


def _count(
    tally: Tally, document: Document | None, sides: Sequence[Sequence[Span]], judged: Sequence[Sequence[Span]]
) -> None:
    """Add the positions of the spans that are `judged`, and those of them that any span of the other side covers."""
    if document is None:
        tally["textless",] += 1
    for kind, place in _kinds(document):
        every = [_ranges_by_label(spans, place) for spans in sides]
        for number, name in enumerate(SIDES):
            by_label = (
                every[number] if judged[number] is sides[number] else _ranges_by_label(judged[number], place)
            )
            for label, ranges in by_label.items():
                key = () if label is None else (label,)
                others = every[1 - number].get(label, [])
                length = positions_in(ranges)
                tally[(kind, name, *key)] += length
                tally[(kind, f"tp_{name}", *key)] += (
                    length if ranges == others else positions_in(intersect(ranges, others))
                )


def _kinds(document: Document | None) -> Iterator[tuple[str, Callable[[int, int], Range]]]:
    """Yield the kinds of positions of a document, and the function that numbers those of a range of it.

    Of a document without text, these are tokens alone.
    """
    first = 0 if document is None else document.start
    if document is None or document.unit == "token":
        yield KINDS[0], lambda start, end: (start, end)
    if document is None:
        return
    if document.unit == "token":
        lengths = list(accumulate(map(len, document.tokens or ()), initial=0))
    else:
        text = document.text or ""
        words = words_in(text)
        starts, ends = [start for start, _ in words], [end for _, end in words]

        def tokens_of(start: int, end: int) -> Range:
            """Return the numbers of the tokens that share a character with a range of characters."""
            begin, past = bisect_right(ends, start - first), bisect_left(starts, end - first)
            return begin, max(begin, past) if start < end else begin

        yield KINDS[0], tokens_of
        lengths = list(accumulate(map(not_, map(str.isspace, text)), initial=0))
    yield KINDS[1], lambda start, end: (lengths[start - first], lengths[end - first])


def _ranges_by_label(
    spans: Iterable[Span], place: Callable[[int, int], Range]
) -> dict[str | None, Sequence[Range]]:
    """Return the union of the ranges of each label, and of all labels under None."""
    ranges_of: dict[str | None, list[Range]] = {}
    for span in spans:
        ranges = [place(*part) for part in span.fragments]
        ranges_of.setdefault(span.label, []).extend(ranges)
        ranges_of.setdefault(None, []).extend(ranges)
    return {
        label: joined_ranges((each for each in ranges if each[0] < each[1]), ge)
        for label, ranges in ranges_of.items()
    }
