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
>>> text = Document("d", {}, tokens=["Dr", "Ada", "King"])
>>> gold, predicted = Side([Span(0, 3, "A")], document=text), Side([Span(1, 3, "A"), Span(2, 3, "A")], document=text)
>>> report = Coverage().scores(Coverage().count(gold, predicted), ["label"])
>>> [(round(report[of]["micro"]["recall"], 4), report[of]["micro"]["predicted"]) for of in ("tokens", "characters")]
[(0.6667, 2), (0.7778, 7)]
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, starmap
from operator import ge
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.ranges import intersect, joined_ranges
from clueval.first.metrics.counting import Counts, Tally, averages_of, counts_by_label
from clueval.first.metrics.metric import Metric, Needs, Rates, Side, no_tally, rates_of
from clueval.first.metrics.rates import DeclaredRates, Shape, label_averages, prf_entry
from clueval.spans.document import Document
from clueval.transforms.characters import are_unknown

if TYPE_CHECKING:
    from clueval.reports.table import Table

Range = tuple[int, int]
Ranges = list[Range]

KINDS = ("tokens", "characters")
_COUNTS = ("gold", "predicted", "tp_gold", "tp_predicted")
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Coverage(Metric):
    """The metric; it has no settings.

    Its tally has the keys ``(kind, count, label)`` and, for the union of all labels, ``(kind, count)``, where kind is
    tokens or characters and count is gold, predicted, tp_gold or tp_predicted; ``("textless",)`` counts documents
    with spans and without a text.
    """

    name: ClassVar[str] = "coverage"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = ((KINDS, _COUNTS, str), (KINDS, _COUNTS), (("textless",),))

    def count(self, gold: Side, predicted: Side) -> Tally:
        tally: Tally = Tally()
        if not gold.spans and not predicted.spans:
            return tally
        document = _with_text(gold.document, predicted.document)
        if document is None:
            tally["textless",] += 1
        for kind, place, size in _kinds(document):
            sides = [_by_label(side, None, place) for side in (gold, predicted)]
            counted = [
                every if side.counted is None else _by_label(side, side.counted, place)
                for side, every in zip((gold, predicted), sides, strict=True)
            ]
            for number, name in enumerate(("gold", "predicted")):
                for label, ranges in counted[number].items():
                    key = () if label is None else (label,)
                    others = sides[1 - number].get(label, [])
                    length = sum(starmap(size, ranges))
                    tally[(kind, name, *key)] += length
                    tally[(kind, f"tp_{name}", *key)] += (
                        length if ranges == others else sum(starmap(size, intersect(ranges, others)))
                    )
        return +tally  # without zeros: a label without positions is not reported

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        kinds = KINDS[:1] if total["textless",] else KINDS
        return {kind: _report(kind, total) for kind in kinds}

    @property
    def needs(self) -> Needs:
        return Needs(documents=True, rates=_rates, empty=no_tally)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {self.name: rates_of(report["tokens"]["micro"])}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import prf_per_label

        for kind, own in report.items():
            yield from prf_per_label(f"{title}, {kind}", own)


def _report(kind: str, total: Tally) -> dict[str, Any]:
    of_kind: Tally = Tally()
    for key, number in total.items():
        if len(key) == 3 and key[0] == kind:
            of_kind[key[1:]] = number
    averages = averages_of(counts_by_label(of_kind))
    return {
        "unlabelled": Counts(*(total[kind, name] for name in _COUNTS)).report(),
        **{name: averages[name] for name in ("micro", "macro", "per_label")},
    }


def _rates(keys: Collection[tuple[Any, ...]], layers: Sequence[str]) -> Iterator[DeclaredRates]:
    for kind in KINDS:
        yield prf_entry((kind, "unlabelled"), [[(kind, name)] for name in _COUNTS])
        yield from label_averages(keys, (kind,), (kind,))


def _with_text(*documents: Document | None) -> Document | None:
    """Return the first of the documents that has a text."""
    for document in documents:
        if document is not None and document.end is not None and not are_unknown(document.tokens or ()):
            return document
    return None


_Kind = tuple[str, Callable[[int, int], Range], Callable[[int, int], int]]
"""The name of a kind of positions, the range of them for a range of the document, and the size of a range."""


def _kinds(document: Document | None) -> Iterator[_Kind]:
    if document is None:
        yield KINDS[0], _itself, _length
        return
    first = document.start
    if document.unit == "token":
        yield KINDS[0], _itself, _length
        lengths = list(accumulate(map(len, document.tokens or ()), initial=0))
    else:
        text = document.text or ""
        tokens = [match.span() for match in _TOKEN.finditer(text)]
        starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
        yield KINDS[0], lambda start, end: _tokens(start - first, end - first, starts, ends), _length
        lengths = list(accumulate((not each.isspace() for each in text), initial=0))
    yield KINDS[1], _itself, lambda start, end: lengths[end - first] - lengths[start - first]


def _itself(start: int, end: int) -> Range:
    return start, end


def _length(start: int, end: int) -> int:
    return end - start


def _tokens(start: int, end: int, starts: Sequence[int], ends: Sequence[int]) -> Range:
    """Return the numbers of the tokens that share a character with a range of characters."""
    first, last = bisect_right(ends, start), bisect_left(starts, end)
    return first, max(first, last) if start < end else first


def _by_label(
    side: Side, counted: Sequence[bool] | None, place: Callable[[int, int], Range]
) -> dict[str | None, Ranges]:
    """Return the union of the ranges of each label, and of all labels under None."""
    found: dict[str | None, Ranges] = {}
    for number, span in enumerate(side.spans):
        if counted is None or counted[number]:
            ranges = [place(*part) for part in span.fragments]
            found.setdefault(span.label, []).extend(ranges)
            found.setdefault(None, []).extend(ranges)
    return {
        label: list(joined_ranges((each for each in ranges if each[0] < each[1]), ge))
        for label, ranges in found.items()
    }
