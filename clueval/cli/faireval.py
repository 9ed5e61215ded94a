"""``clueval faireval``: carry out a config file of FairEval."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli import printing
from clueval.cli.outputs import refuse_to_overwrite
from clueval.compat.faireval.config import output_file, parse_config, run_config
from clueval.textfiles import lines
from clueval.writing import whole_file

USAGE = "CONFIG"
DESCRIPTION = """\
Carry out a FairEval config file and print its report.

The config says what is scored and how: see `clueval.compat.faireval.config`. The report goes to standard output,
or where the config says (eval_out)."""
EPILOG = """\
example:
  clueval faireval ner.config"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the config file")


def run(options: argparse.Namespace) -> int:
    refuse_to_overwrite([options.config], [])  # and what can be no path
    config = parse_config(lines(options.config), file=str(options.config))
    target = output_file(config)
    refuse_to_overwrite([options.config, config.target_in, config.system_in], [target])
    report = run_config(config)
    if target is None:
        printing.put(report, end="")
    else:
        with whole_file(target) as output:
            output.write(report)
        printing.wrote(target)
    return 0
