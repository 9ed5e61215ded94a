"""Decisions about errors: whose they are, gold as it was decided, and the scores with this gold.

The spans of a place are those that its card shows. `predicted` replaces the gold spans that predicted does not have by
the predicted spans that gold does not have; `both` adds these; `none` takes the gold spans away. Other spans, and
places without a decision that holds, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from clueval.core.ranges import Ranges
from clueval.core.span import SIDES, Span
from clueval.findings.choice import Choice, WrongSpan, wrong_spans
from clueval.findings.decisions import BOTH, NONE, UNCLEAR, PlaceDecisions
from clueval.findings.places import ErrorPlace, places_of_document
from clueval.spans.document import Document
from clueval.spans.flat import by_position, keys_of

_Key = tuple[int, int, str, Ranges | None]

WHOSE = {
    "gold": "the system's (gold is right)",
    "predicted": "gold's (the prediction is right)",
    BOTH: "gold's (both are right)",
    NONE: "of both (neither is right)",
    UNCLEAR: "unclear",
    "": "not decided",
}
"""Whose the errors of a place are, by its choice."""


def decided_places(
    gold: Document, predicted: Document, choice: Choice, decisions: PlaceDecisions
) -> Iterator[tuple[ErrorPlace, list[WrongSpan], str]]:
    """Yield the places of errors of a document, each with its wrong spans and the choice that holds, or nothing."""
    for place, wrong in _places(gold, predicted, choice):
        yield place, wrong, decisions.at(*place.in_decisions).holds
    if choice != choice.of_all:
        for place, _ in _places(gold, predicted, choice.of_all):
            decisions.leave_out(*place.in_decisions)


def _places(
    gold: Document, predicted: Document, choice: Choice
) -> Iterator[tuple[ErrorPlace, list[WrongSpan]]]:
    found = wrong_spans(gold, predicted, choice, False)
    rest = iter([wrong for _, wrong in found])
    for place in places_of_document(rows.row(each.span, each.sequence, each.judged) for rows, each in found):
        yield place, list(islice(rest, len(place.findings)))


def as_decided(gold: Document, predicted: Document, decisions: PlaceDecisions) -> tuple[Document, Document]:
    """Return both documents with the spans that were chosen at each place with a choice that holds."""
    sides = {"gold": dict(gold.layers), "predicted": dict(predicted.layers)}
    for _, wrong, choice in decided_places(gold, predicted, Choice(), decisions):
        if choice not in ("", UNCLEAR):
            changed = [
                _changed(side, sides[side], other.layers, wrong, choice)
                for side, other in zip(SIDES, (predicted, gold), strict=True)
            ]
            for side, layers in zip(SIDES, changed, strict=True):
                sides[side] |= layers
    return replace(gold, layers=sides["gold"], tags={}), replace(
        predicted, layers=sides["predicted"], tags={}
    )


def _changed(
    side: str,
    layers: Mapping[str, Sequence[Span]],
    other_layers: Mapping[str, Sequence[Span]],
    wrong: Iterable[WrongSpan],
    choice: str,
) -> dict[str, list[Span]]:
    """Return the layers of a side that a choice changes, with their spans by position."""
    other_side = SIDES[side == "gold"]
    shown: dict[str, dict[str, dict[_Key, Span]]] = {}
    for each in wrong:
        other = SIDES[each.side == "gold"]
        sides = shown.setdefault(each.sequence, {side: {} for side in SIDES})
        sides[each.side].update(zip(keys_of([each.span]), [each.span], strict=True))
        sides[other].update(zip(keys_of(each.judged.shown), each.judged.shown, strict=True))
    changed = {}
    for layer, sides in shown.items():
        spans = layers.get(layer, ())
        known, others = set(keys_of(spans)), set(keys_of(other_layers.get(layer, ())))
        kept = [
            span
            for span, key in zip(spans, keys_of(spans), strict=True)
            if choice in (BOTH, side) or key not in sides[side] or key in others
        ]
        if choice in (BOTH, other_side):
            new = ((key, span) for key, span in sides[other_side].items() if key not in known)
            kept += [Span(span.start, span.end, span.labels, parts=span.parts) for _, span in new]
        if {*keys_of(kept)} != known:
            changed[layer] = sorted(kept, key=by_position)
    return changed
