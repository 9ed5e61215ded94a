"""The options that `clueval agree` and `clueval curate` share: annotators, and how they are read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from clueval.cli import options as common
from clueval.cli.parser import CommandParser
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path
from clueval.reading.options import PAIR_BY
from clueval.studies.agreement.annotators import LAYOUTS, names_of


def add_annotators(parser: CommandParser) -> None:
    """Add the arguments and options that name annotators."""
    parser.add_argument(
        "annotators",
        nargs="+",
        type=_annotator,
        metavar="[NAME=]PATH",
        help="a file or folder of each annotator, or one file or folder that has all annotators; without NAME, the "
        "name is the shortest end of the path that no other path has",
    )
    group = parser.group("annotators")
    group.add_argument(
        "--annotator",
        action="append",
        metavar="NAME=COLUMN",
        help="an annotator in a column of the only file, or NAME=SET, in an annotation set; can be repeated",
    )
    group.add_argument(
        "--layout",
        choices=LAYOUTS,
        metavar="LAYOUT",
        help=f"what the folders and files of the only folder are: {' or '.join(LAYOUTS)} (default: the first)",
    )
    group.add_argument(
        "--unannotated",
        metavar="TAG",
        help="a document with this tag on every token is not annotated",
    )
    group.add_argument(
        "--pair-by",
        choices=PAIR_BY,
        metavar="HOW",
        help="pair documents by id, name of the file, or content (default: files of folders by name, documents by id)",
    )


def sources_of(options: argparse.Namespace) -> Any:
    """Return the annotators as `clueval.agree` takes them."""
    given = list(map(_named_path, options.annotators))
    if len(given) == 1:
        return given[0][1]
    return common.by_name(given, names_of([path for name, path in given if name is None]), "annotators")


def paths_of(options: argparse.Namespace) -> list[Path]:
    """Return the paths of all annotators."""
    return [path for _, path in map(_named_path, options.annotators)]


def _annotator(text: str) -> str:
    """Note the path that an argument names, which is an input."""
    with suppress(UsageError):  # `sources_of` raises it
        _named_path(text)
    return text


def _named_path(text: str) -> tuple[str | None, Path]:
    """Return the name, if there is one, and the path of an argument."""
    name, path = common.named_path(text)
    return name, input_path(path)


def columns_of(options: argparse.Namespace) -> dict[str, int | str] | None:
    """Return the columns or annotation sets that ``--annotator`` names."""
    found = dict[str, int | str]()
    for name, place in _columns(options.annotator or ()):
        if name in found:
            raise UsageError(f"--annotator names {name!r} twice", advice="give each a name of its own")
        found[name] = place
    return found or None


def _columns(given: Any) -> Iterator[tuple[str, int | str]]:
    for text in given:
        name, equals, place = text.partition("=")
        if not name or not equals:
            raise UsageError(
                f"--annotator {text!r} cannot be read", advice="write it NAME=COLUMN or NAME=SET"
            )
        yield name, int(place) if place.lstrip("-").isdecimal() else place


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return how annotators are read, as keyword arguments of `clueval.agree`."""
    return {
        "annotators": columns_of(options),
        "layers": common.single_layers(options),
        "layout": options.layout,
        "unannotated": options.unannotated,
        "pair_by": options.pair_by,
        **common.reading(options),
    }
