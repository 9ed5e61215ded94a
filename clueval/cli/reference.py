"""The commands that explain clueval: ``formats``, ``metrics``, ``guide``, ``help`` and ``completion``.

All that they print is made from the program: the records of formats, the docstrings and settings of metrics, the pages
of the guide, the parsers of commands.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any

import clueval
from clueval.cli.commands import COMMANDS, HELP, command_called, overview, require_command, settings_of
from clueval.cli.declared import OneOf
from clueval.cli.outputs import LINES, put_result
from clueval.cli.printing import complain, put, put_markdown, put_prose
from clueval.files import errors
from clueval.files.errors import UsageError
from clueval.files.names import one_of
from clueval.files.options import option_of, options_of
from clueval.formats.catalogue import details, recognised_by, rows_of, uses_of
from clueval.formats.form import NAMES, forms_named
from clueval.formats.options import Reading
from clueval.guide import SIMILAR_WORDS, Parts, contents, found_pages, page_named
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import shown_default, values_of
from clueval.reports import Content
from clueval.reports.report import Report

_NAMES = ", ".join(NAMES)


def _wrapped(text: str, indent: int) -> list[str]:
    margin = " " * indent
    return wrap(text, 100, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


# --- formats


def formats(name: Annotated[str, OneOf(NAMES)] | None = None) -> int:
    """List the formats: how each is recognised, what it contains, and whether it can be read and written. With NAME,
    describe one format and the options that apply to it.

    usage: [NAME]

    arguments:
        name NAME: the format to describe: {_NAMES} (default: list all)

    example:
        clueval formats gate-xml
    """
    if name is not None:
        put_prose(described_format(name))
        return 0
    width = max(map(len, NAMES))
    for each in sorted(NAMES):
        put(f"{each.ljust(width)}  {', '.join(uses_of(each))}")
        for text in (*_holds(each), f"recognised by: {recognised_by(each)}"):
            put_prose(_wrapped(text, 4))
    put_prose(
        ["  --input FORMAT names the format; if the sides differ, --input GOLD:PREDICTED, as in vrt:inline"]
    )
    return 0


def _holds(name: str) -> list[str]:
    return [form.holds for form in forms_named(name)]


def described_format(name: str) -> Iterator[str]:
    """Yield the description of a format, then its options."""
    yield f"{name}: {'; '.join(_holds(name))}"
    yield f"Recognised by: {recognised_by(name)}. Use: {', '.join(uses_of(name))}."
    yield ""
    yield details()[name]
    if rows := rows_of(name):
        yield ""
        yield "Its rows, as --row describes them (add id=KEY if each has an id):"
        yield from (f"  {description}" for description in rows)
    options = {option for form in forms_named(name) for option in form.options}
    reads = [
        (f"{declared.flag} {declared.metavar or ''}".rstrip(), declared.help)
        for field, declared in options_of(Reading)
        if field.name in options
    ]
    if "layers" in options:
        layer = "a layer and its source: a column, or a name that the format has; can be repeated"
        reads.insert(0, ("--layer NAME=SOURCE", layer))
    if reads:
        yield ""
        yield "options:"
    for option, meaning in reads:
        yield f"  {option}"
        yield f"      {meaning}"


# --- metrics


def metrics(name: str | None = None) -> int:
    """List the metrics. With NAME, describe one: its definition, its source, and its settings with their defaults.
    Change a setting with clueval score --metric 'NAME(SETTING=VALUE)'.

    usage: [NAME]

    arguments:
        name NAME: the metric to describe (default: list all)

    example:
        clueval metrics fair
    """
    if name is not None:
        put_prose(described_metric(name))
        return 0
    width = max(map(len, METRICS))
    put_prose(f"{metric.ljust(width)}  {_definition_of(metric).partition(chr(10))[0]}" for metric in METRICS)
    return 0


def described_metric(name: str) -> Iterator[str]:
    """Yield the definition of a metric, then its settings."""
    yield _definition_of(name)
    yield ""
    kind, call = metric_class(name), f"{name}(SETTING=VALUE,...)"
    settings = settings_of(kind)
    in_use = f"settings, as in --metric '{call}'; in Python metrics='{call}':"
    yield in_use if settings else "It has no settings."
    for field in settings.values():
        values, declared = values_of(kind, field), option_of(field)
        assert values is not None
        yield f"  {field.name}: {values.takes} (default: {shown_default(field)})"
        if declared is not None:
            yield from _wrapped(declared.help, 6)


def _definition_of(name: str) -> str:
    """Return the docstring of the module that `METRICS` names for a metric, or that of its class, as a sentence."""
    kind = metric_class(name)
    text = inspect.getdoc(sys.modules[METRICS[name][0]]) or inspect.getdoc(kind) or name
    text = text.removeprefix(f"Metric `{name}`: ")
    return text[:1].upper() + text[1:]


# --- guide


def guide(page: list[str] | None = None) -> int:
    """Show a page of the guide: how to score, what each number means, and how to change from another program. If no
    page has this name, list the pages that have these words in their title or text. The exit code is 2 if no page has
    any of them; then the list has pages with similar words. Without PAGE, list all pages.

    usage: [PAGE | WORD ...]

    arguments:
        page PAGE: the page to show, or words to search for (default: list all pages)

    examples:
        clueval guide which-f1
        clueval guide redacted
    """
    if not page:
        put_markdown(contents().for_terminal())
        return 0
    named = page_named("-".join(page).lower())
    shown = found_pages(page, PARTS) if named is None else named.completed(PARTS)
    put_markdown(shown.for_terminal())
    if shown.name == SIMILAR_WORDS:
        complain(f"clueval guide: no page has {' '.join(page)!r} (clueval guide lists all pages)")
        return 2
    return 0


def _function_sections() -> Iterator[tuple[str, Iterable[str]]]:
    """Yield every public name with its signature and its description, and for classes those of public methods."""
    every_result = {**vars(Report), **{name: getattr(Content, name) for name in _OF_READERS}}
    yield "Every result", _described("the result of score, compare, ...", Report, every_result)
    for name in clueval.__all__:
        if not name.startswith("_"):
            what = getattr(clueval, name)
            members = vars(what) if inspect.isclass(what) else {}
            yield f"clueval.{name}", _described(name, what, members)


_OF_READERS = ("verdict", "tables", "places", "failures")
"""The methods of `Content` that readers of results call; the others are for what writes them."""


def _described(name: str, what: Any, members: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines about a name, and about those members of a class that have a description and are for readers."""
    yield _call_of(name, what)
    yield from _indented(what)
    for method, member in members.items():
        described = callable(member) or isinstance(member, property | cached_property | classmethod)
        for_writers = method in vars(Content).keys() - {*_OF_READERS}
        if (
            described
            and member.__doc__
            and not (method.startswith("_") or for_writers or inspect.isclass(member))
        ):
            yield ""
            for line in (_call_of(method, getattr(member, "__func__", member)), *_indented(member)):
                yield f"    {line}".rstrip()


def _call_of(name: str, what: Any) -> str:
    """Return a name with its parameters, or alone if it is not called, as a class of results that a function makes."""
    if not callable(what) or (inspect.isclass(what) and issubclass(what, Warning | Content)):
        return name
    signature = inspect.signature(what)
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    return f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"


def _indented(what: Any) -> Iterator[str]:
    return (f"    {line}".rstrip() for line in (inspect.getdoc(what) or "").splitlines())


PARTS: Parts = {
    "commands": lambda: ((f"clueval {name}", [command_called(name).full_help()]) for name in COMMANDS),
    "metrics": lambda: ((name, described_metric(name)) for name in METRICS),
    "formats": lambda: ((name, described_format(name)) for name in sorted(NAMES)),
    "functions": _function_sections,
    "errors": lambda: (
        (name, [inspect.getdoc(kind) or ""])
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.CluevalError | errors.CluevalWarning)
    ),
}
"""The functions that return the parts of the reference that are made from the program."""


# --- help and completion


def help(about: str | None = None, topic: str | None = None) -> int:
    """Show the help of a command, as clueval COMMAND --help does; with TOPIC, the options that are rarely needed.

    usage: [COMMAND [TOPIC]]

    arguments:
        about COMMAND: the command to explain, or a topic of clueval score (default: list all commands)
        topic TOPIC: one of the topics that the command's help names

    example:
        clueval help score reading
    """
    if about is None:
        put(overview(), end="")
        return 0
    if about not in COMMANDS and topic is None and about in command_called("score").topics:
        about, topic = "score", about
    require_command(about)
    command = command_called(about)
    if topic is not None and topic not in command.topics:
        topics = one_of(topic, command.topics) if command.topics else f"clueval {about} --help shows all"
        raise UsageError(f"clueval {about} has no help topic {topic!r}", advice=topics)
    put(command.help() if topic is None else command.topic_help(topic), end="")
    return 0


SHELLS = ("bash", "zsh")

_SCRIPT = """\
_clueval() {
    local words="COMMANDS"
    [ "$COMP_CWORD" -gt 1 ] && case "${COMP_WORDS[1]}" in
CASES
    esac
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _clueval clueval"""
"""The script for completion: commands, then their options and the words that they take; otherwise files."""


def completion(shell: Annotated[str, OneOf(SHELLS)], *, output: Path | None = LINES) -> int:
    """Print the script that completes the commands and options of clueval in a shell.

    usage: SHELL

    arguments:
        shell SHELL: the shell

    examples:
        eval "$(clueval completion bash)"                   (in ~/.bashrc)
        eval "$(clueval completion zsh)"                    (in ~/.zshrc)
    """
    cases = "\n".join(f'    {name}) words="{" ".join(_words(name))}" ;;' for name in COMMANDS)
    script = _SCRIPT.replace("COMMANDS", " ".join(COMMANDS)).replace("CASES", cases)
    before = ["autoload -U bashcompinit && bashcompinit"] if shell == "zsh" else []
    put_result([*before, script], output)
    return 0


def _words(command: str) -> Iterator[str]:
    """Yield the options of a command, and the words that its arguments take."""
    for option in (HELP, *command_called(command).options):
        yield from option.flags or map(str, option.choices)
