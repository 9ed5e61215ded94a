"""Names the options in messages as the user gives them on the command line.

Every message names an option as Python takes it: with its value (``pair_by='id'``, ``layers={'entity': 2}``, or
``scheme=...`` for any value), by its name alone if that has an underscore (``max_line``), or by class and field
(``Gate.beta``, ``Reading.token=2``). The command line writes ``--pair-by id``, ``--layer entity=2``, ``--scheme``,
``--max-line``, ``--token 2``, and ``gate(beta=...)`` or, in ``clueval masking``, the option that the setting has there.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from clueval.cli.commands import COMMANDS, command_parser
from clueval.files.errors import CluevalError
from clueval.formats.options import SELECT_SETS
from clueval.metrics import METRICS

_METRICS = {kind: name for name, (_, kind) in METRICS.items()}
_GROUPS = ("Counting", "Preparing", "Reading", "Trust", "Workers")
_QUOTED = r"""(?<!\w)(?:'(?>(?:[^'\\]|\\.)*)'|"(?>(?:[^"\\]|\\.)*)")"""
_VALUE = (
    rf"""{_QUOTED}|\{{(?>(?:{_QUOTED}|[^{{}}'"])*)\}}|\[(?>(?:{_QUOTED}|[^\[\]'"])*)\]|\.\.\.|True|False"""
)
_KIND = "|".join(("Lists", *_GROUPS, *_METRICS))
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


def in_options(message: str, command: str | None = None) -> str:
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
        flag = "--max-alignment" if key == "Counting.align" else command_flags.get(key)
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
    for action in command_parser(command).option_actions().values():
        flag = next((string for string in action.option_strings if string.startswith("--")), None)
        if flag is not None:
            name = action.dest.rpartition(".")[2]
            flags |= {action.dest: flag, name: flag, f"{name}s": flags.get(f"{name}s", flag)}
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
