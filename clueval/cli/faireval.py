"""``clueval faireval``: runs a config file of FairEval."""

from __future__ import annotations

import argparse

from clueval.cli.outputs import add_output, put_result, refuse_to_overwrite
from clueval.cli.parser import Command, CommandParser
from clueval.compat.faireval.config import output_file, parse_config, run_config
from clueval.overwriting import input_path, note_input
from clueval.textfiles import lines

USAGE = "CONFIG"
DESCRIPTION = """\
Run a FairEval config file and print its report.

The config file names the input and the settings; python -m pydoc clueval.compat.faireval.config describes
it. The report is written to the file of -o, to the file that the config names (eval_out), or to standard output."""
EPILOG = """\
example:
  clueval faireval ner.config"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("config", type=input_path, metavar="CONFIG", help="the config file")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    config = parse_config(lines(options.config), file=str(options.config))
    target = options.output_file or output_file(config)
    note_input(config.target_in)
    note_input(config.system_in)
    refuse_to_overwrite([target])
    put_result([run_config(config).removesuffix("\n")], target)
    return 0


FAIREVAL_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
