"""The command line: arguments in, exit code out.

0 done; 1 a check failed; 2 wrong use or bad input, one line on stderr; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from clueval.cli import check, convert, merge, score
from clueval.exceptions import CluevalError

COMMANDS = {"score": score, "merge": merge, "check": check, "convert": convert}


class _Parser(argparse.ArgumentParser):
    """An argument parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="clueval",
        description="Score labelled spans: gold against predicted, in every way of counting that people report.",
        epilog="clueval COMMAND --help shows the options of a command.",
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, room in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=room.HELP,
            description=room.DESCRIPTION,
            epilog=room.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        room.add_arguments(command)
    return top


def _version() -> str:
    from clueval.version import __version__

    return __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        code: int = COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except CluevalError as error:
        print(f"clueval {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"clueval {options.command}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # whoever reads the output has gone; Python's own flush at exit must not complain about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
