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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from clueval.core.case import Case, Sides
from clueval.core.count import Plan, count, decided, sequences_of
from clueval.core.document import Pair, metadata_with_id
from clueval.core.exact import Exact
from clueval.core.levels import KINDS, LEVELS, UNMATCHED, Levels, Match, match_of
from clueval.core.located import EqualCases, Located, document_of_error, located
from clueval.core.metric import Metric, require_countable
from clueval.core.overlap import first_clash, shared_positions
from clueval.core.span import MERGED, NO_LABEL, NOTHING, SIDES, Labels, Ranges, Span, by_position
from clueval.files.errors import CluevalError, UsageError
from clueval.files.options import require_types
from clueval.metrics.fair import Fair
from clueval.reports.language import phrase

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


class Search:
    """Finds the errors of a choice in one text after the other; `end` checks the choice."""

    def __init__(self, choice: Choice, layers: Sequence[str] = (), *, also_right: bool = False) -> None:
        self.choice, self._metric, self._also_right = choice, choice.metric, also_right
        self._plan = Plan((), merge=choice.merge, where=choice.where)
        self._layers = dict.fromkeys(layers)
        self._judgements: dict[tuple[object, ...], list[_Judgement]] = {}  # by all that they depend on
        self._held = 0

    def cases(self, pair: Pair, equal: list[EqualCases] | None = None) -> Iterator[Located]:
        """Return the cases of a pair; none if the filter leaves out its document.

        Those of two equal spans are put into `equal`, if that is given, and left out.
        """
        self._layers.update(dict.fromkeys(name for side in pair.sides for name in side.layers))
        names = list(self._layers)
        metadata = metadata_with_id(pair.first)
        if not self._plan.takes(metadata, names):
            return iter(())
        where = self._plan.on_spans(metadata, names)
        reads = self._metric.reads
        return located(pair.sides, names, merge=self._plan.merge, where=where, reads=reads, equal=equal)

    @property
    def sequences(self) -> list[str]:
        """The sequences so far: the layers, or all of them merged."""
        return [MERGED] if self.choice.merge else list(self._layers)

    def wrong(self, pair: Pair) -> list[JudgedSpan]:
        """Return the spans of a pair that are not exactly right, by their ranges, then gold first."""
        spans = [span for case in self.cases(pair, []) for span in self.judged(pair, case)]
        return sorted(spans, key=text_order)

    def judged(self, pair: Pair, located_case: Located) -> list[JudgedSpan]:
        """Return the spans of a case that count and are not exactly right: of equal spans of a side the first one.

        With `also_right`, those that are right come, too. Costs what `Case.around` costs, for equal cases once.
        """
        sequence, first, sides, counted = located_case
        key = sequence, counted, *[tuple([_key(span, first) for span in spans or ()]) for spans in sides]
        judgements = self._judgements.get(key)
        if judgements is None:
            if self._held > MOST_HELD:
                self._judgements.clear()
                self._held = 0
            try:
                judgements = _judgements(self._judged_case(Case(sides, counted), sequence), first, sides)
            except CluevalError as error:
                document = document_of_error([self._metric], located_case, pair)
                error.document, error.file = document.id, error.file or document.file
                raise
            self._judgements[key] = judgements
            self._held += sum([len(spans or ()) for spans in sides])
            self._held += sum([len(judgement.others) for judgement in judgements])
        return [judgement.at(first, sides) for judgement in judgements]

    def _judged_case(self, case: Case, sequence: str) -> Iterable[JudgedSpan]:
        choice = self.choice
        if choice.fair is not None:
            return _judged_by_fair(case, sequence, choice.fair)
        if choice.by_levels:
            require_countable(self._metric, case)
        return _judged(case, sequence, choice, self._also_right)

    def end(self) -> None:
        """Raise `UsageError` if the labelled layer never occurred."""
        wanted = self.choice.labelled
        if wanted is not None and wanted not in self._layers:
            names = ", ".join(self._layers)
            advice = f"one of {names}" if names else "the documents have no layers"
            raise UsageError(f"there is no layer {wanted!r}", advice=advice)


def _key(span: Span, first: int) -> tuple[object, ...]:
    """Return what a judgement depends on of a span, from the first position of its case."""
    tokens = span.tokens and (first, span.tokens)
    return span.start - first, span.end - first, span.parts, tokens, *span.by_layer.items()


class _Judgement(NamedTuple):
    """A judged span of a case, wherever the case stands: spans are their numbers in their sides."""

    of_case: tuple[int, str, str, str, bool, Labels]  # the fields of `JudgedSpan` up to `found`
    start: int
    end: int
    span: int
    others: Sequence[int]
    shown: int

    def at(self, first: int, sides: Sides) -> JudgedSpan:
        """Return the judged span of an equal case with this first position."""
        of_case, start, end, number, numbers, shown = self
        own, of_other = sides[of_case[0]] or (), sides[1 - of_case[0]] or ()
        others = [of_other[n] for n in numbers]
        return JudgedSpan(*of_case, first + start, first + end, own[number], others, others[:shown])


def _judgements(judged_spans: Iterable[JudgedSpan], first: int, sides: Sides) -> list[_Judgement]:
    numbers = [{id(span): number for number, span in enumerate(spans or ())} for spans in sides]
    return [
        _Judgement(
            judged[:6],
            judged.start - first,
            judged.end - first,
            numbers[judged.side][id(judged.span)],
            [numbers[1 - judged.side][id(other)] for other in judged.others],
            len(judged.shown),
        )
        for judged in judged_spans
    ]


def text_order(judged_span: JudgedSpan) -> tuple[int, int, int, int, int]:
    """The order of wrong spans in a text."""
    return judged_span.start, judged_span.end, judged_span.span.start, judged_span.span.end, judged_span.side


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
            if span.start == span.end:
                others += [other for other in of_other if other.start == other.end == span.start]
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
