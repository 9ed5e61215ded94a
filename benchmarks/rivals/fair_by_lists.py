"""Evaluates two span files by the fair definition with plain lists, and examines every possible pair of spans.

The definition is FairEval's (Ortmann 2022), in its convention: tokens count from 1 in each sentence, the last one
is included. The script does not import clueval. It prints the traditional and the fair table with default weights,
label errors under the target's label, and rates in percent.

python benchmarks/rivals/fair_by_lists.py TARGET SYSTEM
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PLACEHOLDERS = ("NONE", "EMPTY")

TRADITIONAL = ("TP", "FP", "FN")
FAIR = ("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE")
HALF = ("LE", "BE", "LBE")
"""The types of errors that count as half a false positive and half a false negative."""

Counts = Counter[tuple[str, str]]
"""Numbers by label and type of error."""


@dataclass(slots=True, eq=False)
class Span:
    """A span and the tokens that it still has; two spans are compared by `same`."""

    label: str
    begin: int
    end: int
    tokens: set[int]


def read_spans(path: Path) -> list[list[Span]]:
    """Return the spans of a file by sentence, without placeholders; memory holds all of them."""
    sentences: list[list[Span]] = []
    in_sentence = False
    with path.open(encoding="utf-8") as file:
        for line in file:
            if not line.strip():
                in_sentence = False
                continue
            if not in_sentence:
                sentences.append([])
                in_sentence = True
            label, begin, end, tokens = line.rstrip("\n").split("\t")
            if label not in PLACEHOLDERS:
                sentences[-1].append(_span(label, int(begin), int(end), tokens))
    return sentences


def _span(label: str, begin: int, end: int, tokens: str) -> Span:
    inside = {token for token in map(int, tokens.split(",")) if begin <= token <= end}
    return Span(label, begin, end, inside or set(range(begin, end + 1)))


def same(one: Span, other: Span) -> bool:
    return (one.label, one.begin, one.end) == (other.label, other.begin, other.end) and (
        one.tokens == other.tokens
    )


def same_range(one: Span, other: Span) -> bool:
    return one.begin == other.begin and one.end == other.end


def mislabelled(one: Span, other: Span) -> bool:
    return same_range(one, other) and one.label != other.label


def count_traditional(targets: list[Span], systems: list[Span], counts: Counts) -> None:
    """Count one sentence by membership."""
    for target in targets:
        found = any(same(target, system) for system in systems)
        counts[target.label, "TP" if found else "FN"] += 1
    for system in systems:
        if not any(same(system, target) for target in targets):
            counts[system.label, "FP"] += 1


def count_fair(targets: list[Span], systems: list[Span], counts: Counts) -> None:
    """Count one sentence, each span once; empties the lists and removes tokens from the spans."""
    _pair_equal(same, "TP", targets, systems, counts)
    _pair_equal(mislabelled, "LE", targets, systems, counts)
    for spans in (targets, systems):
        spans.sort(key=lambda span: span.end - span.begin)
    used: tuple[list[Span], list[Span]] = ([], [])
    for same_label in (True, False):
        _pair_overlapping(targets, systems, *used, counts, same_label)
    for target in targets:
        counts[target.label, "FN"] += 1
    for system in systems:
        counts[system.label, "FP"] += 1
    targets.clear()
    systems.clear()


def _pair_equal(
    equal: Callable[[Span, Span], bool], kind: str, targets: list[Span], systems: list[Span], counts: Counts
) -> None:
    for target in list(targets):
        for system in systems:
            if equal(target, system):
                counts[target.label, kind] += 1
                targets.remove(target)
                systems.remove(system)
                break


def _pair_overlapping(
    targets: list[Span],
    systems: list[Span],
    used_targets: list[Span],
    used_systems: list[Span],
    counts: Counts,
    same_label: bool,
) -> None:
    """Boundary errors, of one label or of two: free with free, then either side's free ones with used ones."""
    for target in list(targets):
        system = _most_similar(target, _candidates(target, systems, same_label))
        if system is not None:
            _count_overlap(target, system, same_label, counts)
            targets.remove(target)
            systems.remove(system)
            used_targets.append(target)
            used_systems.append(system)
    for target in list(targets):
        system = _most_similar(target, _sharing(target, _candidates(target, used_systems, same_label)))
        if system is not None:
            _count_overlap(target, system, same_label, counts)
            targets.remove(target)
            used_targets.append(target)
    for other in list(systems):
        partner = _most_similar(other, _sharing(other, _candidates(other, used_targets, same_label)))
        if partner is not None:
            _count_overlap(partner, other, same_label, counts)
            systems.remove(other)
            used_systems.append(other)


def _candidates(span: Span, others: list[Span], same_label: bool) -> Iterator[Span]:
    for other in others:
        overlap = other.begin <= span.end and span.begin <= other.end
        if overlap and (other.label == span.label) is same_label and not same_range(span, other):
            yield other


def _sharing(span: Span, candidates: Iterable[Span]) -> Iterator[Span]:
    return (candidate for candidate in candidates if span.tokens & candidate.tokens)


def _most_similar(span: Span, candidates: Iterable[Span]) -> Span | None:
    def order(candidate: Span) -> tuple[int, int, int, int]:
        return (
            -len(span.tokens & candidate.tokens),
            len(span.tokens - candidate.tokens),
            len(candidate.tokens - span.tokens),
            candidate.end - candidate.begin,
        )

    return min(candidates, key=order, default=None)


def _count_overlap(target: Span, system: Span, same_label: bool, counts: Counts) -> None:
    if same_label:
        counts[target.label, "BE"] += 1
        counts[target.label, _boundary(target, system)] += 1
    else:
        counts[target.label, "LBE"] += 1
    shared = target.tokens & system.tokens
    target.tokens -= shared
    system.tokens -= shared


def _boundary(target: Span, system: Span) -> str:
    if target.begin <= system.begin and system.end <= target.end:
        return "BES"
    return "BEL" if system.begin <= target.begin and target.end <= system.end else "BEO"


def rates(numbers: dict[str, int]) -> list[float]:
    """Precision, recall and F1 in percent; 0/0 is 0."""
    half = sum(numbers.get(kind, 0) for kind in HALF) / 2
    found = numbers["TP"]
    precision = found / (found + numbers["FP"] + half) if found else 0.0
    recall = found / (found + numbers["FN"] + half) if found else 0.0
    f1 = 2 * precision * recall / (precision + recall) if found else 0.0
    return [100 * precision, 100 * recall, 100 * f1]


def table(counts: Counts, kinds: tuple[str, ...]) -> str:
    """Return a table with a row per label, and one for all labels."""
    labels = sorted({label for label, _ in counts})
    rows = {label: {kind: counts[label, kind] for kind in kinds} for label in labels}
    rows["overall"] = {kind: sum(counts[label, kind] for label in labels) for kind in kinds}
    lines = ["\t".join(["label", *kinds, "precision", "recall", "f1"])]
    for name, numbers in rows.items():
        lines.append("\t".join([name, *map(str, numbers.values()), *(f"{x:.2f}" for x in rates(numbers))]))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the traditional and the fair table.")
    parser.add_argument("target", type=Path)
    parser.add_argument("system", type=Path)
    options = parser.parse_args()
    target, system = read_spans(options.target), read_spans(options.system)
    if len(target) != len(system):
        parser.error(f"{len(target)} sentences in {options.target}, {len(system)} in {options.system}")
    traditional, fair = Counts(), Counts()
    for targets, systems in zip(target, system, strict=True):
        count_traditional(targets, systems, traditional)
        count_fair(targets, systems, fair)
    print("traditional", table(traditional, TRADITIONAL), "", "fair", table(fair, FAIR), sep="\n")


if __name__ == "__main__":
    main()
