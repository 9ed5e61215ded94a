"""The command line: arguments in, exit code out.

0 done; 1 a check failed; 2 wrong use or bad input, one line on stderr; 129 the terminal was closed;
130 interrupted; 143 terminated.

Each command is a module; `options` and `settings` are what several share. The only package that prints.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from io import TextIOBase, TextIOWrapper
from typing import Any, NoReturn

from clueval.cli.printing import remark
from clueval.exceptions import CluevalError, FileError
from clueval.version import __version__
from clueval.visible import visible

COMMANDS = {
    "score": "score predicted against gold",
    "conventions": "score under every convention at once: which F1 is this?",
    "gate": "score as GATE does: reference set, candidate lists, GATE's table and page",
    "faireval": "carry out a FairEval config file",
    "errors": "show the errors in their sentences: terminal, TSV, spreadsheet, web page",
    "merge": "merge several layers into one sequence of spans",
    "check": "list all problems of files",
    "convert": "convert spans into another format",
    "formats": "list the formats, or describe one",
}
"""What each command does; its room, of the same name, is imported when it is called."""


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains in one line, and asks for the width of the terminal only to print help.

    argparse asks with every argument, by way of shutil, which loads all the packers of files that there are.
    """

    def __init__(
        self, *, formatter_class: type[argparse.HelpFormatter] = argparse.HelpFormatter, **settings: Any
    ) -> None:
        self._prints_help = formatter_class
        super().__init__(formatter_class=partial(formatter_class, width=80), **settings)

    def format_help(self) -> str:
        self.formatter_class = self._prints_help
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(2, visible(f"{self.prog}: {message} (see {self.prog} --help)") + "\n")


class _Command(_Parser):
    """The parser of one command, which says itself what it does not know."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown


def parser(command: str | None) -> argparse.ArgumentParser:
    """The command line, with the options of one command."""
    top = _Parser(
        prog="clueval",
        description="Score labelled spans: gold against predicted, in every way of counting that people report.",
        epilog="clueval COMMAND --help shows the options of a command.",
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_Command, prog=top.prog
    )
    for name, help_text in COMMANDS.items():
        if name != command:
            commands.add_parser(name, help=help_text)
            continue
        room = import_module(f"clueval.cli.{name}")
        chosen = commands.add_parser(
            name,
            help=help_text,
            usage=f"%(prog)s {room.USAGE} [options]",
            description=room.DESCRIPTION,
            epilog=room.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        room.add_arguments(chosen)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    command = next((word for word in given if not word.startswith("-")), None)
    name = "clueval" if command is None else f"clueval {command}"
    _make_printable()
    try:
        with _ending_in_order():
            options = parser(command).parse_args(given)
            code: int = import_module(f"clueval.cli.{options.command}").run(options)
            sys.stdout.flush()
    except CluevalError as error:
        remark(f"{name}: {error}")
        return 2
    except KeyboardInterrupt as error:
        number = error.number if isinstance(error, _Ended) else signal.SIGINT
        remark(f"{name}: {_ENDS[number]}")
        return 128 + number
    except BrokenPipeError:  # whoever reads the output has gone
        _give_up_stdout()
        return 0
    except OSError as error:
        remark(f"{name}: {FileError(error.strerror or str(error), file=str(error.filename or 'output'))}")
        _give_up_stdout()
        return 2
    return code


_ENDS: dict[int, str] = {
    number: meaning
    for name, meaning in (("SIGHUP", "hung up"), ("SIGINT", "interrupted"), ("SIGTERM", "terminated"))
    if (number := getattr(signal, name, None)) is not None
}
"""The signals that end a command in order, and what is said of each."""


class _Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does: no process is left behind, and no half of a file."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Inside, the signals of `_ENDS` raise `KeyboardInterrupt`, unless the caller has another use for them."""
    only_in_main_thread = suppress(ValueError)  # another one is not told of signals and cannot ask to be
    own = [number for number in _ENDS if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _: object) -> NoReturn:
        raise _Ended(number)

    hook, sys.unraisablehook = sys.unraisablehook, _send_again
    try:
        with only_in_main_thread:
            for number in own:
                signal.signal(number, end)
        yield
    finally:
        sys.unraisablehook = hook
        with only_in_main_thread:
            for number in own:
                signal.signal(number, signal.SIG_DFL)


def _send_again(lost: sys.UnraisableHookArgs) -> None:
    """An interruption that came upon a destructor, where Python drops it, comes again a moment later."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer

    number = lost.exc_value.number if isinstance(lost.exc_value, _Ended) else signal.SIGINT
    Timer(0.05, os.kill, (os.getpid(), number)).start()


class _Closed(TextIOBase):
    """Standard output that was closed before the start: whoever writes a result to it is told."""

    def write(self, _: str) -> NoReturn:
        raise FileError(
            "standard output is closed, and the result was to go there", advice="send it to a file"
        )


def _make_printable() -> None:
    """Standard output that takes every character, as an escape if need be; remarks for nobody go nowhere."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # stays open to the end
    if sys.stdout is None:
        sys.stdout = _Closed()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Python's own flush at exit must not complain about an output that cannot be written."""
    with suppress(OSError):  # it has no number: there is nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
