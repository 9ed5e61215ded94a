"""Equality of a target and a response: their types and their features, not their positions.

Two values are equal only if they have the same type: truth value, whole number, number with a fraction, string, list.
1 is not equal to 1.0 or "1", as in Java, in which GATE is written; compared as strings they are what Java's
``toString`` makes of them. None is a missing feature.

Source: GATE's plugin Evaluation (``gateplugin-Evaluation``), feature comparison and type specifications.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from clueval.core.span import Span
from clueval.files.errors import UsageError

COMPARISONS = ("equality", "string", "subsumption")
"""How features are compared; see `FeatureTest`."""


def java_double(number: float) -> str:
    """Return a number as Java's ``Double.toString`` writes it, with the fewest digits that identify it.

    >>> java_double(1.0), java_double(12345678.0), java_double(0.0005), java_double(-math.inf)
    ('1.0', '1.2345678E7', '5.0E-4', '-Infinity')
    """
    if math.isnan(number):
        return "NaN"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if not number or math.isinf(number):
        return sign + ("Infinity" if number else "0.0")
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)  # the decimal point is before this digit
    digits = digits.rstrip("0")
    if not 1e-3 <= abs(number) < 1e7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def java_string(value: object) -> str:
    """Return a value as Java's ``toString`` writes it; None is ``null``.

    >>> [java_string(value) for value in (1, 1.0, True, "a", ["x", 2], {"k": False})]
    ['1', '1.0', 'true', 'a', '[x, 2]', '{k=false}']
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
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


_OF_TYPE = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]", re.DOTALL)
"""The features of one type."""


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

    def __init__(self, names: Iterable[str] = (), comparison: str = "equality") -> None:
        self.comparison = comparison
        plain: list[str] = []
        by_type: dict[str, list[str]] = {}
        for text in names:
            match = _OF_TYPE.fullmatch(text) if isinstance(text, str) else None
            if match is None:
                plain.append(_feature(text, plain))
                continue
            of_type = by_type.setdefault(match[1], [])
            for part in match[2].split(","):
                of_type.append(_feature(part, [*plain, *of_type]))
        self._of_any_type = tuple(plain)
        self.every = tuple(
            dict.fromkeys([*plain, *(name for of_type in by_type.values() for name in of_type)])
        )
        self.by_type = {kind: tuple(dict.fromkeys([*plain, *of_type])) for kind, of_type in by_type.items()}

    def of_type(self, kind: str) -> tuple[str, ...]:
        """Return the names of the features that are compared for a type of targets."""
        return self.by_type.get(kind, self._of_any_type)

    def agree(self, target: Span, response: Span, kind: str) -> bool:
        """Return whether the features of the two agree; `kind` is the type of the target."""
        for name in self.of_type(kind):
            if self.comparison == "subsumption" and name not in target.features:
                continue
            target_value, response_value = target.features.get(name), response.features.get(name)
            if self.comparison == "string" and target_value is not None and response_value is not None:
                target_value, response_value = java_string(target_value), java_string(response_value)
            if equality_key(target_value) != equality_key(response_value):
                return False
        return True


def _feature(name: object, earlier: Sequence[str]) -> str:
    """Return the name of a feature. Raises `UsageError` for an empty one, and for one that is in `earlier`."""
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"the name of a feature is empty: {name!r}", advice="remove it from Gate.features")
    name = name.strip()
    if name in earlier:
        raise UsageError(f"feature {name!r} is named twice", advice="name each feature once in Gate.features")
    return name


def features_from_text(text: str) -> tuple[str, ...]:
    """Return names of features that are separated by commas, those of one type together.

    >>> features_from_text("id,M[inst],N[kind, id]")
    ('id', 'M[inst]', 'N[kind, id]')
    """
    return tuple(part.strip() for part in re.split(r",(?![^\[]*\])", text))


def features_of_types(features: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the features of each type as `FeatureTest` reads them. Raises `UsageError` for what it would not read.

    >>> features_of_types({"M": ["inst"], "N": ["kind", "id"]})
    ('M[inst]', 'N[kind,id]')
    """
    texts = []
    for kind, names in features.items():
        texts.append(
            f"{kind}[{','.join(map(str, names))}]" if isinstance(names, list | tuple) else str(names)
        )
        match = _OF_TYPE.fullmatch(texts[-1])
        if match is None or (match[1], match[2].split(",")) != (kind, [*names]):
            raise UsageError(
                f"the features of the type {kind!r} must be a list of names, not {names!r}",
                advice="names have no brackets, and those of features no comma",
            )
    return tuple(texts)


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
        for earlier in parsed:
            for side, name, taken in zip(("targets", "responses"), spec, earlier, strict=True):
                if name == taken:
                    raise UsageError(
                        f"type {name!r} of the {side} is named twice: {earlier} and {spec}",
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


def is_nil(span: Span, feature: str, nil: str) -> bool:
    """Return whether the feature, as a string, has the value `nil`; a missing feature has the value ``""``.

    >>> is_nil(Span(0, 1), "id", ""), is_nil(Span(0, 1, features={"id": "Q1"}), "id", "")
    (True, False)
    """
    value = span.features.get(feature)
    return ("" if value is None else java_string(value)) == nil
