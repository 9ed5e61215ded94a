"""``clueval completion``: the script that lets a shell complete commands and options."""

from __future__ import annotations

import argparse

from clueval.cli.commands import every_command
from clueval.cli.outputs import add_output, put_result, require_writable
from clueval.cli.parser import Command, CommandParser
from clueval.exceptions import MissingExtra

SHELLS = ("bash", "zsh", "tcsh")

USAGE = "SHELL"
DESCRIPTION = """\
Print the script that completes the commands and options of clueval in a shell (extra: cli)."""
EPILOG = """\
examples:
  eval "$(clueval completion bash)"                   (in ~/.bashrc)
  clueval completion zsh -o ~/.zfunc/_clueval"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise MissingExtra(
            "completion needs the package shtab", advice="pip install 'clueval[cli]'"
        ) from None
    require_writable([options.output_file])
    put_result([shtab.complete(every_command(), shell=options.shell).rstrip("\n")], options.output_file)
    return 0


COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
