"""Wrong spans: which spans of a corpus a metric counts as errors, why, and with which spans of the other side.

By default a span is an error if the other side has no span with the same start, end and label: these are the false
negatives (gold) and false positives (predicted) of metric ``exact``, which counts equal spans of one side once. A
choice of a level, of a labelled layer or of unlabelled spans makes them those of metric ``levels``: at level n a span
is an error if its class is above n. With a *labelled* layer it is also an error if the joined label of its match is
not its own; spans without a label in that layer are not counted.

With metric ``fair``, each of its errors is one: a gold span with the predicted span that it is paired with, or a span
of either side alone. Its class is FairEval's type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from clueval.core.case import Case, Flags, Sides
from clueval.core.count import Plan, count, decided, sequences_of
from clueval.core.document import Pair, metadata_with_id
from clueval.core.exact import Exact
from clueval.core.levels import KINDS, LEVELS, UNMATCHED, Levels
from clueval.core.located import EqualCases, Located, document_of_error, located_together
from clueval.core.metric import Metric, require_countable
from clueval.core.span import (
    MERGED,
    NO_LABEL,
    NOTHING,
    SIDES,
    Labels,
    Ranges,
    Span,
    by_position,
    components,
    first_clash,
    shared_positions,
)
from clueval.files.errors import CluevalError, UsageError
from clueval.files.options import require_types
from clueval.metrics.fair import Fair
from clueval.reading.span_lists import Match, match_of
from clueval.reports.language import phrase

_Value = TypeVar("_Value")

RIGHT = "right"
Reason = Literal["label", "boundary", "boundary+label", "missed", "spurious"]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a span is an error, the first that fits: `label` (a span of the other side has the same range and another
label), `boundary` (it overlaps a span that has its label and another range), `boundary+label` (it overlaps only spans
with other labels), `missed` or, on the predicted side, `spurious` (it overlaps nothing, or its equal is the partner of
another span). A span that is none has the reason `RIGHT`."""

CLASSES = (*KINDS[:-1], "partial", *UNMATCHED.values())
"""The classes of rows; CLUEval's class 5 is `partial` if anything overlaps the span, else `missed` (gold) or `spurious`
(predicted)."""

FAIR_TYPES = ("LE", "BES", "BEL", "BEO", "LBE", "FN", "FP")

MOST_SHOWN = 50
"""The greatest number of spans of the other side that a row shows, the first ones, if these overlap one another."""

MOST_HELD = 1 << 14
"""What was found of different cases is held until these have this number of spans, and of pairs that overlap."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Selects the errors to report.

    By default, a span is correct if the other side has one with the same start, end and label, as in metric ``exact``.
    `level`, `labelled` and `unlabelled` choose the levels of CLUEval instead: matches up to `level` (1 to 4; 2, if it
    is None) are correct; with `labelled`, the name of a layer, only if the label in this layer is correct, too.
    `sides`, `kinds` and `reasons` select sides, classes and reasons (empty: all). `merge` merges all layers into one
    sequence. `where` has the values that count, of layers and of metadata. `window` is the width of the context in
    positions (None: the sentence). `fair` chooses the errors of this metric, in place of levels.

    Raises `UsageError` for a level, side, class or reason that does not exist, for a class or reason that no error of
    the choice can have, and for a negative window.
    """

    level: int | None = None
    labelled: str | None = None
    unlabelled: bool = False
    sides: tuple[str, ...] = SIDES
    kinds: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    merge: bool = False
    where: Mapping[str, frozenset[str]] = NOTHING
    window: int | None = None
    fair: Fair | None = None

    def __post_init__(self) -> None:
        require_types(self)
        if self.fair is not None and (self.by_levels or self.where):
            raise UsageError("errors of metric fair have no levels and no filter", advice="use Fair.labels")
        if self.level is not None and self.level not in LEVELS:
            raise UsageError(f"there is no level {self.level!r}", advice="1, 2, 3 or 4")
        if self.unlabelled and self.labelled is not None:
            raise UsageError("errors are labelled or unlabelled, not both", advice="leave one out")
        for side in self.sides:
            if side not in SIDES:
                raise UsageError(f"there is no side {side!r}", advice="gold or predicted")
        self._require_names("class", self.kinds, self.classes, KINDS[: self.at_level])
        self._require_names("reason", self.reasons, REASONS, REASONS[:1])
        if self.window is not None and self.window < 0:
            raise UsageError(f"the window cannot be {self.window} positions", advice="a number from 0 on")

    def _require_names(
        self, what: str, names: Iterable[str], allowed: Sequence[str], correct: Sequence[str]
    ) -> None:
        """Raise `UsageError` for names that are not known, or that no error has; without labels, none is `correct`."""
        for name in sorted(names):
            if name not in allowed:
                from clueval.files.names import one_of  # only for names that do not exist

                raise UsageError(f"there is no {what} {name!r}", advice=one_of(name, allowed))
            for side, other in (SIDES, SIDES[::-1]):
                if side in self.sides:
                    continue
                if name == UNMATCHED[side]:
                    advice = f"{UNMATCHED[other]}, or also the {side} side"
                    raise UsageError(f"no {other} span is {name}", advice=advice)
                if self.fair is not None and name in {"gold": ("LE", "FN"), "predicted": ("FP",)}[side]:
                    problem = f"errors of the type {name} have a {side} span"
                    raise UsageError(problem, advice=f"also the {side} side")
            if self.by_levels and self.labelled is None and name in correct:
                problem = f"no error at level {self.at_level} has the {what} {name!r} without labels"
                raise UsageError(problem, advice="choose a labelled layer, or no level")

    @property
    def of_all(self) -> Choice:
        """The choice without its filters of sides, classes and reasons."""
        return replace(self, sides=SIDES, kinds=frozenset(), reasons=frozenset())

    @property
    def by_levels(self) -> bool:
        """Whether errors are those of metric ``levels``."""
        return self.unlabelled or self.level is not None or self.labelled is not None

    @property
    def at_level(self) -> int:
        """The level up to which matches are correct."""
        return 2 if self.level is None else self.level

    @property
    def metric(self) -> Metric:
        """The metric that counts these errors."""
        return self.fair or (Levels() if self.by_levels else Exact())

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that errors may have."""
        return CLASSES if self.fair is None else FAIR_TYPES

    def is_error(self, match: Match) -> bool:
        """Return whether a span with this match is an error; it has no equal on the other side."""
        if not self.by_levels:
            return True
        good = match.kind in KINDS[: self.at_level]
        if self.labelled is None:
            return not good
        label = match.span.by_layer.get(self.labelled)
        return label is not None and not (good and match.labels.get(self.labelled) == label)

    def lists(self, wrong: JudgedSpan) -> bool:
        """Return whether a span is an error that the filters of sides, classes and reasons let through."""
        return (
            wrong.is_error
            and wrong.side_name in self.sides
            and (not self.kinds or wrong.kind in self.kinds)
            and (not self.reasons or wrong.reason in self.reasons)
        )

    def in_words(self) -> str:
        """Return a description of the choice."""
        level: dict[str, object] = {"level": self.at_level, "name": phrase(KINDS[self.at_level - 1])}
        if self.fair is not None:
            parts = [phrase("errors of metric fair, each once")]
        elif self.labelled is not None:
            level["layer"] = self.labelled
            parts = [phrase("errors at level {level} ({name}), including wrong labels of {layer}", **level)]
        elif self.by_levels:
            parts = [phrase("errors above level {level} ({name}), whatever the labels", **level)]
        else:
            parts = [phrase("spans that are not exactly right, label included, as metric exact counts")]
        if len(self.sides) == 1 and self.fair is None:
            parts.append(phrase("{side} side only", side=phrase(self.sides[0])))
        for ordered, chosen in ((self.classes, self.kinds), (REASONS, self.reasons)):
            if chosen:
                names = ", ".join(phrase(name) for name in ordered if name in chosen)
                parts.append(phrase("only {names}", names=names))
        if self.where:
            conditions = ";".join(f"{key}={'|'.join(sorted(values))}" for key, values in self.where.items())
            parts.append(phrase("where {conditions}", conditions=conditions))
        return " · ".join(parts)


class JudgedSpan(NamedTuple):
    """A span that counts: its side and sequence, and the spans of the other side that overlap or equal it.

    `kind` is its class, one of `Choice.classes`, and `found` are the joined labels of its match. `others` come by
    position, and `shown` are those that a row shows. `start` and `end` are the first and the last position of the span
    and of these spans, half-open. `is_error` says whether the choice of level and layer counts it as wrong; the filters
    of the choice are `Choice.lists`.
    """

    side: int
    sequence: str
    kind: str
    reason: str
    is_error: bool
    found: Labels
    start: int
    end: int
    span: Span
    others: Sequence[Span]
    shown: Sequence[Span]

    @property
    def side_name(self) -> str:
        return SIDES[self.side]

    @property
    def order(self) -> tuple[int, ...]:
        """The order of wrong spans in a text."""
        return self.start, self.end, self.span.start, self.span.end, self.side

    def at(self, case: Located, found: CaseErrors, system: int = 0) -> JudgedSpan:
        """Return the judged span in a case that is equal to that of `found`, and has two sides for each system."""
        side, other_side = 2 * system + self.side, 2 * system + 1 - self.side
        own, of_other = case.sides[side] or (), case.sides[other_side] or ()
        numbers = found.numbers[other_side]
        others = [of_other[numbers[id(other)]] for other in self.others]
        span, shift = own[found.numbers[side][id(self.span)]], case.first - found.first
        shown = others[: len(self.shown)]
        return JudgedSpan(*self[:6], self.start + shift, self.end + shift, span, others, shown)


def parts_of(sides: Sides, counted: Flags) -> Iterator[tuple[Sides, Flags]]:
    """Yield the cases that two sides of a larger case are, each with the spans that count."""
    entries = sorted(
        (span.start, span.end, side, number)
        for side, spans in enumerate(sides)
        for number, span in enumerate(spans or ())
    )
    for members in components(entries, touching=True):
        numbers = [sorted(number for *_, of, number in members if of == side) for side in range(len(sides))]
        yield _chosen(sides, numbers), _chosen(counted, numbers)


def _chosen(
    of_sides: Sequence[tuple[_Value, ...] | None], numbers: Sequence[Sequence[int]]
) -> tuple[tuple[_Value, ...] | None, ...]:
    """Return of each side the values with these numbers; None stays None."""
    return tuple(
        [
            values if values is None else tuple([values[n] for n in of_side])
            for values, of_side in zip(of_sides, numbers, strict=True)
        ]
    )


class CaseErrors:
    """What is found in a case, and so in equal ones, wherever they stand.

    `places` are the start, the end and the errors of each place, in the order of a text. An error has an `order` in the
    text, an `end`, and a method `at`, which gives it in an equal case. `first` is the first position of the case, and
    `numbers` has of each side the numbers of its spans, by `id`. `counts` are what is counted of a case: the name of
    the number, and its key. `times` is the number of the cases.
    """

    __slots__ = ("counts", "first", "numbers", "places", "times")

    def __init__(self, case: Located, errors: Iterable[Any], counts: Sequence[tuple[str, Any]]) -> None:
        runs = components((error.order[0], error.end, error) for error in errors)
        self.places = [
            (run[0][0], max([end for _, end, _ in run]), [error for _, _, error in run]) for run in runs
        ]
        self.first = case.first
        sides = case.sides if self.places else ()
        self.numbers = [{id(span): number for number, span in enumerate(side or ())} for side in sides]
        self.counts, self.times = counts, 0


class FoundPlace(NamedTuple):
    """A place of a text: its range, and its errors, each with the number of its case in the text, the case, and what
    was found in an equal one."""

    start: int
    end: int
    errors: Sequence[tuple[int, Located, CaseErrors, Any]]

    def made(self) -> list[Any]:
        """Return the errors in the order of the text."""
        made = [(number, error.at(case, found)) for number, case, found, error in self.errors]
        if len({number for number, _ in made}) > 1:  # of several layers
            made.sort(key=lambda each: (each[1].order, each[0]))
        return [error for _, error in made]


class Search:
    """Finds the errors of a choice in one text after the other; `end` checks the choice.

    A text has a pair for each of a number of `systems`.
    """

    def __init__(self, choice: Choice, layers: Sequence[str] = (), systems: int = 1) -> None:
        self.choice, self._metric = choice, choice.metric
        self._plan = Plan((), merge=choice.merge, where=choice.where)
        self._layers = [dict.fromkeys(layers) for _ in range(systems)]
        self._found: dict[tuple[object, ...], CaseErrors] = {}  # by all that it depends on
        self._counts: dict[str, Counter[Any]] = {}
        self._held = 0

    def cases(self, text: Sequence[Pair], equal: list[EqualCases] | None = None) -> Iterator[Located]:
        """Return the cases of the pairs of a text; none if the filter leaves out its document.

        Those of two equal spans are put into `equal`, if that is given, and left out.
        """
        for of_system, pair in zip(self._layers, text, strict=True):
            of_system.update(dict.fromkeys(name for side in pair.sides for name in side.layers))
        names = list(dict.fromkeys(chain.from_iterable(self._layers)))
        metadata = metadata_with_id(text[0].first)
        if not self._plan.takes(metadata, names):
            return iter(())
        merge = self._plan.merge
        groups = [
            (pair.sides, list(of_system) if merge else names)
            for pair, of_system in zip(text, self._layers, strict=True)
        ]
        where = self._plan.on_spans(metadata, names)
        return located_together(groups, merge=merge, where=where, reads=self._metric.reads, equal=equal)

    @property
    def sequences(self) -> list[str]:
        """The sequences of the first system so far: the layers, or all of them merged."""
        return [MERGED] if self.choice.merge else list(self._layers[0])

    def places(self, text: Sequence[Pair]) -> list[FoundPlace]:
        """Return the places of a text with errors that the choice lists, in their order.

        Costs what `Case.around` costs, for equal cases once.
        """
        found, sequences = [], set()
        equal: list[EqualCases] | None = [] if len(text) == 1 else None  # other systems may have errors there
        for number, case in enumerate(self.cases(text, equal)):
            of_case = self._errors_of(case, text)
            of_case.times += 1
            if of_case.places:
                sequences.add(case.sequence)
                shift = case.first - of_case.first
                for start, end, errors in of_case.places:
                    place_errors = [(number, case, of_case, error) for error in errors]
                    found.append(FoundPlace(start + shift, end + shift, place_errors))
        if len(sequences) < 2:
            return found
        found.sort(key=lambda place: place[:2])
        return [
            FoundPlace(
                run[0].start,
                max([place.end for place in run]),
                [each for place in run for each in place.errors],
            )
            for run in components(found)
        ]

    def _errors_of(self, case: Located, text: Sequence[Pair]) -> CaseErrors:
        key = case.key
        found = self._found.get(key)
        if found is None:
            if self._held > MOST_HELD:
                self._count()
            found = self._found[key] = self._errors_in(case, text)
            self._held += sum([len(spans or ()) for spans in case.sides])
        return found

    def _errors_in(self, case: Located, text: Sequence[Pair]) -> CaseErrors:
        """Return the errors of a case that is new."""
        choice = self.choice
        wrong = self.judged(text[0], case.sequence, case.sides, case.counted)
        counts: list[tuple[str, Any]] = []
        for judged in wrong:
            counts += [("reasons", key) for key in reason_keys(judged, choice)]
        listed = list(filter(choice.lists, wrong))
        counts += [("listed", (each.sequence, each.side, each.span.label, each.reason)) for each in listed]
        return CaseErrors(case, listed, counts)

    def judged(
        self, pair: Pair, sequence: str, sides: Sides, counted: Flags, *, also_right: bool = False
    ) -> list[JudgedSpan]:
        """Return the spans of a case that count and are not exactly right: of equal spans of a side the first one.

        With `also_right`, those that are right come, too.
        """
        choice, case = self.choice, Case(sides, counted)
        try:
            if choice.fair is not None:
                judged_spans = _judged_by_fair(case, sequence, choice.fair)
            else:
                if choice.by_levels:
                    require_countable(self._metric, case)
                judged_spans = _judged(case, sequence, choice, also_right)
            found = sorted(judged_spans, key=attrgetter("order"))
        except CluevalError as error:
            document = document_of_error([self._metric], sides, counted, pair)
            error.document, error.file = document.id, error.file or document.file
            raise
        self._held += sum([len(judged_span.others) for judged_span in found])
        return found

    def _count(self) -> None:
        """Count what was found so far, and hold it no longer."""
        for of_case in self._found.values():
            for name, key in of_case.counts:
                self._counts.setdefault(name, Counter())[key] += of_case.times
        self._found.clear()
        self._held = 0

    def end(self, tally: object = None) -> None:
        """Add what was counted to the numbers of a tally, if there is one.

        Raises `UsageError` if the labelled layer never occurred.
        """
        wanted = self.choice.labelled
        for layers in self._layers if wanted is not None else ():
            if wanted not in layers:
                names = ", ".join(layers)
                advice = f"one of {names}" if names else "the documents have no layers"
                raise UsageError(f"there is no layer {wanted!r}", advice=advice)
        self._count()
        for name, numbers in self._counts.items() if tally is not None else ():
            getattr(tally, name).update(numbers)


def _judged(case: Case, sequence: str, choice: Choice, also_right: bool) -> Iterator[JudgedSpan]:
    keys = case.labelled_ranges()
    both = {*keys[0]} & {*keys[1]}
    for side, of_other in enumerate((case.predicted, case.gold)):
        counted_keys = set()
        for number, span in case.counting(side):
            key = keys[side][number]
            if key in counted_keys:
                continue
            counted_keys.add(key)
            if key in both:
                if also_right:
                    same = side, sequence, "exact", RIGHT, False, span.by_layer
                    yield JudgedSpan(*same, span.start, span.end, span, (), ())
                continue
            others = [of_other[index] for index in case.around[side][number]]
            others.sort(key=by_position)
            match = match_in(span, others)
            yield wrong_span(side, sequence, match, others, choice.is_error(match))


def _judged_by_fair(case: Case, sequence: str, fair: Fair) -> Iterator[JudgedSpan]:
    """Yield the errors of metric fair; one with both spans is gold's."""
    for kind, gold, predicted in fair.findings(case):
        span = predicted if gold is None else gold
        assert span is not None  # an error has a span
        others = [] if gold is None or predicted is None else [predicted]
        match = match_in(span, others)
        yield wrong_span(int(gold is None), sequence, match, others, True)._replace(kind=kind)


def wrong_span(side: int, sequence: str, match: Match, others: Sequence[Span], is_error: bool) -> JudgedSpan:
    span = match.span
    places = [(other.label, other.fragments) for other in others]
    reason = reason_of(span.label, span.fragments, places, side)
    kind: str = match.kind
    if kind == "missed":
        kind = "partial" if others else UNMATCHED[SIDES[side]]
    shown, start, end = others, span.start, span.end
    if len(others) > MOST_SHOWN and first_clash(others) is not None:
        shown = others[:MOST_SHOWN]
    if shown:
        start, end = min(start, shown[0].start), max(end, *[other.end for other in shown])
    same = side, sequence, kind, reason, is_error, match.labels
    return JudgedSpan(*same, start, end, span, others, shown)


def reason_of(label: str, fragments: Ranges, others: Iterable[tuple[str, Ranges]], side: int) -> Reason:
    """Return the reason of an error, given the labels and the fragments of the spans that overlap or equal it.

    >>> reason_of("PER", ((0, 2),), [("LOC", ((0, 2),)), ("PER", ((0, 3),))], 0)
    'label'
    >>> reason_of("PER", ((0, 2),), [("LOC", ((0, 1),)), ("PER", ((0, 3),))], 0)
    'boundary'
    """
    equalities = {(other == label, place == fragments) for other, place in others}
    if (False, True) in equalities:
        return "label"
    if (True, False) in equalities:
        return "boundary"
    if equalities == {(False, False)}:
        return "boundary+label"
    return "spurious" if side else "missed"


def match_in(span: Span, others: Sequence[Span]) -> Match:
    """Return the match of a span: where spans overlap or have gaps, by fragments, exact or superset."""
    is_plain = span.parts is None and all(other.parts is None for other in others)
    if is_plain and (len(others) < 2 or first_clash(others) is None):
        return match_of(span, others)
    for other in others:
        if other.fragments == span.fragments:
            return Match(span, "exact", (other,), other.by_layer)
    size = sum(end - start for start, end in span.fragments)
    for other in others:
        if shared_positions(span, other) == size:
            return Match(span, "superset", (other,), other.by_layer)
    return Match(span, "missed")


class ReasonKey(NamedTuple):
    """What wrong spans are counted by. Without a layer the label is that of all layers; `match_label` is the label that
    the other side has in the same range."""

    sequence: str
    layer: str | None
    side: int
    label: str
    reason: str
    match_label: str | None


def reason_keys(wrong: JudgedSpan, choice: Choice) -> Iterator[ReasonKey]:
    """Yield what is counted of a span unless it is right: by its joined label, or by the label of each layer."""
    if wrong.reason == RIGHT:
        return

    def label_of(span: Span | None, layer: str | None) -> str | None:
        return None if span is None else span.label if layer is None else span.by_layer.get(layer)

    span = wrong.span
    equal = next((other for other in wrong.others if other.fragments == span.fragments), None)
    for layer in span.by_layer if choice.by_levels else (None,):
        label, match_label = label_of(span, layer), label_of(equal, layer)
        if label is None or (layer is not None and match_label == label):
            continue
        places = ((label_of(other, layer) or NO_LABEL, other.fragments) for other in wrong.others)
        reason = reason_of(label, span.fragments, places, wrong.side)
        yield ReasonKey(wrong.sequence, layer, wrong.side, label, reason, match_label)


def counted(pairs: Iterable[Pair], choice: Choice, layers: Sequence[str]) -> tuple[dict[str, Any], int, int]:
    """Return the report of the choice's metric by sequence, and the numbers of documents and positions."""
    metric = choice.metric
    plan = Plan((metric,), merge=choice.merge, where=choice.where)
    bag = decided(count(([pair] for pair in pairs), plan, layers)).in_one_place()
    report = {
        sequence: metric.scores(tally, list(bag.layers) if choice.merge else [sequence])
        for _, sequence, _, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    }
    positions = sum(sum(places.values()) for places in bag.positions.values())
    return report, sum(bag.documents.values()), positions
