"""Equality of a target and a response: the test of their types and the test of their features.

Positions are not compared here. Two values are equal only if they have the same type: truth value, whole number, number
with a fraction, string, list. 1 is not equal to 1.0 or "1", as in Java, in which GATE is written; compared as strings
they are what Java's ``toString`` makes of them. None is a missing feature.

Source: GATE's plugin Evaluation (``gateplugin-Evaluation``), feature comparison and type specifications.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clueval.core.span import SIDES, Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError, shortened, warn

COMPARISONS = ("equality", "string", "subsumption")
"""How features are compared; see `FeatureTest`."""


def java_double(number: float) -> str:
    """Return a number as Java's ``Double.toString`` writes it, with the fewest digits that identify it.

    >>> java_double(1.0), java_double(12345678.0), java_double(0.0005), java_double(-math.inf)
    ('1.0', '1.2345678E7', '5.0E-4', '-Infinity')
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if number == 0:
        return f"{sign}0.0"
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)  # the decimal point is before this digit
    text = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(text)
    text = text.rstrip("0")
    if 1e-3 <= abs(number) < 1e7:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{text}"
        return f"{sign}{text[:point].ljust(point, '0')}.{text[point:] or '0'}"
    return f"{sign}{text[0]}.{text[1:] or '0'}E{point - 1}"


def java_string(value: object) -> str:
    """Return a value as Java's ``toString`` writes it; None is ``null``.

    >>> [java_string(value) for value in (1, 1.0, True, "a", ["x", 2], {"k": False})]
    ['1', '1.0', 'true', 'a', '[x, 2]', '{k=false}']
    """
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
    """Return a key that two values share if and only if they are equal.

    >>> equality_key(1) == equality_key(1.0), equality_key([1, "a"]) == equality_key([1, "a"])
    (False, True)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int):
        return type(value).__name__, value
    if isinstance(value, float):
        return "float", repr(value)  # NaN equals itself, and 0.0 does not equal -0.0, as in Java
    if isinstance(value, list | tuple):
        return "list", tuple(map(equality_key, value))
    if isinstance(value, Mapping):
        return "map", frozenset((equality_key(k), equality_key(v)) for k, v in value.items())
    if isinstance(value, set | frozenset):
        return "set", frozenset(map(equality_key, value))
    return type(value).__name__, str(value)


@dataclass(frozen=True, slots=True)
class FeatureTest:
    """The test whether the features of a target and a response agree.

    `names` are the features to compare; without any, all annotations agree. ``M[inst,kind]`` are features of the
    targets' type M alone, plain names are features of all types. `comparison` is one of:

    * ``equality``: every feature has the same value on both sides, or is missing on both;
    * ``string``: the same, but with the values as Java writes them, so that 1 is "1" and 1.0 is "1.0";
    * ``subsumption``: only features that the target has are compared; the response may have more.

    Attributes:
        every: the names of all features, of whatever type.
        by_type: the names that are compared for the types that have features of their own.

    Raises `UsageError` for an empty name and for a name that comes twice.

    >>> test = FeatureTest(("kind",), "subsumption")
    >>> test.agree(Span(0, 1), Span(0, 1, features={"kind": "a"}), "M")
    True
    """

    names: tuple[str, ...] = ()
    comparison: str = "equality"
    every: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)
    by_type: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _plain: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain: list[str] = []
        by_type: dict[str, list[str]] = {}
        for given in self.names:
            match = _OF_TYPE.fullmatch(given) if isinstance(given, str) else None
            own = plain if match is None else by_type.setdefault(match[1], [])
            for name in [given] if match is None else match[2].split(","):
                _require_feature(name, own if match is None else [*plain, *own])
                own.append(name.strip())
        of_types = {kind: tuple(dict.fromkeys([*plain, *own])) for kind, own in by_type.items()}
        every = dict.fromkeys([*plain, *(name for own in by_type.values() for name in own)])
        object.__setattr__(self, "every", tuple(every))
        object.__setattr__(self, "by_type", of_types)
        object.__setattr__(self, "_plain", tuple(plain))

    def of_type(self, kind: str) -> tuple[str, ...]:
        """Return the names of the features that are compared for a type of targets."""
        return self.by_type.get(kind, self._plain)

    def agree(self, target: Span, response: Span, kind: str) -> bool:
        """Return whether the features of the two agree; `kind` is the type of the target."""
        for name in self.of_type(kind):
            one, other = target.features.get(name), response.features.get(name)
            if self.comparison == "subsumption" and name not in target.features:
                continue
            if self.comparison == "string" and one is not None and other is not None:
                one, other = java_string(one), java_string(other)
            if equality_key(one) != equality_key(other):
                return False
        return True


_OF_TYPE = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]", re.DOTALL)
"""The features of one type."""


def _require_feature(name: object, known: Sequence[str]) -> None:
    """Raise `UsageError` for an empty name, and one that is in `known`."""
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"the name of a feature is empty: {name!r}", advice="remove it from Gate.features")
    if name.strip() in known:
        raise UsageError(
            f"feature {name.strip()!r} is named twice", advice="name each feature once in Gate.features"
        )


def features_from_text(text: str) -> tuple[str, ...]:
    """Return names of features that are separated by commas, those of one type together.

    >>> features_from_text("id,M[inst],N[kind, id]")
    ('id', 'M[inst]', 'N[kind, id]')
    """
    return tuple(part.strip() for part in re.split(r",(?![^\[]*\])", text))


class TypeSpec(NamedTuple):
    """A type: its name among the targets, and its name among the responses.

    >>> str(TypeSpec("Person", "PER")), str(TypeSpec("Place", "Place"))
    ('Person=PER', 'Place')
    """

    target: str
    response: str

    def __str__(self) -> str:
        return self.target if self.target == self.response else f"{self.target}={self.response}"


def parse_types(specs: Iterable[str]) -> tuple[TypeSpec, ...]:
    """Return type specifications from ``"T"`` or ``"TARGET=RESPONSE"``; the first ``=`` separates the two.

    A name means one type on each side: the same name may be one type's target and another's response.
    Raises `UsageError` for an empty specification and for a name that comes twice on one side.

    >>> parse_types(["Place", "Person=PER"])[1]
    TypeSpec(target='Person', response='PER')
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
            for side, name, taken in zip(("targets", "responses"), spec, other, strict=True):
                if name == taken:
                    raise UsageError(
                        f"type {name!r} of the {side} is named twice: {other} and {spec}",
                        advice="name each type once on each side of Gate.types",
                    )
        parsed.append(spec)
    return tuple(parsed)


def types_from_text(text: str) -> tuple[str, ...]:
    """Type specifications that are separated by commas."""
    parts = tuple(part.strip() for part in text.split(","))
    if any(part.count("=") > 1 or ";" in part for part in parts):
        raise ValueError(f"{text!r} cannot be read: write it TYPE,TYPE,... or TARGET=RESPONSE,...")
    return parts


# What must occur in the data


class Names(NamedTuple):
    """The names in the settings of `gate`: types, features and values of features.

    A type or feature that no annotation has is an error. A type of one side, and the value that `nil` names, may be
    missing in a corpus, so that is a warning. The keys of their tally are ``("seen", "all")``, ``("seen", "gold type",
    type)``, ``("seen", "predicted type", type)``, ``("seen", "feature", feature)`` and ``("seen", "nil")``.
    """

    types: Sequence[TypeSpec]
    test: FeatureTest
    by: Sequence[str]
    nil: str | None

    def note(self, tally: Tally, *sides: Iterable[Span]) -> None:
        """Count the spans of both sides with the named types (by label; none: all types), features and value."""
        if self.types or self.test.names or self.by:
            for side, spans in zip(SIDES, sides, strict=True):
                self._note(tally, side, spans)

    def _note(self, tally: Tally, side: str, spans: Iterable[Span]) -> None:
        names = {spec.target if side == SIDES[0] else spec.response: spec.target for spec in self.types}
        spans = [span for span in spans if not names or span.label in names]
        tally["seen", "all"] += len(spans)
        wanted = {*names.values(), *self.test.by_type}
        for span in spans if wanted else ():
            name = names.get(span.label, span.label)
            if name in wanted:
                tally["seen", f"{side} type", name] += 1
        for feature in (*self.test.every, *self.by):
            tally["seen", "feature", feature] += sum(feature in span.features for span in spans)
        if self.nil is not None:
            tally["seen", "nil"] += sum(is_nil(span, self.test.every[0], self.nil) for span in spans)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for a type or feature that no annotation has; warn of other names that do not occur.

        Without annotations, features are not missed.
        """
        for spec in self.types:
            self._check_type(total, spec)
        if not total["seen", "all"]:
            return
        for kind in self.test.by_type:
            if not total["seen", "gold type", kind]:
                raise UsageError(f"no gold annotation has the type {kind!r}", advice="check Gate.features")
        settings = dict.fromkeys(self.by, "Gate.by") | dict.fromkeys(self.test.every, "Gate.features")
        for feature, setting in settings.items():
            if not total["seen", "feature", feature]:
                raise UsageError(f"no annotation has the feature {feature!r}", advice=f"check {setting}")
        if self.nil is not None and not total["seen", "nil"]:
            feature, value = self.test.every[0], self.nil
            warn(shortened(f"gate.nil: no annotation has the value {value!r} in the feature {feature!r}"))

    def _check_type(self, total: Tally, spec: TypeSpec) -> None:
        seen = [total["seen", f"{side} type", spec.target] for side in SIDES]
        if not any(seen):
            raise UsageError(f"no annotation has the type {str(spec)!r}", advice="check Gate.types")
        for side, name, number in zip(SIDES, spec, seen, strict=True):
            if spec.target != spec.response and not number:
                warn(shortened(f"gate.types: no {side} annotation has the type {name!r}"))


def is_nil(span: Span, feature: str, nil: str) -> bool:
    """Return whether the feature, as a string, has the value `nil`; a missing feature has the value ``""``.

    >>> is_nil(Span(0, 1), "id", ""), is_nil(Span(0, 1, features={"id": "Q1"}), "id", "")
    (True, False)
    """
    value = span.features.get(feature)
    return ("" if value is None else java_string(value)) == nil
