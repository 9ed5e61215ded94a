"""When a target and a response are equal: the test of their types and the test of their features.

Where they stand plays no part here. Two values are equal only if they are of one kind: a truth value, a whole
number, a number with a fraction, a string, a list. 1 is not 1.0 and not "1", as in Java, where GATE's features
live; compared as strings they are what Java's ``toString`` makes of them. None is a feature that is not there.

Source: GATE's plugin Evaluation (``gateplugin-Evaluation``), feature comparison and type specifications.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.exceptions import UsageError
from clueval.spans.span import Span

COMPARISONS = ("equality", "string", "subsumption")
"""How features are compared; see `FeatureTest`."""


def java_double(number: float) -> str:
    """A number as Java's ``Double.toString`` writes it, with the fewest digits that tell it from others.

    >>> java_double(1.0), java_double(12345678.0), java_double(0.0005), java_double(-math.inf)
    ('1.0', '1.2345678E7', '5.0E-4', '-Infinity')
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if number == 0:
        return f"{sign}0.0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)  # the decimal point stands before this digit
    text = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(text)
    text = text.rstrip("0")
    if 1e-3 <= abs(number) < 1e7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{text}"
        return f"{sign}{text[:point].ljust(point, '0')}.{text[point:] or '0'}"
    return f"{sign}{text[0]}.{text[1:] or '0'}E{point - 1}"


def java_string(value: object) -> str:
    """A value as Java's ``toString`` writes it; None is ``null``.

    >>> [java_string(value) for value in (1, 1.0, True, "a", ["x", 2], {"k": False})]
    ['1', '1.0', 'true', 'a', '[x, 2]', '{k=false}']
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{java_string(k)}={java_string(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(java_string, value)) + "]"
    return str(value)


def equality_key(value: object) -> Hashable:
    """What two values have in common if and only if they are equal.

    >>> equality_key(1) == equality_key(1.0), equality_key([1, "a"]) == equality_key([1, "a"])
    (False, True)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int):
        return type(value).__name__, value
    if isinstance(value, float):
        return "float", repr(value)  # not a number is itself, and 0.0 is not -0.0, as in Java
    if isinstance(value, list | tuple):
        return "list", tuple(map(equality_key, value))
    if isinstance(value, Mapping):
        return "map", frozenset((equality_key(k), equality_key(v)) for k, v in value.items())
    if isinstance(value, set | frozenset):
        return "set", frozenset(map(equality_key, value))
    return type(value).__name__, str(value)


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """Whether the features of a target and a response agree.

    `names` are the features that are looked at; without any, all annotations agree. `comparison` says how:

    * ``equality``: every one of them has the same value on both sides, or is on neither;
    * ``string``: the same, of the values as Java writes them, so that 1 is "1" and 1.0 is "1.0";
    * ``subsumption``: only those are looked at that the target has; the response may have more.

    Raises `UsageError` for an unknown comparison, for a name that is empty or comes twice.

    >>> test = FeatureTest(("kind",), "subsumption")
    >>> test.agree(Span(0, 1), Span(0, 1, features={"kind": "a"}))
    True
    """

    names: tuple[str, ...] = ()
    comparison: str = "equality"

    def __post_init__(self) -> None:
        if self.comparison not in COMPARISONS:
            raise UsageError(
                f"unknown comparison of features {self.comparison!r}",
                advice=f"one of {', '.join(COMPARISONS)}",
            )
        for number, name in enumerate(self.names):
            if not isinstance(name, str) or not name:
                raise UsageError(f"the name of a feature is empty: {name!r}", advice="leave it out")
            if name in self.names[:number]:
                raise UsageError(f"feature {name!r} is named twice", advice="name each feature once")

    @property
    def has_keys(self) -> bool:
        """Whether annotations agree if and only if they have the same `key`; not so under subsumption."""
        return not self.names or self.comparison != "subsumption"

    def key(self, span: Span) -> Hashable:
        """What annotations that agree have in common, where `has_keys`."""
        return tuple(self._key_of(span.features.get(name)) for name in self.names)

    def agree(self, target: Span, response: Span) -> bool:
        """Whether the features of the two agree."""
        if self.has_keys:
            return self.key(target) == self.key(response)
        return all(
            equality_key(target.features[name]) == equality_key(response.features.get(name))
            for name in self.names
            if name in target.features
        )

    def _key_of(self, value: Any) -> Hashable:
        if self.comparison == "string" and value is not None:
            return java_string(value)
        return equality_key(value)


Typed = Sequence[tuple[Hashable, Span]]
"""Annotations with their types."""

Keys = tuple[Sequence[Sequence[Hashable]], Sequence[Sequence[Hashable]]]
"""The keys of targets and of responses, which are equal if they have one in common."""

_MOST_PATTERNS = 64


def subsumption_keys(names: Sequence[str], targets: Typed, responses: Typed) -> Keys | None:
    """Keys for the comparison ``subsumption``: a target has one, a response one for each set of features.

    The sets are those that targets have of the features `names`. None if they are more than 64: a response
    would have too many keys.

    >>> one, both = Span(0, 1, features={"f": 1}), Span(0, 1, features={"f": 1, "g": 2})
    >>> (own,), (other,) = subsumption_keys(("f", "g"), [("T", one)], [("T", both)])
    >>> own == other
    True
    """
    having = [tuple([name for name in names if name in span.features]) for _, span in targets]
    patterns = list(dict.fromkeys(having))
    if len(patterns) > _MOST_PATTERNS:
        return None
    own = [[_key_with(pattern, type, span)] for pattern, (type, span) in zip(having, targets, strict=True)]
    return own, [[_key_with(pattern, type, span) for pattern in patterns] for type, span in responses]


def _key_with(pattern: tuple[str, ...], type: Hashable, span: Span) -> Hashable:
    return type, pattern, tuple([equality_key(span.features.get(name)) for name in pattern])


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A type: what targets call it, and what responses call it.

    >>> str(TypeSpec("Person", "PER")), str(TypeSpec("Place", "Place"))
    ('Person=PER', 'Place')
    """

    target: str
    response: str

    def __str__(self) -> str:
        return self.target if self.target == self.response else f"{self.target}={self.response}"


def parse_types(specs: Iterable[str]) -> tuple[TypeSpec, ...]:
    """Type specifications from ``"T"`` or ``"TARGET=RESPONSE"``; the first ``=`` parts the two.

    A name stands for one type on each side: the same name may be one type's target and another's response.
    Raises `UsageError` for an empty specification and for a name that one side has twice.

    >>> [(spec.target, spec.response) for spec in parse_types(["Place", "Person=PER"])]
    [('Place', 'Place'), ('Person', 'PER')]
    """
    if isinstance(specs, str):
        raise UsageError(f"types must be several specifications, not the string {specs!r}")
    parsed: list[TypeSpec] = []
    for text in specs:
        target, equals, response = text.partition("=") if isinstance(text, str) else ("", "", "")
        spec = TypeSpec(target, response if equals else target)
        if not spec.target or not spec.response:
            raise UsageError(f"the type {text!r} cannot be read", advice="write it TYPE or TARGET=RESPONSE")
        for other in parsed:
            for side, name, taken in (
                ("targets", spec.target, other.target),
                ("responses", spec.response, other.response),
            ):
                if name == taken:
                    raise UsageError(
                        f"type {name!r} of the {side} is named twice: {other} and {spec}",
                        advice="name each type once on either side",
                    )
        parsed.append(spec)
    return tuple(parsed)
