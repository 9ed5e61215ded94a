"""Adding results: the result of two corpora together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from clueval.core.bag import Bag, Place
from clueval.core.count import DOCUMENT, SENTENCE, Plan, Unit
from clueval.files.errors import UsageError
from clueval.metrics import with_settings
from clueval.results.inputs import Unplaced, schemes_of
from clueval.results.signature import Signature, joined_signature, require_same


class Counted(NamedTuple):
    """What is added of results; the fields of a result have the same names."""

    bag: Bag
    plan: Plan
    signature: Signature
    prepared: Mapping[str, Any] | None
    unprojected: Sequence[Unplaced] | None


def added_counts(first: Counted, second: Counted, *, force: bool = False) -> Counted:
    """Return the counts of both corpora together; see `Result.add`."""
    one, two = _signature_beside(first, second), _signature_beside(second, first)
    if not force:
        require_same(one, two, "added")
    if first.plan.metrics != second.plan.metrics:
        names = ["+".join(sorted(map(with_settings, each.plan.metrics))) for each in (first, second)]
        raise UsageError(f"counts of {names[0]} and of {names[1]} do not add up")
    if set(first.plan.by) != set(second.plan.by):
        shown = [" and ".join(sorted(each.plan.by)) or "nothing" for each in (first, second)]
        raise UsageError(
            f"results broken down by {shown[0]} and by {shown[1]} cannot be added",
            advice="score both with the same break-downs (by)",
        )
    if first.plan.merge:
        _require_same_order(first.bag.layers, second.bag.layers)
    plan = first.plan if first.plan.units == second.plan.units else replace(first.plan, units=None)
    bag = Bag(plan.metrics, (), first.bag.bounds)
    bag.include(_in_units(first, plan))
    bag.include(_in_units(second, plan, {*map(_unit, bag.documents)}))
    lists = [each.unprojected for each in (first, second) if each.unprojected is not None]
    return Counted(
        bag,
        plan,
        joined_signature(one, two, schemes_of(bag.read)),
        _added_changes(first.prepared, second.prepared),
        [each for of_result in lists for each in of_result] if lists else None,
    )


_OF_DOCUMENTS = ("unit", "scheme", "invalid", "text")
"""The choices that say what was read; without documents, they have their default values."""


def _signature_beside(result: Counted, other: Counted) -> Signature:
    """Return the signature of a result; without documents, it says of these what the other one says."""
    own, choices = result.signature, other.signature.choices
    if sum(result.bag.documents.values()):
        return own
    return Signature({**own.choices, **{key: choices[key] for key in _OF_DOCUMENTS if key in choices}})


def _require_same_order(one: Sequence[str], two: Sequence[str]) -> None:
    """Raise `UsageError` for layers merged in different orders, whose labels have different names."""
    if [layer for layer in one if layer in two] != [layer for layer in two if layer in one]:
        raise UsageError(
            "results of layers that were merged in different orders cannot be added",
            advice="score both corpora together",
        )


def _unit(place: Place) -> str | None:
    assert isinstance(place, Unit)
    return place.name


def _in_units(result: Counted, plan: Plan, taken: set[str | None] = frozenset()) -> Bag:  # type: ignore[assignment]
    """Return the bag of a result in the units of a plan, with other names for documents that are `taken`."""
    order = [result.plan.by.index(key) for key in plan.by]
    names: dict[str | None, str | None] = {None: None}

    def named(name: str | None) -> str | None:
        if name not in names:
            number, found = 1, name
            while found in taken or found in names.values():
                number += 1
                found = f"{name}#{number}"
            names[name] = found
        return names[name]

    def of(place: Place) -> Place:
        assert isinstance(place, Unit)
        values = tuple(place.values[number] for number in order)
        if plan.units is None:
            return Unit(values)
        name = named(place.name) if plan.units in (DOCUMENT, SENTENCE) else place.name
        return place._replace(values=values, name=name)

    return result.bag.grouped(of)


def _added_changes(one: Mapping[str, Any] | None, two: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the numbers of changes by steps in both corpora together."""
    if one is None or two is None:
        return two if one is None else one
    return {name: _added(one.get(name), two.get(name)) for name in dict.fromkeys([*one, *two])}


def _added(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    if isinstance(one, Mapping):
        return {name: _added(one.get(name), two.get(name)) for name in sorted({*one, *two})}
    return one + two
