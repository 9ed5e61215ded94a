"""Defaults of options in a configuration file: ``clueval.toml``, or ``[tool.clueval]`` in ``pyproject.toml``.

Only the current folder is searched. Keys are options as on the command line without their dashes
(``metric = "exact"``); the tables ``[set.fair]`` hold settings of metrics, and a table with the name of a command
(``[score]``) the defaults of this command alone. An option of the command line replaces the default of the file.

A default is for the commands, values and formats that know it: it is skipped where the command does not have the option
or the value, and where no file has a format to which it applies. A name that no command has is an error.

A file in the current folder may come with a corpus, from somebody else. So it cannot name a file that is written, a
gate, or a machine that gets the texts: such an option is an error, and only the command line has it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from clueval.cli.outputs import fixes_form, shows_digits
from clueval.cli.parser import CommandParser, suggestion
from clueval.files.errors import CluevalError, FileError, FormatError, UsageError, described
from clueval.files.options import options_of
from clueval.files.overwriting import OUTPUT_TYPES, note_input
from clueval.formats.form import Form
from clueval.formats.options import FormatOptions, Reading
from clueval.metrics.settings import metrics_in
from clueval.reading.paths import STDIN, files_of

FILES = ("clueval.toml", "pyproject.toml")
"""The files in the order in which they are searched; the first with a configuration is read."""

MOST_BYTES, MOST_DOTS = 1 << 18, 1000
"""The most bytes of a configuration file, and the most dots of a line: tomllib takes their square in time."""

GATES = ("gates", "limits")
"""The titles of the groups of options that decide with which code a command ends."""


def configuration() -> tuple[Path, Mapping[str, Any]] | None:
    """Return the file with the configuration of the current folder, and its options; None without one."""
    for name in FILES:
        path = Path(name)
        if not path.is_file():
            continue
        found = _read(path)
        if not found:
            continue
        if name == "pyproject.toml":
            tool = found.get("tool", {})
            found = tool.get("clueval") if isinstance(tool, dict) else None
        if found is None:
            continue
        if not isinstance(found, dict):
            raise FormatError("clueval is not a table", file=name, advice="write [tool.clueval]")
        return path, found
    return None


def _read(path: Path) -> Any:
    import tomllib  # only read where there is a file

    note_input(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise FormatError(f"has more than {MOST_BYTES:,} bytes", file=str(path), advice=_OR_IGNORE)
        if any(line.count(b".") > MOST_DOTS for line in content.splitlines()):
            raise FormatError(
                f"has a line with more than {MOST_DOTS:,} dots", file=str(path), advice=_OR_IGNORE
            )
        text = content.decode("utf-8")
        return tomllib.loads(text) if path.name != "pyproject.toml" or "clueval" in text else {}
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise FormatError(f"is not TOML: {error}", file=str(path), advice=_OR_IGNORE) from None
    except RecursionError:
        raise FormatError(
            "has values that are nested too deeply", file=str(path), advice=_OR_IGNORE
        ) from None


_OR_IGNORE = "correct the file, or ignore it with --no-config"


def defaults_of(
    given: Sequence[str], parser: CommandParser, path: Path, options: Mapping[str, Any]
) -> list[str]:
    """Return as arguments those options of the file that apply to the command and are not given.

    Raises `UsageError` for an option that no command has, and for one that only the command line has.
    """
    actions = parser.option_actions()
    present = {argument.partition("=")[0] for argument in given if argument.startswith("-")}
    added: list[str] = []
    own = _of_command(path, given[0], options)
    for key, value in own.items():
        flag = f"--{key.replace('_', '-')}"
        if flag not in actions:
            _require_known(path, key)
            continue
        _require_allowed(path, key, parser, actions[flag])
        if key == "metric":
            _require_own_metrics(path, value)
        if not present & set(actions[flag].option_strings):
            arguments = _arguments(path, key, flag, actions[flag], value)
            added += [each for each in arguments if _fits(path, key, each, actions[flag])]
    return added


def _of_command(path: Path, command: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for all commands, replaced by those in the table of one command."""
    from clueval.cli.commands import COMMANDS

    tables = {key: value for key, value in options.items() if key in COMMANDS and isinstance(value, dict)}
    shared = {key: value for key, value in options.items() if key not in tables}
    own = tables.get(command, {})
    return {**shared, **own}


def _fits(path: Path, key: str, argument: str, action: argparse.Action) -> bool:
    """Return whether the command has the value of a default. Raises `UsageError` for a value that no command has."""
    value = argument.partition("=")[2]
    if action.choices is not None and value not in map(str, action.choices):
        _require_value(path, key, value)
        return False
    return True


def _require_value(path: Path, key: str, value: str) -> None:
    from clueval.cli.commands import COMMANDS, command_parser

    flag = f"--{key.replace('_', '-')}"
    actions = [found[flag] for name in COMMANDS if flag in (found := command_parser(name).option_actions())]
    if not any(action.choices is None or value in map(str, action.choices) for action in actions):
        known = dict.fromkeys(str(choice) for action in actions for choice in action.choices or ())
        raise UsageError(f"{key} cannot be {value!r}", file=str(path), advice=f"one of {', '.join(known)}")


def drop_unused(options: argparse.Namespace, defaults: Sequence[str]) -> None:
    """Unset those of these defaults that apply to no file that the command reads, or not to the form of its result."""
    flags = {argument.partition("=")[0] for argument in defaults}
    if options.command == "compare":
        from clueval.cli.compare import drop_scoring

        drop_scoring(options, flags)
    if options.command == "score":
        from clueval.cli.score import drop_counting

        drop_counting(options, flags)
    if "--format" in flags and fixes_form(options):
        options.format = None
    if "--digits" in flags and not shows_digits(options):
        options.digits = None
    places = {field.name: f"Reading.{field.name}" for field, own in options_of(Reading) if own.flag in flags}
    if "--layer" in flags:
        places["layers"] = "layer"
    unused = {*places} - {"input", "row"}
    if not unused:
        return
    from clueval.reading.source import FOR_ALL  # only for options of formats
    from clueval.reading.source import options_of as options_of_form

    found = False
    for form in _forms(options):
        found = True
        unused -= {*options_of_form(form), *FOR_ALL}
        if not unused:
            return
    for name in unused if found else ():
        setattr(options, places[name], None)


def _forms(options: argparse.Namespace) -> Iterator[Form]:
    """Yield the format of each file that the command reads, as far as it is recognised."""
    from clueval.formats.form import forms_named  # only for options of formats
    from clueval.reading.source import form_at

    for place in ("Reading.row", "Reading.input"):
        if (named := getattr(options, place, None)) is not None:
            names = named if isinstance(named, tuple) else (named,)
            yield from (forms_named(name)[0] for name in names if name)
            return
    given = [getattr(options, name, None) for name in ("gold", "predicted", "old", "new", "file")]
    given += getattr(options, "files", None) or []
    given += [Path(each.rpartition("=")[2]) for each in getattr(options, "annotators", None) or []]
    for each in given:
        if isinstance(each, Path) and str(each) != STDIN:
            with suppress(CluevalError):  # reading the file raises the same error
                for _, file in files_of(each):
                    yield form_at(file, FormatOptions())


def _arguments(path: Path, key: str, flag: str, action: argparse.Action, value: Any) -> list[str]:
    """Return the arguments for one option of the file."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise UsageError(f"{key} must be true or false, not {described(value)}", file=str(path))
        negative = flag.replace("--", "--no-", 1)
        return [flag] if value else [negative] * (negative in action.option_strings)
    if isinstance(value, dict):
        parts = [f"{name}={_text(path, key, each)}" for name, each in value.items()]
    else:
        parts = [_text(path, key, each) for each in (value if isinstance(value, list) else [value])]
    may_repeat = isinstance(action, argparse._AppendAction | argparse._ExtendAction)
    return [f"{flag}={part}" for part in (parts if may_repeat else [",".join(parts)])]


def _text(path: Path, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value.bit_length() > 64:
        raise UsageError(f"{key} is a whole number of more than 64 bits", file=str(path), advice="correct it")
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(_text(path, key, each) for each in value)
    raise UsageError(f"{key} must be text, a number or a list, not {described(value)}", file=str(path))


def _require_own_metrics(path: Path, value: Any) -> None:
    """Raise `UsageError` for a metric that is a class of a module: a file in a corpus could import any module."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and any("." in each.name for each in metrics_in(text)):
            raise UsageError(
                "a configuration cannot name a class as a metric",
                file=str(path),
                advice="give --metric on the command line",
            )


def _require_known(path: Path, key: str) -> None:
    """Raise `UsageError` for an option that no command has, or that only the command line has."""
    from clueval.cli.commands import COMMANDS, command_parser

    name = key.replace("_", "-")
    known: set[str] = set()
    for parser in map(command_parser, COMMANDS):
        actions = parser.option_actions()
        known |= {flag.removeprefix("--") for flag in actions}
        if f"--{name}" in actions:
            _require_allowed(path, key, parser, actions[f"--{name}"])
    if name not in known:
        near = suggestion(name, {each: each for each in sorted(known)})
        advice = (
            "settings are part of a metric: metric = 'fair(focus=system)'"
            if name == "set"
            else "check its name"
        )
        raise UsageError(f"no command has an option {key!r}{near}", file=str(path), advice=advice)


def _require_allowed(path: Path, key: str, parser: CommandParser, action: argparse.Action) -> None:
    """Raise `UsageError` for an option that a configuration cannot have."""
    reason = only_given(parser, action)
    if reason:
        flag = f"{action.option_strings[-1]}{f' {action.metavar}' * (action.nargs != 0)}"
        raise UsageError(
            f"a configuration cannot have {key!r}, because it {reason}",
            file=str(path),
            advice=f"remove it, and give {flag} on the command line",
        )


def only_given(parser: CommandParser, action: argparse.Action) -> str:
    """Return why only the command line has an option; empty if a configuration may have it, too."""
    if action.type in OUTPUT_TYPES:
        return "names what is written"
    if any(action in group._group_actions for group in parser.groups_named(GATES)):
        return "is a gate"
    if action.dest == "named_config":
        return "names a file that names what is written"
    if action.dest == "scheduler":
        return "names a machine that gets the texts"
    return ""
