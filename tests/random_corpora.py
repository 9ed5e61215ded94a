"""Random corpora of spans of many shapes, and what holds for the report of any metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Document, Pair
from clueval.core.metric import AnyMetric, Tally, added
from clueval.core.span import Span

SIZE = 30
"""The positions of a text."""

KINDS = ("flat", "nested", "empty", "gaps", "tokens", "features")
"""The shapes of corpora: without overlaps; with them; with spans of zero length, too; and so on."""

MIXED = "mixed"
"""A shape with all of these; each span has a score."""

FEATURES: tuple[Mapping[str, Any], ...] = (
    {},
    {"kind": "x"},
    {"kind": 1},
    {"kind": True},
    {"kind": 1.0, "score": 0.25},
    {"kind": 10, "inst": 9},
    {"kind": 10.0, "inst": [1]},
    {"kind": 9, "inst": -1.5},
    {"kind": "x", "inst": "i", "score": 0.5},
    {"inst": None, "score": 0.75},
)


SCORES = (0.25, 0.5, 0.501, 0.506, 0.75, 1, "0.9", -1.5)


@dataclass(frozen=True)
class Corpus:
    """The documents of both sides."""

    kind: str
    layers: Sequence[str]
    gold: Sequence[Document]
    predicted: Sequence[Document]


# Random corpora


def corpus(random: Random, kind: str, labels: str = "AB", layers: int = 2, spans: int = 7) -> Corpus:
    """Return one to four documents with up to `spans` spans a side and layer, about half of them on both sides."""
    names = ["x", "y"][: random.randint(1, layers)]
    with_text = random.random() < 0.7
    sides: tuple[list[Document], ...] = ([], [])
    for number in range(random.randint(1, 4)):
        gold = {name: some_spans(random, kind, labels, random.randint(0, spans)) for name in names}
        predicted = {
            name: some_spans(random, kind, labels, random.randint(0, spans))
            if kind == "flat" or random.random() < 0.3
            else _similar(random, gold[name], kind, labels)
            for name in names
        }
        for side, of_side in zip(sides, (gold, predicted), strict=True):
            tokens = [f"w{place}" for place in range(SIZE)] if with_text else None
            document = Document(str(number), of_side, tokens=tokens, metadata={"m": str(number % 2)})
            side.append(document)
    return Corpus(kind, names, *sides)


def some_spans(random: Random, kind: str, labels: str, number: int) -> list[Span]:
    """Return random spans of a shape of `KINDS`."""
    if kind != "flat":
        return [_span(random, kind, labels) for _ in range(number)]
    found, end = [], 0
    for _ in range(number):
        start = end + random.randint(0, 2)
        end = start + random.randint(1, 3)
        if end > SIZE:
            break
        found.append(Span(start, end, random.choice(labels)))
    return found


def _span(random: Random, kind: str, labels: str) -> Span:
    start = random.randint(0, SIZE - 1)
    lengths = [0, 0, 1, 2, 3, 4, 6] if kind in ("empty", MIXED) else [1, 1, 2, 3, 4, 6]
    end = min(SIZE, start + random.choice(lengths))
    features, tokens, parts = {}, None, None
    if kind in ("gaps", MIXED) and end - start >= 3 and random.random() < 0.5:
        parts = ((start, start + 1), (random.randint(start + 1, end - 1), end))
    if kind in ("tokens", MIXED) and random.random() < 0.6:
        tokens = frozenset(place for place in range(start, end) if random.random() < 0.7) or None
    if kind in ("features", MIXED):
        features = dict(random.choice(FEATURES))
    if kind == MIXED:
        features["score"] = random.choice(SCORES)
    return Span(start, end, random.choice(labels), features, tokens, parts=parts)


def _similar(random: Random, spans: Iterable[Span], kind: str, labels: str) -> list[Span]:
    """Return spans of which some are those given, some have another label or are another span, some occur twice."""
    found = []
    for span in spans:
        what = random.random()
        if what < 0.4:
            found.append(span)
        elif what < 0.55:
            found.append(replace(span, labels=random.choice(labels)))
        elif what < 0.9:
            found.append(_span(random, kind, labels))
        if what > 0.8:
            found += [*found[-1:], _span(random, kind, labels)]
    return found


def pairs_of(corpus: Corpus) -> list[list[Pair]]:
    """Return the pairs of each text."""
    return [[Pair(gold, predicted)] for gold, predicted in zip(corpus.gold, corpus.predicted, strict=True)]


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Return the first place where two reports differ, with both values; dictionaries must have the same order.

    >>> difference({"a": {"b": 1}}, {"a": {"b": 2}})
    '.a.b: 1, 2'
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if list(one) != list(other):
            return f"{path}: {list(one)}, {list(other)}"
        found = (difference(one[key], other[key], f"{path}.{key}") for key in one)
        return next((each for each in found if each is not None), None)
    return None if one == other and type(one) is type(other) else f"{path}: {one!r}, {other!r}"


def headline_difference(metric: AnyMetric, tally: Tally, layers: Sequence[str]) -> str | None:
    """Return the first rate of a report that does not follow from the counts of its headline, or None.

    What is no entry is one rate, the recall of its counts.
    """
    report = metric.scores(tally, layers)
    for path, counts in metric.headlines(tally, layers).items():
        entry = entry_at(report, path)
        if not isinstance(entry, Mapping):
            entry = {"precision": counts.precision, "recall": entry, "f1": counts.f()}
        rates = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f()}
        if any(abs(entry[name] - rate) > 1e-12 for name, rate in rates.items()):
            return f"{path}: {entry}, {rates}"
    return None


def entry_at(report: Mapping[str, Any], path: str) -> Any:
    """Return the entry at a path of keys joined by full stops; no key has one."""
    for key in path.split("."):
        report = report[key]
    return report


def sum_of(corpus: Corpus, metric: AnyMetric) -> Tally:
    """Return the counts of all sequences of a corpus."""
    plan = Plan((metric,))
    bag = count(pairs_of(corpus), plan, corpus.layers)
    return added((tally, 1) for *_, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan)))
