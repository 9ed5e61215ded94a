"""What a masking report lists, as values of JSON that processes send to each other, and back.

The functions raise `NotPlain`, a `ValueError`, for what cannot be such a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from clueval.evaluation.parallel.plain_values import a_list, flag, text, whole
from clueval.metrics.masking.flags import Range
from clueval.studies.masking.leak import Leak, ShownPiece, Sibling, StringLeak


def written(leaks: Sequence[Leak | StringLeak]) -> list[Any]:
    """Return leaks as nested sequences, which `leak_of` and `string_leak_of` read."""
    return [astuple(leak) for leak in leaks]


def leak_of(value: object) -> Leak:
    """Return the leak that was written."""
    document, annotator, start, end, kind, status, exposed, *numbers, label, shown, context, siblings = (
        a_list(value, "a leak", 16)
    )
    mentions, protected, same, same_protected, characters = (whole(each, "a number") for each in numbers)
    return Leak(
        text(document, "a document"),
        text(annotator, "an annotator"),
        *_range([start, end]),
        text(kind, "a class"),
        text(status, "a status"),
        tuple(map(_range, a_list(exposed, "the exposed ranges"))),
        mentions,
        protected,
        same,
        same_protected,
        characters,
        text(label, "a label"),
        text(shown, "a text"),
        _context(context),
        tuple(map(_sibling, a_list(siblings, "the other mentions"))),
    )


def string_leak_of(value: object) -> StringLeak:
    """Return the string leak that was written."""
    document, start, end, shown, context = a_list(value, "a string leak", 5)
    return StringLeak(
        text(document, "a document"), *_range([start, end]), text(shown, "a text"), _context(context)
    )


def number_of_text(value: object) -> tuple[str, int]:
    """Return a text and how often it occurs."""
    shown, number = a_list(value, "a text and its number", 2)
    return text(shown, "a text"), whole(number, "a number")


def _range(value: object) -> Range:
    start, end = (whole(place, "a position") for place in a_list(value, "a range", 2))
    return start, end


def _context(value: object) -> tuple[ShownPiece, ...]:
    pieces = (a_list(piece, "a piece", 3) for piece in a_list(value, "a context"))
    return tuple(
        ShownPiece(text(shown, "a text"), text(style, "a style"), flag(is_own, "a mark"))
        for shown, style, is_own in pieces
    )


def _sibling(value: object) -> Sibling:
    start, end, status, context = a_list(value, "another mention", 4)
    return Sibling(*_range([start, end]), text(status, "a status"), _context(context))
