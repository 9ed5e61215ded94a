"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError
from clueval.formats import FORMATS, all_formats
from clueval.limits import MAX_LINE, MAX_SENTENCE
from clueval.reading.options import formats_that_read
from clueval.reading.pairing import PAIR_BY
from clueval.spans.span import MERGED
from clueval.tagging.schemes import INVALID, SCHEMES


def column(text: str) -> int:
    """A column as an option names it: from 1, or from -1 at the end."""
    number = _whole(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is no column: they count from 1, or from -1 at the end")
    return number


def whole(least: int) -> Callable[[str], int]:
    """What makes an option a whole number that is not below `least`."""

    def read(text: str) -> int:
        number = _whole(text)
        if number is None or not least <= number <= sys.maxsize:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return number

    return read


def number(text: str) -> float:
    """A number as an option, which may have a fraction."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"{text!r} is no number, such as 0.5")
    return found


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _formats(option: str) -> str:
    """Which formats read an option, for its help."""
    names = formats_that_read(option)
    return f"format{'s' * (len(names) != 1)} {', '.join(names)}"


def _treatments() -> str:
    """How ill-formed tags are treated by default, for the help of ``--invalid``."""
    first: dict[str, list[str]] = {}
    for form in all_formats():
        if form.treatments:
            first.setdefault(form.treatments[0], []).append(form.name)
    return "; ".join(f"{how} in {', '.join(names)}" for how, names in first.items())


def add_sides(parser: argparse.ArgumentParser) -> None:
    """The arguments GOLD and PREDICTED."""
    parser.add_argument("gold", type=Path, metavar="GOLD", help="file or folder")
    parser.add_argument(
        "predicted",
        type=Path,
        metavar="PREDICTED",
        nargs="?",
        help="file or folder; without it, GOLD has both sides",
    )


def add_selection(group: argparse._ArgumentGroup) -> None:
    """The options that say what is counted, and for what there are scores."""
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="count only spans with this label in layer KEY, or documents with this metadata (see filters, below)",
    )
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="KEY",
        help="scores for each value of this metadata, too; --by document for each document",
    )


def add_output(group: argparse._ArgumentGroup, forms: Sequence[str]) -> None:
    """The option for the form of a result."""
    group.add_argument(
        "--output",
        choices=forms,
        metavar="FORM",
        default="text",
        help=f"the form of the result: {', '.join(forms)} (default: text)",
    )


def add_pair_by(group: argparse._ArgumentGroup) -> None:
    """The option that says which documents belong together."""
    group.add_argument(
        "--pair-by",
        choices=PAIR_BY,
        metavar="WHAT",
        help="pair documents, in any order, by their id, by name (that of the file, without its ending) or by "
        "content (their text): id, name, content (default: files by relative name, documents in order)",
    )


def add_sets(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The options for annotation sets, of which one file may have several."""
    parser.add_argument(
        "--gold-set", metavar="SET", help=f"the annotation set that is gold ({_formats('annotation_set')})"
    )
    parser.add_argument(
        "--predicted-set",
        metavar="SET",
        help=f"the annotation set that is predicted ({_formats('annotation_set')}); without PREDICTED, in the files "
        "of GOLD",
    )


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
        "--token",
        type=column,
        metavar="COLUMN",
        help=f"the column of the tokens ({_formats('token')}; default: the first that holds neither tags nor "
        "token ids)",
    )
    group.add_argument(
        "--token-id",
        type=column,
        metavar="COLUMN",
        help=f"the column of the token ids, unique in a document, if there is one ({_formats('token_id')}); the two "
        "sides must have the same",
    )
    group.add_argument(
        "--input",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"the format of the files: {', '.join(FORMATS)} (default: recognised by their beginning)",
    )
    group.add_argument(
        "--scheme",
        metavar="SCHEME",
        help=f"the scheme of the tags: {', '.join(SCHEMES)} ({_formats('scheme')}; default: recognised from the tags)",
    )
    group.add_argument(
        "--invalid",
        choices=INVALID,
        metavar="HOW",
        help="how to treat ill-formed tags: conlleval repairs them as conlleval and seqeval do, discard drops "
        f"their spans (seqeval's strict mode), error refuses them (default: {_treatments()})",
    )
    group.add_argument(
        "--document-tag",
        default="text",
        metavar="TAG",
        help=f"the XML element that is a document ({_formats('document_tag')}; default: text)",
    )
    group.add_argument(
        "--sentence-tag",
        default="s",
        metavar="TAG",
        help=f"the XML element that is a sentence ({_formats('sentence_tag')}; default: s)",
    )
    group.add_argument(
        "--ignore-punctuation",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether punctuation is taken out of the spans, as FairEval does "
        f"({_formats('ignore_punct')}; default: yes)",
    )
    group.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        help="the VRT or CoNLL file with the text of a table of spans "
        f"({_formats('text')}; default: the .vrt file of the same name beside the table)",
    )
    group.add_argument(
        "--max-line",
        type=whole(1),
        metavar="BYTES",
        default=MAX_LINE,
        help="the longest line that is read, and the longest file of XML or JSON, unpacked (default: %(default)s)",
    )
    group.add_argument(
        "--max-sentence",
        type=whole(1),
        metavar="N",
        default=MAX_SENTENCE,
        help="the most tokens of a sentence; a file of the formats nerval and spans has a fifth as many lines, one of "
        "XML or JSON a fifth as many tags or values (default: %(default)s)",
    )
    if not pairs:
        group.add_argument(
            "--set",
            dest="annotation_set",
            metavar="NAME",
            help=f"the annotation set to read ({_formats('annotation_set')})",
        )


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `clueval.read` and `clueval.evaluate` that `add_reading` made, save the layers."""
    names = (
        *("input", "token", "token_id", "scheme", "invalid", "document_tag", "sentence_tag", "text"),
        *("max_line", "max_sentence"),
    )
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
        numbers = [_whole(each) or 0 for each in columns.split(":")]
        if not name or not equals or len(numbers) not in (1, 2) or 0 in numbers:
            raise UsageError(
                f"--layer {value!r} cannot be read",
                advice="write it NAME=COLUMN, as in entity=2; columns count from 1, or from -1 at the end",
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
