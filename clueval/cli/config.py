"""Defaults of options in a configuration file, and the names of options in messages.

The file is ``clueval.toml``, or ``[tool.clueval]`` in ``pyproject.toml``. Only the current folder is searched. Keys are
options as on the command line without their dashes (``metric = "exact"``), and a table with the name of a command
(``[score]``) has the defaults of this command alone. An option of the command line replaces the default of the file.

A default is for the commands, values and formats that know it: it is skipped where the command does not have the option
or the value, and where no file has a format to which it applies. A name that no command has is an error.

A file in the current folder may come with a corpus, from somebody else. So it cannot name a file that is written, a
gate, or a machine that gets the texts: such an option is an error, and only the command line has it.

Every message names an option as Python takes it: with its value (``pair_by='id'``, ``layers={'entity': 2}``, or
``scheme=...`` for any value), by its name alone if that has an underscore (``max_line``), or by class and field
(``Gate.beta``, ``Reading.token=2``). The command line writes ``--pair-by id``, ``--layer entity=2``, ``--scheme``,
``--max-line``, ``--token 2``, and ``gate(beta=...)`` or, in ``clueval masking``, the option that the setting has there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from clueval.cli.commands import COMMANDS, Command, command_called
from clueval.cli.declared import CommandOption, OptionValues
from clueval.cli.outputs import drop_idle
from clueval.files.errors import CluevalError, FileError, FormatError, UsageError, described
from clueval.files.options import note_input
from clueval.files.overwriting import OUTPUT_TYPES
from clueval.formats.form import Form, forms_named
from clueval.formats.options import SELECT_SETS, FormatOptions
from clueval.metrics import METRICS, metric_of
from clueval.metrics.settings import MetricText, metrics_in
from clueval.reading import STDIN
from clueval.reading.paths import files_of

FILES = ("clueval.toml", "pyproject.toml")
"""The files in the order in which they are searched; the first with a configuration is read."""

MOST_BYTES, MOST_DOTS = 1 << 18, 1000
"""The most bytes of a configuration file, and the most dots of a line: tomllib takes their square in time."""

ONE_METRIC = {
    "profile": ("exact", "levels"),
    "threshold": ("exact", "levels", "partial", "strings", "coverage"),
}
"""The metrics of commands that take one and do not have all, besides `errors`, which has `has_errors`.

A default for all commands is skipped if it is another.
"""

GATES = ("gates", "limits")
"""The titles of the groups of options that decide with which code a command ends."""


def configuration() -> tuple[Path, Mapping[str, Any]] | None:
    """Return the file with the configuration of the current folder, and its options; None without one."""
    for path in filter(Path.is_file, map(Path, FILES)):
        table = _read(path)
        if path.name == "pyproject.toml":
            tool = table.get("tool", {})
            table = tool.get("clueval", {}) if isinstance(tool, dict) else {}
            if not isinstance(table, dict):
                raise FormatError("clueval is not a table", file=str(path), advice="write [tool.clueval]")
        if table:
            return path, table
    return None


def _read(path: Path) -> Any:
    note_input(path)
    problem = ""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            problem = f"has more than {MOST_BYTES:,} bytes"
        elif any(line.count(b".") > MOST_DOTS for line in content.splitlines()):
            problem = f"has a line with more than {MOST_DOTS:,} dots"
        else:
            text = content.decode("utf-8")
            if path.name == "pyproject.toml" and "clueval" not in text:
                return {}
            import tomllib  # most folders have no configuration

            return tomllib.loads(text)
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValueError as error:  # not UTF-8, or not TOML
        problem = f"is not TOML: {error}"
    except RecursionError:
        problem = "has values that are nested too deeply"
    raise FormatError(problem, file=str(path), advice="correct the file, or ignore it with --no-config")


def defaults_of(
    command: Command, arguments: Sequence[str], path: Path, options: Mapping[str, Any]
) -> list[str]:
    """Return as arguments those options of the file that apply to the command and are not given.

    Raises `UsageError` for an option that no command has, and for one that only the command line has.
    """
    tables = {key: value for key, value in options.items() if key in COMMANDS and isinstance(value, dict)}
    own = tables.get(command.name, {})
    settings = {key: value for key, value in options.items() if key not in tables} | own
    present = {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}
    added: list[str] = []
    for key, value in settings.items():
        entry = _Entry(path, key, value)
        option = command.by_flag.get(entry.flag)
        if option is None:
            entry.require_known()
            continue
        entry.require_allowed(option)
        texts = (value if isinstance(value, list) else [value]) if key == "metric" else ()
        metrics = [metric for text in texts if isinstance(text, str) for metric in metrics_in(text)]
        if any("." in name for name, _ in metrics):  # a file in a corpus could import any module
            raise entry.error(
                "a configuration cannot name a class as a metric", "give --metric on the command line"
            )
        usable = _can_use(command, metrics, arguments)
        if (usable or key in own) and present.isdisjoint(option.flags):
            added += entry.arguments(option)
    return added


def _can_use(command: Command, metrics: Sequence[MetricText], arguments: Sequence[str]) -> bool:
    """Return whether a command takes these metrics; wrong names and settings are refused later."""
    if command.name == "errors":
        from clueval.studies.errors.study import has_errors

        try:
            takes = partial(has_errors, of_two=command.parsed(arguments)["second"] is not None)
            return len(metrics) < 2 and all(map(takes, map(metric_of, metrics)))
        except UsageError:
            return True
    one_of = ONE_METRIC.get(command.name)
    names = {name for name, _ in metrics}
    return one_of is None or (len(metrics) < 2 and names.intersection(METRICS) <= {*one_of})


class _Entry(NamedTuple):
    """An option in a configuration file."""

    path: Path
    key: str
    value: Any

    @property
    def flag(self) -> str:
        name = self.key.lstrip("-").replace("_", "-")
        return f"--{name}" if len(name) > 1 else f"-{name}"

    def error(self, problem: str, advice: str | None = None) -> UsageError:
        return UsageError(problem, file=str(self.path), advice=advice)

    def options(self) -> list[CommandOption]:
        """Return the option of each command that has it."""
        by_flag = (command_called(name).by_flag for name in COMMANDS)
        return [options[self.flag] for options in by_flag if self.flag in options]

    def arguments(self, option: CommandOption) -> Iterator[str]:
        """Yield the arguments for the option; values that the command does not have, but another does, are skipped."""
        if option.metavar is None:
            if not isinstance(self.value, bool):
                raise self.error(f"{self.key} must be true or false, not {described(self.value)}")
            if self.value or option.negative:
                yield self.flag if self.value else option.negative
            return
        if isinstance(self.value, dict):
            parts = [f"{name}={self.text(value)}" for name, value in self.value.items()]
        else:
            parts = list(map(self.text, self.value if isinstance(self.value, list) else [self.value]))
        for part in [",".join(parts)] if option.has_one_value else parts:
            if not option.choices or part in map(str, option.choices):
                yield f"{self.flag}={part}"
            else:
                self.require_value(part)

    def text(self, value: Any) -> str:
        """Return a value as the command line has it. Raises `UsageError` for one that it cannot have."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int) and value.bit_length() > 64:
            raise self.error(f"{self.key} is a whole number of more than 64 bits", "correct it")
        if isinstance(value, str | int | float):
            return str(value)
        if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
            return ",".join(map(self.text, value))
        raise self.error(f"{self.key} must be text, a number or a list, not {described(value)}")

    def require_value(self, value: str) -> None:
        """Raise `UsageError` for a value that no command has."""
        choices: dict[str, None] = {}
        for option in self.options():
            if not option.choices:
                return
            choices |= dict.fromkeys(map(str, option.choices))
        if value not in choices:
            raise self.error(f"{self.key} cannot be {value!r}", f"one of {', '.join(choices)}")

    def require_known(self) -> None:
        """Raise `UsageError` for an option that no command has, or that only the command line has."""
        options = self.options()
        for option in options:
            self.require_allowed(option)
        if options:
            return
        from clueval.files.names import question  # only for names that do not exist

        names = {flag.lstrip("-") for command in COMMANDS for flag in command_called(command).by_flag}
        advice = question(self.flag.lstrip("-"), sorted(names))
        if self.key == "tool":
            advice = f"{FILES[0]} has options without [tool.clueval]"
        elif isinstance(self.value, dict):
            advice = question(self.key, COMMANDS) or "a table has the name of a command"
            raise self.error(f"there is no command {self.key!r}", advice)
        raise self.error(f"no command has an option {self.key!r}", advice or "check its name")

    def require_allowed(self, option: CommandOption) -> None:
        """Raise `UsageError` for an option that a configuration cannot have."""
        reason = ""
        if option.read in OUTPUT_TYPES:
            reason = "names what is written"
        elif option.title in GATES:
            reason = "is a gate"
        elif option.place == "named_config":
            reason = "names a file that names what is written"
        elif option.place == "scheduler":
            reason = "names a machine that gets the texts"
        if reason:
            flag = f"{option.flags[-1]}{f' {option.metavar}' * (option.metavar is not None)}"
            raise self.error(
                f"a configuration cannot have {self.key!r}, because it {reason}",
                f"remove it, and give {flag} on the command line",
            )


def drop_unused(command: Command, values: OptionValues, defaults: Sequence[str]) -> None:
    """Unset those of these defaults that the call cannot use, or that apply to no file or form."""
    flags = {argument.partition("=")[0] for argument in defaults}
    needed = None if command.needs is None else command.needs(values)
    if needed is not None:
        unneeded = (command.by_flag[flag] for flag in flags if command.by_flag[flag].place not in needed)
        values |= {option.place: option.default for option in unneeded}
    drop_idle(values, flags)
    of_defaults = [command.by_flag[flag].place for flag in flags]
    places = {place.partition(".")[2]: place for place in of_defaults if place.startswith("Reading.")}
    if "layer" in of_defaults:
        places["layers"] = "layer"
    unused = {*places} - {"input", "row"}
    if not unused:
        return
    from clueval.reading.source import FOR_ALL  # only for options of formats
    from clueval.reading.source import options_of as options_of_form

    recognised = False
    for form in _forms(values):
        recognised = True
        unused -= {*options_of_form(form), *FOR_ALL}
        if not unused:
            return
    for name in unused if recognised else ():
        values[places[name]] = None


def _forms(values: OptionValues) -> Iterator[Form]:
    """Yield the format of each file of gold, predicted, old, new, FILE and annotators, as far as it is recognised."""
    from clueval.reading.source import form_at  # only for options of formats

    for place in ("Reading.row", "Reading.input"):
        if (named := values.get(place)) is not None:
            names = named if isinstance(named, tuple) else (named,)
            yield from (forms_named(name)[0] for name in names if name)
            return
    inputs = [values.get(name) for name in ("gold", "predicted", "old", "new", "file")]
    inputs += values.get("files") or []
    inputs += [Path(annotator.rpartition("=")[2]) for annotator in values.get("annotators") or []]
    for path in inputs:
        if isinstance(path, Path) and str(path) != STDIN:
            with suppress(CluevalError):  # reading the file raises the same error
                for _, file in files_of(path):
                    yield form_at(file, FormatOptions())


_METRICS = {kind: name for name, (_, kind) in METRICS.items()}
_GROUPS = ("Counting", "Naming", "Preparing", "Reading", "Trust", "Workers")
_QUOTED = r"""(?<!\w)(?:'(?>(?:[^'\\]|\\.)*)'|"(?>(?:[^"\\]|\\.)*)")"""
_VALUE = (
    rf"""{_QUOTED}|\{{(?>(?:{_QUOTED}|[^{{}}'"])*)\}}|\[(?>(?:{_QUOTED}|[^\[\]'"])*)\]|\.\.\.|True|False"""
)
_KIND = "|".join((*_GROUPS, *_METRICS))
_NAME = re.compile(
    rf"""{_QUOTED}|(?<![\w.,/-])(?:({_KIND})\.)?([a-z][a-z_]*)(?:=({_VALUE}|(?(1)-?\d+|(?!))))?""", re.DOTALL
)
"""A quoted value, or the name of an option, with its value if that follows; quoted values are not changed.

A number is a value only after class and field, because a layer may have the name of an option: ``token=2``.
"""

_ONE_SIDE = ("agree", "check", "convert", "curate", "merge")
"""The commands that read one side, whose annotation set --annotation-set names."""


def with_options(error: CluevalError, command: str | None = None) -> CluevalError:
    """Write the options in the message of `error` as those of `command`; return `error`."""
    error.problem = in_options(error.problem, command)
    if error.advice is not None:
        error.advice = in_options(error.advice, command)
    return error


def in_options(message: str, command: str | None) -> str:
    """Return a message with its options written as those of `command`.

    >>> in_options("Gate.beta must be greater than 0, not 'Gate.beta'", "score")
    "gate(beta=...) must be greater than 0, not 'Gate.beta'"
    >>> in_options("raise max_line", "check")
    'raise --max-line'
    >>> in_options("score with resample_by='sentence'", "compare")
    'score with --resample-by sentence'
    >>> in_options("name one, as in layers={'entity': ('ner', None)}; see pair_by=...", "score")
    'name one, as in --layer entity=ner:; see --pair-by'
    """
    sets = "--annotation-set" if command in _ONE_SIDE else "--gold-set and --predicted-set"
    message = message.replace(SELECT_SETS, f"select with {sets}")

    command_flags = _flags(command)

    def option(match: re.Match[str]) -> str:
        kind, name, value = match.groups()
        if name is None or not (kind or value or "_" in name):
            return match[0]
        key = name if kind is None else f"{kind}.{name}"
        flag = command_flags.get(f"{key}={value}") or command_flags.get(key)
        if flag is None and kind in _METRICS:
            flag = f"{_METRICS[kind]}({name}=...)"
        if flag is None and (kind or value):
            flag = next((flags[key] for flags in map(_flags, COMMANDS) if key in flags), None)
        return match[0] if flag is None else " ".join(_with_value(flag, value or "..."))

    return _NAME.sub(option, message)


@cache
def _flags(command: str | None) -> dict[str, str]:
    """Return the options of a command by the arguments of Python that they stand for, also as ``Class.field``."""
    if command not in COMMANDS:
        return {}
    flags: dict[str, str] = {}
    for option in command_called(command).options:
        flag = next((flag for flag in option.flags if flag.startswith("--")), None)
        if flag is not None:
            name = option.place.rpartition(".")[2]
            flags |= {option.place: flag, name: flag, f"{name}s": flags.get(f"{name}s", flag)}
    if "max_alignment" in flags:  # in Python, it is a number in the place of align=True
        flags["align=..."] = flags["max_alignment"]
    return flags


def _with_value(flag: str, value: str) -> list[str]:
    """Return the words of an option with a value that is written as in Python, once for each key of a dictionary.

    >>> _with_value("--layer", "{'a': 1, 'b': (2, 3)}"), _with_value("--force", "True")
    (['--layer a=1', '--layer b=2:3'], ['--force'])
    """
    node = ast.parse(value, mode="eval").body
    if isinstance(node, ast.Dict):
        return [
            f"{flag} {_word(key)}={_word(item)}" for key, item in zip(node.keys, node.values, strict=True)
        ]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [flag if node.value else flag.replace("--", "--no-", 1)]
    return [f"{flag} {_word(node)}".rstrip()]


def _word(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=value):
            return "" if value in (None, ...) else str(value)
        case ast.Tuple(elts=parts):
            return ":".join(map(_word, parts))
        case ast.List(elts=parts):
            return ",".join(map(_word, parts))
        case _:
            return "" if node is None else ast.unparse(node)
