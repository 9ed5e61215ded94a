"""Makes options from the fields of dataclasses, and dataclasses from options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import MISSING, Field
from typing import Any, NamedTuple, TypeVar, get_args

from clueval.cli.parser import CommandParser
from clueval.files.options import Option, options_of
from clueval.files.overwriting import output_path
from clueval.metrics.settings import shown_default, type_of, values_of

Group = TypeVar("Group")


class SideValues(NamedTuple):
    """The values of an option for the two sides, if they differ."""

    gold: Any
    predicted: Any


def add_fields(
    parser: CommandParser, group: type, title: str, *, only: Collection[str] | None = None, sides: int = 1
) -> dict[str, argparse.Action]:
    """Add the options of a dataclass: in their help topics or, without a topic, under `title`.

    With two `sides`, the value of an option with `paired` may be ``GOLD:PREDICTED``. Returns the options by the
    names of their fields.
    """
    added: dict[str, argparse.Action] = {}
    for field, declared in options_of(group):
        if only is None or field.name in only:
            place = parser.group(title) if not declared.topic else parser.topic(declared.topic)
            note = "vrt:inline if the sides differ" if sides == 2 and field.name == "input" else ""
            added[field.name] = place.add_argument(
                declared.flag,
                dest=_place(group, field.name),
                default=None,
                help=help_of(field, declared, note),
                **_settings(group, field, declared, sides),
            )
    return added


def given_fields(group: type, options: argparse.Namespace) -> dict[str, Any]:
    """Return the values of those fields of a dataclass for which options were given."""
    given = {field.name: getattr(options, _place(group, field.name), None) for field, _ in options_of(group)}
    return {name: value for name, value in given.items() if value is not None}


def group_of(group: type[Group], options: argparse.Namespace) -> Group:
    """Return the dataclass with the values of the options."""
    return group(**given_fields(group, options))


def pair_of(group: type[Group], options: argparse.Namespace) -> Group | tuple[Group, Group]:
    """Return the dataclass with the values of the options, or one for each side if any value differs."""
    given = given_fields(group, options)
    if not any(isinstance(value, SideValues) for value in given.values()):
        return group(**given)
    gold, predicted = (
        group(
            **{name: value[side] if isinstance(value, SideValues) else value for name, value in given.items()}
        )
        for side in (0, 1)
    )
    return gold, predicted


def _place(group: type, name: str) -> str:
    """Return the name of a field's value among the options of a command."""
    return f"{group.__name__}.{name}"


def _settings(group: type, field: Field[Any], declared: Option, sides: int) -> dict[str, Any]:
    """Return the arguments of argparse for an option."""
    if declared.metavar is None:
        kinds = get_args(type_of(group, field))
        tri_state = type(None) in kinds
        return {"action": argparse.BooleanOptionalAction if tri_state else "store_true"}
    settings: dict[str, Any] = {"metavar": declared.metavar}
    if declared.repeated:
        return {**settings, "action": "append"}
    if declared.writes:
        return {**settings, "type": output_path}
    values = values_of(group, field, none=False)
    assert values is not None, field.name
    if declared.several:
        settings |= {"nargs": "+", "action": "extend"}
    return {**settings, "type": typed(values.read, paired=sides == 2 and declared.paired)}


def typed(read: Callable[[str], Any], *, paired: bool = False) -> Callable[[str], Any]:
    """Return a function for argparse that reads a value or, with `paired`, a value for each side."""

    def value_of(text: str) -> Any:
        try:
            gold, colon, predicted = text.partition(":") if paired else (text, "", "")
            return SideValues(read(gold), read(predicted)) if colon else read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return value_of


_LISTED = 20
"""The most values that the help of an option lists."""


def help_of(field: Field[Any], declared: Option, note: str = "", default: str | None = None) -> str:
    """Return the help of an option: its description, its values, a note and the default (None: of the field)."""
    text = declared.help
    if len(declared.choices) <= _LISTED and any(choice not in text for choice in declared.choices):
        text += f": {', '.join(declared.choices)}"
    if default is None and (declared.default is not None or _has_default(field)):
        default = shown_default(field)
    notes = [*([note] if note else []), *([] if default is None else [f"default: {default}"])]
    return (f"{text} ({'; '.join(notes)})" if notes else text).replace("%", "%%")


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING and field.default not in (None, (), False)
