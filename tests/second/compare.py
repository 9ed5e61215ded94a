"""Random corpora, scored by the first edition (`clueval.score`) and by the second (`clueval.core`).

`compare` counts on how many corpora both give the same report. The first edition is given the spans of each document in
the order of the second (start, end, parts, labels, and the tokens and features that the metric reads), since some of
its numbers depend on the order.
The second counts the corpus in one bag, or in two that are added, folded or not. For more corpora than in the tests::

    python -m tests.second.compare fair 5000 17

which imports `settings`, and `SHAPE` or `draw` if they are there, from `tests/second/test_second_fair.py`.
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import clueval
from clueval.core.bag import Bag
from clueval.core.case import TOKENS
from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Document, Pair, Sentence
from clueval.core.metric import AnyMetric
from clueval.core.span import Span
from clueval.core.tally import Tally, added
from clueval.evaluation.run import score as first_score

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
    """The documents of both sides, as those of the first edition, in their canonical order."""

    kind: str
    layers: Sequence[str]
    gold: Sequence[clueval.Document]
    predicted: Sequence[clueval.Document]


# Random corpora


def corpus(random: Random, kind: str, labels: str = "AB", layers: int = 2, spans: int = 7) -> Corpus:
    """Return one to four documents with up to `spans` spans a side and layer, about half of them on both sides."""
    names = ["x", "y"][: random.randint(1, layers)]
    with_text = random.random() < 0.7
    sides: tuple[list[clueval.Document], ...] = ([], [])
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
            document = clueval.Document(str(number), of_side, tokens=tokens, metadata={"m": str(number % 2)})
            side.append(canonical(document))
    return Corpus(kind, names, *sides)


def some_spans(random: Random, kind: str, labels: str, number: int) -> list[clueval.Span]:
    """Return random spans of a shape of `KINDS`."""
    if kind != "flat":
        return [_span(random, kind, labels) for _ in range(number)]
    found, end = [], 0
    for _ in range(number):
        start = end + random.randint(0, 2)
        end = start + random.randint(1, 3)
        if end > SIZE:
            break
        found.append(clueval.Span(start, end, random.choice(labels)))
    return found


def _span(random: Random, kind: str, labels: str) -> clueval.Span:
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
    return clueval.Span(start, end, random.choice(labels), features, tokens, parts=parts)


def _similar(random: Random, spans: Iterable[clueval.Span], kind: str, labels: str) -> list[clueval.Span]:
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


def canonical(document: clueval.Document, reads: Collection[str] | None = None) -> clueval.Document:
    """Return a document with the spans of each layer in the order of a case with these features; None: with all."""
    layers = {
        name: sorted(spans, key=lambda span: _rank(span, reads)) for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def _rank(span: clueval.Span, reads: Collection[str] | None) -> tuple[Any, ...]:
    labels = tuple(sorted((layer, label is not None, label or "") for layer, label in span.labels.items()))
    tokens = tuple(sorted(span.tokens or ())) if reads is None or TOKENS in reads else ()
    features = tuple(
        (name, type(value).__name__, value if type(value) in (str, int, bool, float) else repr(value))
        for name, value in sorted(span.features.items())
        if reads is None or name in reads
    )
    return span.start, span.end, span.parts or (), labels, tokens, features


def arranged(corpus: Corpus, metric: AnyMetric) -> Corpus:
    """Return a corpus whose spans have the order of the cases of a metric."""
    reads = getattr(metric, "reads", frozenset())
    sides = ([canonical(document, reads) for document in side] for side in (corpus.gold, corpus.predicted))
    return Corpus(corpus.kind, corpus.layers, *sides)


# Both editions


def second(document: clueval.Document) -> Document:
    """Return the document of the second edition."""
    return Document(
        document.id,
        {
            name: [
                Span(
                    span.start,
                    span.end,
                    dict(span.labels),
                    dict(span.features),
                    span.tokens,
                    span.id,
                    parts=span.parts,
                )
                for span in spans
            ]
            for name, spans in document.layers.items()
        },
        document.tokens,
        document.text,
        document.unit,
        document.start,
        sentences=[Sentence(each.start, each.end) for each in document.sentences],
        token_ids=document.token_ids,
        metadata=dict(document.metadata),
        tags=dict(document.tags),
    )


def pairs_of(corpus: Corpus) -> list[list[Pair]]:
    """Return the pairs of each text."""
    return [
        [Pair(second(gold), second(predicted))]
        for gold, predicted in zip(corpus.gold, corpus.predicted, strict=True)
    ]


def by_first(corpus: Corpus, metric: Any, **options: Any) -> dict[str, Any] | str:
    """Return the report of the first edition by group (None: all) and sequence, or "refused".

    Where several spans are refused, the editions may name different ones: the first edition looks at gold first, the
    second at the first position. So errors are compared in tests of their own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = first_score(corpus.gold, corpus.predicted, metrics=[metric], **options)
        except clueval.CluevalError:
            return "refused"
    (name,) = result.metrics
    groups = result.groups.get("m", {}) if options.get("by") else {}
    return {
        None: dict(result.metrics[name]),
        **{value: dict(of["metrics"][name]) for value, of in groups.items()},
    }


def by_second(
    corpus: Corpus, metric: AnyMetric, random: Random | None = None, **options: Any
) -> dict[str, Any] | str:
    """Return the same of the second edition. `random` says whether the corpus is cut into two bags, and where."""
    where = {name: frozenset(values) for name, values in options.get("where", {}).items()}
    merge = options.get("merge", False)
    by = (options["by"],) if options.get("by") else ()
    plan = Plan((metric,), merge=merge, where=where, by=by)
    try:
        bag = _counted(pairs_of(corpus), plan, corpus.layers, random)
        groups = {None: bag.grouped(lambda place: ())}
        _check(groups[None], plan)
        if by:
            for value in sorted({place.values[0] for place in bag.documents}):
                groups[value] = bag.grouped(lambda place: place.values[0])
        return {value: _report(of, plan, value) for value, of in groups.items()}
    except clueval.CluevalError:
        return "refused"


def _counted(
    texts: Sequence[Sequence[Pair]], plan: Plan, layers: Sequence[str], random: Random | None
) -> Bag:
    if random is None or random.random() < 0.6:
        return count(texts, plan, layers)
    cut = random.randint(0, len(texts))
    bag, rest = count(texts[:cut], plan, layers), count(texts[cut:], plan, layers)
    if random.random() < 0.5:
        bag.fold()
    bag.include(rest)
    return bag


def _check(bag: Bag, plan: Plan) -> None:
    """Let a metric check its settings, given the sum of all counts."""
    for metric in plan.metrics:
        found = bag.tallies_of([metric], _sequences(bag, plan))
        metric.check(added((tally, 1) for *_, tally in found))


def _report(bag: Bag, plan: Plan, value: str | None) -> dict[str, Any]:
    layers = list(bag.layers)
    found = {
        sequence: (metric, tally)
        for place, sequence, metric, tally in bag.tallies_of(plan.metrics, _sequences(bag, plan))
        if place == (() if value is None else value)
    }
    (metric,) = plan.metrics
    tallies = {sequence: tally for sequence, (_, tally) in found.items()}
    reported = metric.reported(tallies) if hasattr(metric, "count_documents") else found
    return {
        sequence: metric.scores(tallies[sequence], layers if plan.merge else [sequence])
        for sequence in reported
    }


def _sequences(bag: Bag, plan: Plan) -> Sequence[str]:
    """Return the sequences of the metric: its only one, if it counts all layers together."""
    whole = getattr(plan.metrics[0], "whole", None)
    return sequences_of(bag, plan) if whole is None else [whole]


def disagreement(
    corpus: Corpus, first: Any, new: AnyMetric, random: Random | None = None, **options: Any
) -> str | None:
    """Return where the two editions differ in the reports of a corpus, or None."""
    return difference(by_first(corpus, first, **options), by_second(corpus, new, random, **options))


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
    """Return the first rate of a report that does not follow from the counts of its headline, or None."""
    report = metric.scores(tally, layers)
    for path, counts in metric.headlines(tally, layers).items():
        entry = entry_at(report, path)
        rates = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f()}
        if any(abs(entry[name] - rate) > 1e-12 for name, rate in rates.items()):
            return f"{path}: {entry}, {rates}"
    return None


def size_difference(first: Any, new: AnyMetric, tally: Tally, layers: Sequence[str]) -> str | None:
    """Return the first entry whose rates weigh a unit in another way than the first edition's do, or None.

    Both metrics must have the same keys in their tallies.
    """
    report, sizes = new.scores(tally, layers), new.sizes(tally, layers)
    for declared in first.needs.rates(list(tally), layers):
        path = ".".join(declared.path)
        wanted = tuple(sum(tally[key] for key in keys) for keys in (declared.gold, declared.predicted))
        if path in sizes:
            found = sizes[path]
        else:
            entry = entry_at(report, path)
            found = entry["gold"], entry["predicted"]
        if found != wanted:
            return f"{path}: {wanted}, {found}"
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


# Many corpora

Setting = tuple[Any, AnyMetric]
"""A metric of the first edition, and that of the second with the same settings."""


def compare(settings: Callable[[Random], Setting], number: int, seed: int, **shape: Any) -> Counter[str]:
    """Count random corpora by their kind and by how the editions agree: equal, refused by both, or where they differ.

    `settings` returns metrics with random settings; `shape` are arguments of `corpus`.
    """
    kinds = shape.pop("kinds", KINDS)
    return compare_corpora(
        settings, lambda random: corpus(random, random.choice(kinds), **shape), number, seed
    )


def compare_corpora(
    settings: Callable[[Random], Setting], draw: Callable[[Random], Corpus], number: int, seed: int
) -> Counter[str]:
    """Count the corpora that `draw` returns as `compare` does."""
    random = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(number):
        made = draw(random)
        options: dict[str, Any] = {}
        if random.random() < 0.3:
            options["by"] = "m"
        if made.kind in MERGEABLE and len(made.layers) > 1 and random.random() < 0.5:
            options["merge"] = True
        first, new = settings(random)
        if random.random() < 0.2 and getattr(new, "within", None) is None:
            options |= _filter(random, made)
        one = by_first(arranged(made, new), first, **options)
        other = by_second(made, new, random, **options)
        differs = difference(one, other)
        how = "equal" if differs is None and isinstance(one, dict) else "refused"
        found[f"{made.kind} {how}" if differs is None else f"{made.kind} {new} {options} {differs}"] += 1
    return found


MERGEABLE = ("flat", "masked")
"""The kinds of corpora whose layers may be merged."""


def _filter(random: Random, made: Corpus) -> dict[str, Any]:
    """Return a filter that lets one of several labels of a layer count; nothing if that layer has one label at most."""
    layer = random.choice(made.layers)
    sides = (*made.gold, *made.predicted)
    labels = sorted({span.label for document in sides for span in document.layers.get(layer, ())})
    return {"where": {layer: [random.choice(labels)]}} if len(labels) > 1 else {}


def disagreements(found: Counter[str]) -> list[str]:
    """Return what `compare` counted apart from corpora on which the editions agree."""
    return [text for text in found if not text.endswith((" equal", " refused"))]


if __name__ == "__main__":
    name, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    module = importlib.import_module(f"tests.second.test_{name}")
    began = time.process_time()
    warnings.simplefilter("ignore")
    draw = getattr(module, "draw", None)
    if draw is None:
        found = compare(module.settings, number, seed, **getattr(module, "SHAPE", {}))
    else:
        found = compare_corpora(module.settings, draw, number, seed)
    wrong = disagreements(found)
    for what in [*wrong[:10], *sorted(found.keys() - {*wrong})]:
        print(found[what], what[:600])
    print(f"{len(wrong)} disagreements")
    print(f"{time.process_time() - began:.0f} s")
