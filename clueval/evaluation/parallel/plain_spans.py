"""Predicted spans without a place on the gold text, as plain data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clueval.evaluation.parallel.expected import Expected
from clueval.evaluation.parallel.plain_values import PLAIN, NotPlain, a_list, an_object, text, whole
from clueval.evaluation.unprojected import Unprojected
from clueval.exceptions import CluevalError
from clueval.spans.span import Span


def written_unprojected(unprojected: Iterable[Unprojected]) -> list[list[Any]]:
    """Spans as plain data. Raises `NotPlain` for features that are not plain."""
    return [[each.document, _written_span(each.span)] for each in unprojected]


def _written_span(span: Span) -> list[Any]:
    features = {name: _written_feature(value) for name, value in span.features.items()}
    tokens = None if span.tokens is None else sorted(span.tokens)
    return [span.start, span.end, dict(span.by_layer), features, tokens, span.id, span.line]


def _written_feature(value: object) -> object:
    if type(value) is list:
        return [_written_feature(each) for each in value]
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: _written_feature(each) for name, each in value.items()}
    if type(value) in PLAIN:
        return value
    raise NotPlain("a feature of a span without a place is not plain")


def read_unprojected(value: object, expected: Expected) -> list[Unprojected]:
    """The spans from plain data. Raises `NotPlain` for other values."""
    found = []
    for each in a_list(value, "unprojected"):
        document, span = a_list(each, "a span without a place", 2)
        found.append(Unprojected(text(document, "a document"), _read_span(span, expected)))
    if found and not expected.plan.lists_unplaced:
        raise NotPlain("there are spans without a place, although texts were not aligned")
    return found


def _read_span(value: object, expected: Expected) -> Span:
    start, end, labels, features, tokens, identity, line = a_list(value, "a span", 7)
    for label in an_object(labels, None, "the labels of a span").values():
        if label is not None:
            text(label, "a label")
    positions = None if tokens is None else frozenset(_wholes(tokens))
    if identity is not None and type(identity) not in (str, int):
        raise NotPlain("the id of a span is neither a string nor a number")
    try:
        return Span(
            expected.whole(start, "the start of a span"),
            expected.whole(end, "the end of a span"),
            labels,
            an_object(features, None, "the features of a span"),
            positions,
            identity,
            None if line is None else whole(line, "the line of a span"),
        )
    except CluevalError:
        raise NotPlain("a span ends before it starts") from None


def _wholes(value: object) -> Iterable[int]:
    return (whole(each, "a position") for each in a_list(value, "the positions of a span"))
