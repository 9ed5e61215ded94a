"""The options for the form of a result and for the file to which it is written."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from pathlib import Path

from clueval.cli.parser import Command
from clueval.cli.printing import put, wrote


def add_output(parser: Command, forms: Collection[str] = ()) -> None:
    """Add the options for the form of a result, if there are several, and for the file."""
    group = parser.group("output")
    if forms:
        group.add_argument(
            "--format",
            choices=forms,
            metavar="FORM",
            help=f"the form of the result: {', '.join(forms)} (default: text)",
        )
    group.add_argument(
        "-o",
        "--output-file",
        type=Path,
        metavar="FILE",
        help="write the result to FILE (default: standard output)",
    )


def put_result(lines: Iterable[str], path: Path | None) -> None:
    """Write lines to standard output, or to a file, which is then complete or not written at all."""
    if path is None:
        for line in lines:
            put(line)
        return
    from clueval.writing import whole_file

    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)
    wrote(path)


def form_of(options: argparse.Namespace) -> str:
    """Return the form that ``--format`` names."""
    return options.format or "text"
