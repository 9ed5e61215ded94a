"""The command ``samples``: writes the sample corpora of the package into a folder."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from clueval.cli.parser import Command, CommandParser
from clueval.cli.printing import say
from clueval.files.errors import FileError
from clueval.files.overwriting import output_folder
from clueval.files.writing import errors_of, make_folder, whole_bytes


def _add_arguments(parser: CommandParser) -> None:
    parser.add_argument(
        "folder", type=output_folder, metavar="FOLDER", help="the folder to write: a new one, or an empty one"
    )


def _run(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if str(folder) == "-":
        raise FileError("cannot be written: it is no folder", file="-", advice="name a folder")
    samples = dict(_files(files("clueval") / "samples", folder))
    with errors_of(folder):
        empty = not folder.is_dir() or not any(folder.iterdir())
        there = not empty and all(path.is_file() and path.read_bytes() == of for path, of in samples.items())
    if not empty and not there:
        raise FileError(
            "cannot be written: the folder is not empty", file=str(folder), advice="name a new folder"
        )
    if empty:
        make_folder(folder)
        for path, content in samples.items():
            with errors_of(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            with whole_bytes(path) as file:
                file.write(content)
    german = shlex.quote(str(folder / "german"))
    say(f"The samples {'were written to' if empty else 'are already in'} {folder}; README.md describes them")
    say(f"Example: clueval score {german}/gold.vrt {german}/predicted.vrt --layer entity=2")
    return 0


def _files(folder: Traversable, target: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and the content of every file below a folder of the package."""
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _files(each, target / each.name)
        else:
            yield target / each.name, each.read_bytes()


SAMPLES_COMMAND = Command(
    "FOLDER",
    """\
Write the sample corpora that the examples of the guide use: German court decisions and English texts with gold and
predicted spans, all invented, and a small file of each of many formats.""",
    """\
example:
  clueval samples samples""",
    _add_arguments,
    _run,
)
