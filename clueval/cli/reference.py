"""The parts of the guide's reference that are made from the program: commands, metrics, formats, functions, errors."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import clueval
from clueval import exceptions
from clueval.cli.commands import COMMANDS, command_parser
from clueval.cli.formats import described as described_format
from clueval.cli.metrics import described as described_metric
from clueval.formats import all_formats
from clueval.metrics import METRICS


def _commands() -> str:
    """Every command with its whole help, topics included."""
    return _sections((f"clueval {name}", _help(name)) for name in COMMANDS)


def _help(command: str) -> str:
    parser = command_parser(command)
    return "\n".join([parser.format_help(), *map(parser.format_topic, parser.topics)])


def _metrics() -> str:
    """Every metric with its definition and its settings."""
    return _sections((name, "\n".join(described_metric(name))) for name in METRICS)


def _formats() -> str:
    """Every format with its signs, its description and its options."""
    return _sections((form.name, "\n".join(described_format(form))) for form in all_formats())


def _functions() -> str:
    """Every public name with its signature and its description."""
    names = (name for name in clueval.__all__ if not name.startswith("_"))
    return _sections(
        (f"clueval.{name}", "\n".join(_described(name, getattr(clueval, name)))) for name in names
    )


def _errors() -> str:
    """Every class of errors with its description."""
    return _sections(
        (name, inspect.getdoc(kind) or "")
        for name, kind in vars(exceptions).items()
        if inspect.isclass(kind) and issubclass(kind, exceptions.CluevalError)
    )


PARTS = {
    "commands": _commands,
    "metrics": _metrics,
    "formats": _formats,
    "functions": _functions,
    "errors": _errors,
}
"""The functions that return the parts, in Markdown."""


def _sections(sections: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"## {title}\n\n```text\n{text.strip()}\n```\n" for title, text in sections)


def _described(name: str, what: Any) -> Iterator[str]:
    """Yield the signature and the docstring of a function, or of a class and its public methods."""
    yield _called(name, what)
    yield from _indented(what)
    if not inspect.isclass(what) or issubclass(what, Exception):
        return
    for method, member in vars(what).items():
        if not method.startswith("_") and inspect.getdoc(member) and not inspect.isclass(member):
            yield ""
            yield f"    {_called(method, getattr(member, '__func__', member))}"
            yield from (f"    {line}" for line in _indented(member))


def _called(name: str, what: Any) -> str:
    """Return a name with its parameters, or alone if it is not called."""
    if not callable(what):
        return name
    parameters = [
        each for each in inspect.signature(what).parameters.values() if each.name not in ("self", "cls")
    ]
    return f"{name}({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})"


def _indented(what: Any) -> Iterator[str]:
    for line in (inspect.getdoc(what) or "").splitlines():
        yield f"    {line}".rstrip()
