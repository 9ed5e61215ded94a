"""``clueval check``: lists all problems of files."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.fields import typed
from clueval.cli.forms import add_output, put_result
from clueval.cli.outputs import refuse_to_overwrite, require_writable
from clueval.cli.parser import Command
from clueval.options import whole
from clueval.reading.check import Check
from clueval.reading.options import ReadOptions
from clueval.reading.paths import files_of
from clueval.reading.source import source_of
from clueval.visible import visible

USAGE = "FILE..."
DESCRIPTION = """\
Read files and list all their problems, with line numbers: lines that lack a column, invalid tags, invalid
sequences of tags, token ids that occur twice in a document, malformed XML, wrong encoding. The exit code is 0
if there are no problems, otherwise 1."""
EPILOG = """\
example:
  clueval check gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --token-id 4"""


def add_arguments(parser: Command) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files or folders")
    add_output(parser)
    parser.group("output").add_argument(
        "--max-errors",
        type=typed(whole),
        default=100,
        metavar="N",
        help="stop a file after N problems (default: 100)",
    )
    common.add_reading(parser, sides=1)


def run(options: argparse.Namespace) -> int:
    refuse_to_overwrite([*options.files, common.text_of(options)], [options.output_file])
    require_writable([options.output_file])
    reading = ReadOptions(layers=common.single_layers(options), **common.reading(options))
    files = [file for given in options.files for file in files_of(given)]
    reading.require_use(path for _, path in files)
    problems = 0

    def lines() -> Iterator[str]:
        nonlocal problems
        for name, path in files:
            problems += yield from _check(
                Check(source_of(path, reading, name=name)), path, options.max_errors
            )

    put_result(map(visible, lines()), options.output_file)
    return 1 if problems else 0


def _check(check: Check, path: Path, most: int) -> Generator[str, None, int]:
    """Yield a line for each problem of a file, and a summary; return the number of problems."""
    problems = check.problems()
    count = 0
    for problem in islice(problems, most):
        count += 1
        yield str(problem)
    if count == most and next(problems, None) is not None:
        yield f"{path}: stopped after {most} problems; there are more (--max-errors N shows N of them)"
    elif count:
        yield f"{path}: {count} problem{'s' * (count != 1)}"
    else:
        schemes = ", ".join(f"{layer} {scheme or 'without a tag'}" for layer, scheme in check.schemes.items())
        yield (
            f"{path}: no problems; {check.documents:,} document{'s' * (check.documents != 1)}, "
            f"{check.tokens:,} positions" + (f" ({schemes})" if schemes else "")
        )
    return count
