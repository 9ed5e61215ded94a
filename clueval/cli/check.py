"""``clueval check``: all that is wrong with files."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.printing import say
from clueval.reading.check import Check
from clueval.reading.options import ReadOptions
from clueval.reading.paths import files_of
from clueval.reading.source import source_of

USAGE = "FILE..."
DESCRIPTION = """\
Read files and list everything that is wrong with them, with line numbers: lines that lack a column, tags that are
none, ill-formed sequences of tags, token ids that occur twice in a document, broken XML, wrong encoding. Exit code
0 if nothing is, 1 if something is."""
EPILOG = """\
example:
  clueval check gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files or folders")
    parser.add_argument(
        "--max-errors",
        type=common.whole(1),
        default=100,
        metavar="N",
        help="stop a file after N problems (default: 100)",
    )
    common.add_reading(parser)


def run(options: argparse.Namespace) -> int:
    reading = ReadOptions(layers=common.single_layers(options), **common.reading(options))
    files = [file for given in options.files for file in files_of(given)]
    reading.require_use(path for _, path in files)
    wrong = 0
    for name, path in files:
        wrong += _check(Check(source_of(path, reading, name=name)), path, options.max_errors)
    return 1 if wrong else 0


def _check(check: Check, path: Path, most: int) -> bool:
    """Print what is wrong with a file, and a line that sums it up."""
    problems = check.problems()
    count = 0
    for problem in islice(problems, most):
        count += 1
        say(str(problem))
    if count == most and next(problems, None) is not None:
        say(f"{path}: stopped after {most} problems; there are more (--max-errors shows them)")
    elif count:
        say(f"{path}: {count} problem{'s' * (count != 1)}")
    else:
        schemes = ", ".join(f"{layer} {scheme or 'without a tag'}" for layer, scheme in check.schemes.items())
        say(
            f"{path}: no problems; {check.documents:,} document{'s' * (check.documents != 1)}, "
            f"{check.tokens:,} positions" + (f" ({schemes})" if schemes else "")
        )
    return bool(count)
