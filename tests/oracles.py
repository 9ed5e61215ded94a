"""Slow, obvious models that the tests hold the library against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from clueval.core.span import Span


def naive_components(spans: list[Span]) -> set[frozenset[int]]:
    """Connected components of the overlap graph as sets of numbers, by repeated joining."""
    sets = [{number} for number in range(len(spans))]
    for i, a in enumerate(spans):
        for j, b in enumerate(spans):
            if a.overlaps(b) or (a.start, a.end) == (b.start, b.end):
                one = next(s for s in sets if i in s)
                other = next(s for s in sets if j in s)
                if one is not other:
                    sets.remove(other)
                    one |= other
    return {frozenset(s) for s in sets}


FairItem = tuple[str, int, int, frozenset[int] | None]
"""The label, start and end of a span, and its tokens; None: all positions of its range."""

FairPair = tuple[str, int | None, int | None]
"""TP, LE, BES, BEL, BEO, LBE, FN or FP, with the numbers of a gold and of a predicted span, of which one may lack."""


def item(label: str, start: int, end: int, tokens: Iterable[int] | None) -> FairItem:
    """A span as FairEval compares it: tokens that are all positions of the range are None."""
    held = frozenset(tokens or ())
    return label, start, end, held if held and not held.issuperset(range(start, end)) else None


def overlap_kind(start: int, end: int, other_start: int, other_end: int) -> str | None:
    """How the other range lies to the first: TP, BES, BEL, BEO; None: they do not overlap.

    >>> [overlap_kind(2, 6, *other) for other in ((2, 6), (2, 4), (2, 7), (4, 8), (6, 8))]
    ['TP', 'BES', 'BEL', 'BEO', None]
    """
    if (start, end) == (other_start, other_end):
        return "TP"
    if not (start < other_end and other_start < end):
        return None
    if start <= other_start and other_end <= end:
        return "BES"
    return "BEL" if other_start <= start and end <= other_end else "BEO"


class PlainFairSpan:
    """A span of FairEval with a token set of its own, which shrinks."""

    def __init__(self, place: int, span: FairItem) -> None:
        self.place = place
        self.label, self.start, self.end, tokens = span
        self.tokens = set(range(self.start, self.end)) if tokens is None else set(tokens)

    def candidates(self, others: list[PlainFairSpan], same_label: bool, sharing: bool) -> list[PlainFairSpan]:
        return [
            other
            for other in others
            if (self.label == other.label) is same_label
            and (self.start, self.end) != (other.start, other.end)
            and overlap_kind(self.start, self.end, other.start, other.end)
            and (not sharing or self.tokens & other.tokens)
        ]

    def most_similar(self, candidates: list[PlainFairSpan]) -> PlainFairSpan:
        return min(
            candidates,  # of equals, min takes the first
            key=lambda other: (
                -len(self.tokens & other.tokens),
                len(self.tokens - other.tokens),
                len(other.tokens - self.tokens),
                other.end - other.start,
            ),
        )


def pair_by_lists(gold: Sequence[FairItem], predicted: Sequence[FairItem]) -> Iterator[FairPair]:
    """Pair spans by FairEval's steps, on plain lists with plain sets."""
    golds = [PlainFairSpan(i, span) for i, span in enumerate(gold)]
    predictions = [PlainFairSpan(j, span) for j, span in enumerate(predicted)]

    def first(one: PlainFairSpan, wanted: Any) -> PlainFairSpan | None:
        return next((other for other in predictions if wanted(one, other)), None)

    for kind, wanted in (
        ("TP", lambda one, other: gold[one.place] == predicted[other.place]),
        ("LE", lambda a, b: (a.start, a.end) == (b.start, b.end) and a.label != b.label),
    ):
        for one in list(golds):
            if (other := first(one, wanted)) is not None:
                golds.remove(one)
                predictions.remove(other)
                yield kind, one.place, other.place

    golds.sort(key=lambda span: span.end - span.start)
    predictions.sort(key=lambda span: span.end - span.start)
    counted_golds: list[PlainFairSpan] = []
    counted_predictions: list[PlainFairSpan] = []
    for same in (True, False):
        rounds = (
            (golds, predictions, counted_golds, counted_predictions, False),
            (golds, counted_predictions, counted_golds, counted_predictions, True),
            (predictions, counted_golds, counted_predictions, counted_golds, True),
        )
        for own, others, own_counted, other_counted, sharing in rounds:
            for one in list(own):
                candidates = one.candidates(others, same, sharing)
                if not candidates:
                    continue
                other = one.most_similar(candidates)
                shared = one.tokens & other.tokens
                one.tokens -= shared
                other.tokens -= shared
                own.remove(one)
                own_counted.append(one)
                if not sharing:
                    others.remove(other)
                    other_counted.append(other)
                a, b = (other, one) if own is predictions else (one, other)
                yield (
                    (overlap_kind(a.start, a.end, b.start, b.end) or "") if same else "LBE",
                    a.place,
                    b.place,
                )
    yield from (("FN", one.place, None) for one in golds)
    yield from (("FP", None, one.place) for one in predictions)


class PlainSample(NamedTuple):
    """A sample of MultiCoNER: its id if a comment names it, its tokens (none if there are tags alone) and its tags."""

    id: str | None
    tokens: list[str]
    tags: list[str]


def multiconer_samples(text: str) -> list[PlainSample]:
    """The samples of a file of MultiCoNER, as its baseline splits it: at blank lines, and each line at white space."""
    samples = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()):
        lines = [line for line in block.split("\n") if line.strip()]
        ids = [line.split()[2] for line in lines if line.startswith("# id")]
        rows = [line.split() for line in lines if not line.startswith("#")]
        samples.append(
            PlainSample(
                next(iter(ids), None), [row[0] for row in rows if len(row) > 1], [row[-1] for row in rows]
            )
        )
    return samples


def hipe_spans(text: str, column: str) -> dict[str, list[tuple[int, int, str]]]:
    """The spans of each document of a HIPE file, as its scorer finds them: all token lines of a document are joined.

    A span ends before any tag but an I- with its label; an I- that continues none begins one.
    """
    header, *lines = text.split("\n")
    place, tags, found = header.split("\t").index(column), list[str](), dict[str, list[str]]()
    for line in lines:
        if line.startswith("# ") and "document_id" in line:
            tags = found.setdefault(line.partition("=")[2].strip(), [])
        elif line.strip() and not line.startswith("# "):
            tags.append(line.split("\t")[place])
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for name, of_document in found.items():
        spans[name] = []
        for position, tag in enumerate(of_document):
            label = tag[2:]
            if not label:
                continue
            goes_on = tag[0] == "I" and spans[name] and spans[name][-1][1:] == (position, label)
            start = spans[name].pop()[0] if goes_on else position
            spans[name].append((start, position + 1, label))
    return spans


def asked(asking: Span, a: Span) -> bool:
    """GATE's query for the annotations of a set that overlap a range."""
    return (a.start < asking.start < a.end) or (asking.start <= a.start < asking.end)
