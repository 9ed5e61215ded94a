"""The outcome of every annotation: the pairs, the groups that GATE shows, and the indicator annotations.

The groups are CS, CP, IS, IP (responses that are correct or incorrect, strict or partial), ML (targets that are
truly missing) and SL (responses that are truly spurious).

A system is compared with a reference, usually an older run of it: `changes_of_targets` compares the groups that each
target has in two outcomes, `changes` gives the annotations by which GATE shows changes.

Source: GATE's plugin Evaluation. Its annotations of changes leave out each span that the reference has in any group, so
that no target is ever "missing now" where it was correct before, which the notes of its authors ask for;
`changes_of_targets` differs from it on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clueval.core.case import Case
from clueval.core.document import Pair
from clueval.core.located import located
from clueval.core.span import Span
from clueval.metrics.gate.equality import FeatureTest, equality_key
from clueval.metrics.gate.lists import GateLists, ListMatches
from clueval.metrics.gate.metric import Gate
from clueval.metrics.gate.pairing import PARTIAL, Touching

_GROUP_OF_VALUE = ("IP", "IS", "CP", "CS")

GROUPS = ("CS", "CP", "IS", "IP", "ML", "SL")
"""The groups of indicator annotations."""

TARGET_ID = "gate.plugin.evaluation.targetId"
"""The feature of an indicator annotation that holds the id of its target."""

CHANGE = "_eval.change"
"""The feature of a change annotation that holds its sign: ``+`` better, ``-`` worse, ``+-`` neither."""

_SIGNS = {
    "CS": {"CP": "-", "IS": "-", "IP": "-", "ML": "-"},
    "CP": {"CS": "+", "IS": "-", "IP": "-", "ML": "-"},
    "IS": {"CS": "+", "CP": "+", "IP": "+-", "ML": "+-"},
    "IP": {"CS": "+", "CP": "+", "IS": "+-", "ML": "+-"},
    "ML": {"CS": "+", "CP": "+", "IS": "+-", "IP": "+-"},
}
"""The sign of a change from a group in the reference to a group in the response."""


class SpanOutcome(NamedTuple):
    """A response, or a missing target, with its group; its target, if there is one; and whether it is single.

    A pair is single if no truly spurious response touches its target.
    """

    span: Span
    group: str
    target: Span | None
    single: bool = False


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """One evaluation of one document."""

    outcomes: Sequence[SpanOutcome]
    """Responses in pairs, missing targets, spurious responses, each by position."""
    targets: Sequence[tuple[Span, str]]
    """Every target, in the order of the evaluation, and its group: that of its pair, else ML."""

    def groups(self) -> Mapping[str, Sequence[Span]]:
        """Return the spans of every group: for ML the missing targets, for all others the responses."""
        groups: dict[str, list[Span]] = {group: [] for group in GROUPS}
        for span, group, *_ in self.outcomes:
            groups[group].append(span)
        return groups

    def single_correct(self, group: str) -> list[Span]:
        """Return the single correct responses of group CS or CP."""
        return [each.span for each in self.outcomes if each.single and each.group == group]

    def indicators(self) -> list[Span]:
        """Return copies of the spans of all groups, their type followed by ``_`` and the group, by position.

        A paired response and a missing target also have the id of the target as a feature.
        """
        copies = []
        for span, group, target, _ in self.outcomes:
            features = dict(span.features)
            if target is not None and target.id is not None:
                features[TARGET_ID] = target.id
            copies.append(Span(span.start, span.end, f"{span.label}_{group}", features, parts=span.parts))
        return sorted(copies, key=lambda span: (span.start, span.end))


def outcome_of(metric: Gate, pair: Pair, sequence: str, kind: str | None = None) -> TargetOutcome:
    """Return the outcome of every annotation of a pair in a sequence, of one type (its target name) or of all."""
    sides = [
        replace(side, layers={sequence: spans})
        for side, spans in zip(pair.sides, metric.annotations(pair, sequence, kind), strict=True)
    ]
    pairs: list[SpanOutcome] = []
    spurious: list[SpanOutcome] = []
    targets: list[tuple[Span, str]] = []
    for case in located(sides, [sequence], reads=metric.reads):
        whole = metric.evaluation_of(Case(case.sides, case.counted), kind)
        gold, predicted = whole.case.gold, whole.case.predicted
        taken = sorted(whole.chosen(), key=lambda match: match.response)
        used = {match.response for match in taken}
        touched = whole.touched(taken)
        groups = dict.fromkeys(whole.targets, "ML")
        for value, target, response, _ in taken:
            groups[target] = group = _GROUP_OF_VALUE[value]
            single = value >= PARTIAL and target not in touched
            pairs.append(SpanOutcome(predicted[response], group, gold[target], single))
        targets += [(gold[number], group) for number, group in groups.items()]
        spurious += [
            SpanOutcome(predicted[number], "SL", None) for number in whole.responses if number not in used
        ]
    missing = [SpanOutcome(target, group, target) for target, group in targets if group == "ML"]
    return TargetOutcome([*pairs, *missing, *spurious], targets)


def indicators_of_lists(metric: GateLists, pair: Pair, sequence: str) -> dict[str, list[Span]]:
    """Return the indicator annotations of candidate lists, by the ends of the names of GATE's sets.

    ``ResListMax`` has the outcome of all candidates, ``ResListTh`` that of those which reach the threshold, if there is
    one threshold, ``MaxRecall`` the targets by what their lists have.
    """
    matches = metric.matches(pair, sequence)
    sets = {"ResListMax": outcome_of_lists(matches).indicators()}
    if isinstance(metric.thresholds, tuple) and len(metric.thresholds) == 1:
        sets["ResListTh"] = outcome_of_lists(matches, *metric.thresholds).indicators()
    found = [
        SpanOutcome(target, _group_of_recall(*ranks), None)
        for target, ranks in zip(matches.targets, matches.recall(), strict=True)
    ]
    return {**sets, "MaxRecall": TargetOutcome(found, ()).indicators()}


def _group_of_recall(has_list: bool, strict: int | None, lenient: int | None) -> str:
    """Return GATE's name for what the lists of a target have: a strict match, a partial one, none; or no list."""
    matched = "SM" if strict is not None else "PM" if lenient is not None else "NM"
    return matched if has_list else "NR"


def outcome_of_lists(matches: ListMatches, score: float = -math.inf) -> TargetOutcome:
    """Return the outcome of candidate lists; the response of a list is its chosen, or else its first, candidate.

    Candidates with at least this score count.
    """
    taken, spurious = matches.outcomes(score)
    groups = {target: _GROUP_OF_VALUE[value] for value, target, _ in taken}
    targets = [(target, groups.get(number, "ML")) for number, target in enumerate(matches.targets)]
    return TargetOutcome(
        [
            *(SpanOutcome(span, groups[target], matches.targets[target]) for _, target, span in taken),
            *(SpanOutcome(target, group, target) for target, group in targets if group == "ML"),
            *(SpanOutcome(span, "SL", None) for span in spurious),
        ],
        targets,
    )


class Change(NamedTuple):
    """A span with its groups in the reference and in the response; `A` stands for absent."""

    span: Span
    before: str
    after: str
    sign: str

    def annotation(self) -> Span:
        """Return the change annotation: the span with both groups in its type and the sign as a feature."""
        label = f"{self.span.label}_{self.before}_{self.after}"
        features = {**self.span.features, CHANGE: self.sign}
        return Span(self.span.start, self.span.end, label, features, parts=self.span.parts)


def changes_of_targets(reference: TargetOutcome, response: TargetOutcome) -> list[Change]:
    """Return each target whose group differs in two outcomes of the same targets, then spurious responses.

    Each target is listed at most once. Correct strict is better than correct partial, that is better than incorrect
    or missing. A spurious response of the reference has disappeared, one of the response has appeared, if it touches no
    spurious one of the other and none has its place. Changes of each kind are in the order of the
    evaluation. O(n log n).
    """
    changed = [
        Change(target, before, after, _SIGNS[before][after])
        for (target, before), (_, after) in zip(reference.targets, response.targets, strict=True)
        if before != after
    ]
    of_reference, of_response = (
        {span.fragments for span in outcome.groups()["SL"]} for outcome in (reference, response)
    )
    for change in _spurious_changes(reference, response):
        if change.span.fragments not in (of_response if change.after == "A" else of_reference):
            changed.append(change)
    return changed


def _spurious_changes(reference: TargetOutcome, response: TargetOutcome) -> list[Change]:
    """Return the spurious responses of each of the two outcomes that touch no spurious response of the other."""
    old, new = reference.groups()["SL"], response.groups()["SL"]
    before, after = Touching(old), Touching(new)
    gone = [Change(span, "SL", "A", "+-") for span in old if not after.find(span)]
    return gone + [Change(span, "A", "SL", "+-") for span in new if not before.find(span)]


def changes(reference: TargetOutcome, response: TargetOutcome, features: Sequence[str] = ()) -> list[Change]:
    """Return the changes from the reference to the response that GATE shows as annotations.

    For every span of a group of the reference: the spans that touch it and are in another group in the
    response, unless the reference has the same span (range, type, `features`) in any group. So the same span
    may be named more than once. Then the spurious spans of each of the two that touch no spurious span of the
    other. In the order of the groups, then by position. Costs O(n log n) for n spans, plus the touching
    spans.
    """
    before, after = reference.groups(), response.groups()
    test = FeatureTest(tuple(features))

    def key(span: Span) -> tuple[Hashable, ...]:
        values = (equality_key(span.features.get(name)) for name in test.of_type(span.label))
        return span.fragments, span.label, *values

    before_keys = {key(span) for group in before.values() for span in group}
    unseen = {
        group: [span for span in spans if key(span) not in before_keys] for group, spans in after.items()
    }
    new = {group: Touching(spans) for group, spans in unseen.items()}
    changed = [
        Change(unseen[new_group][number], old_group, new_group, sign)
        for old_group, signs in _SIGNS.items()
        for new_group, sign in signs.items()
        for old in before[old_group]
        for number in new[new_group].find(old)
    ]
    return changed + _spurious_changes(reference, response)
