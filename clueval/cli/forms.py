"""The form in which a result is printed, and the file that it may go to instead."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from pathlib import Path

from clueval.cli.parser import Command
from clueval.cli.printing import put, wrote


def add_output(parser: Command, forms: Collection[str] = ()) -> None:
    """The options for the form of a result, if there are several, and for the file that it goes to."""
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
    """Lines to standard output or, complete or not at all, to a file."""
    if path is None:
        for line in lines:
            put(line)
        return
    from clueval.writing import whole_file

    with whole_file(path) as output:
        output.writelines(f"{line}\n" for line in lines)
    wrote(path)


def form_of(options: argparse.Namespace) -> str:
    """The form that ``--format`` names."""
    return options.format or "text"
