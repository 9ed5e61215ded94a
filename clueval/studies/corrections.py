"""Gold as it was decided: the spans of places where a choice holds, and whose the errors are.

The spans of a place are those that its card shows. `predicted` replaces the gold spans that predicted does not have by
the predicted spans that gold does not have; `both` adds these; `none` takes the gold spans away. Other spans, and
places without a decision that holds, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import Pair
from clueval.core.overlap import first_clash
from clueval.core.span import SIDES, Ranges, Span, by_position
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Rate, Table
from clueval.studies.decisions import BOTH, NONE, UNCLEAR
from clueval.studies.errors_view import entries_of
from clueval.studies.wrong import Choice, JudgedSpan

Decided = Iterable[tuple[Sequence[JudgedSpan], str]]
"""The errors of each place, and the choice that holds there, or nothing."""


def corrected(pair: Pair, decided: Decided, *, flat: bool) -> Pair:
    """Return a pair whose gold has the spans that were chosen, in the order of the places.

    With `flat`, a choice that would make spans of a layer overlap is not applied.
    """
    layers: dict[str, Sequence[Span]] = dict(pair.gold.layers)
    for wrong, choice in decided:
        if choice in ("predicted", BOTH, NONE):
            changed = changed_layers(0, layers, pair.predicted.layers, wrong, choice)
            if all(layer in layers for layer in changed) and not (flat and _would_overlap(layers, changed)):
                layers |= changed
    return replace(pair, gold=replace(pair.gold, layers=layers, tags={}))


def _would_overlap(layers: Mapping[str, Sequence[Span]], changed: Mapping[str, Sequence[Span]]) -> bool:
    return any(
        first_clash(spans) is not None and first_clash(layers[layer]) is None
        for layer, spans in changed.items()
    )


def changed_layers(
    side: int,
    layers: Mapping[str, Sequence[Span]],
    other_layers: Mapping[str, Sequence[Span]],
    wrong: Iterable[JudgedSpan],
    choice: str,
) -> dict[str, list[Span]]:
    """Return the layers of a side that a choice changes, with their spans by position."""
    shown: dict[str, list[dict[_Key, Span]]] = {}
    for judged in wrong:
        sides = shown.setdefault(judged.sequence, [{}, {}])
        sides[judged.side][_key(judged.span)] = judged.span
        sides[1 - judged.side].update((_key(span), span) for span in judged.shown)
    changed = {}
    for layer, sides in shown.items():
        spans = layers.get(layer, ())
        keys, other_keys = {*map(_key, spans)}, {*map(_key, other_layers.get(layer, ()))}
        kept = [
            span
            for span in spans
            if choice in (BOTH, SIDES[side]) or _key(span) not in sides[side] or _key(span) in other_keys
        ]
        if choice in (BOTH, SIDES[1 - side]):
            new = (span for key, span in sides[1 - side].items() if key not in keys)
            kept += [Span(span.start, span.end, span.labels, parts=span.parts) for span in new]
        if {*map(_key, kept)} != keys:
            changed[layer] = sorted(kept, key=by_position)
    return changed


_Key = tuple[int, int, str, Ranges | None]


def _key(span: Span) -> _Key:
    return span.start, span.end, span.label, span.parts


def tables_of(
    errors: Mapping[str, int], before: Mapping[str, Any], after: Mapping[str, Any], choice: Choice
) -> Iterator[Table]:
    """Yield whose the errors are, given their number by choice, and the scores as they are and with gold corrected."""
    owners = {
        "gold": phrase("the system's (gold is right)"),
        "predicted": phrase("gold's (the prediction is right)"),
        BOTH: phrase("gold's (both are right)"),
        NONE: phrase("of both (neither is right)"),
        UNCLEAR: phrase("unclear"),
        "": phrase("not decided"),
    }
    rows: list[list[Cell]] = [[words, errors.get(choice, 0)] for choice, words in owners.items()]
    yield Table(phrase("whose the errors are"), ["", phrase("errors")], rows)
    corrected_entries = {entry.title: entry for entry in entries_of(after, choice)}
    for entry in entries_of(before, choice):
        both = {
            phrase("gold as it is"): entry,
            phrase("gold corrected"): corrected_entries.get(entry.title, entry),
        }
        if entry.is_chosen:
            yield Table(
                phrase("{title}, with gold corrected", title=entry.title),
                ["", "P", "R", "F1", phrase("gold")],
                [
                    [
                        name,
                        *(Rate(version.micro[rate]) for rate in ("precision", "recall", "f1")),
                        version.micro["gold"],
                    ]
                    for name, version in both.items()
                ],
            )
