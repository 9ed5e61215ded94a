"""Defaults of options in a configuration file: ``clueval.toml``, or ``[tool.clueval]`` in ``pyproject.toml``.

Only the current folder is searched. Keys are options as on the command line without their dashes
(``metric = "exact"``); the tables ``[set.fair]`` hold settings of metrics. An option of the command line replaces the
default of the file. An option that does not belong to the command is skipped, but an unknown one is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.cli.parser import Command, suggestion
from clueval.exceptions import FileError, FormatError, UsageError, described

FILES = ("clueval.toml", "pyproject.toml")
"""The files in the order in which they are searched; the first with a configuration is read."""


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

    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text) if path.name != "pyproject.toml" or "clueval" in text else {}
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise FormatError(f"is not TOML: {error}", file=str(path), advice="or use --no-config") from None


def with_defaults(given: Sequence[str], parser: Command, path: Path, options: Mapping[str, Any]) -> list[str]:
    """Return the arguments with those options of the file that belong to the command and are not given.

    Raises `UsageError` for an option that no command has.
    """
    actions = parser.option_actions()
    present = {argument.partition("=")[0] for argument in given if argument.startswith("-")}
    added: list[str] = []
    for key, value in options.items():
        if key == "set":
            continue
        flag = f"--{key.replace('_', '-')}"
        if flag not in actions:
            _require_known(path, key)
            continue
        if not present & set(actions[flag].option_strings):
            added += _arguments(path, key, flag, actions[flag], value)
    if "set" in options and "--set" in actions:
        added += [f"--set={setting}" for setting in _settings(path, options["set"], [*given, *added])]
    return [given[0], *added, *given[1:]]


def _settings(path: Path, tables: Any, given: Sequence[str]) -> Iterator[str]:
    """Yield the settings of the metrics that are not given, as ``METRIC.SETTING=VALUE``."""
    from clueval.metrics import METRICS

    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise UsageError("set must have tables", file=str(path), advice="as in [set.fair]")
    chosen = _metrics(given)
    for metric, table in tables.items():
        if metric not in METRICS:
            raise UsageError(
                f"set.{metric}: there is no such metric", file=str(path), advice=", ".join(METRICS)
            )
        for setting, value in table.items() if metric in chosen else ():
            name = f"{metric}.{setting.replace('-', '_')}"
            if not any(argument.startswith((f"{name}=", f"--set={name}=")) for argument in given):
                yield f"{name}={_text(path, name, value)}"


def _metrics(given: Sequence[str]) -> set[str]:
    """Return the metrics that the arguments name."""
    named: list[str] = []
    for number, argument in enumerate(given):
        if argument == "--metric" and number + 1 < len(given):
            named.append(given[number + 1])
        elif argument.startswith("--metric="):
            named.append(argument.partition("=")[2])
    return {name for names in named or ["levels"] for name in names.split(",")}


def _arguments(path: Path, key: str, flag: str, action: argparse.Action, value: Any) -> list[str]:
    """Return the arguments for one option of the file."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise UsageError(f"{key} must be true or false, not {described(value)}", file=str(path))
        negative = flag.replace("--", "--no-", 1)
        return [flag] if value else [negative] * (negative in action.option_strings)
    if isinstance(value, dict):
        return [f"{flag}={name}={_text(path, key, each)}" for name, each in value.items()]
    if isinstance(value, list):
        return [f"{flag}={_text(path, key, each)}" for each in value]
    return [f"{flag}={_text(path, key, value)}"]


def _text(path: Path, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(map(str, value))
    raise UsageError(f"{key} must be text, a number or a list, not {described(value)}", file=str(path))


def _require_known(path: Path, key: str) -> None:
    """Raise `UsageError` for an option that no command has."""
    from clueval.cli.commands import COMMANDS, command_parser

    known = {flag.removeprefix("--") for name in COMMANDS for flag in command_parser(name).option_actions()}
    name = key.replace("_", "-")
    if name not in known:
        near = suggestion(name, {each: each for each in sorted(known)})
        raise UsageError(f"no command has an option {key!r}{near}", file=str(path), advice="check its name")
