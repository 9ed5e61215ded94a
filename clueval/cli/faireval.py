"""``clueval faireval``: runs a config file of FairEval."""

from __future__ import annotations

import argparse
from pathlib import Path

from clueval.cli.outputs import add_output, put_result, refuse_to_overwrite
from clueval.cli.parser import Command, CommandParser
from clueval.compat.faireval.config import output_file, parse_config, run_config
from clueval.files.errors import UsageError
from clueval.files.opening import lines
from clueval.files.overwriting import input_path, note_input
from clueval.files.writing import make_folder

USAGE = "CONFIG"
DESCRIPTION = """\
Run a FairEval config file and print its report.

The config file names the input and the settings; python -m pydoc clueval.compat.faireval.config describes
it. The report is written to the file of -o, to the file that the config names (eval_out), or to standard output. If
eval_out is a folder, or ends with /, the report is the file eval.csv in it."""
EPILOG = """\
example:
  clueval faireval ner.config"""


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("config", nargs="?", type=input_path, metavar="CONFIG", help="the config file")
    parser.add_argument(
        "--config",
        dest="named_config",
        type=input_path,
        metavar="CONFIG",
        help="the config file, as FairEval's own program takes it",
    )
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    config_file = _one_config(options.config, options.named_config)
    config = parse_config(lines(config_file), file=str(config_file))
    target = options.output_file or output_file(config)
    note_input(config.target_in)
    note_input(config.system_in)
    refuse_to_overwrite([target])
    report = run_config(config)
    if options.output_file is None and target is not None and (config.eval_out or "").endswith("/"):
        make_folder(target.parent)
    put_result([report.removesuffix("\n")], target)
    return 0


def _one_config(*given: Path | None) -> Path:
    """Return the config file. Raises `UsageError` unless there is one."""
    files = {path for path in given if path is not None}
    if not files:
        raise UsageError("CONFIG is missing", advice="name a config file of FairEval")
    if len(files) > 1:
        raise UsageError("two config files are named", advice="leave out --config, or the other")
    return files.pop()


FAIREVAL_COMMAND = Command(USAGE, DESCRIPTION, EPILOG, add_arguments, run)
