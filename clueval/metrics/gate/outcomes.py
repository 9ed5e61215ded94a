"""The outcome of every annotation: the pairs, the groups that GATE shows, and the indicator annotations.

The groups are CS, CP, IS, IP (responses that are correct or incorrect, strict or partial), ML (targets that are
truly missing) and SL (responses that are truly spurious).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval.metrics.gate.components import Component, PairingProblem, components
from clueval.metrics.gate.counts import GateCounts
from clueval.metrics.gate.pairing import count_component, single, solve
from clueval.spans.span import Span

GROUPS = ("CS", "CP", "IS", "IP", "ML", "SL")
"""The groups of indicator annotations."""

TARGET_ID = "gate.plugin.evaluation.targetId"
"""The feature of an indicator annotation that holds the id of its target."""

_GROUP_OF_VALUE = ("IP", "IS", "CP", "CS")


class PairedSpans(NamedTuple):
    """A target and its response, the group of the pair, and whether no truly spurious response touches it."""

    target: Span
    response: Span
    group: str
    single: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """One evaluation of one document, by position."""

    pairs: Sequence[PairedSpans]
    missing: Sequence[Span]
    spurious: Sequence[Span]
    counts: GateCounts

    def groups(self) -> Mapping[str, Sequence[Span]]:
        """Return the spans of every group: for ML the missing targets, for all others the responses."""
        groups: dict[str, list[Span]] = {group: [] for group in GROUPS}
        for pair in self.pairs:
            groups[pair.group].append(pair.response)
        groups["ML"].extend(self.missing)
        groups["SL"].extend(self.spurious)
        return groups

    def single_correct(self, group: str) -> list[Span]:
        """Return the single correct responses of group CS or CP."""
        return [pair.response for pair in self.pairs if pair.single and pair.group == group]

    def indicators(self) -> list[Span]:
        """Return copies of the spans of all groups, their type followed by ``_`` and the group, by position.

        A paired response and a missing target also have the id of the target as a feature.
        """
        copies = [
            *(_copy(pair.response, pair.group, pair.target) for pair in self.pairs),
            *(_copy(span, "ML", span) for span in self.missing),
            *(_copy(span, "SL", None) for span in self.spurious),
        ]
        return sorted(copies, key=lambda span: (span.start, span.end))


def outcome_of(problem: PairingProblem) -> Outcome:
    """Return the outcome of an evaluation. O(n log n), plus the number of possible pairings."""
    counts = GateCounts()
    pairs: list[tuple[int, PairedSpans]] = []
    missing: list[int] = []
    spurious: list[int] = []
    for component in components(problem):
        counts += GateCounts(*count_component(problem, component))
        pairs.extend(_paired(problem, component, missing, spurious))
    return Outcome(
        [pair for _, pair in sorted(pairs, key=lambda entry: entry[0])],
        [problem.targets[number] for number in sorted(missing)],
        [problem.responses[number] for number in sorted(spurious)],
        counts,
    )


def _paired(
    problem: PairingProblem, component: Component, missing: list[int], spurious: list[int]
) -> Iterator[tuple[int, PairedSpans]]:
    """Yield the pairs of a component with the numbers of their responses; append the rest to the lists."""
    taken = solve(problem, component).pairs
    targets = {pair.target for pair in taken}
    responses = {pair.response for pair in taken}
    left = [number for number in component.responses if number not in responses]
    alone = set(single(problem, taken, left))
    missing.extend(number for number in component.targets if number not in targets)
    spurious.extend(left)
    for pair in taken:
        yield (
            pair.response,
            PairedSpans(
                problem.targets[pair.target],
                problem.responses[pair.response],
                _GROUP_OF_VALUE[pair.value],
                pair in alone,
            ),
        )


def _copy(span: Span, group: str, target: Span | None) -> Span:
    features = dict(span.features)
    if target is not None and target.id is not None:
        features[TARGET_ID] = target.id
    return Span(span.start, span.end, f"{span.label}_{group}", features, parts=span.parts)
