"""How a command runs: the configuration, the outputs, warnings and errors in one line, and the ends by signals."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOBase, TextIOWrapper
from typing import NoReturn

from clueval.cli.commands import COMMANDS, HELP, command_called, overview, require_command, unknown_option
from clueval.cli.outputs import check_outputs
from clueval.cli.printing import QUIET, complain, flush, give_up, put, reader_has_ended, remark
from clueval.files.errors import CluevalError, CluevalWarning, FileError, assigned
from clueval.files.options import inputs_kept
from clueval.results.inputs import REPAIRED
from clueval.version import __version__


def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments, and return its exit code."""
    command = arguments[0] if arguments and not arguments[0].startswith("-") else None
    name = f"clueval {command}" if command in COMMANDS else "clueval"
    try:
        _make_printable()
        with _ending_in_order(), inputs_kept():
            if command is None:
                _without_command(arguments)
                return 0
            require_command(command)
            code = _run_command(command, arguments[1:])
    except CluevalError as error:
        from clueval.cli.config import with_options

        complain(f"{name}: {with_options(error, command)}")
        return 2
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps in a RuntimeError what is raised while a class is made.
        cause = error if isinstance(error, KeyboardInterrupt) else error.__cause__
        if not isinstance(cause, KeyboardInterrupt):
            raise
        number = cause.number if isinstance(cause, _Ended) else signal.SIGINT
        complain(f"{name}: {_ENDS[number]}")
        return 128 + number
    except MemoryError:
        complain(f"{name}: there is not enough memory for these files and options")
        return 2
    except OSError as error:
        ended = reader_has_ended(error)
        if not ended:
            file = str(error.filename or "output")
            complain(f"{name}: {FileError(error.strerror or str(error), file=file)}")
        give_up(sys.stdout)
        return 0 if ended else 2
    return code


def _without_command(arguments: Sequence[str]) -> None:
    """Print the help with all commands, or the version. Raises `SystemExit` after an option, as argparse does."""
    if not arguments or arguments[0] in HELP.flags:
        put(overview(), end="")
    elif arguments[0] in ("-V", "--version"):
        put(f"clueval {__version__}")
    else:
        problem = unknown_option(arguments[0].partition("=")[0], dict.fromkeys(("--help", "--version"), HELP))
        complain(f"clueval: {problem} (see clueval --help)")
        raise SystemExit(2)
    sys.stdout.flush()
    if arguments:
        raise SystemExit(0)


def _run_command(command: str, arguments: Sequence[str]) -> int:
    called = command_called(command)
    defaults: Sequence[str] = ()
    if any(map(os.path.exists, ("clueval.toml", "pyproject.toml"))) and "--no-config" not in arguments:
        from clueval.cli.config import configuration, defaults_of, drop_unused

        path, table = configuration() or (None, {})
        if path is not None:
            defaults = defaults_of(called, arguments, path, table)
            if not {"-q", "--quiet"} & {*arguments}:  # a file of defaults does not hide itself
                remark(f"clueval {command}: read {path} (--no-config ignores it)")
    values = called.parsed([*defaults, *arguments])
    if defaults:
        drop_unused(called, values, defaults)
    with assigned(QUIET, values["quiet"]), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", CluevalWarning)
        warnings.filterwarnings("ignore", REPAIRED, CluevalWarning)  # the lines on what was read have them
        check_outputs(values, called.outputs)
        code: int = called.value(values)
        flush()  # an error is the only line of a command, so warnings follow
        if warned:
            from clueval.cli.config import in_options

            for warning in dict.fromkeys(str(each.message) for each in warned):
                remark(f"clueval {command}: warning: {in_options(warning, command)}")
    return code


_ENDS: dict[int, str] = {
    number: meaning
    for name, meaning in (("SIGHUP", "hung up"), ("SIGINT", "interrupted"), ("SIGTERM", "terminated"))
    if (number := getattr(signal, name, None)) is not None
}
"""The signals after which a command cleans up and ends, with the message for each."""


class _Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command like Ctrl-C: no process and no incomplete file remains."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let the signals of `_ENDS` raise `KeyboardInterrupt` inside, except those for which the caller has a handler."""
    only_in_main_thread = suppress(ValueError)  # Python raises it if another thread sets a handler
    numbers = [number for number in _ENDS if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _: object) -> NoReturn:
        raise _Ended(number)

    hook, sys.unraisablehook = sys.unraisablehook, _send_again
    try:
        with only_in_main_thread:
            for number in numbers:
                signal.signal(number, end)
        yield
    finally:
        sys.unraisablehook = hook
        with only_in_main_thread:
            for number in numbers:
                signal.signal(number, signal.SIG_DFL)


def _send_again(lost: sys.UnraisableHookArgs) -> None:
    """Send a signal again a moment later if it arrived during a destructor, where Python discards its exception."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer

    number = lost.exc_value.number if isinstance(lost.exc_value, _Ended) else signal.SIGINT
    if sys.platform == "win32":  # where `os.kill` ends the process at once
        Timer(0.05, signal.raise_signal, (number,)).start()
    else:  # another thread must not keep the signal: only in the main thread it ends a read that waits
        Timer(0.05, os.kill, (os.getpid(), number)).start()


class _Closed(TextIOBase):
    """Replaces a standard output that was closed before the start; writing to it raises `FileError`."""

    def write(self, _: str) -> NoReturn:
        raise FileError(
            "standard output is closed, so the result cannot be printed", advice="write it to a file with -o"
        )


def _make_printable() -> None:
    """Make standard output accept every character, if necessary as an escape; replace outputs that are closed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # stays open to the end
    if sys.stdout is None:
        sys.stdout = _Closed()
    if isinstance(sys.stdout, TextIOWrapper):
        if sys.stdout.isatty() or "PYTHONIOENCODING" in os.environ:
            sys.stdout.reconfigure(errors="backslashreplace")
        else:  # as with -o, in every locale
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
