"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.formats import FORMATS
from clueval.merging import MERGED
from clueval.tagging import INVALID, SCHEMES


def add_reading(parser: argparse.ArgumentParser, pairs: bool = False) -> None:
    """The options of all that read files; with `pairs`, a layer may have a gold and a predicted column."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--layer",
        action="append",
        metavar="NAME=COLUMN",
        help="a layer and the column of its tags, counted from 1 (from -1 at the end); again for each layer"
        + ("; NAME=GOLD:PREDICTED if the two sides have it in different columns" if pairs else "")
        + "; default: the last column, called label",
    )
    group.add_argument(
        "--token", type=int, metavar="COLUMN", help="the column of the tokens (default: the first free)"
    )
    group.add_argument(
        "--token-id", type=int, metavar="COLUMN", help="the column of the unique token ids, if there is one"
    )
    group.add_argument(
        "--input", choices=FORMATS, help="the format of the files (default: told from their first line)"
    )
    group.add_argument(
        "--scheme",
        metavar="SCHEME",
        help=f"the tag scheme: {', '.join(SCHEMES)} (default: told from the tags)",
    )
    group.add_argument(
        "--invalid",
        choices=INVALID,
        default="conlleval",
        help="what becomes of ill-formed tags: mended as conlleval and seqeval do, their spans discarded "
        "(seqeval's strict mode), or an error (default: conlleval)",
    )
    group.add_argument(
        "--document-tag", default="text", metavar="TAG", help="the XML element of a document (default: text)"
    )
    group.add_argument(
        "--sentence-tag", default="s", metavar="TAG", help="the XML element of a sentence (default: s)"
    )
    group.add_argument(
        "--ignore-punctuation",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="take punctuation out of the spans of conll2000 files, as FairEval does (default: yes)",
    )
    group.add_argument("--text", type=Path, metavar="FILE", help="the text that a table of spans belongs to")
    if not pairs:
        group.add_argument(
            "--set", dest="annotation_set", metavar="NAME", help="the annotation set to read (gate-xml, bdoc)"
        )


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `clueval.read` and `clueval.evaluate` that `add_reading` made, save the layers."""
    names = ("input", "token", "token_id", "scheme", "invalid", "document_tag", "sentence_tag", "text")
    found = {name: getattr(options, name) for name in names} | {"ignore_punct": options.ignore_punctuation}
    if hasattr(options, "annotation_set"):  # of commands that read one side
        found["annotation_set"] = options.annotation_set
    return found


def layers(options: argparse.Namespace) -> Mapping[str, int | tuple[int, int]] | None:
    """The layers named with ``--layer``. Raises `UsageError` for what cannot be read."""
    if not options.layer:
        return None
    found: dict[str, int | tuple[int, int]] = {}
    for value in (part for given in options.layer for part in given.split(",")):
        name, equals, columns = value.partition("=")
        try:
            numbers = [int(column) for column in columns.split(":")]
        except ValueError:
            numbers = []
        if not name or not equals or len(numbers) not in (1, 2):
            raise UsageError(
                f"--layer {value!r} cannot be read", advice="write it NAME=COLUMN, as in entity=2"
            )
        if name in found or name == MERGED:
            raise UsageError(
                f"--layer names {name!r} twice" if name in found else f"{MERGED!r} is no name for a layer"
            )
        found[name] = numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
    return found


def single_layers(options: argparse.Namespace) -> Mapping[str, int] | None:
    """The layers, each with one column. Raises `UsageError` for a pair of columns."""
    found = layers(options)
    if found is None:
        return None
    single = {name: column for name, column in found.items() if isinstance(column, int)}
    if len(single) != len(found):
        raise UsageError("one column for each layer: this command reads one side only")
    return single
