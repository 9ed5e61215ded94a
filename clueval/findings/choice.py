"""The selection of the errors to report, and the findings of two documents.

By default a span is an error if the other side has no span with the same start, end and label: the false negatives
(gold side) and false positives (predicted side) of metric ``exact``, which counts equal spans of one side once. A
choice of a level, of a labelled layer or of unlabelled spans makes them those of metric ``levels``: at level n a span
is an error if its class is above n. With a *labelled* layer it is also an error if the joined label of its match is
not its own; spans without a label in that layer are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

from clueval.arguments import require_instance, require_kind
from clueval.core.span import MERGED, NO_LABEL, Span
from clueval.files.errors import OverlapError, UsageError
from clueval.findings.table import (
    FINDING_KINDS,
    REASONS,
    ErrorMatch,
    ErrorRows,
    Finding,
    Reason,
    SideName,
    reason_of,
)
from clueval.first.metrics.match_counts import refuse_gaps
from clueval.first.metrics.tables import LEVEL_NAMES
from clueval.options import field_names, require_types
from clueval.reports.language import phrase
from clueval.spans.document import Document
from clueval.spans.filters import Filter, parse_where
from clueval.spans.flat import Flat, by_position, keys_of, name_file
from clueval.spans.making import making_many
from clueval.spans.match_classes import KINDS, LEVELS, UNMATCHED
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import with_merged

SIDES: tuple[SideName, SideName] = ("gold", "predicted")

_ALL = Filter()

_OBJECTS = 20
"""The number of objects that a finding with its context consists of, approximately."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Selects the errors to report.

    By default, a span is correct if the other side has one with the same start, end and label, as in metric ``exact``.
    `level`, `labelled` and `unlabelled` choose the levels of CLUEval instead: matches up to `level` (1 to 4; 2, if it
    is None) are correct; with `labelled`, the name of a layer, only if the label in this layer is correct, too.
    `sides`, `kinds` and `reasons` select sides, classes and reasons (empty: all). `merge` merges all layers into one
    sequence. `where` selects the spans that are counted (see `clueval.spans.filters`). `window` is the width of the
    context in positions (None: the sentence).

    Raises `UsageError` for a level, side, class or reason that does not exist, for a class or reason that no error of
    the choice can have, and for a negative window.
    """

    level: int | None = None
    labelled: str | None = None
    sides: tuple[str, ...] = SIDES
    kinds: frozenset[str] = frozenset()
    merge: bool = False
    where: Filter = _ALL
    window: int | None = None
    unlabelled: bool = False
    reasons: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        require_types(self)
        require_instance(self.where, Filter, "where")
        if self.level is not None and self.level not in LEVELS:
            raise UsageError(f"there is no level {self.level!r}", advice="1, 2, 3 or 4")
        if self.unlabelled and self.labelled is not None:
            raise UsageError("errors are labelled or unlabelled, not both", advice="leave one out")
        for side in self.sides:
            if side not in SIDES:
                raise UsageError(f"there is no side {side!r}", advice="gold or predicted")
        self._require_names("class", self.kinds, FINDING_KINDS)
        self._require_names("reason", self.reasons, REASONS)
        if self.window is not None and self.window < 0:
            raise UsageError(f"the window cannot be {self.window} positions", advice="a number from 0 on")

    def _require_names(self, what: str, names: Iterable[str], known: Sequence[str]) -> None:
        """Raise `UsageError` for a class or reason that does not exist, or that no error of the choice can have."""
        correct: Sequence[str] = ()
        if self.by_levels and self.labelled is None:
            correct = KINDS[: self.at_level] if what == "class" else REASONS[:1]
        for name in sorted(names):
            if name not in known:
                raise UsageError(f"there is no {what} {name!r}", advice=f"one of {', '.join(known)}")
            for side, other in zip(SIDES, reversed(SIDES), strict=True):
                if name == UNMATCHED[side] and side not in self.sides:
                    raise UsageError(
                        f"no {other} span is {name}", advice=f"{UNMATCHED[other]}, or also the {side} side"
                    )
            if name in correct:
                raise UsageError(
                    f"no error at level {self.at_level} has the {what} {name!r} without labels",
                    advice="choose a labelled layer, or no level",
                )

    @property
    def of_all(self) -> Choice:
        """The choice without its filters of sides, classes and reasons."""
        return replace(self, sides=SIDES, kinds=frozenset(), reasons=frozenset())

    def lists(self, finding: Finding) -> bool:
        """Return whether these filters let a finding through."""
        return (
            (finding.side or "gold") in self.sides
            and (not self.kinds or finding.kind in self.kinds)
            and (not self.reasons or finding.reason in self.reasons)
        )

    @property
    def by_levels(self) -> bool:
        """Whether errors are those of metric ``levels``; otherwise they are those of metric ``exact``."""
        return self.unlabelled or self.level is not None or self.labelled is not None

    @property
    def at_level(self) -> int:
        """The level up to which matches are correct."""
        return 2 if self.level is None else self.level

    @property
    def matched(self) -> tuple[str, ...]:
        """The classes of spans that are matched; errors of these classes have a wrong label."""
        return KINDS[: self.at_level if self.by_levels else 1]

    def is_error(self, match: Match) -> bool:
        """Return whether a span with this match is an error of metric ``levels``."""
        good = match.kind in self.matched
        if self.labelled is None:
            return not good
        label = match.span.by_layer.get(self.labelled)
        return label is not None and not (good and match.labels.get(self.labelled) == label)

    def require_layer(self, layers: Iterable[str]) -> None:
        """Raise `UsageError` if the labelled layer is none of `layers`."""
        names = list(layers)
        if self.labelled is not None and self.labelled not in names:
            known = f"one of {', '.join(names)}" if names else "the documents have no layers"
            raise UsageError(f"there is no layer {self.labelled!r}", advice=known)


def choice_with(choice: Choice | None, options: Mapping[str, Any]) -> Choice:
    """Return the choice with those options that are fields of it; a filter, sides and classes may be plain values."""
    if choice is not None:
        require_instance(choice, Choice, "choice")
    given = {name: options[name] for name in field_names(Choice) if name in options}
    if "where" in given and not isinstance(given["where"], Filter):
        given["where"] = parse_where(given["where"])
    for name, kind in (("sides", tuple), ("kinds", frozenset), ("reasons", frozenset)):
        if name in given:
            require_kind(given[name], "str | Iterable", name)
            given[name] = kind([given[name]] if isinstance(given[name], str) else given[name])
    return replace(choice or Choice(), **given)


ReasonKey = tuple[str, str | None, str, str, Reason, str | None]
"""Sequence, layer (None: all labels joined), side, label, reason, and, if this is ``label``, the label found."""


def findings(
    gold: Document,
    predicted: Document,
    choice: Choice | None = None,
    counts: Counter[ReasonKey] | None = None,
) -> Iterator[Finding]:
    """Return the findings of two documents of the same text, in text order (see `clueval.findings.places`).

    `counts` gets the number of spans that are not exactly right, whichever of them the choice selects. Holds all
    findings of the documents. Raises `OverlapError` if the choice is by levels and spans of a sequence overlap.
    """
    spans = sum(len(spans) for document in (gold, predicted) for spans in document.layers.values())
    with making_many(_OBJECTS * spans):
        wrong = wrong_spans(gold, predicted, choice or Choice(), counts is not None)
        if counts is not None:
            counts.update(key for _, each in wrong for key in each.counted)
        found = [rows.row(each.span, each.sequence, each.judged) for rows, each in wrong if each.is_listed]
    return iter(found)


class WrongSpan(NamedTuple):
    """A span whose equal the other side does not have, and what it is matched with.

    `counted` are the keys by which it counts; `is_listed`: it is an error that the choice selects.
    """

    side: SideName
    sequence: str
    span: Span
    judged: ErrorMatch
    counted: Sequence[ReasonKey]
    is_listed: bool


def wrong_spans(
    gold: Document, predicted: Document, choice: Choice, counts: bool
) -> list[tuple[ErrorRows, WrongSpan]]:
    """Return the wrong spans of two documents in the order of their rows, each with what makes its row.

    With `counts`, there are also spans that are not listed.
    """
    layers = list(dict.fromkeys([*gold.layers, *predicted.layers]))
    found = []
    for spans in compared(gold, predicted, layers, choice):
        sequence, side = spans.sequence, spans.side
        is_chosen = side in choice.sides
        if not is_chosen and not counts:
            continue
        rows = ErrorRows(spans.own, spans.other, side, choice.window)
        for each in spans.counted():
            if each.is_right:
                continue
            judged = rows.judged(each.span, rows.others(each.span, sequence), each.match)
            is_listed = (
                each.is_error
                and is_chosen
                and (not choice.reasons or judged.reason in choice.reasons)
                and (not choice.kinds or judged.kind in choice.kinds)
            )
            keys = list(_reasons(each, judged, sequence, side, choice)) if counts else ()
            if is_listed or keys:
                found.append((rows, WrongSpan(side, sequence, each.span, judged, keys, is_listed)))
    return sorted(found, key=_order)


def _order(of_rows: tuple[ErrorRows, WrongSpan]) -> tuple[int, int, int, int, bool]:
    """What `clueval.findings.places.in_text_order` sorts the row of a span by."""
    wrong = of_rows[1]
    span, others = wrong.span, wrong.judged.shown
    least = min([span.start, *[other.start for other in others]])
    greatest = max([span.end, *[other.end for other in others]])
    return least, greatest, span.start, span.end, wrong.side == "predicted"


def _reasons(
    each: CountedSpan, judged: ErrorMatch, sequence: str, side: SideName, choice: Choice
) -> Iterator[ReasonKey]:
    """Yield what is counted of a span that is not exactly right: by its joined label, or by the label of each layer."""
    span, match = each.span, judged.match
    for layer in span.by_layer if choice.by_levels else (None,):
        label = label_of(span, layer)
        found = label_of(match.partners[0], layer) if match.kind == "exact" else None
        if label is None or (layer is not None and found == label):
            continue
        places = ((label_of(other, layer) or NO_LABEL, other.fragments) for other in judged.others)
        reason = reason_of(label, span.fragments, places, side)
        yield sequence, layer, side, label, reason, found


def label_of(span: Span, layer: str | None) -> str | None:
    """Return the label of a span in a layer, or, without a layer, its joined label."""
    return span.label if layer is None else span.by_layer.get(layer)


class CountedSpan(NamedTuple):
    """A span that is counted. `match` is known if the choice is by levels; `is_right`: the other side has its equal."""

    span: Span
    match: Match | None
    is_right: bool
    is_error: bool


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The spans of one side in one sequence of two documents, which are compared with those of the other side."""

    sequence: str
    side: SideName
    own: Document
    other: Document
    are_counted: Callable[[Sequence[Span]], Iterable[bool]]
    choice: Choice

    def counted(self) -> Iterator[CountedSpan]:
        """Yield the spans that are counted, by position; O(n log n)."""
        spans, others = (each.layers.get(self.sequence, ()) for each in (self.own, self.other))
        spans, right = sorted(spans, key=by_position), set(keys_of(others))
        each_counts = zip(spans, keys_of(spans), self.are_counted(spans), strict=False)
        if self.choice.by_levels:
            for match, (span, key, counts) in zip(self._matches(spans, others), each_counts, strict=True):
                if counts:
                    yield CountedSpan(span, match, key in right, self.choice.is_error(match))
            return
        seen = set()
        for span, key, counts in each_counts:
            if counts and key not in seen:  # equal spans of one side count once
                seen.add(key)
                yield CountedSpan(span, None, key in right, key not in right)

    def _matches(self, spans: Sequence[Span], others: Sequence[Span]) -> list[Match]:
        own, other = self.own, self.other
        for of_side, document in ((spans, own), (others, other)):
            refuse_gaps("metric 'levels'", of_side, document)
        try:
            return match_spans(Flat.of(spans, own.id), Flat.of(others, own.id))
        except OverlapError as error:
            name_file(error, (spans, own.file), (others, other.file))
            raise


def compared(
    gold: Document, predicted: Document, layers: Sequence[str], choice: Choice
) -> Iterator[ComparedSide]:
    """Yield what is compared in two documents, given the names of all layers: each sequence, first of gold."""
    if not choice.where.on_documents(layers).lets_through(gold.id, gold.metadata):
        return
    documents = {"gold": gold, "predicted": predicted}
    sources = {side: with_merged(each, layers) if choice.merge else each for side, each in documents.items()}
    spans_filter = choice.where.on_layers(layers)
    for sequence in [MERGED] if choice.merge else layers:
        for side, opposite in zip(SIDES, reversed(SIDES), strict=True):
            counted = partial(spans_filter.counted, document=documents[side]) if spans_filter else _all
            yield ComparedSide(sequence, side, sources[side], sources[opposite], counted, choice)


def _all(_: Sequence[Span]) -> Iterable[bool]:
    return repeat(True)


def metrics_of(choice: Choice) -> list[Any]:
    """Return the metrics that count the errors of a choice, and that the page of errors shows."""
    if not choice.by_levels:
        return ["exact"]
    from clueval.first.metrics.confusion import Confusion

    return ["levels", Confusion()]


def reports_of(metrics: Mapping[str, Any], choice: Choice) -> Mapping[str, Any]:
    """Return the report on each sequence of the metric whose errors the choice selects, if it was counted."""
    found: Mapping[str, Any] = metrics.get("levels" if choice.by_levels else "exact", {})
    return found


def expected(report: Mapping[str, Any], choice: Choice) -> dict[str, int]:
    """Return the number of errors of each side according to a report of `reports_of`.

    The report must have the same filter. Classes, reasons and sides that `choice` excludes are counted too.
    """
    counts = counts_of(report, choice)
    return {"gold": int(counts["fn"]), "predicted": int(counts["fp"])} if counts else dict.fromkeys(SIDES, 0)


def counts_of(report: Mapping[str, Any], choice: Choice) -> Mapping[str, Any]:
    """Return the part of a report of `reports_of` that counts the errors; empty without the labelled layer."""
    level = str(choice.at_level)
    found: Mapping[str, Any] = {}
    if not choice.by_levels:
        found = report["micro"]
    elif choice.labelled is None:
        found = report["unlabelled"][level]
    elif choice.labelled in report["labelled"]:
        found = report["labelled"][choice.labelled][level]["micro"]
    return found


def in_words(choice: Choice) -> str:
    """Return a description of the choice."""
    level = {"level": choice.at_level, "name": phrase(LEVEL_NAMES[str(choice.at_level)].lstrip("1234 +"))}
    listed = phrase("spans that are not exactly right, label included, as metric exact counts")
    if choice.labelled is not None:
        listed = phrase(
            "errors at level {level} ({name}), including wrong labels of {layer}",
            layer=choice.labelled,
            **level,
        )
    elif choice.by_levels:
        listed = phrase("errors above level {level} ({name}), whatever the labels", **level)
    parts = [listed]
    if len(choice.sides) == 1:
        parts.append(phrase("{side} side only", side=phrase(choice.sides[0])))
    for known, chosen in ((FINDING_KINDS, choice.kinds), (REASONS, choice.reasons)):
        if chosen:
            names = ", ".join(phrase(name) for name in known if name in chosen)
            parts.append(phrase("only {names}", names=names))
    if choice.where:
        parts.append(phrase("where {conditions}", conditions=choice.where))
    return " · ".join(parts)
