"""What a masking report lists, as values of JSON that processes send to each other, and back.

The functions raise `NotPlain`, a `ValueError`, for what cannot be such a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import astuple, fields
from operator import attrgetter
from typing import Any

from clueval.evaluation.parallel.plain_values import a_list, flag, text, whole
from clueval.metrics.masking.flags import Range
from clueval.studies.masking.excerpt import Excerpt
from clueval.studies.masking.leak import Inconsistent, Leak, Sibling, StringLeak

_values_of_leak: Callable[[Leak], tuple[Any, ...]] = attrgetter(*(each.name for each in fields(Leak)))
_values_of_string: Callable[[StringLeak], tuple[Any, ...]] = attrgetter(
    *(each.name for each in fields(StringLeak))
)


def written(leaks: Iterable[Leak]) -> list[Any]:
    """Return leaks as nested sequences, which `leak_of` reads."""
    return [(*_values_of_leak(leak)[:-1], list(map(astuple, leak.siblings))) for leak in leaks]


def written_strings(leaks: Iterable[StringLeak]) -> list[Any]:
    """Return string leaks as nested sequences, which `string_leak_of` reads."""
    return list(map(_values_of_string, leaks))


def leak_of(value: object) -> Leak:
    """Return the leak that was written."""
    document, annotator, start, end, kind, status, exposed, *numbers, label, shown, excerpt, siblings = (
        a_list(value, "a leak", 16)
    )
    mentions, protected, same, same_protected, characters = (whole(each, "a number") for each in numbers)
    return Leak(
        text(document, "a document"),
        text(annotator, "an annotator"),
        *_range([start, end]),
        text(kind, "a class"),
        text(status, "a status"),
        _ranges(exposed),
        mentions,
        protected,
        same,
        same_protected,
        characters,
        text(label, "a label"),
        text(shown, "a text"),
        _excerpt(excerpt),
        tuple(map(_sibling, a_list(siblings, "the other mentions"))),
    )


def string_leak_of(value: object) -> StringLeak:
    """Return the string leak that was written."""
    document, start, end, shown, excerpt = a_list(value, "a string leak", 5)
    return StringLeak(
        text(document, "a document"), *_range([start, end]), text(shown, "a text"), _excerpt(excerpt)
    )


def replaced_of(value: object) -> Inconsistent:
    """Return the entity with several replacements that was written."""
    document, start, shown, replacements = a_list(value, "an entity", 4)
    names = tuple(text(each, "a replacement") for each in a_list(replacements, "replacements"))
    return Inconsistent(
        text(document, "a document"), whole(start, "a position"), text(shown, "a text"), names
    )


def number_of_text(value: object) -> tuple[str, int]:
    """Return a text and how often it occurs."""
    shown, number = a_list(value, "a text and its number", 2)
    return text(shown, "a text"), whole(number, "a number")


def _range(value: object) -> Range:
    start, end = (whole(place, "a position") for place in a_list(value, "a range", 2))
    return start, end


def _ranges(value: object) -> tuple[Range, ...]:
    return tuple(map(_range, a_list(value, "ranges")))


def _excerpt(value: object) -> Excerpt:
    windows, masked, exposed, goes_on = a_list(value, "an excerpt", 4)
    return Excerpt(
        tuple(map(_window, a_list(windows, "the windows"))),
        list(_ranges(masked)),
        list(_ranges(exposed)),
        flag(goes_on, "a mark"),
    )


def _window(value: object) -> tuple[int, str]:
    start, shown = a_list(value, "a window", 2)
    return whole(start, "a position"), text(shown, "a text")


def _sibling(value: object) -> Sibling:
    start, end, status, excerpt = a_list(value, "another mention", 4)
    return Sibling(*_range([start, end]), text(status, "a status"), _excerpt(excerpt))
