"""The commands that explain clueval: ``formats``, ``metrics``, ``guide``, ``help`` and ``completion``.

All that they print is made from the program: the records of formats, the docstrings and settings of metrics, the pages
of the guide, the parsers of commands.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import Field
from textwrap import wrap
from typing import Any

import clueval
from clueval.cli.commands import COMMANDS, command_line, command_parser, require_command
from clueval.cli.options import settings_of
from clueval.cli.outputs import add_output, put_result
from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import put, put_painted
from clueval.files import errors
from clueval.files.errors import UsageError
from clueval.files.options import Option, option_of, options_of
from clueval.formats.catalogue import FormatEntry, catalogue
from clueval.formats.form import NAMES
from clueval.formats.options import Reading
from clueval.guide.pages import Page, contents, found_pages, page_named
from clueval.metrics import METRICS, metric_class
from clueval.metrics.settings import shown_default, values_of

_LAYER = Option(
    "--layer",
    "NAME=SOURCE",
    "a layer and its source: a column, or a name that the format has; can be repeated",
)

_INDENT, _BELOW_SETTING, _WIDTH = "    ", "      ", 100


def _add_formats(parser: CommandParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        choices=NAMES,
        help=f"the format to describe: {', '.join(NAMES)} (default: list all)",
    )


def _run_formats(options: argparse.Namespace) -> int:
    entries = catalogue()
    if options.name is None:
        lines = _listed_formats(entries)
    else:
        lines = described_format(next(entry for entry in entries if entry.name == options.name))
    for line in lines:
        put(line)
    return 0


def _listed_formats(entries: Iterable[FormatEntry]) -> Iterator[str]:
    """Yield the formats, each with what it holds and how it is recognised, in lines that fit on a screen."""
    width = max(map(len, NAMES))
    for entry in entries:
        yield f"{entry.name.ljust(width)}  {_use_of(entry)}"
        for text in (*entry.holds, f"recognised by: {_recognised_by(entry)}"):
            yield from wrap(
                text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
            )
    yield "  --input FORMAT names the format; if the sides differ, --input GOLD:PREDICTED, as in vrt:inline"


def _use_of(entry: FormatEntry) -> str:
    return ", ".join([*entry.uses, *([f"extra {entry.extra}"] if entry.extra else [])])


def _recognised_by(entry: FormatEntry) -> str:
    return "; ".join(entry.recognised_by) or f"`--input {entry.name}`"


def described_format(entry: FormatEntry) -> Iterator[str]:
    """Yield the description of a format, then its options."""
    yield f"{entry.name}: {'; '.join(entry.holds)}"
    yield f"Recognised by: {_recognised_by(entry)}. Use: {_use_of(entry)}."
    yield ""
    yield entry.details
    if entry.rows:
        yield ""
        yield "Its rows, as --row describes them:"
        yield from (f"  {rows}" for rows in entry.rows)
    reads = [
        *([_LAYER] if "layers" in entry.options else []),
        *(declared for field, declared in options_of(Reading) if field.name in entry.options),
    ]
    if reads:
        yield ""
        yield "options:"
    for declared in reads:
        yield f"  {declared.flag} {declared.metavar or ''}".rstrip()
        yield f"      {declared.help}"


FORMATS_COMMAND = Command(
    "[NAME]",
    """\
List the formats: how each is recognised, what it contains, and whether it can be read and written. With NAME,
describe one format and the options that apply to it.""",
    """\
example:
  clueval formats gate-xml""",
    _add_formats,
    _run_formats,
)


def _add_metrics(parser: CommandParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the metric to describe (default: list all)")


def _run_metrics(options: argparse.Namespace) -> int:
    if options.name is not None:
        metric_class(options.name)  # raises for an unknown one
    for line in _listed_metrics() if options.name is None else described_metric(options.name):
        put(line)
    return 0


def _listed_metrics() -> Iterator[str]:
    """Yield the metrics, each with the first line of its definition."""
    width = max(map(len, METRICS))
    for name in METRICS:
        summary = _definition_of(name).partition("\n")[0]
        yield f"{name.ljust(width)}  {summary}"


def described_metric(name: str) -> Iterator[str]:
    """Yield the definition of a metric, then its settings."""
    yield _definition_of(name)
    yield ""
    settings = settings_of(metric_class(name))
    yield (
        f"settings, as in --metric '{name}(SETTING=VALUE,...)'; in Python metrics='{name}(SETTING=VALUE,...)':"
        if settings
        else "It has no settings."
    )
    for field in settings.values():
        yield from _setting(name, field)


def _setting(metric: str, field: Field[Any]) -> Iterator[str]:
    values, declared = values_of(metric_class(metric), field), option_of(field)
    assert values is not None
    yield f"  {field.name}: {values.takes} (default: {shown_default(field)})"
    if declared is not None:
        yield from wrap(
            declared.help,
            width=_WIDTH,
            initial_indent=_BELOW_SETTING,
            subsequent_indent=_BELOW_SETTING,
            break_on_hyphens=False,
        )


def _definition_of(name: str) -> str:
    """Return the docstring of the module that `METRICS` names for a metric, or that of its class, as a sentence."""
    kind = metric_class(name)
    text = inspect.getdoc(sys.modules[METRICS[name][0]]) or inspect.getdoc(kind) or name
    text = text.removeprefix(f"Metric `{name}`: ")
    return text[:1].upper() + text[1:]


METRICS_COMMAND = Command(
    "[NAME]",
    """\
List the metrics. With NAME, describe one: its definition, its source, and its settings with their defaults. Change
a setting with clueval score --metric 'NAME(SETTING=VALUE)'.""",
    """\
example:
  clueval metrics fair""",
    _add_metrics,
    _run_metrics,
)


def _add_guide(parser: CommandParser) -> None:
    parser.add_argument(
        "page",
        nargs="*",
        metavar="PAGE",
        help="the page to show, or words to search for (default: list all pages)",
    )


def _run_guide(options: argparse.Namespace) -> int:
    _show(_page(options.page).for_terminal())
    return 0


def _page(words: list[str]) -> Page:
    """Return the page with this name, else the pages that have these words. Raises `UsageError` if none has them."""
    if not words:
        return contents()
    page = page_named("-".join(words).lower())
    return found_pages(words, PARTS) if page is None else page.completed(PARTS)


def _show(text: str) -> None:
    """Print Markdown: with emphasis and tables on a terminal if rich is installed, otherwise as it is."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.markdown import Markdown
        except ImportError:
            pass
        else:
            console = Console(force_terminal=True, highlight=False)
            with console.capture() as painted:
                console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
            put_painted(painted.get().rstrip("\n"))
            return
    put(text.rstrip("\n"))


def _commands() -> str:
    """Every command with its whole help, topics included."""
    return _sections((f"clueval {name}", _whole_help(name)) for name in COMMANDS)


def _whole_help(command: str) -> str:
    parser = command_parser(command)
    return "\n".join([parser.format_help(), *map(parser.format_topic, parser.topics)])


def _metrics() -> str:
    """Every metric with its definition and its settings."""
    return _sections((name, "\n".join(described_metric(name))) for name in METRICS)


def _formats() -> str:
    """Every format with its signs, its description and its options."""
    return _sections((entry.name, "\n".join(described_format(entry))) for entry in catalogue())


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
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, errors.CluevalError | errors.CluevalWarning)
    )


PARTS = {
    "commands": _commands,
    "metrics": _metrics,
    "formats": _formats,
    "functions": _functions,
    "errors": _errors,
}
"""The functions that return the parts of the reference that are made from the program, in Markdown."""


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
    if not callable(what) or (inspect.isclass(what) and issubclass(what, Warning)):
        return name
    parameters = [
        each for each in inspect.signature(what).parameters.values() if each.name not in ("self", "cls")
    ]
    return f"{name}({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})"


def _indented(what: Any) -> Iterator[str]:
    for line in (inspect.getdoc(what) or "").splitlines():
        yield f"    {line}".rstrip()


GUIDE_COMMAND = Command(
    "[PAGE | WORD ...]",
    """\
Show a page of the guide: how to score, what each number means, and how to change from another program. If no page has
this name, list the pages that have these words in their title or text. Without PAGE, list all pages.""",
    """\
examples:
  clueval guide which-f1
  clueval guide redacted""",
    _add_guide,
    _run_guide,
)


def _add_help(parser: CommandParser) -> None:
    parser.add_argument(
        "about", nargs="?", metavar="COMMAND", help="the command to explain (default: list all commands)"
    )
    parser.add_argument(
        "topic", nargs="?", metavar="TOPIC", help="one of the topics that the command's help names"
    )


def _run_help(options: argparse.Namespace) -> int:
    put(_help_of(options.about, options.topic), end="")
    return 0


def _help_of(command: str | None, topic: str | None) -> str:
    if command is None:
        return command_line(None).format_help()
    require_command(command)
    parser = command_parser(command)
    if topic is None:
        return parser.format_help()
    if topic not in parser.topics:
        listed = (
            f"one of {', '.join(parser.topics)}" if parser.topics else f"clueval {command} --help shows all"
        )
        raise UsageError(f"clueval {command} has no help topic {topic!r}", advice=listed)
    return parser.format_topic(topic)


HELP_COMMAND = Command(
    "[COMMAND [TOPIC]]",
    """\
Show the help of a command, as clueval COMMAND --help does; with TOPIC, the options that are rarely needed.""",
    """\
example:
  clueval help score reading""",
    _add_help,
    _run_help,
)


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


def _add_completion(parser: CommandParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    add_output(parser)


def _run_completion(options: argparse.Namespace) -> int:
    cases = "\n".join(f'    {name}) words="{" ".join(_words(name))}" ;;' for name in COMMANDS)
    script = _SCRIPT.replace("COMMANDS", " ".join(COMMANDS)).replace("CASES", cases)
    before = ["autoload -U bashcompinit && bashcompinit"] if options.shell == "zsh" else []
    put_result([*before, script], options.output_file)
    return 0


def _words(command: str) -> Iterator[str]:
    """Yield the options of a command, and the words that its arguments take."""
    for action in command_parser(command)._actions:
        yield from action.option_strings or map(str, action.choices or ())


COMPLETION_COMMAND = Command(
    "SHELL",
    """\
Print the script that completes the commands and options of clueval in a shell.""",
    """\
examples:
  eval "$(clueval completion bash)"                   (in ~/.bashrc)
  eval "$(clueval completion zsh)"                    (in ~/.zshrc)""",
    _add_completion,
    _run_completion,
)
